#include "certify/enclose.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "op/sound.h"

/* Memory that nodes use one after the other. */
struct place {
  double *memory;
  size_t count;
  bool taken;
};

struct value {
  const double *lo, *hi; /* one array: single values                    */
  uint32_t place[2];     /* 1 + the number of its place; 0: it has none */
  uint32_t base;         /* the node whose memory it is                 */
  uint32_t last;         /* node that needs it last, of a base          */
};

struct encloser {
  const r4_graph *g;
  bool *live, any_float, ready;
  struct value *value; /* by node */
  struct place *place;
  size_t places, bytes;
};

/* ---- Making ---- */

/* As numbers, the ends of bounds are what they are made of: what is not one is not known here. */
static bool same_memory(const struct node *n)
{
  return n->op == &op_reshape || n->op == &op_detach || n->op == &op_lower_end || n->op == &op_upper_end;
}

static r4_status check_rule(const struct encloser *c, uint32_t i, r4_error *e)
{
  const struct node *n = &c->g->node[i];
  r4_shape in[MAX_ARITY];
  for (uint32_t k = 0; k < n->arity; k++) in[k] = c->g->node[c->g->arg[n->first + k].i].shape;
  if (n->op == &op_input) return R4_OK;
  if (!n->op->enclose) return r4_fail(e, R4_E_RULE, "%s has no sound rule", n->op->name);
  if (c->any_float && n->op->float_error == FLOAT_UNKNOWN)
    return r4_fail(e, R4_E_RULE, "%s has no bound of its float error that holds for every evaluation", n->op->name);
  if (n->op->terms && !(n->op->terms(in, n->shape, &n->attr) < 0x1p30))
    return r4_fail(e, R4_E_RULE, "%s adds up more than 2^30 terms, which sound rules do not allow for", n->op->name);
  return R4_OK;
}

/* Who has the memory of each node, and who needs it last. */
static void find_last(struct encloser *c, size_t n, const r4_id *out)
{
  for (uint32_t i = 1; i <= c->g->size; i++) {
    const struct node *node = &c->g->node[i];
    c->value[i].base = same_memory(node) ? c->value[c->g->arg[node->first].i].base : i;
    for (uint32_t k = 0; k < node->arity && c->live[i]; k++)
      c->value[c->value[c->g->arg[node->first + k].i].base].last = i;
  }
  for (size_t k = 0; k < n; k++) c->value[c->value[out[k].i].base].last = UINT32_MAX;
}

struct encloser *encloser_new(const r4_graph *g, size_t n, const r4_id *out, r4_semantics semantics, r4_error *e)
{
  const char *message;
  r4_status s = r4_graph_status(g, &message);
  if (s) {
    r4_fail(e, s, "%s", message);
    return NULL;
  }
  struct encloser *c = mem_new(1, sizeof *c, "an enclosure", e);
  if (!c) return NULL;
  c->g = g;
  c->any_float = semantics == R4_SEMANTICS_ANY_FLOAT;
  c->value = mem_new(g->size + 1, sizeof *c->value, "an enclosure", e);
  c->place = mem_new(2 * (g->size + 1), sizeof *c->place, "an enclosure", e);
  if (!c->value || !c->place)
    s = R4_E_MEMORY;
  else if (!graph_live(g, n, out, &c->live))
    s = r4_fail(e, R4_E_MEMORY, "out of memory for an enclosure");
  for (uint32_t i = 1; i <= g->size && !s; i++)
    if (c->live[i]) s = check_rule(c, i, e);
  if (!s) find_last(c, n, out);
  if (!s) return c;
  encloser_free(c);
  return NULL;
}

void encloser_free(struct encloser *c)
{
  if (!c) return;
  for (size_t k = 0; k < c->places; k++) r4_mem_free(c->place[k].memory);
  r4_mem_free(c->place);
  r4_mem_free(c->value);
  r4_mem_free(c->live);
  r4_mem_free(c);
}

r4_status encloser_input(struct encloser *c, const char *name, const double *lo, const double *hi, r4_error *e)
{
  r4_id x = graph_find_input(c->g, name);
  if (!x.i) return r4_fail(e, R4_E_ARGUMENT, "enclose: the graph has no input \"%s\"", name);
  c->value[x.i].lo = lo;
  c->value[x.i].hi = hi;
  return R4_OK;
}

/* ---- Memory ---- */

static bool all_single(const struct encloser *c, const struct node *n)
{
  for (uint32_t k = 0; k < n->arity; k++) {
    const struct value *v = &c->value[c->g->arg[n->first + k].i];
    if (v->lo != v->hi) return false;
  }
  return true;
}

