/* Penalties in windows around the masks are those of whole images: values and slopes, for each method, on nets with
 * strides, padding and pools, masks at corners, edges and in the middle, guided parts and filled examples. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"

enum { ROWS = 5, HEIGHT = 11, WIDTH = 9, CHANNELS = 2, SAMPLES = 2, MOST_PARAMS = 12 };
enum { PIXELS = HEIGHT * WIDTH * CHANNELS };
enum { LOSS, PENALTY, EACH, SLOPES };

static const char *const nets[] = {
  "conv 3 3 p1, relu, conv 4 4 s2 p1, relu, flatten, dense 5, relu, dense 3",
  "conv 3 3, relu, maxpool 2, conv 4 3 p1, relu, flatten, dense 3",
  "avgpool 2 s1, conv 3 2 s3 p1, relu, maxpool 2 s1, flatten, dense 1",
  "relu, conv 2 5 s2 p4, flatten, dense 3",
  "maxpool 3 s2 p1, conv 3 3 p1, relu, flatten, dense 3",
  "conv 3 1 s3, relu, flatten, dense 4, relu, dense 3",
};

static const char *const methods[] = {"r3",      "smooth-r3", "ibp-ex", "ibp-ex+r3",
                                      "rand-r4", "adv-r4",    "cert-r4", "cert-r4+r3"};

static const r4_rect places[ROWS] = {{0, 0, 3, 3}, {8, 6, 3, 3}, {4, 3, 2, 3}, {0, 4, 3, 2}, {5, 0, 3, 1}};

struct inputs {
  double x[ROWS * PIXELS], filled[ROWS * PIXELS], m[ROWS * PIXELS], y[ROWS];
  double start[ROWS * PIXELS], noise[SAMPLES * ROWS * PIXELS];
  float at[ROWS * 2 * 8];
  size_t places; /* of a row of at */
  int64_t window[2];
};

static double value(uint32_t purpose, size_t k)
{
  return 2 * r4_random_uniform((r4_random){5, purpose, 0}, k) - 1;
}

static bool inside(r4_rect p, int64_t i, int64_t j)
{
  return i >= p.top && i < p.top + p.height && j >= p.left && j < p.left + p.width;
}

/* Row 3 has no mask; masks have holes. */
static void make_inputs(struct inputs *in)
{
  for (size_t k = 0; k < ROWS * PIXELS; k++) {
    size_t n = k / PIXELS, pixel = k % PIXELS / CHANNELS;
    bool masked = n != 3 && inside(places[n], (int64_t)pixel / WIDTH, (int64_t)pixel % WIDTH);
    bool corner = pixel == (size_t)(places[n].top * WIDTH + places[n].left);
    in->x[k] = value(1, k);
    in->m[k] = masked && (corner || value(2, k) > -0.6) ? 0.5 + 0.5 * fabs(value(3, k)) : 0;
    in->filled[k] = in->m[k] > 0 ? value(4, k) : in->x[k];
    in->start[k] = value(5, k);
  }
  for (size_t k = 0; k < SAMPLES * ROWS * PIXELS; k++) in->noise[k] = value(6, k);
  for (size_t n = 0; n < ROWS; n++) in->y[n] = (double)(n % 2);
}

static void put(struct runner *r, const char *name, const double *v, size_t n)
{
  double *to = runner_input(r, name);
  if (to) memcpy(to, v, n * sizeof *to);
}

/* The windows of whole images v, of as many rows for each sample as there are guided ones. */
static void put_windows(struct runner *r, const char *name, const double *v, size_t samples, size_t rows,
                        const struct inputs *in)
{
  double *to = runner_input(r, name);
  for (size_t k = 0; to && k < samples * rows; k++) {
    const float *at = in->at + k % rows * in->places;
    for (int64_t i = 0; i < in->window[0]; i++)
      for (int64_t j = 0; j < in->window[1] * CHANNELS; j++)
        *to++ = v[(int64_t)k * PIXELS + (((int64_t)at[0] + i) * WIDTH + (int64_t)at[1]) * CHANNELS + j];
  }
}

static void put_places(struct runner *r, const struct inputs *in, size_t rows)
{
  double *to = runner_input(r, "at");
  for (size_t k = 0; to && k < rows * in->places; k++) to[k] = (double)in->at[k];
}

