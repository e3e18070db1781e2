/* One value: from text to its place, strictly. "20x", "nan", "0x10", "010", "yes" and "" are neither numbers nor
 * flags; text is UTF-8. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "config/settings.h"
#include "objective/objective.h"

/* ---- What is expected ---- */

static void range_text(const r4_setting_info *i, const char *what, char *to, size_t size)
{
  bool whole = i->type == R4_SETTING_WHOLE, endless = isinf(i->max) || i->max > 1e15;
  if (isinf(i->min))
    snprintf(to, size, "%s", what);
  else if (endless)
    c_locale_print(to, size, "%s from %g on", what, i->min);
  else
    c_locale_print(to, size, whole ? "%s from %.0f to %.0f" : "%s from %g to %g", what, i->min, i->max);
}

static void choices_text(const r4_setting_info *i, char *to, size_t size)
{
  size_t n = 0;
  for (size_t k = 0; i->choices[k] && n < size; k++) {
    const char *before = !k ? "" : i->choices[k + 1] ? ", " : " or ";
    n += (size_t)snprintf(to + n, size - n, "%s%s", before, i->choices[k]);
  }
  if (i->sums && n < size) snprintf(to + n, size - n, ", or a sum such as r3+pairing");
}

/* That stand for a number or a list. */
static void add_words(const r4_setting_info *i, char *to, size_t size)
{
  for (size_t k = 0; i->choices && i->choices[k]; k++)
    snprintf(to + strlen(to), size - strlen(to), "%s%s", i->choices[k + 1] ? ", " : " or ", i->choices[k]);
}

static void expected(const r4_setting_info *i, char *to, size_t size)
{
  switch (i->type) {
  case R4_SETTING_WHOLE:
    range_text(i, "a whole number", to, size);
    return;
  case R4_SETTING_REAL:
    range_text(i, "a number", to, size);
    add_words(i, to, size);
    return;
  case R4_SETTING_REALS:
    range_text(i, "a list of numbers", to, size);
    add_words(i, to, size);
    return;
  case R4_SETTING_FLAG:
    snprintf(to, size, "true or false");
    return;
  case R4_SETTING_CHOICE:
    choices_text(i, to, size);
    return;
  case R4_SETTING_TEXT:
    snprintf(to, size, "text in UTF-8");
    return;
  }
}

r4_status setting_refuse(const struct setting *t, const char *where, const char *what, r4_error *e)
{
  char wanted[320];
  expected(&t->info, wanted, sizeof wanted);
  return r4_fail(e, R4_E_ARGUMENT, "%s: %s is %s, expected %s", where, t->info.key, what, wanted);
}

static r4_status refuse(const struct setting *t, const char *where, const char *text, r4_error *e)
{
  char what[80];
  snprintf(what, sizeof what, "\"%.60s\"", text);
  return setting_refuse(t, where, *text ? what : "empty", e);
}

/* ---- Numbers ---- */

static size_t digits(const char *s)
{
  return strspn(s, "0123456789");
}

/* -?(0|[1-9][0-9]*)?(.[0-9]*)?(e[+-]?[0-9]+)?, with a digit before the e. A leading zero is octal to some. */
static bool is_decimal(const char *s)
{
  if (*s == '-') s++;
  size_t before = digits(s), after = 0;
  if (before > 1 && *s == '0') return false;
  s += before;
  if (*s == '.') {
    after = digits(++s);
    s += after;
  }
  if (!before && !after) return false;
  if (*s == 'e' || *s == 'E') {
    s++;
    if (*s == '+' || *s == '-') s++;
    if (!digits(s)) return false;
    s += digits(s);
  }
  return !*s;
}

static bool read_whole(const r4_setting_info *i, const char *text, int64_t *value)
{
  size_t sign = *text == '-';
  if (!is_decimal(text) || text[sign + digits(text + sign)]) return false;
  errno = 0;
  long long v = strtoll(text, NULL, 10);
  if (errno || (double)v < i->min || (double)v > i->max) return false;
  *value = v;
  return true;
}

const char *setting_word(const r4_setting_info *i, double value)
{
  return isfinite(value) ? NULL : i->choices[isnan(value) ? 0 : 1];
}

static bool read_word(const r4_setting_info *i, const char *text, double *value)
{
  static const double word[] = {NAN, INFINITY};
  for (size_t k = 0; i->choices && i->choices[k]; k++) {
    if (strcmp(text, i->choices[k])) continue;
    *value = word[k];
    return true;
  }
  return false;
}

