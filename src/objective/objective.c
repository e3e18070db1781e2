#include "objective/objective.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "graph/graph.h"

static const struct {
  const char *name;
  r4_id (*penalty)(const struct objective *o);
} methods[] = {
  {"erm", erm_penalty},         {"r3", r3_penalty},         {"adv-r4", adv_r4_penalty},
  {"cert-r4", cert_r4_penalty}, {"ibp-ex", ibp_ex_penalty},
};

enum { METHODS = sizeof methods / sizeof *methods };

/* ---- Pieces that methods share ---- */

r4_id r4_cross_entropy(r4_graph *g, r4_id logits, r4_id one_hot)
{
  int rank = r4_node_shape(g, logits).rank;
  if (rank < 1) return r4_graph_fail(g, R4_E_SHAPE, "cross_entropy: logits are a scalar");
  r4_id own = r4_sum(g, r4_mul(g, logits, one_hot), R4_AXIS(rank - 1));
  return r4_sub(g, r4_logsumexp(g, logits), own);
}

r4_id objective_logits(const struct objective *o, r4_id x)
{
  return r4_net_apply(o->net, o->g, o->param, x);
}

r4_id objective_losses(const struct objective *o, r4_id x)
{
  return r4_cross_entropy(o->g, objective_logits(o, x), o->one_hot);
}

/* d = 0, but a node of its own: a constant zero would be the same node as any other zero. */
struct view view_clean(const struct objective *o)
{
  if (!o->index.i) return (struct view){.x = o->x, .leaf = o->x, .centre = o->x};
  struct view v = view_moved(o, r4_detach(o->g, r4_scale(o->g, o->m, 0)));
  v.centre = r4_const(o->g, 0, r4_node_shape(o->g, o->m));
  return v;
}

struct view view_moved(const struct objective *o, r4_id d)
{
  r4_graph *g = o->g;
  struct view v = {.leaf = d, .centre = d};
  if (!o->index.i) {
    v.x = r4_add(g, o->x, d);
    return v;
  }
  r4_shape shape = r4_node_shape(g, o->x);
  int64_t features = r4_shape_count(r4_net_input(o->net));
  r4_shape flat = R4_SHAPE(o->options->batch, features);
  r4_id placed = r4_scatter_add(g, d, o->index, 1, features);
  if (r4_shape_equal(shape, flat))
    v.x = r4_add(g, o->x, placed);
  else
    v.x = r4_reshape(g, r4_add(g, r4_reshape(g, o->x, flat), placed), shape);
  return v;
}

/* Examples do not see each other, so the derivative of sum_i l_i holds all g_i. */
r4_id objective_explain(const struct objective *o, struct view v)
{
  r4_id total = r4_sum(o->g, objective_losses(o, v.x), R4_ALL), gradient = R4_NONE;
  r4_grad(o->g, total, 1, &v.leaf, &gradient);
  return gradient;
}

r4_box objective_box(const struct objective *o, struct view v)
{
  return r4_box_around(v.leaf, v.centre, r4_scale(o->g, o->m, o->options->eps));
}

r4_id objective_example_sum(const struct objective *o, r4_id v)
{
  unsigned all = R4_AXIS(r4_node_shape(o->g, v).rank) - 1;
  return r4_sum(o->g, v, all & ~R4_AXIS(0));
}

r4_id objective_squares(const struct objective *o, r4_id v)
{
  return objective_example_sum(o, r4_square(o->g, r4_mul(o->g, o->m, v)));
}

/* ---- Building ---- */

static r4_objective no_method(r4_graph *g, const char *name)
{
  struct text known = {0};
  for (size_t k = 0; k < METHODS; k++) text_add(&known, "%s%s", k ? ", " : "", methods[k].name);
  char *names = text_take(&known);
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: no method \"%.60s\"; there are %s", name, names ? names : "");
  r4_string_free(names);
  return (r4_objective){0};
}

static bool check_weight(r4_graph *g, const char *name, double value)
{
  if (isfinite(value) && value >= 0) return true;
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: %s is %g, expected a finite number from 0 on", name, value);
  return false;
}

static bool check_options(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  int64_t features = r4_shape_count(r4_net_input(n));
  if (p->batch < 1) {
    r4_graph_fail(g, R4_E_ARGUMENT, "objective: batch is %lld, expected at least 1", (long long)p->batch);
    return false;
  }
  if (p->masked < 0 || p->masked > features) {
    r4_graph_fail(g, R4_E_ARGUMENT, "objective: masked is %lld, expected 0 (all) to %lld, the features",
                  (long long)p->masked, (long long)features);
    return false;
  }
  return check_weight(g, "lambda", p->lambda) && check_weight(g, "eps", p->eps);
}

static r4_shape batch_of(r4_shape one, int64_t batch)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {batch}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *s.dim);
  return s;
}

static void add_inputs(struct objective *o)
{
  const r4_objective_options *p = o->options;
  r4_shape x = batch_of(r4_net_input(o->net), p->batch);
  o->x = r4_input(o->g, "x", x);
  o->one_hot = r4_one_hot(o->g, r4_input(o->g, "y", R4_SHAPE(p->batch)), r4_net_classes(o->net));
  o->m = r4_input(o->g, "m", p->masked ? R4_SHAPE(p->batch, p->masked) : x);
  if (p->masked) o->index = r4_input(o->g, "index", R4_SHAPE(p->masked));
}

r4_objective r4_objective_build(r4_graph *g, const r4_net *n, const r4_id *param,
                                const r4_objective_options *options)
{
  if (!n || !options) {
    r4_graph_fail(g, R4_E_ARGUMENT, "objective: needs a net and options");
    return (r4_objective){0};
  }
  struct objective o = {.g = g, .net = n, .param = param, .options = options};
  const char *name = options->method ? options->method : "";
  size_t k = 0;
  while (k < METHODS && strcmp(methods[k].name, name)) k++;
  if (k == METHODS) return no_method(g, name);
  if (!check_options(g, n, options)) return (r4_objective){0};
  add_inputs(&o);
  r4_id data = r4_mean(g, objective_losses(&o, o.x), R4_ALL);
  r4_id penalty = methods[k].penalty(&o);
  return (r4_objective){.loss = r4_add(g, data, r4_scale(g, penalty, options->lambda)), .penalty = penalty};
}
