/* Float kernels of max pooling and of pooling's transposes. oneDNN's max drops what is not a number. Images run in
 * parallel, channels are the inner loop: a window is gone through element by element, each a vector of channels. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"
#include "op/window.h"

struct pool {
  struct kernel base;
  const struct op *op;
  struct attr attr;
  r4_shape image, out; /* large and pooled */
  float *best;         /* the largest of a window: [threads][channels] */
  int32_t *tap;        /* which element of it that is */
  int threads;
};

static void pool_destroy(struct kernel *k)
{
  struct pool *p = (struct pool *)k;
  r4_mem_free(p->tap);
  r4_mem_free(p->best);
  r4_mem_free(p);
}

/* ---- One element of a window, n channels. At a tie the first element stays; so does what is not a number. ---- */

#define BETTER ((x[c] > best[c]) | (x[c] != x[c]))

static void take_larger(int64_t n, const float *restrict x, float *restrict best)
{
#pragma omp simd
  for (int64_t c = 0; c < n; c++) best[c] = BETTER ? x[c] : best[c];
}

/* to = t where x is largest */
static void take_at_larger(int64_t n, const float *restrict x, const float *restrict t, float *restrict best,
                           float *restrict to)
{
#pragma omp simd
  for (int64_t c = 0; c < n; c++) {
    to[c] = BETTER ? t[c] : to[c];
    best[c] = BETTER ? x[c] : best[c];
  }
}

static void find_larger(int64_t n, const float *restrict x, int32_t k, float *restrict best,
                        int32_t *restrict tap)
{
#pragma omp simd
  for (int64_t c = 0; c < n; c++) {
    tap[c] = BETTER ? k : tap[c];
    best[c] = BETTER ? x[c] : best[c];
  }
}

static void add_where(int64_t n, const float *restrict t, int32_t k, const int32_t *restrict tap,
                      float *restrict to)
{
#pragma omp simd
  for (int64_t c = 0; c < n; c++) to[c] += tap[c] == k ? t[c] : 0;
}

static void add_all(int64_t n, const float *restrict t, float *restrict to)
{
#pragma omp simd
  for (int64_t c = 0; c < n; c++) to[c] += t[c];
}

/* ---- Windows ---- */

/* The part of a window that lies inside of its image. */
struct inside {
  int64_t begin[2], end[2]; /* rows and columns of the image */
};

static struct inside inside_of(const struct pool *p, int64_t u, int64_t v)
{
  struct inside w;
  for (int a = 0; a < 2; a++) {
    int64_t at = window_at(&p->attr, a, a ? v : u, 0), end = at + p->attr.i[W_SIZE + a],
            size = p->image.dim[1 + a];
    w.begin[a] = at > 0 ? at : 0;
    w.end[a] = end < size ? end : size;
  }
  return w;
}

/* Element k = 0, 1, .. of a window: "at" is its place in the image. */
#define EACH_ELEMENT(P, W)                                                                                   \
  for (int64_t k = 0, row = (W)->begin[0]; row < (W)->end[0]; row++)                                         \
    for (int64_t j = (W)->begin[1], at = (row * (P)->image.dim[2] + j) * (P)->image.dim[3]; j < (W)->end[1]; \
         j++, k++, at += (P)->image.dim[3])

static void largest_of(const struct pool *p, const struct inside *w, const float *x, float *out)
{
  int64_t n = p->image.dim[3];
  EACH_ELEMENT(p, w)
  if (k)
    take_larger(n, x + at, out);
  else
    memcpy(out, x + at, (size_t)n * sizeof *out);
}

static void pick(const struct pool *p, const struct inside *w, const float *x, const float *t, float *best,
                 float *out)
{
  int64_t n = p->image.dim[3];
  EACH_ELEMENT(p, w)
  {
    if (k) {
      take_at_larger(n, x + at, t + at, best, out);
      continue;
    }
    memcpy(best, x + at, (size_t)n * sizeof *best);
    memcpy(out, t + at, (size_t)n * sizeof *out);
  }
}

