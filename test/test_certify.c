/* The claim box: what is certified holds at every point that is tried, nets that fool float arithmetic fool nobody, and
 * certificates say what was proved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "certify/box.h"
#include "enclose_case.h"
#include "scratch.h"
#include "small_images.h"

/* ---- Decimals and boxes ---- */

static void test_decimals(void **state)
{
  (void)state;
  static const char *const good[] = {"0.1", "0", "1", "-3", "0.30000000000000004", "255", "0.000", "-0.25", ".5"};
  static const char *const bad[] = {"", "-", ".", "1e3", "0x1", "1,5", "nan", "inf", " 1", "1 ", "+1", "1.2.3"};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    double low, high, near = strtod(good[k], NULL);
    assert_true(decimal_below(good[k], &low));
    assert_true(decimal_above(good[k], &high));
    bool exact = strlen(good[k]) < 4 && !strchr(good[k], '.');
    assert_true(exact ? low == near && high == near : low <= near && near <= high);
    assert_true(exact || near == 0 || low < high);
    assert_true(high - low <= 1e-14);
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    double v;
    if (decimal_above(bad[k], &v) || decimal_below(bad[k], &v)) fail_msg("\"%s\" is taken for a decimal", bad[k]);
  }
  double tiny;
  char text[402] = "0.";
  memset(text + 2, '0', 390);
  text[392] = '1';
  assert_true(decimal_above(text, &tiny) && tiny > 0); /* strtod says 0, which would be below it */
  long double exact = 0.1L;
  double above, below;
  assert_true(decimal_above("0.1", &above));
  assert_true(decimal_below("0.1", &below));
  assert_true((long double)below <= exact && exact <= (long double)above);
}

static void test_boxes(void **state)
{
  (void)state;
  struct box b;
  r4_error e = {0};
  const float x[] = {0.5f, 0.05f, 0.5f, 1.5f, -0.25f, 0.75f}, m[] = {1, 1, 0, 1, 1, 0.5f};
  double lo[6], hi[6];
  assert_int_equal(box_read(&b, "0.1", "0", "1", &e), R4_OK);
  box_ends(&b, 6, x, m, lo, hi);
  assert_true(lo[0] < 0.5 - 0.1L && lo[0] > 0.5 - 0.1000001 && hi[0] > 0.5 + 0.1L && hi[0] < 0.6000001);
  assert_true(lo[1] == 0 && lo[2] == 0.5 && hi[2] == 0.5);
  assert_true(hi[3] == 1.5 && lo[3] < 1.4 && lo[4] == -0.25 && hi[4] > -0.15); /* outside: they may stay */
  assert_true(lo[5] < 0.75 - 0.05L && lo[5] > 0.6999999 && hi[5] < 0.8000001);
  assert_int_equal(box_read(&b, NULL, "0", "1", &e), R4_OK);
  box_ends(&b, 6, x, m, lo, hi);
  assert_true(lo[0] == 0 && hi[0] == 1 && lo[2] == 0.5 && hi[3] == 1.5 && lo[3] == 0 && lo[4] == -0.25 && hi[4] == 1);
  assert_int_equal(box_read(&b, "0", NULL, NULL, &e), R4_OK);
  box_ends(&b, 6, x, m, lo, hi);
  for (size_t k = 0; k < 6; k++) assert_true(lo[k] == (double)x[k] && hi[k] == (double)x[k]);
  assert_error(&e, box_read(&b, NULL, NULL, NULL, &e), "there is no range");
  assert_error(&e, box_read(&b, "-1", NULL, NULL, &e), "eps is \"-1\"");
  assert_error(&e, box_read(&b, "0.1", "1", "0", &e), "the lower one first");
  assert_error(&e, box_read(&b, "0.1", "1", NULL, &e), "both of its ends");
  assert_error(&e, box_read(&b, "1.01", "0", "1", &e), "eps is 1.01, larger than the range, 0 to 1");
  assert_int_equal(box_read(&b, "0.3", "0.1", "0.4", &e), R4_OK);
  assert_int_equal(box_read(&b, "7", NULL, NULL, &e), R4_OK);
}

