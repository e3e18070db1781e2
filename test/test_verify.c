/* Specifications of VNN-LIB: what is read, what is refused and named, and answers about a net of which they are
 * known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "certify/vnnlib.h"
#include "net_case.h"
#include "scratch.h"

static const char *write(const char *text)
{
  const char *path = scratch_path("spec.vnnlib");
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  return path;
}

#define DECLARED                                                                                                    \
  "; two inputs, two outputs\n(declare-const X_0 Real)\n(declare-const X_1 Real)\n(declare-const Y_0 Real)\n" \
  "(declare-const Y_1 Real)\n"
#define BOX "(assert (>= X_0 -1))\n(assert (<= X_0 1))\n(assert (<= 0 X_1)) (assert (>= 0.5 X_1))\n"

static void test_read(void **state)
{
  (void)state;
  r4_error e = {0};
  struct vnn_spec s;
  assert_int_equal(vnnlib_read(&s, write(DECLARED BOX "(assert (or (and (>= Y_0 Y_1) (<= Y_0 3.5)) "
                                                      "(<= (+ Y_1 (* 2 Y_0)) (- 1.5e0))))\n"
                                                      "(assert (<= (- Y_0 Y_1 1) 2)) ; the end"),
                               &e),
                   R4_OK);
  assert_int_equal(s.inputs, 2);
  assert_int_equal(s.outputs, 2);
  assert_int_equal(s.cases, 2);
  assert_int_equal(s.common.atoms, 5);
  const struct vnn_atom *a = s.atom;
  assert_true(a[0].input && !a[0].upper && a[0].index == 0 && a[0].end == -1);
  assert_true(a[1].input && a[1].upper && a[1].index == 0 && a[1].end == 1);
  assert_true(a[2].input && !a[2].upper && a[2].index == 1 && a[2].end == 0);
  assert_true(a[3].input && a[3].upper && a[3].index == 1 && a[3].end >= 0.5 && a[3].end < 0.5 + 1e-12);
  assert_int_equal(s.kase[0].atoms, 2);
  assert_int_equal(s.kase[1].atoms, 1);
  a = &s.atom[s.kase[0].atom[0]];
  assert_true(!a->input && a->coef[0] == 1 && a->coef[1] == -1 && a->rest == 0);
  a = &s.atom[s.kase[0].atom[1]];
  assert_true(a->coef[0] == -1 && a->coef[1] == 0 && a->rest >= 3.5 && a->rest < 3.5 + 1e-12);
  a = &s.atom[s.kase[1].atom[0]];
  assert_true(a->coef[0] == -2 && a->coef[1] == -1 && a->rest >= -1.5 && a->rest < -1.5 + 1e-12);
  a = &s.atom[s.common.atom[4]]; /* 2 - (Y_0 - Y_1 - 1) */
  assert_true(a->coef[0] == -1 && a->coef[1] == 1 && a->rest >= 3 && a->rest < 3 + 1e-12);
  vnnlib_free(&s);
}

static const struct {
  const char *text, *says;
} bad[] = {
  {DECLARED "(assert (< X_0 1))", ":6: \"<\" is not understood; expected <= or >=, and, or"},
  {DECLARED "(assert (= Y_0 1))", "\"=\" is not understood; expected <= or >=, and, or"},
  {DECLARED "(assert (not (<= Y_0 1)))", "\"not\" is not understood"},
  {DECLARED "(assert (<= X_0 X_1))", "relations between inputs are not supported"},
  {DECLARED "(assert (<= (* 2 X_0) 1))", "expected a number as the end of one input"},
  {DECLARED "(assert (<= X_0 Y_1))", "inputs or outputs, not both in one constraint"},
  {DECLARED "(assert (<= X_2 1))", "\"X_2\" is not understood; expected a constant that is declared before"},
  {DECLARED "(assert (<= (* Y_0 Y_1) 1))", "a number as one of two factors"},
  {DECLARED "(assert (<= 1 2))", "an input or an output in each constraint"},
  {DECLARED "(assert (<= Y_0 1)", "a closing bracket"},
  {DECLARED "(assert (<= Y_0 nan))", "\"nan\" is not understood; expected a number, X_0 or Y_0"},
  {DECLARED "(assert (<= Y_0 1e999))", "\"1e999\" is not understood"},
  {DECLARED "(assert (or))", "something in (and ..) and (or ..)"},
  {DECLARED "(check-sat)", "\"check-sat\" is not understood; expected declare-const or assert"},
  {"(declare-const X_1 Real)", "constants in order, from 0 on"},
  {"(declare-const Z_0 Real)", "X_0, X_1, .. or Y_0, Y_1, .."},
  {DECLARED "(assert (<= Y_0 1))(declare-const Y_2 Real)", "declarations before assertions"},
  {"(declare-const X_0 Real)", "declares 1 inputs and 0 outputs, expected some of both"},
};

static void test_refused(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    struct vnn_spec s;
    assert_int_equal(vnnlib_read(&s, write(bad[k].text), &e), R4_E_PARSE);
    assert_error(&e, R4_E_PARSE, bad[k].says);
  }
  r4_error e = {0};
  struct vnn_spec s;
  assert_int_equal(vnnlib_read(&s, scratch_path("nowhere.vnnlib"), &e), R4_E_IO);
}

/* ---- Answers ---- */

/* Y_0 = relu(X_0) + X_1 (X_1 >= 0), Y_1 = relu(-X_0) */
static r4_model *model(void)
{
  r4_error e = {0};
  static const float w[] = {1, 0, -1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0};
  r4_net *n = net_of("dense 3, relu, dense 2", R4_SHAPE(2));
  r4_model *m = r4_model_new(n, w, NULL, &e);
  if (!m) fail_msg("%s", e.text);
  r4_net_free(n);
  return m;
}

