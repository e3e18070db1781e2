/* Digits from strokes. One image is made in five steps:
 *
 *     shape     one of the ways to write the digit: lines and splines in a square
 *     bend      p += sum_ij B(i, p.x) B(j, p.y) v_ij: a cubic B-spline field of random displacements
 *     place     p = A p + c: rotation, slant, two scales, translation; now in pixels
 *     ink       f(max over the strokes of (radius - distance) / softness), f from 0 to 1
 *     paper     contrast, noise, specks
 *
 * Nothing but + - * / and square roots, in float, never contracted (see REALS in the Makefile): each is
 * rounded the same way everywhere, so the bytes are the same everywhere. Libm's sin and cos are not. */
#include <math.h>

#include "base/purpose.h"
#include "data/known/digits_strokes.h"
#include "r4.h"

enum { CELLS = 3, KNOTS = CELLS + 3 };       /* cells of the field along a side, and its knots */
enum { BEND_X, BEND_Y, BEND_RADIUS, BENDS }; /* what the field changes */
enum { SPECKS = 3 };
enum { LINE_STEPS = 8, CURVE_STEPS = 4 }; /* pieces between two points of a stroke */
enum { BENDS_DRAWN = KNOTS * KNOTS * BENDS, SCALARS_DRAWN = 12, SPECK_DRAWN = 5 };
enum { NOISE_AT = BENDS_DRAWN + SCALARS_DRAWN + SPECKS * SPECK_DRAWN, DRAWN = NOISE_AT + 2 * DIGITS_PIXELS };

/* The size of each disturbance, chosen such that a dense net of 512 hidden units gets about 98 % right.
 * Lengths are in pixels where nothing else is said. */
#define TURN 0.26f    /* radians, to either side */
#define SLANT 0.25f   /* shift to the side by height */
#define SIZE_LOW 15.f /* of the square */
#define SIZE_HIGH 21.f
#define ASPECT 0.15f /* share by which width and height differ */
#define SHIFT 1.8f
#define BEND 0.17f    /* share of the square */
#define PRESSURE 0.5f /* share of the radius */
#define RADIUS_LOW 0.7f
#define RADIUS_HIGH 1.7f
#define SOFT_LOW 0.9f /* width of the edge */
#define SOFT_HIGH 2.2f
#define CONTRAST_LOW 0.65f
#define NOISE_HIGH 0.16f /* largest deviation of a pixel, of the noisiest images */

/* ---- Random details ---- */

/* All random numbers of an image, uniform in [0, 1), taken in order. */
struct dice {
  float u[DRAWN];
  size_t next;
};

/* With low = 0 and a small whole number as high, below high after rounding too. */
static float between(struct dice *d, float low, float high)
{
  return low + (high - low) * d->u[d->next++];
}

static float around(struct dice *d, float reach)
{
  return between(d, -reach, reach);
}

/* ---- From the square to the pixels ---- */

struct hand {
  float bend[KNOTS][KNOTS][BENDS];
  float xx, xy, yx, yy, cx, cy; /* the affine map */
  float radius, soft;
};

/* sin and cos up to the fifth power: errors below 1e-7 and 1e-6 at the largest turn. */
static void draw_place(struct hand *h, struct dice *d)
{
  float a = around(d, TURN), slant = around(d, SLANT);
  float s = a * (1 - a * a / 6 * (1 - a * a / 20)), c = 1 - a * a / 2 * (1 - a * a / 12);
  float size = between(d, SIZE_LOW, SIZE_HIGH), aspect = around(d, ASPECT);
  float width = size * (1 + aspect), height = size * (1 - aspect);
  h->xx = c * width;
  h->xy = (c * slant - s) * height;
  h->yx = s * width;
  h->yy = (s * slant + c) * height;
  h->cx = DIGITS_SIDE / 2.f + around(d, SHIFT);
  h->cy = DIGITS_SIDE / 2.f + around(d, SHIFT);
}

