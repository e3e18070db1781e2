/* Products with few rows, as the gradient of the last layer's weights has them, one for each class c:
 *
 *     out[c, n] = sum_b e[b, c] h[b, n]    (+ what is there)
 *
 * They read each number once, so packing operands, as for a large product, takes longer than the product. A block of
 * the result stays in registers; threads share the columns. Each number is one sum in the order of its K terms, whoever
 * computes it:
 *
 *     |error| <= K 2^-24 sum_b |e h|
 *
 * Few terms instead of few rows (e w) are no slower with oneDNN. */
#include <omp.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "exec/kernel/micro.h"
#include "exec/kernel/wide.h"
#include "op/op_rules.h"

enum { MOST_CLASSES = 16, FEWEST_COLUMNS = 64, FEWEST_PRODUCTS = 1 << 15 };

struct thin {
  struct kernel base;
  int64_t rows, columns, terms;
  bool accumulate;
  int64_t height; /* rows of a block */
  int threads;
};

/* c[r, v] (+)= sum_k a[k, r] b[k, v] */
INLINE void block(const int rows, const int vectors, const struct thin *t, const float *a, const float *b,
                  float *c)
{
  wide sum[MAX_ROWS][2];
  const int64_t step = t->rows, columns = t->columns;
  UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = (wide){0};
  for (int64_t k = 0; k < t->terms; k++, a += step, b += columns) {
    wide from[2];
    UNROLL for (int v = 0; v < vectors; v++) from[v] = AT(b + v * WIDE);
    UNROLL for (int r = 0; r < rows; r++)
    {
      float x = a[r];
      UNROLL for (int v = 0; v < vectors; v++) sum[r][v] += x * from[v];
    }
  }
  UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
  {
    float *to = c + r * columns + v * WIDE;
    PUT(to, t->accumulate ? AT(to) + sum[r][v] : sum[r][v]);
  }
}

/* Numbers of rows and vectors as constants, so that the sums stay in registers. */
#define ROWS_CASE(N)               \
  case N:                          \
    block(N, vectors, t, a, b, c); \
    break;

INLINE void any_rows(int64_t rows, const int vectors, const struct thin *t, const float *a, const float *b,
                     float *c)
{
  switch (rows) {
    ROWS_CASE(1)
    ROWS_CASE(2)
    ROWS_CASE(3)
    ROWS_CASE(4)
    ROWS_CASE(5)
    ROWS_CASE(6)
#ifdef __AVX512F__
    ROWS_CASE(7)
    ROWS_CASE(8)
    ROWS_CASE(9)
    ROWS_CASE(10)
    ROWS_CASE(11)
    ROWS_CASE(12)
    ROWS_CASE(13)
    ROWS_CASE(14)
#endif
  }
}

/* All rows of two vectors of columns, or of the last one. */
static void columns_at(const struct thin *t, int64_t column, const float *a, const float *b, float *c)
{
  for (int64_t row = 0; row < t->rows; row += t->height) {
    int64_t rows = least(t->height, t->rows - row);
    float *to = c + row * t->columns + column;
    if (t->columns - column >= 2 * WIDE)
      any_rows(rows, 2, t, a + row, b + column, to);
    else
      any_rows(rows, 1, t, a + row, b + column, to);
  }
}

static r4_status run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct thin *t = (const struct thin *)k;
  int threads = (int)least(omp_get_max_threads(), t->threads);
  (void)e;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t column = 0; column < t->columns; column += 2 * WIDE) columns_at(t, column, in[0], in[1], out);
  return R4_OK;
}

static void destroy(struct kernel *k)
{
  r4_mem_free(k);
}

/* Compiled for lesser machines, oneDNN knows better what there is. */
static bool fits(const struct kernel_request *q)
{
#if defined(__AVX2__) && defined(__FMA__)
  if (q->out.rank != 2 || !q->attr.i[0] || q->attr.i[1] || q->bias || q->relu) return false;
  int64_t rows = q->out.dim[0], columns = q->out.dim[1], terms = q->in[1].dim[0];
  return rows <= MOST_CLASSES && columns >= FEWEST_COLUMNS && columns % WIDE == 0 &&
         rows * terms >= divide_up(FEWEST_PRODUCTS, columns);
#else
  (void)q;
  return false;
#endif
}

r4_status thin_matmul(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  if (!fits(q)) return R4_OK;
  struct thin *t = mem_new(1, sizeof *t, q->op->name, e);
  if (!t) return R4_E_MEMORY;
  t->base = (struct kernel){.name = "thin matmul", .run = run, .destroy = destroy};
  t->rows = q->out.dim[0], t->columns = q->out.dim[1], t->terms = q->in[1].dim[0];
  t->accumulate = q->accumulate;
  t->height = divide_up(t->rows, divide_up(t->rows, MAX_ROWS)); /* as many in each */
  t->threads = omp_get_max_threads();
  *k = &t->base;
  return R4_OK;
}
