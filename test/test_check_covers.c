/* r4-check: claims about words, and about covers. */
#include "checker_case.h"

/* ---- Words ---- */

/* Embeddings of one number, 0 .. 10 times 1/2; z = mean of the tokens that are there - 2. */
static void test_words(void **state)
{
  (void)state;
  float w[12];
  for (int k = 0; k < 11; k++) w[k] = (float)k / 2;
  w[11] = 1;
  struct certificate_case c = {.net = "embedding 11 1, leaf, mean, dense 1 nobias",
                               .input = {1, {4}},
                               .weight = w,
                               .n = 1,
                               .id = (const int64_t[]){4, 6, 8, 10},
                               .length = (const int64_t[]){3},
                               .mask = FLOATS(0, 1, 0, 1),
                               .claim = "claim words\nsemantics real\nmethod hull\n",
                               .what = "words 1,9\n",
                               .line = {{1, 1, 1}}};
  c.line[0].margin = (4 + 1 + 8) / 6. - 1e-12; /* the fourth token is padding */
  expect_case(&c, HOLDS);
  c.line[0].margin = (4 + 1 + 8) / 6. + 1e-12;
  expect_again(&c, DOES_NOT_HOLD);
  c.what = "words 9,7\n";
  c.line[0].margin = (4 + 6 + 8) / 6. - 1e-12;
  expect_again(&c, HOLDS);
  c.what = "words 9,,7\n";
  expect_again(&c, REFUSED);
  c.what = "words 9,7 \n";
  expect_again(&c, REFUSED);
}

/* relu(2 - e) + relu(e - 2) + .. over two features that no word has at once: the hull is too wide, words are few. */
static void test_words_one_by_one(void **state)
{
  (void)state;
  /* vectors (0, 0), (1, 0), (0, 1); z = 1.5 - relu(e0 + e1 - ..) */
  struct certificate_case c = {.net = "embedding 3 2, leaf, dense 1, relu, mean, dense 1",
                               .input = {1, {2}},
                               .weight = FLOATS(0, 0, 1, 0, 0, 1, 1, 1, 0, -1, 1.25f),
                               .n = 1,
                               .id = (const int64_t[]){0, 0},
                               .length = (const int64_t[]){2},
                               .mask = FLOATS(1, 1),
                               .claim = "claim words\nsemantics real\nmethod enumeration\n",
                               .what = "words 1,2\n",
                               .line = {{1, 1, 0.25}}};
  expect_margin(c, 0.25); /* 1.25 - 1, where the hull has 1.25 - 2 */
  c.line[0].class = 0;
  expect_case(&c, DOES_NOT_HOLD);
}

/* ---- Covers ---- */

/* All pixels are 1 and hidden ones 0; z is how many are seen, less 1/2 (class 1): the least of them is expected. */
static void expect_least(struct certificate_case c, const char *method, double expected, bool again)
{
  char claim[100];
  snprintf(claim, sizeof claim, "claim cover\nsemantics this-program\nmethod %s\n", method);
  c.claim = claim;
  c.line[0].margin = expected - 0.5 > 0 ? expected - 0.5 : 0.5;
  expect(&c, (again ? check_again : check_case)(&c), expected > 0 ? HOLDS : DOES_NOT_HOLD);
  c.line[0].margin = expected + 0.5;
  expect_again(&c, DOES_NOT_HOLD);
}

static void expect_seen(const char *cover, int64_t height, int64_t width, double pairs, double single)
{
  static float w[401], x[400];
  char what[100];
  int64_t n = height * width;
  for (int64_t k = 0; k < n; k++) w[k] = x[k] = 1;
  w[n] = -0.5;
  snprintf(what, sizeof what, "cover %s\nfill 0x0p+0\n", cover);
  for (int image = 0; image < 2; image++) {
    struct certificate_case c = {.net = image ? "flatten, dense 1" : "dense 1",
                                 .input = image ? R4_SHAPE(height, width, 1) : R4_SHAPE(n),
                                 .as_image = !image,
                                 .image = {1, height, width},
                                 .weight = w,
                                 .n = 1,
                                 .x = x,
                                 .what = what,
                                 .line = {{1, 1, 1}}};
    expect_least(c, "two-mask", pairs, false);
    expect_least(c, "one-mask", single, true);
  }
}

