/* Decides what runs together.
 *
 *  1. absorb: a product or convolution takes along what follows it (bias, relu, a sum in place).
 *  2. levels: how many kernels with a result of their own lie before a node at least.
 *  3. roots:  element-wise nodes that must be in memory; all others are computed where they are
 *             used, again if need be, which costs less than a trip to memory.
 *  4. groups: roots and reductions of one level and one number of elements become one tile unit.
 *             No path leads from a group through another unit back into it: products raise the
 *             level, and a broadcast raises the number of elements.
 *  5. order:  units are sorted so that everything is computed before it is read (order.c). */
#include <string.h>

#include "base/mem.h"
#include "exec/tile.h"
#include "op/op_rules.h"

enum role {
  ROLE_NONE,
  ROLE_MEMORY,
  ROLE_CONST,
  ROLE_VIEW,
  ROLE_BROADCAST,
  ROLE_ELEMENT,
  ROLE_REDUCE,
  ROLE_DENSE
};

/* Recomputing an expression of this cost in several groups is still cheaper than storing it. */
enum { CHEAP = 8, DEAR = 1 << 20 };

struct fact {
  enum role role;
  bool live, root, absorbed, is_output;
  uint32_t uses, level;
  uint32_t min_use, max_use; /* levels of the groups that compute with this node */
  uint32_t cost;             /* of computing it from memory */
  struct fused fused;        /* if a dense unit ends in this node and begins before it */
};

struct work {
  r4_plan *p;
  r4_graph *g;
  struct fact *fact;
  r4_error *error;
};

static struct fact *fact_of(struct work *w, r4_id x)
{
  return &w->fact[plan_base(w->g, x).i];
}

r4_id plan_base(const r4_graph *g, r4_id x)
{
  while (graph_is(g, x, &op_reshape)) x = graph_arg(g, x, 0);
  return x;
}

/* ---- 0. Roles ---- */

static bool reduces_in_tile(const r4_graph *g, r4_id x)
{
  return tile_split(g, x).how != REDUCE_NONE;
}

static enum role role_of(const r4_graph *g, r4_id x)
{
  const struct op *op = graph_node(g, x)->op;
  if (op == &op_input) return ROLE_MEMORY;
  if (op == &op_const) return ROLE_CONST;
  if (op == &op_reshape) return ROLE_VIEW;
  if (op == &op_broadcast) return ROLE_BROADCAST;
  if (op->kind == OP_ELEMENT) return ROLE_ELEMENT;
  if (op->kind == OP_REDUCE && reduces_in_tile(g, x)) return ROLE_REDUCE;
  return ROLE_DENSE;
}

static void assign_roles(struct work *w, const bool *live)
{
  for (uint32_t i = 1; i <= w->g->size; i++) {
    r4_id x = {i};
    w->fact[i].live = live[i];
    if (!live[i]) continue;
    w->fact[i].role = role_of(w->g, x);
    for (uint32_t k = 0; k < graph_node(w->g, x)->arity; k++) fact_of(w, graph_arg(w->g, x, k))->uses++;
  }
}

/* ---- 1. Absorb ---- */

/* b, if x repeats a vector b along all axes but the last */
static r4_id bias_vector(const struct work *w, r4_id x)
{
  if (!graph_is(w->g, x, &op_broadcast)) return R4_NONE;
  r4_id b = graph_arg(w->g, x, 0);
  r4_shape from = r4_node_shape(w->g, b), to = r4_node_shape(w->g, x);
  bool vector = from.rank >= 1 && from.dim[from.rank - 1] == to.dim[to.rank - 1] &&
                r4_shape_count(from) == to.dim[to.rank - 1] && r4_shape_count(to) > r4_shape_count(from);
  return vector ? b : R4_NONE;
}

static bool plain_head(const struct work *w, r4_id h)
{
  const struct fact *f = &w->fact[h.i];
  return f->role == ROLE_DENSE && f->uses == 1 && !f->is_output && !f->fused.head.i && !f->absorbed;
}

static void absorb_into(struct work *w, r4_id head, r4_id final)
{
  w->fact[final.i].role = ROLE_DENSE;
  w->fact[final.i].root = false;
  w->fact[final.i].fused.head = head;
  w->fact[head.i].absorbed = true;
}

static bool absorb_bias(struct work *w, r4_id z, r4_id h, r4_id other)
{
  r4_id b = bias_vector(w, other);
  if (!b.i || !plain_head(w, h) || !graph_node(w->g, h)->op->takes_bias) return false;
  absorb_into(w, h, z);
  w->fact[z.i].fused.bias = b;
  fact_of(w, b)->uses++;
  return true;
}

