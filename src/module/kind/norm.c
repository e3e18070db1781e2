/* batchnorm: each channel with mean 0 and variance 1 over the batch, then scaled and moved (Ioffe and Szegedy, 2015),
 *
 *     y = (x - mu) / sqrt(v + eps) * weight + bias
 *
 * While a net learns, mu and v are those of the batch, and the running ones follow:
 *     running_mean <- (1 - momentum) running_mean + momentum mu
 *     running_var  <- (1 - momentum) running_var  + momentum v n / (n - 1),       n values of each channel, as PyTorch
 * Everywhere else, mu and v are the running ones: then y is linear in x, and examples do not see each other.
 *
 * With the statistics of the batch it is computed from d = x - c, where c has the value of mu and is a constant:
 *     e = mu - c,      v = mean(d^2) - e^2,      y = d s + (bias - e s),      s = weight / sqrt(v + eps)
 * This holds for every c, so derivatives of any order are right; and as e, which is 0, is one value for each channel,
 * what comes back through mu does not take a pass over all values of its own.
 *
 * layernorm: the same over the last axis of each example by itself (Ba and others, 2016), with its own mu and v
 * always. */
#include "module/onnx/onnx.h"
#include "op/window.h"

enum { EPS, MOMENTUM };
enum { WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VAR };

static r4_status add_params(struct module *m, struct maker *maker, bool running, r4_error *why)
{
  r4_shape channels = R4_SHAPE(m->in.dim[m->in.rank - 1]);
  static const struct {
    const char *what;
    enum param_init init;
    bool buffer;
  } each[] = {{"weight", INIT_ONE, false},
              {"bias", INIT_ZERO, false},
              {"running_mean", INIT_ZERO, true},
              {"running_var", INIT_ONE, true}};
  r4_status s = R4_OK;
  for (size_t k = 0; k < (running ? 4 : 2) && !s; k++) {
    struct param_wish wish = param_wish(each[k].what, channels, 1, each[k].init);
    wish.buffer = each[k].buffer;
    wish.of_features = true;
    s = module_param(m, maker, wish, why);
  }
  m->out = m->in;
  return s;
}

static r4_id plus_eps(const struct module *m, r4_graph *g, r4_id v)
{
  return r4_add(g, v, r4_const(g, m->value[EPS], R4_SCALAR));
}

/* ---- batchnorm ---- */

static r4_status batch_shape(struct module *m, struct maker *maker, r4_error *why)
{
  return add_params(m, maker, true, why);
}

/* x s, for each channel. If x = conv2d(u, W), it is conv2d(u, W s): the weights are few where values are many, and
 * neither they nor their gradients are in memory without s, too. The leaf stays: explanations ask for it. */
static r4_id scaled(const struct module *m, const struct wiring *w, r4_id x, r4_id s)
{
  r4_graph *g = w->g;
  if (!m->follows || x.i == w->from.i || !graph_is(g, x, &op_conv2d)) return r4_mul(g, x, s);
  r4_id u = graph_arg(g, x, 0), weights = graph_arg(g, x, 1);
  r4_window window = window_of(&graph_node(g, x)->attr);
  r4_shape shape = r4_node_shape(g, weights);
  s = r4_broadcast(g, r4_reshape(g, s, R4_SHAPE(shape.dim[0], 1, 1, 1)), shape);
  return r4_conv2d(g, u, r4_mul(g, weights, s), window);
}

/* y = x s + (bias - mu s),  s = weight / sqrt(v + eps) */
static r4_id with_running(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  r4_id inverse = r4_rsqrt(g, plus_eps(m, g, module_param_node(m, w, RUNNING_VAR)));
  r4_id scale = r4_mul(g, module_param_node(m, w, WEIGHT), inverse);
  r4_id moved = r4_mul(g, module_param_node(m, w, RUNNING_MEAN), scale);
  return r4_add(g, scaled(m, w, x, scale), r4_sub(g, module_param_node(m, w, BIAS), moved));
}

/* (1 - momentum) old + momentum now; a constant for the weights. */
static r4_id follow(const struct module *m, r4_graph *g, r4_id old, r4_id now)
{
  r4_id kept = r4_scale(g, old, 1 - m->value[MOMENTUM]);
  return r4_add(g, kept, r4_scale(g, r4_detach(g, now), m->value[MOMENTUM]));
}

