/* Float kernels of gather and scatter_add; scatter_add may also add onto what is there. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"

enum { BAND = 64 }; /* columns */

/* The large side seen as [outer, size, inner], the small one as [outer, n, inner]. */
struct indexed {
  struct kernel base;
  int64_t outer, size, inner, n;
  bool accumulate;
  int64_t *place;
};

static void indexed_destroy(struct kernel *k)
{
  r4_mem_free(((struct indexed *)k)->place);
  r4_mem_free(k);
}

static r4_status read_index(struct indexed *x, const float *index, r4_error *e)
{
  for (int64_t k = 0; k < x->n; k++) {
    float v = index[k];
    if (!(v >= 0 && v < (float)x->size && v == floorf(v)))
      return r4_fail(e, R4_E_DOMAIN, "index %g at position %lld is not a whole number in 0 .. %lld",
                     (double)v, (long long)k, (long long)x->size - 1);
    x->place[k] = (int64_t)v;
  }
  return R4_OK;
}

static r4_status gather_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct indexed *x = (struct indexed *)k;
  r4_status s = read_index(x, in[1], e);
  if (s) return s;
  const float *from = in[0];
  float *to = out;
#pragma omp parallel for collapse(2) schedule(static) if (x->outer * x->n * x->inner > 16384)
  for (int64_t o = 0; o < x->outer; o++)
    for (int64_t j = 0; j < x->n; j++) {
      const float *row = from + (o * x->size + x->place[j]) * x->inner;
      if (x->inner == 1)
        to[o * x->n + j] = *row;
      else
        memcpy(to + (o * x->n + j) * x->inner, row, (size_t)x->inner * sizeof *to);
    }
  return R4_OK;
}

/* Adds all rows in a band of columns. Each element has its terms added in the order of the index, whoever adds them. */
static void scatter_band(const struct indexed *x, int64_t o, int64_t band, const float *from, float *to)
{
  int64_t first = band * BAND, width = x->inner - first < BAND ? x->inner - first : BAND;
  for (int64_t j = 0; j < x->n; j++) {
    const float *row = from + (o * x->n + j) * x->inner + first;
    float *sum = to + (o * x->size + x->place[j]) * x->inner + first;
#pragma omp simd
    for (int64_t i = 0; i < width; i++) sum[i] += row[i];
  }
}

/* Single numbers: a row is cleared and added to while it is in the cache, in the order of the index as well. */
static void scatter_numbers(const struct indexed *x, int64_t o, const float *restrict from,
                            float *restrict to)
{
  const int64_t *place = x->place, n = x->n;
  from += o * n;
  to += o * x->size;
  if (!x->accumulate) memset(to, 0, (size_t)x->size * sizeof *to);
  for (int64_t j = 0; j < n; j++) to[place[j]] += from[j];
}

static void scatter_rows(const struct indexed *x, const float *from, float *to)
{
  int64_t rows = x->outer * x->size, bands = (x->inner + BAND - 1) / BAND;
#pragma omp parallel if (rows * x->inner > 16384)
  {
#pragma omp for schedule(static)
    for (int64_t r = 0; r < (x->accumulate ? 0 : rows); r++)
      memset(to + r * x->inner, 0, (size_t)x->inner * sizeof *to);
#pragma omp for collapse(2) schedule(static)
    for (int64_t o = 0; o < x->outer; o++)
      for (int64_t band = 0; band < bands; band++) scatter_band(x, o, band, from, to);
  }
}

static r4_status scatter_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct indexed *x = (struct indexed *)k;
  const float *from = in[0];
  float *to = out;
  r4_status s = read_index(x, in[1], e);
  if (s) return s;
  if (x->inner > 1) {
    scatter_rows(x, from, to);
    return R4_OK;
  }
#pragma omp parallel for schedule(static) if (x->outer * (x->accumulate ? x->n : x->size) > 16384)
  for (int64_t o = 0; o < x->outer; o++) scatter_numbers(x, o, from, to);
  return R4_OK;
}

r4_status index_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct indexed *x = mem_new(1, sizeof *x, q->op->name, e);
  bool gather = q->op == &op_gather;
  int axis = (int)q->attr.i[0];
  r4_shape large = gather ? q->in[0] : q->out;
  int64_t n = q->in[1].dim[0];
  if (x) x->place = mem_new((size_t)n, sizeof *x->place, q->op->name, e);
  if (!x || !x->place) {
    r4_mem_free(x);
    return R4_E_MEMORY;
  }
  x->base = (struct kernel){.name = gather ? "gather" : "scatter_add", .destroy = indexed_destroy};
  x->base.run = gather ? gather_run : scatter_run;
  x->outer = x->inner = 1;
  for (int a = 0; a < axis; a++) x->outer *= large.dim[a];
  for (int a = axis + 1; a < large.rank; a++) x->inner *= large.dim[a];
  x->size = large.dim[axis];
  x->n = n;
  x->accumulate = q->accumulate;
  *k = &x->base;
  return R4_OK;
}
