/* r4-check: files that were changed, or never were what they should be, are refused; and the program. */
#include "command.h"
#include "checker_case.h"

/* ---- Files ---- */

static struct certificate_case small(void)
{
  static const float x[] = {3, 1, 2, 1, 5, 0};
  static const float mask[] = {1, 0, 0, 1, 1, 1};
  struct certificate_case c = two;
  c.n = 3;
  c.x = x;
  c.mask = mask;
  memcpy(c.line, (struct case_line[]){{0, 0, 0.5}, {1, 0, 0}, {0, 0, 3}}, 3 * sizeof *c.line);
  return c;
}

/* No bit of any file can change. */
static void test_every_bit(void **state)
{
  (void)state;
  struct certificate_case c = small();
  assert_int_equal(check_case(&c), HOLDS);
  for (int which = 0; which < CASE_FILES; which++)
    for (size_t bit = 0; bit < 8 * last[which].n; bit++) {
      last[which].at[bit / 8] ^= (uint8_t)(1 << bit % 8);
      if (check_files(last) != REFUSED) fail_msg("file %d: bit %zu may change", which, bit);
      last[which].at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
  assert_int_equal(check_files(last), HOLDS);
}

static void test_every_length(void **state)
{
  (void)state;
  struct certificate_case c = small();
  assert_int_equal(check_case(&c), HOLDS);
  for (int which = 0; which < CASE_FILES; which++) {
    size_t n = last[which].n;
    for (last[which].n = 0; last[which].n < n; last[which].n++)
      if (check_files(last) != REFUSED) fail_msg("file %d: may end after %zu bytes", which, last[which].n);
    last[which].at = realloc(last[which].at, n + 1);
    last[which].at[last[which].n++] = '\n';
    if (check_files(last) != REFUSED) fail_msg("file %d: may go on", which);
    last[which].n = n;
  }
}

/* Texts with a correct checksum: from becomes to. */
static int check_with(const char *from, const char *to)
{
  char text[4000];
  struct certificate_case c = small();
  case_certificate(&c, last);
  const char *all = (char *)last[CASE_CERTIFICATE].at, *at = strstr(all, from);
  if (!at) fail_msg("no %s in\n%s", from, all);
  size_t end = (size_t)(strstr(all, "sha256 ") - all), before = (size_t)(at - all);
  size_t rest = end - before - strlen(from);
  snprintf(text, sizeof text, "%.*s%s%.*s", (int)before, all, to, (int)rest, at + strlen(from));
  case_seal(text, &last[CASE_CERTIFICATE]);
  return check_files(last);
}

/* What a line may not become. */
static const char *const bad_line[][2] = {
  {"r4-certificate 1", "r4-certificate 2"},
  {"r4-certificate 1\n", ""},
  {"program r4 0.1.0\n", ""},
  {"program r4 0.1.0\n", "program r4 0.1.0\nprogram r4 0.1.0\n"},
  {"claim box\nsemantics real\n", "semantics real\nclaim box\n"},
  {"claim box", "claim boxes"},
  {"claim box", "claim words"},
  {"claim box", "claim cover"},
  {"semantics real", "semantics unreal"},
  {"eps 0.5\n", ""},
  {"eps 0.5\n", "eps 0.5\neps 0.5\n"},
  {"eps 0.5\n", "eps -0.5\n"},
  {"eps 0.5\n", "eps 0.5f\n"},
  {"eps 0.5\n", "eps \n"},
  {"eps 0.5\n", "eps .\n"},
  {"eps 0.5\n", "eps 0.5 \n"},
  {"eps 0.5\n", "eps  0.5\n"},
  {"eps 0.5\n", "eps 0x1p-1\n"},
  {"eps 0.5\n", "eps nan\n"},
  {"eps 0.5\n", "eps range\n"},
  {"eps 0.5\n", "eps 0.5\nrange 0\n"},
  {"eps 0.5\n", "eps 0.5\nrange 1 0\n"},
  {"eps 0.5\n", "eps 0.5\nrange 0 1 2\n"},
  {"eps 0.5\n", "eps 0.5\nwords 1\n"},
  {"eps 0.5\n", "range 0 1\neps 0.5\n"},
  {"eps 0.5\n", "eps 0.1234567890123456789\n"},
  {"examples 3", "examples 2"},
  {"examples 3", "examples 4"},
  {"examples 3", "examples 03"},
  {"examples 3", "examples 99999999999999999999"},
  {"0 0 0 0x1p-1 holds\n", ""},
  {"0 0 0 0x1p-1 holds\n1 1 0 - open\n", "1 1 0 - open\n0 0 0 0x1p-1 holds\n"},
  {"1 1 0 - open\n", "0 0 0 0x1p-1 holds\n"},
  {"1 1 0 - open\n", "1 1 0 - open\n1 1 0 - open\n"},
  {"2 0 0 0x1.8p+1 holds\n", "2 0 0 0x1.8p+1 holds\n3 0 0 0x1.8p+1 holds\n"},
  {"2 0 0 0x1.8p+1 holds\n", "0 0 0 0x1p-1 holds\n"},
  {"1 1 0 - open\n", "1 1 0 - holds\n"},
  {"1 1 0 - open\n", "1 1 0 0x1p+0 open\n"},
  {"1 1 0 - open\n", "1 0 0 - open\n"},
  {"1 1 0 - open\n", "1 1 2 - open\n"},
  {"1 1 0 - open\n", "1 1 0 - open \n"},
  {"1 1 0 - open\n", "1  1 0 - open\n"},
  {"1 1 0 - open\n", "1 1 0 -  open\n"},
  {"1 1 0 - open\n", "+1 1 0 - open\n"},
  {"1 1 0 - open\n", "1 1 -0 - open\n"},
  {"1 1 0 - open\n", "1 1 0 open\n"},
  {"1 1 0 - open\n", "1 1 0 - Open\n"},
  {"0x1p-1 holds", "0.5 holds"},
  {"0x1p-1 holds", "0x1 holds"},
  {"0x1p-1 holds", "0X1P-1 holds"},
  {"0x1p-1 holds", "inf holds"},
  {"0x1p-1 holds", "nan holds"},
  {"0x1p-1 holds", "-0x1p-1 holds"},
  {"0x1p-1 holds", "0x0p+0 holds"},
  {"0x1p-1 holds", "0x1p+2000 holds"},
  {"0x1p-1 holds", "0x1p-1"},
  {"holds\n1", "holds\r\n1"},
};

static void test_every_line(void **state)
{
  (void)state;
  struct certificate_case c = small();
  assert_int_equal(check_case(&c), HOLDS);
  assert_int_equal(check_with("method intervals", "method linear"), HOLDS);
  for (size_t k = 0; k < sizeof bad_line / sizeof *bad_line; k++)
    if (check_with(bad_line[k][0], bad_line[k][1]) != REFUSED)
      fail_msg("\"%s\" may become \"%s\"", bad_line[k][0], bad_line[k][1]);
  assert_int_equal(check_with("1 1 0 - open", "1 1 0 -0x1p-1 open"), HOLDS);
  assert_int_equal(check_with("0 0 0 0x1p-1 holds", "0 0 1 0x1p-1 holds"), DOES_NOT_HOLD);
  assert_int_equal(check_with("0 0 0 0x1p-1 holds", "0 0 0 0x1p+3 holds"), DOES_NOT_HOLD);
  assert_int_equal(check_with("eps 0.5", "eps 2.5"), DOES_NOT_HOLD);
}

/* Models and data that are not what they should be, with the certificate's hashes right. */
static int check_replaced(int which, const char *from, const char *to)
{
  struct certificate_case c = small();
  check_case(&c);
  size_t at = 0, n = strlen(from);
  assert_int_equal(n, strlen(to));
  while (at + n <= last[which].n && memcmp(last[which].at + at, from, n)) at++;
  if (at + n > last[which].n) fail_msg("no %s", from);
  memcpy(last[which].at + at, to, n);
  return check_again(&c);
}

static void test_bad_models(void **state)
{
  (void)state;
  static const char *const bad[][2] = {
    {"\"F32\"", "\"F16\""},
    {"\"net\"", "\"nat\""},
    {"\"input\"", "\"inpet\""},
    {"\"shape\"", "\"shade\""},
    {"[2,2]", "[2,3]"},
    {"[2,2]", "[4,1]"},
    {"[2,2]", "[2;2]"},
    {"data_offsets\":[0,", "data_offsets\":[1,"},
    {"1.weight", "2.weight"},
    {"1.bias", "1.mias"},
    {"{\"dtype\"", "[\"dtype\""},
    {"relu, dense 2", "relu, dense 3"},
    {"relu, dense 2", "relu  dense 2"},
    {"relu, dense 2", "relu, dense2 "},
    {"relu, dense 2", "relu, dense 0"},
    {"relu, dense 2", "relu, dense -"},
    {"relu, dense 2", "relu,dense 2)"},
    {"relu, dense 2", "relu,, dense2"},
    {"relu, dense 2", "relu, dense\\n"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    int verdict = check_replaced(CASE_MODEL, bad[k][0], bad[k][1]);
    if (verdict == HOLDS) fail_msg("%s may become %s", bad[k][0], bad[k][1]);
  }
}

static void test_bad_data(void **state)
{
  (void)state;
  static const char *const bad[][2] = {
    {"x.npy", "z.npy"},   {"y.npy", "x.npy"},   {"mask.npy", "misk.npy"},         {"<f4", "<f8"},
    {"<f4", ">f4"},       {"(3, 2)", "(2, 3)"}, {"(3, 2)", "(6, 1)"},             {"False", "True "},
    {"(3, 2), }", "(3, 2) ,}"}, {"(3, 2), }", "(3, 2), ;"},
    {"NUMPY", "NUMPI"},   {"PK\001\002", "PK\001\003"}, {"PK\003\004", "PK\003\005"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    if (check_replaced(CASE_DATA, bad[k][0], bad[k][1]) != REFUSED) fail_msg("%s may become %s", bad[k][0], bad[k][1]);
  float x[] = {3, 1, 2, INFINITY, 5, 0}, mask[] = {1, 0, 0, -1, 0, 0};
  struct certificate_case c = small();
  c.x = x;
  expect_case(&c, REFUSED);
  x[3] = 1;
  c.mask = mask;
  expect_case(&c, REFUSED);
  mask[3] = NAN;
  expect_case(&c, REFUSED);
  c.mask = NULL;
  expect_case(&c, REFUSED);
}

/* ---- The program ---- */

static void put(const char *name, const struct case_file *f)
{
  FILE *to = fopen(scratch_path(name), "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(f->at, 1, f->n, to), f->n);
  fclose(to);
}

static void test_program(void **state)
{
  (void)state;
  struct certificate_case c = small();
  check_case(&c);
  put("c", &last[CASE_CERTIFICATE]);
  EXPECT("${R4}-check", 2, "usage: r4-check [--quiet] CERTIFICATE");
  EXPECT("${R4}-check c model.safetensors data.npz", 0, "0 holds\n1 open\n2 holds\n",
         "3 lines: 2 hold, 0 do not hold, 0 cannot tell, 1 open", "certified accuracy 66.67 % (2 of 3)");
  EXPECT("${R4}-check --quiet c model.safetensors data.npz", 0, "3 lines: 2 hold");
  command_lacks("0 holds");
  EXPECT("${R4}-check c --quiet model.safetensors data.npz", 2, "usage: r4-check [--quiet] CERTIFICATE");
  EXPECT("${R4}-check none model.safetensors data.npz", 3, "none cannot be read");
  EXPECT("${R4}-check . model.safetensors data.npz", 3, "cannot be read");
  EXPECT("${R4}-check c data.npz model.safetensors", 3, "not the certificate's model");
  EXPECT("${R4}-check c model.safetensors model.safetensors", 3, "not the certificate's data");
  c.line[2].margin = 100;
  check_again(&c);
  put("c", &last[CASE_CERTIFICATE]);
  EXPECT("${R4}-check c model.safetensors data.npz", 1, "0 holds\n1 open\n2 does not hold\n", "1 hold, 1 do not hold",
         "certified accuracy 33.33 % (1 of 3)");
  c.line[2].margin = 3.99;
  c.what = "eps 0.001\n"; /* holds in the reals; class is not the label */
  c.line[2].label = 1;
  check_case(&c);
  put("c", &last[CASE_CERTIFICATE]);
  EXPECT("${R4}-check c model.safetensors data.npz", 0, "2 holds", "(1 of 3)");
  c.net = "tanh, dense 2";
  check_case(&c);
  put("c", &last[CASE_CERTIFICATE]);
  EXPECT("${R4}-check c model.safetensors data.npz", 1, "0 cannot tell", "tanh has no rule", "0 hold");
}

int main(void)
{
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_bit),
    cmocka_unit_test(test_every_length),
    cmocka_unit_test(test_every_line),
    cmocka_unit_test(test_bad_models),
    cmocka_unit_test(test_bad_data),
    cmocka_unit_test(test_program),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
