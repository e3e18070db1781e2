/* The arguments of a part: numbers in their place first, then letters, words and flags in any order. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "module/reader.h"

/* r is behind the word. */
static r4_status misused(const struct reader *r, const struct module_kind *kind, const struct word *w, r4_error *why)
{
  bool counts = false;
  for (size_t k = 0; k < kind->arguments; k++)
    counts = counts || kind->argument[k].type == ARGUMENT_WHOLE || kind->argument[k].type == ARGUMENT_LETTER;
  if (!*w->s && r->at < r->end && *r->at == '{')
    return r4_fail(why, R4_E_PARSE, "%.*s is not a number; write %s ({classes} and {words} are for settings)",
                   (int)strcspn(r->at, "} ,") % 40 + 1, r->at, kind->usage);
  if (!*w->s) return r4_fail(why, R4_E_PARSE, "a number is missing; write %s", kind->usage);
  return r4_fail(why, R4_E_PARSE, "\"%.40s\" is not understood; write %s%s", w->s, kind->usage,
                 counts ? ", with numbers from 1 (P: 0) to 10^9" : "");
}

/* "p1", "p0/1" or "same" */
static bool read_pad(const char *s, struct module *m)
{
  const char *end = s + strlen(s);
  if (!strcmp(s, "same")) {
    m->pad[0] = m->pad[1] = PAD_SAME;
    return true;
  }
  if (*s++ != 'p' || !number_parse(&s, end, 0, &m->pad[0])) return false;
  m->pad[1] = m->pad[0];
  return s == end || (*s++ == '/' && number_parse(&s, end, 0, &m->pad[1]) && s == end);
}

static bool read_letter(const struct argument *a, const struct word *w, double *value)
{
  struct word number = {0};
  int64_t whole;
  if (w->s[0] != a->name[0]) return false;
  memcpy(number.s, w->s + 1, strlen(w->s));
  if (!word_whole(&number, a->least, &whole)) return false;
  *value = (double)whole;
  return true;
}

static r4_status read_real(struct reader *r, const struct argument *a, double *value, r4_error *why,
                           r4_error *e)
{
  struct word w;
  r4_status s = reader_word(r, &w, e);
  if (s || (word_real(w.s, value) && *value > 0)) return s;
  return r4_fail(why, R4_E_PARSE, "%s is \"%.40s\", expected a number above 0", a->name, w.s);
}

/* "0.5/0.4/-1" */
static bool parse_list(const char *s, double *to, double *count)
{
  size_t n = 0;
  for (bool more = true; more; n++) {
    char *end;
    bool number = *s == '-' ? s[1] >= '0' && s[1] <= '9' : *s >= '0' && *s <= '9';
    if (n == MODULE_LIST || !number) return false;
    to[n] = c_locale_real(s, &end);
    more = *end == '/';
    if (!(fabs(to[n]) < 1e30) || (*end && !more)) return false;
    s = end + more;
  }
  *count = (double)n;
  return true;
}

static r4_status read_list(struct reader *r, const struct argument *a, struct module *m, int k, r4_error *why,
                           r4_error *e)
{
  struct word w;
  r4_status s = reader_word(r, &w, e);
  if (s || parse_list(w.s, m->list[k], &m->value[k])) return s;
  return r4_fail(why, R4_E_PARSE, "%s is \"%.60s\", expected up to %d numbers with / between them", a->name,
                 w.s, MODULE_LIST);
}

/* Whether the word, and perhaps the one after it, is this argument. */
static r4_status read_option(struct reader *r, const struct argument *a, const struct word *w,
                             struct module *m, int k, bool *is_it, r4_error *why, r4_error *e)
{
  switch (a->type) {
  case ARGUMENT_LETTER:
    *is_it = read_letter(a, w, &m->value[k]);
    return R4_OK;
  case ARGUMENT_PAD:
    *is_it = read_pad(w->s, m);
    return R4_OK;
  case ARGUMENT_FLAG:
    *is_it = word_is(w, a->name);
    m->value[k] = *is_it || m->value[k] > 0;
    return R4_OK;
  case ARGUMENT_REAL:
    *is_it = word_is(w, a->name);
    return *is_it ? read_real(r, a, &m->value[k], why, e) : R4_OK;
  case ARGUMENT_LIST:
    *is_it = word_is(w, a->name);
    return *is_it ? read_list(r, a, m, k, why, e) : R4_OK;
  case ARGUMENT_WHOLE:
  case ARGUMENT_SHARE:
    break;
  }
  *is_it = false;
  return R4_OK;
}

static r4_status read_options(struct reader *r, struct module *m, int first, r4_error *why, r4_error *e)
{
  bool seen[MODULE_ARGUMENTS] = {false};
  for (;;) {
    struct word w;
    bool is_it = false;
    r4_status s = reader_word(r, &w, e);
    if (s || !*w.s) return s;
    for (int k = first; !s && !is_it && k < (int)m->kind->arguments; k++) {
      if (seen[k]) continue;
      s = read_option(r, &m->kind->argument[k], &w, m, k, &is_it, why, e);
      seen[k] = is_it;
    }
    if (s) return s;
    if (!is_it) return misused(r, m->kind, &w, why);
  }
}

static bool read_in_place(const struct argument *a, const struct word *w, double *value)
{
  int64_t whole;
  if (a->type == ARGUMENT_SHARE) return word_real(w->s, value) && *value < 1;
  if (!word_whole(w, a->least, &whole)) return false;
  *value = (double)whole;
  return true;
}

r4_status module_read_arguments(struct reader *r, struct module *m, r4_error *why, r4_error *e)
{
  const struct argument *a = m->kind->argument;
  int k = 0, n = (int)m->kind->arguments;
  for (int i = 0; i < n; i++) {
    m->value[i] = a[i].initial;
    if (a[i].type != ARGUMENT_LIST) continue;
    m->list[i][0] = a[i].initial;
    m->value[i] = 1;
  }
  for (; k < n && (a[k].type == ARGUMENT_WHOLE || a[k].type == ARGUMENT_SHARE); k++) {
    struct word w;
    r4_status s = reader_word(r, &w, e);
    if (s) return s;
    if (read_in_place(&a[k], &w, &m->value[k])) continue;
    if (*w.s && a[k].type == ARGUMENT_SHARE)
      return r4_fail(why, R4_E_PARSE, "%s is \"%.40s\", expected a number from 0 to below 1", a[k].name, w.s);
    return misused(r, m->kind, &w, why);
  }
  return read_options(r, m, k, why, e);
}
