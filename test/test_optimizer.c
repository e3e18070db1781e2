/* Optimisers: first steps by hand, long runs against plain loops in double, options, memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "r4.h"

enum { LARGE = 40000, STEPS = 25 }; /* large enough for several threads and a last short chunk */

static void assert_near(double a, double b, double tolerance)
{
  if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) fail_msg("%.9g is not %.9g", a, b);
}

static r4_optimizer *make(size_t n, r4_optimizer_options p)
{
  r4_error e;
  r4_optimizer *o = r4_optimizer_new(n, &p, &e);
  if (!o) fail_msg("%s", e.text);
  return o;
}

/* w = 1, g = 0.5 twice, rate 0.1, momentum 0.9: v = 0.5, then 0.95. */
static void test_sgd_by_hand(void **state)
{
  (void)state;
  r4_optimizer_options p = {.kind = R4_SGD, .learning_rate = 0.1, .momentum = 0.9};
  r4_optimizer *o = make(1, p);
  float w = 1, g = 0.5f;
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 0.95, 1e-7);
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 0.855, 1e-7);
  r4_optimizer_free(o);
}

/* decay 0.2 on w = 2: g = 0.5 + 0.4 = 0.9. */
static void test_sgd_decay_by_hand(void **state)
{
  (void)state;
  r4_optimizer_options p = {.kind = R4_SGD, .learning_rate = 0.1, .weight_decay = 0.2};
  r4_optimizer *o = make(1, p);
  float w = 2, g = 0.5f;
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 1.91, 1e-7);
  r4_optimizer_free(o);
}

/* The first step of Adam is rate * sign(g), whatever the size of g. Then, with g = 1 and g = -1:
 * m = 0.1, then -0.01; m^ = -0.01/0.19;  v^ = 1;  w = 1 - 0.1 + 0.1 * 0.01/0.19 = 0.9052631579. */
static void test_adam_by_hand(void **state)
{
  (void)state;
  r4_optimizer_options p = r4_optimizer_defaults(R4_ADAM);
  p.learning_rate = 0.1;
  r4_optimizer *o = make(3, p);
  float w[3] = {1, 1, 1}, g[3] = {1, 1e-3f, -1e3f};
  r4_optimizer_step(o, w, g);
  assert_near(w[0], 0.9, 1e-6);
  assert_near(w[1], 1 - 0.1 * 1e-3 / (1e-3 + 1e-8), 1e-6);
  assert_near(w[2], 1.1, 1e-6);
  g[0] = -1;
  r4_optimizer_step(o, w, g);
  assert_near(w[0], 0.9052631579, 1e-6);
  r4_optimizer_free(o);
}

/* Epsilon is added after the correction of v: g = 1e-4, epsilon = 1e-4 halves the first step. */
static void test_adam_epsilon(void **state)
{
  (void)state;
  r4_optimizer_options p = r4_optimizer_defaults(R4_ADAM);
  p.epsilon = 1e-4;
  r4_optimizer *o = make(1, p);
  float w = 0, g = 1e-4f;
  r4_optimizer_step(o, &w, &g);
  assert_near(w * 1e3, -0.5, 1e-5);
  r4_optimizer_free(o);
}

/* Decay of AdamW acts on w apart: g = 0 still shrinks w to w (1 - rate decay); Adam's decay is a
 * gradient and moves w by the full rate. */
static void test_decay_of_adam_and_adamw(void **state)
{
  (void)state;
  r4_optimizer_options p = r4_optimizer_defaults(R4_ADAMW);
  p.learning_rate = 0.1;
  p.weight_decay = 0.5;
  r4_optimizer *o = make(1, p);
  float w = 2, g = 0;
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 2 * 0.95, 1e-7);
  r4_optimizer_free(o);
  p.kind = R4_ADAM;
  o = make(1, p);
  w = 2;
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 1.9, 1e-6);
  r4_optimizer_free(o);
}

/* The same in double and the long way: every past gradient is kept and summed with its weight. */
static double plain_adam(const r4_optimizer_options *p, double w, const float *g, size_t stride)
{
  double past[STEPS];
  for (int t = 1; t <= STEPS; t++) {
    double m = 0, v = 0;
    past[t - 1] = g[(size_t)(t - 1) * stride] + (p->kind == R4_ADAM ? p->weight_decay * w : 0);
    for (int s = 1; s <= t; s++) {
      m += (1 - p->beta1) * pow(p->beta1, t - s) * past[s - 1];
      v += (1 - p->beta2) * pow(p->beta2, t - s) * past[s - 1] * past[s - 1];
    }
    if (p->kind == R4_ADAMW) w -= p->learning_rate * p->weight_decay * w;
    w -= p->learning_rate * (m / (1 - pow(p->beta1, t))) / (sqrt(v / (1 - pow(p->beta2, t))) + p->epsilon);
  }
  return w;
}

static double plain_sgd(const r4_optimizer_options *p, double w, const float *g, size_t stride)
{
  double past[STEPS];
  for (int t = 0; t < STEPS; t++) {
    past[t] = g[(size_t)t * stride] + p->weight_decay * w;
    for (int s = 0; s <= t; s++) w -= p->learning_rate * pow(p->momentum, t - s) * past[s];
  }
  return w;
}