static void unpick(const struct pool *p, const struct inside *w, const float *x, const float *t, float *best,
                   int32_t *tap, float *to)
{
  int64_t n = p->image.dim[3];
  EACH_ELEMENT(p, w)
  {
    if (k) {
      find_larger(n, x + at, (int32_t)k, best, tap);
      continue;
    }
    memcpy(best, x + at, (size_t)n * sizeof *best);
    memset(tap, 0, (size_t)n * sizeof *tap);
  }
  EACH_ELEMENT(p, w)
  add_where(n, t, (int32_t)k, tap, to + at);
}

static void spread(const struct pool *p, const struct inside *w, const float *t, float *to)
{
  EACH_ELEMENT(p, w)
  {
    (void)k; /* the same for all of them */
    add_all(p->image.dim[3], t, to + at);
  }
}

/* ---- Images ---- */

struct scratch {
  float *best;
  int32_t *tap;
};

static void one_window(const struct pool *p, const struct inside *w, const float *a, const float *b,
                       float *small, float *large, const struct scratch *s)
{
  if (p->op == &op_pool_max)
    largest_of(p, w, a, small);
  else if (p->op == &op_pick_max)
    pick(p, w, a, b, s->best, small);
  else if (p->op == &op_unpool_max)
    unpick(p, w, a, b, s->best, s->tap, large);
  else
    spread(p, w, a, large);
}

/* Image n. Operands that are pooled go on with the windows; rows of a large result are cleared just before they are
 * added to, while they are on the way to the cache anyway. */
static void one_image(const struct pool *p, void *const *in, float *out, int64_t n, const struct scratch *s)
{
  int64_t large = r4_shape_count(p->image) / p->image.dim[0], small = r4_shape_count(p->out) / p->out.dim[0];
  int64_t line = large / p->image.dim[1], channels = p->image.dim[3], cleared = 0;
  bool to_small = p->op == &op_pool_max || p->op == &op_pick_max, a_small = p->op == &op_unpool_sum;
  const float *a = (const float *)in[0] + n * (a_small ? small : large);
  const float *b = p->op->arity == 2 ? (const float *)in[1] + n * (to_small ? large : small) : a;
  float *to = out + n * (to_small ? small : large);
  for (int64_t u = 0; u < p->out.dim[1]; u++)
    for (int64_t v = 0; v < p->out.dim[2]; v++) {
      struct inside w = inside_of(p, u, v);
      int64_t o = (u * p->out.dim[2] + v) * channels;
      if (!to_small && cleared < w.end[0]) {
        memset(to + cleared * line, 0, (size_t)((w.end[0] - cleared) * line) * sizeof *to);
        cleared = w.end[0];
      }
      one_window(p, &w, a_small ? a + o : a, to_small ? b : b + o, to_small ? to + o : NULL, to, s);
    }
  if (!to_small) memset(to + cleared * line, 0, (size_t)(large - cleared * line) * sizeof *to);
}

static r4_status pool_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct pool *p = (struct pool *)k;
  int threads = omp_get_max_threads() < p->threads ? omp_get_max_threads() : p->threads;
  (void)e;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t n = 0; n < p->image.dim[0]; n++) {
    int64_t mine = omp_get_thread_num() * p->image.dim[3];
    one_image(p, in, out, n, &(struct scratch){p->best + mine, p->tap + mine});
  }
  return R4_OK;
}

r4_status pool_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct pool *p = mem_new(1, sizeof *p, q->op->name, e);
  if (!p) return R4_E_MEMORY;
  p->base = (struct kernel){.name = "pool", .run = pool_run, .destroy = pool_destroy};
  p->op = q->op;
  p->attr = q->attr;
  p->image = q->op == &op_unpool_sum ? q->out : q->in[0];
  p->out = q->op == &op_unpool_sum ? q->in[0] : q->op == &op_unpool_max ? q->in[1] : q->out;
  p->threads = omp_get_max_threads();
  size_t scratch = (size_t)p->threads * (size_t)p->image.dim[3];
  p->tap = mem_new(scratch, sizeof *p->tap, q->op->name, e);
  p->best = mem_new(scratch, sizeof *p->best, q->op->name, e);
  *k = &p->base;
  if (p->tap && p->best) return R4_OK;
  pool_destroy(*k);
  *k = NULL;
  return R4_E_MEMORY;
}
