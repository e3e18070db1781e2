/* Specifications of VNN-LIB: what is read, what is refused and named, and answers about a net of which they are
 * known. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "certify/box.h"
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

static size_t put(char *to, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int n = vsnprintf(to, 500, format, args);
  va_end(args);
  assert_true(n > 0 && n < 500);
  return (size_t)n;
}

static bool is(struct vnn_number v, double one)
{
  return v.lo == one && v.hi == one;
}

static bool is_near(struct vnn_number v, double from, double to)
{
  return v.lo < from && v.hi > to && v.lo > from - 1e-12 && v.hi < to + 1e-12;
}

/* a Y_0 + b Y_1 + rest */
static bool is_sum(const struct vnn_atom *atom, double a, double b, double rest)
{
  double want[] = {a, b};
  bool all = !atom->input && atom->rest.lo == rest;
  for (size_t k = 0; k < atom->parts; k++) all &= is(atom->part[k].factor, want[atom->part[k].index]);
  return all;
}

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
  assert_true(a[0].input && !a[0].upper && a[0].part->index == 0 && is(a[0].rest, -1));
  assert_true(a[1].input && a[1].upper && a[1].part->index == 0 && is(a[1].rest, 1));
  assert_true(a[2].input && !a[2].upper && a[2].part->index == 1 && is(a[2].rest, 0));
  assert_true(a[3].input && a[3].upper && a[3].part->index == 1 && is(a[3].rest, 0.5));
  assert_int_equal(s.kase[0].atoms, 2);
  assert_int_equal(s.kase[1].atoms, 1);
  assert_true(is_sum(&s.atom[s.kase[0].atom[0]], 1, -1, 0));
  assert_true(is_sum(&s.atom[s.kase[0].atom[1]], -1, 0, 3.5));
  a = &s.atom[s.kase[1].atom[0]];
  assert_true(is_sum(a, -2, -1, a->rest.lo) && a->rest.lo < -1.5 && a->rest.hi > -1.5 && a->rest.hi < -1.5 + 1e-12);
  assert_true(is_sum(&s.atom[s.common.atom[4]], -1, 1, 3)); /* 2 - (Y_0 - Y_1 - 1) */
  vnnlib_free(&s);
}

/* What is not a double is between two; and stays so, however it is computed. */
static void test_numbers(void **state)
{
  (void)state;
  r4_error e = {0};
  struct vnn_spec s;
  char tenths[5000], digits[200], *at = tenths + put(tenths, DECLARED "(assert (>= (+");
  for (int k = 0; k < 100; k++) at += put(at, " (* 0.1 Y_0)");
  at += put(at, ") (- (* 3 0.5) -0.25)))(assert (<= (* 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 10000000000) Y_1))");
  memset(digits, '3', sizeof digits), digits[sizeof digits - 1] = 0;
  at += put(at, "(assert (<= Y_0 0.%s))(assert (<= Y_0 1e-1))(assert (<= -000.10 Y_0))", digits);
  put(at, "(assert (>= (* 94906267 94906267 Y_0) 1))"); /* more than 2^53, and odd */
  assert_int_equal(vnnlib_read(&s, write(tenths), &e), R4_OK);
  assert_int_equal(s.common.atoms, 6);
  struct vnn_number odd = s.atom[5].part->factor;
  assert_true(odd.lo < 9007199515875288 && odd.hi > 9007199515875290 && odd.hi - odd.lo < 32);
  assert_true(is_near(s.atom[0].part->factor, 10, 10) && is(s.atom[0].rest, -1.75));
  assert_true(is(s.atom[1].part->factor, 1) && is_near(s.atom[1].rest, -1, -1));
  assert_true(is_near(s.atom[2].rest, 1 / 3.0, 1 / 3.0));
  assert_true(is_near(s.atom[3].rest, 0.1, 0.1) && is_near(s.atom[4].rest, 0.1, 0.1));
  vnnlib_free(&s);
}

