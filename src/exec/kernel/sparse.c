/* Products with an operand from outside that is mostly zeros, as images of digits are:
 *
 *     forward    out[b, n] = sum_k x[b, k] w[n, k]  (+ bias[n], relu)
 *     weights    out[n, k] = sum_b h[b, n] x[b, k]  (+ what is there)
 *
 * x is taken in blocks of six rows: six examples and a sum over features k, or six features and a sum over
 * examples b. A term of the sum counts only if one of its six values is not zero; each block has a list of
 * those. On MNIST that leaves under a half of the forward's terms, and a third of the weights'. The other operand is
 * taken in panels of 16 columns n.
 *
 * 0 times infinity is not 0: if the other operand is not finite, or if x has too few zeros, oneDNN does it. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "exec/kernel/micro.h"
#include "op/op_rules.h"

/* Smaller products are done before the lists are; and a list's term costs more than oneDNN's. */
enum { FEWEST_PRODUCTS = 1 << 22, PROBE_STEP = 8 };
static const double MOST_KEPT = 0.75;
static const char NAME[] = "sparse matmul"; /* of a kernel whose last run was not left to oneDNN */

struct sparse {
  struct kernel base;
  struct kernel *dense;
  bool weights, bias, relu, accumulate;
  /* x as it is summed is rows x terms, the other operand terms x columns. */
  int64_t rows, terms, columns;
  int64_t row_step, term_step; /* in x */
  int64_t blocks;
  int64_t *kept; /* by block: terms in its list */
  int32_t *term; /* [blocks][terms] */
  float *value;  /* [blocks][terms][ROWS] */
  int threads;
  float *panel, *result; /* by thread: [terms][COLUMNS], and weights: [blocks * ROWS][COLUMNS] */
};

/* ---- The lists ---- */

/* Every term is written, but the next goes over it if all its values are zero: no branch to guess. */
static inline __attribute__((always_inline)) int64_t list_rows(const int64_t rows, int64_t terms,
                                                               const float *x, int64_t row_step,
                                                               int64_t term_step, int32_t *term, float *value)
{
  int64_t kept = 0;
  for (int64_t t = 0; t < terms; t++, x += term_step) {
    float *v = value + kept * ROWS;
    uint32_t any = 0;
    UNROLL for (int64_t r = 0; r < ROWS; r++)
    {
      uint32_t bits = 0;
      if (r < rows) memcpy(&bits, &x[r * row_step], sizeof bits);
      memcpy(&v[r], &bits, sizeof bits);
      any |= bits;
    }
    term[kept] = (int32_t)t;
    kept += any != 0;
  }
  return kept;
}

static void list_block(const struct sparse *d, int64_t block, const float *x)
{
  int32_t *term = d->term + block * d->terms;
  float *value = d->value + block * d->terms * ROWS;
  int64_t rows = d->rows - block * ROWS;
  x += block * ROWS * d->row_step;
  if (rows < ROWS)
    d->kept[block] = list_rows(rows, d->terms, x, d->row_step, d->term_step, term, value);
  else if (d->weights)
    d->kept[block] = list_rows(ROWS, d->terms, x, 1, d->term_step, term, value);
  else
    d->kept[block] = list_rows(ROWS, d->terms, x, d->row_step, 1, term, value);
}

/* Judged by every eighth block: 48 features, which meet all parts of the rows of an image. */
static bool worth_it(const struct sparse *d, const float *x)
{
  int64_t kept = 0, terms = 0;
  for (int64_t block = PROBE_STEP / 2 % d->blocks; block < d->blocks; block += PROBE_STEP) {
    list_block(d, block, x);
    kept += d->kept[block];
    terms += d->terms;
  }
  return (double)kept <= MOST_KEPT * (double)terms;
}

static bool finite(const float *x, int64_t n, int threads)
{
  enum { PIECE = 4096 }; /* not one loop "parallel for simd": clang 14 at -O1 leaves most of its sum out */
  bool all = true;
#pragma omp parallel for reduction(&& : all) schedule(static) num_threads(threads)
  for (int64_t first = 0; first < n; first += PIECE) {
    float sum = 0;
    int64_t end = least(n, first + PIECE);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = first; i < end; i++) sum += x[i] * 0;
    all = all && sum == 0;
  }
  return all;
}

/* ---- Panels ---- */

