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

bool image_cue_has(const struct grid *g, const struct image_cue *q, size_t cell)
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
    if (!image_cue_has(g, q, k) || isnan(v)) continue;
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
  [CELL_RED_GREEN] = {"red-green", "redder", "greener or bluer"},
  [CELL_GREEN_BLUE] = {"green-blue", "yellower or greener", "bluer"},
  [CELL_RED_BLUE] = {"red-blue", "redder or yellower", "bluer"},
  [CELL_SATURATION] = {"saturation", "more colourful", "greyer"},
  [CELL_SPREAD] = {"contrast", "richer in contrast", "plainer"},
  [CELL_DOWN] = {"horizontal-edges", "richer in horizontal edges", "poorer in horizontal edges"},
  [CELL_ACROSS] = {"vertical-edges", "richer in vertical edges", "poorer in vertical edges"},
};

static const char *const regions[CUE_REGIONS] = {"border", "centre", "anywhere"};

static void cell_words(const struct grid *g, const struct image_cue *q, const char *tail, struct cue_words *to)
{
  size_t y = q->place / g->columns + 1, x = q->place % g->columns + 1;
  double box[4];
  cell_box(g, q->place, box);
  snprintf(to->where, sizeof to->where, "%s (row %zu, column %zu of %zu x %zu)", box_place(box), y, x, g->rows,
           g->columns);
  snprintf(to->name, sizeof to->name, "cell-%zu-%zu-%s", y, x, tail);
  to->others = " there";
}

static void region_words(const struct image_cue *q, const char *tail, struct cue_words *to)
{
  static const char *const means[CUE_REGIONS] = {"at the border as a whole", "in the centre as a whole",
                                                 "over the whole photo"};
  static const char *const some[CUE_REGIONS] = {"at some place of the border", "at some place in the centre",
                                                "at some place"};
  snprintf(to->where, sizeof to->where, "%s", (q->extreme ? some : means)[q->region]);
  snprintf(to->name, sizeof to->name, "%s%s-%s", regions[q->region], q->extreme ? "" : "-mean", tail);
  to->others = q->extreme ? " at any" : q->region == REGION_ANYWHERE ? "" : " there";
}

void image_cue_words(const struct grid *g, const struct image_cue *q, bool same, struct cue_words *to)
{
  char tail[32];
  snprintf(tail, sizeof tail, same ? "same" : "%s-%s", features[q->feature].name, q->low ? "low" : "high");
  to->how = q->low ? features[q->feature].little : features[q->feature].much;
  if (q->cell)
    cell_words(g, q, tail, to);
  else
    region_words(q, tail, to);
}
