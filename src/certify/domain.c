#include "certify/domain.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct domain *domain_new(size_t question, size_t rows, size_t cuts, size_t units, r4_error *e)
{
  size_t list = cuts * sizeof(struct cut), numbers = rows * (units + cuts) * sizeof(float);
  char *room = mem_new(1, sizeof(struct domain) + list + numbers, "a sub-domain", e);
  if (!room) return NULL;
  struct domain *d = (struct domain *)(void *)room;
  *d = (struct domain){.question = question, .rows = rows, .cuts = cuts, .bytes = sizeof *d + list + numbers};
  d->cut = (struct cut *)(void *)(room + sizeof *d);
  d->slope = (float *)(void *)(room + sizeof *d + list);
  d->multiplier = d->slope + rows * units;
  return d;
}

/* ---- Into a relaxation ---- */

/* The relu of r that has a unit; NULL: it is not below what is bounded. */
static struct relaxed_relu *relu_with(struct relaxed *r, size_t unit)
{
  for (size_t k = 0; k < r->relus; k++)
    if (unit >= r->relu[k].unit && unit < r->relu[k].unit + r->relu[k].n) return &r->relu[k];
  return NULL;
}

/* The middle belongs to both. */
static void halve(double *lo, double *hi, bool up)
{
  double middle = *lo / 2 + *hi / 2;
  if (middle > *lo && middle < *hi) *(up ? lo : hi) = middle;
}

/* Of the arguments, up is >= 0: where the ends allow both. */
static void apply_cut(struct relaxed *r, size_t row, struct cut c, float multiplier)
{
  size_t units = r->units.units, features = r->units.features;
  if (c.unit >= units) {
    size_t at = row * features + c.unit - units;
    halve(&r->lo[at], &r->hi[at], c.up);
    return;
  }
  struct relaxed_relu *u = relu_with(r, c.unit);
  if (!u) return;
  size_t at = row * u->n + c.unit - u->unit;
  if (c.up)
    u->least[at] = fmax(u->least[at], 0);
  else
    u->most[at] = fmin(u->most[at], 0);
  u->slope[at] = 0;
  u->multiplier[at] = multiplier;
}

static void load_row(const struct domain *d, const struct whole *w, struct relaxed *r, size_t j, size_t row)
{
  size_t features = r->units.features;
  memcpy(r->lo + row * features, w->lo, features * sizeof *w->lo);
  memcpy(r->hi + row * features, w->hi, features * sizeof *w->hi);
  for (size_t k = 0; k < r->relus; k++) {
    struct relaxed_relu *u = &r->relu[k];
    const float *slope = d->slope + j * r->units.units + u->unit;
    memcpy(u->least + row * u->n, w->least + u->unit, u->n * sizeof *u->least);
    memcpy(u->most + row * u->n, w->most + u->unit, u->n * sizeof *u->most);
    memset(u->multiplier + row * u->n, 0, u->n * sizeof *u->multiplier);
    memcpy(u->slope + row * u->n, slope, u->n * sizeof *slope);
  }
  for (size_t k = 0; k < d->cuts; k++) apply_cut(r, row, d->cut[k], d->multiplier[j * d->cuts + k]);
}

void domain_load(const struct domain *d, const struct whole *w, struct relaxed *r, size_t first)
{
  for (size_t j = 0; j < d->rows; j++) load_row(d, w, r, j, first + j);
}

/* ---- Halves ---- */

static float multiplier_of(const struct relaxed *r, size_t row, size_t unit)
{
  struct relaxed_relu *u = unit < r->units.units ? relu_with((struct relaxed *)r, unit) : NULL;
  return u ? u->multiplier[row * u->n + unit - u->unit] : 0;
}

struct domain *domain_half(const struct domain *d, const struct relaxed *r, size_t first, struct cut more, r4_error *e)
{
  size_t units = r->units.units;
  struct domain *half = domain_new(d->question, d->rows, d->cuts + 1, units, e);
  if (!half) return NULL;
  memcpy(half->cut, d->cut, d->cuts * sizeof *d->cut);
  half->cut[d->cuts] = more;
  for (size_t j = 0; j < d->rows; j++) {
    for (size_t k = 0; k < r->relus; k++) {
      const struct relaxed_relu *u = &r->relu[k];
      memcpy(half->slope + j * units + u->unit, u->slope + (first + j) * u->n, u->n * sizeof *u->slope);
    }
    for (size_t k = 0; k < d->cuts; k++)
      half->multiplier[j * half->cuts + k] = multiplier_of(r, first + j, d->cut[k].unit);
  }
  return half;
}

/* ---- Where to cut ---- */

/* What the relaxation of a unit can lose, at its worst, with coefficient c: from above at 0, below the chord, c times
 *
 *     -l u / (u - l),
 *
 * from below, with slope s, at one of the ends: s |l| or (1 - s) u, the less of which with the better slope. What is
 * lost above moves the bound for certain (it is a constant of it), what is lost below may not. */
static double loss(double l, double u, double c)
{
  if (c < 0) return -c * (-l * u / (u - l));
  return 0.25 * c * fmin(-l, u);
}

static bool choose_unit(const struct relaxed *r, size_t row, struct cut *to)
{
  double most = -1;
  for (size_t k = 0; k < r->relus; k++) {
    const struct relaxed_relu *u = &r->relu[k];
    for (size_t i = 0; i < u->n; i++) {
      double least = u->least[row * u->n + i], top = u->most[row * u->n + i];
      if (!(least < 0 && top > 0)) continue;
      double lost = loss(least, top, (double)u->coef[row * u->n + i]);
      if (!(lost > most)) continue;
      most = lost;
      *to = (struct cut){.unit = (uint32_t)(u->unit + i)};
    }
  }
  return most >= 0;
}

/* All relus are decided: the feature that moves what is left most. */
static bool choose_feature(const struct relaxed *r, size_t row, struct cut *to)
{
  double most = 0;
  for (size_t i = 0; i < r->units.features; i++) {
    size_t at = row * r->units.features + i;
    double moves = fabs((double)r->towards[at]) * (r->hi[at] - r->lo[at]);
    if (!(moves > most)) continue;
    most = moves;
    *to = (struct cut){.unit = (uint32_t)(r->units.units + i)};
  }
  return most > 0;
}

bool domain_choose(const struct relaxed *r, size_t row, struct cut *to)
{
  return choose_unit(r, row, to) || choose_feature(r, row, to);
}
