/* The score that nets are chosen by in validation, for any data: what Python's scorers take, so that all choose by one
 * rule. */
#include <math.h>

#include "base/mem.h"
#include "measure/check.h"
#include "measure/exchanged.h"
#include "measure/predict.h"

struct work {
  const r4_data *d;
  struct exchange x;
  int32_t *predicted, *after; /* of d, and of what is exchanged */
  struct probe *probe;
  struct score score;
};

static r4_status prepare(struct work *w, const r4_net *net, int64_t batch, r4_error *e)
{
  size_t rows = w->x.n * w->x.draws, n = r4_data_count(w->d);
  w->predicted = r4_mem_new(n + 1, sizeof *w->predicted);
  w->after = r4_mem_new(rows + 1, sizeof *w->after);
  if (!w->predicted || !w->after) return r4_fail(e, R4_E_MEMORY, "out of memory for %zu predictions", n + rows);
  w->probe = predictor_new(net, batch, e);
  return w->probe ? R4_OK : e->status;
}

static r4_status score(struct work *w, const float *weights, r4_error *e)
{
  double before = 0, after = 0;
  r4_status s = predictor_run(w->probe, weights, w->d, w->predicted, &before, e);
  if (!s) s = predictor_run(w->probe, weights, w->x.data, w->after, &after, e);
  return s ? s : score_exchanged(w->d, w->predicted, &w->x, w->after, after, &w->score, e);
}

r4_status r4_exchanged_score(const r4_net *net, const float *weights, const r4_data *d, uint64_t seed,
                             int64_t batch, r4_exchanged *to, r4_error *e)
{
  NEEDS(net, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  *to = (r4_exchanged){NAN, NAN, NAN, NAN, NAN, NAN, 0};
  struct work w = {.d = d};
  r4_status s = eval_check(net, weights, d, e);
  if (!s) s = exchange_make(&w.x, d, d, seed, e);
  if (!s && w.x.n) {
    s = prepare(&w, net, batch, e);
    if (!s) s = score(&w, weights, e);
    if (!s)
      *to = (r4_exchanged){w.score.score, w.score.avg,  w.score.avg_se,   w.score.worst,
                           w.score.changed, w.score.lost, w.score.exchanged};
  }
  exchange_clear(&w.x);
  probe_free(w.probe);
  r4_mem_free(w.predicted);
  r4_mem_free(w.after);
  return s;
}
