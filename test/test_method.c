/* Methods: what the table says about them, and one that is added from here: a term, the input that it draws, and the
 * settings that matter for it. Nothing else of the program knows of it, and it trains. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "config/settings.h"
#include "objective/objective.h"
#include "scratch.h"
#include "train/run/run.h"
#include "train/task.h"

/* ---- A method of this file: q_i = || m_i . g_i(x_i + eps m_i t_i) ||_2^2, t_i 0 or 1 for each example ---- */

static struct {
  size_t calls, n;
  uint32_t steps[64];
  bool had_batch;
} seen;

/* Whatever a generator looks at: here the labels of the batch. */
static void by_label(r4_random key, const r4_batch *batch, size_t n, float *to)
{
  if (seen.calls < 64) seen.steps[seen.calls] = key.step;
  seen.calls++;
  seen.n = n;
  seen.had_batch = batch && batch->y;
  for (size_t i = 0; i < n; i++) to[i] = batch->y[i] > 4 ? 1 : 0;
}

static r4_id quantity(struct objective *o)
{
  r4_graph *g = o->g;
  r4_id t = objective_draw(o, "turn", R4_SHAPE(o->rows), 77, by_label), m = o->m;
  r4_id zero = r4_mul(g, m, r4_const(g, 0, R4_SCALAR));
  r4_id d = view_allowed(o, view_select(o, t, view_radius(o), zero));
  return objective_squares(o, objective_explain(o, view_moved(o, d)));
}

static const struct term turned = {.quantity = quantity, .settings = TERM_SETTINGS("eps", "explain")};
static const struct method turned_r3 = {.term = &turned, .lambda = 3, .fills = false};

static int add(void **state)
{
  (void)state;
  seen.calls = 0;
  method_add("turned-r3", &turned_r3);
  return 0;
}

static int take_away(void **state)
{
  (void)state;
  method_add(NULL, NULL);
  return 0;
}

static r4_settings *settings_of(const char *method)
{
  r4_error e = {0};
  char assignment[80];
  static const char *const set[] = {"data=decoy-mnist", "data.from=digits:200",        "epochs=2",
                                    "batch=50",         "net=dense 8, relu, dense 10", "eps=0.2"};
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set; k++)
    if (r4_settings_set(s, set[k], "test", &e)) fail_msg("%s", e.text);
  snprintf(assignment, sizeof assignment, "method=%s", method);
  if (r4_settings_set(s, assignment, "test", &e)) fail_msg("%s", e.text);
  return s;
}

static double penalty_seen;

static bool watch(const r4_progress *p, void *user)
{
  (void)user;
  penalty_seen = p->penalty;
  return true;
}

static void a_method_of_this_file_trains(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = settings_of("turned-r3");
  if (r4_settings_check(s, &e)) fail_msg("%s", e.text);
  assert_false(r4_settings_idle(s, 0, &e)); /* eps matters */
  const char *folder = scratch_path("turned");
  if (r4_train(s, &(r4_train_options){.folder = folder, .force = true, .report = watch}, NULL, &e))
    fail_msg("%s", e.text);
  assert_true(penalty_seen > 0 && isfinite(penalty_seen));
  assert_true(seen.calls >= 4 && seen.had_batch && seen.n > 0);
  for (uint32_t k = 0; k < seen.calls && k < 64; k++) assert_int_equal(seen.steps[k], k);
  r4_settings_free(s);
}

static void settings_know_it_by_the_table(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = settings_of("turned-r3");
  assert_int_equal(r4_settings_set(s, "attack.step=3", "test", &e), R4_OK);
  assert_true(r4_settings_idle(s, 0, &e));
  assert_string_equal(e.text,
                      "attack.step (test) has no effect, as method (test) is turned-r3: it is for adv-r4 and "
                      "word-smooth-r3");
  assert_true(r4_method_describe("turned-r3").lambda[0] == 3);
  take_away(NULL);
  assert_error(&e, r4_settings_set(s, "method=turned-r3", "test", &e),
               "method is \"turned-r3\", expected auto, erm");
  r4_settings_free(s);
}

