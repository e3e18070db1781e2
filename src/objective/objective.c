#include "objective/objective.h"

#include <string.h>

#include "base/purpose.h"
#include "base/text.h"
#include "graph/graph.h"
#include "module/guide_cells.h"

static bool find_method(r4_graph *g, const char *name, struct composition *to)
{
  r4_error e = {0};
  if (composition_of(name, to)) return true;
  if (strchr(name, '+') && composition_check(name, "objective", &e)) {
    r4_graph_fail(g, R4_E_ARGUMENT, "%s", e.text);
    return false;
  }
  struct text known = {0};
  for (size_t k = 0; method_words[k]; k++) text_add(&known, "%s%s", k ? ", " : "", method_words[k]);
  char *names = text_take(&known);
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: no method \"%.60s\"; expected %s", name, names ? names : "");
  r4_string_free(names);
  return false;
}

/* ---- Inputs ---- */

r4_shape objective_batch(r4_shape one, int64_t batch)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {batch}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *s.dim);
  return s;
}

static r4_id number(const struct objective *o, const char *name, double value)
{
  return o->options->live ? r4_input(o->g, name, R4_SCALAR) : r4_const(o->g, value, R4_SCALAR);
}

int64_t objective_features(const r4_net *n)
{
  return r4_shape_count(net_leaf(n));
}

bool objective_leaf_is_rows(const r4_net *n)
{
  r4_shape in = r4_net_input(n), leaf = net_leaf(n);
  return in.rank == 1 && leaf.rank == 2 && leaf.dim[0] == in.dim[0];
}

/* A mask has one number for each place of the leaf: a token, or a cell of an image. */
static bool masks_are_places(const r4_net *n)
{
  return objective_leaf_is_rows(n) || net_leaf_has_cells(n);
}

/* The mask of a place is that of all of its numbers. */
static r4_id mask_at_leaf(const struct objective *o, r4_id m)
{
  r4_shape s = r4_node_shape(o->g, m);
  if (o->options->masked || !masks_are_places(o->net)) return m;
  int64_t rows = s.dim[0];
  s.dim[s.rank++] = 1;
  return r4_broadcast(o->g, r4_reshape(o->g, m, s), objective_batch(net_leaf(o->net), rows));
}

static r4_shape mask_shape(const struct objective *o, int64_t rows)
{
  if (o->options->masked) return R4_SHAPE(rows, o->options->masked);
  r4_shape leaf = net_leaf(o->net);
  leaf.rank -= masks_are_places(o->net);
  return objective_batch(leaf, rows);
}

/* Tokens: 1 for the first "length" of each example, 0 for what is behind them. */
static void add_length(struct objective *o)
{
  if (!o->options->lengths) return;
  r4_graph *g = o->g;
  r4_shape all = objective_batch(r4_net_input(o->net), o->options->batch);
  o->in.length = r4_input(g, "length", R4_SHAPE(all.dim[0]));
  r4_id column = r4_reshape(g, o->in.length, R4_SHAPE(all.dim[0], 1));
  o->look.valid = r4_less(g, r4_iota(g, 1, all), column);
}

void objective_inputs(struct objective *o)
{
  const r4_objective_options *p = o->options;
  int64_t classes = r4_net_classes(o->net);
  int64_t guided = p->guided ? p->guided : p->batch;
  o->rows = p->batch;
  r4_shape one = r4_net_input(o->net);
  o->in.x = r4_input(o->g, "x", objective_batch(one, p->batch));
  o->in.filled = p->filled ? r4_input(o->g, "filled", objective_batch(one, p->batch)) : o->in.x;
  o->in.y = r4_input(o->g, "y", R4_SHAPE(p->batch));
  o->in.m = r4_input(o->g, "m", mask_shape(o, guided));
  if (p->weighted) o->in.v = r4_input(o->g, "v", R4_SHAPE(p->batch));
  add_length(o);
  o->x = o->base = net_to_leaf(o->net, o->g, o->param, &o->look, o->in.x);
  o->m = mask_at_leaf(o, o->in.m);
  if (p->masked) o->in.index = r4_input(o->g, "index", R4_SHAPE(p->masked));
  if (p->reach) o->in.at = r4_input(o->g, "at", R4_SHAPE(guided, (int64_t)r4_reach_places(p->reach)));
  o->one_hot = r4_one_hot(o->g, o->in.y, classes > 1 ? classes : 2);
  o->eps = number(o, "eps", p->eps);
  if (p->live) o->in.eps = o->eps;
  if (p->whole) o->eps = r4_scale(o->g, o->eps, p->high - p->low);
}

