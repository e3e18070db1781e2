#include "certify/vnnlib_term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "certify/box.h"
#include "op/sound.h"

/* ---- Words ---- */

r4_status vnn_refuse(const struct vnn_reader *r, const char *expected)
{
  if (!*r->word)
    return r4_fail(r->e, R4_E_PARSE, "%s:%zu: the file ends here; expected %s", r->path, r->line_of, expected);
  return r4_fail(r->e, R4_E_PARSE, "%s:%zu: \"%.60s\" is not understood; expected %s", r->path, r->line_of, r->word,
                 expected);
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_bracket(char c)
{
  return c == '(' || c == ')';
}

/* Blanks, and what is behind a semicolon. */
static void skip(struct vnn_reader *r)
{
  bool comment = false;
  for (; r->at < r->end && (comment || is_blank(*r->at) || *r->at == ';'); r->at++) {
    comment = (comment || *r->at == ';') && *r->at != '\n';
    r->line += *r->at == '\n';
  }
}

/* A zero byte would end the word, and with it the file, before its end. */
r4_status vnn_next(struct vnn_reader *r)
{
  size_t n = 0;
  skip(r);
  r->line_of = r->line;
  if (r->at < r->end && is_bracket(*r->at))
    r->word[n++] = *r->at++;
  else
    while (r->at < r->end && *r->at && !is_blank(*r->at) && !is_bracket(*r->at) && *r->at != ';' && n + 1 < VNN_WORD)
      r->word[n++] = *r->at++;
  r->word[n] = 0;
  if (n + 1 == VNN_WORD) return vnn_refuse(r, "words of fewer than 2047 characters");
  if (r->at == r->end || *r->at) return R4_OK;
  return r4_fail(r->e, R4_E_PARSE, "%s:%zu: has a zero byte, expected text", r->path, r->line);
}

bool vnn_is_next(struct vnn_reader *r, char bracket)
{
  skip(r);
  return r->at < r->end && *r->at == bracket;
}

r4_status vnn_take(struct vnn_reader *r, const char *word)
{
  r4_status s = vnn_next(r);
  if (s || !strcmp(r->word, word)) return s;
  return vnn_refuse(r, *word == ')' ? "a closing bracket" : *word == '(' ? "an opening bracket" : word);
}

/* ---- Numbers ---- */

/* 15 digits and 10^22 are doubles, and fma rounds once: whether v is what the digits say is told by a 0. */
static bool is_exact(const char *word, double v)
{
  double digits = 0, scale = 1;
  size_t n = 0;
  bool point = false;
  for (const char *p = word + (*word == '-' || *word == '+'); *p; p++) {
    if (*p == '.' && !point) {
      point = true;
      continue;
    }
    if (*p < '0' || *p > '9' || ++n > 15) return false;
    digits = 10 * digits + (*p - '0');
    if (point) scale *= 10;
  }
  double zero = fma(fabs(v), scale, -digits);
  return zero >= 0 && zero <= 0;
}

static r4_status read_number(const struct vnn_reader *r, struct vnn_number *to)
{
  char *end;
  double v = c_locale_real(r->word, &end);
  if (!*r->word || *end || !isfinite(v) || strpbrk(r->word, "xXnN")) return vnn_refuse(r, "a number, X_0 or Y_0");
  *to = (struct vnn_number){v, v};
  if (is_exact(r->word, v)) return R4_OK;
  if (!decimal_below(r->word, &to->lo)) to->lo = sound_down(v);
  if (!decimal_above(r->word, &to->hi)) to->hi = sound_up(v);
  return R4_OK;
}

/* a + b from below and from above; the rounding error of a sum is a double (Knuth's two-sum), which is 0 or not. */
static struct vnn_number around_sum(double a, double b)
{
  double s = a + b, part = s - a, error = (a - (s - part)) + (b - part);
  if (error >= 0 && error <= 0) return (struct vnn_number){s, s};
  return (struct vnn_number){sound_down(s), sound_up(s)};
}

/* Those of a product, too, unless it underflows. */
static struct vnn_number around_product(double a, double b)
{
  double p = a * b, error = fma(a, b, -p);
  bool exact = (error >= 0 && error <= 0 && fabs(p) > 1e-250) || fabs(a) <= 0 || fabs(b) <= 0;
  return exact ? (struct vnn_number){p, p} : (struct vnn_number){sound_down(p), sound_up(p)};
}

static struct vnn_number sum_of(struct vnn_number a, struct vnn_number b)
{
  return (struct vnn_number){around_sum(a.lo, b.lo).lo, around_sum(a.hi, b.hi).hi};
}

static struct vnn_number product_of(struct vnn_number a, struct vnn_number b)
{
  struct vnn_number all = around_product(a.lo, b.lo);
  const double pair[][2] = {{a.lo, b.hi}, {a.hi, b.lo}, {a.hi, b.hi}};
  for (size_t k = 0; k < 3; k++) {
    struct vnn_number p = around_product(pair[k][0], pair[k][1]);
    all.lo = sound_min(all.lo, p.lo), all.hi = sound_max(all.hi, p.hi);
  }
  return all;
}

static r4_status check_size(const struct vnn_reader *r, struct vnn_number v)
{
  return isfinite(v.lo) && isfinite(v.hi) ? R4_OK : vnn_refuse(r, "numbers that are not so large");
}

/* ---- Terms ---- */

bool vnn_is_constant(const char *word, size_t *index)
{
  bool is = (*word == 'X' || *word == 'Y') && word[1] == '_' && word[2] && strlen(word) < 12 &&
            strspn(word + 2, "0123456789") == strlen(word + 2) && (word[2] != '0' || !word[3]);
  *index = is ? strtoul(word + 2, NULL, 10) : 0;
  return is;
}

static r4_status scale(const struct vnn_reader *r, struct vnn_term *t, struct vnn_number by)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < t->parts && !s; k++)
    s = check_size(r, t->part[k].factor = product_of(t->part[k].factor, by));
  t->rest = product_of(t->rest, by);
  return s ? s : check_size(r, t->rest);
}