/* ---- The table ---- */

static void the_first_method_is_plain(void **state)
{
  (void)state;
  r4_method_info first = r4_method_describe(r4_method_name(0));
  assert_true(!first.guided && !first.fills && first.lambda[0] == 0 && !first.terms);
  assert_null(r4_method_name(r4_method_count()));
  assert_false(r4_method_describe("no-such").guided);
  assert_false(r4_method_uses("no-such", "eps"));
}

/* What a term names must be there, or a setting would silently have no effect. */
static void terms_name_settings_that_exist(void **state)
{
  (void)state;
  for (size_t k = 0; k < r4_method_count(); k++) {
    struct composition c;
    assert_true(composition_of(r4_method_name(k), &c));
    for (size_t t = 0; t < c.terms; t++) {
      const struct term *term = c.part[t]->term;
      for (size_t j = 0; term->settings[j]; j++) {
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(term->settings[j], "="), term->settings[j]);
        if (!setting_find(key)) fail_msg("%s: no setting \"%s\"", r4_method_name(k), key);
        assert_true(r4_method_uses(r4_method_name(k), key));
      }
    }
  }
}

/* A weight that was given and that the method has no term for is no penalty. */
static void a_weight_without_a_term_is_none(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    double weight;
  } expected[] = {{"erm", 0}, {"r3", 0}, {"cert-r4", 0}, {"cert-r4+r3", 5}};
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    r4_settings *s = settings_of(expected[k].method);
    assert_int_equal(r4_settings_set(s, "lambda_r3=5", "test", NULL), R4_OK);
    assert_true(task_lambda(&s->values, 1) == expected[k].weight);
    assert_true(task_objective(&s->values).lambda[1] == expected[k].weight);
    r4_settings_free(s);
  }
}

static const struct term *first_term(const char *method)
{
  struct composition c;
  assert_true(composition_of(method, &c) && c.terms);
  return c.part[0]->term;
}

/* The sum and the number that the mean of a penalty is made of. */
static void means_are_sums_over_counts(void **state)
{
  (void)state;
  enum { BATCH = 4, FEATURES = 3 };
  for (size_t k = 1; k < r4_method_count(); k++)
    for (int over_masked = 0; over_masked < 2; over_masked++) {
      if (r4_method_describe(r4_method_name(k)).texts) continue;
      r4_graph *g = r4_graph_new();
      r4_net *net = r4_net_open("dense 5, relu, dense 3", R4_SHAPE(FEATURES), NULL);
      r4_objective_options p = {.method = r4_method_name(k),
                                .batch = BATCH,
                                .eps = 0.1,
                                .lambda = {1, 1},
                                .samples = 2,
                                .steps = 2,
                                .random_start = true,
                                .filled = r4_method_describe(r4_method_name(k)).pairs,
                                .filled_within = true,
                                .over_masked = over_masked};
      r4_id param[4];
      r4_net_inputs(net, g, param);
      r4_objective o = r4_objective_build(g, net, param, &p);
      if (!r4_method_describe(p.method).guided) {
        assert_true(!o.total[0].sum.i && !o.draws);
        r4_net_free(net);
        r4_graph_free(g);
        continue;
      }
      const r4_id out[] = {o.total[0].sum, o.total[0].count, o.penalty[0]};
      struct runner *r = runner_new(g, 3, out, FAST64);
      for (size_t i = 0; i < r->n_in; i++)
        for (size_t j = 0; j < r->in_count[i]; j++)
          r->in[i][j] = r4_random_uniform((r4_random){3, (uint32_t)i, 0}, j) - 0.3;
      double *m = runner_input(r, "m"), *y = runner_input(r, "y");
      for (size_t i = 0; i < BATCH; i++) y[i] = (double)(i % 3);
      for (size_t i = 0; i < BATCH * FEATURES; i++)
        m[i] = i < FEATURES; /* the first example alone has a mask */
      runner_run(r);
      bool masked = over_masked || first_term(p.method)->over_masked;
      assert_true(*r->out[0] > 0);
      assert_true(*r->out[1] == (masked ? 1 : BATCH));
      assert_true(fabs(*r->out[0] / *r->out[1] - *r->out[2]) < 1e-12);
      runner_free(r);
      r4_net_free(net);
      r4_graph_free(g);
    }
}

