/* Guidance at an inner node: which part is meant, which cells are masked, and penalties there against PyTorch's values
 * in test/golden/guide.txt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_case.h"
#include "module/guide_cells.h"
#include "scratch.h"

/* ---- Against PyTorch ---- */

struct fixture {
  golden *gold;
  r4_net *net;
  double eps;
};

static struct fixture open_fixture(void)
{
  double in[3];
  r4_error e = {0};
  struct fixture f = {.gold = golden_open("guide")};
  assert_int_equal(golden_numbers(f.gold, "input", 3, in), 3);
  golden_numbers(f.gold, "eps", 1, &f.eps);
  f.net =
    r4_net_open(golden_text(f.gold, "net"), R4_SHAPE((int64_t)in[0], (int64_t)in[1], (int64_t)in[2]), &e);
  if (!f.net || r4_net_guide_at(f.net, golden_text(f.gold, "guide"), &e)) fail_msg("%s", e.text);
  return f;
}

static void close_fixture(struct fixture *f)
{
  r4_net_free(f->net);
  golden_free(f->gold);
}

static void fill(const struct fixture *f, struct runner *r, const char *input, const char *name)
{
  const golden_tensor *t = golden_get(f->gold, "%s", name);
  double *to = runner_input(r, input);
  assert_int_equal(runner_count(r, input), t->count);
  memcpy(to, t->value, t->count * sizeof *to);
}

/* The penalty of a method, and its derivatives with respect to the weights on both sides of the node. */
static void compare(const struct fixture *f, const char *method, const char *prefix)
{
  r4_graph *g = r4_graph_new();
  r4_id param[6], out[7];
  r4_net_inputs(f->net, g, param);
  const r4_objective_options o = {.method = method, .batch = 4, .lambda = {1}, .eps = f->eps};
  r4_objective q = r4_objective_build(g, f->net, param, &o);
  out[0] = q.penalty[0];
  r4_grad(g, q.penalty[0], 6, param, out + 1);
  struct runner *r = runner_new(g, 7, out, FAST64);
  fill(f, r, "x", "x");
  fill(f, r, "y", "y");
  fill(f, r, "m", "any");
  for (size_t k = 0; k < 6; k++) fill(f, r, r4_net_param_name(f->net, k), r4_net_param_name(f->net, k));
  runner_run(r);
  for (size_t k = 0; k < 7; k++) {
    char name[200];
    snprintf(name, sizeof name, "%s.%s%s", prefix, k ? "grad." : "penalty",
             k ? r4_net_param_name(f->net, k - 1) : "");
    const golden_tensor *t = golden_get(f->gold, "%s", name);
    assert_close(name, r->out[k], t->value, t->count, 1e-10, 1e-10);
  }
  runner_free(r);
  r4_graph_free(g);
}

static void test_golden(void **state)
{
  (void)state;
  struct fixture f = open_fixture();
  assert_true(r4_shape_equal(net_leaf(f.net), R4_SHAPE(4, 3, 3)));
  compare(&f, "r3", "r3");
  compare(&f, "ibp-ex", "ibp");
  close_fixture(&f);
}

static void test_cells(void **state)
{
  (void)state;
  struct fixture f = open_fixture();
  const golden_tensor *m = golden_get(f.gold, "m");
  float *pixels = malloc(m->count * sizeof *pixels), cells[4 * 4 * 3];
  for (size_t k = 0; k < m->count; k++) pixels[k] = (float)m->value[k];
  for (int rule = CELL_ANY; rule <= CELL_HALF; rule++) {
    const golden_tensor *want = golden_get(f.gold, "%s", cell_words[rule]);
    cut_masks(f.net, (enum cell_rule)rule, 4, pixels, cells);
    for (size_t k = 0; k < want->count; k++)
      if (fabs((double)cells[k] - want->value[k]) > 0) fail_msg("%s: cell %zu", cell_words[rule], k);
  }
  free(pixels);
  close_fixture(&f);
}

/* ---- Bounds ---- */

static double penalty_at(const struct fixture *f, const char *method, double eps, const char *mask)
{
  r4_graph *g = r4_graph_new();
  r4_id param[6];
  r4_net_inputs(f->net, g, param);
  const r4_objective_options o = {
    .method = method, .batch = 4, .lambda = {1}, .eps = eps, .samples = 20, .steps = 10};
  r4_objective q = r4_objective_build(g, f->net, param, &o);
  struct runner *r = runner_new(g, 1, &q.penalty[0], FAST64);
  fill(f, r, "x", "x");
  fill(f, r, "y", "y");
  if (runner_input(r, "m")) fill(f, r, "m", mask);
  for (size_t k = 0; k < 6; k++) fill(f, r, r4_net_param_name(f->net, k), r4_net_param_name(f->net, k));
  for (size_t k = 0; k < q.draws; k++) {
    double *to = runner_input(r, q.drawn[k].name);
    draw_start(7, (uint32_t)k);
    for (size_t i = 0; to && i < q.drawn[k].count; i++) to[i] = draw(-1, 1);
  }
  runner_run(r);
  double value = r->out[0][0];
  runner_free(r);
  r4_graph_free(g);
  return value;
}

