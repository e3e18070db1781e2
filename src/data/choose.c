#include "data/choose.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* An example draws a number; each stratum gives those with the smallest. */
struct ticket {
  uint32_t stratum, example;
  double drawn;
};

static int compare(const void *a, const void *b)
{
  const struct ticket *p = a, *q = b;
  if (p->stratum != q->stratum) return p->stratum < q->stratum ? -1 : 1;
  if (p->drawn != q->drawn) return p->drawn < q->drawn ? -1 : 1;
  return (p->example > q->example) - (p->example < q->example);
}

r4_status choose_share(size_t n, const uint32_t *stratum, double share, r4_random key, uint8_t *chosen,
                       r4_error *e)
{
  if (!(share >= 0 && share <= 1)) return r4_fail(e, R4_E_ARGUMENT, "a share of %g, expected 0 to 1", share);
  struct ticket *ticket = mem_new(n ? n : 1, sizeof *ticket, "choosing among examples", e);
  if (!ticket) return R4_E_MEMORY;
  for (size_t i = 0; i < n; i++)
    ticket[i] = (struct ticket){stratum[i], (uint32_t)i, r4_random_uniform(key, i)};
  qsort(ticket, n, sizeof *ticket, compare);
  for (size_t first = 0, end; first < n; first = end) {
    for (end = first; end < n && ticket[end].stratum == ticket[first].stratum; end++) continue;
    size_t wanted = (size_t)llround(share * (double)(end - first));
    for (size_t k = first; k < end; k++) chosen[ticket[k].example] = k - first < wanted;
  }
  r4_mem_free(ticket);
  return R4_OK;
}

void choose_strata(const r4_data *d, uint32_t *stratum)
{
  for (size_t i = 0; i < d->n; i++)
    stratum[i] = (uint32_t)d->record[i].label * R4_SPLITS + d->record[i].split;
}
