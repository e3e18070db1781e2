/* Whole networks and objectives against the values of PyTorch in test/golden, in double and in float. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "golden_case.h"
#include "graph/graph.h"
#include "r4.h"

enum {
  MAX_DRAWS = 4,
  MAX_PARAMS = 16,
  MAX_OUTPUTS = MAX_PARAMS + 4,
  MAX_BLOCKS = 128,
  MAX_CLASSES = 16,
  NAME_SIZE = 64
};

typedef struct {
  const char *file;    /* test/golden/FILE.txt                                       */
  const char *variant; /* of an objective: a method, or a name for one with options  */
  bool masked;         /* the same objective, built on the masked features alone     */
} example;

typedef struct {
  const char *name;
  r4_plan_options options;
  double tolerance; /* largest difference of a tensor, relative to its largest value */
} mode;

static const mode modes[] = {
  {"double, reference", {.type = R4_F64, .reference = true}, 1e-9},
  {"double", {.type = R4_F64}, 1e-9},
  {"float", {.type = R4_F32}, 1e-4},
  {"float, little kept", {.type = R4_F32, .keep_bytes = 1}, 1e-4},
};

typedef struct {
  const example *is;
  golden *gold;
  r4_net *net;
  r4_graph *graph;
  r4_plan *plan;
  r4_id param[MAX_PARAMS];
  r4_id out[MAX_OUTPUTS];
  char out_name[MAX_OUTPUTS][NAME_SIZE]; /* of the tensors they must equal */
  size_t outs;
  double class_weights[MAX_CLASSES];
  bool has_masks;
  const r4_drawn *drawn; /* inputs, and whether they are on all features */
  size_t draws;
  bool full[MAX_DRAWS];
  void *block[MAX_BLOCKS]; /* memory that teardown frees */
  size_t blocks;
} fixture;

/* ---- Values ---------------------------------------------------------------------------------- */

static const golden_tensor *tensor(const fixture *f, const char *name)
{
  return golden_get(f->gold, "%s", name);
}

static void *block(fixture *f, size_t count, size_t size)
{
  assert_true(f->blocks < MAX_BLOCKS);
  void *b = calloc(count, size);
  assert_non_null(b);
  f->block[f->blocks++] = b;
  return b;
}

static void drop_blocks(fixture *f)
{
  while (f->blocks > 0) free(f->block[--f->blocks]);
}

/* The values in the type of the plan. */
static void *packed(fixture *f, r4_type type, size_t count, const double *value)
{
  if (type == R4_F64) return memcpy(block(f, count, sizeof(double)), value, count * sizeof(double));
  float *to = block(f, count, sizeof(float));
  for (size_t k = 0; k < count; k++) to[k] = (float)value[k];
  return to;
}

static double element(r4_type type, const void *data, size_t k)
{
  return type == R4_F64 ? ((const double *)data)[k] : (double)((const float *)data)[k];
}

/* ---- Masks on some features ------------------------------------------------------------------ */

/* index[0 .. n) are the features that a mask of the batch touches; returns n. */
static size_t touched(const golden_tensor *m, size_t *index)
{
  size_t batch = (size_t)m->dim[0], features = m->count / batch, n = 0;
  for (size_t j = 0; j < features; j++) {
    bool some = false;
    for (size_t i = 0; i < batch; i++) some = some || m->value[i * features + j] > 0;
    if (some) index[n++] = j;
  }
  return n;
}

static size_t touched_count(fixture *f)
{
  const golden_tensor *m = tensor(f, "m");
  return touched(m, block(f, m->count, sizeof(size_t)));
}

/* Columns of t [batch, features] at the touched features: [batch, n]. */
static double *columns(fixture *f, const golden_tensor *t, size_t *n)
{
  size_t batch = (size_t)t->dim[0], features = t->count / batch;
  size_t *index = block(f, features, sizeof *index);
  *n = touched(tensor(f, "m"), index);
  double *v = block(f, batch * *n, sizeof *v);
  for (size_t i = 0; i < batch; i++)
    for (size_t k = 0; k < *n; k++) v[i * *n + k] = t->value[i * features + index[k]];
  *n *= batch;
  return v;
}

