/* Which examples a picture shows. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/attribution.h"
#include "measure/predict.h"
#include "module/net.h"
#include "report/picture/heat.h"

enum { BATCH = 64 };

r4_status heat_predict(const r4_subject *who, const r4_data *d, int32_t *predicted, r4_error *e)
{
  double loss;
  size_t missing;
  r4_status s = attribution_fits(who->net, d, e);
  if (!s) s = net_check_finite(who->net, who->weights, who->name, e);
  if (s) return s;
  struct probe *p = predictor_new(who->net, BATCH, e);
  if (!p) return e->status;
  s = predictor_run(p, who->weights, d, predicted, &loss, e);
  if (!s) s = predicted_check(d, predicted, &missing, e);
  probe_free(p);
  return s;
}

struct turn {
  size_t rank, label, example; /* rank: how many of its label come before it */
};

static int by_turn(const void *a, const void *b)
{
  const struct turn *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->label > y->label) - (x->label < y->label);
}

r4_status r4_heat_examples(const r4_data *d, size_t n, const r4_subject *wrong, size_t *example,
                           size_t *found, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(example, "room for examples", R4_E_ARGUMENT);
  NEEDS(found, "room for their number", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  size_t count = r4_data_count(d), turns = 0;
  size_t *seen = mem_new(r4_data_classes(d) + 1, sizeof *seen, "choosing among examples", e);
  struct turn *turn = mem_new(count + 1, sizeof *turn, "choosing among examples", e);
  int32_t *predicted = mem_new(count + 1, sizeof *predicted, "choosing among examples", e);
  r4_status s = R4_OK;
  *found = 0;
  if (!seen || !turn || !predicted) s = R4_E_MEMORY;
  if (!s && wrong) s = heat_predict(wrong, d, predicted, e);
  for (size_t i = 0; i < count && !s; i++) {
    int32_t label = r4_data_example(d, i).label;
    if (wrong && predicted[i] == label) continue;
    turn[turns++] = (struct turn){seen[label]++, (size_t)label, i};
  }
  if (!s) qsort(turn, turns, sizeof *turn, by_turn);
  for (size_t k = 0; k < turns && k < n && !s; k++) example[(*found)++] = turn[k].example;
  r4_mem_free(seen);
  r4_mem_free(turn);
  r4_mem_free(predicted);
  return s;
}