static void compare_run(r4_optimizer_options p)
{
  float *g = malloc(sizeof *g * LARGE * STEPS), *w = malloc(sizeof *w * LARGE);
  assert_true(g && w);
  for (uint64_t i = 0; i < (uint64_t)LARGE * STEPS; i++)
    g[i] = (float)r4_random_normal((r4_random){1, 0, 0}, i);
  for (uint64_t i = 0; i < LARGE; i++) w[i] = (float)r4_random_normal((r4_random){2, 0, 0}, i);
  r4_optimizer *o = make(LARGE, p);
  for (size_t t = 0; t < STEPS; t++) r4_optimizer_step(o, w, g + t * LARGE);
  r4_optimizer_free(o);
  for (uint64_t i = 0; i < LARGE; i += i < LARGE - 20 ? 17 : 1) {
    double start = (float)r4_random_normal((r4_random){2, 0, 0}, i);
    double want = (p.kind == R4_SGD ? plain_sgd : plain_adam)(&p, start, g + i, LARGE);
    assert_near(w[i], want, 2e-5);
  }
  free(g);
  free(w);
}

static void test_long_runs(void **state)
{
  (void)state;
  for (r4_optimizer_kind kind = R4_SGD; kind <= R4_ADAMW; kind++) {
    r4_optimizer_options p = r4_optimizer_defaults(kind);
    p.learning_rate = 0.01;
    compare_run(p);
    p.weight_decay = 0.3;
    compare_run(p);
  }
  compare_run((r4_optimizer_options){.kind = R4_SGD, .learning_rate = 0.01});
}

static void test_set_rate(void **state)
{
  (void)state;
  r4_optimizer_options p = {.kind = R4_SGD, .learning_rate = 0.1};
  r4_optimizer *o = make(1, p);
  float w = 1, g = 1;
  assert_int_equal(r4_optimizer_set_rate(o, 0.5, NULL), R4_OK);
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 0.5, 1e-7);
  assert_int_equal(r4_optimizer_set_rate(o, NAN, NULL), R4_E_ARGUMENT);
  assert_int_equal(r4_optimizer_set_rate(o, -1, NULL), R4_E_ARGUMENT);
  r4_optimizer_step(o, &w, &g);
  assert_near(w, 0, 1e-7);
  r4_optimizer_free(o);
}

/* A range with factor f moves as all weights do with f times the rate, bit for bit; a frozen one stays, and its state,
 * too, though it has a gradient and decay. Ranges begin and end within chunks. */
static void test_ranges(void **state)
{
  (void)state;
  enum { A = 5000, B = 9001, C = 9003, D = 30000 };
  static float w[LARGE], g[LARGE], whole[LARGE], quarter[LARGE];
  const r4_rate_range range[] = {{A, B - A, 0}, {B, C - B, 0.25}, {C, 0, 7}, {C, D - C, 1}};
  for (r4_optimizer_kind kind = R4_SGD; kind <= R4_ADAMW; kind++) {
    r4_optimizer_options p = r4_optimizer_defaults(kind);
    p.weight_decay = 0.3;
    r4_optimizer *some = make(LARGE, p), *all = make(LARGE, p), *slow = make(LARGE, p);
    assert_int_equal(r4_optimizer_set_ranges(some, 4, range, NULL), R4_OK);
    assert_int_equal(r4_optimizer_set_rate(slow, p.learning_rate / 4, NULL), R4_OK);
    for (uint64_t i = 0; i < LARGE; i++)
      w[i] = whole[i] = quarter[i] = (float)r4_random_normal((r4_random){2, 0, 0}, i);
    for (uint64_t t = 0; t < 3; t++) {
      for (uint64_t i = 0; i < LARGE; i++)
        g[i] = (float)r4_random_normal((r4_random){3, 0, 0}, t * LARGE + i);
      r4_optimizer_step(some, w, g);
      r4_optimizer_step(all, whole, g);
      r4_optimizer_step(slow, quarter, g);
    }
    for (uint64_t i = A; i < B; i++) assert_true(w[i] == (float)r4_random_normal((r4_random){2, 0, 0}, i));
    assert_memory_equal(w, whole, A * sizeof *w);
    assert_memory_equal(w + B, quarter + B, (C - B) * sizeof *w);
    assert_memory_equal(w + C, whole + C, (LARGE - C) * sizeof *w);
    size_t n;
    int64_t steps;
    const float *kept = r4_optimizer_state(some, &n, &steps);
    for (size_t i = A; i < B; i++) assert_true(kept[i] == 0 && kept[n - LARGE + i] == 0);
    assert_int_equal(r4_optimizer_set_ranges(some, 0, NULL, NULL), R4_OK);
    r4_optimizer_step(some, w, g);
    assert_true(w[A] != (float)r4_random_normal((r4_random){2, 0, 0}, A));
    r4_optimizer_free(some);
    r4_optimizer_free(all);
    r4_optimizer_free(slow);
  }
}

