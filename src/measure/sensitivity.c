#include "measure/sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "graph/graph.h"
#include "measure/check.h"
#include "measure/predict.h"
#include "measure/with_core.h"
#include "module/module.h"

/* ---- From answers ---- */

/* (s - c) / (2 min(a, 1 - a)), a = (s + c) / 2 */
static double ratio(double s, double c)
{
  double a = (s + c) / 2, room = fmin(a, 1 - a);
  return room > 1e-12 ? (s - c) / (2 * room) : NAN;
}

static double mean_of(size_t n, const double *v)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i];
  return sum / (double)n;
}

struct rcs rcs_of(size_t n, const double *spurious, const double *core)
{
  double count = (double)n, mean = 0, square = 0;
  struct rcs r = {.spurious = mean_of(n, spurious), .core = mean_of(n, core), .se = NAN};
  r.value = ratio(r.spurious, r.core);
  if (n < 2) return r;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < n; i++) {
      double without =
        ratio((count * r.spurious - spurious[i]) / (count - 1), (count * r.core - core[i]) / (count - 1));
      if (pass)
        square += (without - mean) * (without - mean);
      else
        mean += without / count;
    }
  r.se = sqrt((count - 1) / count * square);
  return r;
}

/* ---- Asking ---- */

struct asking {
  const r4_net *net;
  const float *weights;
  r4_data *d; /* the examples that have a mask and a core */
  r4_sensitivity_options o;
  struct probe *probe;
  size_t features, channels;
  float *noise, *unit; /* [batch, features], [channels] */
  double *right[2];    /* [examples]: shares of draws, by region */
};

enum { SPURIOUS, CORE };

/* z(x + u . m . noise) and z(x + u . (1 - m) . noise) */
static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_graph *g = o->g;
  r4_shape x = r4_node_shape(g, o->in.x);
  r4_id noise =
    r4_mul(g, r4_input(g, "region noise", x), r4_input(g, "unit", R4_SHAPE(x.rank == 4 ? x.dim[3] : 1)));
  r4_id on_mask = r4_mul(g, noise, o->m);
  out[SPURIOUS] = objective_logits(o, r4_net_apply(o->net, g, o->param, r4_add(g, o->in.x, on_mask)));
  out[CORE] =
    objective_logits(o, r4_net_apply(o->net, g, o->param, r4_add(g, o->in.x, r4_sub(g, noise, on_mask))));
  return 2;
}

static r4_status check(const struct asking *a, const r4_data *d, r4_error *e)
{
  const r4_sensitivity_options *o = &a->o;
  if (a->net->leaf || r4_data_vocabulary(d))
    return r4_fail(e, R4_E_ARGUMENT, "core sensitivity: the net does not take images, and ids have no noise");
  if (o->n > R4_MAX_NOISES)
    return r4_fail(e, R4_E_ARGUMENT, "core sensitivity: %zu levels of noise, expected at most %d", o->n,
                   R4_MAX_NOISES);
  for (size_t k = 0; k < o->n; k++)
    if (!(o->sigma[k] > 0 && isfinite(o->sigma[k])))
      return r4_fail(
        e, R4_E_ARGUMENT,
        "core sensitivity: noise of %g, expected numbers above 0: zero noise changes nothing",
        o->sigma[k]);
  if (o->draws < 1 || o->draws > 1000)
    return r4_fail(e, R4_E_ARGUMENT, "core sensitivity: %d draws, expected 1 to 1000", o->draws);
  return R4_OK;
}

/* The standard deviation of each channel over the examples that count; x has room for one. */
static void measure_units(const struct asking *a, float *x, double *unit)
{
  double sum[R4_MAX_NOISES] = {0}, square[R4_MAX_NOISES] = {0}, count = 0;
  for (size_t i = 0; i < r4_data_count(a->d); i++) {
    r4_data_values(a->d, i, x);
    for (size_t j = 0; j < a->features; j++) {
      sum[j % a->channels] += (double)x[j];
      square[j % a->channels] += (double)x[j] * (double)x[j];
    }
    count += (double)(a->features / a->channels);
  }
  for (size_t c = 0; c < a->channels; c++)
    unit[c] = sqrt(fmax(square[c] / count - sum[c] / count * sum[c] / count, 0));
}

static void find_units(const struct asking *a, double *unit)
{
  const struct module *first = &a->net->row->part[0];
  size_t given = (size_t)first->value[1];
  if (!a->o.published && first->kind != &module_normalize) {
    measure_units(a, a->noise, unit);
    return;
  }
  for (size_t c = 0; c < a->channels; c++)
    unit[c] = a->o.published ? 1.0 / 255 : first->list[1][given > 1 ? c : 0];
}

