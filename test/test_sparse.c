/* Products with many zeros against the definition. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"

enum { TRIALS = 24, THREADS = 3, FEWEST = 1 << 22 };

/* x w^T, or h^T x: x is operand "weights". */
static struct kernel_request request(bool weights, int64_t examples, int64_t features, int64_t columns)
{
  struct kernel_request q = {.op = &op_matmul, .type = R4_F32, .n = 2};
  q.in[weights] = R4_SHAPE(examples, features);
  q.in[!weights] = weights ? R4_SHAPE(examples, columns) : R4_SHAPE(columns, features);
  q.out = weights ? R4_SHAPE(columns, features) : R4_SHAPE(examples, columns);
  q.attr.i[0] = weights, q.attr.i[1] = !weights;
  q.outside[weights] = true;
  return q;
}

static struct kernel_request draw_request(bool weights)
{
  int64_t examples, features, columns;
  do {
    examples = draw_between(1, 200), features = draw_between(1, 900), columns = 16 * draw_between(1, 24);
  } while (examples * features * columns < FEWEST);
  struct kernel_request q = request(weights, examples, features, columns);
  q.bias = !weights && draw_below(2), q.relu = !weights && draw_below(2), q.accumulate = draw_below(2);
  return q;
}

/* ---- Running: operands of exactly their size, so that a sanitizer sees what is read beyond ---- */

enum { BIAS = 2, OUT = 3, PARTS };

struct data {
  float *f[PARTS]; /* operands, bias, what is added to and then the result */
  double *d[PARTS];
  size_t n[PARTS];
};

/* Zeros come in runs, as in images. */
static void put_zeros(struct data *x, int part, double share)
{
  for (size_t i = 0; i < x->n[part];) {
    size_t run = 1 + draw_below(20);
    bool zero = draw(0, 1) < share;
    for (; run && i < x->n[part]; run--, i++)
      if (zero) x->d[part][i] = 0;
  }
}

static void make_data(const struct kernel_request *q, double zeros, struct data *x)
{
  x->n[0] = (size_t)r4_shape_count(q->in[0]), x->n[1] = (size_t)r4_shape_count(q->in[1]);
  x->n[BIAS] = (size_t)q->out.dim[1], x->n[OUT] = (size_t)r4_shape_count(q->out);
  for (int k = 0; k < PARTS; k++) {
    x->f[k] = malloc(x->n[k] * sizeof *x->f[k]);
    x->d[k] = malloc(x->n[k] * sizeof *x->d[k]);
    assert_true(x->f[k] && x->d[k]);
    for (size_t i = 0; i < x->n[k]; i++) x->d[k][i] = draw(-1, 1);
    if (k < 2 && q->outside[k]) put_zeros(x, k, zeros);
    for (size_t i = 0; i < x->n[k]; i++) x->f[k][i] = (float)x->d[k][i];
  }
}

static void free_data(struct data *x)
{
  for (int k = 0; k < PARTS; k++) {
    free(x->f[k]);
    free(x->d[k]);
  }
}

/* The result by the definition, in double, into d[OUT]. */
static void define(const struct kernel_request *q, struct data *x)
{
  r4_error e;
  struct kernel *k;
  struct kernel_request plain = *q;
  plain.type = R4_F64, plain.bias = plain.relu = plain.accumulate = false;
  double *product = malloc(x->n[OUT] * sizeof *product);
  assert_non_null(product);
  assert_int_equal(kernel_new(&plain, &k, &e), R4_OK);
  assert_int_equal(k->run(k, (void *[]){x->d[0], x->d[1]}, product, &e), R4_OK);
  kernel_free(k);
  for (size_t i = 0; i < x->n[OUT]; i++) {
    if (q->bias) product[i] += x->d[BIAS][i % x->n[BIAS]];
    if (q->accumulate) product[i] += x->d[OUT][i];
    x->d[OUT][i] = q->relu && product[i] < 0 ? 0 : product[i];
  }
  free(product);
}

static struct kernel *make(const struct kernel_request *q)
{
  r4_error e;
  struct kernel *k;
  assert_int_equal(kernel_new(q, &k, &e), R4_OK);
  assert_string_equal(k->name, "sparse matmul");
  return k;
}

/* Runs on a copy of what is added to. */
static void run(struct kernel *k, const struct data *x, float *out)
{
  r4_error e;
  memcpy(out, x->f[OUT], x->n[OUT] * sizeof *out);
  assert_int_equal(k->run(k, (void *[]){x->f[0], x->f[1], x->f[BIAS]}, out, &e), R4_OK);
}

static void compare(const struct kernel_request *q, double zeros, const char *by)
{
  struct data x;
  make_data(q, zeros, &x);
  struct kernel *k = make(q);
  float *got = malloc(x.n[OUT] * sizeof *got), *again = malloc(x.n[OUT] * sizeof *again);
  double *wide = malloc(x.n[OUT] * sizeof *wide);
  assert_true(got && again && wide);
  run(k, &x, got);
  assert_string_equal(k->name, by);
  omp_set_num_threads(1); /* fewer than the kernel was made for: the same bits */
  run(k, &x, again);
  omp_set_num_threads(THREADS);
  if (!strcmp(by, "sparse matmul")) assert_memory_equal(got, again, x.n[OUT] * sizeof *got);
  define(q, &x);
  for (size_t i = 0; i < x.n[OUT]; i++) wide[i] = (double)got[i];
  assert_close("matmul", wide, x.d[OUT], x.n[OUT], 2e-5, 1e-3);
  free(got);
  free(again);
  free(wide);
  kernel_free(k);
  free_data(&x);
}

