/* r4-check, the second opinion: files that were changed are refused, and what it says holds does hold. Claims come from
 * hand, from exact arithmetic in whole numbers, and from the engine. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check/check.h"
#include "certificate_case.h"
#include "command.h"
#include "scratch.h"

/* ---- The checker in this process ---- */

static jmp_buf back;
static char reason[400];

void refuse(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  longjmp(back, 1);
}

void *take(size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size);
  assert_non_null(p);
  return p;
}

/* The checker keeps what it needs to its end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0";
}

enum { REFUSED = -1 };
static struct certificate checked;
static struct net checked_net;

/* REFUSED, or the verdict of the first line; others are in checked. */
static int check_files(const struct case_file file[CASE_FILES])
{
  struct bytes b[CASE_FILES];
  for (int k = 0; k < CASE_FILES; k++) b[k] = (struct bytes){file[k].at, file[k].n};
  checked = (struct certificate){0};
  checked_net = (struct net){.first = NULL};
  *reason = 0;
  int came_back = setjmp(back);
  if (!came_back) check(b[CASE_CERTIFICATE], b[CASE_MODEL], b[CASE_DATA], &checked, &checked_net);
  fesetround(FE_TONEAREST);
  return came_back ? REFUSED : checked.n ? (int)checked.line[0].verdict : (int)OPEN;
}

static struct case_file last[CASE_FILES];

static int check_case(const struct certificate_case *c)
{
  case_free(last);
  case_write(c, last);
  return check_files(last);
}

/* The same net and data as the last, and another claim. */
static int check_again(const struct certificate_case *c)
{
  case_certificate(c, last);
  return check_files(last);
}

static const char *name_of(int verdict)
{
  static const char *const name[] = {"refused", "open", "holds", "cannot tell", "does not hold"};
  return name[verdict + 1];
}

static void expect(const struct certificate_case *c, int verdict, int expected)
{
  if (verdict != expected)
    fail_msg("%s, %smargin %a: %s, expected %s. %s", c->net, c->what, c->line[0].margin, name_of(verdict),
             name_of(expected), reason);
}

static void expect_case(const struct certificate_case *c, int expected)
{
  expect(c, check_case(c), expected);
}

static void expect_again(const struct certificate_case *c, int expected)
{
  expect(c, check_again(c), expected);
}

/* The claim with margin m holds, and one with the next number above does not. */
static void expect_margin(struct certificate_case c, double m)
{
  c.line[0].margin = m;
  expect_case(&c, HOLDS);
  c.line[0].margin = nextafter(m, INFINITY);
  int verdict = check_again(&c);
  if (verdict == HOLDS || verdict == REFUSED) fail_msg("%s: more than %a: %s %s", c.net, m, name_of(verdict), reason);
}

#define REAL_BOX "claim box\nsemantics real\nmethod intervals\n"
#define FLOAT_BOX "claim box\nsemantics any-float\nmethod intervals\n"
#define FLOATS(...) ((const float[]){__VA_ARGS__})

/* ---- By hand ---- */

/* z = (x0 - x1 + 1/4, x1), relu before; x = (3, 1), eps 1/2 for x0, 1/4 for x1. */
static const struct certificate_case two = {.net = "relu, dense 2",
                                            .input = {1, {2}},
                                            .weight = FLOATS(1, -1, 0, 1, 0.25, 0),
                                            .n = 1,
                                            .x = FLOATS(3, 1),
                                            .mask = FLOATS(1, 0.5),
                                            .claim = REAL_BOX,
                                            .what = "eps 0.5\n",
                                            .line = {{0, 0, 1}}};

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
  c.net = "dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 1 nobias, dense 2 nobias";
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
  {"conv 3 1, residual(conv 3 3 p1 nobias, b: batchnorm, relu), relu, globalpool, dropout 0.5, dense 2", {3, {3, 4, 2}}},
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
  r4_net *n = r4_net_new(text, input, NULL);
  assert_non_null(n);
  assert_true(r4_net_size(n) <= MOST);
  for (size_t k = 0; k < r4_net_params(n); k++) {
    bool positive = strstr(r4_net_param_name(n, k), "running_var");
    int64_t count = r4_shape_count(r4_net_param_shape(n, k));
    for (int64_t i = 0; i < count; i++) w[r4_net_param_offset(n, k) + (size_t)i] = (float)(positive ? draw(0.1, 2) : draw(-1, 1));
  }
  r4_net_free(n);
}

