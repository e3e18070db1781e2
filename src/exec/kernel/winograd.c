/* 3 x 3 convolutions of stride 1 by Winograd's algorithm F(4 x 4, 3 x 3) (Lavin and Gray, 2016): 4 x 4 results from
 * 6 x 6 pixels x and the kernel w,
 *
 *     Y = A' [ sum over channels of (G w G') . (B' x B) ] A,
 *
 * with 36 products for each pair of channels where the definition has 144. Between the transformations lie 36 products
 * of matrices, [tiles, in] [in, out]. conv2d_dx is the same convolution of dy, with the kernel turned around, in and
 * out exchanged, and padding 2 - p in place of p; conv2d_dw is in winograd_dw.c.
 *
 * The sums have terms that cancel, so rounding errors are larger than the definition's, and a result that is >= 0 by
 * definition may come out below: it is taken where the request allows it, and where it is faster.
 *
 * Work goes in blocks of up to 56 tiles, 64 channels in and 64 out, which stay in a second-level cache from the first
 * transformation to the last; what another block needs again is transformed again. Each result is computed in one place
 * and order, whatever the number of threads. */
#include "exec/kernel/winograd.h"

#include <omp.h>

#include "base/mem.h"
#include "exec/kernel/micro.h"
#include "op/op_rules.h"
#include "op/window.h"

enum { MAX_PARTS = 2 };

struct winograd {
  struct kernel base;
  struct grid from, to;                       /* of the operand and of the result */
  int64_t tiles, block, parts, piles, groups; /* tiles of all images, of a block; blocks of a pile */
  bool dx, bias, relu, accumulate;
  int threads;
};

/* What a thread has in the scratch memory; sums: of each block of a pile. */
struct desk {
  float *weights, *image, *sums;
};

enum { WEIGHTS = POINTS * WEIGHT_PLANE, IMAGE = POINTS * TILE_PLANE };

/* ---- Running ---- */

static struct desk desk_of(const struct winograd *w, int64_t thread)
{
  float *at = (float *)w->base.scratch + thread * (WEIGHTS + IMAGE * (1 + w->parts));
  return (struct desk){at, at + WEIGHTS, at + WEIGHTS + IMAGE};
}

static void load_weights(const struct winograd *w, int64_t from, int64_t to, const float *weights, float *put)
{
  int64_t froms = least(BLOCK, w->from.channels - from), tos = least(BLOCK, w->to.channels - to);
  if (w->dx)
    winograd_weights_turned(&(struct square){to, tos, from, froms}, w->to.channels, weights, put);
  else
    winograd_weights(&(struct square){from, froms, to, tos}, w->from.channels, weights, put);
}

/* Block k of a pile, or none of its tiles if there are no more. */
static struct part part_of(const struct winograd *w, int64_t pile, int64_t k, int64_t channel,
                           int64_t channels)
{
  int64_t tile = (pile * w->parts + k) * w->block;
  return (struct part){tile, most(0, least(w->block, w->tiles - tile)), channel,
                       least(BLOCK, channels - channel)};
}

/* A pile of blocks of tiles, a group of the result's channels. fresh: its weights are not there yet. */
static void run_pile(const struct winograd *w, int64_t pile, int64_t group, bool fresh, void *const *in,
                     float *out, const struct desk *d)
{
  int64_t channels = w->from.channels, to = group * BLOCK;
  struct finish f = {w->bias ? in[2] : NULL, w->accumulate, w->relu};
  for (int64_t c = 0; c < channels; c += BLOCK) {
    if (fresh || channels > BLOCK) load_weights(w, c, to, in[1], d->weights);
    for (int64_t k = 0; k < w->parts; k++) {
      struct part p = part_of(w, pile, k, c, channels);
      winograd_image(&w->from, &p, in[0], d->image);
      winograd_multiply(d->image, d->weights, p.tiles, p.channels, least(BLOCK, w->to.channels - to), c > 0,
                        d->sums + k * IMAGE);
    }
  }
  for (int64_t k = 0; k < w->parts; k++) {
    struct part p = part_of(w, pile, k, to, w->to.channels);
    winograd_result(&w->to, &p, d->sums + k * IMAGE, f, out);
  }
}

static r4_status run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  const struct winograd *w = (struct winograd *)k;
  int64_t items = w->piles * w->groups;
  int threads = (int)least(omp_get_max_threads(), w->threads);
  (void)e;
#pragma omp parallel num_threads(threads)
  {
    int64_t me = omp_get_thread_num(), all = omp_get_num_threads(), first = items * me / all;
    struct desk d = desk_of(w, me);
    for (int64_t t = first; t < items * (me + 1) / all; t++)
      run_pile(w, t % w->piles, t / w->piles, t == first || t % w->piles == 0, in, out, &d);
  }
  return R4_OK;
}