/* ---- The data term: mean_i v_i w[y_i] l_i ---- */

/* A net asks for the numbers by which it leaves features out. Each input has a purpose of its own. */
static r4_id draw_for_net(void *user, const char *name, r4_shape shape)
{
  struct objective *o = user;
  return objective_draw(o, name, shape, PURPOSE_DROPOUT + (uint32_t)o->drawn->n, draw_unit);
}

/* The logits of what the data term sees, and the new values of buffers. */
static r4_id learn(struct objective *o, r4_objective *result)
{
  r4_id *updated = graph_keep(o->g, r4_net_params(o->net) + 1, sizeof *updated);
  const struct net_use use = {.learning = true,
                              .frozen_statistics = o->options->frozen_statistics,
                              .rates = o->options->rates,
                              .valid = o->look.valid,
                              .updated = updated,
                              .draw = draw_for_net,
                              .user = o};
  if (!updated) return R4_NONE;
  result->updated = updated;
  r4_id leaf = net_to_leaf(o->net, o->g, o->param, &use, o->in.filled);
  return objective_logits(o, net_from_leaf(o->net, o->g, o->param, &use, leaf));
}

static r4_id weighted_losses(const struct objective *o, r4_id logits)
{
  r4_graph *g = o->g;
  const r4_objective_options *p = o->options;
  if (p->double_softmax) logits = r4_softmax(g, logits);
  r4_id losses = r4_cross_entropy(g, logits, o->one_hot);
  if (!p->class_weights) return losses;
  r4_id w = graph_vector(g, r4_node_shape(g, o->one_hot).dim[1], p->class_weights);
  return r4_mul(g, r4_sum(g, r4_mul(g, o->one_hot, w), R4_AXIS(1)), losses);
}

/* Their mean, each times its own weight if there are such. */
static r4_id data_term(const struct objective *o, r4_id losses)
{
  return r4_mean(o->g, o->in.v.i ? r4_mul(o->g, o->in.v, losses) : losses, R4_ALL);
}

/* beta sum W^2 over weights that learn, not biases */
static r4_id weight_penalty(const struct objective *o)
{
  r4_graph *g = o->g;
  const double *rates = o->options->rates;
  r4_id sum = r4_const(g, 0, R4_SCALAR);
  for (size_t k = 0; k < r4_net_params(o->net); k++)
    if (r4_net_param_shape(o->net, k).rank >= 2 && !r4_net_param_is_buffer(o->net, k) &&
        !(rates && rates[k] == 0))
      sum = r4_add(g, sum, r4_sum(g, r4_square(g, o->param[k]), R4_ALL));
  return r4_scale(g, sum, o->options->weight_penalty);
}

/* ---- Penalties ---- */

/* Whether means are over the examples with a mask; what is pasted is on any of them. */
static bool term_counts_masked(const r4_objective_options *p, const struct term *t)
{
  return t->over_masked || (p->over_masked && !(t->pairs && !p->filled_within));
}

static bool counts_masked(const struct objective *o, const struct term *t)
{
  return term_counts_masked(o->options, t);
}

bool objective_counts_masked(const r4_objective_options *p, size_t k)
{
  struct composition method;
  return composition_of(p->method, &method) && k < method.terms &&
         term_counts_masked(p, method.part[k]->term);
}

/* The sum of v [rows], and how many examples count. */
static r4_total total(const struct objective *o, const struct term *t, r4_id v)
{
  r4_graph *g = o->g;
  return (r4_total){.sum = r4_sum(g, v, R4_ALL),
                    .count = counts_masked(o, t) ? r4_sum(g, objective_masked(o), R4_ALL)
                                                 : r4_const(g, (double)o->options->batch, R4_SCALAR)};
}

/* sum / count, and 0 where nothing counts. */
static r4_id mean(const struct objective *o, const struct term *t, r4_id v)
{
  r4_graph *g = o->g;
  r4_total all = total(o, t, v);
  if (!counts_masked(o, t)) return r4_scale(g, all.sum, 1 / (double)o->options->batch);
  return r4_div(g, all.sum, r4_max(g, r4_const(g, 1, R4_SCALAR), all.count));
}

r4_form objective_form(const r4_objective_options *p, size_t k)
{
  bool linear = p->form == R4_FORM_LOG && r4_method_describe(p->method).leads[k];
  return linear ? R4_FORM_LINEAR : p->form;
}