/* ---- Running and comparing ------------------------------------------------------------------- */

static void bind(fixture *f, r4_type type, const char *name, size_t count, const double *value)
{
  r4_error e = {0};
  if (r4_plan_input(f->plan, name, packed(f, type, count, value), &e) != R4_OK)
    fail_msg("%s: input %s: %s", f->is->file, name, e.text);
}

static void bind_tensor(fixture *f, r4_type type, const char *name)
{
  const golden_tensor *t = tensor(f, name);
  bind(f, type, name, t->count, t->value);
}

static void bind_masks(fixture *f, r4_type type, const char *name)
{
  if (!f->is->masked) {
    bind_tensor(f, type, name);
    return;
  }
  size_t n;
  const double *v = columns(f, tensor(f, name), &n);
  bind(f, type, name, n, v);
}

static void bind_index(fixture *f, r4_type type)
{
  const golden_tensor *m = tensor(f, "m");
  size_t *index = block(f, m->count, sizeof *index);
  double *v = block(f, m->count, sizeof *v);
  size_t n = touched(m, index);
  for (size_t k = 0; k < n; k++) v[k] = (double)index[k];
  bind(f, type, "index", n, v);
}

static void bind_all(fixture *f, r4_type type)
{
  bind_tensor(f, type, "x");
  bind_tensor(f, type, "y");
  for (size_t k = 0; k < r4_net_params(f->net); k++) bind_tensor(f, type, r4_net_param_name(f->net, k));
  if (f->has_masks) bind_masks(f, type, "m");
  for (size_t k = 0; k < f->draws; k++)
    if (f->full[k])
      bind_tensor(f, type, f->drawn[k].name);
    else
      bind_masks(f, type, f->drawn[k].name);
  if (f->is->masked) bind_index(f, type);
}

/* "[1, 0, 2]" for the k-th value of a tensor. */
static void place_text(const golden_tensor *t, size_t k, char *text, size_t size)
{
  size_t used = 0, at[GOLDEN_MAX_RANK] = {0};
  for (int a = t->rank - 1; a >= 0; a--) {
    at[a] = k % (size_t)t->dim[a];
    k /= (size_t)t->dim[a];
  }
  used += (size_t)snprintf(text, size, "[");
  for (int a = 0; a < t->rank && used < size; a++)
    used += (size_t)snprintf(text + used, size - used, a ? ", %zu" : "%zu", at[a]);
  if (used < size) snprintf(text + used, size - used, "]");
}

static void compare(const fixture *f, const mode *m, const char *name, const void *data)
{
  const golden_tensor *want = tensor(f, name);
  double largest = 0, worst = 0;
  size_t at = 0;
  for (size_t k = 0; k < want->count; k++) {
    double off = fabs(element(m->options.type, data, k) - want->value[k]);
    largest = fmax(largest, fabs(want->value[k]));
    if (isnan(off)) off = INFINITY;
    if (off > worst) {
      worst = off;
      at = k;
    }
  }
  if (worst <= m->tolerance * largest) return;
  char place[96];
  place_text(want, at, place, sizeof place);
  fail_msg("%s in %s: %s%s is %.17g, PyTorch has %.17g: off by %.2e of the largest value %.3g", f->is->file,
           m->name, name, place, element(m->options.type, data, at), want->value[at], worst / largest,
           largest);
}

static void run_mode(fixture *f, const mode *m)
{
  r4_error e = {0};
  void *data[MAX_OUTPUTS];
  f->plan = r4_plan_new(f->graph, f->outs, f->out, &m->options, &e);
  if (!f->plan) fail_msg("%s in %s: no plan: %s", f->is->file, m->name, e.text);
  bind_all(f, m->options.type);
  for (size_t k = 0; k < f->outs; k++) {
    data[k] = block(f, tensor(f, f->out_name[k])->count, sizeof(double));
    assert_int_equal(r4_plan_output(f->plan, k, data[k], &e), R4_OK);
  }
  if (r4_plan_run(f->plan, &e) != R4_OK)
    fail_msg("%s in %s: the run failed: %s", f->is->file, m->name, e.text);
  for (size_t k = 0; k < f->outs; k++) compare(f, m, f->out_name[k], data[k]);
  r4_plan_free(f->plan);
  f->plan = NULL;
  drop_blocks(f);
}