/* ---- Choice ---- */

/* With few tiles, few channels or half-empty tiles, taking operands to the points and back is most of the work. */
enum { MIN_TILES = 24, MIN_CHANNELS = 16, MIN_PAIRS = 512 };

static bool pays(r4_shape w, int64_t tiles, double share)
{
#if defined(__AVX2__) && defined(__FMA__)
  return share < 0.4 && tiles >= MIN_TILES && w.dim[0] >= MIN_CHANNELS && w.dim[3] >= MIN_CHANNELS &&
         w.dim[0] * w.dim[3] >= MIN_PAIRS;
#else
  (void)w, (void)tiles, (void)share;
  return false; /* compiled for lesser machines: oneDNN knows better what there is */
#endif
}

static bool forced;

void winograd_force(bool always)
{
  forced = always;
}

static bool plain_3x3(const struct attr *a, r4_shape w)
{
  bool plain = w.dim[1] == KERNEL && w.dim[2] == KERNEL && window_groups(a) == 1;
  for (int k = 0; k < 2; k++) plain = plain && a->i[W_STRIDE + k] == 1 && a->i[W_DILATION + k] == 1;
  return plain;
}

double winograd_share(const struct kernel_request *q, r4_shape w, r4_shape y)
{
  if (!q->winograd || !plain_3x3(&q->attr, w)) return 0;
  int64_t tiles = y.dim[0] * divide_up(y.dim[1], TILE) * divide_up(y.dim[2], TILE);
  double share = (double)(POINTS * tiles) / (double)(KERNEL * KERNEL * y.dim[0] * y.dim[1] * y.dim[2]);
  return forced || pays(w, tiles, share) ? share : 0;
}

bool winograd_wins(const struct kernel_request *q)
{
  bool dw = q->op == &op_conv2d_dw, conv = dw || q->op == &op_conv2d || q->op == &op_conv2d_dx;
  return conv && !dnn_has_amx() && winograd_share(q, dw ? q->out : q->in[1], dw ? q->in[1] : q->out) > 0;
}

/* ---- Making ---- */

static void destroy(struct kernel *k)
{
  r4_mem_free(k);
}

static void describe(const struct kernel_request *q, bool dx, struct winograd *w)
{
  w->from.channels = q->in[0].dim[3], w->to.channels = q->out.dim[3];
  for (int a = 0; a < 2; a++) {
    int64_t pad = q->attr.i[W_PAD + 2 * a], tiles = divide_up(q->out.dim[1 + a], TILE);
    w->from.size[a] = q->in[0].dim[1 + a], w->to.size[a] = q->out.dim[1 + a];
    w->from.first[a] = dx ? pad - (KERNEL - 1) : -pad;
    w->from.tiles[a] = w->to.tiles[a] = tiles;
  }
  w->tiles = q->out.dim[0] * w->to.tiles[0] * w->to.tiles[1];
  w->groups = divide_up(w->to.channels, BLOCK);
  w->dx = dx, w->bias = q->bias, w->relu = q->relu, w->accumulate = q->accumulate;
}

/* Weights of several blocks are transformed anew for each pile: its blocks share the price, if there is enough for all
 * threads. Tiles are shared out evenly. */
static void divide(struct winograd *w, int threads)
{
  int64_t blocks = divide_up(w->tiles, TILES), enough = most(1, blocks * w->groups / threads);
  w->parts = w->from.channels > BLOCK ? least(MAX_PARTS, least(blocks, enough)) : 1;
  w->piles = divide_up(blocks, w->parts);
  w->block = divide_up(w->tiles, w->piles * w->parts);
  w->threads = (int)least(threads, w->piles * w->groups);
}

static r4_status make(const struct kernel_request *q, bool dx, const char *name, struct kernel **k,
                      r4_error *e)
{
  double share = winograd_share(q, q->in[1], q->out);
  if (share == 0) return R4_OK;
  struct winograd *w = mem_new(1, sizeof *w, q->op->name, e);
  if (!w) return R4_E_MEMORY;
  describe(q, dx, w);
  divide(w, omp_get_max_threads());
  w->base = (struct kernel){.name = name, .run = run, .destroy = destroy, .flops_share = share};
  w->base.scratch_bytes = (size_t)(w->threads * (WEIGHTS + IMAGE * (1 + w->parts))) * sizeof(float);
  *k = &w->base;
  return R4_OK;
}

r4_status winograd_conv(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return make(q, false, "winograd conv", k, e);
}

r4_status winograd_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return make(q, true, "winograd conv dx", k, e);
}
