#include "certify/vnnlib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/mem.h"
#include "certify/box.h"
#include "op/sound.h"

enum { MOST_BYTES = 1 << 28, MOST_CASES = 4096, MOST_DEPTH = 32, MOST_TERMS = 64, WORD = 64, MOST_CONSTANTS = 1 << 22 };

/* ---- Words ---- */

struct reader {
  const char *path, *at, *end;
  size_t line;
  char word[WORD]; /* the last one: a bracket, or a symbol */
  struct vnn_spec *s;
  r4_error *e;
};

static r4_status refuse(const struct reader *r, const char *expected)
{
  return r4_fail(r->e, R4_E_PARSE, "%s:%zu: \"%s\" is not understood; expected %s", r->path, r->line, r->word,
                 expected);
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Blanks, and what is behind a semicolon. */
static void skip(struct reader *r)
{
  bool comment = false;
  for (; r->at < r->end && (comment || is_blank(*r->at) || *r->at == ';'); r->at++) {
    comment = (comment || *r->at == ';') && *r->at != '\n';
    r->line += *r->at == '\n';
  }
}

/* Empty at the end of the file. */
static const char *next(struct reader *r)
{
  size_t n = 0;
  skip(r);
  if (r->at < r->end && (*r->at == '(' || *r->at == ')'))
    r->word[n++] = *r->at++;
  else
    while (r->at < r->end && !is_blank(*r->at) && !strchr("();", *r->at) && n + 1 < WORD) r->word[n++] = *r->at++;
  r->word[n] = 0;
  return r->word;
}

static bool is_next(struct reader *r, char bracket)
{
  skip(r);
  return r->at < r->end && *r->at == bracket;
}

static r4_status take(struct reader *r, const char *word)
{
  return strcmp(next(r), word) ? refuse(r, *word == ')' ? "a closing bracket" : word) : R4_OK;
}

/* ---- Terms: linear, in inputs and outputs ---- */

struct part {
  bool input;
  size_t index;
  double factor;
};

struct term {
  size_t parts;
  struct part part[MOST_TERMS];
  double lo, hi; /* the constant */
};

/* The digits of the file are between both. */
static r4_status read_number(const struct reader *r, double *lo, double *hi)
{
  char *end;
  double v = c_locale_real(r->word, &end);
  if (!*r->word || *end || !isfinite(v) || strpbrk(r->word, "xXnN")) return refuse(r, "a number, X_0 or Y_0");
  if (decimal_below(r->word, lo) && decimal_above(r->word, hi)) return R4_OK;
  *lo = sound_down(v), *hi = sound_up(v);
  return R4_OK;
}

/* X_12 or Y_3 */
static bool is_constant(const char *word)
{
  return (*word == 'X' || *word == 'Y') && word[1] == '_' && word[2] && strlen(word) < 12 &&
         strspn(word + 2, "0123456789") == strlen(word + 2);
}

static r4_status read_constant(const struct reader *r, struct term *t)
{
  struct part p = {.input = *r->word == 'X', .index = strtoul(r->word + 2, NULL, 10), .factor = 1};
  if (p.index >= (p.input ? r->s->inputs : r->s->outputs)) return refuse(r, "a constant that is declared before");
  *t = (struct term){.parts = 1, .part = {p}};
  return R4_OK;
}

static r4_status scale(const struct reader *r, struct term *t, double by)
{
  double a = t->lo * by, b = t->hi * by;
  bool exact = by == 1 || by == -1;
  for (size_t k = 0; k < t->parts; k++) t->part[k].factor *= by;
  t->lo = exact ? fmin(a, b) : sound_down(fmin(a, b));
  t->hi = exact ? fmax(a, b) : sound_up(fmax(a, b));
  return isfinite(a) && isfinite(b) ? R4_OK : refuse(r, "numbers that are not so large");
}

/* a + b; of one constant there is one part. */
static r4_status add(const struct reader *r, struct term *a, const struct term *b)
{
  bool plain = (a->lo == 0 && a->hi == 0) || (b->lo == 0 && b->hi == 0);
  a->lo = plain ? a->lo + b->lo : sound_down(a->lo + b->lo);
  a->hi = plain ? a->hi + b->hi : sound_up(a->hi + b->hi);
  for (size_t i = 0; i < b->parts; i++) {
    size_t k = 0;
    while (k < a->parts && (a->part[k].input != b->part[i].input || a->part[k].index != b->part[i].index)) k++;
    if (k == MOST_TERMS) return refuse(r, "a sum of at most 64 constants");
    if (k == a->parts) a->part[a->parts++] = (struct part){b->part[i].input, b->part[i].index, 0};
    a->part[k].factor += b->part[i].factor;
  }
  return R4_OK;
}

static r4_status read_term(struct reader *r, struct term *t, int depth);

/* (+ a b ..), (- a), (- a b ..), (* number a) */
static r4_status read_arithmetic(struct reader *r, struct term *t, int depth)
{
  char op = r->word[0];
  struct term next_one;
  r4_status s = read_term(r, t, depth + 1);
  if (!s && op == '-' && is_next(r, ')')) s = scale(r, t, -1);
  while (!s && !is_next(r, ')')) {
    s = read_term(r, &next_one, depth + 1);
    if (!s && op == '*' && t->parts && next_one.parts) return refuse(r, "a number as one of two factors");
    if (!s && op == '*') {
      struct term *number = t->parts ? &next_one : t, *other = t->parts ? t : &next_one;
      double by = number->lo / 2 + number->hi / 2;
      s = scale(r, other, by);
      if (!s && other != t) *t = *other;
    } else if (!s) {
      if (op == '-') s = scale(r, &next_one, -1);
      if (!s) s = add(r, t, &next_one);
    }
  }
  return s ? s : take(r, ")");
}

static r4_status read_term(struct reader *r, struct term *t, int depth)
{
  const char *word = next(r);
  if (depth > MOST_DEPTH) return refuse(r, "fewer brackets in brackets");
  if (*word == '(') {
    word = next(r);
    if (strlen(word) != 1 || !strchr("+-*", *word)) return refuse(r, "+, - or *");
    return read_arithmetic(r, t, depth);
  }
  if (is_constant(word)) return read_constant(r, t);
  *t = (struct term){.parts = 0};
  return read_number(r, &t->lo, &t->hi);
}

/* ---- Constraints ---- */

static r4_status new_atom(struct reader *r, struct vnn_atom a, size_t *number)
{
  struct vnn_spec *s = r->s;
  r4_status status = mem_more(&s->atom, &s->room, s->atoms + 1, sizeof *s->atom, "constraints", r->e);
  if (status) return status;
  *number = s->atoms;
  s->atom[s->atoms++] = a;
  return R4_OK;
}

/* t >= 0 of an input: x >= -c, or x <= c. */
static r4_status input_atom(struct reader *r, const struct term *t, size_t *number)
{
  struct part p = t->part[0];
  if (t->parts != 1 || (p.factor != 1 && p.factor != -1))
    return refuse(r, "a number as the end of one input; relations between inputs are not supported");
  bool upper = p.factor < 0;
  return new_atom(r, (struct vnn_atom){.input = true, .upper = upper, .index = p.index, .end = upper ? t->hi : -t->hi},
                  number);
}

static r4_status output_atom(struct reader *r, const struct term *t, size_t *number)
{
  double *coef = mem_new(r->s->outputs + 1, sizeof *coef, "a constraint", r->e);
  if (!coef) return R4_E_MEMORY;
  for (size_t k = 0; k < t->parts; k++) coef[t->part[k].index] = t->part[k].factor;
  r4_status s = new_atom(r, (struct vnn_atom){.rest = t->hi, .coef = coef}, number);
  if (s) r4_mem_free(coef);
  return s;
}

/* a <= b: b - a >= 0 */
static r4_status read_relation(struct reader *r, size_t *number)
{
  bool less = r->word[0] == '<';
  struct term a, b;
  if (strcmp(r->word, "<=") && strcmp(r->word, ">=")) return refuse(r, "<= or >=, and, or");
  r4_status s = read_term(r, less ? &a : &b, 0);
  if (!s) s = read_term(r, less ? &b : &a, 0);
  if (!s) s = take(r, ")");
  if (!s) s = scale(r, &a, -1);
  if (!s) s = add(r, &b, &a);
  if (s) return s;
  size_t inputs = 0;
  for (size_t k = 0; k < b.parts; k++) inputs += b.part[k].input;
  if (!b.parts) return refuse(r, "an input or an output in each constraint");
  if (inputs && inputs < b.parts) return refuse(r, "inputs or outputs, not both in one constraint");
  return inputs ? input_atom(r, &b, number) : output_atom(r, &b, number);
}

/* ---- Formulas: lists of cases ---- */

struct cases {
  size_t n, room;
  struct vnn_case *list;
};

static void cases_free(struct cases *c)
{
  for (size_t k = 0; k < c->n; k++) r4_mem_free(c->list[k].atom);
  r4_mem_free(c->list);
  *c = (struct cases){0};
}

/* Both together, as one more of to. */
static r4_status add_case(const struct reader *r, struct cases *to, const struct vnn_case *a, const struct vnn_case *b)
{
  if (to->n == MOST_CASES) return refuse(r, "at most 4096 cases");
  r4_status s = mem_more(&to->list, &to->room, to->n + 1, sizeof *to->list, "cases", r->e);
  if (s) return s;
  size_t *atom = mem_new(a->atoms + b->atoms + 1, sizeof *atom, "a case", r->e);
  if (!atom) return R4_E_MEMORY;
  if (a->atoms) memcpy(atom, a->atom, a->atoms * sizeof *atom);
  if (b->atoms) memcpy(atom + a->atoms, b->atom, b->atoms * sizeof *atom);
  to->list[to->n++] = (struct vnn_case){a->atoms + b->atoms, atom};
  return R4_OK;
}

static const struct vnn_case none;

/* to and more: each with each; or one behind the other. */
static r4_status join(const struct reader *r, struct cases *to, const struct cases *more, bool both)
{
  struct cases all = {0};
  r4_status s = R4_OK;
  for (size_t i = 0; i < to->n && !s; i++)
    for (size_t k = 0; k < (both ? more->n : 1) && !s; k++)
      s = add_case(r, &all, &to->list[i], both ? &more->list[k] : &none);
  for (size_t k = 0; k < more->n && !both && !s; k++) s = add_case(r, &all, &more->list[k], &none);
  cases_free(to);
  *to = all;
  return s;
}

static r4_status read_formula(struct reader *r, struct cases *to, int depth);

static r4_status read_list(struct reader *r, struct cases *to, bool both, int depth)
{
  r4_status s = both ? add_case(r, to, &none, &none) : R4_OK;
  size_t n = 0;
  for (; !s && !is_next(r, ')'); n++) {
    struct cases one = {0};
    s = read_formula(r, &one, depth + 1);
    if (!s) s = join(r, to, &one, both);
    cases_free(&one);
  }
  if (!s && !n) return refuse(r, "something in (and ..) and (or ..)");
  return s ? s : take(r, ")");
}

static r4_status read_formula(struct reader *r, struct cases *to, int depth)
{
  r4_status s = take(r, "(");
  if (depth > MOST_DEPTH) return refuse(r, "fewer brackets in brackets");
  if (s) return s;
  next(r);
  if (!strcmp(r->word, "and") || !strcmp(r->word, "or")) return read_list(r, to, r->word[0] == 'a', depth);
  size_t number;
  s = read_relation(r, &number);
  return s ? s : add_case(r, to, &(struct vnn_case){1, &number}, &none);
}

/* ---- Commands ---- */

/* (declare-const X_0 Real), in order */
static r4_status read_declaration(struct reader *r)
{
  const char *word = next(r);
  if (!is_constant(word)) return refuse(r, "X_0, X_1, .. or Y_0, Y_1, ..");
  if (r->s->atoms) return refuse(r, "declarations before assertions");
  size_t *count = *word == 'X' ? &r->s->inputs : &r->s->outputs, index = strtoul(word + 2, NULL, 10);
  if (index != *count || *count == MOST_CONSTANTS) return refuse(r, "constants in order, from 0 on");
  ++*count;
  r4_status s = take(r, "Real");
  return s ? s : take(r, ")");
}

/* Most assertions are single constraints, which all cases have. */
static r4_status read_assertion(struct reader *r, struct cases *all, struct cases *common)
{
  struct cases one = {0};
  r4_status s = read_formula(r, &one, 0);
  if (!s) s = take(r, ")");
  if (!s && one.n == 1) {
    for (size_t k = 0; k < one.list[0].atoms && !s; k++) {
      struct vnn_case *c = common->list;
      s = mem_more(&c->atom, &common->room, c->atoms + 1, sizeof *c->atom, "constraints", r->e);
      if (!s) c->atom[c->atoms++] = one.list[0].atom[k];
    }
  } else if (!s)
    s = join(r, all, &one, true);
  cases_free(&one);
  return s;
}

static r4_status read_all(struct reader *r, struct cases *all, struct cases *common)
{
  r4_status s = add_case(r, all, &none, &none);
  while (!s && *next(r)) {
    if (*r->word != '(') return refuse(r, "an opening bracket");
    next(r);
    if (!strcmp(r->word, "declare-const"))
      s = read_declaration(r);
    else if (!strcmp(r->word, "assert"))
      s = read_assertion(r, all, common);
    else
      s = refuse(r, "declare-const or assert");
  }
  return s;
}

r4_status vnnlib_read(struct vnn_spec *to, const char *path, r4_error *e)
{
  uint8_t *data;
  size_t size;
  *to = (struct vnn_spec){0};
  r4_status s = file_read(path, MOST_BYTES, &data, &size, e);
  if (s) return s;
  struct cases all = {0}, common = {.list = &to->common};
  struct reader r = {.path = path, .at = (char *)data, .end = (char *)data + size, .line = 1, .s = to, .e = e};
  s = read_all(&r, &all, &common);
  to->cases = all.n;
  to->kase = all.list;
  if (!s && (!to->inputs || !to->outputs))
    s = r4_fail(e, R4_E_PARSE, "%s: declares %zu inputs and %zu outputs, expected some of both", path, to->inputs,
                to->outputs);
  r4_mem_free(data);
  if (s) vnnlib_free(to);
  return s;
}

void vnnlib_free(struct vnn_spec *s)
{
  for (size_t k = 0; k < s->atoms; k++) r4_mem_free(s->atom[k].coef);
  for (size_t k = 0; k < s->cases; k++) r4_mem_free(s->kase[k].atom);
  r4_mem_free(s->common.atom);
  r4_mem_free(s->atom);
  r4_mem_free(s->kase);
  *s = (struct vnn_spec){0};
}