static void test_covers(void **state)
{
  (void)state;
  expect_seen("edges:0.33", 6, 5, 6, 18);    /* strips of 2: left and right leave one column, left alone 3 */
  expect_seen("edges:0.2", 10, 5, 30, 40);   /* exactly 2 rows and 1 column: 3 columns are left, or 4 */
  expect_seen("edges:0.07", 100, 4, 200, 300); /* 7 rows exactly, 1 column: 2 columns are left */
  expect_seen("frame:0.25", 8, 8, 16, 16);
  expect_seen("frame:0.3", 10, 7, 4, 4);     /* 3 rows, 3 columns: 4 rows of one column */
  expect_seen("square:2,2", 6, 6, 8, 20);    /* stride 3, masks of 4 at 0 and 2 */
  expect_seen("square:2", 13, 13, 151, 160); /* stride 2, masks of 3 x 3 at 0, 2, .., 10: two far apart hide 18 */
  expect_seen("square:3,1", 7, 5, 0, 0);     /* one mask that hides all */
}

static void test_cover_texts(void **state)
{
  (void)state;
  struct certificate_case c = {.net = "embedding 2 1, mean, dense 1",
                               .input = {1, {6}},
                               .weight = FLOATS(0, 6, 1, -0.5),
                               .n = 1,
                               .id = (const int64_t[]){1, 1, 1, 1, 1, 1},
                               .length = (const int64_t[]){6},
                               .claim = "claim cover\nsemantics this-program\nmethod two-mask\n",
                               .what = "cover tokens:1,3\nfill 0\n", /* stride 2, windows of 2 at 0, 2, 4 */
                               .line = {{1, 1, 1.5}}};
  expect_case(&c, HOLDS);
  c.line[0].margin = 1.51;
  expect_again(&c, DOES_NOT_HOLD);
  c.what = "cover tokens:7\nfill 0\n";
  expect_again(&c, REFUSED);
  c.what = "cover edges:0.5\nfill 0\n";
  expect_again(&c, REFUSED);
}

/* Within the tolerance nothing is said; z = 1 - x everywhere. */
static void test_cover_tolerance(void **state)
{
  (void)state;
  struct certificate_case c = {.net = "flatten, dense 2 nobias",
                               .input = {3, {1, 1, 1}},
                               .weight = FLOATS(1, 0),
                               .n = 1,
                               .x = FLOATS(5),
                               .claim = "claim cover\nsemantics this-program\nmethod two-mask\n",
                               .what = "cover frame:1\nfill 0x1p-15\n",
                               .line = {{0, 0, 0x1p-15}}};
  expect_case(&c, CANNOT_TELL);
  c.what = "cover frame:1\nfill 0x1p-12\n";
  c.line[0].margin = 0x1p-12;
  expect_again(&c, HOLDS);
  c.line[0].margin = 0.01;
  expect_again(&c, DOES_NOT_HOLD);
  c.line[0] = (struct case_line){0, 1, 0x1p-12};
  expect_again(&c, DOES_NOT_HOLD);
  static const char *const bad[] = {
    "cover frame:1\nfill 0x1p-12,0x0p+0\n", "cover frame:1.1\nfill 0x0p+0\n", "cover frame:0\nfill 0x0p+0\n",
    "cover ring:1\nfill 0x0p+0\n",          "cover frame\nfill 0x0p+0\n",     "cover square:2\nfill 0x0p+0\n",
    "cover frame:1\nfill 0.5\n",            "fill 0x0p+0\ncover frame:1\n",   "cover square:1,0\nfill 0x0p+0\n",
    "cover frame:1\nfill 0x1.0000001p+0\n"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    c.what = bad[k];
    expect_again(&c, REFUSED);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_words),
    cmocka_unit_test(test_words_one_by_one),
    cmocka_unit_test(test_covers),
    cmocka_unit_test(test_cover_texts),
    cmocka_unit_test(test_cover_tolerance),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
