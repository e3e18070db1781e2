#include "measure/pointing.h"

#include <math.h>

#include "base/mem.h"
#include "measure/attribution.h"
#include "measure/check.h"
#include "measure/with_core.h"

/* ---- One example ---- */

static double pixel(const float *v, size_t p, size_t channels)
{
  double sum = 0;
  for (size_t c = 0; c < channels; c++) sum += (double)v[p * channels + c];
  return sum;
}

struct pointed point(size_t pixels, size_t channels, double sign, const float *a, const float *mask)
{
  struct pointed r = {0};
  double positive = 0, all = 0, largest = -INFINITY;
  for (size_t p = 0; p < pixels; p++) {
    double at = sign * pixel(a, p, channels), core = 1 - pixel(mask, p, channels) / (double)channels;
    bool is_core = core > 0.5;
    r.area += core / (double)pixels;
    r.energy += core * fmax(0, at);
    r.share += core * fabs(at);
    positive += fmax(0, at);
    all += fabs(at);
    if (at > largest || (at >= largest && is_core)) largest = at, r.hit = is_core;
  }
  r.somewhere = positive > 0 && isfinite(all);
  r.energy /= positive;
  r.share /= all;
  return r;
}

/* ---- All of them ---- */

struct game {
  const r4_data *d;
  size_t pixels, channels;
  double sign;
  float *mask; /* room for one */
  r4_pointing *to;
};

static void play(void *context, size_t example, const float *a)
{
  const struct game *g = context;
  r4_pointing *to = g->to;
  r4_data_mask(g->d, example, g->mask);
  struct pointed r = point(g->pixels, g->channels, g->sign, a, g->mask);
  if (!r.somewhere) {
    to->left_out++;
    return;
  }
  to->examples++;
  to->energy += r.energy;
  to->share += r.share;
  to->hit += r.hit;
  to->area += r.area;
}

/* What more speaks for the label: Grad-CAM has turned the loss round already, widths have no sign. */
static double sign_of(const char *method, const r4_attribution_options *o)
{
  const struct attribution *a = NULL;
  r4_error unknown;
  if (attribution_find(method, &a, &unknown)) return 1;
  return o->explain == R4_EXPLAIN_LOSS && !a->cells && !a->width ? -1 : 1;
}

static r4_status play_all(struct game *g, const char *method, const r4_net *n, const float *weights,
                          const r4_attribution_options *o, r4_error *e)
{
  r4_shape shape = r4_data_shape(g->d);
  size_t features = (size_t)r4_shape_count(shape);
  g->channels = shape.rank == 3 ? (size_t)shape.dim[2] : 1;
  g->pixels = features / g->channels;
  g->sign = sign_of(method, o);
  if (!(g->mask = mem_new(features, sizeof *g->mask, "a mask", e))) return R4_E_MEMORY;
  r4_status s = attribution_each(method, n, weights, g->d, o, play, g, e);
  double count = g->to->examples ? (double)g->to->examples : (double)NAN;
  g->to->energy /= count;
  g->to->share /= count;
  g->to->hit /= count;
  g->to->area /= count;
  r4_mem_free(g->mask);
  return s;
}

r4_status r4_pointing_game(const char *method, const r4_net *n, const float *weights, const r4_data *d,
                           const r4_attribution_options *options, r4_pointing *to, r4_error *e)
{
  NEEDS(method, "a method", R4_E_ARGUMENT);
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  const r4_attribution_options o = options ? *options : r4_attribution_defaults();
  *to = (r4_pointing){0};
  r4_status s = eval_check(n, weights, d, e);
  r4_data *these = s ? NULL : data_with_core(d, "pointing game", e);
  if (!these) return e->status;
  struct game g = {.d = these, .to = to};
  s = play_all(&g, method, n, weights, &o, e);
  r4_data_free(these);
  return s;
}
