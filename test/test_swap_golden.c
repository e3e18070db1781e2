/* The swap test against NumPy's (test/golden/swap.txt, scripts/golden_swap.py): a small net with a hidden layer, images
 * with masks of different sizes, one class almost without masks, groups that are not the classes. */
#include <stdio.h>
#include <stdlib.h>

#include "golden_case.h"
#include "scratch.h"

static golden *gold;

static int begin(void **state)
{
  (void)state;
  gold = golden_open("swap");
  return 0;
}

static int end(void **state)
{
  (void)state;
  golden_free(gold);
  return 0;
}

static r4_data *make_data(void)
{
  const golden_tensor *x = golden_get(gold, "x"), *m = golden_get(gold, "mask");
  const golden_tensor *y = golden_get(gold, "label"), *g = golden_get(gold, "group");
  float *values = calloc(x->count, sizeof *values);
  uint8_t *bytes = calloc(m->count, 1);
  int32_t *label = calloc(y->count, sizeof *label), *group = calloc(g->count, sizeof *group);
  assert_true(values && bytes && label && group);
  for (size_t k = 0; k < x->count; k++) values[k] = (float)x->value[k];
  for (size_t k = 0; k < m->count; k++) bytes[k] = (uint8_t)m->value[k];
  for (size_t k = 0; k < y->count; k++) label[k] = (int32_t)y->value[k], group[k] = (int32_t)g->value[k];
  r4_error e = {0};
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = y->count,
                                             .shape = R4_SHAPE(x->dim[1], x->dim[2], x->dim[3]),
                                             .floats = values,
                                             .labels = label,
                                             .groups = group,
                                             .mask_bytes = bytes,
                                             .soft_masks = true,
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  free(values);
  free(bytes);
  free(label);
  free(group);
  return d;
}

static r4_swapped test_of(const char *name, r4_fill content, int64_t batch)
{
  static r4_swapped s;
  const golden_tensor *w = golden_get(gold, "weights"), *x = golden_get(gold, "x");
  r4_error e = {0};
  r4_data *d = make_data();
  r4_net *net = r4_net_open("flatten, dense 6, relu, dense 3", R4_SHAPE(x->dim[1], x->dim[2], x->dim[3]), &e);
  float *weights = calloc(w->count, sizeof *weights);
  assert_true(net && weights && r4_net_size(net) == w->count);
  for (size_t k = 0; k < w->count; k++) weights[k] = (float)w->value[k];
  const r4_swap_options o = {.content = content, .draws = 7, .seed = 11, .batch = batch};
  if (r4_swap_test(net, weights, d, &o, &s, &e)) fail_msg("%s: %s", name, e.text);
  free(weights);
  r4_net_free(net);
  r4_data_free(d);
  return s;
}

static void check(const char *name, r4_fill content, int64_t batch)
{
  const golden_tensor *counts = golden_get(gold, "%s.counts", name);
  const golden_tensor *groups = golden_get(gold, "%s.groups", name);
  r4_swapped s = test_of(name, content, batch);
  size_t n = (size_t)groups->dim[1];
  double got[4 * R4_MAX_GROUPS];
  assert_null(s.none);
  assert_int_equal(s.groups, n);
  assert_close(name, (double[]){(double)s.donors, (double)s.inside, (double)s.pasted, s.draws}, counts->value,
               4, 0, 0);
  for (size_t g = 0; g < n; g++) {
    got[g] = (double)s.examples[g];
    got[n + g] = (double)s.found[g];
    got[2 * n + g] = s.flipped[g];
    got[3 * n + g] = s.lost[g];
  }
  assert_close(name, got, groups->value, 4 * n, 1e-12, 0);
}

static void as_in_numpy(void **state)
{
  (void)state;
  check("swap", R4_FILL_SWAP, 256);
  check("blank", R4_FILL_BLANK, 256);
  check("mean", R4_FILL_MEAN, 256);
  check("noise", R4_FILL_NOISE, 256);
}

static void whatever_the_batch_is(void **state)
{
  (void)state;
  check("swap", R4_FILL_SWAP, 1);
  check("noise", R4_FILL_NOISE, 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_in_numpy), cmocka_unit_test(whatever_the_batch_is)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("swap_golden", tests, begin, end);
}
