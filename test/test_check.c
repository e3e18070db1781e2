/* r4-check, the second opinion: what it says holds does hold. Claims come from hand, from exact arithmetic in whole
 * numbers, and from the engine. */
#include "checker_case.h"

/* ---- By hand ---- */

static void test_margins_by_hand(void **state)
{
  (void)state;
  struct certificate_case c = two;
  expect_margin(c, 0.25); /* x0 >= 2.5, x1 <= 1.25: 2.5 - 2 * 1.25 + .25, the last layer merged */
  c.what = "eps 0.5\nrange 0 3.25\n";
  expect_margin(c, 0.25);
  c.what = "eps 0.5\nrange 2.75 8\n"; /* x1 is outside of the range, and stays */
  expect_margin(c, 2.75 - 2 + 0.25);
  c.what = "eps range\nrange 2.75 3.5\n"; /* x1 is 1, or in the range: the hull */
  c.x = FLOATS(9, 1);
  c.weight = FLOATS(1, -1, 0, 0, 1, 0);
  expect_margin(c, 2.75 - 3.5 + 1);
  c.weight = FLOATS(-1, 1, 0, 0, 10, 0);
  expect_margin(c, 10 - 9 + 1);
}

/* Numbers close to 0 that become 0 are no IEEE arithmetic. */
static void test_flush_to_zero(void **state)
{
  (void)state;
#ifdef __SSE2__
  expect_case(&two, DOES_NOT_HOLD);
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 1 << 15 | 1 << 6);
  int verdict = check_files(last);
  __builtin_ia32_ldmxcsr(before);
  assert_int_equal(verdict, REFUSED);
  assert_non_null(strstr(reason, "does not round"));
#else
  check_skip("the processor is of another kind");
#endif
}

/* A decimal eps is what it says, not the number next to it: 0.1f is 0.100000001490116119.. */
static void test_decimal_eps(void **state)
{
  (void)state;
  struct certificate_case c = {.net = "dense 1 nobias",
                               .input = {1, {1}},
                               .weight = FLOATS(1),
                               .n = 1,
                               .x = FLOATS(0.1f),
                               .mask = FLOATS(1),
                               .claim = REAL_BOX,
                               .what = "eps 0.1\n",
                               .line = {{1, 1, 1.4901e-9}}};
  expect_case(&c, HOLDS);
  c.line[0].margin = 1.4902e-9;
  expect_again(&c, DOES_NOT_HOLD);
  c.line[0].margin = 1e-18;
  c.what = "eps 0.100000001490116119\n"; /* 4e-19 below it */
  assert_int_not_equal(check_again(&c), REFUSED);
  c.what = "eps 0.100000001490116120\n"; /* above */
  expect_again(&c, CANNOT_TELL); /* the corner that would show it is no double */
  c.line[0].margin = 5e-324;
  expect_again(&c, CANNOT_TELL);
  c.what = "eps 1e-1\n";
  c.line[0].margin = 1e-9;
  expect_again(&c, HOLDS);
  c.what = "eps 0.11\n";
  expect_again(&c, DOES_NOT_HOLD);
  c.what = "eps 0.2\nrange 0.05 1\n";
  c.line[0].margin = 0.04999;
  expect_again(&c, HOLDS);
  c.line[0].margin = 0.05; /* a double above it */
  expect_again(&c, CANNOT_TELL);
  c.line[0].margin = 0.0500001;
  expect_again(&c, DOES_NOT_HOLD);
}

static void test_one_output(void **state)
{
  (void)state;
  struct certificate_case c = two;
  c.net = "dense 1";
  c.weight = FLOATS(1, -1, -8);
  c.line[0] = (struct case_line){0, 0, 1}; /* z = x0 - x1 - 8 in [2.5 - 1.25 - 8, 3.5 - .75 - 8] */
  expect_margin(c, 8 - 3.5 + 0.75);
  c.line[0].class = 1;
  expect_case(&c, DOES_NOT_HOLD);
  c.line[0].class = 2;
  expect_case(&c, REFUSED);
  c.weight = FLOATS(1, -1, 8);
  c.line[0].class = 1;
  expect_margin(c, 2.5 - 1.25 + 8);
}

/* ---- Floating point ---- */

