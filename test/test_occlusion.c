/* Occlusion against a plain loop over windows and pixels, with the net asked for its answers to filled images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"

enum { N = 11, HEIGHT = 7, WIDTH = 9, CHANNELS = 2, PIXELS = HEIGHT * WIDTH, FEATURES = PIXELS * CHANNELS };

static const char *const nets[] = {"conv 3 3, relu, flatten, dense 2", "dense 4, relu, dense 2"};

static float x[N * FEATURES];
static int32_t y[N];

static r4_data *data_of(const float *values)
{
  r4_error e = {0};
  const r4_data_arrays a = {
    .n = N, .shape = R4_SHAPE(HEIGHT, WIDTH, CHANNELS), .floats = values, .labels = y, .classes = 2};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* z_y - z_other of all examples. */
static void margins(const r4_net *n, const float *w, const float *values, double *to)
{
  float p[N * 2];
  r4_error e = {0};
  r4_data *d = data_of(values);
  if (r4_predict(n, w, d, N, p, &e)) fail_msg("%s", e.text);
  for (size_t i = 0; i < N; i++)
    to[i] = log((double)p[2 * i + (size_t)y[i]] / (double)p[2 * i + 1 - (size_t)y[i]]);
  r4_data_free(d);
}

/* By pixel: the mean of what is lost to the windows that cover it. */
static void plainly(const r4_net *n, const float *w, int side, int stride, float fill, double *map)
{
  static float filled[N * FEATURES];
  double whole[N], without[N], count[PIXELS] = {0};
  memset(map, 0, N * PIXELS * sizeof *map);
  margins(n, w, x, whole);
  for (int top = 0;; top += stride) {
    for (int left = 0;; left += stride) {
      memcpy(filled, x, sizeof filled);
      for (int k = 0; k < N * FEATURES; k++) {
        int pixel = k % FEATURES / CHANNELS, i = pixel / WIDTH, j = pixel % WIDTH;
        if (i >= top && i < top + side && j >= left && j < left + side) filled[k] = fill;
      }
      margins(n, w, filled, without);
      for (int i = top; i < top + side && i < HEIGHT; i++)
        for (int j = left; j < left + side && j < WIDTH; j++) {
          count[i * WIDTH + j]++;
          for (int k = 0; k < N; k++) map[k * PIXELS + i * WIDTH + j] += whole[k] - without[k];
        }
      if (left + side >= WIDTH) break;
    }
    if (top + side >= HEIGHT) break;
  }
  for (int k = 0; k < N * PIXELS; k++) map[k] /= count[k % PIXELS];
}

static r4_net *prepare(size_t k, float **w)
{
  r4_error e = {0};
  r4_net *n = r4_net_open(nets[k], k ? R4_SHAPE(FEATURES) : R4_SHAPE(HEIGHT, WIDTH, CHANNELS), &e);
  if (!n) fail_msg("%s", e.text);
  *w = malloc(r4_net_size(n) * sizeof **w);
  r4_net_init(n, NULL, 3, *w, NULL);
  r4_random_fill((r4_random){2, 1, 0}, N * FEATURES, 0, 1, x);
  for (int i = 0; i < N; i++) y[i] = i % 2;
  return n;
}

static void check_net(size_t number)
{
  static const struct {
    int window, stride, side, step; /* as asked for, and what becomes of it */
    double fill;
  } cases[] = {{3, 2, 3, 2, 0},    {2, 2, 2, 2, 0.5}, {4, 1, 4, 1, -1},
               {7, 7, 7, 7, 0.25}, {0, 0, 1, 1, 0},   {3, 0, 3, 2, 1}};
  static double map[N * PIXELS];
  static float a[N * FEATURES];
  float *w;
  r4_net *n = prepare(number, &w);
  r4_data *d = data_of(x);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    r4_attribution_options o = r4_attribution_defaults();
    r4_error e = {0};
    o.explain = R4_EXPLAIN_MARGIN;
    o.window = cases[k].window, o.stride = cases[k].stride, o.fill = cases[k].fill;
    if (r4_attribute("occlusion", n, w, d, &o, a, &e)) fail_msg("%s", e.text);
    plainly(n, w, cases[k].side, cases[k].step, (float)cases[k].fill, map);
    for (size_t i = 0; i < N * PIXELS; i++) {
      double got = (double)a[CHANNELS * i] + (double)a[CHANNELS * i + 1];
      if (!(fabs(got - map[i]) < 2e-5))
        fail_msg("case %zu, example %zu, pixel %zu: %g, expected %g", k, i / PIXELS, i % PIXELS, got, map[i]);
    }
  }
  r4_data_free(d);
  r4_net_free(n);
  free(w);
}

static void test_plain_loop(void **state)
{
  (void)state;
  for (size_t k = 0; k < 2; k++) check_net(k);
}

static void refused(const r4_net *n, const float *w, const r4_data *d, int window, int stride, double fill,
                    const char *words)
{
  static float a[N * FEATURES];
  r4_error e = {0};
  r4_attribution_options o = r4_attribution_defaults();
  o.window = window, o.stride = stride, o.fill = fill;
  assert_error(&e, r4_attribute("occlusion", n, w, d, &o, a, &e), words);
}

static void test_refusals(void **state)
{
  (void)state;
  float *w, vector[4] = {0}, plain[10] = {0};
  r4_net *n = prepare(0, &w), *dense = r4_net_open("dense 2", R4_SHAPE(4), NULL);
  r4_data *d = data_of(x);
  const r4_data_arrays one = {.n = 1, .shape = R4_SHAPE(4), .floats = vector, .labels = y, .classes = 2};
  r4_data *vectors = r4_data_new(&one, NULL);
  refused(n, w, d, 8, 0, 0, "window is 8, expected 1 to 7, the shorter side of the images");
  refused(n, w, d, -1, 0, 0, "window is -1");
  refused(n, w, d, 3, 4, 0, "stride is 4, expected 1 to 3, the side of the window");
  refused(n, w, d, 3, 1, NAN, "fill is nan");
  refused(dense, plain, vectors, 0, 0, 0, "the examples are not images");
  r4_data_free(vectors);
  r4_data_free(d);
  r4_net_free(dense);
  r4_net_free(n);
  free(w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain_loop), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
