/* Small nets with residual blocks, batch norm, depthwise convolutions and attention against PyTorch's values in
 * test/golden/modules_*.txt: logits, gradients at the leaf, derivatives of R3 and of the data term, running statistics
 * and bounds, in double and in float. Weights come in PyTorch's names and layouts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_case.h"
#include "net_case.h"
#include "scratch.h"
#include "tensor/safetensors.h"

enum { PARAMS = 48, OUTPUTS = RUNNER_MAX };

struct fixture {
  const char *file;
  golden *gold;
  r4_net *net;
  r4_graph *g;
  r4_id param[PARAMS], out[OUTPUTS];
  char name[OUTPUTS][PARAM_NAME + 16];   /* in the file */
  const struct param *param_of[OUTPUTS]; /* whose layout the output has, or NULL */
  size_t outs, bounds;                   /* outputs from number bounds on are bounds */
  double eps;
  float *weights, *place; /* place[k]: where number k of a file is in the engine's order */
};

static const golden_tensor *tensor(const struct fixture *f, const char *name)
{
  return golden_get(f->gold, "%s", name);
}

static r4_id input(const struct fixture *f, const char *name)
{
  return r4_input(f->g, name, golden_shape(tensor(f, name)));
}

static void want(struct fixture *f, r4_id id, const char *prefix, const char *name, const struct param *of)
{
  assert_true(f->outs < OUTPUTS && id.i);
  f->out[f->outs] = id;
  f->param_of[f->outs] = of;
  snprintf(f->name[f->outs++], sizeof f->name[0], "%s%s", prefix, name);
}

/* ---- The net and its weights ---- */

static void open_net(struct fixture *f)
{
  r4_error e;
  char file[64];
  snprintf(file, sizeof file, "modules_%s", f->file);
  f->gold = golden_open(file);
  double dim[3] = {0};
  r4_shape example = {.rank = (int)golden_numbers(f->gold, "input", 3, dim)};
  for (int k = 0; k < example.rank; k++) example.dim[k] = (int64_t)dim[k];
  f->net = r4_net_open(golden_text(f->gold, "net"), example, &e);
  if (!f->net) fail_msg("%s: %s", f->file, e.text);
  assert_true(f->net->params <= PARAMS);
}

/* The golden state dict as a file, which r4_net_load reads as it would read PyTorch's. */
static void take_weights(struct fixture *f)
{
  const r4_net *n = f->net;
  r4_error e;
  r4_load_report report;
  struct st_new file[PARAMS];
  float *values = calloc(n->size, sizeof *values);
  f->weights = calloc(n->size, sizeof *f->weights);
  for (size_t k = 0; k < n->params; k++) {
    const golden_tensor *t = tensor(f, n->param[k].name);
    float *to = values + n->param[k].offset;
    file[k] = (struct st_new){t->name, golden_shape(t), to};
    assert_int_equal(t->count, r4_shape_count(n->param[k].shape));
    for (size_t i = 0; i < t->count; i++) to[i] = (float)t->value[i];
  }
  const char *path = scratch_path("golden.safetensors");
  if (st_write(path, n->params, file, 0, NULL, &e) || r4_net_load(n, path, NULL, f->weights, &report, &e))
    fail_msg("%s: %s", f->file, e.text);
  assert_true(report.taken == n->params && !report.left && !report.ignored);
  free(values);
}

static void find_places(struct fixture *f)
{
  float *number = calloc(f->net->size, sizeof *number);
  f->place = calloc(f->net->size, sizeof *f->place);
  for (size_t k = 0; k < f->net->size; k++) number[k] = (float)k;
  net_reorder(f->net, true, number, f->place);
  free(number);
}

static void fixture_free(struct fixture *f)
{
  r4_graph_free(f->g);
  r4_net_free(f->net);
  golden_free(f->gold);
  free(f->weights);
  free(f->place);
}

/* ---- Graphs ---- */

static r4_id loss_of(const struct fixture *f, r4_id logits)
{
  return r4_cross_entropy(f->g, logits, r4_one_hot(f->g, input(f, "y"), r4_net_classes(f->net)));
}

static void want_slopes(struct fixture *f, r4_id of, const char *prefix)
{
  r4_id slope[PARAMS];
  r4_grad(f->g, of, f->net->params, f->param, slope);
  for (size_t k = 0; k < f->net->params; k++)
    if (!f->net->param[k].buffer) want(f, slope[k], prefix, f->net->param[k].name, &f->net->param[k]);
}