static r4_id with_batch(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  r4_shape s = r4_node_shape(g, x);
  unsigned all_but_last = R4_AXIS(s.rank - 1) - 1;
  double n = (double)(r4_shape_count(s) / s.dim[s.rank - 1]);
  if (n < 2)
    return r4_graph_fail(g, R4_E_SHAPE, "batchnorm %s: one value per channel has no variance",
                         m->name);
  r4_id mu = r4_mean(g, x, all_but_last), c = r4_detach(g, mu), d = r4_sub(g, x, c), e = r4_sub(g, mu, c);
  r4_id v = r4_sub(g, r4_mean(g, r4_square(g, d), all_but_last), r4_square(g, e));
  if (w->use->updated) {
    w->use->updated[m->first_param + RUNNING_MEAN] = follow(m, g, module_param_node(m, w, RUNNING_MEAN), mu);
    w->use->updated[m->first_param + RUNNING_VAR] =
      follow(m, g, module_param_node(m, w, RUNNING_VAR), r4_scale(g, v, n / (n - 1)));
  }
  r4_id scale = r4_mul(g, r4_rsqrt(g, plus_eps(m, g, v)), module_param_node(m, w, WEIGHT));
  r4_id moved = r4_sub(g, module_param_node(m, w, BIAS), r4_mul(g, e, scale));
  return r4_add(g, r4_mul(g, d, scale), moved);
}

/* Statistics stay where the use says so, or where they are frozen, as any parameter may be. */
static bool keeps_statistics(const struct module *m, const struct net_use *use)
{
  return use->frozen_statistics || (use->rates && use->rates[m->first_param + RUNNING_MEAN] == 0);
}

static r4_id batch_apply(const struct module *m, const struct wiring *w, r4_id x)
{
  return w->use->learning && !keeps_statistics(m, w->use) ? with_batch(m, w, x) : with_running(m, w, x);
}

/* ---- layernorm ---- */

static r4_status layer_shape(struct module *m, struct maker *maker, r4_error *why)
{
  if (m->in.rank == 3) return module_need_vector(m, why);
  return add_params(m, maker, false, why);
}

/* The mean over the last axis, which stays with length 1. */
static r4_id mean_last(r4_graph *g, r4_id x)
{
  r4_shape s = r4_node_shape(g, x);
  if (s.rank < 1) return R4_NONE; /* the graph has failed */
  r4_id mean = r4_mean(g, x, R4_AXIS(s.rank - 1));
  s.dim[s.rank - 1] = 1;
  return r4_reshape(g, mean, s);
}

static r4_id layer_apply(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  r4_id centred = r4_sub(g, x, mean_last(g, x)), v = mean_last(g, r4_square(g, centred));
  r4_id y = r4_mul(g, centred, r4_rsqrt(g, plus_eps(m, g, v)));
  return r4_add(g, r4_mul(g, y, module_param_node(m, w, WEIGHT)), module_param_node(m, w, BIAS));
}

/* ---- As operators of ONNX ---- */

/* Channels are the second axis there, those of tokens the last. */
static struct slice onnx_batch(const struct module *m, struct onnx_writer *w, struct slice x)
{
  bool tokens = m->in.rank == 2;
  struct slice y =
    ONNX_OP(w, "BatchNormalization", tokens ? onnx_turned(w, x) : x, onnx_param(m, w, WEIGHT),
            onnx_param(m, w, BIAS), onnx_param(m, w, RUNNING_MEAN), onnx_param(m, w, RUNNING_VAR));
  onnx_real(w, "epsilon", m->value[EPS]);
  return tokens ? onnx_turned(w, y) : y;
}

static struct slice onnx_layer(const struct module *m, struct onnx_writer *w, struct slice x)
{
  struct slice y = ONNX_OP(w, "LayerNormalization", x, onnx_param(m, w, WEIGHT), onnx_param(m, w, BIAS));
  onnx_whole(w, "axis", -1);
  onnx_real(w, "epsilon", m->value[EPS]);
  return y;
}

/* ---- The kinds ---- */

const struct module_kind module_batchnorm = {
  .name = "batchnorm",
  .usage = "batchnorm [eps E] [momentum M]",
  .about = "normalise each channel to mean 0 and variance 1 over the batch",
  .reach = REACH_POINT,
  .shape = batch_shape,
  .apply = batch_apply,
  .onnx = onnx_batch,
  ARGUMENTS({"eps", ARGUMENT_REAL, 1e-5, 0}, {"momentum", ARGUMENT_REAL, 0.1, 0}),
  MODULE_SAMPLES({.text = "batchnorm eps 1",
                  .in = {1, {2}},
                  .out = {1, {2}},
                  .x = (const double[]){5, 1},
                  .w = (const double[]){2, 1, 10, 0, 1, 1, 3, 0},
                  .y = (const double[]){14, 0}},
                 {.text = "batchnorm", .in = {3, {3, 2, 2}}, .out = {3, {3, 2, 2}}})};

const struct module_kind module_layernorm = {
  .name = "layernorm",
  .usage = "layernorm [eps E]",
  .about = "normalise each example or token to mean 0 and variance 1",
  .shape = layer_shape,
  .apply = layer_apply,
  .onnx = onnx_layer,
  ARGUMENTS({"eps", ARGUMENT_REAL, 1e-5, 0}),
  MODULE_SAMPLES({.text = "layernorm eps 3",
                  .in = {1, {2}},
                  .out = {1, {2}},
                  .x = (const double[]){4, 2},
                  .w = (const double[]){2, 4, 10, 20},
                  .y = (const double[]){11, 18}},
                 {.text = "layernorm", .in = {2, {3, 4}}, .out = {2, {3, 4}}})};
