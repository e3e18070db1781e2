/* Training on texts, from an npz file to answers. Without masks a net learns the decoy; with R3 on the masked token it
 * does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "decoy_text_case.h"

enum { TEST = TEXT_TEST, TRAIN = TEXT_TRAIN, CLASSES = 2 };

/* ---- Training ---- */

static r4_model *trained(const char *method)
{
  r4_error e = {0};
  char file[300], run[300], data[320];
  snprintf(file, sizeof file, "%s", scratch_path("texts.npz"));
  snprintf(run, sizeof run, "%s", scratch_path(method));
  snprintf(data, sizeof data, "data=%s", file);
  const char *const set[] = {
    data,
    "data.mask_means=irrelevant",
    "data.val=0",
    "select=last",
    "net=bert(layers=1, width=8, heads=2, inner=8, words=16, positions=8, drop=0, pool=mean)",
    method,
    "lambda=100",
    "explain=margin",
    "epochs=15",
    "batch=25",
    "rate=0.01"};
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set; k++)
    if (r4_settings_set(s, set[k], set[k], &e)) fail_msg("%s", e.text);
  if (r4_train(s, &(r4_train_options){.folder = run}, NULL, &e)) fail_msg("%s: %s", method, e.text);
  strncat(run, "/model.safetensors", sizeof run - strlen(run) - 1);
  r4_model *m = r4_model_open(run, NULL, &e);
  if (!m) fail_msg("%s", e.text);
  r4_settings_free(s);
  return m;
}

/* ---- Asking ---- */

/* Probabilities of class 1 of the test texts, with one decoy or the other. */
static void ask(const r4_model *m, bool flip, double p[TEST])
{
  r4_error e = {0};
  static float all[TEST][CLASSES];
  r4_data *d = decoy_text_case(flip), *test = r4_data_part(d, R4_TEST, &e);
  assert_int_equal(r4_data_count(test), TEST);
  if (r4_predict(r4_model_net(m), r4_model_weights(m), test, 50, all[0], &e)) fail_msg("%s", e.text);
  for (size_t i = 0; i < TEST; i++) p[i] = (double)all[i][1];
  r4_data_free(test);
  r4_data_free(d);
}

struct findings {
  double right;   /* share of the test texts */
  double swayed;  /* how far the decoy moves the probability, on average */
  double changed; /* share of the answers that the decoy changes */
};

static struct findings look_at(r4_model *m)
{
  struct findings f = {0};
  double p[TEST], q[TEST];
  ask(m, false, p);
  ask(m, true, q);
  for (size_t i = 0; i < TEST; i++) {
    f.right += ((p[i] > .5) == ((TRAIN + i) % CLASSES == 1)) / (double)TEST;
    f.swayed += fabs(p[i] - q[i]) / TEST;
    f.changed += ((p[i] > .5) != (q[i] > .5)) / (double)TEST;
  }
  r4_model_free(m);
  print_message("# right %.3f, swayed %.3f, changed %.3f\n", f.right, f.swayed, f.changed);
  return f;
}

static void decoys_lose_their_influence(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = decoy_text_case(false);
  if (r4_data_save(d, scratch_path("texts.npz"), &e)) fail_msg("%s", e.text);
  r4_data_free(d);
  struct findings erm = look_at(trained("method=erm")), r3 = look_at(trained("method=r3"));
  assert_true(erm.right < .8 && erm.swayed > .4);
  assert_true(r3.right > erm.right + .1);
  assert_true(r3.swayed < erm.swayed / 2 && r3.changed < erm.changed / 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(decoys_lose_their_influence)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("training on texts", tests, scratch_make, scratch_remove);
}
