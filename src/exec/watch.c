#include "exec/watch.h"

#include <string.h>

#include "exec/plan.h"

void plan_watch(r4_plan *p, void (*ran)(size_t kernel, void *user), void *user)
{
  p->ran = ran;
  p->ran_user = user;
}

static void used(const r4_plan *p, uint32_t buffer, size_t unit, size_t *last)
{
  const struct buffer *b = &p->buffer[buffer];
  if (b->home == BUFFER_OUTPUT) last[b->slot] = unit;
}

/* What is added onto in place is written more than once, and the derivative of a normalisation reads those of its scale
 * and shift. */
void plan_last_uses(const r4_plan *p, size_t *last)
{
  memset(last, 0, p->n_outputs * sizeof *last);
  for (uint32_t k = 0; k < p->n_units; k++) {
    const struct unit *u = &p->unit[k];
    uint32_t n_in = u->kind == UNIT_COPY ? 1 : u->n_in, n_out = u->kind == UNIT_TILE ? u->n_roots : 1;
    for (uint32_t j = 0; j < n_in; j++) used(p, u->in_buffer[j], k, last);
    for (uint32_t j = 0; j < n_out; j++) used(p, u->out_buffer[j], k, last);
  }
}