/* z = 1e8 x0 - 1e8 x0 + x1 twice the same large number: exact in the reals, lost in float32. */
static void test_cancelling(void **state)
{
  (void)state;
  struct certificate_case c = {.net = "dense 3, relu, dense 1 nobias",
                               .input = {1, {2}},
                               .weight = FLOATS(1, 0, 1, 0, 0, 1, 0, 0, 0, 1e8f, -1e8f, 1),
                               .n = 1,
                               .x = FLOATS(3, 0.5f),
                               .mask = FLOATS(0, 0),
                               .claim = REAL_BOX,
                               .what = "eps 1\n",
                               .line = {{1, 1, 0.5}}};
  expect_margin(c, 0.5);
  c.claim = FLOAT_BOX;
  expect_case(&c, CANNOT_TELL);
  c.weight = FLOATS(1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1);
  c.line[0].margin = 6.49;
  expect_case(&c, HOLDS);
  c.line[0].margin = 6.5; /* true in the reals */
  expect_case(&c, CANNOT_TELL);
  c.claim = REAL_BOX;
  c.weight = FLOATS(1, 0, 1, 0, 0, 1, 0, 0, 0, 1e8f, -1e8f, -1); /* z = -0.5 */
  c.line[0].margin = 1e-30;
  expect_case(&c, DOES_NOT_HOLD);
  c.mask = FLOATS(1, 0); /* both units see x0: intervals cannot tell that it cancels */
  c.weight = FLOATS(1, 0, 1, 0, 0, 1, 0, 0, 0, 1e8f, -1e8f, 1);
  expect_case(&c, CANNOT_TELL);
}

/* The float error of a sum is at least what one order makes: n + 1 terms of which the first eats the others. */
static void test_any_float_covers_orders(void **state)
{
  (void)state;
  enum { N = 64 };
  float w[N + 1], x[N], mask[N] = {0};
  for (int k = 0; k < N; k++) w[k] = k ? 0x1p-25f : 1, x[k] = 1;
  w[N] = -1;
  struct certificate_case c = {.net = "dense 1",
                               .input = {1, {N}},
                               .weight = w,
                               .n = 1,
                               .x = x,
                               .mask = mask,
                               .claim = FLOAT_BOX,
                               .what = "eps 1\n",
                               .line = {{1, 1, 1e-30}}};
  float eaten = 1;
  for (int k = 1; k < N; k++) eaten += w[k] * x[k];
  assert_true(eaten - 1 == 0); /* in this order z is 0, no matter that it is 63 2^-25 */
  expect_case(&c, CANNOT_TELL);
  c.claim = REAL_BOX;
  expect_margin(c, 63 * 0x1p-25);
  c.net = "normalize std 2, dense 1"; /* no error is known of it */
  w[N] = 100;
  c.line[0].margin = 1;
  expect_case(&c, HOLDS);
  c.claim = FLOAT_BOX;
  expect_case(&c, CANNOT_TELL);
  c.net = "dense 1";
  w[0] = 3e38f, w[1] = 3e38f; /* overflows */
  expect_case(&c, CANNOT_TELL);
}

static void test_tiny_and_ties(void **state)
{
  (void)state;
  struct certificate_case c = {.net = "dense 2 nobias",
                               .input = {1, {1}},
                               .weight = FLOATS(0x1p-149f, 0),
                               .n = 1,
                               .x = FLOATS(0x1p-149f),
                               .mask = FLOATS(0),
                               .claim = REAL_BOX,
                               .what = "eps 0\n",
                               .line = {{0, 0, 0x1p-298}}};
  expect_margin(c, 0x1p-298);
  c.weight = FLOATS(1, 1); /* a tie */
  c.line[0].margin = 5e-324;
  expect_case(&c, DOES_NOT_HOLD);
  c.line[0].class = 1;
  expect_case(&c, DOES_NOT_HOLD);
  c.net = "dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 2 nobias"; /* 2^-596, 2^-745, 2^-1043, .. */
  c.weight = FLOATS(0x1p-149f, 0x1p-149f, 0x1p-149f, 0x1p-149f, 0);
  c.x = FLOATS(0x1p-149f);
  c.line[0] = (struct case_line){0, 0, 0x1p-745};
  expect_margin(c, 0x1p-745);
  c.net = "dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 1 nobias, "
          "dense 2 nobias";
  c.weight = FLOATS(0x1p-149f, 0x1p-149f, 0x1p-149f, 0x1p-149f, 0x1p-149f, 0x1p-149f, 0x1p-149f, 0);
  c.line[0].margin = 5e-324; /* more than it is, and less than half of the smallest double */
  int verdict = check_case(&c);
  assert_true(verdict == CANNOT_TELL || verdict == DOES_NOT_HOLD);
}