/* ---- Nets that are trained here: digits with a decoy, a dense and a conv net ---- */

enum { EXAMPLES = 60, SIDE = 28, FEATURES = SIDE * SIDE };

static struct subject {
  const char *net, *method;
  r4_model *model;
} subjects[] = {{"dense 24, relu, dense 10", "cert-r4", NULL},
                {"conv 4 5 s2, relu, maxpool 2, conv 6 3, relu, flatten, dense 10", "ibp-ex", NULL},
                {"dense 16, relu, dense 10", "erm", NULL}};
enum { SUBJECTS = 3 };
static r4_data *test_part, *train_part;

static void set(r4_settings *s, const char *key, const char *value)
{
  char text[200];
  r4_error e = {0};
  snprintf(text, sizeof text, "%s=%s", key, value);
  if (r4_settings_set(s, text, "test", &e)) fail_msg("%s", e.text);
}

static void train(struct subject *b, const r4_data *d)
{
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  set(s, "net", b->net), set(s, "method", b->method), set(s, "epochs", "20"), set(s, "batch", "50");
  set(s, "eps", "1"), set(s, "eps.ramp", "8"), set(s, "rate", "0.003");
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (!t) fail_msg("%s", e.text);
  while (!r4_trainer_done(t))
    if (r4_trainer_epoch(t, NULL, &e)) fail_msg("%s", e.text);
  assert_int_equal(r4_trainer_save_model(t, scratch_path("model"), &e), R4_OK);
  b->model = r4_model_open(scratch_path("model"), NULL, &e);
  if (!b->model) fail_msg("%s", e.text);
  r4_trainer_free(t);
  r4_settings_free(s);
}

static int setup(void **state)
{
  if (scratch_make(state)) return 1;
  r4_error e = {0};
  r4_recipe_options o = {.from = "digits:800", .shades = "ross", .val = -1};
  r4_data *d = r4_data_make("decoy-mnist", &o, &e);
  if (!d) return 1;
  r4_data *all = r4_data_part(d, R4_TEST, &e);
  size_t first[EXAMPLES];
  for (size_t i = 0; i < EXAMPLES; i++) first[i] = i;
  test_part = r4_data_subset(all, EXAMPLES, first, &e);
  train_part = r4_data_part(d, R4_TRAIN, &e);
  for (size_t k = 0; k < SUBJECTS; k++) train(&subjects[k], train_part);
  r4_data_free(all);
  r4_data_free(d);
  return 0;
}

static int teardown(void **state)
{
  for (size_t k = 0; k < SUBJECTS; k++) r4_model_free(subjects[k].model);
  r4_data_free(test_part);
  r4_data_free(train_part);
  return scratch_remove(state);
}

static void certify(const r4_model *m, const r4_data *d, const r4_certify_options *o, r4_certified *to)
{
  r4_error e = {0};
  if (r4_certify_box(r4_model_net(m), r4_model_weights(m), d, o, to, &e)) fail_msg("%s", e.text);
}

/* The net's logits as a graph, [rows, classes] of "x". */
static r4_id logits_of(const r4_net *n, r4_graph *g, int64_t rows)
{
  r4_shape in = r4_net_input(n), shape = {.rank = in.rank + 1, .dim = {rows}};
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  r4_id param[64], x = r4_input(g, "x", shape);
  assert_true(r4_net_params(n) <= 64);
  r4_net_inputs(n, g, param);
  return r4_net_apply(n, g, param, x);
}