/* As the net will be used: logits, explanation, R3 and bounds. */
static void ask_in_use(struct fixture *f, const struct net_use *use)
{
  r4_graph *g = f->g;
  r4_id x = input(f, "x"), m = input(f, "m"), slope, leaf = net_to_leaf(f->net, g, f->param, use, x);
  r4_id z = net_from_leaf(f->net, g, f->param, use, leaf);
  r4_grad(g, r4_sum(g, loss_of(f, z), R4_ALL), 1, &leaf, &slope);
  r4_id sum = r4_sum(g, r4_square(g, r4_mul(g, m, slope)), R4_ALL);
  r4_id penalty = r4_scale(g, sum, 1 / (double)r4_node_shape(g, x).dim[0]);
  want(f, z, "", "z", NULL);
  want(f, slope, "", "g", NULL);
  want(f, penalty, "", "r3.penalty", NULL);
  want_slopes(f, penalty, "r3.grad.");
  assert_int_equal(golden_numbers(f->gold, "eps", 1, &f->eps), 1);
  r4_box box = r4_box_around(leaf, leaf, r4_scale(g, m, f->eps));
  r4_pair bz = r4_bound(g, z, 1, &box), bg = r4_bound(g, slope, 1, &box);
  f->bounds = f->outs;
  want(f, bz.lo, "", "lo", NULL);
  want(f, bz.hi, "", "hi", NULL);
  want(f, bg.lo, "", "glo", NULL);
  want(f, bg.hi, "", "ghi", NULL);
}

/* While it learns: the data term and the statistics after it. */
static void ask_learning(struct fixture *f, struct net_use use)
{
  r4_id updated[PARAMS] = {{0}};
  use.learning = true;
  use.updated = updated;
  r4_id leaf = net_to_leaf(f->net, f->g, f->param, &use, input(f, "x"));
  r4_id loss = r4_mean(f->g, loss_of(f, net_from_leaf(f->net, f->g, f->param, &use, leaf)), R4_ALL);
  want(f, loss, "", "data.loss", NULL);
  want_slopes(f, loss, "data.grad.");
  for (size_t k = 0; k < f->net->params; k++)
    if (f->net->param[k].buffer) want(f, updated[k], "data.new.", f->net->param[k].name, &f->net->param[k]);
}

/* ---- Comparing ---- */

static void compare(const struct fixture *f, const struct runner *r, size_t k, double tolerance)
{
  const golden_tensor *t = tensor(f, f->name[k]);
  const struct param *p = f->param_of[k];
  char what[300];
  double *got = calloc(t->count, sizeof *got);
  snprintf(what, sizeof what, "%s: %s", f->file, f->name[k]);
  assert_int_equal(t->count, r->out_count[k]);
  for (size_t i = 0; i < t->count; i++)
    got[i] = r->out[k][p ? (size_t)f->place[p->offset + i] - p->offset : i];
  /* a derivative that is zero for all that is known, as that of a key's bias, is so up to the digits of others */
  double floor = largest_abs(t->value, t->count) < 1e-12 ? 1e-2 : 0;
  assert_close(what, got, t->value, t->count, tolerance, floor);
  free(got);
}

/* In float, the ends of a box are off by a share of their distance that grows as the box shrinks. */
static double tolerance_of(const struct fixture *f, r4_type type, size_t out)
{
  if (type == R4_F64) return 1e-9;
  return f->bounds && out >= f->bounds ? fmax(1e-4, 1e-7 / f->eps) : 1e-4;
}

static void run(const struct fixture *f, r4_plan_options options)
{
  const char *message;
  if (r4_graph_status(f->g, &message)) fail_msg("%s: %s", f->file, message);
  struct runner *r = runner_new(f->g, f->outs, f->out, options);
  for (size_t k = 0; k < f->net->params; k++) {
    const struct param *p = &f->net->param[k];
    double *to = runner_input(r, p->name);
    for (int64_t i = 0; i < r4_shape_count(p->shape); i++) to[i] = (double)f->weights[p->offset + (size_t)i];
  }
  for (size_t k = 0; k < r->n_in; k++) {
    const golden_tensor *t = strchr(r->name[k], '.') ? NULL : golden_find(f->gold, r->name[k]);
    if (t) memcpy(r->in[k], t->value, t->count * sizeof *t->value);
  }
  runner_run(r);
  for (size_t k = 0; k < f->outs; k++) compare(f, r, k, tolerance_of(f, options.type, k));
  runner_free(r);
}

static void check(const char *file, bool learning)
{
  struct fixture f = {.file = file, .g = r4_graph_new()};
  open_net(&f);
  take_weights(&f);
  find_places(&f);
  r4_net_inputs(f.net, f.g, f.param);
  struct net_use use = {0};
  if (golden_find(f.gold, "valid")) use.valid = input(&f, "valid");
  if (learning)
    ask_learning(&f, use);
  else
    ask_in_use(&f, &use);
  run(&f, REFERENCE);
  run(&f, FAST64);
  run(&f, FAST32);
  fixture_free(&f);
}

#define EACH(X) X(block) X(bottleneck) X(depthwise) X(resnet) X(efficient) X(layer) X(bert) X(maxpool)
#define TESTS(NAME)                      \
  static void test_##NAME(void **state)  \
  {                                      \
    (void)state;                         \
    check(#NAME, false);                 \
  }                                      \
  static void learn_##NAME(void **state) \
  {                                      \
    (void)state;                         \
    check(#NAME, true);                  \
  }
EACH(TESTS)

int main(void)
{
#define RUN(NAME) cmocka_unit_test(test_##NAME), cmocka_unit_test(learn_##NAME),
  const struct CMUnitTest tests[] = {EACH(RUN)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("modules of PyTorch", tests, scratch_make, scratch_remove);
}
