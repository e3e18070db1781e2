/* Convolutions in which each channel has a window of its own, and their derivatives:
 *
 *     conv2d      y[u,v,c]  = sum_{p,q} x[u s + p - top, v s + q - left, c] W[c,p,q]
 *     conv2d_dx   dx[h,w,c] = sum_{p,q} dy[(h + top - p) / s, (w + left - q) / s, c] W[c,p,q], if s divides both
 *     conv2d_dw   dW[c,p,q] = sum_{u,v} dy[u,v,c] x[u s + p - top, v s + q - left, c]
 *
 * No channel meets another, so there is no product of matrices in it; what counts is that a value is read from near
 * the processor each time it is used. Vectors run along the channels, which are neighbours in memory. oneDNN 2 reaches
 * a tenth of the machine here, and a twentieth for dW.
 *
 * Both images are made row by row, in runs of pixels: j = 0, 1, .. is pixel first + j step of the result, and a tap
 * (p, q) reads pixel at + j step' of its row. conv2d has one run in a row, conv2d_dx one for each residue of w by s. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "exec/kernel/micro.h"
#include "op/op_rules.h"
#include "op/window.h"

#ifdef __AVX512F__
enum { WIDE = 16 };
#else
enum { WIDE = 8 };
#endif
enum { MAX_KERNEL = 7, MAX_TAPS = MAX_KERNEL * MAX_KERNEL, MAX_STRIDE = 4 };
enum { NEAR = 4 /* pixels of a run at once */, MAX_VECTORS = 4 };

typedef float wide __attribute__((vector_size(WIDE * sizeof(float))));
typedef float wide_anywhere __attribute__((vector_size(WIDE * sizeof(float)), aligned(sizeof(float))));
typedef int32_t wide_bits __attribute__((vector_size(WIDE * sizeof(int32_t))));
#define AT(p) (*(const wide_anywhere *)(p))
#define PUT(p, x) (*(wide_anywhere *)(p) = (x))

struct depthwise {
  struct kernel base;
  int64_t batch, channels, size[2], rows[2]; /* size: of x, rows: of y, heights and widths */
  int64_t kernel[2], stride[2], pad[2];
  bool bias, relu;
};

/* ---- Taps of a run ---- */

struct tap {
  const float *row, *weight; /* weight: of all channels */
  int64_t at, begin, end;    /* pixel of the row for j = 0; the j whose pixel is in the row */
};

struct run {
  int64_t first, step, count, read_step; /* step: between pixels of the result, read_step: of what is read */
  int n;
  struct tap tap[MAX_TAPS];
};

static int64_t floor_divide(int64_t a, int64_t b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static void add_tap(struct run *r, const float *row, int64_t width, const float *weight, int64_t at)
{
  int64_t begin = -floor_divide(at, r->read_step), end = floor_divide(width - 1 - at, r->read_step) + 1;
  r->tap[r->n++] = (struct tap){row, weight, at, most(begin, 0), least(end, r->count)};
}

/* Row u of y. */
static void forward_run(const struct depthwise *d, const float *x, const float *w, int64_t u, struct run *r)
{
  *r = (struct run){.step = 1, .count = d->rows[1], .read_step = d->stride[1]};
  for (int64_t p = 0; p < d->kernel[0]; p++) {
    int64_t h = u * d->stride[0] + p - d->pad[0];
    if (h < 0 || h >= d->size[0]) continue;
    for (int64_t q = 0; q < d->kernel[1]; q++)
      add_tap(r, x + h * d->size[1] * d->channels, d->size[1], w + (p * d->kernel[1] + q) * d->channels,
              q - d->pad[1]);
  }
}

/* The pixels of row h of dx with one residue. */
static void backward_run(const struct depthwise *d, const float *dy, const float *w, int64_t h,
                         int64_t residue, struct run *r)
{
  *r = (struct run){.first = residue,
                    .step = d->stride[1],
                    .count = divide_up(d->size[1] - residue, d->stride[1]),
                    .read_step = 1};
  for (int64_t p = (h + d->pad[0]) % d->stride[0]; p < d->kernel[0]; p += d->stride[0]) {
    int64_t u = floor_divide(h + d->pad[0] - p, d->stride[0]);
    if (u < 0 || u >= d->rows[0]) continue;
    for (int64_t q = (residue + d->pad[1]) % d->stride[1]; q < d->kernel[1]; q += d->stride[1])
      add_tap(r, dy + u * d->rows[1] * d->channels, d->rows[1], w + (p * d->kernel[1] + q) * d->channels,
              floor_divide(residue + d->pad[1] - q, d->stride[1]));
  }
}

/* ---- A run ---- */

struct source { /* of a tap, for some j */
  const float *x, *weight;
};

/* J pixels from j on, V vectors of channels from c on. */
static inline __attribute__((always_inline)) void block(const int J, const int V, const struct depthwise *d,
                                                        int n, const struct source *from, int64_t read,
                                                        const float *bias, int64_t c, float *to, int64_t step)
{
  wide sum[NEAR][MAX_VECTORS];
  UNROLL for (int j = 0; j < J; j++) UNROLL for (int v = 0; v < V; v++) sum[j][v] =
    d->bias ? AT(bias + c + v * WIDE) : (wide){0};
  for (int k = 0; k < n; k++) {
    const float *x = from[k].x + c, *weight = from[k].weight + c;
    UNROLL for (int v = 0; v < V; v++)
    {
      wide w = AT(weight + v * WIDE);
      UNROLL for (int j = 0; j < J; j++) sum[j][v] += w * AT(x + j * read + v * WIDE);
    }
  }
  UNROLL for (int j = 0; j < J; j++) UNROLL for (int v = 0; v < V; v++)
  {
    wide y = sum[j][v];
    if (d->relu) y = (wide)((wide_bits)y & ~(y < 0)); /* not a number stays */
    PUT(to + j * step + c + v * WIDE, y);
  }
}

/* Pixels j .. j + J - 1, for all of which the same taps are in the row. */
static inline __attribute__((always_inline)) void pixels(const int J, const int V, const struct depthwise *d,
                                                         const struct run *r, int64_t j, const float *bias,
                                                         float *row)
{
  struct source from[MAX_TAPS];
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    const struct tap *t = &r->tap[k];
    if (j >= t->begin && j < t->end)
      from[n++] = (struct source){t->row + (t->at + j * r->read_step) * d->channels, t->weight};
  }
  float *to = row + (r->first + j * r->step) * d->channels;
  int64_t c = 0, read = r->read_step * d->channels, step = r->step * d->channels;
  for (; c + V * WIDE <= d->channels; c += V * WIDE) block(J, V, d, n, from, read, bias, c, to, step);
  for (; c < d->channels; c += WIDE) block(J, 1, d, n, from, read, bias, c, to, step);
}