static void give_weights(struct runner *r, const r4_model *m)
{
  const r4_net *n = r4_model_net(m);
  for (size_t k = 0; k < r4_net_params(n); k++) {
    double *w = runner_input(r, r4_net_param_name(n, k));
    for (int64_t i = 0; i < r4_shape_count(r4_net_param_shape(n, k)); i++)
      w[i] = r4_model_weights(m)[r4_net_param_offset(n, k) + (size_t)i];
  }
}

/* Real numbers of the box that are floats: any, corners, or the content of another example. */
static void draw_point(size_t i, double eps, double *to)
{
  float x[FEATURES], m[FEATURES], other[FEATURES];
  r4_data_values(test_part, i, x);
  r4_data_mask(test_part, i, m);
  r4_data_values(train_part, draw_below(r4_data_count(train_part)), other);
  uint64_t kind = draw_below(3);
  for (size_t k = 0; k < FEATURES; k++) {
    double r = eps * m[k], lo = fmax(x[k] - r, 0), hi = fmin(x[k] + r, 1);
    double at = kind == 0 ? draw(lo, hi) : kind == 1 ? (draw_below(2) ? lo : hi) : fmin(fmax(other[k], lo), hi);
    float f = (float)at;
    if (f < lo) f = nextafterf(f, 2);
    if (f > hi) f = nextafterf(f, -2);
    to[k] = m[k] > 0 ? f : x[k];
  }
}

static double margin_at(const double *z, int32_t class)
{
  double most = -INFINITY;
  for (int32_t j = 0; j < 10; j++)
    if (j != class) most = fmax(most, z[j]);
  return z[class] - most;
}

/* In double by plain loops, and in float by fast kernels: the margin is never below what was proved. */
static void check_points(const r4_model *m, r4_plan_options plan, const char *eps, const r4_certified *x, int points)
{
  enum { ROWS = 40 };
  r4_graph *g = r4_graph_new();
  r4_id z = logits_of(r4_model_net(m), g, ROWS);
  struct runner *r = runner_new(g, 1, &z, plan);
  give_weights(r, m);
  double *at = runner_input(r, "x");
  for (size_t i = 0; i < EXAMPLES; i++)
    for (int p = 0; p < points; p += ROWS) {
      for (int row = 0; row < ROWS; row++) draw_point(i, eps ? strtod(eps, NULL) : 1, at + row * FEATURES);
      runner_run(r);
      for (int row = 0; row < ROWS; row++) {
        double margin = margin_at(r->out[0] + row * 10, x[i].predicted);
        if (margin < x[i].margin) fail_msg("example %zu: margin %.17g, proved %.17g", i, margin, x[i].margin);
      }
    }
  runner_free(r);
  r4_graph_free(g);
}

static void test_points(void **state)
{
  (void)state;
  static const char *const eps[] = {"0.1", NULL, "0"};
  size_t held = 0;
  draw_start(510, 0);
  for (size_t k = 0; k < SUBJECTS; k++)
    for (size_t i = 0; i < 3; i++) {
      r4_certified real[EXAMPLES], any[EXAMPLES];
      r4_certify_options o = {.eps = eps[i], .low = "0", .high = "1"};
      certify(subjects[k].model, test_part, &o, real);
      o.semantics = R4_SEMANTICS_ANY_FLOAT;
      certify(subjects[k].model, test_part, &o, any);
      long points = check_setting("R4_POINTS", 120);
      check_points(subjects[k].model, REFERENCE, eps[i], real, k == 1 ? (int)points / 3 : (int)points);
      check_points(subjects[k].model, FAST32, eps[i], any, (int)points);
      for (size_t j = 0; j < EXAMPLES; j++) {
        held += real[j].holds;
        assert_true(any[j].margin <= real[j].margin); /* more is covered */
        /* At a point it costs next to nothing; in a wide box it grows with the largest values, not with the margin. */
        if (eps[i] && !strcmp(eps[i], "0"))
          assert_true(any[j].margin > real[j].margin - 1e-2 * (1 + fabs(real[j].margin)));
      }
    }
  assert_true(held > EXAMPLES);
}