static r4_status open_asking(struct asking *a, const r4_data *d, r4_sensitivity *to, r4_error *e)
{
  r4_shape in = r4_net_input(a->net);
  const struct probe_options options = {.net = a->net, .batch = a->o.batch, .build = build};
  a->features = (size_t)r4_shape_count(in);
  a->channels = in.rank == 3 ? (size_t)in.dim[2] : 1;
  if (a->channels > R4_MAX_NOISES)
    return r4_fail(e, R4_E_ARGUMENT, "core sensitivity: images of %zu channels, expected at most %d",
                   a->channels, R4_MAX_NOISES);
  a->noise = mem_new_aligned((size_t)a->o.batch * a->features, sizeof *a->noise, "noise on examples", e);
  a->unit = mem_new_aligned(R4_MAX_NOISES, sizeof *a->unit, "noise on examples", e);
  if (!a->noise || !a->unit) return R4_E_MEMORY;
  r4_status s = R4_OK;
  if (!(a->d = data_with_core(d, "core sensitivity", e))) return e->status;
  to->examples = r4_data_count(a->d);
  to->channels = a->channels;
  for (int k = 0; k < 2; k++) a->right[k] = mem_new(to->examples, sizeof *a->right[k], "answers", e);
  if (!a->right[0] || !a->right[1]) return R4_E_MEMORY;
  find_units(a, to->unit);
  a->probe = probe_new(&options, e);
  if (!a->probe) return e->status;
  s = probe_input(a->probe, "region noise", a->noise, e);
  return s ? s : probe_input(a->probe, "unit", a->unit, e);
}

static void close_asking(struct asking *a)
{
  probe_free(a->probe);
  r4_mem_free(a->noise);
  r4_mem_free(a->unit);
  r4_data_free(a->d);
  r4_mem_free(a->right[0]);
  r4_mem_free(a->right[1]);
}

/* Noise of an example depends on its number, the draw and the seed: the same for both regions and all sigmas. */
static void draw_noise(const struct asking *a, size_t first, size_t here, int draw)
{
  for (size_t k = 0; k < here; k++) {
    uint32_t step = (uint32_t)((first + k) * (size_t)a->o.draws + (size_t)draw);
    r4_random_fill_normal((r4_random){a->o.seed, PURPOSE_SENSITIVITY, step}, a->features,
                          a->noise + k * a->features);
  }
}

/* One pass over the examples with this noise: adds 1 / draws to those that are right. */
static r4_status ask(struct asking *a, int draw, r4_error *e)
{
  size_t n = r4_data_count(a->d), batch = probe_batch(a->probe);
  r4_status s = R4_OK;
  for (size_t first = 0; first < n && !s; first += batch) {
    size_t here = n - first < batch ? n - first : batch;
    draw_noise(a, first, here, draw);
    s = probe_run(a->probe, a->weights, a->d, first, here, e);
    for (size_t i = 0; i < 2 * here && !s; i++) {
      size_t region = i % 2, k = i / 2, label = (size_t)r4_data_example(a->d, first + k).label;
      bool right = predict_class(probe_row(a->probe, region, k), probe_width(a->probe, region)) == label;
      a->right[region][first + k] += right / (double)a->o.draws;
    }
  }
  return s;
}

static r4_status ask_at(struct asking *a, const r4_sensitivity *to, double sigma, int draws, struct rcs *r,
                        r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t c = 0; c < a->channels; c++) a->unit[c] = (float)(sigma * to->unit[c]);
  for (int k = 0; k < 2; k++) memset(a->right[k], 0, to->examples * sizeof *a->right[k]);
  for (int draw = 0; draw < draws && !s; draw++) s = ask(a, draw, e);
  if (!s) *r = rcs_of(to->examples, a->right[SPURIOUS], a->right[CORE]);
  return s;
}

static r4_status ask_all(struct asking *a, r4_sensitivity *to, r4_error *e)
{
  struct rcs r;
  r4_status s = ask_at(a, to, 0, 1, &r, e);
  to->clean = s ? NAN : r.core * a->o.draws;
  for (; to->n < a->o.n && !s; to->n++) {
    s = ask_at(a, to, a->o.sigma[to->n], a->o.draws, &r, e);
    to->at[to->n].sigma = a->o.sigma[to->n];
    to->at[to->n].spurious_noise = r.spurious;
    to->at[to->n].core_noise = r.core;
    to->at[to->n].rcs = r.value;
    to->at[to->n].rcs_se = r.se;
  }
  return s;
}

static void set_defaults(r4_sensitivity_options *o)
{
  static const double usual[] = {0.25, 0.5, 1, 2, 4};
  if (!o->n && o->published) {
    o->sigma[o->n++] = 2;
  } else if (!o->n) {
    o->n = sizeof usual / sizeof *usual;
    memcpy(o->sigma, usual, sizeof usual);
  }
  if (!o->draws) o->draws = 1;
  if (o->batch < 1) o->batch = 64;
}

r4_status r4_core_sensitivity(const r4_net *n, const float *weights, const r4_data *d,
                              const r4_sensitivity_options *options, r4_sensitivity *to, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct asking a = {.net = n, .weights = weights};
  *to = (r4_sensitivity){0};
  if (options) a.o = *options;
  set_defaults(&a.o);
  r4_status s = eval_check(n, weights, d, e);
  if (!s) s = check(&a, d, e);
  if (!s) s = open_asking(&a, d, to, e);
  if (!s) s = ask_all(&a, to, e);
  close_asking(&a);
  return s;
}