/* z = h + q, where q is in memory anyway, or z has to be: h is added onto q in place. */
static bool absorb_sum(struct work *w, r4_id z, r4_id h, r4_id q)
{
  const struct fact *f = &w->fact[q.i];
  if (!plain_head(w, h) || !graph_node(w->g, h)->op->takes_sum) return false;
  if (f->uses != 1 || f->is_output || f->absorbed) return false;
  bool worth = f->role == ROLE_DENSE || (f->role == ROLE_ELEMENT && w->fact[z.i].is_output);
  if (!worth) return false;
  absorb_into(w, h, z);
  w->fact[z.i].fused.accumulate = q;
  if (f->role == ROLE_ELEMENT) w->fact[q.i].root = true;
  return true;
}

static void absorb_relu(struct work *w, r4_id y)
{
  r4_id z = graph_arg(w->g, y, 0);
  struct fact *f = &w->fact[z.i];
  if (f->role != ROLE_DENSE || !f->fused.bias.i || f->uses != 1 || f->is_output) return;
  w->fact[y.i].role = ROLE_DENSE;
  w->fact[y.i].root = false;
  w->fact[y.i].fused = f->fused;
  w->fact[y.i].fused.relu = true;
  f->absorbed = true;
}

/* y = bf16(z), where a product with operands in bfloat16 makes z and nothing else reads it. */
static void absorb_rounding(struct work *w, r4_id y)
{
  r4_id z = plan_base(w->g, graph_arg(w->g, y, 0));
  struct fact *f = &w->fact[z.i];
  r4_id head = f->fused.head.i ? f->fused.head : z;
  const struct node *n = graph_node(w->g, head);
  if (f->role != ROLE_DENSE || f->uses != 1 || f->is_output || f->absorbed || f->fused.accumulate.i) return;
  if (n->arity < 2 || !is_bf16(graph_node(w->g, plan_base(w->g, graph_arg(w->g, head, 0)))->op)) return;
  struct fused fused = f->fused;
  fused.head = head, fused.bf16 = true;
  w->fact[y.i].role = ROLE_DENSE;
  w->fact[y.i].root = false;
  w->fact[y.i].fused = fused;
  f->absorbed = true;
}

/* z = a + b: b follows a, or a follows b. What was scattered comes last: few numbers are added onto a product, rather
 * than a product onto zeros that are written first. */
static void absorb_add(struct work *w, r4_id z)
{
  r4_id a = graph_arg(w->g, z, 0), b = graph_arg(w->g, z, 1);
  bool scattered = graph_is(w->g, b, &op_scatter_add);
  if (scattered && absorb_sum(w, z, b, a)) return;
  (void)(absorb_bias(w, z, a, b) || absorb_bias(w, z, b, a) || absorb_sum(w, z, a, b) ||
         absorb_sum(w, z, b, a));
}

static void absorb(struct work *w)
{
  for (uint32_t i = 1; i <= w->g->size; i++) {
    r4_id z = {i};
    if (!w->fact[i].live || w->p->type != R4_F32) continue;
    if (graph_is(w->g, z, &op_relu)) absorb_relu(w, z);
    if (graph_is(w->g, z, &op_bf16)) absorb_rounding(w, z);
    if (graph_is(w->g, z, &op_add)) absorb_add(w, z);
  }
}

/* ---- 2. Levels ---- */

static uint32_t level_after(struct work *w, r4_id x)
{
  const struct fact *f = fact_of(w, x);
  bool barrier = f->role == ROLE_DENSE || f->role == ROLE_REDUCE;
  return f->level + barrier;
}

static void raise(struct work *w, uint32_t *level, r4_id x)
{
  uint32_t after = x.i ? level_after(w, x) : 0;
  if (after > *level) *level = after;
}

/* operands of a unit that ends in x: of its head, the bias, the sum; else the arguments */
static void find_levels(struct work *w)
{
  for (uint32_t i = 1; i <= w->g->size; i++) {
    struct fact *f = &w->fact[i];
    if (!f->live || f->role == ROLE_VIEW) continue;
    r4_id from = f->fused.head.i ? f->fused.head : (r4_id){i};
    uint32_t level = 0;
    for (uint32_t k = 0; k < graph_node(w->g, from)->arity; k++) raise(w, &level, graph_arg(w->g, from, k));
    raise(w, &level, f->fused.bias);
    raise(w, &level, f->fused.accumulate);
    f->level = level;
  }
}

/* ---- 3. Roots ---- */

static void must_be_in_memory(struct work *w, r4_id x)
{
  struct fact *f = fact_of(w, x);
  if (f->role == ROLE_ELEMENT || f->role == ROLE_CONST || f->role == ROLE_BROADCAST) f->root = true;
}

/* the groups of these levels compute with x */
static void use_at(struct work *w, r4_id x, uint32_t low, uint32_t high)
{
  struct fact *f = fact_of(w, x);
  if (low < f->min_use) f->min_use = low;
  if (high > f->max_use) f->max_use = high;
}