/* ---- Attacks ---- */

static void test_attacks(void **state)
{
  (void)state;
  size_t broken[SUBJECTS] = {0}, held[SUBJECTS] = {0};
  for (size_t k = 0; k < SUBJECTS; k++) {
    r4_certified x[EXAMPLES], again[EXAMPLES];
    r4_certify_options o = {.low = "0", .high = "1"};
    certify(subjects[k].model, test_part, &o, x);
    memcpy(again, x, sizeof x);
    for (int t = 0; t < 2; t++)
      assert_int_equal(r4_attack_box(r4_model_net(subjects[k].model), r4_model_weights(subjects[k].model), test_part,
                                     &o, train_part, 4, 7, t ? again : x, NULL),
                       R4_OK);
    assert_memory_equal(x, again, sizeof x);
    for (size_t i = 0; i < EXAMPLES; i++) {
      assert_false(x[i].holds && x[i].broken);
      broken[k] += x[i].broken, held[k] += x[i].holds;
    }
    assert_true(r4_certified_shares(test_part, x, R4_SHARE_CERTIFIED, false).all <=
                r4_certified_shares(test_part, x, R4_SHARE_ATTACKED, false).all);
  }
  assert_true(held[0] > EXAMPLES / 2 && broken[2] > EXAMPLES / 4); /* cert-r4 is proved, erm is broken */
}

/* A net that a search must break: the masked pixel alone decides. */
static void test_attack_finds(void **state)
{
  (void)state;
  const float x[4] = {0, 0.5f, 0.5f, 0.5f}, m[4] = {1, 0, 0, 0}, w[10] = {-1, 0, 0, 0, 1, 0, 0, 0, 0.75f, 0};
  const int32_t label = 0;
  r4_certified c;
  r4_data *d = small_images(1, 2, x, &label, NULL, m);
  r4_net *n = r4_net_open("dense 2", R4_SHAPE(4), NULL);
  r4_model *model = r4_model_new(n, w, NULL, NULL);
  r4_certify_options o = {.low = "0", .high = "1"};
  certify(model, d, &o, &c);
  assert_true(c.predicted == 0 && !c.holds);
  assert_int_equal(r4_attack_box(r4_model_net(model), r4_model_weights(model), d, &o, NULL, 1, 0, &c, NULL), R4_OK);
  assert_true(c.broken);
  o.eps = "0.37"; /* the margin is 3/4 - 2 x */
  certify(model, d, &o, &c);
  assert_int_equal(r4_attack_box(r4_model_net(model), r4_model_weights(model), d, &o, NULL, 4, 0, &c, NULL), R4_OK);
  assert_true(c.holds && !c.broken && c.margin > 0.0099 && c.margin < 0.01);
  o.radius = true;
  certify(model, d, &o, &c);
  assert_true(c.radius > 0.3749 && c.radius <= 0.375);
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
}

/* ---- Nets that fool float arithmetic ---- */

/* One masked feature of two, and weights; the true margin of class 0 is not positive somewhere in the box. */
static void assert_open(const char *net, const float *w, float x0, const char *eps, const char *what)
{
  const float x[2] = {x0, 0.5f}, m[2] = {1, 0};
  const int32_t label = 0;
  r4_error e = {0};
  const r4_data_arrays a = {.n = 1, .shape = R4_SHAPE(2), .floats = x, .labels = &label, .classes = 2,
                            .mask_floats = m, .masks_by_feature = true, .mask_means = R4_MASKS_IRRELEVANT};
  r4_data *d = r4_data_new(&a, &e);
  r4_net *n = r4_net_open(net, R4_SHAPE(2), &e);
  if (!d || !n) fail_msg("%s", e.text);
  r4_model *model = r4_model_new(n, w, NULL, &e);
  r4_certified c;
  for (int semantics = 0; semantics < 2; semantics++) {
    r4_certify_options o = {.eps = eps, .semantics = semantics ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL};
    certify(model, d, &o, &c);
    if (c.predicted == 0 && c.holds) fail_msg("%s: certified with margin %a", what, c.margin);
  }
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
}

