#include "certify/example.h"

#include <math.h>

#include "base/mem.h"
#include "measure/predict.h"

enum { BATCH = 256 };

r4_status certified_begin(const r4_net *n, const float *weights, const r4_data *d, size_t done, r4_certified *to,
                          r4_error *e)
{
  size_t all = r4_data_count(d);
  double loss;
  if (done > all) return r4_fail(e, R4_E_ARGUMENT, "certify: %zu examples are done, of %zu", done, all);
  int32_t *predicted = mem_new(all + 1, sizeof *predicted, "predictions", e);
  if (!predicted) return R4_E_MEMORY;
  struct probe *p = predictor_new(n, BATCH, e);
  r4_status s = p ? predictor_run(p, weights, d, predicted, &loss, e) : e->status;
  for (size_t i = done; i < all && !s; i++)
    to[i] = (r4_certified){
      .label = r4_data_example(d, i).label, .predicted = predicted[i], .radius = NAN, .delta = NAN};
  probe_free(p);
  r4_mem_free(predicted);
  return s;
}

void certified_take(const struct margins *m, const struct encloser *x, size_t k, r4_certified *to)
{
  to->margin = to->predicted < 0 ? -INFINITY : margins_least(m, x, (int64_t)k, to->predicted);
  to->holds = to->margin > 0 && to->margin < INFINITY;
}