static void make_row(const struct depthwise *d, const struct run *r, const float *bias, float *row)
{
  int64_t begin = 0, end = r->count; /* where all taps are in the row */
  for (int k = 0; k < r->n; k++) begin = most(begin, r->tap[k].begin), end = least(end, r->tap[k].end);
  int64_t j = 0;
  while (j < r->count)
    if (j >= begin && j + NEAR <= end)
      pixels(NEAR, 2, d, r, j, bias, row), j += NEAR;
    else
      pixels(1, 4, d, r, j, bias, row), j++;
}

/* [p][q][c] of W[c][p][q]. */
static const float *turn_weights(const struct depthwise *d, const float *w)
{
  int64_t taps = d->kernel[0] * d->kernel[1];
  float *to = d->base.scratch;
  for (int64_t t = 0; t < taps; t++)
    for (int64_t c = 0; c < d->channels; c++) to[t * d->channels + c] = w[c * taps + t];
  return to;
}

static r4_status forward(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct depthwise *d = (struct depthwise *)k;
  const float *x = in[0], *w = turn_weights(d, in[1]), *bias = d->bias ? in[2] : NULL;
  float *y = out;
  (void)e;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < d->batch * d->rows[0]; i++) {
    struct run r;
    forward_run(d, x + i / d->rows[0] * d->size[0] * d->size[1] * d->channels, w, i % d->rows[0], &r);
    make_row(d, &r, bias, y + i * d->rows[1] * d->channels);
  }
  return R4_OK;
}

static r4_status backward(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct depthwise *d = (struct depthwise *)k;
  const float *dy = in[0], *w = turn_weights(d, in[1]);
  float *dx = out;
  (void)e;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < d->batch * d->size[0]; i++) {
    const float *image = dy + i / d->size[0] * d->rows[0] * d->rows[1] * d->channels;
    for (int64_t residue = 0; residue < least(d->stride[1], d->size[1]); residue++) {
      struct run r;
      backward_run(d, image, w, i % d->size[0], residue, &r);
      make_row(d, &r, NULL, dx + i * d->size[1] * d->channels);
    }
  }
  return R4_OK;
}

/* ---- dW: row u of dy and row h of x, a row p of the window; Q columns of it, V vectors of channels ---- */

static inline __attribute__((always_inline)) void
row_sums(const int Q, const int V, const struct depthwise *d, const float *dy, const float *x, float *sums)
{
  wide sum[MAX_KERNEL][2];
  int64_t channels = d->channels;
  UNROLL for (int q = 0; q < Q; q++) UNROLL for (int v = 0; v < V; v++) sum[q][v] = (wide){0};
  for (int64_t j = 0; j < d->rows[1]; j++, dy += channels) {
    int64_t at = j * d->stride[1] - d->pad[1];
    bool inside = at >= 0 && at + Q <= d->size[1];
    UNROLL for (int q = 0; q < Q; q++) if (inside || (at + q >= 0 && at + q < d->size[1]))
      UNROLL for (int v = 0; v < V; v++) sum[q][v] +=
      AT(dy + v * WIDE) * AT(x + (at + q) * channels + v * WIDE);
  }
  UNROLL for (int q = 0; q < Q; q++) UNROLL for (int v = 0; v < V; v++)
  {
    float *to = sums + q * channels + v * WIDE;
    PUT(to, AT(to) + sum[q][v]);
  }
}

