/* Float kernels over the last axis: softmax, logsumexp. And sums over a block of middle axes. */
#include <math.h>
#include <string.h>

#include "base/expf.h"
#include "base/mem.h"
#include "exec/kernel.h"
#include "op/op.h"

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

/* ---- softmax and logsumexp, by blocks of rows so that the exponentials form one long loop ---- */

enum { BLOCK = 1024 }; /* elements */

static float row_max(const float *x, int64_t n)
{
  float largest = x[0];
  for (int64_t k = 1; k < n; k++) largest = x[k] > largest || x[k] != x[k] ? x[k] : largest;
  return largest;
}

/* y = exp(x - max of its row); sum and max of each row */
static void exponentials(const float *x, float *y, int64_t rows, int64_t n, float *max, float *sum)
{
  for (int64_t i = 0; i < rows; i++) {
    max[i] = row_max(x + i * n, n);
    float base = isinf(max[i]) ? 0 : max[i]; /* inf - inf is not a number */
    for (int64_t k = 0; k < n; k++) y[i * n + k] = x[i * n + k] - base;
  }
#pragma omp simd
  for (int64_t k = 0; k < rows * n; k++) y[k] = r4_expf(y[k]);
  for (int64_t i = 0; i < rows; i++) {
    sum[i] = 0;
    for (int64_t k = 0; k < n; k++) sum[i] += y[i * n + k];
  }
}

static void logsumexp_block(const float *x, float *y, int64_t rows, int64_t n)
{
  float power[BLOCK], max[BLOCK], sum[BLOCK];
  exponentials(x, power, rows, n, max, sum);
  for (int64_t i = 0; i < rows; i++) y[i] = isinf(max[i]) ? max[i] : max[i] + logf(sum[i]);
}

static void softmax_block(const float *x, float *y, int64_t rows, int64_t n)
{
  float max[BLOCK], sum[BLOCK];
  exponentials(x, y, rows, n, max, sum);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < n; k++) y[i * n + k] /= sum[i];
}

/* rows longer than a block */
static void logsumexp_long(const float *x, float *y, int64_t n)
{
  float max = row_max(x, n), sum = 0;
  for (int64_t k = 0; k < n; k++) sum += r4_expf(x[k] - max);
  *y = isinf(max) ? max : max + logf(sum);
}

static r4_status rows_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct rows *r = (struct rows *)k;
  const float *x = in[0];
  float *y = out;
  int64_t n = r->inner, step = n < BLOCK ? BLOCK / n : 1, blocks = (r->outer + step - 1) / step;
  (void)e;
#pragma omp parallel for schedule(static) if (r->outer * n > 4096)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * step, rows = r->outer - first < step ? r->outer - first : step;
    if (r->softmax)
      softmax_block(x + first * n, y + first * n, rows, n);
    else if (n <= BLOCK)
      logsumexp_block(x + first * n, y + first, rows, n);
    else
      logsumexp_long(x + first * n, y + first, n);
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
  struct rows *p = r4_mem_new(1, sizeof *p);
  if (!p) return r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
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
