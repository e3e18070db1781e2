#include "find/divided.h"

#include <math.h>
#include <stdlib.h>

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

struct sum {
  double n, mean, squares;
};

static void add(struct sum *s, double x)
{
  double before = x - s->mean;
  if (isnan(x)) return;
  s->mean += before / ++s->n;
  s->squares += before * (x - s->mean);
}

static double variance(const struct ranking *r, const float *feature, size_t from, size_t to)
{
  struct sum s = {0};
  for (size_t k = from; k < to; k++) add(&s, (double)feature[r->at[k].k * CELL_FLOATS]);
  return s.n > 0 ? s.squares / s.n : 0;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

void division_usual(size_t n, size_t places, const float *cells, double usual[CELL_FEATURES])
{
  for (size_t g = 0; g < CELL_FEATURES; g++) {
    double v[CELLS_MOST];
    for (size_t c = 0; c < places; c++) {
      struct sum s = {0};
      for (size_t k = 0; k < n; k++) add(&s, (double)cells[k * CELL_FLOATS + c * CELL_FEATURES + g]);
      v[c] = s.n > 0 ? s.squares / s.n : 0;
    }
    qsort(v, places, sizeof *v, ascending);
    usual[g] = v[places / 2];
  }
}

static bool is_texture(enum cell_feature f)
{
  return f >= CELL_SPREAD;
}

static void spread(const struct ranking *r, struct division *d, enum cell_feature f, const float *cell, size_t above,
                   const double usual[CELL_FEATURES])
{
  double sum[SIDES] = {0}, n = 0;
  for (enum cell_feature g = 0; g < CELL_FEATURES; g++) {
    double all = usual[g];
    if (is_texture(g) == is_texture(f) || !(all > 0)) continue;
    sum[ABOVE] += variance(r, cell + g, 0, above) / all;
    sum[BELOW] += variance(r, cell + g, above, r->n) / all;
    n++;
  }
  for (enum side k = 0; k < SIDES; k++) d->varied[k] = n > 0 ? sum[k] / n : 1;
}

/* ---- Both ---- */

struct division division_of(const struct ranking *r, enum cell_feature f, size_t cell, const float *cells,
                            const double usual[CELL_FEATURES])
{
  struct division d = {.tried = true};
  if (!two_classes(r, d.label)) return d;
  size_t above = cut(r, &d);
  if (division_divides(&d)) spread(r, &d, f, cells + cell * CELL_FEATURES, above, usual);
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