static void run(fixture *f)
{
  const char *message = "";
  if (r4_graph_status(f->graph, &message) != R4_OK) fail_msg("%s: the graph: %s", f->is->file, message);
  r4_error e = {0};
  if (graph_check(f->graph, &e) != R4_OK) fail_msg("%s: the graph: %s", f->is->file, e.text);
  for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) run_mode(f, &modes[k]);
}

/* ---- What is compared ------------------------------------------------------------------------ */

static void want(fixture *f, r4_id id, const char *prefix, const char *name)
{
  assert_true(f->outs < MAX_OUTPUTS);
  f->out[f->outs] = id;
  snprintf(f->out_name[f->outs], NAME_SIZE, "%s%s", prefix, name);
  r4_shape shape = golden_shape(tensor(f, f->out_name[f->outs]));
  if (!r4_shape_equal(r4_node_shape(f->graph, id), shape))
    fail_msg("%s: %s%s has another shape than PyTorch's", f->is->file, prefix, name);
  f->outs++;
}

static r4_id input(fixture *f, const char *name)
{
  return r4_input(f->graph, name, golden_shape(tensor(f, name)));
}

/* Logits of x, the cross entropy of each example and, of its sum, the derivative in x. */
static r4_id explanation(fixture *f, r4_id *logits, r4_id *loss)
{
  r4_graph *g = f->graph;
  r4_id x = input(f, "x"), gx;
  *logits = r4_net_apply(f->net, g, f->param, x);
  *loss = r4_cross_entropy(g, *logits, r4_one_hot(g, input(f, "y"), r4_net_classes(f->net)));
  r4_grad(g, r4_sum(g, *loss, R4_ALL), 1, &x, &gx);
  return gx;
}

static void test_explanation(void **state)
{
  fixture *f = *state;
  r4_id logits, loss, gx = explanation(f, &logits, &loss);
  want(f, logits, "", "z");
  want(f, loss, "", "loss");
  want(f, gx, "", "g");
  run(f);
}

static void test_bounds(void **state)
{
  fixture *f = *state;
  r4_graph *g = f->graph;
  r4_id logits, loss, gx = explanation(f, &logits, &loss);
  r4_id x = input(f, "x"), radius = r4_scale(g, input(f, "m"), golden_number(f->gold, "eps"));
  f->has_masks = true;
  r4_box box = r4_box_around(x, x, radius);
  r4_pair z = r4_bound(g, logits, 1, &box), grad = r4_bound(g, gx, 1, &box);
  want(f, z.lo, "ibp-ex.", "lo");
  want(f, z.hi, "ibp-ex.", "hi");
  want(f, grad.lo, "cert-r4.", "lo");
  want(f, grad.hi, "cert-r4.", "hi");
  run(f);
}

/* An option of the variant, which has its usual value if the file does not tell. */
static double option(fixture *f, const char *name, double usual)
{
  char key[NAME_SIZE];
  snprintf(key, sizeof key, "%s.%s", f->is->variant, name);
  golden_numbers(f->gold, key, 1, &usual);
  return usual;
}

