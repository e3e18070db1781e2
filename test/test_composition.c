/* Methods that are sums of terms, for which there is no code: each pair of terms, and what is known of a sum by its
 * parts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/settings.h"
#include "objective/objective.h"
#include "objective_case.h"
#include "scratch.h"
#include "train/task.h"

static const char *const terms[] = {"r3", "smooth-r3", "ibp-ex", "rand-r4", "adv-r4", "cert-r4", "pairing"};
enum { TERMS = sizeof terms / sizeof *terms };

#define NET "flatten, dense 5, relu, dense 3"
static char name[COMPOSITION_NAME];

static struct objective_case case_of(const char *method)
{
  struct objective_case c = objective_case_new(NET, R4_SHAPE(3, 3, 2), method);
  c.o.filled = c.o.filled_within = true;
  const double lambda[R4_TERMS] = {0.7, 0.4, 0.3, 0.9};
  memcpy(c.o.lambda, lambda, sizeof lambda);
  return c;
}

static struct objective_numbers numbers_of(const char *method, double first_lambda)
{
  struct objective_case c = case_of(method);
  c.o.lambda[0] = first_lambda;
  struct objective_numbers n = objective_case_run(&c);
  objective_case_free(&c);
  return n;
}

static double distance(const double *a, const double *b, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

/* ---- Sums ---- */

/* loss = data + sum_k lambda_k q_k, each q_k that of its term by itself, and so the slopes; each term moves weights. */
static void check_sum(const char *method)
{
  struct objective_case c = case_of(method);
  const size_t size = r4_net_size(c.net);
  r4_method_info m = r4_method_describe(method);
  struct objective_numbers all = objective_case_run(&c), plain = numbers_of("erm", 0);
  double loss = plain.loss, slope[CASE_SIZE];
  memcpy(slope, plain.slope, sizeof slope);
  for (size_t k = 0; k < m.terms; k++) {
    struct objective_numbers one = numbers_of(m.term[k], c.o.lambda[k]);
    assert_near(all.penalties[k], one.penalty, 1e-12, method);
    assert_true(one.penalty > 0 && distance(one.slope, plain.slope, size) > 1e-3);
    loss += c.o.lambda[k] * one.penalty;
    for (size_t i = 0; i < size; i++) slope[i] += one.slope[i] - plain.slope[i];
  }
  assert_near(all.loss, loss, 1e-12, method);
  assert_close(method, all.slope, slope, size, 1e-11, 1);
  for (size_t k = m.terms; k < R4_TERMS; k++) assert_true(all.penalties[k] == 0);
  objective_case_free(&c);
}

/* Central differences of the loss along a random direction. */
static void check_slope(const char *method)
{
  const double h = 1e-6;
  struct objective_case c = case_of(method), up = c, down = c;
  struct runner *r = objective_case_open(&c, FAST64);
  struct objective_numbers at = objective_case_go(&c, r);
  double slope = 0;
  for (size_t i = 0; i < r4_net_size(c.net); i++) {
    double direction = 2 * r4_random_uniform((r4_random){11, 20, 0}, i) - 1;
    up.weights[i] += h * direction;
    down.weights[i] -= h * direction;
    slope += at.slope[i] * direction;
  }
  double high = objective_case_go(&up, r).loss, low = objective_case_go(&down, r).loss;
  assert_near((high - low) / (2 * h), slope, 1e-6, method);
  runner_free(r);
  objective_case_free(&c);
}

static void every_pair_is_the_sum_of_its_terms(void **state)
{
  (void)state;
  for (size_t a = 0; a < TERMS; a++)
    for (size_t b = 0; b < TERMS; b++) {
      if (a == b) continue;
      snprintf(name, sizeof name, "%s+%s", terms[a], terms[b]);
      check_sum(name);
      check_slope(name);
    }
}

static void so_are_three_and_four(void **state)
{
  (void)state;
  check_sum("r3+cert-r4+pairing");
  check_sum("rand-r4+smooth-r3+adv-r4+ibp-ex");
  check_slope("rand-r4+smooth-r3+adv-r4+pairing");
}

/* Where one waits, the others are linear where it has the form log: by hand. */
static void leading_terms_are_linear(void **state)
{
  (void)state;
  const char *const method = "r3+cert-r4+pairing";
  struct objective_case c = case_of(method);
  c.o.form = R4_FORM_LOG;
  struct objective_numbers all = objective_case_run(&c), cert = numbers_of("cert-r4", 0.4);
  double logs = 0;
  for (size_t i = 0; i < c.batch; i++) logs += log1p(cert.each[i] / c.o.tau) / (double)c.batch;
  assert_near(all.loss, all.data + 0.7 * all.penalties[0] + 0.4 * logs + 0.3 * all.penalties[2], 1e-12, method);
  objective_case_free(&c);
}

