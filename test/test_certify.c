/* The claim box on trained nets: what is certified holds at every point that is tried, and no attack breaks it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "certify/box.h"
#include "enclose_case.h"
#include "graph/graph.h"
#include "scratch.h"
#include "small_images.h"

/* ---- Nets that are trained here: digits with a decoy, a dense and a conv net ---- */

enum { EXAMPLES = 60, SIDE = 28, FEATURES = SIDE * SIDE };

static struct subject {
  const char *net, *method, *eps;
  r4_model *model;
} subjects[] = {{"dense 24, relu, dense 10", "cert-r4", "1", NULL},
                {"conv 4 5 s2, relu, maxpool 2, conv 6 3, relu, flatten, dense 10", "ibp-ex", "1", NULL},
                {"dense 16, relu, dense 10", "erm", "1", NULL}};
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
  set(s, "eps", b->eps), set(s, "eps.ramp", "8"), set(s, "rate", "0.003");
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

/* The ends of what floats are in a box. */
static void float_box(size_t i, double eps, double *lo, double *hi)
{
  float x[FEATURES], m[FEATURES];
  r4_data_values(test_part, i, x);
  r4_data_mask(test_part, i, m);
  for (size_t k = 0; k < FEATURES; k++) {
    double r = eps * m[k] * (1 - 1e-15), low = fmax(x[k] - r, 0), high = fmin(x[k] + r, 1);
    float first = (float)low, last = (float)high;
    if (first < low) first = nextafterf(first, 2);
    if (last > high) last = nextafterf(last, -2);
    lo[k] = m[k] > 0 ? first : x[k];
    hi[k] = m[k] > 0 ? last : x[k];
  }
}

static double between(double lo, double at, double hi)
{
  return fmin(fmax((float)at, lo), hi);
}

/* Any, corners, or the content of another example. */
static void draw_point(const double *lo, const double *hi, double *to)
{
  float other[FEATURES];
  r4_data_values(train_part, draw_below(r4_data_count(train_part)), other);
  uint64_t kind = draw_below(3);
  for (size_t k = 0; k < FEATURES; k++) {
    double at = lo[k] == hi[k] ? lo[k] : kind == 0 ? draw(lo[k], hi[k]) : draw_below(2) ? lo[k] : hi[k];
    to[k] = between(lo[k], kind == 2 ? other[k] : at, hi[k]);
  }
}

/* Down the slope of the margin, across so much of the box. */
static void descend(const double *slope, const double *lo, const double *hi, double share, double *x)
{
  for (size_t k = 0; k < FEATURES; k++) {
    double way = share * (hi[k] - lo[k]);
    x[k] = between(lo[k], slope[k] > 0 ? x[k] - way : slope[k] < 0 ? x[k] + way : x[k], hi[k]);
  }
}

enum { ROWS = 20, STEPS = 3 };

/* The margins [rows] of the classes "class", and their slopes. */
static struct runner *margins_of(const r4_model *m, r4_graph *g, r4_plan_options plan)
{
  r4_id z = logits_of(r4_model_net(m), g, ROWS), x = graph_find_input(g, "x"), out[2];
  r4_id own = r4_one_hot(g, r4_input(g, "class", R4_SHAPE(ROWS)), 10), much = r4_const(g, -1e30, R4_SCALAR);
  r4_id others = r4_reduce_max(g, r4_select(g, own, much, z), R4_AXIS(1));
  out[0] = r4_sub(g, r4_sum(g, r4_mul(g, own, z), R4_AXIS(1)), others);
  r4_grad(g, r4_sum(g, out[0], R4_ALL), 1, &x, &out[1]);
  struct runner *r = runner_new(g, 2, out, plan);
  give_weights(r, m);
  return r;
}

/* Points, and from each of them some steps down: the margin is never below what was proved. Returns how many were
 * looked at, and *held those of certificates that hold. */
