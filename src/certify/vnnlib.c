#include "certify/vnnlib.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "certify/vnnlib_term.h"

/* Atoms that all cases list together are at most so many: cases that are joined repeat them. */
enum { MOST_BYTES = 1 << 28, MOST_CASES = 4096, MOST_CONSTANTS = 1 << 22, MOST_LISTED = 1 << 25 };

/* ---- Constraints ---- */

static r4_status new_atom(struct vnn_reader *r, struct vnn_atom a, size_t *number)
{
  struct vnn_spec *s = r->s;
  r4_status status = mem_more(&s->atom, &s->room, s->atoms + 1, sizeof *s->atom, "constraints", r->e);
  if (status) return status;
  *number = s->atoms;
  s->atom[s->atoms++] = a;
  return R4_OK;
}

/* x + c >= 0: x >= -c, or -x + c >= 0: x <= c. */
static r4_status input_atom(struct vnn_reader *r, const struct vnn_term *t, size_t *number)
{
  struct vnn_number f = t->part[0].factor, c = t->rest;
  bool one = t->parts == 1 && f.lo == f.hi && fabs(f.lo) == 1, upper = f.hi < 0;
  if (!one) return vnn_refuse(r, "a number as the end of one input; relations between inputs are not supported");
  struct vnn_number end = upper ? c : (struct vnn_number){-c.hi, -c.lo};
  struct vnn_part *part = mem_new(1, sizeof *part, "a constraint", r->e);
  if (!part) return R4_E_MEMORY;
  *part = t->part[0];
  r4_status s = new_atom(r, (struct vnn_atom){.input = true, .upper = upper, .rest = end, .parts = 1, .part = part},
                         number);
  if (s) r4_mem_free(part);
  return s;
}

static r4_status output_atom(struct vnn_reader *r, const struct vnn_term *t, size_t *number)
{
  struct vnn_part *part = mem_new(t->parts, sizeof *part, "a constraint", r->e);
  if (!part) return R4_E_MEMORY;
  memcpy(part, t->part, t->parts * sizeof *part);
  r4_status s = new_atom(r, (struct vnn_atom){.rest = t->rest, .parts = t->parts, .part = part}, number);
  if (s) r4_mem_free(part);
  return s;
}

/* a <= b: b - a >= 0 */
static r4_status read_relation(struct vnn_reader *r, size_t *number)
{
  bool less = r->word[0] == '<';
  struct vnn_term a, b;
  if (strcmp(r->word, "<=") && strcmp(r->word, ">=")) return vnn_refuse(r, "<= or >=, and, or");
  r4_status s = vnn_read_term(r, less ? &a : &b, 0);
  if (!s) s = vnn_read_term(r, less ? &b : &a, 0);
  if (!s) s = vnn_take(r, ")");
  if (!s) s = vnn_subtract(r, &b, &a);
  if (s) return s;
  size_t inputs = 0;
  for (size_t k = 0; k < b.parts; k++) inputs += b.part[k].input;
  if (!b.parts) return vnn_refuse(r, "an input or an output in each constraint");
  if (inputs && inputs < b.parts) return vnn_refuse(r, "inputs or outputs, not both in one constraint");
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

/* More atoms, which hold as well. */
static r4_status extend(const struct vnn_reader *r, struct vnn_case *to, const struct vnn_case *more)
{
  r4_status s = mem_more(&to->atom, &to->room, to->atoms + more->atoms + 1, sizeof *to->atom, "constraints", r->e);
  if (s) return s;
  if (more->atoms) memcpy(to->atom + to->atoms, more->atom, more->atoms * sizeof *to->atom);
  to->atoms += more->atoms;
  return R4_OK;
}

/* Takes a case, also where there is no room. */
static r4_status add_case(const struct vnn_reader *r, struct cases *to, struct vnn_case *c)
{
  r4_status s = to->n < MOST_CASES ? mem_more(&to->list, &to->room, to->n + 1, sizeof *to->list, "cases", r->e)
                                   : vnn_refuse(r, "at most 4096 cases");
  if (s)
    r4_mem_free(c->atom);
  else
    to->list[to->n++] = *c;
  *c = (struct vnn_case){0};
  return s;
}

/* Either: one behind the other. */
static r4_status join_or(const struct vnn_reader *r, struct cases *to, struct cases *more)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < more->n && !s; k++) s = add_case(r, to, &more->list[k]);
  return s;
}

static size_t listed(const struct cases *c)
{
  size_t all = 0;
  for (size_t k = 0; k < c->n; k++) all += c->list[k].atoms;
  return all;
}

/* Both: each with each. With one case each is longer. */
static r4_status join_and(const struct vnn_reader *r, struct cases *to, const struct cases *more)
{
  struct cases all = {0};
  r4_status s = R4_OK;
  if (listed(to) * more->n + listed(more) * to->n > MOST_LISTED) return vnn_refuse(r, "fewer constraints in all cases");
  for (size_t k = 0; k < to->n && more->n == 1 && !s; k++) s = extend(r, &to->list[k], more->list);
  if (more->n == 1) return s;
  for (size_t i = 0; i < to->n && !s; i++)
    for (size_t k = 0; k < more->n && !s; k++) {
      struct vnn_case both = {0};
      s = extend(r, &both, &to->list[i]);
      if (!s) s = extend(r, &both, &more->list[k]);
      if (s)
        r4_mem_free(both.atom);
      else
        s = add_case(r, &all, &both);
    }
  cases_free(to);
  *to = all;
  return s;
}

