/* Float kernels over the last axis: softmax, logsumexp. And sums over a block of middle axes. */
#include <math.h>
#include <string.h>

#include "base/expf.h"
#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"

/* The operand seen as [outer, middle, inner]. */
struct rows {
  struct kernel base;
  int64_t outer, middle, inner;
  bool softmax; /* else logsumexp */
};

static void rows_destroy(struct kernel *k)
{
  r4_mem_free(k);
}

/* ---- softmax and logsumexp: short rows by blocks, turned so that the vector runs across rows ---- */

enum { BLOCK_ROWS = 64, SHORT = 64 /* elements of a row */ };

struct block {
  float power[SHORT][BLOCK_ROWS]; /* exp(x - max) */
  float max[BLOCK_ROWS], base[BLOCK_ROWS], sum[BLOCK_ROWS];
};

/* inf - inf is not a number: rows with an infinite largest element subtract 0 */
static float base_of(float max)
{
  return max - max == 0 || max != max ? max : 0;
}

static void fill_block(struct block *b, const float *x, int64_t rows, int64_t n)
{
  for (int64_t i = 0; i < BLOCK_ROWS; i++)
    for (int64_t k = 0; k < n; k++) b->power[k][i] = i < rows ? x[i * n + k] : 0;
  for (int64_t i = 0; i < BLOCK_ROWS; i++) b->max[i] = -INFINITY;
  for (int64_t k = 0; k < n; k++)
#pragma omp simd
    for (int64_t i = 0; i < BLOCK_ROWS; i++) {
      float y = b->power[k][i];
      b->max[i] = y > b->max[i] || y != y ? y : b->max[i];
    }
  for (int64_t i = 0; i < BLOCK_ROWS; i++) b->base[i] = base_of(b->max[i]);
  memset(b->sum, 0, sizeof b->sum);
  for (int64_t k = 0; k < n; k++)
#pragma omp simd
    for (int64_t i = 0; i < BLOCK_ROWS; i++) {
      b->power[k][i] = r4_expf(b->power[k][i] - b->base[i]);
      b->sum[i] += b->power[k][i];
    }
}

static void short_rows(const struct rows *r, const float *x, float *y, int64_t rows)
{
  struct block b;
  int64_t n = r->inner;
  fill_block(&b, x, rows, n);
  for (int64_t i = 0; i < rows && !r->softmax; i++)
    y[i] = isinf(b.max[i]) ? b.max[i] : b.max[i] + logf(b.sum[i]);
  for (int64_t i = 0; i < rows && r->softmax; i++)
    for (int64_t k = 0; k < n; k++) y[i * n + k] = b.power[k][i] / b.sum[i];
}

/* What is not a number is passed over here: the sum of the powers finds it. */
static float row_max(const float *x, int64_t n)
{
  float max = -INFINITY;
#pragma omp simd reduction(max : max)
  for (int64_t k = 0; k < n; k++) max = x[k] > max ? x[k] : max;
  return max;
}

static void long_row(const struct rows *r, const float *x, float *y)
{
  int64_t n = r->inner;
  float max = row_max(x, n), base = base_of(max), sum = 0;
  if (r->softmax) {
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++) sum += y[k] = r4_expf(x[k] - base);
#pragma omp simd
    for (int64_t k = 0; k < n; k++) y[k] /= sum;
  } else {
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++) sum += r4_expf(x[k] - base);
    *y = isinf(max) && !isnan(sum) ? max : max + logf(sum);
  }
}

static r4_status rows_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct rows *r = (struct rows *)k;
  const float *x = in[0];
  float *y = out;
  int64_t n = r->inner, step = n <= SHORT ? BLOCK_ROWS : 1, blocks = (r->outer + step - 1) / step;
  int64_t width = r->softmax ? n : 1; /* of a row of the result */
  (void)e;
#pragma omp parallel for schedule(static) if (r->outer * n > 4096)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * step, rows = r->outer - first < step ? r->outer - first : step;
    if (n <= SHORT)
      short_rows(r, x + first * n, y + first * width, rows);
    else
      long_row(r, x + first * n, y + first * width);
  }
  return R4_OK;
}

static r4_status middle_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct rows *r = (struct rows *)k;
  const float *x = in[0];
  (void)e;
#pragma omp parallel for schedule(static) if (r->outer > 1)
  for (int64_t i = 0; i < r->outer; i++) {
    float *y = (float *)out + i * r->inner;
    memset(y, 0, (size_t)r->inner * sizeof *y);
    for (int64_t m = 0; m < r->middle; m++)
      for (int64_t j = 0; j < r->inner; j++) y[j] += x[(i * r->middle + m) * r->inner + j];
  }
  return R4_OK;
}

static r4_status rows_new(const struct kernel_request *q, struct rows r, struct kernel **k, r4_error *e)
{
  struct rows *p = mem_new(1, sizeof *p, q->op->name, e);
  if (!p) return R4_E_MEMORY;
  *p = r;
  p->base.destroy = rows_destroy;
  *k = &p->base;
  return R4_OK;
}

r4_status rows_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct rows r = {.base = {.name = "rows", .run = rows_run}, .softmax = q->op == &op_softmax};
  r.inner = q->in[0].dim[q->in[0].rank - 1];
  r.outer = r4_shape_count(q->in[0]) / r.inner;
  return rows_new(q, r, k, e);
}

/* axes ..0 1..1 0.. only; anything else is left to the plain loops */
r4_status middle_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct rows r = {.base = {.name = "middle sum", .run = middle_run}, .outer = 1, .middle = 1, .inner = 1};
  unsigned axes = (unsigned)q->attr.i[0], block = axes;
  while (block && !(block & 1)) block >>= 1;
  if (block & (block + 1)) return R4_OK;
  for (int a = 0; a < q->in[0].rank; a++) {
    bool before = axes & ~((R4_AXIS(a) << 1) - 1), reduced = axes >> a & 1;
    *(reduced ? &r.middle : before ? &r.outer : &r.inner) *= q->in[0].dim[a];
  }
  return rows_new(q, r, k, e);
}
