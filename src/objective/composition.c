#include "objective/composition.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "objective/objective.h"

#define PENALTY(identifier, name) name,
const char *const term_names[TERM_COUNT + 1] = {
#include "objective/methods.def"
  NULL};

size_t term_number(const char *name)
{
  size_t k = 0;
  while (k < TERM_COUNT && strcmp(term_names[k], name)) k++;
  return k;
}

/* ---- Reading ---- */

struct word {
  const char *s;
  int n;
};

/* The word up to the next "+" or the end, without blanks around it. */
static struct word word_at(const char *s)
{
  s += strspn(s, " ");
  size_t n = strcspn(s, "+");
  while (n && s[n - 1] == ' ') n--;
  return (struct word){s, (int)n};
}

/* NULL: the last word has been read. */
static const char *behind(const char *s)
{
  s += strcspn(s, "+");
  return *s ? s + 1 : NULL;
}

enum fault { FINE, UNKNOWN, WITHOUT_PENALTY, TWICE, TOO_MANY };

static enum fault add_part(struct composition *c, struct word w, bool is_sum)
{
  const char *name = method_name(w.s, (size_t)w.n);
  const struct method *m = name ? method_find(name) : NULL;
  if (!m) return UNKNOWN;
  if (is_sum && !m->term) return WITHOUT_PENALTY;
  for (size_t k = 0; k < c->parts; k++)
    if (c->part[k] == m) return TWICE;
  if (c->parts == R4_TERMS) return TOO_MANY;
  c->name[c->parts] = name;
  c->part[c->parts++] = m;
  c->terms += m->term != NULL;
  return FINE;
}

/* at: the part that is wrong. */
static enum fault read_parts(const char *method, struct composition *to, struct word *at)
{
  bool is_sum = strchr(method, '+');
  enum fault fault = FINE;
  *to = (struct composition){0};
  for (const char *s = method; s && !fault; s = behind(s)) {
    *at = word_at(s);
    fault = add_part(to, *at, is_sum);
  }
  return fault;
}

bool composition_of(const char *method, struct composition *to)
{
  struct word at;
  return !read_parts(method, to, &at);
}

void composition_name(const struct composition *c, char to[COMPOSITION_NAME])
{
  size_t n = 0;
  *to = 0;
  for (size_t k = 0; k < c->parts && n < COMPOSITION_NAME; k++)
    n += (size_t)snprintf(to + n, COMPOSITION_NAME - n, "%s%s", k ? "+" : "", c->name[k]);
}

/* ---- What is wrong ---- */

static void say_fault(struct text *to, enum fault fault, struct word at)
{
  int shown = at.n < 40 ? at.n : 40;
  switch (fault) {
  case FINE:
    return;
  case UNKNOWN:
    text_add(to, at.n ? "but there is no \"%.*s\"" : "but a part of it is empty%.*s", shown, at.s);
    return;
  case WITHOUT_PENALTY:
    text_add(to, "but %.*s has no penalty to add", shown, at.s);
    return;
  case TWICE:
    text_add(to, "which has %.*s twice", shown, at.s);
    return;
  case TOO_MANY:
    text_add(to, "which has more than %d parts", R4_TERMS);
    return;
  }
}

r4_status composition_check(const char *sum, const char *where, r4_error *e)
{
  struct composition c;
  struct word at;
  struct text why = {0};
  enum fault fault = read_parts(sum, &c, &at);
  if (!fault) return R4_OK;
  say_fault(&why, fault, at);
  text_add(&why, ": expected up to %d different ones of ", R4_TERMS);
  for (size_t k = 0; term_names[k]; k++) text_add(&why, "%s%s", k ? ", " : "", term_names[k]);
  char *text = text_take(&why);
  r4_fail(e, R4_E_ARGUMENT, "%s: method is \"%.60s\", %s", where, sum, text ? text : "");
  r4_string_free(text);
  return R4_E_ARGUMENT;
}
