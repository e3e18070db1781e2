/* r4-check where intervals cannot tell: its linear bounds and its branching. What it says holds is compared with tiny
 * nets whose least margins are enumerated, with points, and with corners of boxes of affine nets, where nothing may be
 * lost. */
#include "checker_case.h"
#include "enumerate_case.h"

#define LINEAR "claim box\nsemantics real\nmethod linear\n"

/* ---- By hand ---- */

/* z = 1e8 x0 - 1e8 x0 + x1: what cancels is lost to intervals. */
static const struct certificate_case cancelling = {.net = "dense 3, relu, dense 1 nobias",
                                                   .input = {1, {2}},
                                                   .weight = FLOATS(1, 0, 1, 0, 0, 1, 0, 0, 0, 1e8f, -1e8f, 1),
                                                   .n = 1,
                                                   .x = FLOATS(3, 0.5f),
                                                   .mask = FLOATS(1, 0),
                                                   .claim = LINEAR,
                                                   .what = "eps 1\n",
                                                   .line = {{1, 1, 0.5}}};

static void test_what_cancels(void **state)
{
  (void)state;
  struct certificate_case c = cancelling;
  expect_margin(c, 0.5);
  c.claim = "claim box\nsemantics real\nmethod complete\n";
  expect_margin(c, 0.5);
  c.claim = REAL_BOX; /* what is said to be by intervals is checked by them */
  expect_case(&c, CANNOT_TELL);
  c.claim = "claim box\nsemantics any-float\nmethod linear\n"; /* lines are of real arithmetic */
  expect_case(&c, CANNOT_TELL);
}

/* z = relu(x) - relu(x - 1/2) + b of x in [-1, 1] is at least b. Lines lose 1/4 at best; halves nothing. */
static void test_kink(void **state)
{
  (void)state;
  struct certificate_case c = {.net = "dense 2, relu, dense 1",
                               .input = {1, {1}},
                               .weight = FLOATS(1, 1, 0, -0.5f, 1, -1, 0.125f),
                               .n = 1,
                               .x = FLOATS(0),
                               .mask = FLOATS(1),
                               .claim = LINEAR,
                               .what = "eps 1\n",
                               .line = {{1, 1, 0.124999}}};
  expect_case(&c, HOLDS);
  c.line[0].margin = 0.125001;
  expect_again(&c, DOES_NOT_HOLD);
  c.weight = FLOATS(1, 1, 0, -0.5f, 1, -1, 0.375f); /* intervals have -1 + 0.375, lines 1/8 and a search */
  c.line[0].margin = 0.1249;
  expect_case(&c, HOLDS);
}

/* Where a chord would be infinite or is not a number, nothing is told. */
static void test_overflow(void **state)
{
  (void)state;
  char net[300] = "";
  float w[14] = {0};
  for (int k = 0; k < 9; k++) {
    snprintf(net + strlen(net), sizeof net - strlen(net), "dense 1 nobias, ");
    w[k] = 3e38f;
  }
  snprintf(net + strlen(net), sizeof net - strlen(net), "relu, dense 2");
  for (int sign = -1; sign < 2; sign += 2) {
    memcpy(w + 9, FLOATS(0, (float)sign, 2, 0), 4 * sizeof *w);
    struct certificate_case c = {.net = net,
                                 .input = {1, {1}},
                                 .weight = w,
                                 .n = 1,
                                 .x = FLOATS(0x1p-100f),
                                 .mask = FLOATS(1),
                                 .claim = LINEAR,
                                 .what = "eps 0.5\n",
                                 .line = {{0, 0, 1}}};
    int verdict = check_case(&c);
    assert_true(sign < 0 ? verdict == CANNOT_TELL || verdict == HOLDS : verdict != HOLDS);
  }
}

/* z = 2^40 relu(x) - 2^40 relu(x) - 2^-7 relu(x) + 1, of which the checker knows factors only to 2^-46: what is left
 * may have either sign, and the lines above are to be taken. */