static void test_fooling(void **state)
{
  (void)state;
  const float above_1 = 1 + 0x1p-23f, least = 0x1p-149f;
  /* z0 - z1 = relu(1e8 x + 1) - relu(1e8 x) - w, w just above 1: -2^-23 for every x > 0; floats say what they like */
  const float cancel[] = {1e8f, 0, 1e8f, 0, 1, 0, 1, -1, 0, 0, 0, above_1};
  for (int k = 0; k < 20; k++)
    assert_open("dense 2, relu, dense 2", cancel, (float)k * 0.37f + 0.1f, "0.05", "cancelling weights");
  /* the same with 2^60: no double can tell */
  const float huge[] = {0x1p60f, 0, 0x1p60f, 0, 1, 0, 1, -1, 0, 0, 0, above_1};
  for (int k = 0; k < 20; k++)
    assert_open("dense 2, relu, dense 2", huge, (float)k * 0.37f + 0.1f, "0.05", "huge cancelling weights");
  /* a tie is not a margin: equal rows, at a kink */
  const float tie[] = {1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0};
  assert_open("dense 2, relu, dense 2", tie, 0, "0", "a tie at a kink");
  assert_open("dense 2, relu, dense 2", tie, 0.5f, "0.5", "a tie");
  /* subnormal weights: z0 - z1 = least (1/2 - x), negative within the box */
  const float subnormal[] = {-least, least, 0, 0, 0, 0};
  assert_open("dense 2", subnormal, 0, "1", "subnormal weights");
  /* overflow: 3e38 * 3e38 in floats, and inf - inf */
  const float overflow[] = {3e38f, 3e38f, 3e38f, 3e38f, 0, 0, 3e38f, 3e38f, -3e38f, 3e38f, 0, 0};
  assert_open("dense 2, relu, dense 2", overflow, 3e38f, "1", "overflow");
  /* a backdoor that opens in a corner of the box alone: relu(x - 0.99999994) 2^24 */
  const float door[] = {1, 0, 0, 0, -(1 - 0x1p-24f), 0, -0x1p24f, 0, 0, 0, 0.5f, 0};
  assert_open("dense 2, relu, dense 2", door, 0.5f, "0.5", "a backdoor");
}

/* ---- Properties ---- */

static void test_eps(void **state)
{
  (void)state;
  static const char *const eps[] = {"0", "0.0000001", "0.01", "0.05", "0.1", "0.5", "1"};
  for (size_t k = 0; k < SUBJECTS; k++) {
    r4_certified last[EXAMPLES], x[EXAMPLES], whole[EXAMPLES];
    r4_graph *g = r4_graph_new();
    r4_id z = logits_of(r4_model_net(subjects[k].model), g, EXAMPLES);
    struct runner *r = runner_new(g, 1, &z, REFERENCE);
    give_weights(r, subjects[k].model);
    float row[FEATURES];
    for (size_t i = 0; i < EXAMPLES; i++) {
      r4_data_values(test_part, i, row);
      for (size_t j = 0; j < FEATURES; j++) runner_input(r, "x")[i * FEATURES + j] = row[j];
    }
    runner_run(r);
    for (size_t p = 0; p < sizeof eps / sizeof *eps; p++) {
      certify(subjects[k].model, test_part, &(r4_certify_options){.eps = eps[p], .low = "0", .high = "1"}, x);
      for (size_t i = 0; i < EXAMPLES; i++) {
        double at = margin_at(r->out[0] + i * 10, x[i].predicted), sizes = largest_abs(r->out[0] + i * 10, 10);
        if (!p) assert_true(x[i].margin <= at && at - x[i].margin < 1.01e-6 * (fabs(at) + 2 * sizes));
        if (p) assert_true(x[i].margin <= last[i].margin + 1e-11);
      }
      memcpy(last, x, sizeof x);
    }
    certify(subjects[k].model, test_part, &(r4_certify_options){.low = "0", .high = "1"}, whole);
    for (size_t i = 0; i < EXAMPLES; i++)
      assert_true(fabs(whole[i].margin - x[i].margin) < 1e-9 * (1 + fabs(x[i].margin)));
    runner_free(r);
    r4_graph_free(g);
  }
}

