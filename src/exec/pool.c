/* Float kernels of max pooling and of pooling's transposes. oneDNN's max drops what is not a number. Images run in
 * parallel, channels are the inner loop. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel.h"
#include "op/op.h"
#include "op/window.h"

struct pool {
  struct kernel base;
  const struct op *op;
  struct attr attr;
  r4_shape image, out; /* large and pooled */
  int64_t *place;      /* of the largest element: [threads][channels] */
  float *best;         /* its value */
  int threads;
};

static void pool_destroy(struct kernel *k)
{
  struct pool *p = (struct pool *)k;
  r4_mem_free(p->place);
  r4_mem_free(p->best);
  r4_mem_free(p);
}

/* Place in an image of kernel position (i, j) of window (u, v), or -1 outside. */
static int64_t position(const struct pool *p, int64_t u, int64_t v, int64_t i, int64_t j)
{
  int64_t h = window_at(&p->attr, 0, u, i), w = window_at(&p->attr, 1, v, j);
  bool inside = h >= 0 && h < p->image.dim[1] && w >= 0 && w < p->image.dim[2];
  return inside ? (h * p->image.dim[2] + w) * p->image.dim[3] : -1;
}

/* Where the window's largest element is, for each channel; the first one at a tie. */
static void find_largest(const struct pool *p, const float *x, int64_t u, int64_t v, int64_t *place,
                         float *best)
{
  int64_t channels = p->image.dim[3];
  bool first = true;
  for (int64_t i = 0; i < p->attr.i[W_SIZE]; i++)
    for (int64_t j = 0; j < p->attr.i[W_SIZE + 1]; j++) {
      int64_t at = position(p, u, v, i, j);
      if (at < 0) continue;
      for (int64_t c = 0; c < channels; c++) {
        bool better = first || x[at + c] > best[c] || x[at + c] != x[at + c]; /* not a number stays */
        best[c] = better ? x[at + c] : best[c];
        place[c] = better ? at + c : place[c];
      }
      first = false;
    }
}

static void add_to_window(const struct pool *p, const float *t, float *to, int64_t u, int64_t v)
{
  for (int64_t i = 0; i < p->attr.i[W_SIZE]; i++)
    for (int64_t j = 0; j < p->attr.i[W_SIZE + 1]; j++) {
      int64_t at = position(p, u, v, i, j);
      for (int64_t c = 0; at >= 0 && c < p->image.dim[3]; c++) to[at + c] += t[c];
    }
}

static void one_image(const struct pool *p, void *const *in, float *out, int64_t n, int64_t *place,
                      float *best)
{
  int64_t large = r4_shape_count(p->image) / p->image.dim[0], small = r4_shape_count(p->out) / p->out.dim[0];
  int64_t channels = p->image.dim[3];
  const float *a = in[0], *b = p->op->arity == 2 ? in[1] : in[0];
  bool pick = p->op == &op_pick_max || p->op == &op_pool_max;
  if (!pick) memset(out + n * large, 0, (size_t)large * sizeof *out);
  for (int64_t u = 0; u < p->out.dim[1]; u++)
    for (int64_t v = 0; v < p->out.dim[2]; v++) {
      int64_t o = n * small + (u * p->out.dim[2] + v) * channels;
      if (p->op == &op_unpool_sum) {
        add_to_window(p, a + o, out + n * large, u, v);
        continue;
      }
      find_largest(p, a + n * large, u, v, place, best);
      for (int64_t c = 0; c < channels; c++) {
        if (pick)
          out[o + c] = b[n * large + place[c]];
        else
          out[n * large + place[c]] += b[o + c];
      }
    }
}

static r4_status pool_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct pool *p = (struct pool *)k;
  int threads = omp_get_max_threads() < p->threads ? omp_get_max_threads() : p->threads;
  (void)e;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t n = 0; n < p->image.dim[0]; n++) {
    int64_t mine = omp_get_thread_num() * p->image.dim[3];
    one_image(p, in, out, n, p->place + mine, p->best + mine);
  }
  return R4_OK;
}

r4_status pool_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct pool *p = r4_mem_new(1, sizeof *p);
  if (!p) return r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
  p->base = (struct kernel){.name = "pool", .run = pool_run, .destroy = pool_destroy};
  p->op = q->op;
  p->attr = q->attr;
  p->image = q->op == &op_unpool_sum ? q->out : q->in[0];
  p->out = q->op == &op_unpool_sum ? q->in[0] : q->op == &op_unpool_max ? q->in[1] : q->out;
  p->threads = omp_get_max_threads();
  size_t scratch = (size_t)p->threads * (size_t)p->image.dim[3];
  p->place = r4_mem_new(scratch, sizeof *p->place);
  p->best = r4_mem_new(scratch, sizeof *p->best);
  *k = &p->base;
  if (p->place && p->best) return R4_OK;
  pool_destroy(*k);
  *k = NULL;
  return r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
}