static int64_t classes_of(const char *text, r4_shape input)
{
  r4_net *n = r4_net_new(text, input, NULL);
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
    for (size_t i = 0; i < EXAMPLES * 100; i++) x[i] = (float)draw(-1, 1), mask[i] = draw_below(3) ? 0 : (float)draw(0, 1);
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

/* All pixels are 1 and hidden ones 0; z is how many are seen, less 1/2 (class 1). one-mask: with the files of the last. */
static double seen_by(const char *cover, int64_t height, int64_t width, const char *method, int image)
{
  static float w[401], x[400];
  char claim[100], what[100], net[40];
  int64_t n = height * width;
  for (int64_t k = 0; k < n; k++) w[k] = x[k] = 1;
  w[n] = -0.5;
  snprintf(claim, sizeof claim, "claim cover\nsemantics this-program\nmethod %s\n", method);
  snprintf(what, sizeof what, "cover %s\nfill 0x0p+0\n", cover);
  snprintf(net, sizeof net, image ? "flatten, dense 1" : "dense 1");
  struct certificate_case c = {.net = net, .weight = w, .n = 1, .x = x, .claim = claim, .what = what, .line = {{1, 1, 1}}};
  c.input = image ? R4_SHAPE(height, width, 1) : R4_SHAPE(n);
  c.as_image = !image;
  memcpy(c.image, (int64_t[]){1, height, width}, sizeof c.image);
  for (int64_t k = 1; k <= n; k++) { /* the largest that holds */
    c.line[0].margin = (double)k - 0.5;
    int verdict = k > 1 || !strcmp(method, "one-mask") ? check_again(&c) : check_case(&c);
    if (verdict == REFUSED) fail_msg("%s: %s", cover, reason);
    if (verdict != HOLDS) {
      assert_int_equal(verdict, DOES_NOT_HOLD);
      return (double)(k - 1);
    }
  }
  return (double)n;
}

static void expect_seen(const char *cover, int64_t height, int64_t width, double pairs, double single)
{
  for (int image = 0; image < 2; image++) {
    double two_masks = seen_by(cover, height, width, "two-mask", image);
    double one_mask = seen_by(cover, height, width, "one-mask", image);
    if (fabs(two_masks - pairs) > 0) fail_msg("%s: pairs leave %g pixels, expected %g", cover, two_masks, pairs);
    if (fabs(one_mask - single) > 0) fail_msg("%s: masks leave %g pixels, expected %g", cover, one_mask, single);
  }
}

static void test_covers(void **state)
{
  (void)state;
  expect_seen("edges:0.33", 6, 5, 6, 18);    /* strips of 2: left and right leave one column of 6; one leaves 3 of 5 columns */
  expect_seen("edges:0.2", 10, 5, 30, 40);   /* exactly 2 rows and 1 column: top and bottom leave 6 rows, left alone 4 columns */
  expect_seen("edges:0.07", 100, 4, 200, 300); /* 7 rows exactly, 1 column: 2 columns are left */
  expect_seen("frame:0.25", 8, 8, 16, 16);
  expect_seen("frame:0.3", 10, 7, 4, 4);     /* 3 rows, 3 columns: 4 rows of one column */
  expect_seen("square:2,2", 6, 6, 8, 20);    /* stride 3, masks of 4 at 0 and 2 */
  expect_seen("square:2", 13, 13, 151, 160); /* stride 2, masks of 3 (9 pixels) at 0, 2, .., 10: two far apart hide 18 */
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
                               .what = "cover tokens:1,3\nfill 0\n", /* stride 2, windows of 2 at 0, 2, 4: two tokens stay */
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
  static const char *const bad[] = {"cover frame:1\nfill 0x1p-12,0x0p+0\n", "cover frame:1.1\nfill 0x0p+0\n", "cover frame:0\nfill 0x0p+0\n",
                                    "cover ring:1\nfill 0x0p+0\n",         "cover frame\nfill 0x0p+0\n",     "cover square:2\nfill 0x0p+0\n",
                                    "cover frame:1\nfill 0.5\n",           "fill 0x0p+0\ncover frame:1\n",  "cover square:1,0\nfill 0x0p+0\n",
                                    "cover frame:1\nfill 0x1.0000001p+0\n"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    c.what = bad[k];
    expect_again(&c, REFUSED);
  }
}

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
  snprintf(text, sizeof text, "%.*s%s%.*s", (int)before, all, to, (int)(end - before - strlen(from)), at + strlen(from));
  case_seal(text, &last[CASE_CERTIFICATE]);
  return check_files(last);
}

