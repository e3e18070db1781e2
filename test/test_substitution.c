/* Bounds over all words of a list: they contain what every replacement gives, logits and gradients, for all kinds of
 * nets; the certified share is never above the exact one, and is the same where intervals are exact. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/data.h"
#include "measure/substitute.h"
#include "objective/words.h"

enum { N = 60, TOKENS = 9, WORDS = 20, PARAMS = 64 };

static const float list[] = {3, 7, 11, 12};
static const int32_t whole[] = {3, 7, 11, 12};
enum { LISTED = sizeof list / sizeof *list };

static const char *const nets[] = {
  "embedding 20 4, leaf, dense 6, relu, mean, dense 2",
  "embedding 20 4, leaf, tokenconv 5 3, relu, tokenconv 4 3, relu, mean, dense 3",
  "sum(embedding 20 4; position 9 4), leaf, dense 5, relu, mean, dense 4, relu, dense 1",
  "embedding 20 3, dense 4, relu, leaf, tokenconv 5 5, relu, mean, dense 2",
  "bert(layers=1,width=4,heads=2,inner=4,words=20,positions=9,drop=0,pool=mean)",
};
enum { NETS = sizeof nets / sizeof *nets };

/* Texts with one masked token, every third with two. Labels are as given, or 0. */
static r4_data *texts(const int32_t *label, int32_t classes)
{
  r4_error e = {0};
  static int32_t id[N][TOKENS], length[N], labels[N];
  static float mask[N][TOKENS];
  memset(mask, 0, sizeof mask);
  for (int i = 0; i < N; i++) {
    const r4_random key = {7, 1, (uint32_t)i};
    length[i] = 4 + (int32_t)r4_random_below(key, 0, TOKENS - 3);
    labels[i] = label ? label[i] : i < classes ? i : 0; /* all classes occur */
    for (int k = 0; k < TOKENS; k++)
      id[i][k] = k < length[i] ? (int32_t)r4_random_below(key, 1 + (uint64_t)k, WORDS) : 0;
    mask[i][1] = 1;
    if (i % 3 == 0) mask[i][3] = 1;
  }
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = N,
                                             .shape = R4_SHAPE(TOKENS),
                                             .tokens = id[0],
                                             .lengths = length,
                                             .labels = labels,
                                             .classes = (size_t)classes,
                                             .mask_floats = mask[0],
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static r4_net *net_of(const char *text)
{
  r4_error e = {0};
  r4_net *n = r4_net_open(text, R4_SHAPE(TOKENS), &e);
  if (!n) fail_msg("%s", e.text);
  return n;
}

/* Words of the list lie near each other, by closeness, so that something can be proved. */
static float *weights_of(const r4_net *n, uint64_t seed, float closeness)
{
  r4_error e = {0};
  float *w = calloc(r4_net_size(n), sizeof *w);
  r4_net_init(n, "default", seed, w, &e);
  int64_t width = r4_net_param_shape(n, 0).dim[1];
  for (size_t k = 1; k < LISTED; k++)
    for (int64_t c = 0; c < width; c++) {
      float *to = w + (int64_t)list[k] * width + c, first = w[(int64_t)list[0] * width + c];
      *to = first + closeness * (*to - first);
    }
  return w;
}

/* ---- Inside ---- */

static const r4_objective_options boxed = {
  .batch = N, .eps = 1, .lengths = true, .words = list, .word_count = LISTED, .word_box = true};

/* A runner of outputs at the texts of d, with masked tokens replaced as the c-th draw says; c < 0: as they are. */
static void give(struct runner *r, const r4_net *n, const float *weights, const r4_data *d, int c)
{
  float row[TOKENS], mask[TOKENS];
  for (size_t k = 0; k < r4_net_params(n); k++) {
    double *to = runner_input(r, r4_net_param_name(n, k));
    for (int64_t j = 0; to && j < r4_shape_count(r4_net_param_shape(n, k)); j++)
      to[j] = (double)weights[r4_net_param_offset(n, k) + (size_t)j];
  }
  for (size_t i = 0; i < N; i++) {
    r4_data_values(d, i, row);
    r4_data_mask(d, i, mask);
    for (size_t k = 0; k < TOKENS; k++) {
      uint64_t draw = r4_random_below((r4_random){9, 2, (uint32_t)c}, i * TOKENS + k, LISTED);
      runner_input(r, "x")[i * TOKENS + k] = c >= 0 && mask[k] > 0 ? (double)list[draw] : (double)row[k];
      if (runner_input(r, "m")) runner_input(r, "m")[i * TOKENS + k] = (double)mask[k];
    }
    if (runner_input(r, "y")) runner_input(r, "y")[i] = r4_data_example(d, i).label;
    runner_input(r, "length")[i] = (double)r4_data_length(d, i);
  }
  runner_run(r);
}

static void check_inside(const char *text, uint64_t seed, float closeness)
{
  r4_net *n = net_of(text);
  int32_t classes = r4_net_classes(n) > 1 ? (int32_t)r4_net_classes(n) : 2;
  r4_data *d = texts(NULL, classes);
  float *w = weights_of(n, seed, closeness);
  r4_graph *g = r4_graph_new();
  r4_id param[PARAMS], out[6];
  struct draws drawn = {0};
  struct objective o = {.g = g, .net = n, .param = param, .options = &boxed, .drawn = &drawn};
  r4_net_inputs(n, g, param);
  objective_inputs(&o);
  struct view v = view_clean(&o);
  r4_id z = view_logits(&o, v);
  r4_pair bz = view_bounds(&o, BOUND_BY_INTERVALS, v, z, view_radius(&o)),
          bg = objective_explain_bounds(&o, BOUND_BY_INTERVALS, view_radius(&o));
  memcpy(out, (const r4_id[]){bz.lo, bz.hi, bg.lo, bg.hi, z, objective_explain(&o, v)}, sizeof out);
  const char *why;
  if (r4_graph_status(g, &why)) fail_msg("%s: %s", text, why);
  struct runner *bounds = runner_new(g, 4, out, FAST64), *points = runner_new(g, 2, out + 4, FAST64);
  give(bounds, n, w, d, -1);
  for (int c = -1; c < 20; c++) {
    give(points, n, w, d, c);
    assert_inside("logits", bounds->out[0], points->out[0], bounds->out[1], points->out_count[0], 1e-9);
    assert_inside("gradients", bounds->out[2], points->out[1], bounds->out[3], points->out_count[1], 1e-9);
  }
  runner_free(bounds);
  runner_free(points);
  r4_graph_free(g);
  free(w);
  r4_data_free(d);
  r4_net_free(n);
}

static void test_replacements_are_inside(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 2; seed++)
    for (int k = 0; k < NETS; k++) check_inside(nets[k], seed, k < NETS - 1 ? 1 : 1e-4f);
}

