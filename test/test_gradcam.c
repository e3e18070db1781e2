/* Grad-CAM against values by hand: weights of channels, signs, and how cells are spread over pixels. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "measure/spread.h"

enum { SIDE = 4, PIXELS = SIDE * SIDE };

static r4_data *one_image(const float *x, int32_t label)
{
  r4_error e = {0};
  const r4_data_arrays a = {
    .n = 1, .shape = R4_SHAPE(SIDE, SIDE, 1), .classes = 2, .floats = x, .labels = &label};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* Features are every second pixel, times 1 and times -1, above 0: A_0 = max(x, 0), A_1 = max(-x, 0). The logits are
 * z_0 = 3 mean A_0 - mean A_1 and z_1 = mean A_1, so that d z_0 / d A = (3, -1) / 4 in each of the 4 cells. */
static void test_by_hand(void **state)
{
  (void)state;
  static const float w[] = {1, -1, 3, -1, 0, 1};
  r4_error e = {0};
  float x[PIXELS] = {0}, map[PIXELS];
  x[0] = 8, x[2] = -4, x[8] = 2, x[10] = 0; /* the cells */
  r4_net *n = r4_net_open("conv 2 1 s2 nobias, relu, globalpool, dense 2 nobias", R4_SHAPE(SIDE, SIDE, 1), &e);
  if (!n) fail_msg("%s", e.text);
  r4_attribution_options o = r4_attribution_defaults();
  o.explain = R4_EXPLAIN_LOGIT;
  /* a = max(0, (3 A_0 - A_1) / 4): 6, 0 (from -1), 1.5, 0; along a row of 2 cells a, b pixels are a, (3 a + b) / 4,
   * (a + 3 b) / 4, b */
  static const double rows[2][2] = {{6, 0}, {1.5, 0}}, part[] = {0, 0.25, 0.75, 1};
  r4_data *d = one_image(x, 0);
  if (r4_attribute("gradcam", n, w, d, &o, map, &e)) fail_msg("%s", e.text);
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      double up = rows[0][0] + part[j] * (rows[0][1] - rows[0][0]),
             down = rows[1][0] + part[j] * (rows[1][1] - rows[1][0]);
      assert_true(fabs((double)map[i * SIDE + j] - (up + part[i] * (down - up))) < 1e-5);
    }
  /* The loss of class 0 is log(1 + exp(z_1 - z_0)): its slopes are those of z_1 - z_0, times a positive number; what
   * speaks for the answer is the same. */
  float by_loss[PIXELS];
  o.explain = R4_EXPLAIN_LOSS;
  if (r4_attribute("gradcam", n, w, d, &o, by_loss, &e)) fail_msg("%s", e.text);
  assert_true(by_loss[0] > 0 && by_loss[3] < 1e-7f);
  assert_true(fabs((double)by_loss[12] / (double)by_loss[0] - 0.25) < 1e-4);
  r4_data_free(d);
  r4_net_free(n);
}

/* Channels have equal parts; sizes that do not divide each other. */
static void test_spread(void **state)
{
  (void)state;
  const float cells[] = {1, 3};
  float to[3 * 2];
  spread_cells(cells, (const int64_t[]){1, 2}, R4_SHAPE(1, 3, 2), to);
  static const float want[] = {0.5f, 0.5f, 1, 1, 1.5f, 1.5f};
  for (int k = 0; k < 6; k++) assert_true(fabsf(to[k] - want[k]) < 1e-6f);
}

static void test_refusals(void **state)
{
  (void)state;
  r4_error e = {0};
  float x[PIXELS] = {0}, w[100] = {0}, map[PIXELS];
  r4_net *n = r4_net_open("flatten, dense 2", R4_SHAPE(SIDE, SIDE, 1), &e);
  r4_data *d = one_image(x, 0);
  assert_int_equal(r4_attribute("gradcam", n, w, d, NULL, map, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "gradcam: no part of the net outputs an image"));
  r4_data_free(d);
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_spread),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