static void test_sign_not_known(void **state)
{
  (void)state;
  static const char text[] = "dense 1 nobias, relu, sum(batchnorm eps 0.5; batchnorm eps 0.5; batchnorm eps 0.5), "
                             "dense 1";
  static const float factor[] = {0x1p40f, -0x1p40f, -0x1p-7f};
  float w[32];
  r4_net *n = r4_net_open(text, R4_SHAPE(1), NULL);
  for (size_t k = 0, sums = 0; k < r4_net_params(n); k++) {
    const char *name = r4_net_param_name(n, k), *what = strrchr(name, '.');
    float *to = w + r4_net_param_offset(n, k);
    bool sum = strstr(name, "2.") == name;
    *to = !strcmp(what, ".weight") ? (sum ? factor[sums++] : 1) : !strcmp(what, ".running_var") ? 0.5f : 0;
    if (!sum && !strcmp(what, ".bias")) *to = 1;
  }
  r4_net_free(n);
  struct certificate_case c = {.net = text,
                               .input = {1, {1}},
                               .weight = w,
                               .n = 1,
                               .x = FLOATS(0),
                               .mask = FLOATS(1),
                               .claim = LINEAR,
                               .what = "eps 1\n",
                               .line = {{1, 1, 0.9}}};
  expect_case(&c, HOLDS);
  c.line[0].margin = 1 - 0x1p-8; /* more than 1 - 2^-7 */
  int verdict = check_again(&c);
  assert_true(verdict == CANNOT_TELL || verdict == DOES_NOT_HOLD);
}

/* ---- Boxes of a net that the checker has read ---- */

static struct part_case {
  const char *net;
  r4_shape input;
  bool affine; /* without relus: the least margin is at a corner, and nothing may be lost */
} parts[] = {
  {"dense 3", {1, {4}}, true},
  {"conv 3 3 s2 p1, flatten, dense 3", {3, {5, 4, 2}}, true},
  {"conv 4 2 p0/1 d2 g2, flatten, dense 3 nobias", {3, {5, 5, 2}}, true},
  {"depthwise 2 same s2 m2, flatten, dense 3", {3, {5, 4, 2}}, true},
  {"normalize mean 0.1/0.2 std 0.5/0.25, avgpool 3 s2 p1, flatten, dense 3", {3, {4, 5, 2}}, true},
  {"conv 5 3, batchnorm eps 0.01, globalpool, dense 1", {3, {5, 4, 2}}, true},
  {"residual(dense 4, residual(dense 4; dense 4)), sum(dense 3; dense 3 nobias; dense 3), leaf", {1, {4}}, true},
  {"conv 3 3 p1, relu, conv 3 2 s2, relu, flatten, dense 3", {3, {5, 4, 2}}, false},
  {"dense 4, relu6, dense 5, relu6, dense 3", {1, {4}}, false},
  {"normalize std 0.05, dense 4, relu6, dense 3", {1, {4}}, false}, /* beyond 6 */
  {"conv 3 1, residual(conv 3 3 p1, relu, conv 3 1; relu), batchnorm, relu, globalpool, dense 3",
   {3, {3, 4, 2}},
   false},
  {"dense 6, relu, residual(dense 6, relu, dense 6), relu, dense 1", {1, {4}}, false},
  {"conv 4 3, normalize std 0.5, relu, avgpool 2, flatten, dense 3, relu, dense 3", {3, {6, 5, 1}}, false},
};

enum { MOST = 600, POINTS = 600 };
static float weight[MOST], point[50];

/* The checker's net of a case, in checked_net. */
static void open_part(const struct part_case *p, uint32_t k, float scale)
{
  static float mask[50];
  r4_net *n = r4_net_open(p->net, p->input, NULL);
  assert_non_null(n);
  assert_true(r4_net_size(n) <= MOST && r4_shape_count(p->input) <= 50);
  draw_start(901, k);
  for (size_t i = 0; i < r4_net_params(n); i++) {
    bool positive = strstr(r4_net_param_name(n, i), "running_var");
    float *to = weight + r4_net_param_offset(n, i);
    for (int64_t j = 0; j < r4_shape_count(r4_net_param_shape(n, i)); j++)
      to[j] = (float)(positive ? draw(0.1, 2) : scale * draw(-1, 1));
  }
  r4_net_free(n);
  for (size_t i = 0; i < 50; i++) point[i] = (float)draw(-1, 1);
  check_case(&(struct certificate_case){.net = p->net,
                                        .input = p->input,
                                        .weight = weight,
                                        .n = 1,
                                        .x = point,
                                        .mask = mask,
                                        .claim = LINEAR,
                                        .what = "eps 0\n",
                                        .line = {{0, 0, 0}}});
  if (*reason) fail_msg("%s: %s", p->net, reason);
}