/* ---- The test ---- */

static size_t total(const size_t *of)
{
  size_t n = 0;
  for (size_t g = 0; g < R4_MAX_GROUPS; g++) n += of[g];
  return n;
}

/* Labels are the net's own answers. */
static r4_data *answered(const r4_net *n, const float *w, int32_t classes)
{
  r4_error e = {0};
  r4_data *d = texts(NULL, classes);
  float p[N * 4];
  int32_t label[N];
  if (r4_predict(n, w, d, 16, p, &e)) fail_msg("%s", e.text);
  for (int i = 0; i < N; i++) {
    label[i] = 0;
    for (int k = 1; k < classes; k++)
      if (p[i * classes + k] > p[i * classes + label[i]]) label[i] = k;
  }
  r4_data_free(d);
  return texts(label, classes);
}

static r4_substituted tested(const char *text, uint64_t seed, float closeness, size_t tries)
{
  static r4_substituted s;
  r4_error e = {0};
  r4_net *n = net_of(text);
  int32_t classes = r4_net_classes(n) > 1 ? (int32_t)r4_net_classes(n) : 2;
  float *w = weights_of(n, seed, closeness);
  r4_data *d = answered(n, w, classes);
  const struct substitute_options o = {.words = list,
                                       .word_count = LISTED,
                                       .by_pieces = {{[1] = LISTED}, {[1] = whole}},
                                       .most = 1000,
                                       .tries = tries,
                                       .batch = 16};
  if (substitute_test(n, w, d, &o, &s, &e)) fail_msg("%s", e.text);
  assert_true(total(s.examples) == N && total(s.right) == N);
  assert_true(total(s.certified) >= total(s.proved) && total(s.proved) <= total(s.held));
  assert_true(total(s.held) <= total(s.tried));
  r4_data_free(d);
  free(w);
  r4_net_free(n);
  return s;
}

