/* Memory of a plan: who lives where, and for how long.
 *
 * Inputs and outputs are memory of the caller. Everything else shares one slab: two values may
 * overlap in it if one is dead before the other is born, and a fused group writes over operands that
 * die in it. The largest values are placed first, each at the lowest place that is free for its
 * whole life. If outputs lie in one block, then addresses begin with the block and go on in the slab: an output has its
 * place from the unit that writes it on, and values that die before that may have the same one. */
#include <stdlib.h>

#include "base/mem.h"
#include "exec/plan.h"
#include "exec/tile.h"
#include "op/op_rules.h"

enum { ALIGN = 64 };

static uint32_t new_buffer(r4_plan *p, struct buffer b)
{
  p->buffer[p->n_buffers] = b;
  return p->n_buffers++;
}

/* ---- Outputs: written by the unit that computes them, or copied at the end ---- */

static void add_copy(r4_plan *p, r4_id from, uint32_t slot)
{
  p->unit[p->n_units++] = (struct unit){.kind = UNIT_COPY, .final = from, .key = slot};
}

static void place_outputs(r4_plan *p, const r4_id *out, uint32_t *slot_of)
{
  for (uint32_t k = 0; k < p->n_outputs; k++) {
    r4_id x = plan_base(p->g, out[k]);
    p->output[k].node = x;
    if (graph_is(p->g, x, &op_input) || slot_of[x.i])
      add_copy(p, x, k);
    else
      slot_of[x.i] = k + 1;
  }
  for (uint32_t k = p->n_units; k-- > 0;) { /* what is added onto in place lives where the sum lives */
    const struct unit *u = &p->unit[k];
    if (u->kind == UNIT_DENSE && u->fused.accumulate.i) slot_of[u->fused.accumulate.i] = slot_of[u->final.i];
  }
}

/* ---- Buffers ---- */

/* The last unit that reads each value. */
static uint32_t *find_last_uses(const r4_plan *p)
{
  uint32_t *last = r4_mem_new(plan_values(p), sizeof *last);
  for (uint32_t k = 0; last && k < p->n_units; k++) {
    const struct unit *u = &p->unit[k];
    for (uint32_t j = 0; j < u->n_in; j++) last[u->in[j].i] = k;
    if (u->kind == UNIT_COPY) last[u->final.i] = k;
  }
  return last;
}

static uint32_t value_buffer(r4_plan *p, r4_id x, uint32_t unit, const uint32_t *slot_of)
{
  struct buffer b = {.home = BUFFER_SLAB, .bytes = plan_bytes(p, x), .first = unit, .last = unit};
  if (slot_of[x.i]) {
    b.home = BUFFER_OUTPUT;
    b.slot = slot_of[x.i] - 1;
  }
  return p->buffer_of[x.i] = new_buffer(p, b);
}

/* The buffer of an operand that dies in tile unit k and may be written over by its root j. */
static uint32_t dying_buffer(const r4_plan *p, uint32_t k, uint32_t j, const uint32_t *last_use,
                             const bool *taken)
{
  const struct unit *u = &p->unit[k];
  for (uint32_t i = 0; i < u->n_in; i++) {
    const struct buffer *b = &p->buffer[u->in_buffer[i]];
    bool dies = b->home == BUFFER_SLAB && last_use[u->in[i].i] == k && !taken[i];
    if (dies && b->bytes == plan_bytes(p, u->roots[j]) && tile_may_overwrite(u->tile, i, j)) return i;
  }
  return NO_BUFFER;
}

static r4_status connect_roots(r4_plan *p, uint32_t k, const uint32_t *slot_of, const uint32_t *last_use)
{
  struct unit *u = &p->unit[k];
  bool *taken = r4_mem_new(u->n_in + 1, sizeof *taken);
  if (!taken) return R4_E_MEMORY;
  for (uint32_t j = 0; j < u->n_roots; j++) {
    r4_id x = u->roots[j];
    uint32_t i = slot_of[x.i] ? NO_BUFFER : dying_buffer(p, k, j, last_use, taken);
    if (i == NO_BUFFER) {
      u->out_buffer[j] = value_buffer(p, x, k, slot_of);
    } else {
      u->out_buffer[j] = p->buffer_of[x.i] = u->in_buffer[i];
      taken[i] = true;
    }
  }
  r4_mem_free(taken);
  return R4_OK;
}