static r4_status read_formula(struct vnn_reader *r, struct cases *to, int depth);

static r4_status read_list(struct vnn_reader *r, struct cases *to, bool both, int depth)
{
  r4_status s = both ? add_case(r, to, &(struct vnn_case){0}) : R4_OK;
  size_t n = 0;
  for (; !s && !vnn_is_next(r, ')'); n++) {
    struct cases one = {0};
    s = read_formula(r, &one, depth + 1);
    if (!s) s = both ? join_and(r, to, &one) : join_or(r, to, &one);
    cases_free(&one);
  }
  if (!s && !n) return vnn_refuse(r, "something in (and ..) and (or ..)");
  return s ? s : vnn_take(r, ")");
}

static r4_status read_formula(struct vnn_reader *r, struct cases *to, int depth)
{
  size_t number;
  r4_status s = vnn_take(r, "(");
  if (!s && depth > VNN_MOST_DEPTH) s = vnn_refuse(r, "fewer brackets in brackets");
  if (!s) s = vnn_next(r);
  if (s) return s;
  if (!strcmp(r->word, "and") || !strcmp(r->word, "or")) return read_list(r, to, r->word[0] == 'a', depth);
  s = read_relation(r, &number);
  struct vnn_case one = {0};
  if (!s) s = extend(r, &one, &(struct vnn_case){.atoms = 1, .atom = &number});
  return s ? s : add_case(r, to, &one);
}

/* ---- Commands ---- */

/* (declare-const X_0 Real), in order */
static r4_status read_declaration(struct vnn_reader *r)
{
  size_t index;
  r4_status s = vnn_next(r);
  if (s) return s;
  if (!vnn_is_constant(r->word, &index)) return vnn_refuse(r, "X_0, X_1, .. or Y_0, Y_1, ..");
  if (r->s->atoms) return vnn_refuse(r, "declarations before assertions");
  size_t *count = *r->word == 'X' ? &r->s->inputs : &r->s->outputs;
  if (index != *count || *count == MOST_CONSTANTS) return vnn_refuse(r, "constants in order, from 0 on");
  ++*count;
  s = vnn_take(r, "Real");
  return s ? s : vnn_take(r, ")");
}

/* Most assertions are single constraints, which all cases have. */
static r4_status read_assertion(struct vnn_reader *r, struct cases *all)
{
  struct cases one = {0};
  r4_status s = read_formula(r, &one, 0);
  if (!s) s = vnn_take(r, ")");
  if (!s) s = one.n == 1 ? extend(r, &r->s->common, one.list) : join_and(r, all, &one);
  cases_free(&one);
  return s;
}

static r4_status read_all(struct vnn_reader *r, struct cases *all)
{
  r4_status s = add_case(r, all, &(struct vnn_case){0});
  if (!s) s = vnn_next(r);
  for (; !s && *r->word; s = s ? s : vnn_next(r)) {
    if (*r->word != '(') return vnn_refuse(r, "an opening bracket");
    s = vnn_next(r);
    if (s) return s;
    if (!strcmp(r->word, "declare-const"))
      s = read_declaration(r);
    else if (!strcmp(r->word, "assert"))
      s = read_assertion(r, all);
    else
      s = vnn_refuse(r, "declare-const or assert");
  }
  return s;
}

r4_status vnnlib_parse(struct vnn_spec *to, const char *path, const char *data, size_t size, r4_error *e)
{
  *to = (struct vnn_spec){0};
  struct cases all = {0};
  struct vnn_reader r = {.path = path, .at = data, .end = data + size, .line = 1, .s = to, .e = e};
  r4_status s = read_all(&r, &all);
  to->cases = all.n;
  to->kase = all.list;
  if (!s && (!to->inputs || !to->outputs))
    s = r4_fail(e, R4_E_PARSE, "%s: declares %zu inputs and %zu outputs, expected some of both", path, to->inputs,
                to->outputs);
  if (s) vnnlib_free(to);
  return s;
}

r4_status vnnlib_read(struct vnn_spec *to, const char *path, r4_error *e)
{
  uint8_t *data;
  size_t size;
  *to = (struct vnn_spec){0};
  r4_status s = file_read(path, MOST_BYTES, &data, &size, e);
  if (s) return s;
  s = vnnlib_parse(to, path, (char *)data, size, e);
  r4_mem_free(data);
  return s;
}

void vnnlib_free(struct vnn_spec *s)
{
  for (size_t k = 0; k < s->atoms; k++) r4_mem_free(s->atom[k].part);
  for (size_t k = 0; k < s->cases; k++) r4_mem_free(s->kase[k].atom);
  r4_mem_free(s->common.atom);
  r4_mem_free(s->atom);
  r4_mem_free(s->kase);
  *s = (struct vnn_spec){0};
}