/* ---- Texts ---- */

static const char *const text_terms[] = {"word-smooth-r3", "word-rand-r4", "word-adv-r4", "r3",
                                         "rand-r4",        "adv-r4",       "cert-r4",     "ibp-ex"};
enum { TEXT_TERMS = sizeof text_terms / sizeof *text_terms, WORDS = 9, TOKENS = 6, TEXTS = 4 };

static void fill_text_inputs(struct runner *r)
{
  for (size_t i = 0; i < r->n_in; i++)
    for (size_t j = 0; j < r->in_count[i]; j++)
      r->in[i][j] = r4_random_uniform((r4_random){3, (uint32_t)i, 0}, j) - 0.4;
  static const char *const ids[] = {"x", "words", "words 2"};
  for (size_t k = 0; k < sizeof ids / sizeof *ids; k++) {
    double *to = runner_input(r, ids[k]);
    for (size_t j = 0; to && j < runner_count(r, ids[k]); j++)
      to[j] = (double)r4_random_below((r4_random){5, (uint32_t)k, 0}, j, WORDS);
  }
  double *m = runner_input(r, "m"), *y = runner_input(r, "y");
  for (size_t i = 0; i < TEXTS; i++) y[i] = (double)(i % 3);
  for (size_t j = 0; j < TEXTS * TOKENS; j++) m[j] = j % TOKENS == 2 || j % TOKENS == 3;
}

/* Both penalties are there, and each has a slope. */
static void check_text_pair(const char *method)
{
  enum { PARAMS = 5 };
  r4_graph *g = r4_graph_new();
  r4_net *net = r4_net_open("embedding 9 4, leaf, dense 5, relu, mean, dense 3", R4_SHAPE(TOKENS), NULL);
  r4_id param[PARAMS], out[2 + 2 * PARAMS];
  assert_int_equal(r4_net_params(net), PARAMS);
  r4_objective_options p = {.method = method,
                            .batch = TEXTS,
                            .lambda = {1, 1},
                            .eps = 0.3,
                            .samples = 2,
                            .steps = 2,
                            .random_start = true};
  r4_net_inputs(net, g, param);
  r4_objective o = r4_objective_build(g, net, param, &p);
  for (size_t k = 0; k < 2; k++) {
    out[k] = o.penalty[k];
    r4_grad(g, o.penalty[k], PARAMS, param, out + 2 + k * PARAMS);
  }
  check_now = method;
  struct runner *r = runner_new(g, 2 + 2 * PARAMS, out, FAST64);
  fill_text_inputs(r);
  runner_run(r);
  for (size_t k = 0; k < 2; k++) {
    double slope = 0;
    for (size_t j = 0; j < PARAMS; j++)
      for (size_t i = 0; i < r->out_count[2 + k * PARAMS + j]; i++) slope += fabs(r->out[2 + k * PARAMS + j][i]);
    if (!(*r->out[k] > 0 && slope > 1e-6)) fail_msg("%s: term %zu does not move the weights", method, k);
  }
  runner_free(r);
  r4_net_free(net);
  r4_graph_free(g);
}

static void pairs_of_texts_move_weights(void **state)
{
  (void)state;
  for (size_t a = 0; a < TEXT_TERMS; a++)
    for (size_t b = 0; b < TEXT_TERMS; b++) {
      if (a == b) continue;
      snprintf(name, sizeof name, "%s+%s", text_terms[a], text_terms[b]);
      check_text_pair(name);
    }
}

/* ---- What is drawn ---- */

