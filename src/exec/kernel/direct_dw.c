/* Own conv2d_dw, for CPUs without AVX-512:
 *
 *     dW[o, (p,q,i)] = sum over images and pixels of  dy[n,u,v,o] x[n, u stride + p, v stride + q, i]
 *
 * Blocks of up to 6 i of one (p,q) and 16 o, over the pixels of a strip that read inside of the image. A
 * strip is as much as stays in the first-level cache; its dy is packed to [out / 16][pixel][16]. Each
 * thread has sums of its own, [out / 16][(p,q,i)][16], which are added in order of the threads. */
#include <omp.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "exec/kernel/micro.h"
#include "op/op_rules.h"
#include "op/window.h"

/* Channels of pixels in a strip. More rarely pays: pixels far apart meet in the same places of the cache. */
enum { STRIP = 6400 };

struct direct_dw {
  struct kernel base;
  struct strips strips;
  int64_t in, outs, columns, image[2], stride[2], pad[2], kernel[2];
  int64_t n; /* weights of one output */
  int threads;
  size_t dy_size, sums_size; /* floats per thread */
  float *dy, *sums;
};

static void pack_dy(const struct direct_dw *d, const float *dy, int64_t pixels, float *to)
{
  for (int64_t p = 0; p < pixels; p++, dy += d->outs)
    for (int64_t o = 0; o < d->outs; o += COLUMNS) {
      STORE(to + o * pixels + p * COLUMNS, LOAD(dy + o));
      STORE(to + o * pixels + p * COLUMNS + LANES, LOAD(dy + o + LANES));
    }
}

/* Of the outputs begin .. end along axis a, those that read inside of the image at kernel position p. */
static void inside(const struct direct_dw *d, int a, int64_t p, int64_t *begin, int64_t *end)
{
  int64_t s = d->stride[a], at = d->pad[a] - p; /* 0 <= u s - at < image */
  int64_t first = at > 0 ? (at + s - 1) / s : 0, last = d->image[a] - 1 + at;
  *begin = most(*begin, first);
  *end = least(*end, last < 0 ? 0 : last / s + 1);
}

/* One kernel position (p,q): its sums are [in][16], those of the next 16 outputs follow after 16 n. */
struct tap {
  struct box k;
  const float *x, *dy;
  int64_t dy_step;
  float *sums;
  bool first;
};

static void add_tap(const struct direct_dw *d, const struct tap *t)
{
  int64_t blocks = (d->in + ROWS - 1) / ROWS, step = d->stride[1] * d->in;
  for (int64_t b = 0; b < blocks; b++) {
    int64_t i = d->in * b / blocks, rows = d->in * (b + 1) / blocks - i; /* 5 or 6, hardly ever less */
    const float *a[ROWS];
    for (int64_t r = 0; r < rows; r++) a[r] = t->x + i + r;
    for (int64_t j = 0; j < d->outs; j += COLUMNS) {
      float *to = t->sums + j * d->n + i * COLUMNS;
      micro_sum sum;
      micro(rows, &t->k, a, step, t->dy + j * t->dy_step, COLUMNS, sum);
      for (int64_t r = 0; r < rows; r++, to += COLUMNS) {
        STORE(to, t->first ? sum[r][0] : sum[r][0] + LOAD(to));
        STORE(to + LANES, t->first ? sum[r][1] : sum[r][1] + LOAD(to + LANES));
      }
    }
  }
}

static void add_strip(const struct direct_dw *d, const struct strip *at, const float *x, const float *dy,
                      float *sums, bool first)
{
  int64_t line = d->image[1] * d->in, pixels = at->images * at->rows * d->columns;
  for (int64_t p = 0; p < d->kernel[0]; p++)
    for (int64_t q = 0; q < d->kernel[1]; q++, sums += d->in * COLUMNS) {
      int64_t u = at->row, u_end = u + at->rows, v = 0, v_end = d->columns;
      inside(d, 0, p, &u, &u_end);
      inside(d, 1, q, &v, &v_end);
      int64_t rows = u_end - u, columns = v_end - v;
      struct tap t = {.dy_step = pixels, .sums = sums, .first = first};
      if (rows > 0 && columns > 0) {
        int64_t h = u * d->stride[0] + p - d->pad[0], w = v * d->stride[1] + q - d->pad[1];
        t.x = x + (at->image * d->image[0] + h) * line + w * d->in;
        t.dy = dy + ((u - at->row) * d->columns + v) * COLUMNS;
        t.k = (struct box){at->images, d->image[0] * line, rows, d->stride[0] * line, columns, 0, 0};
        t.k.b_row_skip = (d->columns - columns) * COLUMNS;
        t.k.b_image_skip = (at->rows - rows) * d->columns * COLUMNS;
      } else if (!first) {
        continue;
      } else {
        t.x = x, t.dy = dy;
      }
      add_tap(d, &t);
    }
}