/* The smallest free place with enough room, or a new one: its number and one. 0: out of memory. */
static uint32_t take_place(struct encloser *c, size_t count, r4_error *e)
{
  size_t best = c->places;
  for (size_t k = 0; k < c->places; k++)
    if (!c->place[k].taken && c->place[k].count >= count &&
        (best == c->places || c->place[k].count < c->place[best].count))
      best = k;
  if (best == c->places) {
    double *memory = mem_new_aligned(count, sizeof *memory, "intervals", e);
    if (!memory) return 0;
    c->place[c->places++] = (struct place){.memory = memory, .count = count};
    c->bytes += count * sizeof *memory;
  }
  c->place[best].taken = true;
  return (uint32_t)best + 1;
}

static void give_back(struct encloser *c, uint32_t i)
{
  const struct node *n = &c->g->node[i];
  for (uint32_t k = 0; k < n->arity; k++) {
    const struct value *v = &c->value[c->value[c->g->arg[n->first + k].i].base];
    for (int end = 0; end < 2 && v->last == i; end++)
      if (v->place[end]) c->place[v->place[end] - 1].taken = false;
  }
}

static r4_status place_node(struct encloser *c, uint32_t i, r4_error *e)
{
  const struct node *n = &c->g->node[i];
  struct value *v = &c->value[i];
  size_t count = (size_t)r4_shape_count(n->shape);
  if (same_memory(n)) {
    v->lo = c->value[c->g->arg[n->first].i].lo;
    v->hi = c->value[c->g->arg[n->first].i].hi;
    return R4_OK;
  }
  bool single = n->op->enclose == enclose_increasing && all_single(c, n);
  if (!(v->place[0] = take_place(c, count, e))) return R4_E_MEMORY;
  if (!single && !(v->place[1] = take_place(c, count, e))) return R4_E_MEMORY;
  v->lo = c->place[v->place[0] - 1].memory;
  v->hi = single ? v->lo : c->place[v->place[1] - 1].memory;
  return R4_OK;
}

static r4_status prepare(struct encloser *c, r4_error *e)
{
  r4_status s = R4_OK;
  for (uint32_t i = 1; i <= c->g->size && !s; i++) {
    const struct node *n = &c->g->node[i];
    if (!c->live[i]) continue;
    if (n->op == &op_input && !c->value[i].lo)
      return r4_fail(e, R4_E_ARGUMENT, "enclose: input \"%s\" has no values", graph_name(c->g, (r4_id){i}));
    for (uint32_t k = 0; k < n->arity; k++) {
      const struct value *v = &c->value[c->g->arg[n->first + k].i];
      if (op_is_index(n->op, k) && v->lo != v->hi)
        return r4_fail(e, R4_E_RULE, "%s has no sound rule over a moving index", n->op->name);
    }
    if (n->op != &op_input) s = place_node(c, i, e);
    if (!s) give_back(c, i);
  }
  c->ready = !s;
  return s;
}

/* ---- Floats ---- */

/* A rounding of each element, and no number above the largest. */
static void round_floats(size_t n, double *lo, double *hi)
{
  SOUND_PARALLEL
  for (size_t k = 0; k < n; k++) {
    lo[k] = sound_down(lo[k] - sound_float_error(1, fabs(lo[k])));
    hi[k] = sound_up(hi[k] + sound_float_error(1, fabs(hi[k])));
  }
}

/* x + b, x a sum of n products: programs begin the sum with b, or add it at any time. */
static void round_bias(const struct encloser *c, const struct node *n, double *lo, double *hi)
{
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t base = c->value[c->g->arg[n->first + k].i].base;
    const struct node *product = &c->g->node[base];
    const struct value *other = &c->value[c->g->arg[n->first + 1 - k].i];
    r4_shape in[MAX_ARITY];
    if (product->op->kind != OP_DENSE || !product->op->terms) continue;
    for (uint32_t a = 0; a < product->arity; a++) in[a] = c->g->node[c->g->arg[product->first + a].i].shape;
    double terms = product->op->terms(in, product->shape, &product->attr) + 1;
    for (int64_t i = 0; i < r4_shape_count(n->shape); i++) {
      double error = sound_float_error(terms, sound_largest(other->lo[i], other->hi[i]));
      lo[i] = sound_down(lo[i] - error);
      hi[i] = sound_up(hi[i] + error);
    }
  }
}

static void add_float_errors(const struct encloser *c, const struct node *n, double *lo, double *hi)
{
  size_t count = (size_t)r4_shape_count(n->shape);
  if (n->op->float_error == FLOAT_ROUNDED) round_floats(count, lo, hi);
  if (n->op == &op_add || n->op == &op_sub) round_bias(c, n, lo, hi);
  for (size_t k = 0; k < count; k++)
    if (!(sound_largest(lo[k], hi[k]) < FLOAT_LARGEST)) lo[k] = hi[k] = NAN;
}

/* ---- Running ---- */

