/* Options: what is out of range is an error that names the option, what it was and what is expected. */
#include <math.h>

#include "graph/graph.h"
#include "module/reach.h"
#include "objective/objective.h"

const char *const explain_words[] = {[EXPLAIN_AUTO] = "auto",
                                     [R4_EXPLAIN_LOSS + 1] = "loss",
                                     [R4_EXPLAIN_LOGIT + 1] = "logit",
                                     [R4_EXPLAIN_MARGIN + 1] = "margin",
                                     [R4_EXPLAIN_LOGPROB_SUM + 1] = "logprob-sum",
                                     NULL};
const char *const norm_words[] = {[R4_NORM_L2] = "l2", [R4_NORM_L1] = "l1", [R4_NORM_SUM] = "sum", NULL};
const char *const objective_weight_names[R4_TERMS] = {"lambda", "lambda_2", "lambda_3", "lambda_4"};
const char *const form_words[] = {[R4_FORM_LINEAR] = "linear", [R4_FORM_LOG] = "log", NULL};

static bool fail(r4_graph *g, const char *name, double value, const char *expected)
{
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: %s is %g, expected %s", name, value, expected);
  return false;
}

static bool check_weight(r4_graph *g, const char *name, double value)
{
  if (isfinite(value) && value >= 0) return true;
  return fail(g, name, value, "a finite number of at least 0");
}

static bool check_positive(r4_graph *g, const char *name, double value)
{
  return (isfinite(value) && value > 0) || fail(g, name, value, "a finite number above 0");
}

/* Each costs nodes of the graph, and their product with the batch must not overflow. */
bool objective_check_count(r4_graph *g, const char *name, int value)
{
  enum { MOST = 100000 };
  return (value >= 1 && value <= MOST) || fail(g, name, value, "1 to 100000");
}

static bool check_sizes(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  int64_t features = objective_features(n);
  if (p->batch < 1) return fail(g, "batch", (double)p->batch, "at least 1");
  if (p->guided < 0 || p->guided > p->batch)
    return fail(g, "guided", (double)p->guided, "0 (all) to the number of examples of a batch");
  if (p->masked >= 0 && p->masked <= features) return true;
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: masked is %lld, expected 0 (all) to %lld, the features",
                (long long)p->masked, (long long)features);
  return false;
}

static bool check_reach(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  if (!p->reach) return true;
  r4_shape in = r4_net_input(n);
  const int64_t *image = p->reach->level[0].image;
  if (p->masked) return fail(g, "masked", (double)p->masked, "0: masks are in windows, by reach");
  if (n->leaf) return fail(g, "reach", 1, "0: the net is not explained at its input");
  if (in.rank == 3 && in.dim[0] == image[0] && in.dim[1] == image[1]) return true;
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: reach is of a net for images of %lld x %lld, not of this one",
                (long long)image[0], (long long)image[1]);
  return false;
}

static bool check_choices(r4_graph *g, const r4_objective_options *p)
{
  if ((unsigned)p->explain > R4_EXPLAIN_LOGPROB_SUM) return fail(g, "explain", p->explain, "an r4_explain");
  if ((unsigned)p->norm > R4_NORM_SUM) return fail(g, "norm", p->norm, "an r4_norm");
  if ((unsigned)p->form > R4_FORM_TARGET) return fail(g, "form", p->form, "an r4_form");
  if (p->form == R4_FORM_LOG && !check_positive(g, "tau", p->tau)) return false;
  return p->form != R4_FORM_TARGET || check_positive(g, "delta", p->delta);
}

static bool check_words(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  if (p->words && !p->word_count) return fail(g, "word_count", 0, "1 or more: a list of words is given");
  if (p->candidates < 0) return fail(g, "candidates", p->candidates, "0 (all) or more");
  if (p->word_box && !p->words) return fail(g, "word_box", 1, "0: there is no list of words");
  if (p->word_box && !objective_leaf_is_rows(n))
    return fail(g, "word_box", 1, "0: it is for texts, and a net with a leaf behind its embeddings");
  if (p->word_box && p->eps > 1)
    return fail(g, "eps", p->eps, "at most 1: a share of the way to other words");
  return p->places >= 0 || fail(g, "places", (double)p->places, "0 (not known) or more");
}

/* What is about values of the input cannot be about another leaf. */
static bool check_leaf(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  if (p->ranged && n->leaf) return fail(g, "ranged", 1, "0: the net is not explained at its input");
  return !p->lengths || r4_net_input(n).rank == 1 || fail(g, "lengths", 1, "0: examples are not tokens");
}

static bool check_range(r4_graph *g, const r4_objective_options *p)
{
  if (p->whole && !p->ranged) return fail(g, "whole", 1, "0: there is no range of valid values");
  if (p->whole && r4_method_uses(p->method, "eps") && !r4_method_uses(p->method, "eps=range"))
    return fail(g, "whole", 1, "0: a term has noise on all features, and eps is its size");
  if (p->whole && p->word_box) return fail(g, "whole", 1, "0: the box is of words");
  if (p->whole && p->eps > 1) return fail(g, "eps", p->eps, "at most 1: a share of the range");
  if (!p->ranged || (isfinite(p->low) && isfinite(p->high) && p->low < p->high)) return true;
  r4_graph_fail(g, R4_E_ARGUMENT, "objective: the range is %g to %g, expected two finite numbers in order",
                p->low, p->high);
  return false;
}

static bool check_data_term(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  int64_t classes = r4_net_classes(n);
  if (p->double_softmax && classes == 1)
    return fail(g, "double_softmax", 1, "0: a net with one output has no softmax");
  if (r4_method_describe(p->method).groups && !p->weighted) {
    r4_graph_fail(g, R4_E_ARGUMENT, "objective: %s weighs examples by group, and weighted is not set",
                  p->method);
    return false;
  }
  for (int64_t k = 0; p->class_weights && k < (classes > 1 ? classes : 2); k++)
    if (!check_weight(g, "a class weight", p->class_weights[k])) return false;
  return true;
}

/* The caller's own terms see all of each example. */
static bool check_used(r4_graph *g, const r4_objective_options *p)
{
  return !p->used || (!p->masked && !p->guided && !p->reach) ||
         fail(g, "used", 1, "0: not all of each example is looked at, by masked, guided or reach");
}

bool objective_check(r4_graph *g, const r4_net *n, const r4_objective_options *p)
{
  if (!check_used(g, p)) return false;
  if (!check_sizes(g, n, p) || !check_reach(g, n, p) || !check_leaf(g, n, p)) return false;
  if (!check_choices(g, p) || !check_words(g, n, p) || !check_data_term(g, n, p)) return false;
  for (size_t k = 0; k < R4_TERMS; k++)
    if (!check_weight(g, objective_weight_names[k], p->lambda[k])) return false;
  if (!check_weight(g, "eps", p->eps) || !check_weight(g, "weight_penalty", p->weight_penalty)) return false;
  if (!check_weight(g, "noise", p->noise) || !check_weight(g, "word_share", p->word_share)) return false;
  if (!isfinite(p->alpha)) return fail(g, "alpha", p->alpha, "a finite number");
  return check_range(g, p);
}