/* The number of columns as a constant, so that the sums fit their registers. */
static void any_row_sums(const struct depthwise *d, bool two, const float *dy, const float *x, float *sums)
{
  switch (d->kernel[1]) {
  case 3:
    if (two)
      row_sums(3, 2, d, dy, x, sums);
    else
      row_sums(3, 1, d, dy, x, sums);
    break;
  case 5:
    if (two)
      row_sums(5, 2, d, dy, x, sums);
    else
      row_sums(5, 1, d, dy, x, sums);
    break;
  default:
    if (two)
      row_sums(7, 2, d, dy, x, sums);
    else
      row_sums(7, 1, d, dy, x, sums);
    break;
  }
}

/* All images, the vectors begin .. end - 1 of the channels. Sums of a row are added up by themselves first, which keeps
 * the rounding small. */
static void channel_sums(const struct depthwise *d, const float *x, const float *dy, int64_t begin,
                         int64_t end, float *sums)
{
  for (int64_t i = 0; i < d->batch * d->rows[0]; i++) {
    const float *image = x + i / d->rows[0] * d->size[0] * d->size[1] * d->channels;
    for (int64_t p = 0; p < d->kernel[0]; p++) {
      int64_t h = i % d->rows[0] * d->stride[0] + p - d->pad[0];
      if (h < 0 || h >= d->size[0]) continue;
      for (int64_t v = begin; v < end; v += 2) {
        int64_t c = v * WIDE;
        any_row_sums(d, v + 1 < end, dy + i * d->rows[1] * d->channels + c,
                     image + h * d->size[1] * d->channels + c, sums + p * d->kernel[1] * d->channels + c);
      }
    }
  }
}

/* Threads share the channels, so that no sum depends on how many there are. */
static r4_status weights(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct depthwise *d = (struct depthwise *)k;
  int64_t taps = d->kernel[0] * d->kernel[1], vectors = d->channels / WIDE, pairs = divide_up(vectors, 2);
  float *sums = d->base.scratch, *dw = out;
  (void)e;
  memset(sums, 0, (size_t)(taps * d->channels) * sizeof *sums);
  int threads = (int)least(omp_get_max_threads(), pairs);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int t = 0; t < threads; t++)
    channel_sums(d, in[0], in[1], t * pairs / threads * 2, least((t + 1) * pairs / threads * 2, vectors),
                 sums);
  for (int64_t c = 0; c < d->channels; c++)
    for (int64_t t = 0; t < taps; t++) dw[c * taps + t] = sums[t * d->channels + c];
  return R4_OK;
}

/* ---- Making ---- */

static void destroy(struct kernel *k)
{
  r4_mem_free(k);
}

static bool fits(const struct kernel_request *q, r4_shape x, r4_shape w)
{
  const int64_t *a = q->attr.i, channels = x.dim[3];
  bool plain = a[W_STRIDE] <= MAX_STRIDE && a[W_STRIDE + 1] <= MAX_STRIDE && a[W_DILATION] == 1 &&
               a[W_DILATION + 1] == 1 && !q->accumulate;
  return plain && channels > 1 && window_groups(&q->attr) == channels && w.dim[0] == channels &&
         channels % WIDE == 0 && w.dim[1] <= MAX_KERNEL && w.dim[2] <= MAX_KERNEL;
}

static r4_status make(const struct kernel_request *q, r4_shape x, r4_shape w, r4_shape y, struct kernel how,
                      struct kernel **k, r4_error *e)
{
  if (!fits(q, x, w)) return R4_OK;
  struct depthwise *d = mem_new(1, sizeof *d, q->op->name, e);
  if (!d) return R4_E_MEMORY;
  d->base = how;
  d->base.destroy = destroy;
  d->base.scratch_bytes = (size_t)r4_shape_count(w) * sizeof(float);
  d->batch = x.dim[0], d->channels = x.dim[3];
  for (int a = 0; a < 2; a++) {
    d->size[a] = x.dim[1 + a], d->rows[a] = y.dim[1 + a], d->kernel[a] = w.dim[1 + a];
    d->stride[a] = q->attr.i[W_STRIDE + a], d->pad[a] = q->attr.i[W_PAD + 2 * a];
  }
  d->bias = q->bias, d->relu = q->relu;
  *k = &d->base;
  return R4_OK;
}

r4_status depthwise_conv(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return make(q, q->in[0], q->in[1], q->out, (struct kernel){.name = "depthwise conv", .run = forward}, k, e);
}

r4_status depthwise_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return make(q, q->out, q->in[1], q->in[0], (struct kernel){.name = "depthwise conv dx", .run = backward}, k,
              e);
}

r4_status depthwise_conv_dw(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  int64_t columns = q->out.dim[2];
  if (columns != 3 && columns != 5 && columns != 7) return R4_OK;
  return make(q, q->in[0], q->out, q->in[1], (struct kernel){.name = "depthwise conv dw", .run = weights}, k,
              e);
}
