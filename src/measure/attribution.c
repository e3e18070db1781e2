#include "measure/attribution.h"

#include <string.h>

#include "base/purpose.h"
#include "base/text.h"
#include "measure/occlusion.h"

/* ---- The methods: each its formula, then the same as a graph ---- */

/* One number for each feature of the example: of a token, the sum over its row of the leaf. */
static size_t answer(const struct objective *o, r4_id a, r4_id out[PROBE_OUTPUTS])
{
  out[0] = objective_leaf_is_rows(o->net) ? r4_sum(o->g, a, R4_AXIS(2)) : a;
  return 1;
}

/* a = g(x) */
static size_t gradient(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  return answer(o, objective_explain(o, view_clean(o)), out);
}

/* a = x . g(x) */
static size_t input_x_gradient(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  return answer(o, r4_mul(o->g, o->x, objective_explain(o, view_clean(o))), out);
}

/* mean_s g(x + move_s), for moves that broadcast to [samples, batch, input...] */
static r4_id mean_gradient(struct objective *o, r4_id moves)
{
  int samples = o->options->samples;
  r4_shape rows = r4_node_shape(o->g, o->x), all = objective_batch(rows, samples);
  rows.dim[0] *= samples;
  r4_id each = r4_reshape(o->g, r4_broadcast(o->g, moves, all), rows);
  return r4_scale(o->g, objective_explain(o, view_noisy(o, each)), 1.0 / samples);
}

/* [samples, 1, features...] */
static r4_shape by_sample(const struct objective *o, r4_shape features)
{
  return objective_batch(objective_batch(features, 1), o->options->samples);
}

/* a = mean_s g(x + eps noise_s), with the same noise for all examples */
static size_t smoothgrad(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_shape each = by_sample(o, net_leaf(o->net));
  r4_id noise = objective_draw(o, "noise", each, PURPOSE_SMOOTH, draw_normal);
  return answer(o, mean_gradient(o, r4_mul(o->g, noise, o->eps)), out);
}

/* a = (x - b) . int_0^1 g(b + t (x - b)) dt, by the midpoint rule: the mean over t_s = (s + 1/2) / S, s = 0 .. S-1.
 * The point is x + (t_s - 1) (x - b). */
static size_t integrated(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_graph *g = o->g;
  r4_shape ones = net_leaf(o->net), one = r4_net_input(o->net);
  for (int k = 0; k < ones.rank; k++) ones.dim[k] = 1;
  r4_id baseline = r4_reshape(g, r4_input(g, "baseline", one), objective_batch(one, 1));
  r4_id path = r4_sub(g, o->x, net_to_leaf(o->net, g, o->param, &o->look, baseline));
  r4_id s = r4_iota(g, 0, by_sample(o, ones));
  r4_id t = r4_scale(g, r4_add(g, s, r4_const(g, 0.5, R4_SCALAR)), 1.0 / o->options->samples);
  r4_id moves = r4_mul(g, r4_sub(g, t, r4_const(g, 1, R4_SCALAR)), path);
  return answer(o, r4_mul(g, path, mean_gradient(o, r4_detach(g, moves))), out);
}

/* a = hi - lo, where lo <= g(x') <= hi for all x' in x -+ radius */
static size_t width(struct objective *o, r4_id radius, r4_id out[PROBE_OUTPUTS])
{
  r4_pair ends = objective_explain_bounds(o, BOUND_BY_INTERVALS, radius);
  return answer(o, r4_sub(o->g, ends.hi, ends.lo), out);
}

static size_t bounds(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  return width(o, view_radius(o), out);
}

static size_t bounds_all(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  return width(o, r4_broadcast(o->g, o->eps, r4_node_shape(o->g, o->x)), out);
}

/* Grad-CAM (Selvaraju and others, 2017), at the last part that gives an image A [h, w, c]:
 *     a = max(0, sum_c w_c A_c),   w_c = mean over cells of d s / d A_c
 * s is what is explained, of which more is better: minus the loss. One number for each cell, spread over its pixels. */
static size_t gradcam(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_graph *g = o->g;
  r4_id slope = objective_explain(o, view_clean(o));
  r4_shape s = r4_node_shape(g, slope);
  double sign = o->options->explain == R4_EXPLAIN_LOSS ? -1 : 1;
  r4_id w = r4_reshape(g, r4_mean(g, slope, R4_AXIS(1) | R4_AXIS(2)), R4_SHAPE(s.dim[0], 1, 1, s.dim[3]));
  out[0] = r4_relu(g, r4_scale(g, r4_sum(g, r4_mul(g, o->x, w), R4_AXIS(3)), sign));
  return 1;
}

static const struct attribution methods[] = {
  {"gradient", "effect of a small change of each feature", .build = gradient},
  {"input-x-gradient", "the gradient times the feature itself", .build = input_x_gradient},
  {"smoothgrad", "mean gradient over noisy copies", .build = smoothgrad, .noise = true},
  {"integrated", "the change from a baseline, attributed to features", .build = integrated, .baseline = true},
  {"gradcam", "cells of the last feature map that support the prediction", .build = gradcam, .cells = true},
  {"occlusion", "effect of filling a window around each pixel", .build = occlusion_build, .windows = true},
  {"bounds", "how far the gradient can move if masked features move by eps", .build = bounds, .width = true},
  {"bounds-all", "the same if all features move by eps", .build = bounds_all, .width = true},
};

enum { METHODS = sizeof methods / sizeof *methods };

size_t r4_attribution_count(void)
{
  return METHODS;
}

r4_attribution_info r4_attribution_describe(size_t k)
{
  if (k >= METHODS) return (r4_attribution_info){0};
  return (r4_attribution_info){methods[k].name, methods[k].about, methods[k].width,
                               methods[k].cells || methods[k].windows};
}

r4_status attribution_find(const char *name, const struct attribution **a, r4_error *e)
{
  for (size_t k = 0; k < METHODS; k++)
    if (!strcmp(methods[k].name, name)) {
      *a = &methods[k];
      return R4_OK;
    }
  struct text known = {0};
  for (size_t k = 0; k < METHODS; k++) text_add(&known, "%s%s", k ? ", " : "", methods[k].name);
  char *names = text_take(&known);
  r4_fail(e, R4_E_ARGUMENT, "no attribution \"%.60s\"; expected %s", name, names ? names : "");
  r4_string_free(names);
  return R4_E_ARGUMENT;
}
