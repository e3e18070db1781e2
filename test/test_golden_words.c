/* Methods that replace words, on a small BERT, against PyTorch's values in test/golden/words.txt: logits, explanations,
 * the quantity of each text, the derivative of the objective with respect to all weights, and which words a search
 * chooses; all in double. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "golden.h"
#include "objective/words.h"

enum { PARAMS = 32, LISTED = 16 };

static const double TOLERANCE = 1e-9;

struct fixture {
  golden *gold;
  r4_net *net;
  r4_graph *g;
  r4_id param[PARAMS];
  float list[LISTED];
  r4_objective_options options;
};

static const golden_tensor *tensor(const struct fixture *f, const char *what, const char *name)
{
  char full[200];
  snprintf(full, sizeof full, "%s%s", what, name);
  const golden_tensor *t = golden_find(f->gold, full);
  if (!t) fail_msg("words.txt has no tensor %s", full);
  return t;
}

static double number(const struct fixture *f, const char *name)
{
  double v = 0;
  if (golden_numbers(f->gold, name, 1, &v) != 1) fail_msg("words.txt has no number %s", name);
  return v;
}

static struct fixture *fixture_new(const char *method)
{
  r4_error e;
  char path[300], error[GOLDEN_ERROR_SIZE];
  const char *folder = getenv("R4_TEST_DIR");
  struct fixture *f = calloc(1, sizeof *f);
  snprintf(path, sizeof path, "%s/golden/words.txt", folder ? folder : "test");
  if (!(f->gold = golden_read(path, error))) fail_msg("%s", error);
  const golden_tensor *x = tensor(f, "x", ""), *list = tensor(f, "list", "");
  f->net = r4_net_open(golden_text(f->gold, "net"), R4_SHAPE(x->dim[1]), &e);
  if (!f->net) fail_msg("%s", e.text);
  f->g = r4_graph_new();
  assert_true(r4_net_params(f->net) <= PARAMS && list->count <= LISTED);
  for (size_t k = 0; k < list->count; k++) f->list[k] = (float)list->value[k];
  r4_net_inputs(f->net, f->g, f->param);
  f->options = (r4_objective_options){.method = method,
                                      .batch = x->dim[0],
                                      .lambda = 1,
                                      .lengths = true,
                                      .samples = (int)number(f, "samples"),
                                      .steps = (int)x->dim[1],
                                      .alpha = number(f, "alpha")};
  return f;
}

static void fixture_free(struct fixture *f)
{
  r4_graph_free(f->g);
  r4_net_free(f->net);
  golden_free(f->gold);
  free(f);
}

static void take_list(struct fixture *f, int candidates)
{
  f->options.words = f->list;
  f->options.word_count = tensor(f, "list", "")->count;
  f->options.candidates = candidates;
}

/* Runs with all inputs of the file. The caller frees the runner. */
static struct runner *run(const struct fixture *f, size_t n, const r4_id *out)
{
  const char *why;
  if (r4_graph_status(f->g, &why)) fail_msg("%s", why);
  struct runner *r = runner_new(f->g, n, out, FAST64);
  for (size_t k = 0; k < r->n_in; k++) {
    const golden_tensor *t = tensor(f, r->name[k], "");
    assert_int_equal(t->count, r->in_count[k]);
    memcpy(r->in[k], t->value, t->count * sizeof *t->value);
  }
  runner_run(r);
  return r;
}

static void compare(const struct fixture *f, const struct runner *r, size_t k, const char *what,
                    const char *name)
{
  const golden_tensor *t = tensor(f, what, name);
  assert_int_equal(t->count, r->out_count[k]);
  assert_close(t->name, r->out[k], t->value, t->count, TOLERANCE, 1);
}

/* The method called "what." in the file. */
static void check(struct fixture *f, const char *what)
{
  enum { EACH, LOSS, GRADIENTS };
  char gradient[40];
  r4_id out[GRADIENTS + PARAMS];
  r4_objective o = r4_objective_build(f->g, f->net, f->param, &f->options);
  size_t params = r4_net_params(f->net);
  out[EACH] = o.each;
  out[LOSS] = o.loss;
  r4_grad(f->g, o.loss, params, f->param, out + GRADIENTS);
  struct runner *r = run(f, GRADIENTS + params, out);
  compare(f, r, EACH, what, "each");
  compare(f, r, LOSS, what, "loss");
  snprintf(gradient, sizeof gradient, "%sgrad.", what);
  for (size_t k = 0; k < params; k++) compare(f, r, GRADIENTS + k, gradient, r4_net_param_name(f->net, k));
  runner_free(r);
}

/* The words that the search puts in the texts. */
static void check_ids(struct fixture *f, const char *what)
{
  struct draws drawn = {0};
  struct objective o = {.g = f->g, .net = f->net, .param = f->param, .options = &f->options, .drawn = &drawn};
  objective_inputs(&o);
  r4_id found = word_adv_find(&o);
  struct runner *r = run(f, 1, &found);
  const golden_tensor *ids = tensor(f, what, "ids");
  for (size_t k = 0; k < ids->count; k++)
    if (r->out[0][k] != ids->value[k])
      fail_msg("%s token %zu is %g, expected %g", what, k, r->out[0][k], ids->value[k]);
  runner_free(r);
}

/* ---- Tests ---- */

static void test_logits_and_explanations(void **state)
{
  (void)state;
  struct fixture *f = fixture_new("erm");
  struct draws drawn = {0};
  struct objective o = {.g = f->g, .net = f->net, .param = f->param, .options = &f->options, .drawn = &drawn};
  objective_inputs(&o);
  struct runner *r =
    run(f, 2, (const r4_id[]){view_logits(&o, view_clean(&o)), objective_explain_examples(&o)});
  compare(f, r, 0, "z", "");
  compare(f, r, 1, "g", "");
  runner_free(r);
  fixture_free(f);
}

static void check_method(const char *method, const char *what)
{
  struct fixture *f = fixture_new(method);
  f->options.element_max = !strcmp(what, "element.");
  check(f, what);
  fixture_free(f);
}

static void test_r3(void **state)
{
  (void)state;
  check_method("r3", "r3.");
}

static void test_smooth(void **state)
{
  (void)state;
  check_method("word-smooth-r3", "smooth.");
}

static void test_rand(void **state)
{
  (void)state;
  check_method("word-rand-r4", "rand.");
  check_method("word-rand-r4", "element.");
}

static void check_search(const char *what, bool screens)
{
  struct fixture *f = fixture_new("word-adv-r4");
  take_list(f, screens ? (int)number(f, "candidates") : 0);
  check_ids(f, what);
  check(f, what);
  fixture_free(f);
}

static void test_adv(void **state)
{
  (void)state;
  check_search("adv.", false);
}

static void test_adv_screened(void **state)
{
  (void)state;
  check_search("screened.", true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_logits_and_explanations),
    cmocka_unit_test(test_r3),
    cmocka_unit_test(test_smooth),
    cmocka_unit_test(test_rand),
    cmocka_unit_test(test_adv),
    cmocka_unit_test(test_adv_screened),
  };
  return cmocka_run_group_tests_name("words against PyTorch", tests, NULL, NULL);
}