/* Infinity times 0 is nothing. */
static void test_overflow(void **state)
{
  (void)state;
  enum { DEPTH = 12 };
  char net[400] = "";
  float w[2 * DEPTH + 2];
  for (int k = 0; k < DEPTH; k++) {
    snprintf(net + strlen(net), sizeof net - strlen(net), "dense 1 nobias, ");
    w[k] = 3e38f;
  }
  snprintf(net + strlen(net), sizeof net - strlen(net), "relu, dense 2");
  memcpy(w + DEPTH, FLOATS(0, 0, 1, 0), 4 * sizeof *w);
  struct certificate_case c = {.net = net,
                               .input = {1, {1}},
                               .weight = w,
                               .n = 1,
                               .x = FLOATS(1),
                               .mask = FLOATS(1),
                               .claim = REAL_BOX,
                               .what = "eps 0.5\n",
                               .line = {{0, 0, 1}}};
  expect_case(&c, CANNOT_TELL);
}

/* ---- Parts ---- */

/* Of each part alone, at points: the margin that the engine computes holds, and one above does not. */
static const struct part_case {
  const char *net;
  r4_shape input;
} parts[] = {
  {"dense 3", {1, {4}}},
  {"dense 3 nobias, relu, dense 5, relu, dense 2", {1, {4}}},
  {"normalize mean 0.25 std 0.3, dense 3, relu6, dense 3", {1, {4}}},
  {"dense 7, bn: batchnorm eps 0.001, relu, dense 2", {1, {4}}},
  {"flatten, dense 3", {3, {3, 2, 2}}},
  {"conv 4 3, relu, flatten, dense 3", {3, {5, 4, 2}}},
  {"conv 4 3 s2 p1 nobias, relu, flatten, dense 3", {3, {5, 4, 2}}},
  {"conv 4 3 p0/1 d2 g2, relu, flatten, dense 3", {3, {6, 5, 2}}},
  {"conv 4 3 same s2, relu, flatten, dense 3", {3, {6, 5, 2}}},
  {"conv 3 2 same d3, relu, flatten, dense 3", {3, {6, 5, 1}}},
  {"conv 3 1 s3 same, relu, flatten, dense 3", {3, {7, 5, 1}}},
  {"depthwise 3 m2 p1, relu, flatten, dense 3", {3, {4, 4, 2}}},
  {"depthwise 2 same s2 nobias, relu, flatten, dense 3", {3, {5, 4, 3}}},
  {"normalize mean 0.1/0.2 std 0.5/0.25, maxpool 2, flatten, dense 3", {3, {4, 5, 2}}},
  {"conv 3 3 p1, maxpool 3 s2 p1, flatten, dense 3", {3, {6, 5, 2}}},
  {"conv 3 3 p1, maxpool 2 s1 same, flatten, dense 3", {3, {6, 5, 2}}},
  {"avgpool 2, flatten, dense 3", {3, {4, 5, 2}}},
  {"avgpool 3 s2 p1, flatten, dense 3", {3, {4, 5, 2}}},
  {"conv 6 3 p1, batchnorm, relu, globalpool, dense 3", {3, {4, 5, 2}}},
  {"conv 3 3 p1, batchnorm, relu, flatten, batchnorm, dense 3", {3, {3, 4, 2}}},
  {"c: conv 3 1, r: residual(conv 3 3 p1, relu, x: conv 3 1; conv 3 1 nobias), relu, flatten, dense 2", {3, {3, 4, 2}}},
  {"conv 3 1, residual(conv 3 3 p1 nobias, b: batchnorm, relu), relu, globalpool, dropout 0.5, dense 2",
   {3, {3, 4, 2}}},
  {"sum(dense 4; relu, .other: dense 4; a: dense 4 nobias), relu, leaf, dense 3", {1, {5}}},
  {"residual(residual(dense 5, relu), dense 5), relu, dense 3, relu", {1, {5}}},
  {"dense 1", {1, {4}}},
  {"conv 2 3, relu, flatten, dense 3, relu", {3, {4, 4, 1}}},
};

static const struct part_case texts[] = {
  {"embedding 11 3, leaf, dense 4, relu, mean, dense 3", {1, {5}}},
  {"embedding 11 3, relu, first, dense 3", {1, {5}}},
  {"sum(embedding 11 4; embedding 11 4), batchnorm, relu, mean, dense 1", {1, {5}}},
};

