/* The block: outputs that lie together in memory of the caller, such as the gradients of all weights. A plan keeps
 * other values there until it writes the outputs. What lies between them is not touched. */
#include <stdlib.h>

#include "base/mem.h"
#include "exec/plan.h"

bool in_block(const r4_plan *p, size_t output)
{
  return p->block.place && p->block.place[output] != R4_ELSEWHERE;
}

/* ---- When a plan is made ---- */

struct part {
  size_t begin, end, output;
};

static int by_begin(const void *a, const void *b)
{
  const struct part *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The n parts, in order, and what lies between them. */
static r4_status find_gaps(struct block *b, const struct part *part, size_t n, r4_error *e)
{
  for (size_t k = 0; k < n; k++) {
    if (part[k].begin < b->bytes)
      return r4_fail(e, R4_E_ARGUMENT, "plan: outputs %zu and %zu overlap in their block", part[k - 1].output,
                     part[k].output);
    if (part[k].begin > b->bytes)
      b->gap[b->gaps++] =
        (struct buffer){.offset = b->bytes, .bytes = part[k].begin - b->bytes, .last = UINT32_MAX};
    b->bytes = part[k].end;
  }
  return R4_OK;
}

static r4_status read_parts(r4_plan *p, const size_t *place, const r4_graph *g, const r4_id *out,
                            struct part *part, r4_error *e)
{
  size_t n = 0, size = type_size(p->type);
  for (size_t k = 0; k < p->n_outputs; k++) {
    size_t bytes = (size_t)r4_shape_count(r4_node_shape(g, out[k])) * size;
    p->block.place[k] = R4_ELSEWHERE;
    if (place[k] == R4_ELSEWHERE) continue;
    if (place[k] > SIZE_MAX / 4 / size || bytes > SIZE_MAX / 4)
      return r4_fail(e, R4_E_ARGUMENT, "plan: output %zu at element %zu of its block", k, place[k]);
    p->block.place[k] = place[k] * size;
    part[n++] = (struct part){.begin = p->block.place[k], .end = p->block.place[k] + bytes, .output = k};
  }
  qsort(part, n, sizeof *part, by_begin);
  return find_gaps(&p->block, part, n, e);
}

r4_status block_read(r4_plan *p, const size_t *place, const r4_graph *g, const r4_id *out, r4_error *e)
{
  struct part *part = mem_new(p->n_outputs, sizeof *part, "a plan", e);
  p->block.place = mem_new(p->n_outputs, sizeof *p->block.place, "a plan", e);
  p->block.gap = mem_new(p->n_outputs, sizeof *p->block.gap, "a plan", e);
  r4_status s = part && p->block.place && p->block.gap ? read_parts(p, place, g, out, part, e) : R4_E_MEMORY;
  r4_mem_free(part);
  return s;
}

/* ---- When it runs ---- */

r4_status block_find(r4_plan *p, r4_error *e)
{
  p->block.memory = NULL;
  for (uint32_t k = 0; k < p->n_outputs; k++) {
    if (!in_block(p, k)) continue;
    unsigned char *memory = (unsigned char *)p->output[k].data - p->block.place[k];
    if (p->block.memory && p->block.memory != memory)
      return r4_fail(e, R4_E_ARGUMENT, "plan: output %u is not bound at its place in the block", k);
    p->block.memory = memory;
  }
  return R4_OK;
}