static void test_radii(void **state)
{
  (void)state;
  r4_certified x[EXAMPLES], at;
  certify(subjects[0].model, test_part, &(r4_certify_options){.eps = "0", .low = "0", .high = "1", .radius = true}, x);
  for (size_t i = 0; i < EXAMPLES; i += 7) {
    char text[64];
    r4_data *one = r4_data_subset(test_part, 1, &i, NULL);
    assert_true(x[i].radius >= 0 && x[i].radius <= 1);
    snprintf(text, sizeof text, "%.12f", fmax(x[i].radius - 1e-9, 0));
    certify(subjects[0].model, one, &(r4_certify_options){.eps = text, .low = "0", .high = "1"}, &at);
    assert_true(at.holds || x[i].radius == 0);
    snprintf(text, sizeof text, "%.12f", fmin(x[i].radius + 1e-3, 1));
    certify(subjects[0].model, one, &(r4_certify_options){.eps = text, .low = "0", .high = "1"}, &at);
    assert_true(!at.holds || x[i].radius > 0.999);
    r4_data_free(one);
  }
}

/* The masked explanation at points of the box, by differences of the loss in double, is never above delta. */
static void test_delta(void **state)
{
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    r4_certified x[EXAMPLES];
    certify(subjects[k].model, test_part,
            &(r4_certify_options){.eps = "0.1", .low = "0", .high = "1", .gradient = true}, x);
    r4_graph *g = r4_graph_new();
    r4_id z = logits_of(r4_model_net(subjects[k].model), g, 1), dx, in = r4_graph_input(g, 0, NULL);
    const char *name;
    for (size_t p = 0; (in = r4_graph_input(g, p, &name)).i && strcmp(name, "x");) p++;
    r4_id own = r4_one_hot(g, r4_input(g, "label", R4_SHAPE(1)), 10);
    r4_grad(g, r4_sum(g, r4_cross_entropy(g, z, own), R4_ALL), 1, &in, &dx);
    struct runner *r = runner_new(g, 1, &dx, REFERENCE);
    give_weights(r, subjects[k].model);
    draw_start(511, (uint32_t)k);
    for (size_t i = 0; i < EXAMPLES; i++) {
      float m[FEATURES];
      r4_data_mask(test_part, i, m);
      *runner_input(r, "label") = x[i].label;
      for (int p = 0; p < 5; p++) {
        double sum = 0;
        draw_point(i, 0.1, runner_input(r, "x"));
        runner_run(r);
        for (size_t j = 0; j < FEATURES; j++) sum += m[j] * r->out[0][j] * m[j] * r->out[0][j];
        assert_true(sqrt(sum) <= x[i].delta && isfinite(x[i].delta));
      }
    }
    runner_free(r);
    r4_graph_free(g);
  }
}