/* Two terms that draw noise draw numbers of their own; the first draws what it draws by itself. */
static void terms_draw_their_own(void **state)
{
  (void)state;
  enum { BATCH = 4, SAMPLES = 2, FEATURES = 3, N = SAMPLES * BATCH * FEATURES };
  float one[N], two[N], alone[N];
  r4_graph *g = r4_graph_new(), *h = r4_graph_new();
  r4_net *net = r4_net_open("dense 3", R4_SHAPE(FEATURES), NULL);
  r4_objective_options p = {.method = "rand-r4+smooth-r3", .batch = BATCH, .samples = SAMPLES};
  r4_id param[2];
  r4_net_inputs(net, g, param);
  r4_objective both = r4_objective_build(g, net, param, &p);
  p.method = "rand-r4";
  r4_net_inputs(net, h, param);
  r4_objective first = r4_objective_build(h, net, param, &p);
  assert_int_equal(both.draws, 2);
  assert_string_equal(both.drawn[0].name, "noise");
  assert_string_equal(both.drawn[1].name, "noise 2");
  assert_true(both.drawn[0].purpose != both.drawn[1].purpose);
  r4_drawn_fill(&both.drawn[0], 5, 7, NULL, one);
  r4_drawn_fill(&both.drawn[1], 5, 7, NULL, two);
  r4_drawn_fill(&first.drawn[0], 5, 7, NULL, alone);
  assert_memory_equal(one, alone, sizeof one);
  float normal[N];
  r4_random_fill_normal((r4_random){5, both.drawn[0].purpose, 7}, N, normal);
  assert_memory_not_equal(two, normal, sizeof two);
  r4_net_free(net);
  r4_graph_free(g);
  r4_graph_free(h);
}

/* ---- What is known of them ---- */

static void rules_follow_from_the_parts(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    size_t terms;
    double lambda[R4_TERMS];
    bool leads[R4_TERMS], waits, pairs, texts, dies;
    r4_form form;
  } expected[] = {
    {"ibp-ex+r3", 2, {1, 10}, {0}, false, false, false, false, R4_FORM_LINEAR},
    {"r3+ibp-ex", 2, {10, 1}, {0}, false, false, false, false, R4_FORM_LINEAR},
    {"cert-r4+r3", 2, {0.1, 10}, {false, true}, true, false, false, true, R4_FORM_LOG},
    {"cert-r4+pairing", 2, {0.1, 3}, {false, true}, true, true, false, true, R4_FORM_LOG},
    {"r3+cert-r4", 2, {10, 0.1}, {true, false}, true, false, false, true, R4_FORM_LOG},
    {"adv-r4 + pairing", 2, {1, 3}, {0}, false, true, false, true, R4_FORM_LINEAR},
    {" r3+cert-r4 +pairing ", 3, {10, 0.1, 3}, {true, false, true}, true, true, false, true, R4_FORM_LOG},
    {"r3+word-rand-r4", 2, {10, 1}, {0}, false, false, true, true, R4_FORM_LINEAR},
    {"cert-r4", 1, {0.1}, {0}, true, false, false, true, R4_FORM_LOG},
    {"group-dro", 0, {0}, {0}, false, false, false, false, R4_FORM_LINEAR},
  };
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    r4_method_info m = r4_method_describe(expected[k].method);
    check_now = expected[k].method;
    assert_int_equal(m.terms, expected[k].terms);
    assert_memory_equal(m.lambda, expected[k].lambda, sizeof m.lambda);
    assert_memory_equal(m.leads, expected[k].leads, sizeof m.leads);
    assert_true(m.waits == expected[k].waits && m.pairs == expected[k].pairs);
    assert_true(m.texts == expected[k].texts && m.form == expected[k].form);
    assert_true(m.guided == (m.terms > 0) && m.fills == (m.terms > 0));
    assert_true(method_dies_of_penalty(expected[k].method) == expected[k].dies);
  }
}

static void settings_are_those_of_all_parts(void **state)
{
  (void)state;
  assert_true(r4_method_uses("r3+rand-r4", "samples") && !r4_method_uses("r3+pairing", "samples"));
  assert_true(r4_method_uses("r3+pairing", "lambda.pairing") && !r4_method_uses("r3+pairing", "lambda.cert-r4"));
  assert_true(r4_method_uses("r3+pairing", "lambda_r3") && !r4_method_uses("r3", "lambda_r3"));
  assert_true(r4_method_uses("cert-r4+r3", "penalty.norm=sum")); /* r3 has no norm */
  assert_false(r4_method_uses("cert-r4+adv-r4", "penalty.norm=sum"));
  assert_true(method_replaces_words("cert-r4+word-adv-r4") && !method_replaces_words("cert-r4+r3"));
  assert_true(method_has_noise_of_words("word-adv-r4+word-smooth-r3"));
}

static r4_settings *settings_with(const char *const *assignment)
{
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  for (; *assignment; assignment++)
    if (r4_settings_set(s, *assignment, "test", &e)) fail_msg("%s", e.text);
  return s;
}
#define SETTINGS(...) settings_with((const char *const[]){__VA_ARGS__, NULL})

