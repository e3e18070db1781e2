/* Groups that do not count as often as they come: weights of groups, batches by group, and Group DRO. Their formulas by
 * hand, what they do against a shortcut that plain learning takes, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/data.h"
#include "optim/group_shares.h"
#include "scratch.h"
#include "settings_case.h"
#include "train/groups.h"

/* ---- Data: a weak core feature, and a strong one that agrees with the label in all but a few of training ---- */

enum { TRAIN = 400, TEST = 400, N = TRAIN + TEST, RARE = 20, GROUPS = 5 };

/* A group is a label and the sign of the shortcut; in every 20th example of training they disagree, in every second of
 * the test. The last group has no examples. */
static r4_data *shortcut(void)
{
  struct column *x = column_new(&floats_column, R4_SHAPE(2), N, NULL);
  r4_data *d = x ? data_new(N, x, NULL) : NULL;
  assert_non_null(d);
  float *v = x->data;
  for (size_t i = 0; i < N; i++) {
    struct record *r = d->record + i;
    bool train = i < TRAIN, agrees = train ? i / 2 % RARE != 0 : i / 2 % 2;
    r->label = (int32_t)(i % 2);
    r->group = 2 * r->label + agrees;
    r->split = train ? R4_TRAIN : R4_TEST;
    double sign = 2 * r->label - 1, noise = r4_random_normal((r4_random){7, 8, 9}, i);
    v[2 * i] = (float)(sign + 0.8 * noise);
    v[2 * i + 1] = (float)(agrees ? 2 * sign : -2 * sign);
  }
  const char *const group[GROUPS] = {"a against", "a with", "b against", "b with", "nobody"};
  names_add(d->classes, "a", NULL, NULL);
  names_add(d->classes, "b", NULL, NULL);
  for (size_t k = 0; k < GROUPS; k++) names_add(d->groups, group[k], NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

/* Examples of training of which keep says so, and all others. */
static r4_data *only(bool (*keep)(size_t i, const r4_example *x))
{
  static size_t example[N];
  size_t n = 0;
  r4_data *d = shortcut();
  for (size_t i = 0; i < N; i++) {
    r4_example x = r4_data_example(d, i);
    if (x.split != R4_TRAIN || keep(i, &x)) example[n++] = i;
  }
  r4_data *part = r4_data_subset(d, n, example, NULL);
  assert_non_null(part);
  r4_data_free(d);
  return part;
}

static r4_settings *settings_with(const char *const *more)
{
  static const char *const common[] = {
    "net=dense 2", "batch=50", "epochs=40", "rate=0.02", "data.val=0", "seed=4", NULL};
  return settings_case_with(common, more);
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static r4_trainer *trainer(const r4_data *d, const char *const *set)
{
  r4_error e = {0};
  r4_settings *s = settings_with(set);
  r4_trainer *t = r4_trainer_new(s, d, &e);
  r4_settings_free(s);
  if (!t) fail_msg("%s", e.text);
  return t;
}

static void finish(r4_trainer *t)
{
  r4_error e = {0};
  while (!r4_trainer_done(t))
    if (r4_trainer_step(t, NULL, &e)) fail_msg("%s", e.text);
}

/* ---- Formulas ---- */

/* q = (1/2, 1/2), l = (1, 3), eta = ln 2 / 2: the factors are sqrt 2 and 2 sqrt 2, so q = (1/3, 2/3); then l = (2, 0):
 * the factors are 2 and 1, so q = (1/2, 1/2). */
static void weights_of_groups_by_hand(void **state)
{
  (void)state;
  double q[3] = {0.5, 0.5, 0}, eta = log(2) / 2;
  group_dro_step(eta, 3, (const double[]){1, 3, 100}, q);
  assert_true(fabs(q[0] - 1. / 3) < 1e-15 && fabs(q[1] - 2. / 3) < 1e-15 && q[2] == 0);
  group_dro_step(eta, 3, (const double[]){2, 0, 0}, q);
  assert_true(fabs(q[0] - 0.5) < 1e-15 && fabs(q[1] - 0.5) < 1e-15);
  group_dro_step(1000, 2, (const double[]){1000, 1001}, q);
  assert_true(q[0] == 0 && q[1] == 1); /* and nothing overflows */
}

/* Training has 10 and 190 examples of each class: N / (G n_g) = 400 / (4 * 10) = 10 and 400 / (4 * 190) = 10/19. */
static void balanced_weights_by_hand(void **state)
{
  (void)state;
  struct groups g;
  r4_error e = {0};
  r4_data *d = shortcut(), *train = r4_data_part(d, R4_TRAIN, &e);
  r4_settings *s = settings_with(SET("group_weights=balanced"));
  assert_int_equal(groups_open(&g, s, train, &e), R4_OK);
  for (size_t k = 0; k < GROUPS; k++)
    assert_true(fabs(g.weight[k] - (k == 4 ? 0 : k % 2 ? 10. / 19 : 10)) < 1e-15);
  const size_t example[] = {0, 2, 3};
  const float *v = groups_weigh(&g, train, &(r4_batch){.count = 3, .example = example});
  for (size_t i = 0; i < 3; i++)
    assert_true(v[i] == (float)g.weight[r4_data_example(train, example[i]).group]);
  groups_close(&g);
  r4_settings_free(s);
  r4_data_free(train);
  r4_data_free(d);
}

/* A batch of three: two of a group, one of another, and none of the other two; q is 1/4 each. v = 3 (1/4) / 2 and
 * 3 (1/4) / 1, with which mean_i v_i l_i = (l_0 + l_1) / 8 + l_2 / 4. With the losses 1, 3 and 6 and eta = ln 2 the
 * groups have 2, 6, 0 and 0, so q is to each other as 4, 64, 1 and 1. */
static void group_dro_by_hand(void **state)
{
  (void)state;
  struct groups g;
  r4_error e = {0};
  r4_data *d = shortcut(), *train = r4_data_part(d, R4_TRAIN, &e);
  r4_settings *s = settings_with(SET("method=group-dro"));
  assert_int_equal(groups_open(&g, s, train, &e), R4_OK);
  const size_t example[] = {2, 4, 3}; /* a with, a with, b with */
  const r4_batch b = {.count = 3, .example = example};
  const float *v = groups_weigh(&g, train, &b);
  assert_true(v[0] == 0.375f && v[1] == 0.375f && v[2] == 0.75f);
  groups_follow(&g, log(2), train, &b, (const float[]){1, 3, 6});
  const double want[GROUPS] = {1. / 70, 4. / 70, 1. / 70, 64. / 70, 0};
  for (size_t k = 0; k < GROUPS; k++) assert_true(fabs(g.q[k] - want[k]) < 1e-14);
  groups_close(&g);
  r4_settings_free(s);
  r4_data_free(train);
  r4_data_free(d);
}

/* The data term of weighted examples is their weighted mean, and its gradient likewise; each loss is without. */
static void weights_are_in_the_data_term(void **state)
{
  (void)state;
  enum { BATCH = 3 };
  r4_graph *g = r4_graph_new();
  r4_net *net = r4_net_open("dense 2", R4_SHAPE(2), NULL);
  r4_id param[2], grad[2];
  r4_net_inputs(net, g, param);
  r4_objective o = r4_objective_build(
    g, net, param, &(r4_objective_options){.method = "erm", .batch = BATCH, .weighted = true});
  r4_grad(g, o.loss, 2, param, grad);
  const r4_id out[] = {o.data, o.losses, grad[1]};
  struct runner *r = runner_new(g, 3, out, FAST64);
  for (size_t k = 0; k < r->n_in; k++)
    for (size_t j = 0; j < r->in_count[k]; j++) r->in[k][j] = draw(-1, 1);
  double *y = runner_input(r, "y"), *v = runner_input(r, "v"), one[BATCH], sum = 0;
  for (size_t i = 0; i < BATCH; i++) y[i] = (double)(i % 2), v[i] = (double)i;
  runner_run(r);
  for (size_t i = 0; i < BATCH; i++) sum += v[i] * r->out[1][i] / BATCH;
  assert_close("data", r->out[0], &sum, 1, 1e-12, 1);
  double gradient = r->out[2][0];
  for (size_t i = 0; i < BATCH; i++) { /* each alone, with the weight 3: its own gradient */
    for (size_t j = 0; j < BATCH; j++) v[j] = j == i ? BATCH : 0;
    runner_run(r);
    one[i] = r->out[2][0];
  }
  double want = one[1] / BATCH + 2 * one[2] / BATCH;
  assert_close("gradient", &gradient, &want, 1, 1e-12, 1);
  runner_free(r);
  r4_graph_free(g);
  g = r4_graph_new();
  r4_net_inputs(net, g, param);
  r4_objective_build(g, net, param, &(r4_objective_options){.method = "group-dro", .batch = 1});
  const char *why = "";
  assert_int_equal(r4_graph_status(g, &why), R4_E_ARGUMENT);
  assert_non_null(strstr(why, "group-dro weighs examples by group, and weighted is not set"));
  r4_graph_free(g);
  r4_net_free(net);
}

/* ---- Learning ---- */

static double worst_group(const r4_data *d, const char *const *set)
{
  static r4_metrics m;
  r4_error e = {0};
  r4_trainer *t = trainer(d, set);
  r4_data *test = r4_data_part(d, R4_TEST, &e);
  finish(t);
  if (r4_evaluate(r4_trainer_net(t), r4_trainer_weights(t), test, NULL, &m, &e)) fail_msg("%s", e.text);
  r4_data_free(test);
  r4_trainer_free(t);
  print_message("# %s: worst group %.1f %%\n", *set, 100 * m.worst_group_accuracy);
  return m.worst_group_accuracy;
}

static void rare_groups_are_learned(void **state)
{
  (void)state;
  r4_data *d = shortcut();
  double erm = worst_group(d, SET("method=erm"));
  assert_true(erm < 0.6);
  assert_true(worst_group(d, SET("group_weights=balanced")) > erm + 0.2);
  assert_true(worst_group(d, SET("group_batches=true")) > erm + 0.2);
  assert_true(worst_group(d, SET("method=group-dro", "group_step=0.1")) > erm + 0.2);
  r4_data_free(d);
}

static void assert_same_weights(const r4_trainer *a, const r4_trainer *b, bool same)
{
  size_t n = r4_net_size(r4_trainer_net(a));
  assert_true(!memcmp(r4_trainer_weights(a), r4_trainer_weights(b), n * sizeof(float)) == same);
}

/* Weights of 1 change nothing, to the bit; others do, and eta does. */
static void weights_have_an_effect(void **state)
{
  (void)state;
  r4_data *d = shortcut();
  r4_trainer *plain = trainer(d, SET("epochs=2"));
  r4_trainer *ones = trainer(d, SET("epochs=2", "group_weights=1,1,1,1,1"));
  r4_trainer *list = trainer(d, SET("epochs=2", "group_weights=10,1,10,1,0"));
  r4_trainer *slow = trainer(d, SET("epochs=2", "method=group-dro", "group_step=0.001"));
  r4_trainer *fast = trainer(d, SET("epochs=2", "method=group-dro", "group_step=0.5"));
  r4_trainer *const all[] = {plain, ones, list, slow, fast};
  for (size_t k = 0; k < 5; k++) finish(all[k]);
  assert_same_weights(plain, ones, true);
  assert_same_weights(plain, list, false);
  assert_same_weights(slow, fast, false);
  char *log = r4_trainer_log(fast), *manifest = r4_trainer_manifest(list);
  assert_non_null(strstr(log, "\"group_weights\":["));
  assert_non_null(strstr(manifest, "\"group_weights\":[10,1,10,1,0]"));
  r4_string_free(log);
  r4_string_free(manifest);
  for (size_t k = 0; k < 5; k++) r4_trainer_free(all[k]);
  r4_data_free(d);
}

/* Stopped in the middle of an epoch, and loaded into another trainer. */
static void resumed_runs_are_the_same(void **state)
{
  (void)state;
  const char *const *const how[] = {SET("method=group-dro", "group_step=0.3", "epochs=4"),
                                    SET("group_batches=true", "epochs=4"),
                                    SET("group_weights=balanced", "epochs=4")};
  r4_data *d = shortcut();
  for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
    r4_error e = {0};
    r4_trainer *whole = trainer(d, how[k]), *begun = trainer(d, how[k]), *resumed = trainer(d, how[k]);
    for (int step = 0; step < 13; step++) assert_int_equal(r4_trainer_step(begun, NULL, &e), R4_OK);
    if (r4_trainer_save(begun, scratch_path("checkpoint"), &e)) fail_msg("%s", e.text);
    if (r4_trainer_load(resumed, scratch_path("checkpoint"), &e)) fail_msg("%s", e.text);
    finish(whole);
    finish(resumed);
    assert_same_weights(whole, resumed, true);
    r4_trainer_free(whole);
    r4_trainer_free(begun);
    r4_trainer_free(resumed);
  }
  r4_data_free(d);
}

/* ---- What is refused, and what is told ---- */

static bool with_alone(size_t i, const r4_example *x)
{
  (void)i;
  return x->group == 1;
}

static bool one_against(size_t i, const r4_example *x)
{
  return x->group != 0 || i == 0;
}

static void refuses(const r4_data *d, const char *const *set, const char *expected)
{
  r4_error e = {0};
  r4_settings *s = settings_with(set);
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (t) fail_msg("not refused: %s", expected);
  if (!strstr(e.text, expected)) fail_msg("\"%s\" lacks \"%s\"", e.text, expected);
  r4_settings_free(s);
}

static void nothing_to_weigh_is_refused(void **state)
{
  (void)state;
  r4_data *d = only(with_alone);
  const char *because = "but all training examples are of one group, \"a with\": there is nothing to weight";
  refuses(d, SET("group_weights=balanced"), "group_weights (test) is balanced, but all");
  refuses(d, SET("group_weights=1,1,1,1,1"), because);
  refuses(d, SET("group_batches=true"), "group_batches (test) is true, but all");
  refuses(d, SET("method=group-dro"), "method (test) is group-dro, but all");
  r4_data_free(d);
  d = shortcut();
  refuses(d, SET("group_weights=1,2"),
          "group_weights (test) has 2 numbers, but the data have 5 groups: expected one for each");
  refuses(d, SET("group_weights=0,0,0,0,1"),
          "group_weights (test) are 0 for all groups with training examples");
  refuses(d, SET("method=group-dro", "group_weights=balanced"),
          "group_weights (test) has no effect, as method (test) is group-dro");
  r4_data_free(d);
}

static char told[2048];

static void listen(const char *sentence, void *user)
{
  (void)user;
  size_t n = strlen(told);
  snprintf(told + n, sizeof told - n, "%s\n", sentence);
}

static void tells(const r4_data *d, const char *const *set, const char *expected)
{
  r4_trainer *t = trainer(d, set);
  told[0] = 0;
  r4_trainer_listen(t, listen, NULL);
  finish(t);
  r4_trainer_free(t);
  if (!strstr(told, expected)) fail_msg("\"%s\" lacks \"%s\"", told, expected);
}

/* A group of one example works, and is named; so do groups that are the classes. */
static void odd_groups_are_named(void **state)
{
  (void)state;
  r4_data *d = only(one_against);
  tells(d, SET("epochs=2", "group_batches=true"), "group \"a against\" has only one training example");
  tells(d, SET("epochs=2", "method=group-dro"), "1 of 5 groups have no training example");
  r4_data_free(d);
  d = r4_data_make("decoy-mnist", &(r4_recipe_options){.from = "digits:300"}, NULL);
  assert_non_null(d);
  tells(d, SET("epochs=1", "method=group-dro", "net=dense 10"), "the data have no groups, so their 10 classes");
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_data *d = shortcut(), *train = r4_data_part(d, R4_TRAIN, NULL);
  r4_settings *s = settings_with(SET("method=group-dro"));
  for (long n = 1;; n++) {
    struct groups g;
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status status = groups_open(&g, s, train, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_int_equal(status, reached ? R4_E_MEMORY : R4_OK);
    groups_close(&g);
    if (!reached) break;
  }
  r4_settings_free(s);
  r4_data_free(train);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(weights_of_groups_by_hand),
    cmocka_unit_test(balanced_weights_by_hand),
    cmocka_unit_test(group_dro_by_hand),
    cmocka_unit_test(weights_are_in_the_data_term),
    cmocka_unit_test(rare_groups_are_learned),
    cmocka_unit_test(weights_have_an_effect),
    cmocka_unit_test(resumed_runs_are_the_same),
    cmocka_unit_test(nothing_to_weigh_is_refused),
    cmocka_unit_test(odd_groups_are_named),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests_name("group weights", tests, scratch_make, scratch_remove);
}