/* What is drawn, to the bit: it decides what runs of old settings become. */
static void draws_are_as_they_always_were(void **state)
{
  (void)state;
  enum { BATCH = 4, SAMPLES = 2, FEATURES = 3, N = BATCH * FEATURES };
  static const struct {
    const char *method, *name;
    uint32_t purpose;
    size_t n;
    bool normal;
  } expected[] = {{"smooth-r3", "noise", 0x72340501, SAMPLES * N, true},
                  {"rand-r4", "noise", 0x72340501, SAMPLES * N, false},
                  {"adv-r4", "start", 0x72340500, N, false}};
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    r4_graph *g = r4_graph_new();
    r4_net *net = r4_net_open("dense 3", R4_SHAPE(FEATURES), NULL);
    r4_objective_options p = {
      .method = expected[k].method, .batch = BATCH, .samples = SAMPLES, .steps = 2, .random_start = true};
    r4_id param[2];
    r4_net_inputs(net, g, param);
    r4_objective o = r4_objective_build(g, net, param, &p);
    assert_int_equal(o.draws, 1);
    assert_string_equal(o.drawn[0].name, expected[k].name);
    assert_int_equal(o.drawn[0].count, expected[k].n);
    float now[SAMPLES * N], before[SAMPLES * N];
    r4_random key = {5, expected[k].purpose, 7};
    r4_drawn_fill(&o.drawn[0], 5, 7, NULL, now);
    if (expected[k].normal)
      r4_random_fill_normal(key, expected[k].n, before);
    else
      r4_random_fill(key, expected[k].n, -1, 1, before);
    assert_memory_equal(now, before, expected[k].n * sizeof *before);
    r4_net_free(net);
    r4_graph_free(g);
  }
}

/* A net draws for each part that leaves something out, and each of them other numbers. */
static void each_part_draws_its_own(void **state)
{
  (void)state;
  enum { BATCH = 2, FEATURES = 4, N = BATCH * FEATURES, DRAWS = 3 };
  static const char *const name[DRAWS] = {"dropout 0", "dropout last", "dropout 3"};
  float drawn[DRAWS][N];
  r4_graph *g = r4_graph_new();
  r4_net *net =
    r4_net_open("dropout 0.5, relu, last: dropout 0.5, dropout 0.5, dense 3", R4_SHAPE(FEATURES), NULL);
  r4_id param[2];
  r4_net_inputs(net, g, param);
  r4_objective o =
    r4_objective_build(g, net, param, &(r4_objective_options){.method = "erm", .batch = BATCH});
  const char *message = "";
  if (r4_graph_status(g, &message)) fail_msg("%s", message);
  assert_int_equal(o.draws, DRAWS);
  for (size_t k = 0; k < DRAWS; k++) {
    assert_string_equal(o.drawn[k].name, name[k]);
    assert_int_equal(o.drawn[k].count, N);
    r4_drawn_fill(&o.drawn[k], 5, 7, NULL, drawn[k]);
    for (size_t j = 0; j < k; j++) assert_memory_not_equal(drawn[j], drawn[k], sizeof drawn[k]);
  }
  r4_net_free(net);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(a_method_of_this_file_trains, add, take_away),
    cmocka_unit_test_setup_teardown(settings_know_it_by_the_table, add, take_away),
    cmocka_unit_test(the_first_method_is_plain),
    cmocka_unit_test(terms_name_settings_that_exist),
    cmocka_unit_test(a_weight_without_a_term_is_none),
    cmocka_unit_test(means_are_sums_over_counts),
    cmocka_unit_test(draws_are_as_they_always_were),
    cmocka_unit_test(each_part_draws_its_own),
  };
  return cmocka_run_group_tests_name("method", tests, scratch_make, scratch_remove);
}