static void weights_go_by_name_and_by_place(void **state)
{
  (void)state;
  static const struct {
    const char *method, *first, *second;
    double lambda[3];
  } expected[] = {
    {"cert-r4 + pairing", "lambda=2", "lambda_r3=5", {2, 5}},
    {"cert-r4+pairing", "lambda.cert-r4=2", "lambda.pairing=5", {2, 5}},
    {"pairing+cert-r4", "lambda.cert-r4=2", "lambda.pairing=5", {5, 2}},
    {"r3+cert-r4+pairing", "lambda.pairing=5", "lambda=7", {7, 0.1, 5}},
    {"r3+pairing", "lambda.cert-r4=5", "lambda.pairing=3", {10, 3}}, /* a weight that nothing has */
  };
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    snprintf(name, sizeof name, "method=%s", expected[k].method);
    r4_settings *s = SETTINGS(name, expected[k].first, expected[k].second);
    for (size_t j = 0; j < 3; j++)
      if (task_lambda(&s->values, j) != expected[k].lambda[j])
        fail_msg("%s: weight %zu is %g", name, j, task_lambda(&s->values, j));
    r4_settings_free(s);
  }
}

static void names_are_as_their_parts(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_setting_value v;
  r4_settings *s = SETTINGS("method=cert-r4 + pairing"), *copy = settings_copy(s), *again = r4_settings_new();
  char *text = r4_settings_text(s);
  assert_non_null(strstr(text, "\nmethod: cert-r4+pairing\n"));
  assert_int_equal(settings_parse(again, "again", text, strlen(text), &e), R4_OK);
  assert_int_equal(r4_settings_compare(s, again, NULL), R4_RUN_SAME);
  r4_settings_free(s);
  assert_int_equal(r4_settings_get(copy, "method", &v, NULL), R4_OK);
  assert_string_equal(v.text, "cert-r4+pairing");
  r4_settings_free(copy);
  r4_settings_free(again);
  r4_string_free(text);
}

/* What each of these sentences ends with, by the public table. */
static const char *all_terms(void)
{
  static char text[1000];
  size_t n = (size_t)snprintf(text, sizeof text, "expected up to 4 different ones of ");
  for (size_t k = 0, said = 0; k < r4_method_count(); k++)
    if (r4_method_describe(r4_method_name(k)).terms == 1)
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", said++ ? ", " : "", r4_method_name(k));
  return text;
}

static void wrong_sums_are_a_sentence(void **state)
{
  (void)state;
  static const struct {
    const char *set, *text;
  } wrong[] = {
    {"method=r3+r3", "test: method is \"r3+r3\", which has r3 twice: "},
    {"method=r3 + nonsense", "test: method is \"r3 + nonsense\", but there is no \"nonsense\": "},
    {"method=erm+r3", "test: method is \"erm+r3\", but erm has no penalty to add: "},
    {"method=r3+group-dro", "but group-dro has no penalty to add: "},
    {"method=r3+", "test: method is \"r3+\", but a part of it is empty: "},
    {"method=auto+r3", "but there is no \"auto\": "},
    {"method=r3+pairing+cert-r4+adv-r4+rand-r4", "which has more than 4 parts: "},
  };
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  assert_non_null(strstr(all_terms(), ", cert-r4, "));
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    char text[1200];
    snprintf(text, sizeof text, "%s%s", wrong[k].text, all_terms());
    assert_error(&e, r4_settings_set(s, wrong[k].set, "test", &e), text);
  }
  r4_settings_free(s);
  r4_graph *g = r4_graph_new();
  r4_net *net = r4_net_open("dense 3", R4_SHAPE(3), NULL);
  r4_id param[2];
  const char *message = "";
  r4_net_inputs(net, g, param);
  r4_objective_build(g, net, param, &(r4_objective_options){.method = "r3+r3", .batch = 1});
  assert_int_equal(r4_graph_status(g, &message), R4_E_ARGUMENT);
  assert_non_null(strstr(message, "objective: method is \"r3+r3\", which has r3 twice"));
  r4_net_free(net);
  r4_graph_free(g);
}

