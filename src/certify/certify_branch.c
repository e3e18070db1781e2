/* The claim "box" where bounds of the whole box do not tell: branch and bound, example by example. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "certify/box.h"
#include "certify/brancher.h"
#include "r4.h"

enum { STARTS = 12 };

struct certifier {
  const r4_net *net;
  const r4_data *d;
  const r4_certify_options *o;
  struct box box;
  struct brancher *brancher;
  size_t features, classes, questions;
  double *lo, *hi, *point, *coef;
  float *value, *mask;
  struct branch_question *question; /* [classes] */
  r4_certified *to;
};

static const double none; /* what is added to a margin */

/* z_own - z_j > 0 for every other class j. Of one output: z > 0 for class 1, -z > 0 for class 0. */
static void ask(struct certifier *c, int32_t own)
{
  c->questions = 0;
  memset(c->coef, 0, c->classes * c->classes * sizeof *c->coef);
  for (size_t j = 0; j < c->classes; j++) {
    double *coef = c->coef + j * c->classes;
    if (c->classes > 1 && j == (size_t)own) continue;
    coef[j] = -1;
    if (c->classes > 1)
      coef[own] = 1;
    else
      coef[0] = own ? 1 : -1;
    c->question[c->questions++] = (struct branch_question){.functionals = 1, .coef = coef, .rest = &none};
  }
}

static void take(const struct branch_result *r, r4_certified *to)
{
  to->broken |= r->is == BRANCH_REFUTED;
  if (r->is != BRANCH_PROVED || !(r->least > to->margin)) return;
  to->margin = r->least;
  to->holds = to->margin > 0 && to->margin < INFINITY;
  to->by = to->holds ? R4_PROVED_BRANCHING : R4_PROVED_NOT;
}

static r4_status one_example(struct certifier *c, size_t i, r4_error *e)
{
  struct branch_options o = {.seconds = c->o->seconds, .starts = STARTS};
  struct branch_result r;
  r4_data_values(c->d, i, c->value);
  r4_data_mask(c->d, i, c->mask);
  box_ends(&c->box, c->features, c->value, c->mask, c->lo, c->hi);
  ask(c, c->to[i].predicted);
  r4_status s = brancher_run(c->brancher, c->lo, c->hi, c->questions, c->question, &o, c->point, &r, e);
  if (!s) take(&r, &c->to[i]);
  return s;
}

static bool is_open(const struct certifier *c, size_t i)
{
  const r4_certified *x = &c->to[i];
  return x->predicted == x->label && x->predicted >= 0 && !x->holds && !x->broken;
}

static r4_status all_examples(struct certifier *c, r4_error *e)
{
  size_t n = r4_data_count(c->d), all = 0, done = 0;
  r4_status s = R4_OK;
  for (size_t i = 0; i < n; i++) all += is_open(c, i);
  for (size_t i = 0; i < n && !s; i++) {
    if (!is_open(c, i)) continue;
    s = one_example(c, i, e);
    if (!s && c->o->progress && !c->o->progress(++done, all, c->o->user))
      s = r4_fail(e, R4_E_ARGUMENT, "certify: branching was stopped after %zu of %zu examples", done, all);
  }
  return s;
}

static r4_status open_certifier(struct certifier *c, const float *weights, r4_error *e)
{
  size_t classes = c->classes;
  c->lo = mem_new(3 * c->features + classes * classes, sizeof *c->lo, "branch and bound", e);
  c->value = c->lo ? mem_new(2 * c->features, sizeof *c->value, "branch and bound", e) : NULL;
  c->question = c->value ? mem_new(classes, sizeof *c->question, "branch and bound", e) : NULL;
  if (!c->question) return R4_E_MEMORY;
  c->mask = c->value + c->features;
  c->hi = c->lo + c->features, c->point = c->hi + c->features;
  c->coef = c->point + c->features;
  c->brancher = brancher_new(c->net, weights, 1, e);
  return c->brancher ? R4_OK : R4_E_MEMORY;
}

static void close_certifier(struct certifier *c)
{
  brancher_free(c->brancher);
  r4_mem_free(c->lo);
  r4_mem_free(c->value);
  r4_mem_free(c->question);
}

static r4_status check(const r4_net *n, const r4_data *d, const r4_certify_options *o, r4_error *e)
{
  if (r4_data_vocabulary(d) > 0 || r4_shape_count(r4_net_input(n)) != r4_shape_count(r4_data_shape(d)))
    return r4_fail(e, R4_E_SHAPE, "certify: the shape of the examples does not fit the net");
  if (o->semantics != R4_SEMANTICS_REAL)
    return r4_fail(e, R4_E_ARGUMENT, "certify: branching is about real arithmetic; expected the semantics real");
  if (!(o->seconds > 0) || !isfinite(o->seconds))
    return r4_fail(e, R4_E_ARGUMENT, "certify: %g seconds for each example, expected a number above 0", o->seconds);
  return R4_OK;
}

r4_status r4_branch_box(const r4_net *n, const float *weights, const r4_data *d, const r4_certify_options *options,
                        r4_certified *x, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(options, "options", R4_E_ARGUMENT);
  NEEDS(x, "what was certified", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct certifier c = {.net = n, .d = d, .o = options, .to = x, .classes = (size_t)r4_net_classes(n),
                        .features = (size_t)r4_shape_count(r4_net_input(n))};
  r4_status s = check(n, d, options, e);
  if (!s) s = box_read(&c.box, options->eps, options->low, options->high, e);
  if (!s) s = open_certifier(&c, weights, e);
  if (!s) s = all_examples(&c, e);
  close_certifier(&c);
  return s;
}
