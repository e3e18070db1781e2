/* The nets that predict: one, or those of all seeds of a run. */
#include <math.h>
#include <stdlib.h>

#include "cmd_predict.h"

int nets_open(struct nets *to, const struct run *r)
{
  r4_error e = {0};
  for (to->n = 0; to->n < r->seeds; to->n++)
    if (!(to->model[to->n] = run_model(r->model[to->n], NULL, &e))) return cli_fail("predict", e.status, e.text);
  return EXIT_DONE;
}

void nets_close(struct nets *nets)
{
  for (size_t k = 0; k < nets->n; k++) r4_model_free(nets->model[k]);
  nets->n = 0;
}

static r4_status predict_one(const r4_model *m, const r4_data *d, int64_t batch, float *probability, r4_error *e)
{
  return r4_predict(r4_model_net(m), r4_model_weights(m), d, batch, probability, e);
}

/* p(class) = mean over the nets of p_k(class), as r4 eval measures it; the sum in double. */
r4_status nets_predict(const struct nets *nets, const r4_data *d, int64_t batch, size_t classes, float *probability,
                       r4_error *e)
{
  if (nets->n == 1) return predict_one(nets->model[0], d, batch, probability, e);
  size_t n = r4_data_count(d) * classes;
  double *sum = calloc(n ? n : 1, sizeof *sum);
  r4_status s = sum ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; k < nets->n && !s; k++) {
    s = predict_one(nets->model[k], d, batch, probability, e);
    for (size_t i = 0; i < n && !s; i++) sum[i] += (double)probability[i] / (double)nets->n;
  }
  for (size_t i = 0; i < n && !s; i++) probability[i] = (float)fmin(1, sum[i]);
  free(sum);
  return s;
}