static bool proves(const double *lo, const double *hi, int64_t class, double margin)
{
  struct value x;
  fesetround(FE_UPWARD);
  x = value_new(checked_net.in);
  for (size_t i = 0; i < shape_size(&checked_net.in) * LANES; i++) x.up[i] = hi[i / LANES], x.dn[i] = -lo[i / LANES];
  bool proved = net_proves(&checked_net, x, class, margin);
  fesetround(FE_TONEAREST);
  return proved;
}

/* The margin at a point, by intervals, which test_check.c compares with the engine. */
static double margin_at(const double *x, int64_t class)
{
  static const struct certificate real = {.semantics = REAL};
  struct batch b = {.x = {.up = NULL}};
  fesetround(FE_UPWARD);
  b.x = value_new(checked_net.in);
  for (size_t i = 0; i < shape_size(&checked_net.in) * LANES; i++)
    b.x.up[i] = x[i / LANES], b.x.dn[i] = -x[i / LANES];
  for (int k = 0; k < LANES; k++) b.class[k] = class;
  double low = net_margins(&checked_net, &real, &b).low[0];
  fesetround(FE_TONEAREST);
  return low;
}

/* At a point walking back gives what walking ahead does. */
static void test_points(void **state)
{
  (void)state;
  for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    open_part(&parts[k], k, 1);
    for (int trial = 0; trial < 6; trial++) {
      double x[50];
      int64_t class = (int64_t)draw_below(checked_net.classes);
      for (size_t i = 0; i < 50; i++) x[i] = draw(-1, 1);
      double m = margin_at(x, class), small = 1e-9 * (1 + fabs(m));
      if (!proves(x, x, class, m - small)) fail_msg("%s: less than %g is not proved of a point", parts[k].net, m);
      if (proves(x, x, class, m + small)) fail_msg("%s: more than %g is proved of a point", parts[k].net, m);
    }
  }
}

/* The corner that is least, if the margin of class against one other is affine. */
static double least_corner(size_t n, const double *lo, const double *hi, int64_t class)
{
  double x[50], least = INFINITY;
  for (int trial = 0; trial < 200; trial++) { /* of several classes: downhill along edges, from many corners */
    for (size_t i = 0; i < n; i++) x[i] = draw_below(2) ? lo[i] : hi[i];
    double now = margin_at(x, class);
    for (size_t i = 0; i < n; i++) {
      double was = x[i];
      x[i] = was == lo[i] ? hi[i] : lo[i];
      double other = margin_at(x, class);
      if (other < now) now = other;
      else x[i] = was;
    }
    least = fmin(least, now);
    if (trial > 3 && n > 8) break;
  }
  return least;
}

static void test_affine_nets(void **state)
{
  (void)state;
  for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (!parts[k].affine) continue;
    open_part(&parts[k], k, 1);
    size_t n = shape_size(&checked_net.in);
    double lo[50], hi[50];
    for (size_t i = 0; i < n; i++) {
      lo[i] = draw(-1, 1);
      hi[i] = draw_below(3) ? lo[i] + draw(0, 1) : lo[i];
    }
    for (int64_t class = 0; class < (int64_t)checked_net.classes; class++) {
      double m = least_corner(n, lo, hi, class), small = 1e-9 * (1 + fabs(m));
      if (!proves(lo, hi, class, m - small)) fail_msg("%s: less than %g is not proved", parts[k].net, m);
      if (proves(lo, hi, class, m + small)) fail_msg("%s: more than %g is proved", parts[k].net, m);
    }
  }
}