/* 16 rows "from", step apart, become the columns of [n][16]. */
static void pack_rows(const float *from, int64_t step, int64_t n, float *to)
{
  for (int64_t c = 0; c < COLUMNS; c += LANES, from += LANES * step) {
    int64_t t = 0;
    for (; t + LANES <= n; t += LANES) {
      lanes r[LANES];
      UNROLL for (int k = 0; k < LANES; k++) r[k] = LOAD(from + k * step + t);
      transpose8(r);
      UNROLL for (int k = 0; k < LANES; k++) STORE(to + (t + k) * COLUMNS + c, r[k]);
    }
    for (; t < n; t++)
      for (int64_t k = 0; k < LANES; k++) to[t * COLUMNS + c + k] = from[k * step + t];
  }
}

static void pack_columns(const float *from, int64_t step, int64_t n, float *to)
{
  for (int64_t t = 0; t < n; t++, from += step, to += COLUMNS) {
    STORE(to, LOAD(from));
    STORE(to + LANES, LOAD(from + LANES));
  }
}

/* The way back: the columns of [n][16] become, or are added to, 16 rows. */
static void unpack_rows(const float *from, int64_t n, bool add, float *to, int64_t step)
{
  for (int64_t c = 0; c < COLUMNS; c += LANES, to += LANES * step) {
    int64_t t = 0;
    for (; t + LANES <= n; t += LANES) {
      lanes r[LANES];
      UNROLL for (int k = 0; k < LANES; k++) r[k] = LOAD(from + (t + k) * COLUMNS + c);
      transpose8(r);
      UNROLL for (int k = 0; k < LANES; k++)
      {
        float *at = to + k * step + t;
        STORE(at, add ? LOAD(at) + r[k] : r[k]);
      }
    }
    for (; t < n; t++)
      for (int64_t k = 0; k < LANES; k++) {
        float *at = to + k * step + t, sum = from[t * COLUMNS + c + k];
        *at = add ? *at + sum : sum;
      }
  }
}

/* ---- Running ---- */

/* sum[r] = sum over the block's list of value[r] panel[term] */
static inline void sum_block(const struct sparse *d, int64_t block, const float *panel, micro_sum sum)
{
  const int32_t *term = d->term + block * d->terms, *end = term + d->kept[block];
  const float *value = d->value + block * d->terms * ROWS;
  micro_sum acc;
  UNROLL for (int r = 0; r < ROWS; r++) acc[r][0] = acc[r][1] = (lanes){0};
  for (; term < end; term++, value += ROWS) {
    const float *b = panel + (int64_t)*term * COLUMNS;
    lanes b0 = LOAD(b), b1 = LOAD(b + LANES);
    UNROLL for (int r = 0; r < ROWS; r++) acc[r][0] += value[r] * b0, acc[r][1] += value[r] * b1;
  }
  UNROLL for (int r = 0; r < ROWS; r++) sum[r][0] = acc[r][0], sum[r][1] = acc[r][1];
}

static void forward_panel(const struct sparse *d, int64_t column, float *panel, const float *w,
                          const float *bias, float *out)
{
  pack_rows(w + column * d->terms, d->terms, d->terms, panel);
  lanes b[2] = {{0}};
  if (bias) b[0] = LOAD(bias + column), b[1] = LOAD(bias + column + LANES);
  for (int64_t block = 0; block < d->blocks; block++) {
    micro_sum sum;
    sum_block(d, block, panel, sum);
    int64_t row = block * ROWS, rows = least(ROWS, d->rows - row);
    float *to = out + row * d->columns + column;
    for (int64_t r = 0; r < rows; r++, to += d->columns)
      for (int v = 0; v < 2; v++) {
        lanes y = sum[r][v] + b[v];
        if (d->accumulate) y += LOAD(to + v * LANES);
        STORE(to + v * LANES, d->relu ? RECTIFY(y) : y);
      }
  }
}

static void weights_panel(const struct sparse *d, int64_t column, float *panel, float *result, const float *h,
                          float *out)
{
  pack_columns(h + column, d->columns, d->terms, panel);
  for (int64_t block = 0; block < d->blocks; block++) {
    micro_sum sum;
    sum_block(d, block, panel, sum);
    float *to = result + block * ROWS * COLUMNS;
    for (int64_t r = 0; r < ROWS; r++, to += COLUMNS) {
      STORE(to, sum[r][0]);
      STORE(to + LANES, sum[r][1]);
    }
  }
  unpack_rows(result, d->rows, d->accumulate, out + column * d->rows, d->rows);
}