static r4_objective_options options_of(fixture *f)
{
  char key[NAME_SIZE];
  snprintf(key, sizeof key, "%s.method", f->is->variant);
  const char *method = golden_text(f->gold, key);
  r4_objective_options o = {.method = method ? method : f->is->variant, .random_start = true};
  o.batch = (int64_t)golden_number(f->gold, "batch");
  o.eps = golden_number(f->gold, "eps");
  o.alpha = option(f, "alpha", golden_number(f->gold, "alpha"));
  o.steps = (int)option(f, "steps", golden_number(f->gold, "steps"));
  o.masked = f->is->masked ? (int64_t)touched_count(f) : 0;
  o.lambda[0] = option(f, "lambda", NAN);
  o.lambda[1] = option(f, "lambda_r3", 0);
  o.explain = (r4_explain)option(f, "explain", R4_EXPLAIN_LOSS);
  o.norm = (r4_norm)option(f, "norm", R4_NORM_L2);
  o.form = (r4_form)option(f, "form", R4_FORM_LINEAR);
  o.tau = option(f, "tau", 0);
  o.delta = option(f, "delta", 0);
  o.samples = (int)option(f, "samples", 0);
  o.weight_penalty = option(f, "weight_penalty", 0);
  o.double_softmax = option(f, "double_softmax", 0) > 0;
  snprintf(key, sizeof key, "%s.class_weights", f->is->variant);
  if (golden_numbers(f->gold, key, MAX_CLASSES, f->class_weights) > 0) o.class_weights = f->class_weights;
  return o;
}

