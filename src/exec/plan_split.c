/* Large groups that have nothing in common are apart.
 *
 * A group runs when all that it reads is there, and keeps all of it alive until then. Members that read the same
 * memory, or each other, save a trip to memory by that. Members that do not save one call of a kernel, which is nothing
 * beside a large group's work, and may tie two passes over the net together.
 *
 * No path leads from one part of a group to another: a member that reads another one is in the same part. */
#include <string.h>

#include "base/mem.h"
#include "exec/tile.h"
#include "op/op_rules.h"

enum { LARGE = 1 << 16 }; /* elements */
static const double MANY = 4;

struct splitter {
  r4_plan *p;
  uint32_t *part;  /* by root of the group: one that it is together with, at last the first of them */
  uint32_t *owner; /* by node that parts are tied together by: the root that came by first, plus 1 */
  uint32_t *seen;  /* by node: the root that came by last, plus 1 */
  r4_id *todo;
  uint32_t todos;
};

static uint32_t first_of(const struct splitter *s, uint32_t root)
{
  while (s->part[root] != root) root = s->part[root];
  return root;
}

static void join(struct splitter *s, uint32_t a, uint32_t b)
{
  a = first_of(s, a);
  b = first_of(s, b);
  s->part[a > b ? a : b] = a > b ? b : a;
}

static int64_t elements(const r4_graph *g, r4_id root)
{
  bool reduces = graph_node(g, root)->op->kind == OP_REDUCE;
  return r4_shape_count(r4_node_shape(g, reduces ? graph_arg(g, root, 0) : root));
}

/* Root k reads x, or computes it on the way. Constants and what is repeated along the group are small, and of a small
 * group everything is: reading that twice costs nothing. */
static void visit(struct splitter *s, uint32_t k, r4_id x, bool large)
{
  x = plan_base(s->p->g, x);
  bool memory = s->p->in_memory[x.i], shared = large && r4_shape_count(r4_node_shape(s->p->g, x)) >= LARGE;
  if (!memory && (graph_is(s->p->g, x, &op_const) || graph_is(s->p->g, x, &op_broadcast))) return;
  if (s->owner[x.i])
    join(s, s->owner[x.i] - 1, k);
  else if (shared)
    s->owner[x.i] = k + 1;
  if (memory || s->seen[x.i] == k + 1) return;
  s->seen[x.i] = k + 1;
  s->todo[s->todos++] = x;
}

static void find_parts(struct splitter *s, const struct unit *u)
{
  const r4_graph *g = s->p->g;
  bool large = elements(g, u->roots[0]) >= LARGE;
  memset(s->owner, 0, (g->size + 1) * sizeof *s->owner);
  memset(s->seen, 0, (g->size + 1) * sizeof *s->seen);
  for (uint32_t k = 0; k < u->n_roots; k++) {
    s->part[k] = k;
    s->owner[u->roots[k].i] = k + 1;
  }
  for (uint32_t k = 0; k < u->n_roots; k++) {
    s->todo[s->todos++] = u->roots[k];
    while (s->todos) {
      r4_id x = s->todo[--s->todos];
      for (uint32_t a = 0; a < graph_node(g, x)->arity; a++) visit(s, k, graph_arg(g, x, a), large);
    }
  }
}

/* The roots of the part that begins with root "first", from u to a unit that may be u itself. */
static void take_part(const struct splitter *s, const struct unit *u, uint32_t first, struct unit *to)
{
  uint32_t n = u->n_roots;
  to->n_roots = 0;
  to->key = UINT32_MAX;
  for (uint32_t k = 0; k < n; k++) {
    if (first_of(s, k) != first) continue;
    r4_id root = u->roots[k];
    to->roots[to->n_roots++] = root;
    if (root.i < to->key) to->key = root.i;
  }
}

/* How a group is cut into pieces decides the order of its sums, and the bits: see choose_chunks in tile.c. */
struct cut {
  int64_t row;
  bool columns, reduces;
};

static struct cut cut_of(const struct splitter *s, const struct unit *u, uint32_t first, bool all)
{
  struct cut c = {0};
  for (uint32_t k = 0; k < u->n_roots; k++) {
    if (graph_node(s->p->g, u->roots[k])->op->kind != OP_REDUCE || (!all && first_of(s, k) != first))
      continue;
    struct split split = tile_split(s->p->g, u->roots[k]);
    c.reduces = true;
    c.columns |= split.how == REDUCE_COLUMNS;
    if (split.how != REDUCE_BOTH) c.row = split.columns;
  }
  return c;
}

static bool keeps_bits(const struct splitter *s, const struct unit *u)
{
  struct cut whole = cut_of(s, u, 0, true);
  for (uint32_t k = 0; k < u->n_roots; k++) {
    struct cut part = cut_of(s, u, k, false);
    if (part.reduces && (part.row != whole.row || part.columns != whole.columns)) return false;
  }
  return true;
}

/* The first part stays where the group was, the others become units behind all. */
static bool split(struct splitter *s, struct unit *u)
{
  find_parts(s, u);
  if (!keeps_bits(s, u)) return true;
  for (uint32_t k = 1; k < u->n_roots; k++) {
    if (first_of(s, k) != k) continue;
    struct unit *more = &s->p->unit[s->p->n_units];
    *more = (struct unit){.kind = UNIT_TILE, .roots = r4_mem_new(u->n_roots, sizeof *more->roots)};
    if (!more->roots) return false;
    s->p->n_units++;
    take_part(s, u, k, more);
  }
  take_part(s, u, 0, u);
  return true;
}

/* Of all values, as if none of them ever made room for another. */
static double all_bytes(const r4_plan *p)
{
  double bytes = 0;
  for (uint32_t i = 1; i <= p->g->size; i++)
    if (p->in_memory[i] && p->g->node[i].op != &op_input) bytes += (double)plan_bytes(p, (r4_id){i});
  return bytes;
}

r4_status split_groups(r4_plan *p, r4_error *e)
{
  size_t nodes = p->g->size + 1;
  if (all_bytes(p) <= MANY * (double)p->keep_bytes) return R4_OK;
  struct splitter s = {.p = p,
                       .part = r4_mem_new(nodes, sizeof *s.part),
                       .owner = r4_mem_new(nodes, sizeof *s.owner),
                       .seen = r4_mem_new(nodes, sizeof *s.seen),
                       .todo = r4_mem_new(2 * nodes, sizeof *s.todo)};
  bool ok = s.part && s.owner && s.seen && s.todo;
  uint32_t groups = p->n_units;
  for (uint32_t k = 0; k < groups && ok; k++)
    if (p->unit[k].n_roots > 1) ok = split(&s, &p->unit[k]);
  r4_mem_free(s.part);
  r4_mem_free(s.owner);
  r4_mem_free(s.seen);
  r4_mem_free(s.todo);
  return ok ? R4_OK : r4_fail(e, R4_E_MEMORY, "plan: out of memory");
}
