/* The constant that hidden content is replaced by. */
#include <string.h>

#include "base/mem.h"
#include "data/data.h"

/* Of tokens: the piece that stands for a word which is not told, or for any that is not known. */
static r4_status find_token(const r4_data *d, float *to, r4_error *e)
{
  static const char *const names[] = {"[MASK]", "[UNK]"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    for (size_t id = 0; d->pieces && id < d->pieces->n; id++)
      if (!strcmp(d->pieces->name[id], names[k])) {
        *to = (float)id;
        return R4_OK;
      }
  return r4_fail(
    e, R4_E_ARGUMENT,
    "the tokens have no names, or neither [MASK] nor [UNK] is one of them: nothing can replace them");
}

r4_status r4_data_constant(const r4_data *d, size_t n, float *to, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the constant", R4_E_ARGUMENT);
  r4_shape s = data_x(d)->shape;
  bool ids = data_x(d)->is->ids;
  size_t features = data_x(d)->features, channels = ids ? 1 : s.rank == 3 ? (size_t)s.dim[2] : 0;
  if (n != channels || !n)
    return r4_fail(e, R4_E_SHAPE, "the constant of these examples has %zu numbers, not %zu", channels, n);
  if (ids) return find_token(d, to, e);
  float *mean = mem_new(features, sizeof *mean, "the mean of channels", e);
  r4_status status = mean ? r4_data_mean(d, mean, e) : R4_E_MEMORY;
  for (size_t c = 0; c < n && !status; c++) {
    double sum = 0;
    for (size_t k = c; k < features; k += n) sum += mean[k];
    to[c] = (float)(sum / (double)(features / n));
  }
  r4_mem_free(mean);
  return status;
}