static void test_certified_is_never_above_exact(void **state)
{
  (void)state;
  size_t proved = 0, held = 0, lost = 0;
  for (uint64_t seed = 0; seed < 2; seed++)
    for (int k = 0; k < NETS; k++) {
      r4_substituted s = tested(nets[k], seed, k < NETS - 1 ? 0.3f : 1e-3f, 1024);
      assert_int_equal(total(s.tried), N); /* 5 and 25 replacements */
      proved += total(s.proved);
      held += total(s.held);
      lost += N - total(s.held);
    }
  print_message("# certified %zu, held %zu, changed %zu\n", proved, held, lost);
  assert_true(proved > held / 2 && proved < held && lost > 0);
}

/* One number for each word: the box of a token has its words at both ends, and a sum is bounded as it is. */
static void test_bags_of_numbers_are_exact(void **state)
{
  (void)state;
  size_t held = 0;
  for (uint64_t seed = 0; seed < 10; seed++) {
    r4_substituted s = tested("embedding 20 1, leaf, mean, dense 1 nobias", seed, 1, 1024);
    assert_int_equal(total(s.certified), total(s.held));
    held += total(s.held);
  }
  assert_true(held > 0 && held < 10 * N);
}

static void test_many_replacements_are_not_tried(void **state)
{
  (void)state;
  r4_substituted s = tested(nets[0], 1, 0.3f, 5);
  assert_int_equal(total(s.tried), N - N / 3);
  assert_int_equal(total(s.examples), N);
}

/* Layer norm makes bounds of several layers overflow: they prove nothing, and the rest is measured all the same. */
static void test_bounds_may_overflow(void **state)
{
  (void)state;
  r4_substituted s =
    tested("bert(layers=6,width=4,heads=2,inner=4,words=20,positions=9,drop=0,pool=mean)", 0, 1, 1024);
  assert_int_equal(s.overflowed, N);
  assert_int_equal(total(s.certified), 0);
  assert_true(total(s.held) > 0);
  assert_int_equal(tested(nets[0], 0, 0.3f, 1024).overflowed, 0);
}

static void test_refused(void **state)
{
  (void)state;
  const struct {
    const char *net, *why;
    r4_objective_options o;
  } wrong[] = {{"embedding 20 4, leaf, mean, dense 2", "there is no list", {.word_box = true, .eps = 1}},
               {"embedding 20 4, leaf, mean, dense 2",
                "at most 1",
                {.word_box = true, .words = list, .word_count = 2, .eps = 2}},
               {"embedding 20 4, mean, dense 2",
                "it is for texts",
                {.word_box = true, .words = list, .word_count = 2, .eps = 1}},
               {"embedding 20 4, tokenconv 4 3, leaf, mean, dense 2",
                "see each other",
                {.word_box = true, .words = list, .word_count = 2, .eps = 1}}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    r4_net *n = net_of(wrong[k].net);
    r4_graph *g = r4_graph_new();
    r4_id param[PARAMS];
    const char *why = "";
    r4_objective_options p = wrong[k].o;
    p.method = "cert-r4";
    p.batch = 2;
    p.lambda[0] = 1;
    p.tau = 1;
    r4_net_inputs(n, g, param);
    r4_objective_build(g, n, param, &p);
    assert_int_equal(r4_graph_status(g, &why), R4_E_ARGUMENT);
    if (!strstr(why, wrong[k].why)) fail_msg("%s: %s", wrong[k].why, why);
    r4_graph_free(g);
    r4_net_free(n);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_replacements_are_inside),   cmocka_unit_test(test_certified_is_never_above_exact),
    cmocka_unit_test(test_bags_of_numbers_are_exact), cmocka_unit_test(test_many_replacements_are_not_tried),
    cmocka_unit_test(test_bounds_may_overflow),       cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests_name("substitution", tests, NULL, NULL);
}
