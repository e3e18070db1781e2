/* conv2d_dw of 3 x 3 kernels and stride 1 by Winograd's algorithm, F(3 x 3, 4 x 4): the derivative of the bilinear form
 * of winograd.c with respect to w,
 *
 *     dW = G' [ sum over tiles of (A dy A') . (B' x B) ] G,
 *
 * 36 products of matrices, [out, tiles] [tiles, in]. Blocks of 64 x 64 channels are summed up over blocks of tiles
 * while they are in a second-level cache. Where there are few of them the tiles are cut into chunks, too, whose sums
 * are added in order: how many depends on the shapes alone, so that no bit depends on the number of threads. */
#include <omp.h>

#include "base/mem.h"
#include "exec/kernel/micro.h"
#include "exec/kernel/winograd.h"
#include "op/op_rules.h"
#include "op/window.h"

enum { ITEMS = 16 /* to share out, at least */, CHUNK = 4 * TILES /* tiles, at least */ };

struct winograd_dw {
  struct kernel base;
  struct grid x, dy;
  int64_t tiles, chunks, ins, outs; /* ins, outs: blocks of channels */
  int64_t weights;
  int threads;
};

struct desk {
  float image[POINTS * TILE_PLANE], error[POINTS * TILE_PLANE], sums[POINTS * WEIGHT_PLANE];
};

static void run_item(const struct winograd_dw *w, int64_t chunk, const struct square *s, void *const *in,
                     float *out, struct desk *d)
{
  int64_t begin = w->tiles * chunk / w->chunks, end = w->tiles * (chunk + 1) / w->chunks;
  int64_t blocks = divide_up(end - begin, TILES);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t tile = begin + (end - begin) * b / blocks,
            tiles = begin + (end - begin) * (b + 1) / blocks - tile;
    winograd_image(&w->x, &(struct part){tile, tiles, s->in, s->ins}, in[0], d->image);
    winograd_error(&w->dy, &(struct part){tile, tiles, s->out, s->outs}, in[1], d->error);
    winograd_multiply_dw(d->error, d->image, tiles, s->ins, s->outs, b > 0, d->sums);
  }
  winograd_gradient(s, w->x.channels, d->sums, out);
}

static r4_status run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct winograd_dw *w = (struct winograd_dw *)k;
  struct desk *desk = k->scratch;
  float *dw = out, *part = w->chunks > 1 ? (float *)(desk + w->threads) : dw;
  int64_t items = w->chunks * w->ins * w->outs;
  int threads = (int)least(omp_get_max_threads(), w->threads);
  (void)e;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (int64_t t = 0; t < items; t++) {
      int64_t chunk = t % w->chunks, i = t / w->chunks % w->ins * BLOCK, o = t / w->chunks / w->ins * BLOCK;
      struct square s = {i, least(BLOCK, w->x.channels - i), o, least(BLOCK, w->dy.channels - o)};
      run_item(w, chunk, &s, in, part + chunk * w->weights, desk + omp_get_thread_num());
    }
#pragma omp for schedule(static)
    for (int64_t j = 0; j < (w->chunks > 1 ? w->weights : 0); j++) {
      float sum = part[j];
      for (int64_t c = 1; c < w->chunks; c++) sum += part[c * w->weights + j];
      dw[j] = sum;
    }
  }
  return R4_OK;
}

static void destroy(struct kernel *k)
{
  r4_mem_free(k);
}

static void describe(const struct kernel_request *q, struct winograd_dw *w)
{
  w->x.channels = q->in[0].dim[3], w->dy.channels = q->in[1].dim[3];
  for (int a = 0; a < 2; a++) {
    w->x.size[a] = q->in[0].dim[1 + a], w->dy.size[a] = q->in[1].dim[1 + a];
    w->x.first[a] = -q->attr.i[W_PAD + 2 * a];
    w->x.tiles[a] = w->dy.tiles[a] = divide_up(q->in[1].dim[1 + a], TILE);
  }
  w->tiles = q->in[1].dim[0] * w->dy.tiles[0] * w->dy.tiles[1];
  w->ins = divide_up(w->x.channels, BLOCK), w->outs = divide_up(w->dy.channels, BLOCK);
  w->chunks = most(1, least(divide_up(ITEMS, w->ins * w->outs), w->tiles / CHUNK));
  w->weights = r4_shape_count(q->out);
}

r4_status winograd_conv_dw(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  double share = winograd_share(q, q->out, q->in[1]);
  if (share == 0) return R4_OK;
  struct winograd_dw *w = mem_new(1, sizeof *w, q->op->name, e);
  if (!w) return R4_E_MEMORY;
  describe(q, w);
  w->threads = (int)least(omp_get_max_threads(), w->chunks * w->ins * w->outs);
  w->base = (struct kernel){.name = "winograd conv dw", .run = run, .destroy = destroy, .flops_share = share};
  w->base.scratch_bytes = (size_t)w->threads * sizeof(struct desk);
  if (w->chunks > 1) w->base.scratch_bytes += (size_t)(w->chunks * w->weights) * sizeof(float);
  *k = &w->base;
  return R4_OK;
}