static void test_every_line(void **state)
{
  (void)state;
  struct certificate_case c = small();
  assert_int_equal(check_case(&c), HOLDS);
  assert_int_equal(check_with("method intervals", "method linear"), HOLDS);
  static const char *const bad[][2] = {
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
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    if (check_with(bad[k][0], bad[k][1]) != REFUSED) fail_msg("\"%s\" may become \"%s\"", bad[k][0], bad[k][1]);
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
    {"\"F32\"", "\"F16\""},       {"\"net\"", "\"nat\""},     {"\"net\"", "\"r4\" "},          {"\"input\"", "\"inputs"},
    {"\"shape\"", "\"shade\""},   {"[2,2]", "[2,3]"},         {"[2,2]", "[4,1]"},              {"[2,2]", "[2;2]"},
    {"1.weight", "2.weight"},     {"1.bias", "1.mias"},       {"relu, dense 2", "relu, dense 3"}, {"relu, dense 2", "relu  dense 2"},
    {"relu, dense 2", "relu, dense2 "}, {"relu, dense 2", "relu, dense 0"}, {"relu, dense 2", "relu, dense -"}, {"relu, dense 2", "relu, dense 2)"},
    {"relu, dense 2", "relu,, dense2"}, {"{\"dtype\"", "[\"dtype\""},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    if (strlen(bad[k][0]) == strlen(bad[k][1])) {
      int verdict = check_replaced(CASE_MODEL, bad[k][0], bad[k][1]);
      if (verdict == HOLDS) fail_msg("%s may become %s", bad[k][0], bad[k][1]);
    }
}

static void test_bad_data(void **state)
{
  (void)state;
  static const char *const bad[][2] = {{"x.npy", "z.npy"}, {"y.npy", "x.npy"},       {"mask.npy", "misk.npy"}, {"<f4", "<f8"},
                                       {"<f4", ">f4"},     {"(3, 2)", "(2, 3)"},     {"(3, 2)", "(6, 1)"},     {"False", "True "},
                                       {"NUMPY", "NUMPI"}, {"PK\001\002", "PK\001\003"}, {"PK\003\004", "PK\003\005"}};
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
  EXPECT("${R4}-check", 2, "usage: r4-check CERTIFICATE");
  EXPECT("${R4}-check c model.safetensors data.npz", 0, "0 holds\n1 open\n2 holds\n", "3 lines: 2 hold, 0 do not hold, 0 cannot tell, 1 open",
         "certified accuracy 66.67 % (2 of 3)");
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
    cmocka_unit_test(test_margins_by_hand),
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
    cmocka_unit_test(test_words),
    cmocka_unit_test(test_words_one_by_one),
    cmocka_unit_test(test_covers),
    cmocka_unit_test(test_cover_texts),
    cmocka_unit_test(test_cover_tolerance),
    cmocka_unit_test(test_every_bit),
    cmocka_unit_test(test_every_length),
    cmocka_unit_test(test_every_line),
    cmocka_unit_test(test_bad_models),
    cmocka_unit_test(test_bad_data),
    cmocka_unit_test(test_program),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