static r4_status sparse_run(struct kernel *kernel, void *const *in, void *out, r4_error *e)
{
  struct sparse *d = (struct sparse *)kernel;
  const float *x = in[d->weights ? 1 : 0], *other = in[d->weights ? 0 : 1], *bias = d->bias ? in[2] : NULL;
  int threads = omp_get_max_threads() < d->threads ? omp_get_max_threads() : d->threads;
  bool use_dense = !worth_it(d, x) || !finite(other, d->terms * d->columns, threads);
  d->base.name = use_dense ? d->dense->name : NAME;
  if (use_dense) return d->dense->run(d->dense, in, out, e);
#pragma omp parallel num_threads(threads)
  {
    float *panel = d->panel + omp_get_thread_num() * d->terms * COLUMNS;
    float *result = d->weights ? d->result + omp_get_thread_num() * d->blocks * ROWS * COLUMNS : NULL;
#pragma omp for schedule(static)
    for (int64_t block = 0; block < d->blocks; block++) list_block(d, block, x);
#pragma omp for schedule(static)
    for (int64_t column = 0; column < d->columns; column += COLUMNS) {
      if (d->weights)
        weights_panel(d, column, panel, result, other, out);
      else
        forward_panel(d, column, panel, other, bias, out);
    }
  }
  return R4_OK;
}

static void sparse_destroy(struct kernel *k)
{
  struct sparse *d = (struct sparse *)k;
  kernel_free(d->dense);
  r4_mem_free(d->kept);
  r4_mem_free(d->term);
  r4_mem_free(d->value);
  r4_mem_free(d->panel);
  r4_mem_free(d->result);
  r4_mem_free(d);
}

/* ---- Making ---- */

static void describe(const struct kernel_request *q, struct sparse *d)
{
  d->weights = q->attr.i[0], d->bias = q->bias, d->relu = q->relu, d->accumulate = q->accumulate;
  int64_t examples = q->in[0].dim[0], features = q->in[d->weights ? 1 : 0].dim[1];
  d->rows = d->weights ? features : examples, d->terms = d->weights ? examples : features;
  d->columns = d->weights ? q->out.dim[0] : q->out.dim[1];
  d->row_step = d->weights ? 1 : features, d->term_step = d->weights ? features : 1;
  d->blocks = divide_up(d->rows, ROWS);
  d->threads = omp_get_max_threads();
}

static bool make_memory(struct sparse *d)
{
  size_t blocks = (size_t)d->blocks, terms = (size_t)d->terms, threads = (size_t)d->threads;
  d->kept = r4_mem_new(blocks, sizeof *d->kept);
  d->term = r4_mem_new(blocks * terms, sizeof *d->term);
  d->value = r4_mem_new_aligned(blocks * terms * ROWS * sizeof *d->value);
  d->panel = r4_mem_new_aligned(threads * terms * COLUMNS * sizeof *d->panel);
  if (d->weights) d->result = r4_mem_new_aligned(threads * blocks * ROWS * COLUMNS * sizeof *d->result);
  return d->kept && d->term && d->value && d->panel && (d->result || !d->weights);
}

/* x w^T or h^T x, with x from outside. */
static bool fits(const struct kernel_request *q)
{
  bool weights = q->attr.i[0];
  if (!kernel_prefers_own() || q->out.rank != 2 || weights == (q->attr.i[1] != 0) || !q->outside[weights])
    return false;
  if (weights && (q->bias || q->relu)) return false;
  int64_t terms = q->in[weights ? 1 : 0].dim[weights ? 0 : 1];
  return q->out.dim[weights ? 0 : 1] % COLUMNS == 0 && terms <= INT32_MAX &&
         r4_shape_count(q->out) >= FEWEST_PRODUCTS / most(1, terms);
}

r4_status sparse_matmul(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  if (!fits(q)) return R4_OK;
  struct sparse *d = mem_new(1, sizeof *d, q->op->name, e);
  if (!d) return R4_E_MEMORY;
  d->base = (struct kernel){.name = NAME, .run = sparse_run, .destroy = sparse_destroy};
  describe(q, d);
  r4_status s = dnn_matmul(q, &d->dense, e);
  if (!s && d->dense && !make_memory(d))
    s = r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
  if (!s && d->dense)
    *k = &d->base;
  else
    sparse_destroy(&d->base);
  return s;
}
