/* Cutout (DeVries and Taylor, 2017), two squares an image as PatchCleanser trains with, and strips at edges. */
#include <math.h>
#include <string.h>

#include "base/purpose.h"
#include "data/batch/augment.h"

enum { STRIPS = 2, USUAL_HOLES = 2 };

/* Rows and columns from one to before another. */
struct hole {
  size_t top, bottom, left, right;
};

static void hide(const struct augment *a, struct hole h, float *x)
{
  size_t bytes = a->channels * sizeof *x;
  for (size_t row = h.top; row < h.bottom; row++)
    for (size_t column = h.left; column < h.right; column++)
      memcpy(x + (row * a->size.width + column) * a->channels, a->constant, bytes);
}

/* A side around its centre, from 0 to before n. */
static void cut(size_t centre, size_t side, size_t n, size_t *from, size_t *to)
{
  size_t before = side / 2, end = centre + side - before;
  *from = centre > before ? centre - before : 0;
  *to = end < n ? end : n;
}

static struct hole draw_square(const struct augment *a, r4_random key, uint64_t first)
{
  size_t height = a->size.height, width = a->size.width, shorter = height < width ? height : width;
  size_t side = (size_t)ceil(a->by.cutout * (double)shorter);
  struct hole h;
  cut(r4_random_below(key, first, height), side, height, &h.top, &h.bottom);
  cut(r4_random_below(key, first + 1, width), side, width, &h.left, &h.right);
  return h;
}

static struct hole draw_strip(const struct augment *a, r4_random key, uint64_t first)
{
  enum { TOP, BOTTOM, LEFT, RIGHT, EDGES };
  size_t height = a->size.height, width = a->size.width;
  uint64_t edge = r4_random_below(key, first, EDGES);
  size_t side = edge == TOP || edge == BOTTOM ? height : width;
  size_t most = (size_t)ceil(a->by.strips * (double)side), n = r4_random_below(key, first + 1, most + 1);
  return (struct hole){.top = edge == BOTTOM ? height - n : 0,
                       .bottom = edge == TOP ? n : height,
                       .left = edge == RIGHT ? width - n : 0,
                       .right = edge == LEFT ? n : width};
}

/* Each hole has numbers of its own, whether it is drawn or not: squares leave strips as they are. */
void augment_hide(const struct augment *a, uint32_t epoch, size_t i, float *x)
{
  if (!a->constant) return;
  const r4_random key = {a->seed, PURPOSE_HOLES, epoch};
  uint64_t first = (uint64_t)i * 2 * (STRIPS + AUGMENT_HOLES);
  int64_t holes = a->by.holes ? a->by.holes : USUAL_HOLES;
  for (uint64_t k = 0; k < STRIPS && a->by.strips > 0; k++) hide(a, draw_strip(a, key, first + 2 * k), x);
  for (uint64_t k = 0; (int64_t)k < holes && a->by.cutout > 0; k++)
    hide(a, draw_square(a, key, first + 2 * (STRIPS + k)), x);
}