static size_t attack(const r4_model *m, r4_plan_options plan, const char *eps, const r4_certified *x, size_t points,
                     size_t *held)
{
  r4_graph *g = r4_graph_new();
  struct runner *r = margins_of(m, g, plan);
  double lo[FEATURES], hi[FEATURES], *at = runner_input(r, "x");
  size_t done = 0;
  for (size_t i = 0; i < EXAMPLES; i++) {
    float_box(i, eps ? strtod(eps, NULL) : 1, lo, hi);
    for (size_t p = 0; p < ROWS; p++) runner_input(r, "class")[p] = x[i].predicted;
    for (size_t p = 0; p < points; p += ROWS * (STEPS + 1))
      for (int step = 0; step <= STEPS; step++) {
        for (size_t row = 0; row < ROWS; row++) {
          if (step)
            descend(r->out[1] + row * FEATURES, lo, hi, ldexp(1, 1 - step), at + row * FEATURES);
          else
            draw_point(lo, hi, at + row * FEATURES);
        }
        runner_run(r);
        for (size_t row = 0; row < ROWS; row++)
          if (r->out[0][row] < x[i].margin)
            fail_msg("example %zu: margin %.17g, proved %.17g", i, r->out[0][row], x[i].margin);
        done += ROWS;
        *held += x[i].holds ? ROWS : 0;
      }
  }
  runner_free(r);
  r4_graph_free(g);
  return done;
}

static size_t by_slopes; /* boxes whose margin better slopes have raised */

/* Linear bounds hold at points, and prove more; with the best of both nothing is lost; better slopes raise margins. */
static size_t check_linear(const r4_model *m, const char *eps, const r4_certified *interval)
{
  r4_certified linear[EXAMPLES], best[EXAMPLES], slopes[EXAMPLES];
  size_t more = 0, held = 0;
  r4_certify_options o = {.eps = eps, .low = "0", .high = "1", .method = R4_BOUND_LINEAR};
  certify(m, test_part, &o, linear);
  o.method = R4_BOUND_BEST;
  certify(m, test_part, &o, best);
  o.slopes = 8;
  certify(m, test_part, &o, slopes);
  attack(m, REFERENCE, eps, slopes, 80, &held);
  attack(m, REFERENCE, eps, linear, 80, &held);
  attack(m, REFERENCE, eps, best, 80, &held);
  for (size_t j = 0; j < EXAMPLES; j++) {
    assert_true(best[j].margin >= interval[j].margin);
    assert_true(interval[j].holds ? best[j].margin == interval[j].margin : best[j].margin >= linear[j].margin);
    assert_true(linear[j].holds == (linear[j].margin > 0) && best[j].holds == (best[j].margin > 0));
    assert_true(best[j].holds ? slopes[j].margin == best[j].margin : slopes[j].margin >= best[j].margin);
    more += best[j].holds > interval[j].holds;
    by_slopes += slopes[j].margin > best[j].margin + 1e-3;
  }
  return more;
}

static void test_linear(void **state)
{
  (void)state;
  static const char *const eps[] = {"0.1", "0.3", NULL, "0"};
  size_t more = 0;
  draw_start(511, 0);
  for (size_t k = 0; k < SUBJECTS; k++)
    for (size_t i = k == 1 ? 2 : 0; i < (k == 1 ? 3 : 4); i++) { /* conv: over the whole range */
      r4_certified x[EXAMPLES];
      certify(subjects[k].model, test_part, &(r4_certify_options){.eps = eps[i], .low = "0", .high = "1"}, x);
      more += check_linear(subjects[k].model, eps[i], x);
    }
  print_message("# %zu boxes proved that intervals do not; %zu margins raised by slopes\n", more, by_slopes);
  assert_true(more > EXAMPLES / 3 && by_slopes > EXAMPLES / 3);
}

