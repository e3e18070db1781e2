/* The text of one layer: a name, numbers, options; "conv 32 4 s2 p1". */
#include <string.h>

#include "base/text.h"
#include "module/net.h"

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word of [*s, end): its length, and *s at its beginning; 0 at the end. */
static size_t word(const char **s, const char *end)
{
  size_t n = 0;
  while (*s < end && is_space(**s)) ++*s;
  while (*s + n < end && !is_space((*s)[n])) n++;
  return n;
}

bool number_parse(const char **s, const char *end, int64_t lowest, int64_t *value)
{
  const char *from = *s;
  *value = 0;
  for (; *s < end && **s >= '0' && **s <= '9'; ++*s) {
    *value = 10 * *value + (**s - '0');
    if (*value > 1000000000) return false;
  }
  return *s > from && *value >= lowest;
}

static r4_status unknown_kind(r4_error *why)
{
  struct text known = {0};
  for (size_t k = 0; layer_kind(k); k++) text_add(&known, "%s%s", k ? ", " : "", layer_kind(k)->name);
  char *names = text_take(&known);
  r4_status status = names ? r4_fail(why, R4_E_PARSE, "no such layer; there are %s", names)
                           : r4_fail(why, R4_E_MEMORY, "out of memory");
  r4_string_free(names);
  return status;
}

static const struct layer_kind *find_kind(const char *name, size_t length)
{
  const struct layer_kind *kind;
  for (size_t k = 0; (kind = layer_kind(k)); k++)
    if (strlen(kind->name) == length && !memcmp(kind->name, name, length)) return kind;
  return NULL;
}

/* Where the number that c stands for goes, if the kind of layer has it. */
static int64_t *slot(struct layer *l, char c)
{
  if (!c || !strchr(l->kind->arguments, c)) return NULL;
  return c == 'u' ? &l->units : c == 'k' ? &l->kernel : c == 's' ? &l->stride : &l->pad;
}

/* The whole word s[0..n) is a number. */
static bool word_number(const char *s, size_t n, int64_t lowest, int64_t *value)
{
  const char *end = s + n;
  return number_parse(&s, end, lowest, value) && s == end;
}

/* "s2" or "p1", each once. */
static bool word_option(struct layer *l, const char *s, size_t n, bool *seen)
{
  bool pad = *s == 'p';
  int64_t *value = pad || *s == 's' ? slot(l, *s) : NULL;
  if (!value || seen[pad]) return false;
  seen[pad] = true;
  return word_number(s + 1, n - 1, pad ? 0 : 1, value);
}

static r4_status misused(const struct layer *l, const char *s, size_t n, r4_error *why)
{
  if (!n) return r4_fail(why, R4_E_PARSE, "a number is missing; it is written %s", l->kind->usage);
  return r4_fail(why, R4_E_PARSE,
                 "\"%.*s\" is not understood; it is written %s, with numbers from 1 (P: 0) to 10^9",
                 n < 40 ? (int)n : 40, s, l->kind->usage);
}

r4_status layer_parse(const char *s, size_t length, struct layer *l, r4_error *why)
{
  const char *end = s + length;
  size_t n = word(&s, end);
  *l = (struct layer){.kind = find_kind(s, n)};
  if (!l->kind) return unknown_kind(why);
  s += n;
  for (const char *a = l->kind->arguments; *a == 'u' || *a == 'k'; a++, s += n) {
    n = word(&s, end);
    if (!word_number(s, n, 1, slot(l, *a))) return misused(l, s, n, why);
  }
  l->stride = strchr(l->kind->arguments, 'u') ? 1 : l->kernel; /* windows of pools do not overlap */
  for (bool seen[2] = {false}; (n = word(&s, end)); s += n)
    if (!word_option(l, s, n, seen)) return misused(l, s, n, why);
  return R4_OK;
}