static void answers(const r4_model *m, const char *text, r4_verified is)
{
  r4_error e = {0};
  r4_verification v;
  if (r4_verify(m, write(text), 20, &v, &e)) fail_msg("%s", e.text);
  if (v.is != is) fail_msg("%s: %d, expected %d", text, (int)v.is, (int)is);
  assert_true((v.x != NULL) == (is == R4_VERIFY_VIOLATED) && v.inputs == 2 && v.outputs == 2 && v.seconds >= 0);
  if (v.x) {
    double y[] = {fmax(v.x[0], 0) + v.x[1], fmax(-v.x[0], 0)};
    assert_true(fabs(v.x[0]) <= 1 && v.x[1] >= 0 && v.x[1] <= 0.5 + 1e-12);
    assert_true(fabs(y[0] - v.y[0]) < 1e-12 && fabs(y[1] - v.y[1]) < 1e-12);
  }
  r4_verification_free(&v);
}

static void test_answers(void **state)
{
  (void)state;
  r4_model *m = model();
  answers(m, DECLARED BOX "(assert (>= Y_0 1.51))", R4_VERIFY_HOLDS);
  answers(m, DECLARED BOX "(assert (>= Y_0 1.4))", R4_VERIFY_VIOLATED);
  answers(m, DECLARED BOX "(assert (<= Y_0 -0.01))", R4_VERIFY_HOLDS);
  answers(m, DECLARED BOX "(assert (>= Y_1 1.01))", R4_VERIFY_HOLDS);
  answers(m, DECLARED BOX "(assert (>= (+ Y_0 Y_1) 1.51))", R4_VERIFY_HOLDS); /* |X_0| + X_1 */
  answers(m, DECLARED BOX "(assert (>= Y_0 0.6))(assert (>= Y_1 0.1))", R4_VERIFY_HOLDS); /* each alone, not both */
  answers(m, DECLARED BOX "(assert (>= Y_0 0.6))(assert (>= Y_1 0))", R4_VERIFY_VIOLATED);
  answers(m, DECLARED BOX "(assert (or (>= Y_0 1.6) (and (>= Y_1 0.9) (<= Y_0 0.1))))", R4_VERIFY_VIOLATED);
  answers(m, DECLARED BOX "(assert (or (>= Y_0 1.6) (and (>= Y_1 0.9) (<= Y_0 -0.1))))", R4_VERIFY_HOLDS);
  answers(m, DECLARED BOX "(assert (or (and (>= X_0 0.5) (<= Y_0 0.4)) (and (<= X_0 -0.5) (<= Y_1 0.4))))",
          R4_VERIFY_HOLDS);
  answers(m, DECLARED BOX "(assert (or (and (>= X_0 0.5) (<= Y_0 0.4)) (and (<= X_0 -0.3) (<= Y_1 0.4))))",
          R4_VERIFY_VIOLATED);
  answers(m, DECLARED BOX "(assert (>= X_0 2))(assert (>= Y_0 0))", R4_VERIFY_HOLDS); /* an empty box */
  r4_model_free(m);
}

static void refuses(const r4_model *m, const char *text, double seconds, r4_status s, const char *says)
{
  r4_error e = {0};
  r4_verification v;
  assert_int_equal(r4_verify(m, write(text), seconds, &v, &e), s);
  assert_error(&e, s, says);
}

static void test_bad_questions(void **state)
{
  (void)state;
  r4_model *m = model();
  refuses(m, DECLARED "(assert (>= X_0 0))(assert (<= Y_0 1))", 1, R4_E_ARGUMENT, "X_0 has no upper end");
  refuses(m, DECLARED "(assert (<= X_0 0))(assert (<= Y_0 1))", 1, R4_E_ARGUMENT, "X_0 has no lower end");
  refuses(m, DECLARED BOX, 1, R4_E_ARGUMENT, "a case has no constraint on outputs");
  refuses(m, "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (<= Y_0 1))", 1, R4_E_SHAPE,
          "declares 1 inputs and 1 outputs, the net has 2 and 2");
  refuses(m, DECLARED BOX "(assert (<= Y_0 1))", 0, R4_E_ARGUMENT, "0 seconds, expected a number above 0");
  refuses(m, DECLARED BOX "(assert (<= Y_0 1))", -1, R4_E_ARGUMENT, "-1 seconds");
  refuses(m, DECLARED BOX "(assert (<= Y_0 1))", (double)NAN, R4_E_ARGUMENT, "expected a number above 0");
  r4_model_free(m);
}

static void test_memory(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_verification v;
  r4_model *m = model();
  const char *path = write(DECLARED BOX "(assert (or (>= Y_0 1.6) (and (>= Y_1 0.9) (<= Y_0 -0.1))))");
  r4_status s = R4_E_MEMORY;
  for (long k = 1; s == R4_E_MEMORY; k += k < 60 ? 1 : 41) {
    r4_mem_fail_at(k);
    s = r4_verify(m, path, 20, &v, &e);
    r4_mem_fail_at(0);
    assert_true(s == R4_OK || s == R4_E_MEMORY);
  }
  r4_verification_free(&v);
  r4_model_free(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_read),          cmocka_unit_test(test_refused), cmocka_unit_test(test_answers),
    cmocka_unit_test(test_bad_questions), cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("verify", tests, scratch_make, scratch_remove);
}