static void draw_hand(struct hand *h, struct dice *d)
{
  const float reach[BENDS] = {BEND, BEND, PRESSURE};
  draw_place(h, d);
  h->radius = between(d, RADIUS_LOW, RADIUS_HIGH);
  h->soft = between(d, SOFT_LOW, SOFT_HIGH);
  for (int i = 0; i < KNOTS; i++) {
    for (int j = 0; j < KNOTS; j++) {
      for (int k = 0; k < BENDS; k++) h->bend[i][j][k] = around(d, reach[k]);
    }
  }
}

/* The four weights of a uniform cubic B-spline at x in [0, 1], and the first knot they belong to. */
static int spline_weights(float x, float w[4])
{
  float at = x * CELLS;
  int cell = at < 1 ? 0 : at < CELLS - 1 ? (int)at : CELLS - 1;
  float t = at - (float)cell, s = 1 - t;
  w[0] = s * s * s / 6;
  w[1] = (4 - 3 * t * t * (2 - t)) / 6;
  w[2] = (4 - 3 * s * s * (2 - s)) / 6;
  w[3] = t * t * t / 6;
  return cell;
}

struct point {
  float x, y;
};

/* A place in the image, in pixels, and half the width of the stroke there. */
struct spot {
  float x, y, radius;
};

static struct spot place(const struct hand *h, struct point p)
{
  float wx[4], wy[4], bend[BENDS] = {0};
  int i0 = spline_weights(p.y, wy), j0 = spline_weights(p.x, wx);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      for (int k = 0; k < BENDS; k++) bend[k] += wy[i] * wx[j] * h->bend[i0 + i][j0 + j][k];
    }
  }
  float x = p.x - 0.5f + bend[BEND_X], y = p.y - 0.5f + bend[BEND_Y];
  return (struct spot){h->cx + h->xx * x + h->xy * y, h->cy + h->yx * x + h->yy * y,
                       h->radius * (1 + bend[BEND_RADIUS])};
}

/* ---- Ink ---- */

/* How deep each pixel lies in the ink: radius minus distance of the nearest stroke, negative outside. */
struct sheet {
  float depth[DIGITS_SIDE][DIGITS_SIDE];
};

static int pixel(float at)
{
  return at < 0 ? 0 : at > DIGITS_SIDE ? DIGITS_SIDE : (int)at;
}

/* One piece of a stroke, a line between two discs. Pixels further away than reach stay as they are. */
static void ink_piece(struct sheet *sheet, struct spot a, struct spot b, float soft)
{
  float reach = fmaxf(a.radius, b.radius) + soft / 2;
  int x0 = pixel(fminf(a.x, b.x) - reach), x1 = pixel(fmaxf(a.x, b.x) + reach + 1);
  int y0 = pixel(fminf(a.y, b.y) - reach), y1 = pixel(fmaxf(a.y, b.y) + reach + 1);
  float dx = b.x - a.x, dy = b.y - a.y, dr = b.radius - a.radius;
  float scale = 1 / (dx * dx + dy * dy + 1e-12f);
  for (int y = y0; y < y1; y++) {
    float *row = sheet->depth[y], py = (float)y + 0.5f - a.y;
    for (int x = x0; x < x1; x++) {
      float px = (float)x + 0.5f - a.x, t = (px * dx + py * dy) * scale;
      t = t < 0 ? 0 : t > 1 ? 1 : t;
      float ex = px - t * dx, ey = py - t * dy;
      float depth = a.radius + t * dr - sqrtf(ex * ex + ey * ey);
      row[x] = row[x] < depth ? depth : row[x];
    }
  }
}

/* Point i of a stroke; beyond the ends of an open one, the end. */
static struct point point_of(const struct stroke *s, int i)
{
  int n = s->n, k = s->kind == STROKE_LOOP ? (i + n) % n : i < 0 ? 0 : i < n ? i : n - 1;
  return (struct point){s->at[k][0] / 100.f, s->at[k][1] / 100.f};
}

