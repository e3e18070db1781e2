/* Uphill by the sign of the derivative, in steps that shrink: slopes in units of 1, which is all of their range, and
 * multipliers in units of what the coefficients around them are. In every other step multipliers go along the
 * derivative d instead, as far as would make the value v what it is to be (Polyak's step),
 *
 *     m + (0 - v) d / ||d||^2,
 *
 * which finds the large ones by which a half is closed that is nearly empty. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "certify/relaxed.h"

static const double DECAY = 0.85, AIM = 1.2, MOST_MULTIPLIER = 1e12;

struct search {
  struct relaxed *r;
  size_t n;
  const double *rest;
  float *best, *kept; /* [n]; slopes and multipliers of each relu, [n, units] each */
};

/* Only where a unit is undecided does its slope matter, and only where its sign was decided by branching, 0 being an
 * end, its multiplier. */
static bool is_open(const struct relaxed_relu *u, size_t i)
{
  return u->least[i] < 0 && u->most[i] > 0;
}

static bool is_split(const struct relaxed_relu *u, size_t i)
{
  return (u->least[i] >= 0 && u->least[i] <= 0 && u->most[i] > 0) ||
         (u->most[i] >= 0 && u->most[i] <= 0 && u->least[i] < 0);
}

static float clamp(float lo, float v, float hi)
{
  return fminf(fmaxf(v, lo), hi);
}

/* The usual slope is 1 if most > -least, else 0: what is added to it stays in range. */
static void step_slope(struct relaxed_relu *u, size_t i, float size)
{
  float usual = u->most[i] > -u->least[i] ? 1 : 0, by = u->slope_by[i];
  u->slope[i] = clamp(-usual, u->slope[i] + (by > 0 ? size : by < 0 ? -size : 0), 1 - usual);
}

static void step_multiplier(struct relaxed_relu *u, size_t i, float size)
{
  float by = u->multiplier_by[i], to = u->multiplier[i] + (by > 0 ? size : by < 0 ? -size : 0);
  u->multiplier[i] = u->most[i] > 0 ? fminf(to, 0) : fmaxf(to, 0);
}

static float mean_size(const float *v, size_t n)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += fabs((double)v[k]);
  return n ? (float)(sum / (double)n) : 0;
}

/* Whether a multiplier may move along its derivative. */
static bool is_free(const struct relaxed_relu *u, size_t i)
{
  float by = u->multiplier_by[i], m = u->multiplier[i];
  return is_split(u, i) && (u->most[i] > 0 ? m < 0 || by < 0 : m > 0 || by > 0);
}

static void aim_row(struct relaxed *r, size_t row, double missing)
{
  double sum = 0;
  for (size_t k = 0; k < r->relus; k++) {
    struct relaxed_relu *u = &r->relu[k];
    for (size_t i = row * u->n; i < (row + 1) * u->n; i++)
      if (is_free(u, i)) sum += (double)u->multiplier_by[i] * (double)u->multiplier_by[i];
  }
  if (!(sum > 0)) return;
  for (size_t k = 0; k < r->relus; k++) {
    struct relaxed_relu *u = &r->relu[k];
    for (size_t i = row * u->n; i < (row + 1) * u->n; i++) {
      if (!is_free(u, i)) continue;
      double to = (double)u->multiplier[i] + missing / sum * (double)u->multiplier_by[i];
      if (fabs(to) < MOST_MULTIPLIER) u->multiplier[i] = u->most[i] > 0 ? fminf((float)to, 0) : fmaxf((float)to, 0);
    }
  }
}

static void step_row(struct relaxed *r, size_t row, float size)
{
  for (size_t k = 0; k < r->relus; k++) {
    struct relaxed_relu *u = &r->relu[k];
    float usual = mean_size(u->coef + row * u->n, u->n);
    for (size_t i = row * u->n; i < (row + 1) * u->n; i++)
      if (is_open(u, i))
        step_slope(u, i, size);
      else if (is_split(u, i))
        step_multiplier(u, i, size * usual);
  }
}

/* Between what is kept of a row and what is tried. */
static void copy_row(const struct search *s, size_t row, bool keep)
{
  float *at = s->kept + row * 2 * s->r->units.units;
  for (size_t k = 0; k < s->r->relus; k++) {
    struct relaxed_relu *u = &s->r->relu[k];
    for (int which = 0; which < 2; which++, at += u->n) {
      float *tried = (which ? u->multiplier : u->slope) + row * u->n;
      memcpy(keep ? at : tried, keep ? tried : at, u->n * sizeof *at);
    }
  }
}

/* Whether all rows are done. */
static bool keep_best(const struct search *s)
{
  size_t done = 0;
#pragma omp parallel for schedule(static) reduction(+ : done)
  for (size_t row = 0; row < s->n; row++) {
    float value = s->r->value[row];
    if (value > s->best[row]) s->best[row] = value, copy_row(s, row, true);
    done += (double)s->best[row] + s->rest[row] > 0;
  }
  return done == s->n;
}

static void step_rows(const struct search *s, double size, bool aims)
{
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < s->n; row++) {
    double missing = -(double)s->r->value[row] - s->rest[row];
    if ((double)s->best[row] + s->rest[row] > 0) continue;
    if (aims && missing > 0) aim_row(s->r, row, AIM * missing + 1e-6);
    if (!aims) step_row(s->r, row, (float)size);
  }
}

r4_status relaxed_search(struct relaxed *r, size_t n, const double *rest, size_t steps, double size, r4_error *e)
{
  struct search s = {.r = r, .n = n, .rest = rest};
  s.best = mem_new(n * (1 + 2 * r->units.units), sizeof *s.best, "slopes", e);
  if (!s.best) return R4_E_MEMORY;
  s.kept = s.best + n;
  for (size_t row = 0; row < n; row++) s.best[row] = -INFINITY, copy_row(&s, row, true);
  r4_status status = relaxed_begin(r, e);
  bool done = !status && keep_best(&s);
  for (size_t t = 0; t < steps && !status && !done; t++, size *= DECAY) {
    step_rows(&s, size, t % 2);
    status = relaxed_run(r, e);
    done = !status && keep_best(&s);
  }
  for (size_t row = 0; row < n && !status; row++) copy_row(&s, row, false);
  if (!status && steps) status = relaxed_run(r, e);
  r4_mem_free(s.best);
  return status;
}