static void test_one_output(void **state)
{
  (void)state;
  const float x[8] = {0, 1, 0, 0, 1, 1, 0, 0}, m[8] = {1, 0, 0, 0, 0, 0, 0, 0}, w[5] = {0.5f, 1, 0, 0, -2};
  const int32_t label[2] = {0, 0};
  r4_certified c[2];
  r4_data *d = small_images(2, 2, x, label, NULL, m);
  r4_net *n = r4_net_open("dense 1", R4_SHAPE(4), NULL);
  r4_model *model = r4_model_new(n, w, NULL, NULL);
  certify(model, d, &(r4_certify_options){.low = "0", .high = "1", .gradient = true}, c);
  assert_true(c[0].predicted == 0 && c[0].holds && c[0].margin > 0.4999 && c[0].margin < 0.5); /* z = x/2 - 1 */
  assert_true(c[1].holds && c[1].margin > 0.4999 && c[1].delta == 0); /* without a mask: a point */
  assert_true(c[0].delta > 0.18 && c[0].delta < 0.19); /* sigmoid(-1/2) / 2 */
  assert_true(r4_certified_shares(d, c, R4_SHARE_CERTIFIED, true).examples == 1);
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
}

/* ---- Files ---- */

static void test_files(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_certified x[3] = {{7, 7, 1.5, true, false, NAN, NAN}, {2, 3, -INFINITY, false, false, NAN, NAN},
                       {1, 1, -0.5, false, true, NAN, NAN}};
  r4_certificate c = {.claim = "box", .semantics = "real", .method = "intervals", .eps = "0.1", .low = "0", .high = "1",
                      .model = "aa", .data = "bb", .examples = 3, .example = x};
  assert_int_equal(r4_certificate_save(&c, scratch_path("c.txt"), &e), R4_OK);
  uint8_t *text = NULL;
  size_t size = 0;
  assert_int_equal(file_read(scratch_path("c.txt"), 1 << 20, &text, &size, &e), R4_OK);
  static const char expected[] =
    "r4-certificate 1\nprogram r4 " R4_VERSION "\nclaim box\nsemantics real\nmethod intervals\nmodel aa\ndata bb\n"
    "eps 0.1\nrange 0 1\nexamples 3\n0 7 7 0x1.8p+0 holds\n1 2 3 - open\n2 1 1 -0x1p-1 open\nsha256 ";
  assert_memory_equal(text, expected, sizeof expected - 1);
  char sum[R4_HASH_SIZE];
  r4_hash(text, sizeof expected - 1 - strlen("sha256 "), sum);
  assert_memory_equal(text + sizeof expected - 1, sum, 64);
  assert_int_equal(size, sizeof expected - 1 + 65);
  r4_mem_free(text);
  x[2].holds = true;
  assert_error(&e, r4_certificate_save(&c, scratch_path("c.txt"), &e), "please report");
}

/* ---- Going on ---- */

struct stopped {
  size_t at, seen;
};

static bool stop(size_t done, size_t of, void *user)
{
  struct stopped *s = user;
  (void)of;
  s->seen = done;
  return done < s->at;
}

/* Stopped after any batch, or with any number of examples kept, it ends with the same bits. */
static void test_going_on(void **state)
{
  (void)state;
  const r4_model *m = subjects[1].model;
  r4_certify_options o = {.eps = "0.1", .low = "0", .high = "1", .radius = true, .batch = 16};
  r4_certified whole[EXAMPLES], x[EXAMPLES];
  r4_error e = {0};
  certify(m, test_part, &o, whole);
  for (size_t done = 0; done <= EXAMPLES; done += 7) {
    struct stopped s = {done, 0};
    r4_certify_options first = o, rest = o;
    memset(x, 0x55, sizeof x);
    first.progress = stop, first.user = &s;
    r4_status status = r4_certify_box(r4_model_net(m), r4_model_weights(m), test_part, &first, x, &e);
    assert_true(s.seen >= done && status != R4_OK);
    rest.done = done;
    for (size_t i = done; i < EXAMPLES; i++) x[i] = (r4_certified){.predicted = 99};
    certify(m, test_part, &rest, x);
    for (size_t i = 0; i < EXAMPLES; i++)
      if (x[i].label != whole[i].label || x[i].predicted != whole[i].predicted || x[i].holds != whole[i].holds ||
          memcmp(&x[i].margin, &whole[i].margin, sizeof(double)) || x[i].radius != whole[i].radius)
        fail_msg("after %zu: example %zu is another", done, i);
  }
  o.done = EXAMPLES + 1;
  assert_error(&e, r4_certify_box(r4_model_net(m), r4_model_weights(m), test_part, &o, x, &e), "61 examples are done");
}