static float catmull_rom(float a, float b, float c, float d, float t)
{
  return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

/* The point at t in [0, 1] between points i and i + 1. */
static struct point between_points(const struct stroke *s, int i, float t)
{
  struct point a = point_of(s, i - 1), b = point_of(s, i), c = point_of(s, i + 1), d = point_of(s, i + 2);
  if (s->kind == STROKE_LINE) return (struct point){b.x + t * (c.x - b.x), b.y + t * (c.y - b.y)};
  return (struct point){catmull_rom(a.x, b.x, c.x, d.x, t), catmull_rom(a.y, b.y, c.y, d.y, t)};
}

static void ink_stroke(struct sheet *sheet, const struct hand *h, const struct stroke *s)
{
  int spans = s->kind == STROKE_LOOP ? s->n : s->n - 1;
  int steps = s->kind == STROKE_LINE ? LINE_STEPS : CURVE_STEPS;
  struct spot last = place(h, point_of(s, 0));
  for (int i = 0; i < spans; i++) {
    for (int k = 1; k <= steps; k++) {
      struct spot here = place(h, between_points(s, i, (float)k / (float)steps));
      ink_piece(sheet, last, here, h->soft);
      last = here;
    }
  }
}

/* Up to SPECKS dots and hairs anywhere. */
static void ink_specks(struct sheet *sheet, const struct hand *h, struct dice *d)
{
  int n = (int)between(d, 0, SPECKS + 1);
  for (int k = 0; k < n; k++) {
    struct spot a = {.x = between(d, 0, DIGITS_SIDE), .y = between(d, 0, DIGITS_SIDE)};
    a.radius = between(d, 0.1f, 0.8f);
    struct spot b = {a.x + around(d, 2), a.y + around(d, 2), a.radius};
    ink_piece(sheet, a, b, h->soft);
  }
}

/* ---- Paper ---- */

/* From depth to grey: a smooth step across the edge. The noise is the sum of two uniform draws. */
static void develop(const struct sheet *sheet, float soft, struct dice *d, uint8_t *image)
{
  const float *depth = &sheet->depth[0][0], *u = d->u + NOISE_AT, *v = u + DIGITS_PIXELS;
  float contrast = between(d, CONTRAST_LOW, 1), noise = between(d, 0, NOISE_HIGH);
  for (int k = 0; k < DIGITS_PIXELS; k++) {
    float t = 0.5f + depth[k] / soft;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    float grey = contrast * t * t * (3 - 2 * t) + noise * (u[k] + v[k] - 1);
    grey = grey < 0 ? 0 : grey > 1 ? 1 : grey;
    image[k] = (uint8_t)(int)(255 * grey + 0.5f);
  }
}

static uint8_t draw_digit(uint64_t seed, uint64_t index, uint8_t *image)
{
  /* A seed of its own gives each image room for any number of draws. */
  uint64_t own = r4_random_below((r4_random){seed, PURPOSE_DIGIT, 0}, index, UINT64_MAX);
  size_t label = r4_random_below((r4_random){seed, PURPOSE_DIGIT_LABEL, 0}, index, DIGITS_CLASSES);
  const struct digit *digit = &digits_table[label];
  struct dice d;
  struct hand h;
  struct sheet sheet;
  d.next = 0;
  r4_random_fill((r4_random){own, PURPOSE_DIGIT_DETAIL, 0}, DRAWN, 0, 1, d.u);
  draw_hand(&h, &d);
  for (int k = 0; k < DIGITS_PIXELS; k++) (&sheet.depth[0][0])[k] = -DIGITS_SIDE;
  const struct shape *shape = &digit->shape[(size_t)between(&d, 0, (float)digit->n)];
  for (int k = 0; k < SHAPE_STROKES && shape->stroke[k].kind; k++) ink_stroke(&sheet, &h, &shape->stroke[k]);
  ink_specks(&sheet, &h, &d);
  develop(&sheet, h.soft, &d, image);
  return (uint8_t)label;
}

void r4_digits(uint64_t seed, uint64_t first, size_t n, uint8_t *images, uint8_t *labels)
{
#pragma omp parallel for schedule(static) if (n > 64)
  for (size_t k = 0; k < n; k++) labels[k] = draw_digit(seed, first + k, images + k * DIGITS_PIXELS);
}
