/* Inputs that are drawn anew for each step. */
#include <stdio.h>
#include <string.h>

#include "base/purpose.h"
#include "graph/graph.h"
#include "objective/objective.h"

void draw_signed(r4_random key, const r4_batch *batch, size_t n, float *to)
{
  (void)batch;
  r4_random_fill(key, n, -1, 1, to);
}

void draw_unit(r4_random key, const r4_batch *batch, size_t n, float *to)
{
  (void)batch;
  r4_random_fill(key, n, 0, 1, to);
}

void draw_normal(r4_random key, const r4_batch *batch, size_t n, float *to)
{
  (void)batch;
  r4_random_fill_normal(key, n, to);
}

static void draw_listed(r4_random key, const r4_drawn *d, float *to)
{
  for (size_t k = 0; k < d->count; k++) to[k] = d->list[r4_random_below(key, k, d->listed)];
}

void r4_drawn_fill(const r4_drawn *d, uint64_t seed, uint32_t step, const r4_batch *batch, float *to)
{
  r4_random key = {seed, d->purpose, step};
  if (d->list)
    draw_listed(key, d, to);
  else
    d->fill(key, batch, d->count, to);
}

/* The list grows to twice its size, in memory of the graph: what it had stays there until the graph is freed. */
static bool make_room(r4_graph *g, struct draws *d)
{
  bool full = (d->n & (d->n - 1)) == 0;
  r4_drawn *list = full ? graph_keep(g, d->n ? 2 * d->n : 1, sizeof *list) : d->list;
  if (list && full && d->n) memcpy(list, d->list, d->n * sizeof *list);
  if (list) d->list = list;
  return list;
}

/* "noise", and "noise 2" for the second term. Kept by the graph. */
static char *name_of(const struct objective *o, const char *name)
{
  size_t bytes = strlen(name) + 8;
  char *copy = graph_keep(o->g, bytes, 1);
  if (copy && o->term)
    snprintf(copy, bytes, "%s %zu", name, o->term + 1);
  else if (copy)
    memcpy(copy, name, strlen(name) + 1);
  return copy;
}

static bool is_new(r4_graph *g, const struct draws *d, const char *name, uint32_t purpose)
{
  for (size_t k = 0; k < d->n; k++)
    if (!strcmp(d->list[k].name, name) || d->list[k].purpose == purpose) {
      r4_graph_fail(g, R4_E_INTERNAL, "objective: \"%s\" would be drawn as \"%s\" is", name, d->list[k].name);
      return false;
    }
  return true;
}

r4_id objective_draw(struct objective *o, const char *name, r4_shape shape, uint32_t purpose, draw_fill *fill)
{
  r4_graph *g = o->g;
  struct draws *d = o->drawn;
  const char *own = name_of(o, name);
  r4_id node = own ? r4_input(g, own, shape) : R4_NONE;
  purpose += (uint32_t)o->term * PURPOSE_OF_TERM;
  if (!node.i || !is_new(g, d, own, purpose) || !make_room(g, d)) return R4_NONE;
  d->list[d->n++] = (r4_drawn){.name = own,
                               .node = node,
                               .count = (size_t)r4_shape_count(shape),
                               .purpose = purpose,
                               .fill = fill};
  return node;
}