static r4_id form(const struct objective *o, const struct term *t, r4_form f, r4_id q)
{
  r4_graph *g = o->g;
  const r4_objective_options *p = o->options;
  switch (f) {
  case R4_FORM_LOG:
    return mean(o, t, r4_log1p(g, r4_scale(g, q, 1 / p->tau)));
  case R4_FORM_TARGET:
    return r4_log1p(g, r4_scale(g, mean(o, t, q), 1 / p->delta));
  case R4_FORM_LINEAR:
    break;
  }
  return mean(o, t, q);
}

/* The objective as terms see it: examples that cannot have masks are left out, and of masks in windows only these are
 * there. Windows need the work of the data term on whole images, of any examples; all others only of their own. */
static struct objective guided_part(const struct objective *o)
{
  const r4_objective_options *p = o->options;
  struct objective part = *o;
  bool shared = !p->filled || p->filled_within, whole = !p->masked && !p->reach;
  if (p->guided) part.rows = p->guided;
  part.x = net_first_rows(o->g, o->x, part.rows);
  part.one_hot = net_first_rows(o->g, o->one_hot, part.rows);
  if (o->look.valid.i) part.look.valid = net_first_rows(o->g, o->look.valid, part.rows);
  part.base = part.x;
  r4_id filled = net_to_leaf(o->net, o->g, o->param, &o->look, o->in.filled);
  part.filled = net_first_rows(o->g, filled, part.rows);
  if (p->reach) part.m = view_window(&part, o->m);
  if (!shared || whole) return part;
  part.base = p->reach ? filled : part.filled;
  if (p->filled) part.content = view_features(&part, r4_sub(o->g, part.x, part.filled));
  return part;
}

/* q of the whole batch: 0 for examples that were left out. */
static r4_id for_all(const struct objective *o, r4_id q)
{
  const int64_t start[] = {0}, step[] = {1}, all = o->options->batch;
  return o->rows == all ? q : r4_pad(o->g, q, start, step, R4_SHAPE(all));
}

/* Adds term k of the method: lambda form(q) to the loss, unless lambda is the constant 0. */
static void add_term(struct objective *o, const struct term *t, size_t k, r4_objective *result)
{
  const r4_objective_options *p = o->options;
  o->term = k;
  r4_id q = t->quantity(o), lambda = number(o, objective_weight_names[k], p->lambda[k]);
  if (p->live) o->in.lambda[k] = lambda;
  result->form[k] = form(o, t, objective_form(p, k), q);
  result->total[k] = total(o, t, q);
  result->penalty[k] = mean(o, t, q);
  result->each = k ? r4_add(o->g, result->each, for_all(o, q)) : for_all(o, q);
  if (p->live || p->lambda[k] > 0)
    result->loss = r4_add(o->g, result->loss, r4_mul(o->g, lambda, result->form[k]));
}

/* The net as terms look at it, for terms of the caller's own. */
static void add_used(const struct objective *o, r4_objective *result)
{
  result->leaf = o->x;
  result->mask = o->m;
  result->used = objective_logits(o, net_from_leaf(o->net, o->g, o->param, &o->look, o->x));
}

r4_objective r4_objective_build(r4_graph *g, const r4_net *n, const r4_id *param,
                                const r4_objective_options *options)
{
  r4_objective result = {0};
  GRAPH_NEEDS(n, "a net", result);
  GRAPH_NEEDS(param || !r4_net_params(n), "parameters", result);
  GRAPH_NEEDS(options, "options", result);
  struct composition method;
  if (!find_method(g, options->method ? options->method : "", &method)) return result;
  if (!objective_check(g, n, options)) return result;
  struct draws drawn = {0};
  struct objective o = {.g = g, .net = n, .param = param, .options = options, .drawn = &drawn};
  objective_inputs(&o);
  result.logits = learn(&o, &result);
  result.losses = weighted_losses(&o, result.logits);
  result.data = result.loss = data_term(&o, result.losses);
  if (options->weight_penalty > 0) result.loss = r4_add(g, result.loss, weight_penalty(&o));
  for (size_t k = 0; k < R4_TERMS; k++) result.penalty[k] = result.form[k] = r4_const(g, 0, R4_SCALAR);
  result.each = r4_const(g, 0, R4_SHAPE(options->batch));
  if (options->used) add_used(&o, &result);
  struct objective part = guided_part(&o);
  for (size_t k = 0; k < method.terms; k++) add_term(&part, method.part[k]->term, k, &result);
  result.in = part.in;
  result.in.filled = options->filled ? o.in.filled : R4_NONE;
  result.drawn = drawn.list;
  result.draws = drawn.n;
  return r4_graph_status(g, NULL) ? (r4_objective){0} : result;
}
