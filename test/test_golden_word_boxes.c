/* IBP-Ex and Cert-R4 on texts, with boxes of eps and of all words of a list, against PyTorch's values in
 * test/golden/word_boxes_*.txt: bounds of logits and of explanations, the quantity of each text, and the derivative of
 * the objective with respect to all weights; of nets with a mean over tokens and windows of them, and of a small BERT;
 * all in double. */
#include <stdio.h>

#include "golden_texts.h"

enum box { EPS, WORDS };
static const char *const box_name[] = {"eps", "words"};

static struct golden_texts *open_boxes(const char *file, const char *method, enum box box)
{
  struct golden_texts *f = golden_texts_new(file, method);
  f->options.eps = golden_texts_number(f, box == WORDS ? "share" : "eps");
  f->options.word_box = box == WORDS;
  if (box == WORDS) golden_texts_take_list(f);
  return f;
}

static void check_bounds(const char *file, enum box box)
{
  char what[20];
  struct golden_texts *f = open_boxes(file, "cert-r4", box);
  struct draws drawn = {0};
  struct objective o = {.g = f->g, .net = f->net, .param = f->param, .options = &f->options, .drawn = &drawn};
  objective_inputs(&o);
  struct view v = view_clean(&o);
  r4_pair z = view_bounds(&o, BOUND_BY_INTERVALS, v, view_logits(&o, v), view_radius(&o));
  r4_pair g = objective_explain_bounds(&o, BOUND_BY_INTERVALS, view_radius(&o));
  struct runner *r = golden_texts_run(f, 4, (const r4_id[]){z.lo, z.hi, g.lo, g.hi});
  snprintf(what, sizeof what, "%s.", box_name[box]);
  golden_texts_compare(f, r, 0, what, "lo");
  golden_texts_compare(f, r, 1, what, "hi");
  golden_texts_compare(f, r, 2, what, "glo");
  golden_texts_compare(f, r, 3, what, "ghi");
  runner_free(r);
  golden_texts_free(f);
}

static void check_method(const char *file, const char *method, const char *name, enum box box)
{
  char what[20];
  struct golden_texts *f = open_boxes(file, method, box);
  snprintf(what, sizeof what, "%s.%s.", name, box_name[box]);
  golden_texts_check(f, what);
  golden_texts_free(f);
}

static void check(const char *file)
{
  for (enum box box = EPS; box <= WORDS; box++) {
    check_bounds(file, box);
    check_method(file, "ibp-ex", "ibp", box);
    check_method(file, "cert-r4", "cert", box);
  }
}

static void test_mean(void **state)
{
  (void)state;
  check("word_boxes_mean");
}

static void test_conv(void **state)
{
  (void)state;
  check("word_boxes_conv");
}

static void test_bert(void **state)
{
  (void)state;
  check("word_boxes_bert");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean), cmocka_unit_test(test_conv),
                                     cmocka_unit_test(test_bert)};
  return cmocka_run_group_tests_name("boxes of words against PyTorch", tests, NULL, NULL);
}