static void require_operands(struct work *w, r4_id x)
{
  struct fact *f = &w->fact[x.i];
  r4_id from = f->fused.head.i ? f->fused.head : x;
  for (uint32_t k = 0; k < graph_node(w->g, from)->arity; k++) must_be_in_memory(w, graph_arg(w->g, from, k));
  if (f->fused.bias.i) must_be_in_memory(w, f->fused.bias);
}

/* What products and broadcasts read has to be in memory. */
static void require_roots(struct work *w)
{
  for (uint32_t i = 1; i <= w->g->size; i++) {
    struct fact *f = &w->fact[i];
    r4_id x = {i};
    if (!f->live || f->absorbed) continue;
    if (f->role == ROLE_DENSE) require_operands(w, x);
    if (f->role == ROLE_BROADCAST && fact_of(w, graph_arg(w->g, x, 0))->role != ROLE_CONST)
      must_be_in_memory(w, graph_arg(w->g, x, 0));
  }
}

static void find_costs(struct work *w)
{
  for (uint32_t i = 1; i <= w->g->size; i++) {
    struct fact *f = &w->fact[i];
    f->min_use = UINT32_MAX;
    if (!f->live || f->role != ROLE_ELEMENT) continue;
    int own = graph_node(w->g, (r4_id){i})->op->cost;
    f->cost = own ? (uint32_t)own : 1;
    for (uint32_t k = 0; k < graph_node(w->g, (r4_id){i})->arity; k++) {
      const struct fact *a = fact_of(w, graph_arg(w->g, (r4_id){i}, k));
      uint32_t more = a->root ? 0 : a->cost;
      f->cost = f->cost + more > DEAR ? DEAR : f->cost + more;
    }
  }
}

/* From the last node to the first, so that all uses of a node are known when it is its turn. */
static void choose_roots(struct work *w)
{
  for (uint32_t i = w->g->size; i; i--) {
    struct fact *f = &w->fact[i];
    r4_id x = {i};
    if (!f->live || f->absorbed) continue;
    if (f->role == ROLE_REDUCE) use_at(w, graph_arg(w->g, x, 0), f->level, f->level);
    if (f->role != ROLE_ELEMENT) continue;
    if (f->min_use < f->max_use && f->cost > CHEAP) f->root = true;
    uint32_t low = f->root ? f->level : f->min_use, high = f->root ? f->level : f->max_use;
    for (uint32_t k = 0; k < graph_node(w->g, x)->arity; k++) use_at(w, graph_arg(w->g, x, k), low, high);
  }
}

/* ---- 4. Groups ---- */

struct group_key {
  uint32_t level;
  int64_t count;
  struct split split;
};

static bool in_tile(const struct fact *f)
{
  return f->live && !f->absorbed && (f->role == ROLE_REDUCE || f->root);
}

static struct group_key key_of(struct work *w, r4_id x)
{
  struct group_key key = {.level = w->fact[x.i].level, .count = r4_shape_count(r4_node_shape(w->g, x))};
  if (w->fact[x.i].role != ROLE_REDUCE) return key;
  key.count = r4_shape_count(r4_node_shape(w->g, graph_arg(w->g, x, 0)));
  key.split = tile_split(w->g, x);
  return key;
}

/* A matrix of rows x columns is needed by row and column sums; totals and plain roots go with any. */
static bool joins(const struct group_key *group, const struct group_key *x)
{
  if (group->level != x->level || group->count != x->count) return false;
  bool free_split = x->split.how == REDUCE_NONE || x->split.how == REDUCE_BOTH;
  bool free_group = group->split.how == REDUCE_NONE || group->split.how == REDUCE_BOTH;
  return free_split || free_group || group->split.rows == x->split.rows;
}

static r4_status append(r4_id **list, uint32_t *n, r4_id x, r4_error *e)
{
  r4_id *more = mem_grow(*list, *n + 1, sizeof *more, "a plan", e);
  if (!more) return R4_E_MEMORY;
  *list = more;
  more[(*n)++] = x;
  return R4_OK;
}

static struct unit *new_unit(struct work *w, uint32_t key)
{
  struct unit *u = &w->p->unit[w->p->n_units++];
  *u = (struct unit){.key = key};
  return u;
}

/* Puts x in an open group, or opens one. Reductions come first, so that plain roots find them. */
static r4_status put_in_group(struct work *w, r4_id x, struct group_key *keys)
{
  struct group_key key = key_of(w, x);
  uint32_t k = 0;
  while (k < w->p->n_units && !joins(&keys[k], &key)) k++;
  if (k == w->p->n_units) {
    new_unit(w, x.i)->kind = UNIT_TILE;
    keys[k] = key;
  }
  struct unit *u = &w->p->unit[k];
  if (x.i < u->key) u->key = x.i;
  bool structured = key.split.how == REDUCE_ROWS || key.split.how == REDUCE_COLUMNS;
  if (structured) keys[k].split = key.split;
  return append(&u->roots, &u->n_roots, x, w->error);
}