static struct runner *compute(const r4_net *net, const r4_objective_options *o, const struct inputs *in,
                              r4_plan_options plan)
{
  r4_graph *g = r4_graph_new();
  r4_id param[MOST_PARAMS], out[SLOPES + MOST_PARAMS];
  size_t params = r4_net_params(net), rows = o->guided ? (size_t)o->guided : ROWS;
  r4_net_inputs(net, g, param);
  r4_objective built = r4_objective_build(g, net, param, o);
  out[LOSS] = built.loss, out[PENALTY] = built.penalty[0], out[EACH] = built.each;
  r4_grad(g, built.loss, params, param, out + SLOPES);
  struct runner *r = runner_new(g, SLOPES + params, out, plan);
  r4_graph_free(g);
  put(r, "x", in->x, ROWS * PIXELS);
  put(r, "filled", in->filled, ROWS * PIXELS);
  put(r, "y", in->y, ROWS);
  put(r, "m", in->m, rows * PIXELS);
  put_places(r, in, rows);
  bool noise_on_all = runner_count(r, "noise") == SAMPLES * rows * PIXELS;
  if (o->reach) put_windows(r, "start", in->start, 1, rows, in);
  if (o->reach && !noise_on_all) put_windows(r, "noise", in->noise, SAMPLES, rows, in);
  if (!o->reach) put(r, "start", in->start, rows * PIXELS);
  if (!o->reach || noise_on_all) put(r, "noise", in->noise, SAMPLES * rows * PIXELS);
  for (size_t k = 0; k < params; k++) {
    double *w = runner_input(r, r4_net_param_name(net, k));
    for (int64_t i = 0; w && i < r4_shape_count(r4_net_param_shape(net, k)); i++)
      w[i] = 0.6 * value(20 + (uint32_t)k, (size_t)i);
  }
  runner_run(r);
  return r;
}

static void compare(const struct runner *a, const struct runner *b, size_t outputs, double tolerance,
                    const char *what)
{
  for (size_t k = 0; k < outputs; k++)
    assert_close(what, b->out[k], a->out[k], a->out_count[k], tolerance, 1);
}

static void check(const char *layers, const char *method, int64_t guided, bool filled, bool anywhere)
{
  r4_error e;
  static struct inputs in;
  char what[160];
  r4_net *net = r4_net_open(layers, R4_SHAPE(HEIGHT, WIDTH, CHANNELS), &e);
  if (!net) fail_msg("%s", e.text);
  r4_reach *reach = r4_reach_new(net, ROWS, places, anywhere, &e);
  make_inputs(&in);
  float m[ROWS * PIXELS];
  for (size_t k = 0; k < ROWS * PIXELS; k++) m[k] = (float)in.m[k];
  in.places = r4_reach_places(reach);
  in.window[0] = in.window[1] = 3;
  assert_int_equal(r4_reach_find(reach, ROWS, CHANNELS, m, in.at, &e), R4_OK);
  r4_objective_options o = {.method = method,
                            .batch = ROWS,
                            .guided = guided,
                            .lambda = {0.8, 0.3},
                            .eps = 0.3,
                            .steps = 3,
                            .samples = SAMPLES,
                            .random_start = true,
                            .over_masked = true,
                            .ranged = true,
                            .low = -0.9,
                            .high = 0.9,
                            .filled = filled,
                            .filled_within = filled};
  r4_objective_options whole = o;
  whole.filled_within = false; /* nothing is shared */
  o.reach = reach;
  snprintf(what, sizeof what, "%s, %s, guided %d, filled %d, anywhere %d", layers, method, (int)guided,
           filled, anywhere);
  check_now = what;
  struct runner *a = compute(net, &whole, &in, FAST64), *b = compute(net, &o, &in, FAST64);
  assert_true(*a->out[PENALTY] > 1e-6);
  compare(a, b, SLOPES + r4_net_params(net), 1e-9, what);
  struct runner *c = compute(net, &o, &in, FAST32);
  if (strcmp(method, "adv-r4") && strcmp(method, "rand-r4"))
    compare(b, c, SLOPES + r4_net_params(net), 2e-4, what); /* searches may end elsewhere in float */
  runner_free(a), runner_free(b), runner_free(c);
  r4_reach_free(reach);
  r4_net_free(net);
}