/* An attack, too: starts that were made are not made again, and what they broke counts. */
static void test_attack_goes_on(void **state)
{
  (void)state;
  const r4_model *m = subjects[2].model;
  r4_certify_options o = {.low = "0", .high = "1"};
  r4_certified whole[EXAMPLES], x[EXAMPLES];
  r4_error e = {0};
  certify(m, test_part, &o, whole);
  memcpy(x, whole, sizeof x);
  const r4_net *n = r4_model_net(m);
  assert_int_equal(r4_attack_box(n, r4_model_weights(m), test_part, &o, train_part, 3, 5, whole, &e), R4_OK);
  assert_int_equal(r4_attack_box(n, r4_model_weights(m), test_part, &o, train_part, 1, 5, x, &e), R4_OK);
  size_t first = 0, all = 0;
  for (size_t i = 0; i < EXAMPLES; i++) first += x[i].broken, all += whole[i].broken;
  assert_true(first > 0 && first <= all);
  o.done = 1;
  assert_int_equal(r4_attack_box(n, r4_model_weights(m), test_part, &o, train_part, 3, 5, x, &e), R4_OK);
  for (size_t i = 0; i < EXAMPLES; i++) assert_int_equal(x[i].broken, whole[i].broken);
  o.done = 3;
  memset(x, 0, sizeof x);
  assert_int_equal(r4_attack_box(n, r4_model_weights(m), test_part, &o, train_part, 3, 5, x, &e), R4_OK);
  for (size_t i = 0; i < EXAMPLES; i++) assert_false(x[i].broken);
}

/* ---- Memory ---- */

static r4_status everything(r4_certified *x, r4_error *e)
{
  size_t two[2] = {0, 1};
  r4_data *d = r4_data_subset(test_part, 2, two, e);
  if (!d) return R4_E_MEMORY;
  r4_certify_options o = {.eps = "0.1", .low = "0", .high = "1", .radius = true, .gradient = true};
  r4_status s = r4_certify_box(r4_model_net(subjects[1].model), r4_model_weights(subjects[1].model), d, &o, x, e);
  r4_certificate c = {.claim = "box", .semantics = "real", .method = "intervals", .examples = 2, .example = x};
  if (!s) s = r4_certificate_save(&c, scratch_path("m.txt"), e);
  if (!s) s = r4_certificate_data_save(r4_model_net(subjects[1].model), d, scratch_path("m.npz"), e);
  r4_data_free(d);
  return s;
}

static void test_memory(void **state)
{
  (void)state;
  r4_certified x[2];
  r4_mem_fail_at(0);
  assert_int_equal(everything(x, NULL), R4_OK);
  long n = r4_mem_count(), step = n / 150 + 1;
  for (long k = 1; k <= n; k += k < 100 ? 1 : step) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_status s = everything(x, &e);
    r4_mem_fail_at(0);
    if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, e.text);
    if (s) assert_int_equal(e.status, R4_E_MEMORY);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_decimals), cmocka_unit_test(test_boxes),   cmocka_unit_test(test_points),
    cmocka_unit_test(test_attacks),  cmocka_unit_test(test_attack_finds), cmocka_unit_test(test_fooling),
    cmocka_unit_test(test_eps),      cmocka_unit_test(test_radii),   cmocka_unit_test(test_delta),
    cmocka_unit_test(test_one_output), cmocka_unit_test(test_files), cmocka_unit_test(test_memory),
    cmocka_unit_test(test_going_on), cmocka_unit_test(test_attack_goes_on),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("certify", tests, setup, teardown);
}