static r4_status make_groups(struct work *w)
{
  struct group_key *keys = mem_new(w->g->size + 1, sizeof *keys, "a plan", w->error);
  r4_status s = keys ? R4_OK : R4_E_MEMORY;
  for (int pass = 0; pass < 3 && !s; pass++)
    for (uint32_t i = 1; i <= w->g->size && !s; i++) {
      const struct fact *f = &w->fact[i];
      if (!in_tile(f)) continue;
      enum { STRUCTURED, TOTAL, PLAIN } turn = PLAIN;
      if (f->role == ROLE_REDUCE) turn = tile_split(w->g, (r4_id){i}).how == REDUCE_BOTH ? TOTAL : STRUCTURED;
      if (turn == (unsigned)pass) s = put_in_group(w, (r4_id){i}, keys);
    }
  r4_mem_free(keys);
  return s;
}

static bool is_memory(const struct fact *f)
{
  return f->live && !f->absorbed &&
         (f->role == ROLE_MEMORY || f->role == ROLE_DENSE || f->role == ROLE_REDUCE || f->root);
}

static r4_status list_memory(struct work *w)
{
  bool *memory = w->p->in_memory = mem_new(w->g->size + 1, sizeof *memory, "a plan", w->error);
  for (uint32_t i = 1; memory && i <= w->g->size; i++) memory[i] = is_memory(&w->fact[i]);
  return memory ? R4_OK : R4_E_MEMORY;
}

static r4_status make_tiles(struct work *w)
{
  const bool *memory = w->p->in_memory;
  r4_status s = R4_OK;
  for (uint32_t k = 0; !s && k < w->p->n_units; k++) {
    struct unit *u = &w->p->unit[k];
    struct tile_request q = {
      .g = w->g, .type = w->p->type, .roots = u->roots, .n_roots = u->n_roots, .memory = memory};
    u->tile = tile_new(&q, &u->in, &u->n_in, w->error);
    if (!u->tile) s = R4_E_MEMORY;
  }
  return s;
}

static r4_status make_dense(struct work *w)
{
  for (uint32_t i = 1; i <= w->g->size; i++) {
    const struct fact *f = &w->fact[i];
    if (!f->live || f->absorbed || f->role != ROLE_DENSE) continue;
    struct unit *u = new_unit(w, i);
    u->kind = UNIT_DENSE;
    u->final = (r4_id){i};
    u->fused = f->fused;
    if (!f->fused.head.i) u->fused.head = u->final;
    const struct node *n = graph_node(w->g, u->fused.head);
    for (uint32_t k = 0; k < n->arity; k++)
      if (append(&u->in, &u->n_in, plan_base(w->g, graph_arg(w->g, u->fused.head, k)), w->error))
        return R4_E_MEMORY;
    if (f->fused.bias.i && append(&u->in, &u->n_in, plan_base(w->g, f->fused.bias), w->error))
      return R4_E_MEMORY;
    if (f->fused.accumulate.i && append(&u->in, &u->n_in, f->fused.accumulate, w->error)) return R4_E_MEMORY;
  }
  return R4_OK;
}

r4_status cluster(r4_plan *p, size_t n, const r4_id *out, r4_error *e)
{
  struct work w = {.p = p, .g = p->g, .error = e};
  bool *live = NULL;
  r4_status s = R4_OK;
  w.fact = mem_new(p->g->size + 1, sizeof *w.fact, "a plan", w.error);
  p->unit = mem_new(p->g->size + n + 1 + MAX_CLONES, sizeof *p->unit, "a plan", w.error);
  if (!w.fact || !p->unit)
    s = R4_E_MEMORY;
  else if (!graph_live(p->g, n, out, &live))
    s = r4_fail(w.error, R4_E_MEMORY, "out of memory for a plan");
  if (!s) {
    assign_roles(&w, live);
    for (size_t k = 0; k < n; k++) {
      fact_of(&w, out[k])->is_output = true;
      must_be_in_memory(&w, out[k]);
    }
    absorb(&w);
    find_levels(&w);
    require_roots(&w);
    find_costs(&w);
    choose_roots(&w);
    s = make_groups(&w);
  }
  if (!s) s = list_memory(&w);
  if (!s) s = split_groups(p, e);
  if (!s) s = make_tiles(&w);
  if (!s) s = make_dense(&w);
  if (!s) s = order_units(p, n, out, e);
  r4_mem_free(live);
  r4_mem_free(w.fact);
  return s;
}
