/* Methods that replace words, on a small BERT, against PyTorch's values in test/golden/words.txt: logits, explanations,
 * the quantity of each text, the derivative of the objective with respect to all weights, and which words a search
 * chooses; all in double. */
#include <string.h>

#include "golden_texts.h"

static struct golden_texts *open_words(const char *method)
{
  struct golden_texts *f = golden_texts_new("words", method);
  f->options.samples = (int)golden_texts_number(f, "samples");
  f->options.alpha = golden_texts_number(f, "alpha");
  f->options.tau = golden_texts_number(f, "tau");
  f->options.delta = golden_texts_number(f, "delta");
  return f;
}

/* The words that the search puts in the texts. */
static void check_ids(struct golden_texts *f, const char *what)
{
  struct draws drawn = {0};
  struct objective o = {.g = f->g, .net = f->net, .param = f->param, .options = &f->options, .drawn = &drawn};
  objective_inputs(&o);
  r4_id found = word_adv_find(&o);
  struct runner *r = golden_texts_run(f, 1, &found);
  const golden_tensor *ids = golden_texts_tensor(f, what, "ids");
  for (size_t k = 0; k < ids->count; k++)
    if (r->out[0][k] != ids->value[k])
      fail_msg("%s token %zu is %g, expected %g", what, k, r->out[0][k], ids->value[k]);
  runner_free(r);
}

/* ---- Tests ---- */

static void test_logits_and_explanations(void **state)
{
  (void)state;
  struct golden_texts *f = open_words("erm");
  struct draws drawn = {0};
  struct objective o = {.g = f->g, .net = f->net, .param = f->param, .options = &f->options, .drawn = &drawn};
  objective_inputs(&o);
  struct runner *r =
    golden_texts_run(f, 2, (const r4_id[]){view_logits(&o, view_clean(&o)), objective_explain_examples(&o)});
  golden_texts_compare(f, r, 0, "z", "");
  golden_texts_compare(f, r, 1, "g", "");
  runner_free(r);
  golden_texts_free(f);
}

static void check_method(const char *method, const char *what)
{
  struct golden_texts *f = open_words(method);
  f->options.element_max = !strcmp(what, "element.");
  f->options.filled = !strncmp(what, "fill", 4);
  golden_texts_check(f, what);
  golden_texts_free(f);
}

static void test_r3(void **state)
{
  (void)state;
  check_method("r3", "r3.");
}

/* The data term looks at other texts than the penalty. */
static void test_fill(void **state)
{
  (void)state;
  check_method("fill", "fill.");
  check_method("r3", "filled.");
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

static void check_search(const char *what, r4_form form, bool screens)
{
  struct golden_texts *f = open_words("word-adv-r4");
  golden_texts_take_list(f);
  f->options.candidates = screens ? (int)golden_texts_number(f, "candidates") : 0;
  f->options.form = form;
  check_ids(f, screens ? "screened." : "adv.");
  golden_texts_check(f, what);
  golden_texts_free(f);
}

static void test_adv(void **state)
{
  (void)state;
  check_search("adv.", R4_FORM_LINEAR, false);
}

static void test_adv_forms(void **state)
{
  (void)state;
  check_search("adv_log.", R4_FORM_LOG, false);
  check_search("adv_target.", R4_FORM_TARGET, false);
}

static void test_adv_screened(void **state)
{
  (void)state;
  check_search("screened.", R4_FORM_LINEAR, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_logits_and_explanations),
    cmocka_unit_test(test_r3),
    cmocka_unit_test(test_fill),
    cmocka_unit_test(test_smooth),
    cmocka_unit_test(test_rand),
    cmocka_unit_test(test_adv),
    cmocka_unit_test(test_adv_forms),
    cmocka_unit_test(test_adv_screened),
  };
  return cmocka_run_group_tests_name("words against PyTorch", tests, NULL, NULL);
}
