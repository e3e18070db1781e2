/* Attributions, computed: what the methods of attribution.c build, run over all examples of a data set. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/shape.h"
#include "measure/attribution.h"
#include "measure/occlusion.h"
#include "measure/spread.h"
#include "module/guide_cells.h"

/* Rows: examples times samples that are looked at together; with windows few, as each of them costs all rows. */
enum { ROWS = 64, ROWS_OF_WINDOWS = 8, MAX_SAMPLES = 1000 };

r4_attribution_options r4_attribution_defaults(void)
{
  return (r4_attribution_options){.eps = 0.1, .sigma = 0.1, .samples = 32};
}

/* The dimensions other than 1, in their order: they alone say where a number lies. */
static size_t sides_of(r4_shape s, int64_t *side)
{
  size_t n = 0;
  for (int k = 0; k < s.rank; k++)
    if (s.dim[k] > 1) side[n++] = s.dim[k];
  return n;
}

/* Images of as many numbers, that lie elsewhere: lying ones for standing ones, or channels first. A vector has no
 * places, and fits any net of its length. */
static r4_status check_layout(r4_shape takes, r4_shape has, r4_error *e)
{
  int64_t a[R4_MAX_RANK], b[R4_MAX_RANK];
  size_t n = sides_of(takes, a), m = sides_of(has, b);
  char text[2][SHAPE_TEXT];
  if (takes.rank != 3 || has.rank != 3 || (n == m && !memcmp(a, b, n * sizeof *a))) return R4_OK;
  return r4_fail(e, R4_E_SHAPE, "the net takes images of shape %s, the data has %s", shape_text(takes, text[0]),
                 shape_text(has, text[1]));
}

r4_status attribution_fits(const r4_net *n, const r4_data *d, r4_error *e)
{
  int64_t takes = r4_shape_count(r4_net_input(n)), has = r4_shape_count(r4_data_shape(d));
  int64_t classes = r4_net_classes(n) > 1 ? r4_net_classes(n) : 2;
  if (takes != has)
    return r4_fail(e, R4_E_SHAPE, "the net takes %lld features, the data has %lld", (long long)takes,
                   (long long)has);
  if (check_layout(r4_net_input(n), r4_data_shape(d), e)) return R4_E_SHAPE;
  if ((int64_t)r4_data_classes(d) > classes)
    return r4_fail(e, R4_E_SHAPE, "the net knows %lld classes, the data has %zu", (long long)classes,
                   r4_data_classes(d));
  return R4_OK;
}

static r4_status check(const r4_attribution_options *o, r4_error *e)
{
  if ((unsigned)o->explain > R4_EXPLAIN_LOGPROB_SUM)
    return r4_fail(e, R4_E_ARGUMENT, "explain is %d: expected 0 to %d", (int)o->explain,
                   R4_EXPLAIN_LOGPROB_SUM);
  if (o->samples < 1 || o->samples > MAX_SAMPLES)
    return r4_fail(e, R4_E_ARGUMENT, "samples is %d: expected 1 to %d", o->samples, MAX_SAMPLES);
  if (!(o->eps >= 0 && isfinite(o->eps)))
    return r4_fail(e, R4_E_ARGUMENT, "eps is %g: expected at least 0", o->eps);
  if (!(o->sigma >= 0 && isfinite(o->sigma)))
    return r4_fail(e, R4_E_ARGUMENT, "sigma is %g: expected at least 0", o->sigma);
  return R4_OK;
}

/* Binds the baseline, in new memory. */
static r4_status bind_baseline(struct probe *p, const r4_attribution_options *o, size_t features, float **to,
                               r4_error *e)
{
  float *v = *to = mem_new_aligned(features, sizeof *v, "a baseline", e);
  if (!v) return R4_E_MEMORY;
  if (o->baseline) memcpy(v, o->baseline, features * sizeof *v);
  return probe_input(p, "baseline", v, e);
}

static r4_status cut_at_features(const char *method, r4_net *n, r4_error *e)
{
  r4_error why;
  if (r4_net_input(n).rank == 3 && !r4_net_guide_at(n, "features", &why)) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s: no part of the net outputs an image",
                 method);
}

/* ---- Running ---- */

/* One method at work. */
struct working {
  const struct attribution *a;
  r4_attribution_options o;
  r4_net at;      /* the net, cut elsewhere for methods of cells; nothing of it is its own */
  r4_shape image; /* of an example */
  struct probe *probe;
  struct occlusion *occlusion; /* NULL unless it is the method */
  float *baseline, *map;       /* map: of one example, for methods of pixels */
};