/* Of all variants two for each net and method: opposite ones. */
static void test_windows_equal_whole_images(void **state)
{
  (void)state;
  for (size_t n = 0; n < sizeof nets / sizeof *nets; n++)
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
      for (size_t opposite = 0; opposite < 2; opposite++) {
        size_t v = (3 * n + k) % 8 ^ 7 * opposite;
        check(nets[n], methods[k], v & 1 ? 3 : 0, v & 2, v & 4);
      }
}

/* ---- Masks of data ---- */

/* Windows that were made from the data hold every mask of every batch, wherever it is moved. */
static void check_batches(const r4_data *d, r4_augment augment)
{
  enum { BATCH = 16, EPOCHS = 5 };
  r4_error e = {0};
  r4_net *net = r4_net_open("conv 2 3 p1, conv 2 4 s2 p1, flatten, dense 10", R4_SHAPE(28, 28, 1), &e);
  size_t n = r4_data_count(d);
  r4_rect *rect = r4_mem_new(n, sizeof *rect);
  assert_int_equal(r4_data_mask_rects(d, &augment, rect), n);
  for (size_t k = 0; k < n; k++)
    assert_true(rect[k].height == 4 + augment.crop && rect[k].width == 4 + augment.crop);
  r4_reach *reach = r4_reach_new(net, n, rect, augment.flip || augment.crop, &e);
  r4_batch_options options = {.size = BATCH, .shuffle = true, .augment = augment};
  r4_batches *b = r4_batches_new(d, &options, &e);
  float at[BATCH * 6];
  for (size_t k = 0; k < EPOCHS * r4_batches_count(b); k++) {
    r4_batch batch = r4_batches_next(b);
    if (r4_reach_find(reach, batch.count, 1, batch.m, at, &e)) fail_msg("%s", e.text);
  }
  r4_batches_free(b);
  r4_reach_free(reach);
  r4_mem_free(rect);
  r4_net_free(net);
}

static void test_masks_of_data_fit_their_windows(void **state)
{
  (void)state;
  r4_error e;
  r4_data *d = r4_data_make("decoy-mnist", &(r4_recipe_options){.from = "digits:64"}, &e);
  if (!d) fail_msg("%s", e.text);
  r4_data *train = r4_data_part(d, R4_TRAIN, &e);
  check_batches(train, (r4_augment){0});
  check_batches(train, (r4_augment){.crop = 3});
  check_batches(train, (r4_augment){.crop = 2, .flip = true});
  r4_data_free(train);
  r4_data_free(d);
}

/* ---- Errors ---- */

static void test_masks_that_were_not_announced(void **state)
{
  (void)state;
  r4_error e;
  r4_net *net = r4_net_open(nets[0], R4_SHAPE(HEIGHT, WIDTH, CHANNELS), &e);
  float m[2 * PIXELS] = {0}, at[2 * 8];
  r4_reach *reach = r4_reach_new(net, 1, places, false, &e);
  m[PIXELS + (5 * WIDTH + 4) * CHANNELS] = 1;
  m[PIXELS + (8 * WIDTH + 4) * CHANNELS + 1] = 1;
  assert_int_equal(r4_reach_find(reach, 2, CHANNELS, m, at, &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "reach: the mask of row 1 needs a window of 4, not 3");
  r4_reach_free(reach);
  assert_null(r4_reach_new(net, 1, &(r4_rect){9, 0, 3, 3}, false, &e));
  assert_string_equal(e.text, "reach: rectangle 0, 3 x 3 at 9,0, is not inside the image of 11 x 9");
  r4_net_free(net);
  net = r4_net_open("dense 2", R4_SHAPE(4), &e);
  assert_null(r4_reach_new(net, 1, places, false, &e));
  assert_string_equal(e.text, "reach: the net's input is a vector, needs an image");
  r4_net_free(net);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_windows_equal_whole_images),
    cmocka_unit_test(test_masks_of_data_fit_their_windows),
    cmocka_unit_test(test_masks_that_were_not_announced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