enum { EXAMPLES = 11, MOST = 400 };

static void draw_weights(const char *text, r4_shape input, float *w)
{
  r4_net *n = r4_net_open(text, input, NULL);
  assert_non_null(n);
  assert_true(r4_net_size(n) <= MOST);
  for (size_t k = 0; k < r4_net_params(n); k++) {
    bool positive = strstr(r4_net_param_name(n, k), "running_var");
    int64_t count = r4_shape_count(r4_net_param_shape(n, k));
    float *to = w + r4_net_param_offset(n, k);
    for (int64_t i = 0; i < count; i++) to[i] = (float)(positive ? draw(0.1, 2) : draw(-1, 1));
  }
  r4_net_free(n);
}

static int64_t classes_of(const char *text, r4_shape input)
{
  r4_net *n = r4_net_open(text, input, NULL);
  int64_t classes = r4_net_classes(n);
  r4_net_free(n);
  return classes;
}

/* The class of an example and its margin. */
static struct case_line best(const double *z, int64_t classes)
{
  struct case_line l = {0, 0, 0};
  if (classes == 1) {
    l.class = *z > 0;
    l.margin = fabs(*z);
    return l;
  }
  for (int k = 1; k < (int)classes; k++)
    if (z[k] > z[l.class]) l.class = k;
  l.margin = INFINITY;
  for (int k = 0; k < (int)classes; k++)
    if (k != l.class) l.margin = fmin(l.margin, z[l.class] - z[k]);
  return l;
}

static void expect_all(const struct certificate_case *c, int expected, bool again)
{
  (again ? check_again : check_case)(c);
  if (*reason) fail_msg("%s: %s", c->net, reason);
  for (int k = 0; k < c->n; k++)
    if ((int)checked.line[k].verdict != expected && c->line[k].margin > 0)
      fail_msg("%s, example %d: %s, expected %s", c->net, k, name_of((int)checked.line[k].verdict), name_of(expected));
}

static void expect_engine(struct certificate_case c)
{
  int64_t classes = classes_of(c.net, c.input);
  double z[EXAMPLES * 8];
  case_logits(&c, classes, z);
  for (int part = 0; part < 2; part++) {
    for (int k = 0; k < c.n; k++) {
      c.line[k] = best(z + k * classes, classes);
      c.line[k].margin += part ? 1e-9 : -1e-9;
      if (!(c.line[k].margin > 1e-7)) c.line[k].margin = 0;
    }
    expect_all(&c, part ? DOES_NOT_HOLD : HOLDS, part);
  }
}

static void test_parts_as_the_engine(void **state)
{
  (void)state;
  static float w[MOST], x[EXAMPLES * 100], mask[EXAMPLES * 100];
  for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    draw_start(1, k);
    draw_weights(parts[k].net, parts[k].input, w);
    for (size_t i = 0; i < EXAMPLES * 100; i++) x[i] = (float)draw(-1, 1);
    expect_engine((struct certificate_case){.net = parts[k].net,
                                            .input = parts[k].input,
                                            .weight = w,
                                            .n = EXAMPLES,
                                            .x = x,
                                            .mask = mask,
                                            .deflated = k % 2,
                                            .claim = REAL_BOX,
                                            .what = "eps 0.1\nrange 0 1\n"});
  }
}

static void test_texts_as_the_engine(void **state)
{
  (void)state;
  static float w[MOST], mask[EXAMPLES * 5];
  int64_t id[EXAMPLES * 5], length[EXAMPLES];
  for (uint32_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    draw_start(2, k);
    draw_weights(texts[k].net, texts[k].input, w);
    for (size_t i = 0; i < EXAMPLES * 5; i++) id[i] = (int64_t)draw_below(11);
    for (size_t i = 0; i < EXAMPLES; i++) length[i] = 5;
    expect_engine((struct certificate_case){.net = texts[k].net,
                                            .input = texts[k].input,
                                            .weight = w,
                                            .n = EXAMPLES,
                                            .id = id,
                                            .length = length,
                                            .mask = mask,
                                            .claim = "claim words\nsemantics real\nmethod hull\n",
                                            .what = "words 1,2\n"});
  }
}