/* Of any box, no point is below what is proved. */
static void test_boxes(void **state)
{
  (void)state;
  size_t closer = 0, all = 0;
  for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    open_part(&parts[k], k, 1);
    size_t n = shape_size(&checked_net.in);
    for (int64_t class = 0; class < (int64_t)checked_net.classes && !parts[k].affine; class++) {
      double lo[50], hi[50], x[50], least = INFINITY, proved = -1000;
      for (size_t i = 0; i < n; i++) lo[i] = draw(-1, 1), hi[i] = draw_below(2) ? lo[i] + draw(0, 0.6) : lo[i];
      for (int t = 0; t < POINTS; t++) {
        for (size_t i = 0; i < n; i++) x[i] = t % 2 ? (draw_below(2) ? lo[i] : hi[i]) : draw(lo[i], hi[i]);
        for (size_t i = 0; i < n; i++) x[i] = fmin(fmax(x[i], lo[i]), hi[i]);
        least = fmin(least, margin_at(x, class));
      }
      for (double by = 512; by > 0.02; by /= 2)
        if (proves(lo, hi, class, proved + by)) proved += by;
      if (proved > least + 1e-9) fail_msg("%s: at least %g is proved, and there is %g", parts[k].net, proved, least);
      closer += proved > least - 0.1 * (1 + fabs(least)), all++;
    }
  }
  print_message("# %zu of %zu boxes are bounded within a tenth\n", closer, all);
  assert_true(4 * closer > 3 * all);
}

/* ---- Enumeration ---- */

static void draw_tiny(struct tiny *n, char net[80], float *w)
{
  size_t in = FEATURES, count = 0;
  *n = (struct tiny){.layers = 1 + draw_below(2), .weights = w};
  *net = 0;
  for (size_t l = 0; l <= n->layers; in = n->width[l++]) {
    n->width[l] = l < n->layers ? 2 + draw_below(4) : 3;
    snprintf(net + strlen(net), 80 - strlen(net), "%sdense %zu", l ? ", relu, " : "", n->width[l]);
    for (size_t k = 0; k < (in + 1) * n->width[l]; k++) w[count++] = (float)draw(-1, 1);
  }
}

/* A little less than is true is proved, and a little more is not. */
static void test_enumerated(void **state)
{
  (void)state;
  int asked = 0, held = 0;
  for (uint32_t round = 0; round < 150; round++) {
    struct tiny n;
    char net[80];
    float w[200];
    double lo[FEATURES], hi[FEATURES];
    draw_start(902, round);
    draw_tiny(&n, net, w);
    for (int i = 0; i < FEATURES; i++) lo[i] = draw(-2, 1), hi[i] = lo[i] + draw(0, 3);
    float x[FEATURES] = {0}, mask[FEATURES] = {0};
    check_case(&(struct certificate_case){.net = net,
                                          .input = {1, {FEATURES}},
                                          .weight = w,
                                          .n = 1,
                                          .x = x,
                                          .mask = mask,
                                          .claim = LINEAR,
                                          .what = "eps 0\n",
                                          .line = {{0, 0, 0}}});
    for (int class = 0; class < 3; class++) {
      double least = INFINITY;
      for (int j = 0; j < 3; j++) {
        struct question q = {.functionals = 1, .outputs = 3, .coef = {0}};
        q.coef[class] = 1, q.coef[j] = -1;
        if (j != class) least = fmin(least, exact_least(&n, lo, hi, &q));
      }
      if (proves(lo, hi, class, least + 1e-9 * (1 + fabs(least)))) fail_msg("%s: more than %g is proved", net, least);
      asked++, held += proves(lo, hi, class, least - 1e-3 * (1 + fabs(least)));
    }
  }
  print_message("# %d of %d are proved within a thousandth\n", held, asked);
  assert_true(held > asked * 9 / 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_cancels),   cmocka_unit_test(test_kink),   cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_sign_not_known), cmocka_unit_test(test_points), cmocka_unit_test(test_affine_nets),
    cmocka_unit_test(test_boxes),          cmocka_unit_test(test_enumerated),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