/* a + b; of one constant there is one part. */
static r4_status add(const struct vnn_reader *r, struct vnn_term *a, const struct vnn_term *b)
{
  a->rest = sum_of(a->rest, b->rest);
  r4_status s = check_size(r, a->rest);
  for (size_t i = 0; i < b->parts && !s; i++) {
    const struct vnn_part *p = &b->part[i];
    size_t k = 0;
    while (k < a->parts && (a->part[k].input != p->input || a->part[k].index != p->index)) k++;
    if (k == VNN_MOST_TERMS) return vnn_refuse(r, "a sum of at most 64 constants");
    if (k == a->parts) a->part[a->parts++] = (struct vnn_part){p->input, p->index, {0, 0}};
    s = check_size(r, a->part[k].factor = sum_of(a->part[k].factor, p->factor));
  }
  return s;
}

static r4_status negate(const struct vnn_reader *r, struct vnn_term *t)
{
  return scale(r, t, (struct vnn_number){-1, -1});
}

r4_status vnn_subtract(const struct vnn_reader *r, struct vnn_term *a, const struct vnn_term *b)
{
  struct vnn_term minus = *b;
  r4_status s = negate(r, &minus);
  return s ? s : add(r, a, &minus);
}

static r4_status multiply(const struct vnn_reader *r, struct vnn_term *t, const struct vnn_term *by)
{
  if (t->parts && by->parts) return vnn_refuse(r, "a number as one of two factors");
  struct vnn_term product = t->parts ? *t : *by;
  r4_status s = scale(r, &product, t->parts ? by->rest : t->rest);
  *t = product;
  return s;
}

/* (+ a b ..), (- a), (- a b ..), (* number a) */
static r4_status read_arithmetic(struct vnn_reader *r, struct vnn_term *t, int depth)
{
  char op = r->word[0];
  struct vnn_term more;
  r4_status s = vnn_read_term(r, t, depth + 1);
  if (!s && op == '-' && vnn_is_next(r, ')')) s = negate(r, t);
  while (!s && !vnn_is_next(r, ')')) {
    s = vnn_read_term(r, &more, depth + 1);
    if (!s) s = (op == '+' ? add : op == '-' ? vnn_subtract : multiply)(r, t, &more);
  }
  return s ? s : vnn_take(r, ")");
}

static r4_status read_constant(const struct vnn_reader *r, size_t index, struct vnn_term *t)
{
  struct vnn_part p = {.input = *r->word == 'X', .index = index, .factor = {1, 1}};
  if (index >= (p.input ? r->s->inputs : r->s->outputs)) return vnn_refuse(r, "a constant that is declared before");
  *t = (struct vnn_term){.parts = 1, .part = {p}};
  return R4_OK;
}

r4_status vnn_read_term(struct vnn_reader *r, struct vnn_term *t, int depth)
{
  size_t index;
  r4_status s = vnn_next(r);
  if (!s && depth > VNN_MOST_DEPTH) s = vnn_refuse(r, "fewer brackets in brackets");
  if (s) return s;
  if (*r->word == '(') {
    s = vnn_next(r);
    if (!s && (strlen(r->word) != 1 || !strchr("+-*", *r->word))) s = vnn_refuse(r, "+, - or *");
    return s ? s : read_arithmetic(r, t, depth);
  }
  if (vnn_is_constant(r->word, &index)) return read_constant(r, index, t);
  *t = (struct vnn_term){.parts = 0};
  return read_number(r, &t->rest);
}