/* What is not a number, or infinite, says nothing. Ends in the wrong order are a defect. */
static r4_status check_ends(const struct node *node, size_t n, double *lo, double *hi, r4_error *e)
{
  size_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong) if (n > 1 << 14)
  for (size_t k = 0; k < n; k++) {
    bool known = fabs(lo[k]) < INFINITY && fabs(hi[k]) < INFINITY;
    wrong += known && lo[k] > hi[k];
    lo[k] = known ? lo[k] : -INFINITY;
    hi[k] = known ? hi[k] : INFINITY;
  }
  if (!wrong) return R4_OK;
  return r4_fail(e, R4_E_INTERNAL, "enclose: %zu intervals of %s are empty: please report", wrong, node->op->name);
}

static r4_status run_node(struct encloser *c, uint32_t i, r4_error *e)
{
  const struct node *n = &c->g->node[i];
  struct value *v = &c->value[i];
  double *lo = v->place[0] ? c->place[v->place[0] - 1].memory : NULL;
  double *hi = v->place[1] ? c->place[v->place[1] - 1].memory : lo;
  struct enclosing call = {.n = n->arity, .op = n->op, .attr = &n->attr, .out_lo = lo, .out_hi = hi,
                           .shape = n->shape, .any_float = c->any_float, .error = e};
  if (!lo) return R4_OK; /* another's memory */
  for (uint32_t k = 0; k < n->arity; k++) {
    uint32_t a = c->g->arg[n->first + k].i;
    call.lo[k] = c->value[a].lo;
    call.hi[k] = c->value[a].hi;
    call.in_shape[k] = c->g->node[a].shape;
  }
  r4_status s = n->op->enclose(&call);
  if (s || lo == hi) return s;
  if (c->any_float) add_float_errors(c, n, lo, hi);
  return check_ends(n, (size_t)r4_shape_count(n->shape), lo, hi, e);
}

r4_status encloser_run(struct encloser *c, r4_error *e)
{
  r4_status s = sound_environment(e);
  if (!s && !c->ready) s = prepare(c, e);
  for (uint32_t i = 1; i <= c->g->size && !s; i++)
    if (c->live[i] && c->g->node[i].op != &op_input) s = run_node(c, i, e);
  return s;
}

const double *encloser_lo(const struct encloser *c, r4_id x)
{
  return c->value[x.i].lo;
}

const double *encloser_hi(const struct encloser *c, r4_id x)
{
  return c->value[x.i].hi;
}

size_t encloser_bytes(const struct encloser *c)
{
  return c->bytes;
}

/* ---- For programs ---- */

/* lo <= x <= hi has a solution: neither end is NaN, and none is the infinite one on the wrong side. */
static bool is_set(double lo, double hi)
{
  return lo <= hi && lo < INFINITY && hi > -INFINITY;
}

/* The k-th input, as a program gave it: named, once, with a set for each element. */
static r4_status take_input(struct encloser *c, const r4_ends *input, size_t k, r4_error *e)
{
  const r4_ends *in = input + k;
  if (!in->name || !in->lo || !in->hi)
    return r4_fail(e, R4_E_ARGUMENT, "enclose: input %zu needs a name and both ends", k);
  for (size_t j = 0; j < k; j++)
    if (!strcmp(input[j].name, in->name))
      return r4_fail(e, R4_E_ARGUMENT, "enclose: input \"%s\" is given twice", in->name);
  r4_status s = encloser_input(c, in->name, in->lo, in->hi, e);
  int64_t n = s ? 0 : r4_shape_count(r4_node_shape(c->g, graph_find_input(c->g, in->name)));
  for (int64_t i = 0; i < n && !s; i++)
    if (!is_set(in->lo[i], in->hi[i]))
      s = r4_fail(e, R4_E_ARGUMENT, "enclose: input \"%s\": element %lld is from %g to %g, expected lo <= hi", in->name,
                  (long long)i, in->lo[i], in->hi[i]);
  return s;
}

r4_status r4_enclose(const r4_graph *g, r4_id y, size_t n, const r4_ends *input, r4_semantics semantics, double *lo,
                     double *hi, r4_error *e)
{
  NEEDS(g, "a graph", R4_E_ARGUMENT);
  NEEDS(input || !n, "inputs", R4_E_ARGUMENT);
  NEEDS(lo && hi, "room for the result", R4_E_ARGUMENT);
  if (!y.i || y.i > g->size) return r4_fail(e, R4_E_ARGUMENT, "enclose: not a node of this graph");
  r4_error own = {0};
  if (!e) e = &own;
  struct encloser *c = encloser_new(g, 1, &y, semantics, e);
  r4_status s = c ? R4_OK : e->status;
  for (size_t k = 0; k < n && !s; k++) s = take_input(c, input, k, e);
  if (!s) s = encloser_run(c, e);
  size_t bytes = (size_t)r4_shape_count(r4_node_shape(g, y)) * sizeof *lo;
  if (!s) memcpy(lo, encloser_lo(c, y), bytes);
  if (!s) memcpy(hi, encloser_hi(c, y), bytes);
  encloser_free(c);
  return s;
}
