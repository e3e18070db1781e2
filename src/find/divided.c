#include "find/divided.h"

#include <math.h>

static const double DIVIDES = .5, ALIKE = .5;

/* ---- J ---- */

/* The two classes that are ranked; false: they are more, or one. */
static bool two_classes(const struct ranking *r, int32_t label[SIDES])
{
  size_t n = 0;
  for (size_t c = 0; c < r->classes; c++) {
    if (!r->of_class[c]) continue;
    if (n < SIDES) label[n] = (int32_t)c;
    n++;
  }
  return n == SIDES;
}

/* Returns how many are above the threshold; the class that prefers that side becomes label[ABOVE]. */
static size_t cut(const struct ranking *r, struct division *d)
{
  size_t above = 0;
  double seen[SIDES] = {0}, of[SIDES] = {(double)r->of_class[d->label[0]], (double)r->of_class[d->label[1]]}, best = 0;
  for (size_t k = 0; k < r->n; k++) {
    seen[r->label[r->at[k].k] == d->label[1]]++;
    if (k + 1 == r->n || r->at[k + 1].value == r->at[k].value) continue;
    double more = seen[0] / of[0] - seen[1] / of[1];
    if (fabs(more) > fabs(best)) best = more, above = k + 1;
  }
  d->apart = fabs(best);
  if (best < 0) {
    int32_t other = d->label[0];
    d->label[0] = d->label[1];
    d->label[1] = other;
  }
  return above;
}

/* ---- U ---- */

static double variance(const struct ranking *r, const float *feature, size_t from, size_t to)
{
  double mean = 0, squares = 0, n = 0;
  for (size_t k = from; k < to; k++) {
    double x = (double)feature[r->at[k].k * CELL_FLOATS], before = x - mean;
    mean += before / ++n;
    squares += before * (x - mean);
  }
  return n > 0 ? squares / n : 0;
}

static bool is_texture(enum cell_feature f)
{
  return f >= CELL_SPREAD;
}

static void spread(const struct ranking *r, struct division *d, enum cell_feature f, const float *cell, size_t above)
{
  double sum[SIDES] = {0}, n = 0;
  for (enum cell_feature g = 0; g < CELL_FEATURES; g++) {
    double all = variance(r, cell + g, 0, r->n);
    if (is_texture(g) == is_texture(f) || !(all > 0)) continue;
    sum[ABOVE] += variance(r, cell + g, 0, above) / all;
    sum[BELOW] += variance(r, cell + g, above, r->n) / all;
    n++;
  }
  for (enum side k = 0; k < SIDES; k++) d->varied[k] = n > 0 ? sum[k] / n : 1;
}

/* ---- Both ---- */

struct division division_of(const struct ranking *r, enum cell_feature f, size_t cell, const float *cells)
{
  struct division d = {.tried = true};
  if (!two_classes(r, d.label)) return d;
  size_t above = cut(r, &d);
  if (division_divides(&d)) spread(r, &d, f, cells + cell * CELL_FEATURES, above);
  return d;
}

bool division_divides(const struct division *d)
{
  return d->apart >= DIVIDES;
}

enum side division_content(const struct division *d)
{
  return d->varied[BELOW] < d->varied[ABOVE] ? BELOW : ABOVE;
}

int32_t division_absent(const struct division *d)
{
  enum side other = division_content(d) == ABOVE ? BELOW : ABOVE;
  return d->varied[other] > ALIKE ? d->label[other] : -1;
}
