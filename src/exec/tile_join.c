/* Joins instructions of a tile program: where the second alone reads what the first makes, one loop does both,
 *
 *     t = a * b,  y = t + c      becomes      y = a * b + c
 *
 * and t need not go through the first-level cache. Each operation is rounded as before, so the bits are the same. */
#include "base/mem.h"
#include "exec/tile_impl.h"
#include "op/op_rules.h"

/* Every second operation, with the result of the first as its first or second argument. */
/* clang-format off */
#define SECONDS(NAME, FIRST)           \
  ELEMENT3(NAME##_add, (FIRST) + c)    \
  ELEMENT3(NAME##_mul, (FIRST) * c)    \
  ELEMENT3(NAME##_minus, (FIRST) - c)  \
  ELEMENT3(NAME##_taken, c - (FIRST))
SECONDS(add, a + b)
SECONDS(sub, a - b)
SECONDS(mul, a * b)
/* clang-format on */
/* step(a) b, as in the derivative of relu */
ELEMENT2(gate, (a > 0 ? 1 : a <= 0 ? 0 : a) * b)

enum { EITHER = -1 };
static const struct pair {
  const struct op *first, *second;
  int place; /* of the first's result among the second's arguments */
  element_f32 *f32;
  element_f64 *f64;
} pairs[] = {
#define PAIRS(NAME)                                                \
  {&op_##NAME, &op_add, EITHER, NAME##_add_f32, NAME##_add_f64},   \
    {&op_##NAME, &op_mul, EITHER, NAME##_mul_f32, NAME##_mul_f64}, \
    {&op_##NAME, &op_sub, 0, NAME##_minus_f32, NAME##_minus_f64},  \
    {&op_##NAME, &op_sub, 1, NAME##_taken_f32, NAME##_taken_f64},
  PAIRS(add) PAIRS(sub) PAIRS(mul){&op_step, &op_mul, EITHER, gate_f32, gate_f64},
};

static const struct pair *pair_of(const struct op *first, const struct op *second, int place)
{
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    const struct pair *p = &pairs[k];
    if (p->first == first && p->second == second && (p->place == EITHER || p->place == place)) return p;
  }
  return NULL;
}

struct joiner {
  struct tile *t;
  uint32_t *readers; /* by operand                                          */
  uint32_t *maker;   /* by operand: the instruction that makes it, plus 1 */
};

static void count(struct joiner *j)
{
  const struct tile *t = j->t;
  for (uint32_t k = 0; k < t->n_instructions; k++) {
    for (uint32_t a = 0; a < t->instruction[k].arity; a++) j->readers[t->instruction[k].arg[a]]++;
    j->maker[t->instruction[k].result] = k + 1;
  }
  for (uint32_t k = 0; k < t->n_reductions; k++) j->readers[t->reduction[k].operand]++;
}

/* Joins instruction k, of two arguments, with the one that makes the argument at "place", if it can. */
static bool join(struct joiner *j, uint32_t k, int place)
{
  struct instruction *second = &j->t->instruction[k];
  uint32_t between = second->arg[place], maker = j->maker[between];
  if (!maker || j->readers[between] != 1 || j->t->operand[between].from != FROM_REGISTER) return false;
  struct instruction *first = &j->t->instruction[maker - 1];
  const struct pair *p = pair_of(first->op, second->op, place);
  if (!p) return false;
  struct instruction both = {
    .f32 = p->f32, .f64 = p->f64, .arity = first->arity + 1, .result = second->result};
  for (uint32_t a = 0; a < first->arity; a++) both.arg[a] = first->arg[a];
  both.arg[first->arity] = second->arg[1 - place];
  *second = both; /* has no operation: it is not joined again */
  first->arity = 0;
  return true;
}

/* Instructions without arguments were joined with later ones. */
static void remove_joined(struct tile *t)
{
  uint32_t kept = 0;
  for (uint32_t k = 0; k < t->n_instructions; k++)
    if (t->instruction[k].arity) t->instruction[kept++] = t->instruction[k];
  t->n_instructions = kept;
}

bool tile_join(struct tile *t)
{
  struct joiner j = {.t = t,
                     .readers = r4_mem_new(t->n_operands, sizeof *j.readers),
                     .maker = r4_mem_new(t->n_operands, sizeof *j.maker)};
  bool ok = j.readers && j.maker;
  if (ok) {
    count(&j);
    for (uint32_t k = 0; k < t->n_instructions; k++)
      if (t->instruction[k].arity == 2 && !join(&j, k, 0)) join(&j, k, 1);
    remove_joined(t);
  }
  r4_mem_free(j.readers);
  r4_mem_free(j.maker);
  return ok;
}