/* Images for a net that takes vectors: channels last. */
static void test_image_as_vector(void **state)
{
  (void)state;
  float w[3 * 12 + 3], x[EXAMPLES * 12], mask[EXAMPLES * 12] = {0};
  draw_start(3, 0);
  draw_weights("dense 3", R4_SHAPE(12), w);
  for (size_t i = 0; i < EXAMPLES * 12; i++) x[i] = (float)draw(-1, 1);
  expect_engine((struct certificate_case){.net = "dense 3",
                                          .input = {1, {12}},
                                          .weight = w,
                                          .n = EXAMPLES,
                                          .as_image = true,
                                          .image = {2, 3, 2},
                                          .x = x,
                                          .mask = mask,
                                          .claim = REAL_BOX,
                                          .what = "eps 0.1\n"});
}

static void test_part_without_rule(void **state)
{
  (void)state;
  struct certificate_case c = two;
  c.net = "gelu, dense 2";
  expect_case(&c, CANNOT_TELL);
  assert_string_equal(checked_net.missing, "gelu");
  c.net = "residual(tanh), relu, dense 2";
  expect_case(&c, CANNOT_TELL);
  assert_string_equal(checked_net.missing, "tanh");
}

/* ---- Against exact arithmetic ---- */

/* Whole numbers of 1/8 for weights, 1/40 for values, eps in 1/10: bounds of dense, relu, dense in 1/2560, exactly. */
struct exact {
  int64_t w1[3][4], b1[3], w2[3][3], b2[3], x[4];
  int mask[4], eps;
};

static int64_t exact_margin(const struct exact *e, int class)
{
  int64_t lo[3], hi[3], least = INT64_MAX;
  for (int u = 0; u < 3; u++) {
    int64_t mid = 40 * e->b1[u], radius = 0;
    for (int k = 0; k < 4; k++)
      mid += e->w1[u][k] * 5 * e->x[k], radius += llabs(e->w1[u][k]) * 4 * e->eps * e->mask[k];
    lo[u] = mid - radius > 0 ? mid - radius : 0;
    hi[u] = mid + radius > 0 ? mid + radius : 0;
  }
  for (int j = 0; j < 3; j++) {
    int64_t m = 320 * (e->b2[class] - e->b2[j]);
    for (int u = 0; u < 3; u++) {
      int64_t d = e->w2[class][u] - e->w2[j][u];
      m += d * (d > 0 ? lo[u] : hi[u]);
    }
    if (j != class && m < least) least = m;
  }
  return least;
}

static void draw_net(struct exact *e, float *w)
{
  for (int k = 0; k < 12; k++) w[k] = (float)(e->w1[k / 4][k % 4] = draw_between(-9, 9)) / 8;
  for (int k = 0; k < 3; k++) w[12 + k] = (float)(e->b1[k] = draw_between(-9, 9)) / 8;
  for (int k = 0; k < 9; k++) w[15 + k] = (float)(e->w2[k / 3][k % 3] = draw_between(-9, 9)) / 8;
  for (int k = 0; k < 3; k++) w[24 + k] = (float)(e->b2[k] = draw_between(-9, 9)) / 8;
  e->eps = (int)draw_between(0, 9);
}

static void draw_example(struct exact *e, float *x, float *mask)
{
  for (int k = 0; k < 4; k++) {
    x[k] = (float)(e->x[k] = draw_between(-9, 9)) / 8;
    mask[k] = (float)(e->mask[k] = (int)draw_between(0, 2));
  }
}

static void test_exact_oracle(void **state)
{
  (void)state;
  int held = 0;
  for (uint32_t trial = 0; trial < 30; trial++) {
    struct exact e[CASE_LINES];
    float w[27], x[4 * CASE_LINES], mask[4 * CASE_LINES];
    int64_t exact[CASE_LINES];
    char eps[24];
    struct certificate_case c = {.net = "dense 3, relu, dense 3",
                                 .input = {1, {4}},
                                 .weight = w,
                                 .n = CASE_LINES,
                                 .x = x,
                                 .mask = mask,
                                 .claim = REAL_BOX,
                                 .what = eps};
    draw_start(4, trial);
    draw_net(&e[0], w);
    snprintf(eps, sizeof eps, "eps 0.%d\n", e[0].eps);
    for (int k = 0; k < c.n; k++) {
      e[k] = e[0];
      draw_example(&e[k], x + 4 * k, mask + 4 * k);
      c.line[k].class = (int)draw_below(3);
      exact[k] = exact_margin(&e[k], c.line[k].class);
      c.line[k].margin = exact[k] > 0 ? (double)exact[k] / 2560 * (1 - 1e-13) : 5e-324;
    }
    assert_int_not_equal(check_case(&c), REFUSED);
    for (int k = 0; k < c.n; k++) {
      int verdict = (int)checked.line[k].verdict;
      if ((verdict == HOLDS) != (exact[k] > 0))
        fail_msg("trial %u, margin %lld/2560: %s", trial, (long long)exact[k], name_of(verdict));
      held += verdict == HOLDS;
      c.line[k].margin = exact[k] > 0 ? nextafter((double)exact[k] / 2560, INFINITY) : 1e-300;
    }
    assert_int_not_equal(check_again(&c), REFUSED);
    for (int k = 0; k < c.n; k++) {
      int verdict = (int)checked.line[k].verdict;
      const int *m = e[k].mask;
      if (verdict == HOLDS) fail_msg("trial %u: holds above %lld/2560", trial, (long long)exact[k]);
      bool point = e[k].eps == 0 || !(m[0] | m[1] | m[2] | m[3]);
      if (point && exact[k] <= 0 && verdict != DOES_NOT_HOLD) fail_msg("trial %u: x itself has another class", trial);
    }
  }
  assert_in_range(held, 100, 600);
}