/* Outputs o .. o + 8 of the result: the sums of all threads, transposed. */
static void collect(const struct direct_dw *d, int64_t o, int threads, float *out)
{
  const float *from = d->sums + o / COLUMNS * COLUMNS * d->n + o % COLUMNS;
  float *to = out + o * d->n;
  int64_t m = 0;
  for (; m + LANES <= d->n; m += LANES) {
    lanes r[LANES];
    UNROLL for (int k = 0; k < LANES; k++) r[k] = LOAD(from + (m + k) * COLUMNS);
    for (int t = 1; t < threads; t++) {
      const float *more = from + (size_t)t * d->sums_size;
      UNROLL for (int k = 0; k < LANES; k++) r[k] += LOAD(more + (m + k) * COLUMNS);
    }
    transpose8(r);
    UNROLL for (int k = 0; k < LANES; k++) STORE(to + k * d->n + m, r[k]);
  }
  for (; m < d->n; m++)
    for (int64_t k = 0; k < LANES; k++) {
      float sum = 0;
      for (int t = 0; t < threads; t++) sum += from[(size_t)t * d->sums_size + (size_t)(m * COLUMNS + k)];
      to[k * d->n + m] = sum;
    }
}

static r4_status dw_run(struct kernel *kernel, void *const *in, void *out, r4_error *e)
{
  struct direct_dw *d = (struct direct_dw *)kernel;
  int threads = omp_get_max_threads() < d->threads ? omp_get_max_threads() : d->threads;
  if (threads > d->strips.count) threads = (int)d->strips.count;
  (void)e;
#pragma omp parallel num_threads(threads)
  {
    int64_t me = omp_get_thread_num(), all = omp_get_num_threads();
    float *dy = d->dy + (size_t)me * d->dy_size, *sums = d->sums + (size_t)me * d->sums_size;
    int64_t first = d->strips.count * me / all, line = d->columns * d->outs;
    for (int64_t t = first; t < d->strips.count * (me + 1) / all; t++) {
      struct strip at = strips_at(&d->strips, t);
      int64_t pixels = at.images * at.rows * d->columns;
      pack_dy(d, (const float *)in[1] + (at.image * d->strips.rows + at.row) * line, pixels, dy);
      add_strip(d, &at, in[0], dy, sums, t == first);
    }
#pragma omp barrier
#pragma omp for schedule(static)
    for (int64_t o = 0; o < d->outs; o += LANES) collect(d, o, (int)all, out);
  }
  return R4_OK;
}

static void dw_destroy(struct kernel *k)
{
  struct direct_dw *d = (struct direct_dw *)k;
  r4_mem_free(d->dy);
  r4_mem_free(d->sums);
  r4_mem_free(d);
}

/* ---- Making ---- */

static bool make_memory(struct direct_dw *d)
{
  d->dy_size = (size_t)(d->strips.group * d->strips.band * d->columns * d->outs);
  d->sums_size = (size_t)(d->outs * d->n);
  d->dy = r4_mem_new_aligned((size_t)d->threads * d->dy_size * sizeof *d->dy);
  d->sums = r4_mem_new_aligned((size_t)d->threads * d->sums_size * sizeof *d->sums);
  return d->dy && d->sums;
}

static void describe(const struct kernel_request *q, struct direct_dw *d)
{
  for (int a = 0; a < 2; a++) {
    d->stride[a] = q->attr.i[W_STRIDE + a], d->pad[a] = q->attr.i[W_PAD + 2 * a];
    d->kernel[a] = q->out.dim[1 + a], d->image[a] = q->in[0].dim[1 + a];
  }
  d->in = q->in[0].dim[3], d->outs = q->out.dim[0], d->columns = q->in[1].dim[2];
  d->n = d->kernel[0] * d->kernel[1] * d->in;
  d->threads = omp_get_max_threads();
  d->strips = (struct strips){.batch = q->in[0].dim[0], .rows = q->in[1].dim[1]};
  strips_choose(&d->strips, STRIP / d->in / d->columns, d->threads);
}

static bool fits(const struct kernel_request *q)
{
  const int64_t *a = q->attr.i;
  return kernel_prefers_own() && window_groups(&q->attr) == 1 && q->in[0].dim[3] >= COLUMNS &&
         q->out.dim[0] % COLUMNS == 0 && q->out.dim[1] * q->out.dim[2] > 1 && a[W_DILATION] == 1 &&
         a[W_DILATION + 1] == 1 && !q->accumulate && q->in[0].dim[0] >= omp_get_max_threads();
}

r4_status direct_conv_dw(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  if (!fits(q)) return R4_OK;
  struct direct_dw *d = mem_new(1, sizeof *d, q->op->name, e);
  if (!d) return R4_E_MEMORY;
  d->base = (struct kernel){.name = "direct conv dw", .run = dw_run, .destroy = dw_destroy};
  describe(q, d);
  *k = &d->base;
  if (make_memory(d)) return R4_OK;
  dw_destroy(*k);
  *k = NULL;
  return r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
}