static void refuses_ranges(size_t n, const r4_rate_range *range, const char *text)
{
  r4_error e;
  r4_optimizer *o = make(10, r4_optimizer_defaults(R4_SGD));
  assert_int_equal(r4_optimizer_set_ranges(o, n, range, &e), R4_E_ARGUMENT);
  if (!strstr(e.text, text)) fail_msg("\"%s\", expected \"%s\"", e.text, text);
  float w[10] = {0}, g[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  r4_optimizer_step(o, w, g); /* as before */
  assert_true(w[0] < 0 && w[9] < 0);
  r4_optimizer_free(o);
}

static void test_wrong_ranges(void **state)
{
  (void)state;
  refuses_ranges(1, (r4_rate_range[]){{0, 11, 0}},
                 "range 0 has 11 weights from 0 on, expected some of 0 to 10");
  refuses_ranges(1, (r4_rate_range[]){{11, 0, 0}}, "range 0 has 0 weights from 11 on");
  refuses_ranges(1, (r4_rate_range[]){{5, SIZE_MAX, 0}}, "from 5 on");
  refuses_ranges(2, (r4_rate_range[]){{2, 3, 0}, {4, 1, 0}},
                 "range 1 has 1 weights from 4 on, expected some of 5");
  refuses_ranges(1, (r4_rate_range[]){{0, 1, NAN}}, "the factor nan");
  refuses_ranges(1, (r4_rate_range[]){{0, 1, -1}}, "the factor -1");
  refuses_ranges(1, (r4_rate_range[]){{0, 1, INFINITY}}, "the factor inf");
  r4_optimizer *o = make(10, r4_optimizer_defaults(R4_SGD));
  r4_mem_fail_at(1);
  assert_int_equal(r4_optimizer_set_ranges(o, 0, NULL, NULL), R4_E_MEMORY);
  r4_mem_fail_at(0);
  r4_optimizer_free(o);
}

static void assert_refused(r4_optimizer_options p, const char *word)
{
  r4_error e;
  assert_null(r4_optimizer_new(1, &p, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  if (!strstr(e.text, word)) fail_msg("\"%s\" does not name %s", e.text, word);
  assert_null(r4_optimizer_new(1, &p, NULL));
}

/* Each field of each kind that uses it. */
static const struct {
  const char *name;
  size_t offset;
  r4_optimizer_kind kind;
} field[] = {
  {"learning_rate", offsetof(r4_optimizer_options, learning_rate), R4_SGD},
  {"momentum", offsetof(r4_optimizer_options, momentum), R4_SGD},
  {"weight_decay", offsetof(r4_optimizer_options, weight_decay), R4_ADAM},
  {"beta1", offsetof(r4_optimizer_options, beta1), R4_ADAM},
  {"beta2", offsetof(r4_optimizer_options, beta2), R4_ADAMW},
  {"epsilon", offsetof(r4_optimizer_options, epsilon), R4_ADAMW},
};

static void test_options(void **state)
{
  (void)state;
  const double wrong[] = {NAN, INFINITY, -INFINITY, -1e-9};
  for (size_t f = 0; f < sizeof field / sizeof *field; f++) {
    for (size_t k = 0; k < 4; k++) {
      r4_optimizer_options p = r4_optimizer_defaults(field[f].kind);
      memcpy((char *)&p + field[f].offset, &wrong[k], sizeof wrong[k]);
      assert_refused(p, field[f].name);
    }
  }
  assert_refused((r4_optimizer_options){.kind = (r4_optimizer_kind)9}, "kind");
  r4_optimizer_options p = r4_optimizer_defaults(R4_ADAM);
  p.beta2 = 1;
  assert_refused(p, "beta2");
  assert_null(r4_optimizer_new(1, NULL, NULL));
}

static void test_memory(void **state)
{
  (void)state;
  r4_optimizer_options p = r4_optimizer_defaults(R4_ADAM);
  r4_error e;
  for (long n = 1;; n++) {
    r4_mem_fail_at(n);
    r4_optimizer *o = r4_optimizer_new(100, &p, &e);
    if (o) {
      float w[100] = {0}, g[100] = {0};
      long before = r4_mem_count();
      r4_optimizer_step(o, w, g);
      assert_true(r4_mem_count() == before);
      r4_optimizer_free(o);
      break;
    }
    assert_int_equal(e.status, R4_E_MEMORY);
  }
  r4_mem_fail_at(0);
  assert_null(r4_optimizer_new(SIZE_MAX / 8, &p, &e));
  assert_int_equal(e.status, R4_E_MEMORY);
  r4_optimizer_free(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sgd_by_hand),
    cmocka_unit_test(test_sgd_decay_by_hand),
    cmocka_unit_test(test_adam_by_hand),
    cmocka_unit_test(test_adam_epsilon),
    cmocka_unit_test(test_decay_of_adam_and_adamw),
    cmocka_unit_test(test_long_runs),
    cmocka_unit_test(test_set_rate),
    cmocka_unit_test(test_ranges),
    cmocka_unit_test(test_wrong_ranges),
    cmocka_unit_test(test_options),
    cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("optimizer", tests, NULL, NULL);
}