/* Points of boxes of random nets, by the engine, never go below what holds. */
static void test_points_of_boxes(void **state)
{
  (void)state;
  static float w[MOST], x[EXAMPLES * 100], mask[EXAMPLES * 100], y[EXAMPLES * 100];
  double z[EXAMPLES * 8], bound[EXAMPLES];
  size_t proved = 0;
  for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    draw_start(5, k);
    draw_weights(parts[k].net, parts[k].input, w);
    int64_t classes = classes_of(parts[k].net, parts[k].input), per = r4_shape_count(parts[k].input);
    for (size_t i = 0; i < EXAMPLES * 100; i++) {
      x[i] = (float)draw(-1, 1);
      mask[i] = draw_below(3) ? 0 : (float)draw(0, 1);
    }
    struct certificate_case c = {.net = parts[k].net,
                                 .input = parts[k].input,
                                 .weight = w,
                                 .n = EXAMPLES,
                                 .x = x,
                                 .mask = mask,
                                 .full_mask = true,
                                 .claim = REAL_BOX,
                                 .what = "eps 0.05\nrange -0.9 0.9\n"};
    case_logits(&c, classes, z);
    for (int i = 0; i < c.n; i++) c.line[i] = best(z + i * classes, classes), bound[i] = 0;
    for (double share = 0.9; share > 0.05; share -= 0.1) { /* the largest margins that hold, by tenths */
      struct certificate_case tried = c;
      for (int i = 0; i < c.n; i++) tried.line[i].margin *= share;
      (share > 0.89 ? check_case : check_again)(&tried);
      for (int i = 0; i < c.n; i++)
        if (checked.line[i].verdict == HOLDS && !(bound[i] > 0)) bound[i] = tried.line[i].margin;
    }
    for (int trial = 0; trial < 20; trial++) {
      for (int64_t i = 0; i < c.n * per; i++) {
        double r = 0.05 * mask[i], to = draw_below(2) ? r : -r;
        double lo = fmax(x[i] - r, -0.9), hi = fmin(x[i] + r, 0.9);
        y[i] = mask[i] > 0 && lo <= hi ? (float)fmin(fmax(x[i] + to * 0.999, lo), hi) : x[i];
      }
      struct certificate_case moved = c;
      moved.x = y;
      case_logits(&moved, classes, z);
      for (int i = 0; i < c.n; i++) {
        struct case_line l = best(z + i * classes, classes);
        if (bound[i] > 0 && (l.class != c.line[i].class || l.margin < bound[i] - 1e-9))
          fail_msg("%s: example %d holds with %g, and there is a point with %g", c.net, i, bound[i], l.margin);
        proved += bound[i] > 0;
      }
    }
  }
  assert_true(proved > 500);
}
int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_margins_by_hand),
    cmocka_unit_test(test_flush_to_zero),
    cmocka_unit_test(test_decimal_eps),
    cmocka_unit_test(test_one_output),
    cmocka_unit_test(test_cancelling),
    cmocka_unit_test(test_any_float_covers_orders),
    cmocka_unit_test(test_tiny_and_ties),
    cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_parts_as_the_engine),
    cmocka_unit_test(test_texts_as_the_engine),
    cmocka_unit_test(test_image_as_vector),
    cmocka_unit_test(test_part_without_rule),
    cmocka_unit_test(test_exact_oracle),
    cmocka_unit_test(test_points_of_boxes),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
