#include "data/lint/look.h"

#include <math.h>

/* An image, of which the pixels count that are in a region and on one side of the mask. */
struct picture {
  size_t height, width, channels;
  const float *pixel;
  const uint8_t *mask; /* NULL: none */
  size_t step;         /* elements of the mask for each pixel */
  struct region region;
  bool masked;
};

bool look_works(const r4_data *d)
{
  r4_shape s = data_x(d)->shape;
  return s.rank == 3 && s.dim[2] <= LOOK_CHANNELS && !data_x(d)->is->ids;
}

static bool is_in(struct box b, size_t y, size_t x)
{
  return y >= b.top && y < b.bottom && x >= b.left && x < b.right;
}

static bool counts(const struct picture *p, size_t y, size_t x)
{
  if (!is_in(p->region.box, y, x) || is_in(p->region.hole, y, x)) return false;
  return p->masked == (p->mask && p->mask[(y * p->width + x) * p->step]);
}

static double difference(const struct picture *p, const float *a, const float *b)
{
  double sum = 0;
  for (size_t c = 0; c < p->channels; c++) sum += fabs((double)a[c] - (double)b[c]);
  return sum / (double)p->channels;
}

/* Sums, until they are divided. */
struct sums {
  struct look look;
  double pairs_across, pairs_down;
  struct box reach;
};

static void add_pixel(struct sums *s, const struct picture *p, size_t y, size_t x)
{
  const float *at = p->pixel + (y * p->width + x) * p->channels;
  struct look *l = &s->look;
  if (l->pixels++ == 0) s->reach = (struct box){y, x, y, x};
  double part = 1 / l->pixels;
  for (size_t c = 0; c < p->channels; c++) {
    double before = (double)at[c] - l->mean[c];
    l->mean[c] += before * part;
    l->spread[c] += before * ((double)at[c] - l->mean[c]);
  }
  l->y += (double)y;
  l->x += (double)x;
  s->reach.bottom = y;
  if (x < s->reach.left) s->reach.left = x;
  if (x > s->reach.right) s->reach.right = x;
  if (counts(p, y, x + 1)) s->pairs_across++, l->across += difference(p, at, at + p->channels);
  if (counts(p, y + 1, x)) s->pairs_down++, l->down += difference(p, at, at + p->width * p->channels);
}

static struct look nothing(void)
{
  struct look l = {0, .across = NAN, .down = NAN, .y = NAN, .x = NAN, .height = NAN, .width = NAN};
  for (size_t c = 0; c < LOOK_CHANNELS; c++) l.mean[c] = l.spread[c] = NAN;
  return l;
}

static struct look look_of(const struct sums *s)
{
  struct look l = s->look;
  if (!(l.pixels > 0)) return nothing();
  for (size_t c = 0; c < LOOK_CHANNELS; c++) l.spread[c] = sqrt(l.spread[c] / l.pixels);
  l.across = s->pairs_across > 0 ? l.across / s->pairs_across : NAN;
  l.down = s->pairs_down > 0 ? l.down / s->pairs_down : NAN;
  l.y /= l.pixels;
  l.x /= l.pixels;
  l.height = (double)(s->reach.bottom - s->reach.top + 1);
  l.width = (double)(s->reach.right - s->reach.left + 1);
  return l;
}

struct look look_at(const r4_data *d, const float *pixel, const uint8_t *mask, struct region r, bool masked)
{
  r4_shape shape = data_x(d)->shape;
  struct picture p = {.height = (size_t)shape.dim[0],
                      .width = (size_t)shape.dim[1],
                      .channels = (size_t)shape.dim[2],
                      .pixel = pixel,
                      .mask = mask,
                      .region = r,
                      .masked = masked};
  p.step = data_mask_layout(d).repeat == p.channels ? 1 : p.channels;
  struct sums s = {.look = {0}};
  for (size_t y = r.box.top; y < r.box.bottom; y++)
    for (size_t x = r.box.left; x < r.box.right; x++)
      if (counts(&p, y, x)) add_pixel(&s, &p, y, x);
  return look_of(&s);
}
