/* Float kernels over the last axis: softmax, logsumexp. And sums over a block of middle axes. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel.h"
#include "op/op.h"

/* The operand seen as [outer, middle, inner]. */
struct rows {
  struct kernel base;
  int64_t outer, middle, inner;
};

static void rows_destroy(struct kernel *k)
{
  r4_mem_free(k);
}

static float row_logsumexp(const float *x, int64_t n)
{
  float largest = x[0], sum = 0;
  for (int64_t k = 1; k < n; k++) largest = x[k] > largest || x[k] != x[k] ? x[k] : largest;
  if (isinf(largest)) return largest;
  for (int64_t k = 0; k < n; k++) sum += expf(x[k] - largest);
  return largest + logf(sum);
}

static r4_status logsumexp_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct rows *r = (struct rows *)k;
  const float *x = in[0];
  float *y = out;
  (void)e;
#pragma omp parallel for schedule(static) if (r->outer * r->inner > 4096)
  for (int64_t i = 0; i < r->outer; i++) y[i] = row_logsumexp(x + i * r->inner, r->inner);
  return R4_OK;
}

/* exp(x - max) / sum: one exponential per element */
static void row_softmax(const float *x, float *y, int64_t n)
{
  float largest = x[0], sum = 0;
  for (int64_t k = 1; k < n; k++) largest = x[k] > largest || x[k] != x[k] ? x[k] : largest;
  for (int64_t k = 0; k < n; k++) sum += y[k] = expf(x[k] - largest);
  for (int64_t k = 0; k < n; k++) y[k] /= sum;
}

static r4_status softmax_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct rows *r = (struct rows *)k;
  const float *x = in[0];
  float *y = out;
  (void)e;
#pragma omp parallel for schedule(static) if (r->outer * r->inner > 4096)
  for (int64_t i = 0; i < r->outer; i++) row_softmax(x + i * r->inner, y + i * r->inner, r->inner);
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
  struct rows r = {.base = {.name = "rows", .run = q->op == &op_softmax ? softmax_run : logsumexp_run}};
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
