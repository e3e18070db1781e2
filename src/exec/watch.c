#include "exec/watch.h"

#include <string.h>

#include "exec/plan.h"

void plan_watch(r4_plan *p, void (*ran)(size_t kernel, void *user), void *user)
{
  p->ran = ran;
  p->ran_user = user;
}

/* What is added onto in place is written more than once. */
void plan_last_writers(const r4_plan *p, size_t *last)
{
  memset(last, 0, p->n_outputs * sizeof *last);
  for (uint32_t k = 0; k < p->n_units; k++) {
    const struct unit *u = &p->unit[k];
    uint32_t n = u->kind == UNIT_TILE ? u->n_roots : 1;
    for (uint32_t j = 0; j < n; j++) {
      const struct buffer *b = &p->buffer[u->out_buffer[j]];
      if (b->home == BUFFER_OUTPUT) last[b->slot] = k;
    }
  }
}
