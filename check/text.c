/* The certificate: lines in one order, each once, and the SHA-256 of all before the last line. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* ---- Numbers ---- */

/* most < 2^59 */
bool whole_read(const char **s, int64_t most, int64_t *value)
{
  const char *from = *s;
  for (*value = 0; **s >= '0' && **s <= '9' && *value <= most; ++*s) *value = 10 * *value + (**s - '0');
  return *s > from && *value <= most && (*from != '0' || *s == from + 1);
}

/* -0x1.8p+0, as %a of C prints it: exact, or, with too many digits, rounded upward, which is harder to meet. */
bool hex_read(const char **s, double *value)
{
  const char *from = *s, *first = from + (*from == '-');
  char *end;
  if (first[0] != '0' || first[1] != 'x') return false;
  *value = strtod(from, &end);
  *s = end;
  return (size_t)(end - first) == strspn(first, "x0123456789abcdefp+-.") && memchr(first, 'p', (size_t)(end - first)) &&
         *value - *value == 0;
}

bool decimal_read(const char *s, struct decimal *d)
{
  bool negative = *s == '-', dot = false, digit = false;
  int64_t power = 0;
  *d = (struct decimal){0, 0};
  for (s += negative; (*s >= '0' && *s <= '9') || (*s == '.' && !dot); s++) {
    if (*s == '.' && (dot = true)) continue;
    if (d->m >= 100000000000000000 || d->k == 300) return false; /* 18 digits */
    d->m = 10 * d->m + (*s - '0');
    d->k += dot;
    digit = true;
  }
  if (digit && *s == 'e') {
    bool small = *++s == '-';
    s += small || *s == '+';
    s += *s == '0' && s[1]; /* 1e-05 */
    if (!whole_read(&s, 300, &power)) return false;
    d->k += (int)(small ? power : -power);
  }
  if (negative) d->m = -d->m;
  return digit && !*s;
}

/* Powers of ten are exact up to 10^22; beyond, they are between near and far. All roundings are upward: bound.c. */
struct range decimal_range(struct decimal d)
{
  double far = 1, minus_near = -1, up = (double)d.m, dn = (double)-d.m;
  for (int k = d.k < 0 ? -d.k : d.k; k; k--) far *= 10, minus_near *= 10;
  double near = -minus_near;
  if (d.k < 0) return (struct range){up * (up > 0 ? far : near), dn * (dn > 0 ? far : near)};
  return (struct range){up / (up > 0 ? near : far), dn / (dn > 0 ? near : far)};
}

/* ---- Lines ---- */

static char *cut(char **text, char end)
{
  char *s = *text, *to = strchr(s, end);
  if (!to) refuse("the certificate is cut off, or a line of it: \"%.40s\"", s);
  *to = 0;
  *text = to + 1;
  return s;
}

/* The value of the line "key value". */
static char *line(char **text, const char *key)
{
  size_t n = strlen(key);
  if (strncmp(*text, key, n) || (*text)[n] != ' ')
    refuse("the certificate has \"%.20s\" where %s is expected", *text, key);
  *text += n + 1;
  return cut(text, '\n');
}

static int choice(char **text, const char *key, const char *const *of)
{
  const char *value = line(text, key);
  for (int k = 0; of[k]; k++)
    if (!strcmp(of[k], value)) return k;
  refuse("the certificate's %s is \"%.40s\", which is not known", key, value);
}

static struct range number(const char *text)
{
  struct decimal d;
  if (!decimal_read(text, &d))
    refuse("the certificate has \"%.40s\" where a decimal of up to 18 digits is expected", text);
  return decimal_range(d);
}

static void read_box(struct certificate *c, char **text)
{
  char *eps = line(text, "eps"), *high;
  c->whole_range = !strcmp(eps, "range");
  if (!c->whole_range) c->step = number(eps);
  c->has_range = c->whole_range || !strncmp(*text, "range ", 6);
  if (c->step.dn > 0) refuse("the certificate's eps is negative");
  if (!c->has_range) return;
  high = line(text, "range");
  c->low = number(cut(&high, ' '));
  c->high = number(high);
  if (-c->low.dn > c->high.up) refuse("the certificate's range is empty");
}

static void read_words(struct certificate *c, const char *s)
{
  c->word = take(strlen(s) + 1, sizeof *c->word);
  do
    if (!whole_read(&s, INT32_MAX, &c->word[c->words++])) refuse("the certificate's words are not ids");
  while (*s == ',' && s++);
  if (*s) refuse("the certificate's words are not ids");
}

/* "holds", and by what, which is found out here again */
static bool says_holds(const char *s)
{
  static const char *const by[] = {"holds", "holds by intervals", "holds by linear", "holds by slopes",
                                   "holds by branching"};
  bool is = false;
  for (size_t k = 0; k < sizeof by / sizeof *by; k++) is |= !strcmp(s, by[k]);
  return is;
}

/* index label class margin verdict */
static void read_example(const char *s, size_t k, struct line *l)
{
  const char *all = s;
  int64_t index;
  bool ok = whole_read(&s, INT32_MAX, &index) && index == (int64_t)k && *s++ == ' ';
  ok = ok && whole_read(&s, INT32_MAX, &l->label) && *s++ == ' ' && whole_read(&s, INT32_MAX, &l->class) && *s++ == ' ';
  ok = ok && (s[0] == '-' && s[1] == ' ' ? *s++ : hex_read(&s, &l->margin)) && *s++ == ' ';
  l->claimed = ok && says_holds(s);
  if (!ok || (!l->claimed && strcmp(s, "open"))) refuse("\"%.60s\" stands where example %zu is expected", all, k);
  if (l->claimed != (l->margin > 0)) refuse("example %zu: margin and verdict contradict each other", k);
}

void certificate_read(struct bytes file, struct certificate *c)
{
  static const char *const version[] = {"1", NULL}, *const claims[] = {"box", "words", "cover", NULL},
                           *const semantics[] = {"real", "any-float", "this-program", NULL};
  enum { LAST = 7 + 64 + 1 }; /* "sha256 HEX\n" */
  size_t n = file.n;
  char hex[65], *text = take(n + 1, 1), *begin = text;
  int64_t count;
  memcpy(text, file.at, n);
  if (n < LAST || strlen(text) != n) refuse("the certificate is not one, or cut off");
  sha256_hex(file.at, n - LAST, hex);
  choice(&text, "r4-certificate", version);
  line(&text, "program");
  c->claim = (enum claim)choice(&text, "claim", claims);
  c->semantics = (enum semantics)choice(&text, "semantics", semantics);
  c->method = line(&text, "method");
  c->model = line(&text, "model");
  c->data = line(&text, "data");
  if (c->claim == BOX) read_box(c, &text);
  if (c->claim == WORDS) read_words(c, line(&text, "words"));
  if (c->claim == COVER) c->cover = line(&text, "cover"), c->fill = line(&text, "fill");
  const char *examples = line(&text, "examples");
  if (!whole_read(&examples, INT32_MAX, &count) || *examples || (size_t)count > n)
    refuse("the certificate's examples are not a number");
  c->n = (size_t)count;
  c->line = take(c->n, sizeof *c->line);
  for (size_t k = 0; k < c->n; k++) read_example(cut(&text, '\n'), k, &c->line[k]);
  if ((size_t)(text - begin) != n - LAST) refuse("the certificate has more lines, or fewer, than examples");
  if (strcmp(line(&text, "sha256"), hex))
    refuse("the certificate has changed since it was written: its SHA-256 is %s", hex);
}