/* ---- Tests ---- */

static void test_random(void **state)
{
  (void)state;
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    draw_start(1, trial);
    struct kernel_request q = draw_request(trial % 2);
    compare(&q, 0.95, "sparse matmul");
  }
}

static void test_all_zero(void **state)
{
  (void)state;
  for (int weights = 0; weights < 2; weights++) {
    struct kernel_request q = request(weights, 100, 500, 96);
    compare(&q, 1.1, "sparse matmul");
  }
}

static void test_few_zeros_are_left_to_onednn(void **state)
{
  (void)state;
  for (int weights = 0; weights < 2; weights++) {
    struct kernel_request q = request(weights, 100, 500, 96);
    compare(&q, 0.02, "oneDNN matmul");
  }
}

/* What must come out where something is not finite: 0 times infinity is not a number. */
static void test_not_finite(void **state)
{
  (void)state;
  const float bad[] = {INFINITY, -INFINITY, NAN};
  for (int c = 0; c < 12; c++) {
    int weights = c % 2, in_x = c / 2 % 2;
    struct kernel_request q = request(weights, 100, 500, 96);
    struct data x;
    make_data(&q, 0.95, &x);
    struct kernel *k = make(&q);
    int part = in_x ? weights : !weights;
    size_t at = draw_below(x.n[part]);
    x.f[part][at] = bad[c / 4];
    x.d[part][at] = (double)bad[c / 4];
    float *got = malloc(x.n[OUT] * sizeof *got);
    assert_non_null(got);
    run(k, &x, got);
    define(&q, &x);
    for (size_t i = 0; i < x.n[OUT]; i++) {
      assert_int_equal(isnan(got[i]) != 0, isnan(x.d[OUT][i]) != 0);
      assert_int_equal(isinf(got[i]) != 0, isinf(x.d[OUT][i]) != 0);
    }
    free(got);
    kernel_free(k);
    free_data(&x);
  }
}

/* Not sparse's: other transpositions, columns that are no panels, small products, operands computed inside. */
static void test_not_this_one(void **state)
{
  (void)state;
  struct kernel_request q[5];
  for (int k = 0; k < 5; k++) q[k] = request(false, 100, 500, 96);
  q[0].in[1] = R4_SHAPE(500, 96), q[0].attr.i[1] = 0;
  q[1] = request(false, 100, 500, 100);
  q[2] = request(true, 100, 100, 96);
  q[3].outside[0] = false;
  q[4].in[0] = R4_SHAPE(500, 100), q[4].attr.i[0] = 1, q[4].outside[1] = true;
  for (int k = 0; k < 5; k++) {
    r4_error e;
    struct kernel *kernel;
    assert_int_equal(kernel_new(&q[k], &kernel, &e), R4_OK);
    assert_string_equal(kernel->name, q[k].attr.i[0] && !q[k].attr.i[1] ? "oneDNN gemm" : "oneDNN matmul");
    kernel_free(kernel);
  }
}

/* In a plan: examples as they came, also reshaped, but not what was computed from them. */
static void test_in_a_plan(void **state)
{
  (void)state;
  for (int computed = 0; computed < 2; computed++) {
    r4_error e;
    r4_graph *g = r4_graph_new();
    r4_id x = r4_input(g, "x", R4_SHAPE(100, 20, 25)), w = r4_input(g, "w", R4_SHAPE(96, 500));
    if (computed) x = r4_sum(g, r4_square(g, r4_reshape(g, x, R4_SHAPE(100, 500, 1))), R4_AXIS(2));
    r4_id y = r4_matmul(g, r4_reshape(g, x, R4_SHAPE(100, 500)), w, false, true);
    r4_plan *p = r4_plan_new(g, 1, &y, NULL, &e);
    assert_non_null(p);
    char *text = r4_plan_text(p);
    assert_non_null(text);
    assert_true(strstr(text, computed ? "oneDNN matmul" : "sparse matmul"));
    r4_string_free(text);
    r4_plan_free(p);
    r4_graph_free(g);
  }
}

static void test_out_of_memory(void **state)
{
  (void)state;
  for (int weights = 0; weights < 2; weights++) {
    struct kernel_request q = request(weights, 100, 500, 96);
    struct kernel *k = NULL;
    r4_error e;
    for (long n = 1; !k; n++) {
      assert_true(n < 20);
      r4_mem_fail_at(n);
      r4_status s = kernel_new(&q, &k, &e);
      r4_mem_fail_at(0);
      assert_int_equal(s, k ? R4_OK : R4_E_MEMORY);
    }
    kernel_free(k);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_random),
    cmocka_unit_test(test_all_zero),
    cmocka_unit_test(test_few_zeros_are_left_to_onednn),
    cmocka_unit_test(test_not_finite),
    cmocka_unit_test(test_not_this_one),
    cmocka_unit_test(test_in_a_plan),
    cmocka_unit_test(test_out_of_memory),
  };
  omp_set_num_threads(THREADS);
  kernel_prefer_own(1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