static r4_status connect(r4_plan *p, uint32_t k, const uint32_t *slot_of, const uint32_t *last_use)
{
  struct unit *u = &p->unit[k];
  uint32_t n_out = u->kind == UNIT_TILE ? u->n_roots : 1;
  u->in_buffer = r4_mem_new(u->n_in + 1, sizeof *u->in_buffer);
  u->out_buffer = r4_mem_new(n_out, sizeof *u->out_buffer);
  if (!u->in_buffer || !u->out_buffer) return R4_E_MEMORY;
  for (uint32_t j = 0; j < u->n_in; j++) {
    u->in_buffer[j] = p->buffer_of[u->in[j].i];
    p->buffer[u->in_buffer[j]].last = k;
  }
  if (u->kind == UNIT_COPY) {
    u->in_buffer[0] = p->buffer_of[u->final.i];
    p->buffer[u->in_buffer[0]].last = k;
    u->out_buffer[0] = new_buffer(
      p, (struct buffer){.home = BUFFER_OUTPUT, .slot = u->key, .bytes = plan_bytes(p, u->final), .first = k});
  } else if (u->kind == UNIT_TILE) {
    return connect_roots(p, k, slot_of, last_use);
  } else if (u->fused.accumulate.i) {
    u->out_buffer[0] = p->buffer_of[u->final.i] = p->buffer_of[u->fused.accumulate.i];
  } else {
    u->out_buffer[0] = value_buffer(p, u->final, k, slot_of);
  }
  return R4_OK;
}

static void find_inputs(r4_plan *p)
{
  for (uint32_t k = 0; k < p->n_inputs; k++) {
    r4_id x = p->input[k].node;
    if (x.i) p->buffer_of[x.i] = new_buffer(p, (struct buffer){.home = BUFFER_INPUT, .slot = k});
  }
}

/* ---- The slab, behind the block ---- */

static int larger_first(const void *a, const void *b)
{
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static bool live_together(const struct buffer *a, const struct buffer *b)
{
  return a->first <= b->last && b->first <= a->last;
}

static size_t align(size_t offset)
{
  return (offset + ALIGN - 1) / ALIGN * ALIGN;
}

/* The lowest offset where b overlaps none of the n placed buffers that live at the same time, in the block or in the
 * slab, which begins behind it. */
static size_t lowest_place(struct buffer *const *placed, size_t n, const struct buffer *b, size_t block)
{
  size_t at = 0, slab = align(block);
  for (bool moved = true; moved;) {
    moved = at < slab && at + b->bytes > block;
    if (moved) at = slab;
    for (size_t k = 0; k < n; k++) {
      const struct buffer *q = placed[k];
      if (!live_together(q, b) || at + b->bytes <= q->offset || q->offset + q->bytes <= at) continue;
      at = align(q->offset + q->bytes);
      moved = true;
    }
  }
  return at;
}

/* What has its place in the block already. */
static size_t list_fixed(r4_plan *p, struct buffer **list)
{
  size_t n = 0;
  for (size_t k = 0; k < p->block.gaps; k++) list[n++] = &p->block.gap[k];
  for (uint32_t k = 0; k < p->n_buffers; k++) {
    struct buffer *b = &p->buffer[k];
    if (b->home != BUFFER_OUTPUT || !in_block(p, b->slot)) continue;
    b->offset = p->block.place[b->slot];
    b->last = UINT32_MAX;
    list[n++] = b;
  }
  return n;
}

static r4_status place_in_slab(r4_plan *p)
{
  struct buffer **list = r4_mem_new(p->block.gaps + p->n_buffers + 1, sizeof *list);
  if (!list) return R4_E_MEMORY;
  size_t fixed = list_fixed(p, list), n = fixed, slab = align(p->block.bytes);
  for (uint32_t k = 0; k < p->n_buffers; k++)
    if (p->buffer[k].home == BUFFER_SLAB) list[n++] = &p->buffer[k];
  qsort(list + fixed, n - fixed, sizeof *list, larger_first);
  for (size_t k = fixed; k < n; k++) {
    struct buffer *b = list[k];
    b->offset = lowest_place(list, k, b, p->block.bytes);
    if (b->offset + b->bytes > slab + p->slab_bytes) p->slab_bytes = b->offset + b->bytes - slab;
  }
  for (size_t k = fixed; k < n; k++) {
    if (list[k]->offset < slab)
      list[k]->home = BUFFER_BLOCK;
    else
      list[k]->offset -= slab;
  }
  r4_mem_free(list);
  p->slab = r4_mem_new_aligned(p->slab_bytes);
  return p->slab ? R4_OK : R4_E_MEMORY;
}

r4_status layout(r4_plan *p, size_t n, const r4_id *out, r4_error *e)
{
  uint32_t *slot_of = r4_mem_new(plan_values(p), sizeof *slot_of), *last_use = NULL;
  p->buffer_of = r4_mem_new(plan_values(p), sizeof *p->buffer_of);
  p->buffer = r4_mem_new(plan_values(p) + n, sizeof *p->buffer);
  r4_status s = slot_of && p->buffer_of && p->buffer ? R4_OK : R4_E_MEMORY;
  if (!s) {
    find_inputs(p);
    place_outputs(p, out, slot_of);
    last_use = find_last_uses(p);
    if (!last_use) s = R4_E_MEMORY;
  }
  for (uint32_t k = 0; !s && k < p->n_units; k++) s = connect(p, k, slot_of, last_use);
  if (!s) s = place_in_slab(p);
  r4_mem_free(slot_of);
  r4_mem_free(last_use);
  return s ? r4_fail(e, s, "plan: out of memory (%zu bytes of slab)", p->slab_bytes) : R4_OK;
}
