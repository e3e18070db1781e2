/* conv2d_dx for images with few channels, the input gradient of an RGB image:
 *
 *     dx[h,w,i] = sum_{p,q,o} dy[(h + top - p) / stride, (w + left - q) / stride, o] W[o,p,q,i]
 *
 * over the p and q that leave no remainder. oneDNN pads 3 channels to 16 there, five times the work. Here the vector
 * runs along w: rows of dy are transposed to [o, w] with zeros left and right, so that a tap (p, q) is a shifted load,
 * and the sums of all channels of 32 pixels stay in registers. These are neighbours, or with a stride every second or
 * third pixel, which see the same taps. */
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
enum { BLOCK = 32 /* pixels at once */, VECTORS = BLOCK / WIDE, MAX_CHANNELS = 4, MAX_STRIDE = 4 };

typedef float wide __attribute__((vector_size(WIDE * sizeof(float))));
typedef float wide_anywhere __attribute__((vector_size(WIDE * sizeof(float)), aligned(sizeof(float))));

struct narrow {
  struct kernel base;
  int64_t batch, height, width, rows, columns, channels, outs; /* dx: height x width, dy: rows x columns */
  int64_t kernel_h, kernel_w, top, left, step_h, step_w;       /* steps: the strides of the convolution */
  int64_t stride;                                              /* floats of a transposed row */
  size_t ring;    /* floats of kernel_h transposed rows of all outs */
  float *weights; /* [p][o][q][i] */
  float *scratch; /* a ring per thread */
  int threads;
};

/* Row u of dy as [o][left zeros, columns, right zeros]. */
static void transpose_row(const struct narrow *n, const float *dy, float *to)
{
  int64_t margin = n->kernel_w - 1 - n->left;
  for (int64_t v = 0; v < n->columns; v += LANES)
    for (int64_t o = 0; o < n->outs; o += LANES) {
      lanes r[LANES];
      UNROLL for (int64_t k = 0; k < LANES; k++) r[k] =
        v + k < n->columns ? *(const lanes_anywhere *)(dy + (v + k) * n->outs + o) : (lanes){0};
      transpose8(r);
      UNROLL for (int64_t k = 0; k < LANES; k++) * (lanes_anywhere *)(to + (o + k) * n->stride + margin + v) =
        r[k];
    }
}

/* ---- One block of 32 pixels of row h, C channels: columns residue + step (v + 0 .. 31) ---- */

struct place {
  int64_t h, v, residue;
};

static inline __attribute__((always_inline)) void
block(const struct narrow *n, const float *ring, const struct place *at, int64_t C, float (*sum)[BLOCK])
{
  wide acc[MAX_CHANNELS][VECTORS] = {{{0}}};
  int64_t margin = n->kernel_w - 1 - n->left, q0 = (at->residue + n->left) % n->step_w;
  for (int64_t p = (at->h + n->top) % n->step_h; p < n->kernel_h; p += n->step_h) {
    int64_t u = (at->h + n->top - p) / n->step_h;
    if (at->h + n->top < p || u >= n->rows) continue;
    const float *row = ring + u % n->kernel_h * n->outs * n->stride + margin + at->v;
    const float *weight = n->weights + p * n->outs * n->kernel_w * C;
    for (int64_t o = 0; o < n->outs; o++, row += n->stride, weight += n->kernel_w * C) {
      const float *from = row + (at->residue + n->left - q0) / n->step_w;
      for (int64_t q = q0; q < n->kernel_w; q += n->step_w, from--) {
        UNROLL for (int k = 0; k < VECTORS; k++)
        {
          wide a = *(const wide_anywhere *)(from + k * WIDE);
          UNROLL for (int64_t i = 0; i < C; i++) acc[i][k] += a * weight[q * C + i];
        }
      }
    }
  }
  UNROLL for (int64_t i = 0; i < C; i++) UNROLL for (int k = 0; k < VECTORS; k++)
    memcpy(&sum[i][k * WIDE], &acc[i][k], sizeof acc[i][k]);
}

/* The number of channels as a constant, so that the sums of each fit their registers. */
static void any_block(const struct narrow *n, const float *ring, const struct place *at, float (*sum)[BLOCK])
{
  switch (n->channels) {
  case 1:
    block(n, ring, at, 1, sum);
    break;
  case 2:
    block(n, ring, at, 2, sum);
    break;
  case 3:
    block(n, ring, at, 3, sum);
    break;
  default:
    block(n, ring, at, 4, sum);
    break;
  }
}