static bool read_real(const r4_setting_info *i, const char *text, double *value)
{
  if (i->type == R4_SETTING_REAL && read_word(i, text, value)) return true;
  if (!is_decimal(text)) return false;
  char *end;
  double v = c_locale_real(text, &end);
  if (*end || !isfinite(v) || v < i->min || v > i->max) return false;
  *value = v;
  return true;
}

/* ---- Words ---- */

static bool read_flag(const char *text, bool *value)
{
  bool yes = !strcmp(text, "true");
  if (!yes && strcmp(text, "false")) return false;
  *value = yes;
  return true;
}

static bool read_choice(const r4_setting_info *i, const char *text, const char **value)
{
  for (const char *const *c = i->choices; *c; c++)
    if (!strcmp(*c, text)) {
      *value = *c;
      return true;
    }
  return false;
}

static r4_status copy_text(const char *text, char **value, r4_error *e)
{
  char *copy = mem_copy(text, e);
  if (!copy) return R4_E_MEMORY;
  r4_mem_free(*value);
  *value = copy;
  return R4_OK;
}

/* One of the choices, or a sum of several, as its parts are written. */
static r4_status read_sum(const struct setting *t, const char *where, const char *text, char **value,
                          r4_error *e)
{
  const char *word;
  struct composition c;
  char name[COMPOSITION_NAME];
  if (read_choice(&t->info, text, &word)) return copy_text(word, value, e);
  if (method_is(text, strlen(text), t->info.choices[0])) return copy_text(t->info.choices[0], value, e);
  if (!composition_of(text, &c))
    return strchr(text, '+') ? composition_check(text, where, e) : refuse(t, where, text, e);
  composition_name(&c, name);
  return copy_text(name, value, e);
}

static r4_status read_text(const struct setting *t, const char *where, const char *text, char **value,
                           r4_error *e)
{
  return utf8_valid(text) ? copy_text(text, value, e) : refuse(t, where, text, e);
}

/* ---- Lists ---- */

static void *place(const struct setting *t, struct settings *v)
{
  return (char *)v + t->offset;
}

r4_status setting_append(const struct setting *t, const char *where, const char *text, struct settings *v,
                         r4_error *e)
{
  struct reals *list = place(t, v);
  if (list->n == REALS_MOST)
    return r4_fail(e, R4_E_ARGUMENT, "%s: %s has more than %d numbers", where, t->info.key, REALS_MOST);
  if (!read_real(&t->info, text, &list->v[list->n])) return refuse(t, where, text, e);
  list->n++;
  return R4_OK;
}

/* A word, "1, 2.5", "[1, 2.5]", or nothing for the empty list. */
static r4_status read_list(const struct setting *t, const char *where, const char *text, struct settings *v,
                           r4_error *e)
{
  const char *s = text, *end = text + strlen(text);
  struct reals *list = place(t, v);
  list->n = 0;
  list->word = NULL;
  if (t->info.choices && read_choice(&t->info, text, &list->word)) return R4_OK;
  if (*s == '[' && end[-1] == ']') s++, end--;
  for (bool more = s < end; more;) {
    char word[64];
    s += strspn(s, " ");
    size_t length = strcspn(s, ","), n;
    if (s + length > end) length = (size_t)(end - s);
    for (n = length; n && s[n - 1] == ' ';) n--;
    if (n >= sizeof word) return refuse(t, where, text, e);
    memcpy(word, s, n);
    word[n] = 0;
    r4_status status = setting_append(t, where, word, v, e);
    if (status) return status;
    s += length;
    more = s < end;
    s++;
  }
  return R4_OK;
}

r4_status setting_read(const struct setting *t, const char *where, const char *text, struct settings *v,
                       r4_error *e)
{
  const r4_setting_info *i = &t->info;
  void *to = place(t, v);
  bool ok = false;
  switch (i->type) {
  case R4_SETTING_WHOLE:
    ok = read_whole(i, text, to);
    break;
  case R4_SETTING_REAL:
    ok = read_real(i, text, to);
    break;
  case R4_SETTING_FLAG:
    ok = read_flag(text, to);
    break;
  case R4_SETTING_CHOICE:
    if (i->sums) return read_sum(t, where, text, to, e);
    ok = read_choice(i, text, to);
    break;
  case R4_SETTING_TEXT:
    return read_text(t, where, text, to, e);
  case R4_SETTING_REALS:
    return read_list(t, where, text, v, e);
  }
  return ok ? R4_OK : refuse(t, where, text, e);
}