/* What one method proves, the next one does, too; what an attack breaks, none of them; and margins hold at points. */
static size_t check_order(const r4_model *m, const char *eps)
{
  r4_certified by[4][EXAMPLES];
  r4_error e = {0};
  size_t more = 0, held = 0;
  r4_certify_options o = {.eps = eps, .low = "0", .high = "1"};
  certify(m, test_part, &o, by[0]);
  o.method = R4_BOUND_BEST;
  certify(m, test_part, &o, by[1]);
  o.slopes = 8;
  certify(m, test_part, &o, by[2]);
  memcpy(by[3], by[2], sizeof by[3]);
  if (r4_attack_box(r4_model_net(m), r4_model_weights(m), test_part, &o, NULL, 3, 0, by[3], &e)) fail_msg("%s", e.text);
  o.seconds = 2;
  if (r4_branch_box(r4_model_net(m), r4_model_weights(m), test_part, &o, by[3], &e)) fail_msg("%s", e.text);
  attack(m, REFERENCE, eps, by[3], 80, &held);
  for (size_t i = 0; i < EXAMPLES; i++) {
    const r4_certified *x = &by[3][i];
    for (int k = 0; k < 3; k++) assert_true(by[k][i].holds <= by[k + 1][i].holds);
    assert_true(!x->holds || !x->broken);
    assert_true(x->holds == (x->by != R4_PROVED_NOT) && by[0][i].holds == (by[0][i].by == R4_PROVED_INTERVALS));
    assert_true((x->by == R4_PROVED_BRANCHING) == (x->holds && !by[2][i].holds));
    if (x->predicted != x->label) assert_true(x->by != R4_PROVED_BRANCHING && !x->broken);
    more += x->by == R4_PROVED_BRANCHING;
  }
  return more;
}

static void test_order(void **state)
{
  (void)state;
  size_t more = 0;
  draw_start(512, 0);
  for (size_t k = 0; k < SUBJECTS; k++) more += check_order(subjects[k].model, k == 1 ? "0.5" : "0.2");
  print_message("# %zu boxes proved by branching\n", more);
}