static r4_status start(struct working *w, const r4_net *n, const r4_data *d, const char *method, r4_error *e)
{
  size_t features = (size_t)r4_shape_count(r4_net_input(n));
  int samples = w->a->noise || w->a->baseline ? w->o.samples : 1;
  r4_status s = R4_OK;
  w->at = *n;
  w->image = r4_data_shape(d);
  if (w->a->cells) s = cut_at_features(method, &w->at, e);
  if (s) return s;
  int rows = w->a->windows ? ROWS_OF_WINDOWS : ROWS;
  const struct probe_options probe = {.net = &w->at,
                                      .batch = samples < rows ? rows / samples : 1,
                                      .eps = w->a->noise ? w->o.sigma : w->o.eps,
                                      .samples = samples,
                                      .seed = w->o.seed,
                                      .explain = w->o.explain,
                                      .build = w->a->build};
  if (w->a->windows && !(w->occlusion = occlusion_new(w->image, &w->o, ROWS_OF_WINDOWS, e))) return e->status;
  if (!(w->map = mem_new(features, sizeof *w->map, "a map", e))) return R4_E_MEMORY;
  if (!(w->probe = probe_new(&probe, e))) return e->status;
  if (w->occlusion) s = occlusion_bind(w->occlusion, w->probe, e);
  if (!s && w->a->baseline) s = bind_baseline(w->probe, &w->o, features, &w->baseline, e);
  return s;
}

static void stop(struct working *w)
{
  probe_free(w->probe);
  occlusion_free(w->occlusion);
  r4_mem_free(w->baseline);
  r4_mem_free(w->map);
}

/* The k-th of the examples that were looked at last. */
static const float *found(struct working *w, size_t k)
{
  if (!w->a->cells && !w->occlusion) return probe_row(w->probe, 0, k);
  if (w->occlusion)
    spread_cells(occlusion_map(w->occlusion, k), w->image.dim, w->image, w->map);
  else
    spread_cells(probe_row(w->probe, 0, k), net_leaf(&w->at).dim, w->image, w->map);
  return w->map;
}

static r4_status look(struct working *w, const float *weights, const r4_data *d, attribution_take *take,
                      void *context, r4_error *e)
{
  size_t count = r4_data_count(d), batch = probe_batch(w->probe);
  r4_status s = R4_OK;
  for (size_t first = 0; first < count && !s; first += batch) {
    size_t here = count - first < batch ? count - first : batch;
    s = w->occlusion ? occlusion_run(w->occlusion, w->probe, weights, d, first, here, e)
                     : probe_run(w->probe, weights, d, first, here, e);
    for (size_t k = 0; k < here && !s; k++) take(context, first + k, found(w, k));
  }
  return s;
}

r4_status attribution_each(const char *method, const r4_net *n, const float *weights, const r4_data *d,
                           const r4_attribution_options *options, attribution_take *take, void *context,
                           r4_error *e)
{
  struct working w = {.o = options ? *options : r4_attribution_defaults()};
  r4_status s = attribution_find(method, &w.a, e);
  if (!s) s = attribution_fits(n, d, e);
  if (!s) s = check(&w.o, e);
  if (!s) s = start(&w, n, d, method, e);
  if (!s) s = look(&w, weights, d, take, context, e);
  stop(&w);
  return s;
}

struct kept {
  float *to;
  size_t features;
};

static void keep(void *context, size_t example, const float *a)
{
  const struct kept *k = context;
  memcpy(k->to + example * k->features, a, k->features * sizeof *a);
}

r4_status r4_attribute(const char *method, const r4_net *n, const float *weights, const r4_data *d,
                       const r4_attribution_options *options, float *to, r4_error *e)
{
  NEEDS(method, "a method", R4_E_ARGUMENT);
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  struct kept k = {to, (size_t)r4_shape_count(r4_data_shape(d))};
  return attribution_each(method, n, weights, d, options, keep, &k, e ? e : &own);
}

/* ---- Looking at them ---- */

double r4_mask_share(size_t features, const float *a, const float *mask)
{
  double inside = 0, all = 0;
  for (size_t j = 0; j < features; j++) {
    inside += mask[j] * fabs((double)a[j]);
    all += fabs((double)a[j]);
  }
  return inside / all;
}
