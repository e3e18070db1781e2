/* Gradients of weights, e^T h, against the definition: with few rows, and with more. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"

enum { TRIALS = 60, THREADS = 3 };

#if defined(__AVX2__) && defined(__FMA__)
#define NEEDS_AVX2
#else
#define NEEDS_AVX2 check_skip("compiled for a CPU without AVX2")
#endif

/* e^T h, of e [batch, rows] and h [batch, columns] */
static struct kernel_request request(int64_t batch, int64_t rows, int64_t columns)
{
  struct kernel_request q = {.op = &op_matmul, .type = R4_F32, .n = 2, .attr = {.i = {1}}};
  q.in[0] = R4_SHAPE(batch, rows), q.in[1] = R4_SHAPE(batch, columns), q.out = R4_SHAPE(rows, columns);
  return q;
}

static float *draw_floats(int64_t n)
{
  float *x =
    malloc((size_t)n * sizeof *x); /* exactly so many, so that a sanitizer sees what is read beyond */
  assert_non_null(x);
  for (int64_t i = 0; i < n; i++) x[i] = (float)draw(-1, 1);
  return x;
}

static struct kernel *make(const struct kernel_request *q, const char *name)
{
  r4_error e;
  struct kernel *k;
  assert_int_equal(kernel_new(q, &k, &e), R4_OK);
  assert_string_equal(k->name, name);
  return k;
}

/* |error| <= K 2^-24 sum |a b|, and one rounding more for what is added to. */
static void check_number(const struct kernel_request *q, int64_t i, int64_t j, const float *const *in,
                         float before, float got)
{
  int64_t rows = q->out.dim[0], columns = q->out.dim[1], terms = q->in[1].dim[0];
  double sum = 0, size = 0;
  for (int64_t k = 0; k < terms; k++) {
    double t = (double)in[0][k * rows + i] * (double)in[1][k * columns + j];
    sum += t, size += fabs(t);
  }
  if (q->accumulate) sum += (double)before, size += fabs((double)before);
  assert_true(fabs(sum - (double)got) <= (double)(terms + 1) * 0x1p-24 * size);
}

/* by: the kernel. own: one of ours, whose bits do not depend on the number of threads. */
static void compare(const struct kernel_request *q, const char *by, bool own)
{
  r4_error e;
  int64_t n = r4_shape_count(q->out), columns = q->out.dim[1];
  float *in[2] = {draw_floats(r4_shape_count(q->in[0])), draw_floats(r4_shape_count(q->in[1]))};
  float *before = draw_floats(n), *got = draw_floats(n), *again = draw_floats(n);
  struct kernel *k = make(q, by);
  memcpy(got, before, (size_t)n * sizeof *got), memcpy(again, before, (size_t)n * sizeof *again);
  assert_int_equal(k->run(k, (void *[]){in[0], in[1]}, got, &e), R4_OK);
  if (own) omp_set_num_threads(1); /* fewer than the kernel was made for: the same bits */
  assert_int_equal(k->run(k, (void *[]){in[0], in[1]}, again, &e), R4_OK);
  omp_set_num_threads(THREADS);
  assert_memory_equal(got, again, (size_t)n * sizeof *got);
  for (int64_t i = 0; i < n; i++)
    check_number(q, i / columns, i % columns, (const float *const *)in, before[i], got[i]);
  kernel_free(k);
  free(in[0]), free(in[1]), free(before), free(got), free(again);
}

static void test_random(void **state)
{
  (void)state;
  NEEDS_AVX2;
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    draw_start(1, trial);
    struct kernel_request q = request(draw_between(64, 300), draw_between(8, 16), 16 * draw_between(4, 24));
    q.accumulate = draw_below(2);
    compare(&q, "thin matmul", true);
  }
}

/* As many rows as fit the registers, one more, and a single one; an odd number of vectors. */
static void test_rows(void **state)
{
  (void)state;
  NEEDS_AVX2;
  for (int64_t rows = 1; rows <= 16; rows++) {
    struct kernel_request q = request(1000, rows, 80);
    compare(&q, "thin matmul", true);
  }
}

static void test_more_rows(void **state)
{
  (void)state;
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    draw_start(2, trial);
    struct kernel_request q = request(draw_between(1, 300), draw_between(17, 90), draw_between(1, 300));
    q.accumulate = draw_below(2);
    compare(&q, "oneDNN gemm", false);
  }
}

/* oneDNN's: more rows, other columns, next to no work; other transpositions, and what follows. */
static void test_not_this_one(void **state)
{
  (void)state;
  struct kernel_request q[6];
  for (int k = 0; k < 6; k++) q[k] = request(200, 10, 96);
  q[0] = request(200, 17, 96), q[1] = request(200, 10, 100), q[2] = request(10, 10, 96);
  q[3].attr.i[1] = 1, q[3].in[1] = R4_SHAPE(96, 200);
  q[4].attr.i[0] = 0, q[4].in[0] = R4_SHAPE(10, 200);
  q[5].relu = q[5].bias = true;
  for (int k = 0; k < 6; k++) kernel_free(make(&q[k], k < 3 ? "oneDNN gemm" : "oneDNN matmul"));
}

static void test_out_of_memory(void **state)
{
  (void)state;
  NEEDS_AVX2;
  struct kernel_request q = request(200, 10, 96);
  struct kernel *k = NULL;
  r4_error e;
  r4_mem_fail_at(1);
  r4_status s = kernel_new(&q, &k, &e);
  r4_mem_fail_at(0);
  assert_int_equal(s, R4_E_MEMORY);
  assert_null(k);
}

int main(void)
{
  omp_set_num_threads(THREADS);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_more_rows), cmocka_unit_test(test_not_this_one),
                                     cmocka_unit_test(test_out_of_memory)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("thin", tests, NULL, NULL);
}