static void test_branch_refused(void **state)
{
  (void)state;
  r4_certified x[EXAMPLES];
  r4_error e = {0};
  r4_certify_options o = {.eps = "0.1", .low = "0", .high = "1"};
  certify(subjects[0].model, test_part, &o, x);
  const r4_net *n = r4_model_net(subjects[0].model);
  const float *w = r4_model_weights(subjects[0].model);
  for (int k = 0; k < 3; k++) {
    o.seconds = k == 0 ? 0 : k == 1 ? -1 : (double)INFINITY;
    assert_int_equal(r4_branch_box(n, w, test_part, &o, x, &e), R4_E_ARGUMENT);
    assert_error(&e, R4_E_ARGUMENT, "seconds for each example, expected a number above 0");
  }
  o.seconds = 1, o.semantics = R4_SEMANTICS_ANY_FLOAT;
  assert_int_equal(r4_branch_box(n, w, test_part, &o, x, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "branching is about real arithmetic; expected the semantics real");
}

/* R4_ATTACKS: how many at least, half of them in double, by plain loops, and half in float, by fast kernels. */
static void test_points(void **state)
{
  (void)state;
  static const char *const eps[] = {"0", "0.1", NULL};
  enum { BOXES = 3 };
  size_t attacks = (size_t)check_setting("R4_ATTACKS", 90000), done = 0, held = 0, certified = 0;
  size_t each = attacks / ((BOXES - 1) * SUBJECTS * 2 * EXAMPLES) + 1;
  draw_start(510, 0);
  for (size_t k = 0; k < SUBJECTS; k++)
    for (size_t i = 0; i < BOXES; i++) {
      r4_certified real[EXAMPLES], any[EXAMPLES];
      r4_certify_options o = {.eps = eps[i], .low = "0", .high = "1"};
      certify(subjects[k].model, test_part, &o, real);
      o.semantics = R4_SEMANTICS_ANY_FLOAT;
      certify(subjects[k].model, test_part, &o, any);
      done += attack(subjects[k].model, REFERENCE, eps[i], real, i ? each : 1, &held);
      done += attack(subjects[k].model, FAST32, eps[i], any, i ? each : 1, &held);
      for (size_t j = 0; j < EXAMPLES; j++) {
        certified += real[j].holds;
        assert_true(any[j].margin <= real[j].margin); /* more is covered */
        /* At a point it costs next to nothing; in a wide box it grows with the largest values, not with the margin. */
        if (!i) assert_true(any[j].margin > real[j].margin - 1e-2 * (1 + fabs(real[j].margin)));
      }
    }
  printf("# %zu attacks, %zu of them on certificates that hold\n", done, held);
  assert_true(certified > EXAMPLES && done >= attacks && held > done / 4);
}

/* ---- Trained over the whole range ---- */

static double certified_over_range(const char *method, const char *eps)
{
  r4_certified x[EXAMPLES];
  struct subject s = {"dense 24, relu, dense 10", method, eps, NULL};
  train(&s, train_part);
  certify(s.model, test_part, &(r4_certify_options){.low = "0", .high = "1"}, x);
  r4_model_free(s.model);
  return r4_certified_shares(test_part, x, R4_SHARE_CERTIFIED, false).all;
}

/* A box of all that is valid is what nets are asked about, and one that learned it can tell. */
static void test_range(void **state)
{
  (void)state;
  static const char *const method[] = {"cert-r4", "ibp-ex"};
  for (size_t k = 0; k < 2; k++) {
    double whole = certified_over_range(method[k], "range"), small = certified_over_range(method[k], "0.02");
    if (!(whole > 0.5 && whole > small + 0.2)) fail_msg("%s: %g, trained at 0.02 %g", method[k], whole, small);
  }
}

/* ---- Attacks ---- */

static void test_attacks(void **state)
{
  (void)state;
  size_t broken[SUBJECTS] = {0}, held[SUBJECTS] = {0}, starts = (size_t)check_setting("R4_ATTACKS", 0) / 25000 + 4;
  for (size_t k = 0; k < SUBJECTS; k++) {
    r4_certified x[EXAMPLES], again[EXAMPLES];
    r4_certify_options o = {.low = "0", .high = "1", .method = R4_BOUND_BEST};
    certify(subjects[k].model, test_part, &o, x);
    memcpy(again, x, sizeof x);
    for (int t = 0; t < 2; t++)
      assert_int_equal(r4_attack_box(r4_model_net(subjects[k].model), r4_model_weights(subjects[k].model), test_part,
                                     &o, train_part, starts, 7, t ? again : x, NULL),
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

/* ---- Properties ---- */

static double margin_at(const double *z, int32_t class)
{
  double most = -INFINITY;
  for (int32_t j = 0; j < 10; j++)
    if (j != class) most = fmax(most, z[j]);
  return z[class] - most;
}

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
      double lo[FEATURES], hi[FEATURES];
      r4_data_mask(test_part, i, m);
      float_box(i, 0.1, lo, hi);
      *runner_input(r, "label") = x[i].label;
      for (int p = 0; p < 5; p++) {
        double sum = 0;
        draw_point(lo, hi, runner_input(r, "x"));
        runner_run(r);
        for (size_t j = 0; j < FEATURES; j++) sum += m[j] * r->out[0][j] * m[j] * r->out[0][j];
        assert_true(sqrt(sum) <= x[i].delta && isfinite(x[i].delta));
      }
    }
    runner_free(r);
    r4_graph_free(g);
  }
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
  o = (r4_certify_options){.eps = "0.1", .method = R4_BOUND_BEST, .done = 1};
  r4_status s = r4_certify_box(r4_model_net(m), r4_model_weights(m), test_part, &o, x, &e);
  assert_error(&e, s, "none is done before all");
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
  o.radius = false;
  o.method = R4_BOUND_LINEAR;
  o.slopes = 1;
  if (!s) s = r4_certify_box(r4_model_net(subjects[2].model), r4_model_weights(subjects[2].model), d, &o, x, e);
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
    cmocka_unit_test(test_linear), cmocka_unit_test(test_order), cmocka_unit_test(test_branch_refused),
    cmocka_unit_test(test_points),
    cmocka_unit_test(test_range),
    cmocka_unit_test(test_attacks),
    cmocka_unit_test(test_eps),
    cmocka_unit_test(test_radii),
    cmocka_unit_test(test_delta),
    cmocka_unit_test(test_memory),
    cmocka_unit_test(test_going_on),
    cmocka_unit_test(test_attack_goes_on),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("certify", tests, setup, teardown);
}