/* The pixels of one residue of row h of dx. */
static void one_row(const struct narrow *n, const float *ring, int64_t h, int64_t residue, float *dx)
{
  float sum[MAX_CHANNELS][BLOCK];
  int64_t pixels = (n->width - residue + n->step_w - 1) / n->step_w;
  for (int64_t v = 0; v < pixels; v += BLOCK) {
    any_block(n, ring, &(struct place){h, v, residue}, sum);
    float *to = dx + (h * n->width + v * n->step_w + residue) * n->channels;
    for (int64_t k = 0; k < least(BLOCK, pixels - v); k++, to += n->step_w * n->channels)
      for (int64_t i = 0; i < n->channels; i++) to[i] = sum[i][k];
  }
}

static void one_image(const struct narrow *n, const float *dy, float *dx, float *ring)
{
  int64_t next = 0; /* row of dy to transpose */
  for (int64_t h = 0; h < n->height; h++) {
    for (; next * n->step_h <= h + n->top && next < n->rows; next++)
      transpose_row(n, dy + next * n->columns * n->outs, ring + next % n->kernel_h * n->outs * n->stride);
    for (int64_t residue = 0; residue < least(n->step_w, n->width); residue++)
      one_row(n, ring, h, residue, dx);
  }
}

static void pack_weights(struct narrow *n, const float *w)
{
  float *to = n->weights;
  for (int64_t p = 0; p < n->kernel_h; p++)
    for (int64_t o = 0; o < n->outs; o++)
      for (int64_t q = 0; q < n->kernel_w; q++)
        for (int64_t i = 0; i < n->channels; i++)
          *to++ = w[((o * n->kernel_h + p) * n->kernel_w + q) * n->channels + i];
}

static r4_status narrow_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct narrow *n = (struct narrow *)k;
  const float *dy = in[0];
  float *dx = out;
  (void)e;
  pack_weights(n, in[1]);
  int threads = omp_get_max_threads() < n->threads ? omp_get_max_threads() : n->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t b = 0; b < n->batch; b++)
    one_image(n, dy + b * n->rows * n->columns * n->outs, dx + b * n->height * n->width * n->channels,
              n->scratch + (size_t)omp_get_thread_num() * n->ring);
  return R4_OK;
}

static void narrow_destroy(struct kernel *k)
{
  struct narrow *n = (struct narrow *)k;
  r4_mem_free(n->weights);
  r4_mem_free(n->scratch);
  r4_mem_free(n);
}

static bool fits(const struct kernel_request *q)
{
  const int64_t *a = q->attr.i;
  bool plain = a[W_STRIDE] <= MAX_STRIDE && a[W_STRIDE + 1] <= MAX_STRIDE && a[W_DILATION] == 1 &&
               a[W_DILATION + 1] == 1;
  return plain && window_groups(&q->attr) == 1 && q->out.dim[3] <= MAX_CHANNELS &&
         q->in[0].dim[3] % LANES == 0 && a[W_PAD] < q->in[1].dim[1] && a[W_PAD + 2] < q->in[1].dim[2];
}

r4_status narrow_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  if (!fits(q)) return R4_OK;
  struct narrow *n = mem_new(1, sizeof *n, q->op->name, e);
  if (!n) return R4_E_MEMORY;
  n->base = (struct kernel){.name = "narrow conv dx", .run = narrow_run, .destroy = narrow_destroy};
  n->batch = q->out.dim[0], n->height = q->out.dim[1], n->width = q->out.dim[2], n->channels = q->out.dim[3];
  n->rows = q->in[0].dim[1], n->columns = q->in[0].dim[2], n->outs = q->in[0].dim[3];
  n->kernel_h = q->in[1].dim[1], n->kernel_w = q->in[1].dim[2];
  n->top = q->attr.i[W_PAD], n->left = q->attr.i[W_PAD + 2];
  n->step_h = q->attr.i[W_STRIDE], n->step_w = q->attr.i[W_STRIDE + 1];
  int64_t widest = n->width > n->columns ? n->width : n->columns;
  n->stride = (widest + BLOCK - 1) / BLOCK * BLOCK + (n->kernel_w + LANES - 1) / LANES * LANES + LANES;
  n->ring = (size_t)(n->kernel_h * n->outs * n->stride);
  n->threads = omp_get_max_threads();
  n->weights = mem_new((size_t)r4_shape_count(q->in[1]), sizeof *n->weights, q->op->name, e);
  n->scratch = mem_new_aligned((size_t)n->threads * n->ring, sizeof *n->scratch, q->op->name, e);
  *k = &n->base;
  if (n->weights && n->scratch) return R4_OK;
  narrow_destroy(*k);
  *k = NULL;
  return R4_E_MEMORY;
}