/* What is found by looking around is never above what bounds allow, and all agree without a box. */
static void test_order_of_methods(void **state)
{
  (void)state;
  struct fixture f = open_fixture();
  double cert = penalty_at(&f, "cert-r4", f.eps, "any");
  double rand = penalty_at(&f, "rand-r4", f.eps, "any"), adv = penalty_at(&f, "adv-r4", f.eps, "any");
  double here = penalty_at(&f, "cert-r4", 0, "any");
  assert_true(here > 0 && here <= rand && rand <= cert && here <= adv && adv <= cert && cert > here);
  assert_true(fabs(penalty_at(&f, "rand-r4", 0, "any") - here) < 1e-12);
  close_fixture(&f);
}

/* ---- Names ---- */

static void test_names(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_net *n = r4_net_open("resnet18(classes=2)", R4_SHAPE(64, 64, 3), &e);
  const struct {
    const char *part;
    r4_shape leaf;
  } each[] = {{"features", R4_SHAPE(2, 2, 512)}, {"layer4", R4_SHAPE(2, 2, 512)},
              {"layer3", R4_SHAPE(4, 4, 256)},   {"layer4.0", R4_SHAPE(2, 2, 512)},
              {"conv1", R4_SHAPE(32, 32, 64)},   {"input", R4_SHAPE(64, 64, 3)}};
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
    if (r4_net_guide_at(n, each[k].part, &e)) fail_msg("%s", e.text);
    assert_true(r4_shape_equal(net_leaf(n), each[k].leaf));
    assert_null(strstr(r4_net_layers(n), "leaf"));
  }
  assert_error(
    &e, r4_net_guide_at(n, "layer5", &e),
    "guide is \"layer5\": the main row of the net has no such part; expected input, features, conv1, "
    "bn1, 2, 3, layer1, layer2, layer3, layer4, or a part of one of these");
  assert_error(&e, r4_net_guide_at(n, "layer4.0.conv1", &e),
               "has no such part");
  assert_error(&e, r4_net_guide_at(n, "layer", &e), "has no such part");
  assert_error(&e, r4_net_guide_at(n, "fc", &e), "its features have no positions for a mask");
  assert_true(r4_shape_equal(net_leaf(n), R4_SHAPE(64, 64, 3))); /* as it was */
  r4_net_free(n);
}

/* ---- In a run ---- */

static char heard[2000];

static void listen(const char *sentence, void *user)
{
  (void)user;
  size_t n = strlen(heard);
  snprintf(heard + n, sizeof heard - n, "%s\n", sentence);
}

static r4_status train(const char *method, const char *guide, const char *cells, const char *net, r4_error *e)
{
  const char *const set[] = {
    "data=decoy-mnist", "data.from=digits:400", "epochs=1", "batch=50", method, guide, cells, net};
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set; k++)
    if (r4_settings_set(s, set[k], "test", e)) fail_msg("%s", e->text);
  const r4_train_options o = {.folder = scratch_path("run"), .force = true, .notice = listen};
  heard[0] = 0;
  r4_status status = r4_train(s, &o, NULL, e);
  r4_settings_free(s);
  return status;
}

static void test_runs(void **state)
{
  (void)state;
  static const char net[] = "net=a: conv 4 3 s2 p1, relu, b: (conv 4 3 s2 p1, relu), flatten, dense 10";
  static const char *const methods[] = {"method=r3",        "method=smooth-r3", "method=ibp-ex",
                                        "method=ibp-ex+r3", "method=rand-r4",   "method=adv-r4",
                                        "method=cert-r4"};
  r4_error e = {0};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
    if (train(methods[k], "guide=b", "guide.cells=any", net, &e)) fail_msg("%s: %s", methods[k], e.text);
  assert_non_null(strstr(heard, "guide is b: 7 x 7 cells of 4 features; eps is in units of these"));
  assert_null(strstr(heard, "every cell"));
  r4_model *m = r4_model_open(scratch_path("run"), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  assert_true(
    r4_shape_equal(net_leaf(r4_model_net(m)), R4_SHAPE(28, 28, 1))); /* a model is asked at its input */
  r4_model_free(m);
  static const char coarse[] = "net=a: conv 4 3 s2 p1, relu, maxpool 14, flatten, dense 10";
  if (train("method=r3", "guide=features", "guide.cells=any", coarse, &e)) fail_msg("%s", e.text);
  assert_non_null(strstr(heard, "200 of 200 masks cover every cell there"));
  if (train("method=r3", "guide=features", "guide.cells=half", coarse, &e)) fail_msg("%s", e.text);
  assert_non_null(strstr(heard, "200 of 200 masks cover no cell there by half, and have no effect"));
  assert_error(&e, train("method=r3", "guide=c", "guide.cells=any", net, &e),
               "expected input, features, a, 1, b");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_cells),
                                     cmocka_unit_test(test_order_of_methods), cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_runs)};
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