/* Lists are joined in as many steps as they have elements. */
static void test_long_lists(void **state)
{
  (void)state;
  r4_error e = {0};
  struct vnn_spec s;
  enum { CASES = 2000 };
  char *text = calloc(400000, 1), *at = text + put(text, DECLARED "(assert (or ");
  for (int k = 0; k < CASES; k++) at += put(at, "(and (<= Y_0 1) (>= Y_1 2) (<= X_0 %d))", k);
  put(at, "))(assert (and (<= Y_0 1) (or (<= Y_1 3) (<= X_1 7))))");
  const char *path = write(text);
  r4_mem_fail_at(0);
  assert_int_equal(vnnlib_read(&s, path, &e), R4_OK);
  assert_true(r4_mem_count() < 20 * CASES);
  assert_int_equal(s.cases, 2 * CASES);
  for (size_t k = 0; k < s.cases; k++) {
    assert_int_equal(s.kase[k].atoms, 5);
    assert_true(s.atom[s.kase[k].atom[2]].rest.lo == (double)(k / 2) && s.atom[s.kase[k].atom[4]].input == k % 2);
  }
  vnnlib_free(&s);
  at = text + put(text, DECLARED "(assert (and (or");
  for (int k = 0; k < 4096; k++) at += put(at, "(<= Y_0 %d)", k);
  at += put(at, ")(and");
  for (int k = 0; k < 9000; k++) at += put(at, "(<= Y_1 1)");
  put(at, ")))");
  assert_int_equal(vnnlib_read(&s, write(text), &e), R4_E_PARSE);
  assert_error(&e, R4_E_PARSE, "fewer constraints in all cases");
  at = text + put(text, DECLARED "(assert (or (and (<= Y_0 1) (<= Y_0 2))");
  for (int k = 0; k < 4096; k++) at += put(at, "(<= Y_0 %d)", k);
  put(at, "))");
  assert_int_equal(vnnlib_read(&s, write(text), &e), R4_E_PARSE);
  assert_error(&e, R4_E_PARSE, "at most 4096 cases");
  free(text);
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
  {DECLARED "(assert (<= Y_0 1)", ":6: the file ends here; expected a closing bracket"},
  {DECLARED "(assert (or (<= Y_0 1)\n(<= Y_1 1\n2)))", ":8: \"2\" is not understood; expected a closing bracket"},
  {DECLARED "(assert (<= (* 1e200 (* 1e200 Y_0)) 1))", "numbers that are not so large"},
  {DECLARED "(assert (>= (* 1e200 (* 1e200 Y_0)) 1))", "numbers that are not so large"},
  {DECLARED "(assert (<= (+ 1e308 1e308 Y_0) 1))", "numbers that are not so large"},
  {DECLARED "(assert (<= (+ (* 1e308 Y_0) (* 1e308 Y_0)) 1))", "numbers that are not so large"},
  {DECLARED "(assert (<= (* 0 X_0) 1))", "expected a number as the end of one input"},
  {DECLARED "(assert (<= Y_0 1..5))", "\"1..5\" is not understood; expected a number"},
  {DECLARED "(assert (<= Y_0 nan))", "\"nan\" is not understood; expected a number, X_0 or Y_0"},
  {DECLARED "(assert (<= Y_0 1e999))", "\"1e999\" is not understood"},
  {DECLARED "(assert (or))", "something in (and ..) and (or ..)"},
  {DECLARED "(check-sat)", "\"check-sat\" is not understood; expected declare-const or assert"},
  {"(declare-const X_0 Real)(declare-const X_01 Real)", "\"X_01\" is not understood; expected X_0, X_1"},
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
  static const char zero[] = DECLARED "(assert (<= Y_0 1))\n\0(assert (<= Y_1 1))";
  assert_int_equal(vnnlib_parse(&s, "name", zero, sizeof zero - 1, &e), R4_E_PARSE);
  assert_error(&e, R4_E_PARSE, "name:7: has a zero byte, expected text");
  char word[3000] = DECLARED "(assert (<= Y_0 ";
  memset(word + strlen(word), '1', 2500);
  assert_int_equal(vnnlib_parse(&s, "name", word, strlen(word), &e), R4_E_PARSE);
  assert_error(&e, R4_E_PARSE, "is not understood; expected words of fewer than 2047 characters");
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

static void answers_in(const r4_model *m, const char *text, double seconds, r4_verified is)
{
  r4_error e = {0};
  r4_verification v;
  if (r4_verify(m, write(text), seconds, &v, &e)) fail_msg("%s", e.text);
  if (v.is != is) fail_msg("%s: %d, expected %d", text, (int)v.is, (int)is);
  assert_true((v.x != NULL) == (is == R4_VERIFY_VIOLATED) && v.inputs == 2 && v.outputs == 2 && v.seconds >= 0);
  if (v.x) {
    double y[] = {fmax(v.x[0], 0) + v.x[1], fmax(-v.x[0], 0)};
    assert_true(fabs(v.x[0]) <= 1 && v.x[1] >= 0 && v.x[1] <= 0.5);
    assert_true(fabs(y[0] - v.y[0]) < 1e-12 && fabs(y[1] - v.y[1]) < 1e-12);
  }
  r4_verification_free(&v);
}

static void answers(const r4_model *m, const char *text, r4_verified is)
{
  answers_in(m, text, 20, is);
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
  answers(m, DECLARED "(assert (<= X_0 -0.5))" BOX "(assert (>= Y_0 0.6))", R4_VERIFY_HOLDS); /* the nearer end */
  answers(m, DECLARED "(assert (>= X_0 0.5))" BOX "(assert (<= Y_0 0.4))", R4_VERIFY_HOLDS);
  answers_in(m, DECLARED BOX "(assert (>= Y_0 1.5000001))", 0.2, R4_VERIFY_UNKNOWN); /* less than is claimed */
  answers(m, DECLARED BOX "(assert (>= X_0 2))(assert (>= Y_0 0))", R4_VERIFY_HOLDS); /* an empty box */
  r4_model_free(m);
}

/* A point is in the box of the file, whose 0.1 is a little less than the double next to it; where the box is one
 * decimal there is none, and that double is taken. */
static void test_point_in_box(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_verification v;
  r4_model *m = model();
  static const char box[] = DECLARED "(assert (>= X_0 -1))(assert (<= X_0 0.1))(assert (<= X_1 0.3))";
  char text[500];
  put(text, "%s(assert (>= X_1 0))(assert (>= Y_0 0.39))", box);
  if (r4_verify(m, write(text), 20, &v, &e)) fail_msg("%s", e.text);
  assert_int_equal(v.is, R4_VERIFY_VIOLATED);
  assert_true(v.x[0] < 0.1 && v.x[1] <= 0.3 && v.y[0] >= 0.39);
  r4_verification_free(&v);
  put(text, "%s(assert (>= X_1 0.3))(assert (>= Y_0 0.39))", box);
  if (r4_verify(m, write(text), 20, &v, &e)) fail_msg("%s", e.text);
  assert_int_equal(v.is, R4_VERIFY_VIOLATED);
  assert_true(fabs(v.x[1] - 0.3) < 1e-16);
  r4_verification_free(&v);
  r4_model_free(m);
}

/* 1000 tenths of an output are at least this. */
static void tenths_are(const r4_model *m, char *text, const char *output, const char *least, r4_verified is)
{
  r4_error e = {0};
  r4_verification v;
  char *at = text + put(text, "%s(assert (>= (+", DECLARED BOX);
  for (int k = 0; k < 1000; k++) at += put(at, " (* 0.1 %s)", output);
  put(at, ") %s))", least);
  if (r4_verify(m, write(text), 20, &v, &e)) fail_msg("%s", e.text);
  if (v.is != is) fail_msg("%s, %s: %d, expected %d", output, least, (int)v.is, (int)is);
  assert_true(is == R4_VERIFY_VIOLATED ? v.x && v.y : !v.x && !v.y);
  r4_verification_free(&v);
}

/* Y_0 is about 2^40, and 1000 tenths of it are a hundred: with the sum of as many doubles it is 1.5 less. */
static void test_factors_mean_what_they_say(void **state)
{
  (void)state;
  r4_error e = {0};
  static const float w[] = {0, 0, 0, 0, 0x1.000004p40F, -0x1.000002p40F};
  r4_net *n = net_of("dense 2", R4_SHAPE(2));
  r4_model *m = r4_model_new(n, w, NULL, &e);
  char text[15000];
  tenths_are(m, text, "Y_0", "109951188992000", R4_VERIFY_UNKNOWN);
  tenths_are(m, text, "Y_0", "109951188992100", R4_VERIFY_HOLDS);
  tenths_are(m, text, "Y_0", "109951188991900", R4_VERIFY_VIOLATED);
  tenths_are(m, text, "Y_1", "-109951175884800", R4_VERIFY_UNKNOWN);
  tenths_are(m, text, "Y_1", "-109951175884700", R4_VERIFY_HOLDS);
  r4_model_free(m);
  r4_net_free(n);
}

/* Boxes that are left when time is over are not looked at. */
static void test_time_is_of_all_boxes(void **state)
{
  (void)state;
  r4_model *m = model();
  char *text = calloc(20000, 1), *at = text + put(text, "%s(assert (or ", DECLARED BOX);
  for (int k = 0; k < 300; k++) at += put(at, "(and (<= X_0 0.%03d) (>= Y_0 2))", k);
  put(at, "))");
  r4_mem_fail_at(0);
  answers_in(m, text, 20, R4_VERIFY_HOLDS);
  long all = r4_mem_count();
  r4_mem_fail_at(0);
  answers_in(m, text, 1e-9, R4_VERIFY_UNKNOWN);
  assert_true(r4_mem_count() < all / 2);
  free(text);
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
  char many[2000], *at = many + put(many, DECLARED BOX "(assert (and");
  for (int k = 0; k < 17; k++) at += put(at, " (<= Y_0 1)");
  put(at, "))");
  refuses(m, many, 1, R4_E_ARGUMENT, "a case has 17 constraints on outputs, expected at most 16");
  refuses(m, DECLARED BOX "(assert (<= Y_0 1))", 0, R4_E_ARGUMENT, "0 seconds, expected a number above 0");
  refuses(m, DECLARED BOX "(assert (<= Y_0 1))", -1, R4_E_ARGUMENT, "-1 seconds");
  refuses(m, DECLARED BOX "(assert (<= Y_0 1))", (double)NAN, R4_E_ARGUMENT, "expected a number above 0");
  r4_model_free(m);
}

/* What is written is the box to the last digit. */
static void test_saved_ends(void **state)
{
  (void)state;
  r4_error e = {0};
  struct box b;
  double lo[2], hi[2];
  const float x[] = {0.2F, 1e-20F}, mask[] = {1, 0};
  r4_model *m = model();
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = 1, .shape = {1, {2}}, .floats = x, .labels = (int32_t[]){0},
                                             .classes = 2, .mask_floats = mask, .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  const r4_certify_options o = {.eps = "0.2"};
  const char *path = scratch_path("saved.vnnlib");
  if (r4_vnnlib_save(r4_model_net(m), d, 0, 0, &o, path, &e)) fail_msg("%s", e.text);
  assert_int_equal(box_read(&b, "0.2", NULL, NULL, &e), R4_OK);
  box_ends(&b, 2, x, mask, lo, hi);
  uint8_t *bytes;
  size_t size;
  assert_int_equal(file_read(path, 1 << 20, &bytes, &size, &e), R4_OK);
  for (int k = 0; k < 4; k++) {
    char want[1500];
    snprintf(want, sizeof want, "(assert (%s X_%d %.1074f", k % 2 ? "<=" : ">=", k / 2, (k % 2 ? hi : lo)[k / 2]);
    size_t n = strlen(want);
    while (want[n - 1] == '0') n--;
    snprintf(want + n, sizeof want - n, "))\n");
    assert_non_null(strstr((char *)bytes, want));
  }
  r4_mem_free(bytes);
  r4_data_free(d);
  r4_model_free(m);
}

/* Images have their channels first, and a net of one output says a class by its sign. */
static void test_saved_order(void **state)
{
  (void)state;
  r4_error e = {0};
  const float x[] = {0, 1, 2, 3, 4, 5, 6, 7}; /* two by two pixels of two channels */
  r4_net *n = net_of("flatten, dense 1", R4_SHAPE(2, 2, 2));
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = 1, .shape = {3, {2, 2, 2}}, .floats = x, .labels = (int32_t[]){0},
                                             .classes = 2},
                           &e);
  if (!d) fail_msg("%s", e.text);
  const r4_certify_options o = {.eps = "0.2"};
  const char *path = scratch_path("saved.vnnlib");
  for (int32_t own = 0; own < 2; own++) {
    struct vnn_spec s;
    if (r4_vnnlib_save(n, d, 0, own, &o, path, &e)) fail_msg("%s", e.text);
    assert_int_equal(vnnlib_read(&s, path, &e), R4_OK);
    assert_true(s.inputs == 8 && s.outputs == 1 && s.common.atoms == 17);
    for (size_t k = 0; k < 16; k++) assert_true(is(s.atom[k].rest, (double)(k / 2 % 4 * 2 + k / 8)));
    const struct vnn_atom *out = &s.atom[16];
    assert_true(!out->input && is(out->rest, 0) && is(out->part[0].factor, own ? -1 : 1));
    vnnlib_free(&s);
  }
  r4_data_free(d);
  r4_net_free(n);
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
    cmocka_unit_test(test_read),
    cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_long_lists),
    cmocka_unit_test(test_refused),
    cmocka_unit_test(test_answers),
    cmocka_unit_test(test_point_in_box),
    cmocka_unit_test(test_factors_mean_what_they_say),
    cmocka_unit_test(test_time_is_of_all_boxes),
    cmocka_unit_test(test_bad_questions),
    cmocka_unit_test(test_saved_ends),
    cmocka_unit_test(test_saved_order),
    cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("verify", tests, scratch_make, scratch_remove);
}
