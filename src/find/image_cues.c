#include "find/image_cues.h"

#include <math.h>
#include <stdio.h>

enum { BY_REGION = 2 * CUE_REGIONS }; /* mean and extreme */

static size_t places(const struct grid *g)
{
  return g->rows * g->columns + BY_REGION;
}

size_t image_cues(const struct grid *g)
{
  return 2 * CELL_FEATURES * places(g);
}

struct image_cue image_cue_at(const struct grid *g, size_t k)
{
  size_t cells = g->rows * g->columns, place = k / 2 % places(g);
  struct image_cue q = {
    .feature = (enum cell_feature)(k / 2 / places(g)), .low = k % 2, .cell = place < cells};
  q.place = place;
  if (q.cell) return q;
  q.region = (enum cue_region)((place - cells) / 2);
  q.extreme = (place - cells) % 2;
  return q;
}

static bool at_border(const struct grid *g, size_t cell)
{
  size_t y = cell / g->columns, x = cell % g->columns;
  return !y || !x || y + 1 == g->rows || x + 1 == g->columns;
}

/* A quarter of the image is left on each side. */
static bool in_centre(const struct grid *g, size_t cell)
{
  size_t y = cell / g->columns, x = cell % g->columns;
  return 4 * y >= g->rows && 4 * (y + 1) <= 3 * g->rows && 4 * x >= g->columns &&
         4 * (x + 1) <= 3 * g->columns;
}

static bool has(const struct grid *g, const struct image_cue *q, size_t cell)
{
  if (q->cell) return cell == q->place;
  return q->region == REGION_ANYWHERE || (q->region == REGION_BORDER ? at_border : in_centre)(g, cell);
}

bool image_cue_is_outside(const struct grid *g, const struct image_cue *q)
{
  return q->cell ? at_border(g, q->place) : q->region == REGION_BORDER;
}

float image_cue_of(const struct grid *g, const struct image_cue *q, const float *cells, size_t *cell)
{
  float sign = q->low ? -1 : 1, most = NAN;
  double sum = 0;
  size_t n = 0;
  *cell = SIZE_MAX;
  for (size_t k = q->cell ? q->place : 0; k < (q->cell ? q->place + 1 : g->rows * g->columns); k++) {
    float v = sign * cells[k * CELL_FEATURES + q->feature];
    if (!has(g, q, k) || isnan(v)) continue;
    sum += (double)v;
    n++;
    if (!(v <= most)) most = v, *cell = k;
  }
  if (!n || q->cell || q->extreme) return most;
  *cell = SIZE_MAX;
  return (float)(sum / (double)n);
}

/* ---- Words ---- */

static const struct {
  const char *name, *much, *little;
} features[CELL_FEATURES] = {
  [CELL_LIGHT] = {"light", "lighter", "darker"},
  [CELL_RED_GREEN] = {"red-green", "redder than green", "greener or bluer than red"},
  [CELL_GREEN_BLUE] = {"green-blue", "yellower or greener than blue", "bluer than green"},
  [CELL_RED_BLUE] = {"red-blue", "redder or yellower than blue", "bluer than red"},
  [CELL_SATURATION] = {"saturation", "of a stronger colour", "greyer"},
  [CELL_SPREAD] = {"contrast", "richer in contrast", "plainer"},
  [CELL_DOWN] = {"horizontal-edges", "richer in horizontal edges", "poorer in horizontal edges"},
  [CELL_ACROSS] = {"vertical-edges", "richer in vertical edges", "poorer in vertical edges"},
};

static const char *const regions[CUE_REGIONS] = {"border", "centre", "anywhere"};

void image_cue_words(const struct grid *g, const struct image_cue *q, bool same, char name[CUE_NAME],
                     char where[64], const char **how)
{
  static const char *const means[CUE_REGIONS] = {"the border as a whole", "the centre as a whole",
                                                 "the whole image"};
  static const char *const some[CUE_REGIONS] = {"some place at the border", "some place in the centre",
                                                "some place"};
  const char *end = q->low ? "low" : "high", *feature = features[q->feature].name;
  char tail[32];
  snprintf(tail, sizeof tail, same ? "same" : "%s-%s", feature, end);
  *how = q->low ? features[q->feature].little : features[q->feature].much;
  if (q->cell) {
    size_t y = q->place / g->columns + 1, x = q->place % g->columns + 1;
    snprintf(where, 64, "row %zu of %zu, column %zu of %zu", y, g->rows, x, g->columns);
    snprintf(name, CUE_NAME, "cell-%zu-%zu-%s", y, x, tail);
  } else {
    snprintf(where, 64, "%s", (q->extreme ? some : means)[q->region]);
    snprintf(name, CUE_NAME, "%s%s-%s", regions[q->region], q->extreme ? "" : "-mean", tail);
  }
}