static void wrong_weights_are_a_sentence(void **state)
{
  (void)state;
  static const struct {
    const char *set[3], *text;
  } wrong[] = {
    {{"method=r3+pairing", "lambda.pairing=0", "lambda=1"},
     "method (test) is r3+pairing, but lambda.pairing (test) is 0: one of its parts, pairing, would not be "
     "penalised"},
    {{"method=r3+pairing", "lambda=1", "lambda.r3=2"},
     "lambda (test) and lambda.r3 (test) differ, but both are the weight of r3: set one of them"},
    {{"method=r3+pairing", "lambda_r3=1", "lambda.pairing=2"}, "both are the weight of pairing"},
    {{"method=r3+pairing", "lambda=auto", "lambda.r3=2"}, "both are the weight of r3"},
    {{"method=r3", "lambda.r3=0", "seed=1"},
     "lambda.r3 (test) and delta (default) are 0: nothing would be penalised"},
    {{"method=r3+pairing", "delta=1", "lambda.pairing=2"},
     "lambda.pairing (test) has no effect, as delta (test) is 1"},
    {{"method=cert-r4+adv-r4", "penalty.norm=sum", "seed=1"},
     "penalty.norm (test) is sum, which is for cert-r4"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    r4_error e = {0};
    r4_settings *s = SETTINGS(wrong[k].set[0], wrong[k].set[1], wrong[k].set[2]);
    assert_error(&e, r4_settings_check(s, &e), wrong[k].text);
    r4_settings_free(s);
  }
  r4_error e = {0};
  r4_settings *s = SETTINGS("method=r3+pairing", "lambda=1", "lambda.r3=1", "lambda.cert-r4=3", "bound=true");
  if (r4_settings_check(s, &e)) fail_msg("%s", e.text);
  assert_true(r4_settings_idle(s, 0, &e));
  assert_string_equal(e.text, "bound (test) has no effect, as method (test) is r3+pairing: it is for auto and cert-r4");
  assert_true(r4_settings_idle(s, 1, &e));
  assert_non_null(strstr(e.text, "lambda.cert-r4 (test) has no effect, as method (test) is r3+pairing"));
  assert_false(r4_settings_idle(s, 2, &e));
  r4_settings_free(s);
}

/* ---- Training ---- */

static r4_progress last;

static bool watch(const r4_progress *p, void *user)
{
  (void)user;
  last = *p;
  return true;
}

static void a_sum_trains_and_says_what_its_terms_do(void **state)
{
  (void)state;
  r4_error e = {0};
  char log[512], line[4096] = "";
  r4_settings *s = SETTINGS("data=decoy-mnist", "data.from=digits:200", "epochs=2", "batch=50",
                            "penalty.cap=false", "net=dense 8, relu, dense 10", "method=r3+rand-r4+pairing",
                            "samples=2", "lambda.pairing=0.5", "lambda.rand-r4=0.25", "lambda=0.125");
  const char *folder = scratch_path("sum");
  if (r4_train(s, &(r4_train_options){.folder = folder, .force = true, .report = watch}, NULL, &e))
    fail_msg("%s", e.text);
  static const struct {
    const char *name;
    double lambda;
  } term[] = {{"r3", 0.125}, {"rand-r4", 0.25}, {"pairing", 0.5}};
  assert_int_equal(last.terms, 3);
  double sum = 0;
  for (size_t k = 0; k < 3; k++) {
    assert_string_equal(last.term[k].name, term[k].name);
    assert_true(last.term[k].lambda == term[k].lambda && last.term[k].penalty > 0);
    sum += last.term[k].penalty;
  }
  assert_true(last.lambda == 0.125 && fabs(last.penalty - sum) < 1e-12 * sum);
  snprintf(log, sizeof log, "%s/log.jsonl", folder);
  FILE *f = fopen(log, "r");
  assert_non_null(f);
  assert_non_null(fgets(line, sizeof line, f));
  fclose(f);
  static const char *const has[] = {"\"penalty\":", "\"penalty.r3\":", "\"penalty.rand-r4\":", "\"penalty.pairing\":",
                                    "\"lambda\":0.125,", "\"lambda.rand-r4\":0.25,", "\"lambda.pairing\":0.5,"};
  for (size_t k = 0; k < sizeof has / sizeof *has; k++)
    if (!strstr(line, has[k])) fail_msg("%s is not in %s", has[k], line);
  assert_null(strstr(line, "lambda.r3"));
  r4_settings_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_pair_is_the_sum_of_its_terms),
    cmocka_unit_test(so_are_three_and_four),
    cmocka_unit_test(leading_terms_are_linear),
    cmocka_unit_test(pairs_of_texts_move_weights),
    cmocka_unit_test(terms_draw_their_own),
    cmocka_unit_test(rules_follow_from_the_parts),
    cmocka_unit_test(settings_are_those_of_all_parts),
    cmocka_unit_test(weights_go_by_name_and_by_place),
    cmocka_unit_test(names_are_as_their_parts),
    cmocka_unit_test(wrong_sums_are_a_sentence),
    cmocka_unit_test(wrong_weights_are_a_sentence),
    cmocka_unit_test(a_sum_trains_and_says_what_its_terms_do),
  };
  return cmocka_run_group_tests_name("composition", tests, scratch_make, scratch_remove);
}
