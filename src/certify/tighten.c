#include "certify/tighten.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { STEPS = 12 };
static const double SIZE = 0.5;

struct tightener {
  struct weighted net;
  size_t batch;
  struct relaxed_units units;
  struct relaxed *of[MOST_RELUS]; /* the argument of each relu; NULL: not needed yet */
  double *zero;                   /* [batch] */
  float *slope;                   /* [units] */
};

struct tightener *tightener_new(const struct weighted *n, const struct relaxed_units *units, size_t batch, r4_error *e)
{
  struct tightener *t = mem_new(1, sizeof *t, "ends of arguments", e);
  if (!t) return NULL;
  *t = (struct tightener){.net = *n, .units = *units, .batch = batch};
  t->zero = mem_new(batch, sizeof *t->zero, "ends of arguments", e);
  t->slope = t->zero ? mem_new(units->units + 1, sizeof *t->slope, "ends of arguments", e) : NULL;
  if (t->slope) return t;
  tightener_free(t);
  return NULL;
}

void tightener_free(struct tightener *t)
{
  if (!t) return;
  for (size_t k = 0; k < MOST_RELUS; k++) relaxed_free(t->of[k]);
  r4_mem_free(t->zero);
  r4_mem_free(t->slope);
  r4_mem_free(t);
}

static bool is_over(double until)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec >= until;
}

/* Row 2 i is the least value of unit[i], row 2 i + 1 the least value of its opposite. */
static void load(const struct tightener *t, struct relaxed *r, const struct whole *w, size_t n, const size_t *unit)
{
  memset(r->functional, 0, r->batch * r->width * sizeof *r->functional);
  for (size_t row = 0; row < r->batch; row++) {
    domain_load(&(struct domain){.rows = 1, .slope = t->slope}, w, r, row);
    if (row < 2 * n) r->functional[row * r->width + unit[row / 2]] = row % 2 ? -1 : 1;
  }
}

static r4_status tighten_some(const struct tightener *t, struct relaxed *r, const struct whole *w, size_t n,
                              const size_t *unit, double *least, double *most, r4_error *e)
{
  const double *proved;
  load(t, r, w, n, unit);
  r4_status s = relaxed_search(r, 2 * n, t->zero, STEPS, SIZE, e);
  if (!s) s = relaxed_prove(r, &proved, e);
  for (size_t i = 0; i < n && !s; i++) {
    double *lo = &least[unit[i]], *hi = &most[unit[i]];
    double low = fmax(*lo, proved[2 * i]), high = fmin(*hi, -proved[2 * i + 1]);
    if (low <= high) *lo = low, *hi = high; /* else rounding has crossed what is one number */
  }
  return s;
}

/* The undecided units of a layer. */
static r4_status tighten_relu(struct tightener *t, size_t k, const struct whole *w, double *least, double *most,
                              double until, r4_error *e)
{
  size_t from = t->units.first[k], all = t->units.first[k + 1] - from, n = 0;
  size_t *unit = mem_new(all + 1, sizeof *unit, "units", e);
  r4_status s = unit ? R4_OK : R4_E_MEMORY;
  for (size_t i = 0; i < all && !s; i++)
    if (least[from + i] < 0 && most[from + i] > 0) unit[n++] = i;
  if (!s && n && !t->of[k] && !(t->of[k] = relaxed_new(&t->net, &t->units, k, t->batch, e))) s = e->status;
  bool worth = !s && n && t->of[k]->relus && t->batch > 1; /* without relus before it the ends are exact */
  for (size_t first = 0; first < n && worth && !s && !is_over(until); first += t->batch / 2) {
    size_t here = n - first < t->batch / 2 ? n - first : t->batch / 2;
    s = tighten_some(t, t->of[k], w, here, unit + first, least + from, most + from, e);
  }
  r4_mem_free(unit);
  return s;
}

r4_status tighten(struct tightener *t, const struct whole *w, double *least, double *most, double until, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 1; k < t->units.relus && !s && !is_over(until); k++)
    s = tighten_relu(t, k, w, least, most, until, e);
  return s;
}