static void test_objective(void **state)
{
  fixture *f = *state;
  r4_objective_options options = options_of(f);
  r4_objective o = r4_objective_build(f->graph, f->net, f->param, &options);
  f->has_masks = true;
  for (size_t k = 0; k < o.draws; k++) {
    size_t examples = o.drawn[k].count / (size_t)r4_node_shape(f->graph, o.drawn[k].node).dim[0];
    f->full[k] = (int64_t)examples == r4_shape_count(r4_net_input(f->net));
  }
  f->drawn = o.drawn;
  f->draws = o.draws;
  size_t params = r4_net_params(f->net);
  r4_id grad[MAX_PARAMS];
  char prefix[NAME_SIZE];
  snprintf(prefix, sizeof prefix, "%s.", f->is->variant);
  r4_grad(f->graph, o.loss, params, f->param, grad);
  want(f, o.penalty[0], prefix, "penalty");
  want(f, o.loss, prefix, "loss");
  snprintf(prefix, sizeof prefix, "%s.grad.", f->is->variant);
  for (size_t k = 0; k < params; k++) want(f, grad[k], prefix, r4_net_param_name(f->net, k));
  run(f);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void build_net(fixture *f)
{
  r4_error e = {0};
  double dim[GOLDEN_MAX_RANK];
  size_t rank = golden_numbers(f->gold, "input", GOLDEN_MAX_RANK, dim);
  r4_shape shape = {.rank = (int)rank};
  assert_in_range(rank, 1, GOLDEN_MAX_RANK);
  for (size_t k = 0; k < rank; k++) shape.dim[k] = (int64_t)dim[k];
  const char *layers = golden_text(f->gold, "layers");
  assert_non_null(layers);
  f->net = r4_net_open(layers, shape, &e);
  if (!f->net) fail_msg("%s: the net: %s", f->is->file, e.text);
}

static void check_params(const fixture *f)
{
  assert_in_range(r4_net_params(f->net), 1, MAX_PARAMS);
  for (size_t k = 0; k < r4_net_params(f->net); k++) {
    const char *name = r4_net_param_name(f->net, k);
    if (!r4_shape_equal(r4_net_param_shape(f->net, k), golden_shape(tensor(f, name))))
      fail_msg("%s: parameter %s has another shape than PyTorch's", f->is->file, name);
  }
}

static int setup(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  if (!f) return -1;
  f->is = *state;
  *state = f;
  f->gold = golden_open(f->is->file);
  build_net(f);
  check_params(f);
  f->graph = r4_graph_new();
  assert_non_null(f->graph);
  r4_net_inputs(f->net, f->graph, f->param);
  return 0;
}

static int teardown(void **state)
{
  fixture *f = *state;
  r4_plan_free(f->plan);
  r4_graph_free(f->graph);
  r4_net_free(f->net);
  golden_free(f->gold);
  drop_blocks(f);
  free(f);
  return 0;
}

/* ---- The reader itself ----------------------------------------------------------------------- */

static void test_reader(void **state)
{
  (void)state;
  char error[GOLDEN_ERROR_SIZE] = "";
  double n[2];
  golden *g = golden_parse("a.txt", "# c\ntext t 3 4.5\ntensor v 2 1 2\n1\n-2e-3\ntensor s 0\n7\n", error);
  assert_non_null(g);
  assert_int_equal(golden_numbers(g, "t", 2, n), 2);
  assert_true(n[0] == 3 && n[1] == 4.5);
  const golden_tensor *v = golden_find(g, "v"), *s = golden_find(g, "s");
  assert_true(v && v->rank == 2 && v->dim[1] == 2 && v->value[1] == -2e-3);
  assert_true(s && s->rank == 0 && s->count == 1 && s->value[0] == 7);
  assert_null(golden_find(g, "absent"));
  assert_null(golden_text(g, "absent"));
  golden_free(g);
}

static void test_reader_refuses(void **state)
{
  (void)state;
  static const char *const bad[][2] = {
    {"tensor v 1 3\n1 2\ntext a b\n", "a.txt:3: tensor v: expected value 3 of 3"},
    {"tensor v 1 2\n1 2x\n", "a.txt:2: tensor v: expected value 2 of 2"},
    {"tensor v 1\n1\n", "a.txt:1: tensor v needs 1 dimensions of at least 1"},
    {"tensor v 9\n1\n", "a.txt:1: tensor v needs a rank of 0 .. 6"},
    {"tensor v 1 2 3\n1 2\n", "a.txt:1: tensor v: more than its rank of dimensions"},
    {"text a b\n\nvector\n", "a.txt:3: expected \"text\" or \"tensor\", not \"vector\""},
    {"tensor\n", "a.txt:1: \"tensor\" needs a name"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char error[GOLDEN_ERROR_SIZE] = "";
    assert_null(golden_parse("a.txt", bad[k][0], error));
    assert_string_equal(error, bad[k][1]);
  }
}

/* ---- All of them ----------------------------------------------------------------------------- */

enum { FILES = 8, VARIANTS = 10, TESTS = 2 + 4 * 2 + FILES * 2 * VARIANTS };

static const struct {
  const char *name;
  bool plain; /* it has explanations and bounds as well */
  const char *variant[VARIANTS + 1];
} files[FILES] = {
  {"dense", true, {"r3", "cert-r4", "ibp-ex", "adv-r4"}},
  {"deep", true, {"r3", "cert-r4", "ibp-ex", "adv-r4"}},
  {"conv", true, {"r3", "cert-r4", "ibp-ex", "adv-r4"}},
  {"derm", true, {"r3", "cert-r4", "ibp-ex", "adv-r4"}},
  {"options",
   false,
   {"smooth-r3", "rand-r4", "ibp-ex+r3", "logit", "margin", "logprobs", "sum", "log", "weights", "twice"}},
  {"image", false, {"smooth-r3", "rand-r4", "ibp-ex+r3", "margin"}},
  {"one", false, {"r3", "smooth-r3", "ibp-ex", "rand-r4", "adv-r4", "cert-r4", "logit"}},
  {"attack", false, {"adv-r4"}},
};

static struct CMUnitTest tests[TESTS];
static example examples[TESTS];
static char names[TESTS][NAME_SIZE];

static void add(size_t *n, CMUnitTestFunction function, const char *what, example is)
{
  examples[*n] = is;
  snprintf(names[*n], NAME_SIZE, "%s: %s%s", is.file, what, is.masked ? ", masked features alone" : "");
  tests[*n] = (struct CMUnitTest){names[*n], function, setup, teardown, &examples[*n]};
  ++*n;
}

int main(void)
{
  size_t n = 0;
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_reader);
  tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_reader_refuses);
  for (size_t i = 0; i < FILES; i++) {
    const char *file = files[i].name;
    if (files[i].plain) add(&n, test_explanation, "explanation", (example){.file = file});
    if (files[i].plain) add(&n, test_bounds, "bounds", (example){.file = file});
    for (const char *const *v = files[i].variant; *v; v++) {
      add(&n, test_objective, *v, (example){.file = file, .variant = *v});
      add(&n, test_objective, *v, (example){.file = file, .variant = *v, .masked = true});
    }
  }
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("golden", tests, NULL, NULL); /* entries left empty are no tests */
}
