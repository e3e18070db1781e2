/* Specifications of others (certify/vnnlib.h): each case of one is a question to branch and bound, that none of its
 * points fulfils all constraints. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "certify/brancher.h"
#include "certify/vnnlib.h"
#include "module/net.h"
#include "op/sound.h"
#include "r4.h"

enum { STARTS = 14 };

struct verifier {
  const r4_model *m;
  const r4_net *net;
  struct vnn_spec spec;
  const char *path;
  struct brancher *brancher;
  double *lo, *hi, *point;         /* [inputs], in the order of the net; ends from outside */
  double *lo_inside, *hi_inside;   /* where they are between the ends without any doubt */
  double *coef, *spread, *rest;    /* of all constraints, negated: [atoms, outputs] twice, [atoms] */
  size_t *place;                   /* [inputs]: where an input of the file is in the net */
  struct branch_question *question; /* [cases] */
  double end;
  r4_verification *to;
};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- What is asked ---- */

static r4_status check(const struct verifier *v, r4_error *e)
{
  const struct vnn_spec *s = &v->spec;
  size_t inputs = (size_t)r4_shape_count(r4_net_input(v->net)), outputs = (size_t)r4_net_classes(v->net);
  if (r4_net_vocabulary(v->net) > 0)
    return r4_fail(e, R4_E_ARGUMENT, "verify: the net takes tokens, a specification is about numbers");
  if (s->inputs != inputs || s->outputs != outputs)
    return r4_fail(e, R4_E_SHAPE, "%s: declares %zu inputs and %zu outputs, the net has %zu and %zu", v->path,
                   s->inputs, s->outputs, inputs, outputs);
  return R4_OK;
}

static bool is_one(struct vnn_number v, double one)
{
  return v.lo >= one && v.hi <= one;
}

/* Which of two classes is larger is the same before a softmax, and what else is asked is not. */
static r4_status check_softmax(const struct verifier *v, const struct vnn_atom *a, r4_error *e)
{
  size_t up = 0, down = 0, none = 0;
  for (size_t k = 0; k < a->parts; k++) {
    up += is_one(a->part[k].factor, 1), down += is_one(a->part[k].factor, -1);
    none += is_one(a->part[k].factor, 0);
  }
  bool compares = up == 1 && down == 1 && up + down + none == a->parts && is_one(a->rest, 0);
  if (!model_has_softmax(v->m) || compares) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s: the net ends with a softmax, of which r4 compares two outputs and no more",
                 v->path);
}

/* Image features of the file are channels first. */
static void find_places(struct verifier *v)
{
  r4_shape s = r4_net_input(v->net);
  bool first = s.rank == 3 && !model_channels_last(v->m);
  size_t channels = first ? (size_t)s.dim[2] : 1, pixels = v->spec.inputs / channels;
  for (size_t k = 0; k < v->spec.inputs; k++) v->place[k] = k % pixels * channels + k / pixels;
}

static void set_end(const struct verifier *v, const struct vnn_atom *a)
{
  size_t at = v->place[a->part[0].index];
  if (a->upper) {
    v->hi[at] = fmin(v->hi[at], a->rest.hi);
    v->hi_inside[at] = fmin(v->hi_inside[at], a->rest.lo);
  } else {
    v->lo[at] = fmax(v->lo[at], a->rest.lo);
    v->lo_inside[at] = fmax(v->lo_inside[at], a->rest.hi);
  }
}

/* The box of case k; false: it has no point. */
static bool set_box(const struct verifier *v, size_t k)
{
  const struct vnn_spec *s = &v->spec;
  bool some = true;
  for (size_t i = 0; i < s->inputs; i++) {
    v->lo[i] = v->lo_inside[i] = -INFINITY;
    v->hi[i] = v->hi_inside[i] = INFINITY;
  }
  for (size_t i = 0; i < s->common.atoms; i++)
    if (s->atom[s->common.atom[i]].input) set_end(v, &s->atom[s->common.atom[i]]);
  for (size_t i = 0; i < s->kase[k].atoms; i++)
    if (s->atom[s->kase[k].atom[i]].input) set_end(v, &s->atom[s->kase[k].atom[i]]);
  for (size_t i = 0; i < s->inputs; i++) some &= v->lo[i] <= v->hi[i];
  return some;
}

static bool has_box(const struct verifier *v, size_t k)
{
  bool has = false;
  for (size_t i = 0; i < v->spec.kase[k].atoms; i++) has |= v->spec.atom[v->spec.kase[k].atom[i]].input;
  return has;
}

static r4_status check_box(const struct verifier *v, r4_error *e)
{
  for (size_t i = 0; i < v->spec.inputs; i++)
    if (!isfinite(v->lo[v->place[i]]) || !isfinite(v->hi[v->place[i]]))
      return r4_fail(e, R4_E_ARGUMENT, "%s: X_%zu has no %s end, expected both", v->path, i,
                     isfinite(v->lo[v->place[i]]) ? "upper" : "lower");
  return R4_OK;
}

/* The negation of sum_k c_k Y_k + r >= 0 is sum_k -c_k Y_k - r > 0, for the largest r that may be meant. */
static r4_status add_constraint(struct verifier *v, size_t *n, const struct vnn_atom *a, r4_error *e)
{
  if (a->input) return R4_OK;
  size_t first = *n * v->spec.outputs;
  for (size_t k = 0; k < a->parts; k++) {
    struct vnn_number c = a->part[k].factor;
    v->coef[first + a->part[k].index] = -c.hi;
    v->spread[first + a->part[k].index] = c.lo < c.hi ? sound_up(c.hi - c.lo) : 0;
  }
  v->rest[(*n)++] = -a->rest.hi;
  return check_softmax(v, a, e);
}

/* Those of all cases first. */
static r4_status add_constraints(struct verifier *v, size_t *n, const struct vnn_case *c, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t i = 0; i < c->atoms && !s; i++) s = add_constraint(v, n, &v->spec.atom[c->atom[i]], e);
  return s;
}

static size_t count_constraints(const struct vnn_spec *s, const struct vnn_case *c)
{
  size_t n = 0;
  for (size_t i = 0; i < c->atoms; i++) n += !s->atom[c->atom[i]].input;
  return n;
}

/* For every point of the box of case k the negation of one of its constraints is true. */
static r4_status ask(struct verifier *v, size_t k, size_t *n, struct branch_question *to, r4_error *e)
{
  size_t first = *n, at = first * v->spec.outputs;
  r4_status s = add_constraints(v, n, &v->spec.common, e);
  if (!s) s = add_constraints(v, n, &v->spec.kase[k], e);
  *to = (struct branch_question){
    .functionals = *n - first, .coef = v->coef + at, .spread = v->spread + at, .rest = v->rest + first};
  return s;
}

static r4_status count_all(const struct verifier *v, size_t *all, size_t *most, r4_error *e)
{
  const struct vnn_spec *s = &v->spec;
  size_t common = count_constraints(s, &s->common);
  *all = *most = 0;
  for (size_t k = 0; k < s->cases; k++) {
    size_t n = common + count_constraints(s, &s->kase[k]);
    if (!n) return r4_fail(e, R4_E_ARGUMENT, "%s: a case has no constraint on outputs", v->path);
    if (n > BRANCH_FUNCTIONALS)
      return r4_fail(e, R4_E_ARGUMENT, "%s: a case has %zu constraints on outputs, expected at most %d", v->path, n,
                     BRANCH_FUNCTIONALS);
    *all += n;
    if (n > *most) *most = n;
  }
  return R4_OK;
}

static r4_status ask_all(struct verifier *v, size_t *most, r4_error *e)
{
  size_t all, n = 0, outputs = v->spec.outputs;
  r4_status s = count_all(v, &all, most, e);
  if (s) return s;
  v->coef = mem_new(all * (2 * outputs + 1), sizeof *v->coef, "constraints", e);
  v->question = v->coef ? mem_new(v->spec.cases, sizeof *v->question, "constraints", e) : NULL;
  if (!v->question) return R4_E_MEMORY;
  v->spread = v->coef + all * outputs;
  v->rest = v->spread + all * outputs;
  for (size_t k = 0; k < v->spec.cases && !s; k++) s = ask(v, k, &n, &v->question[k], e);
  return s;
}

/* ---- Answers ---- */

/* The net at the point that was found, in double. */
static r4_status run_net(struct verifier *v, r4_error *e)
{
  const r4_net *n = v->net;
  r4_shape in = r4_net_input(n), shape = {.rank = in.rank + 1, .dim = {1}};
  size_t size = r4_net_size(n);
  double *weights = mem_new(size + 1, sizeof *weights, "weights", e);
  r4_id *param = weights ? mem_new(r4_net_params(n) + 1, sizeof *param, "a net's graph", e) : NULL;
  r4_graph *g = param ? r4_graph_new() : NULL;
  r4_plan *p = NULL;
  r4_status s = g ? R4_OK : r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  for (size_t k = 0; k < size && !s; k++) weights[k] = (double)r4_model_weights(v->m)[k];
  if (!s) {
    r4_net_inputs(n, g, param);
    r4_id z = r4_net_apply(n, g, param, r4_input(g, "x", shape));
    p = r4_plan_new(g, 1, &z, &(r4_plan_options){.type = R4_F64}, e);
    s = p ? r4_plan_input(p, "x", v->point, e) : e->status;
  }
  for (size_t k = 0; k < r4_net_params(n) && !s; k++)
    s = r4_plan_input(p, r4_net_param_name(n, k), weights + r4_net_param_offset(n, k), e);
  if (!s) s = r4_plan_output(p, 0, v->to->y, e);
  if (!s) s = r4_plan_run(p, e);
  r4_plan_free(p);
  r4_graph_free(g);
  r4_mem_free(param);
  r4_mem_free(weights);
  return s;
}

/* sum_k c_k y_k + r >= 0 for all c_k and r that may be meant; in double, as y is. */
static bool is_fulfilled(const struct vnn_atom *a, const double *y)
{
  double sum = a->rest.lo;
  for (size_t k = 0; k < a->parts && !a->input; k++) {
    struct vnn_number c = a->part[k].factor;
    sum += fmin(c.lo * y[a->part[k].index], c.hi * y[a->part[k].index]);
  }
  return a->input || sum >= 0;
}

static bool all_fulfilled(const struct verifier *v, const struct vnn_case *c)
{
  bool all = true;
  for (size_t k = 0; k < c->atoms; k++) all &= is_fulfilled(&v->spec.atom[c->atom[k]], v->to->y);
  return all;
}

/* Into the box as the file has it; an input whose ends are one decimal that no double is takes what is next to it. */
static void move_inside(struct verifier *v)
{
  for (size_t k = 0; k < v->spec.inputs; k++)
    if (v->lo_inside[k] <= v->hi_inside[k])
      v->point[k] = fmin(fmax(v->point[k], v->lo_inside[k]), v->hi_inside[k]);
    else
      v->point[k] = v->lo[k] / 2 + v->hi[k] / 2;
}

static void forget_point(r4_verification *v)
{
  r4_mem_free(v->x);
  r4_mem_free(v->y);
  v->x = v->y = NULL;
}

/* The point that was found in the box of case k. What the net makes of it decides: else nothing is known. */
static r4_status take_point(struct verifier *v, size_t k, r4_error *e)
{
  r4_verification *to = v->to;
  forget_point(to);
  to->x = mem_new(v->spec.inputs, sizeof *to->x, "a counter-example", e);
  to->y = to->x ? mem_new(v->spec.outputs, sizeof *to->y, "a counter-example", e) : NULL;
  if (!to->y) return R4_E_MEMORY;
  move_inside(v);
  for (size_t i = 0; i < v->spec.inputs; i++) to->x[i] = v->point[v->place[i]];
  r4_status s = run_net(v, e);
  if (!s && all_fulfilled(v, &v->spec.common) && all_fulfilled(v, &v->spec.kase[k])) to->is = R4_VERIFY_VIOLATED;
  return s;
}

/* Cases first .. next share a box. */
static r4_status one_box(struct verifier *v, size_t first, size_t n, bool *open, r4_error *e)
{
  struct branch_options o = {.seconds = v->end - now(), .equal = true, .starts = STARTS};
  struct branch_result r;
  if (!set_box(v, first)) return R4_OK;
  r4_status s = check_box(v, e);
  if (s) return s;
  *open |= o.seconds <= 0;
  if (o.seconds <= 0) return R4_OK;
  s = brancher_run(v->brancher, v->lo, v->hi, n, v->question + first, &o, v->point, &r, e);
  if (s) return s;
  v->to->subproblems += r.leaves;
  *open |= r.is != BRANCH_PROVED;
  return r.is == BRANCH_REFUTED ? take_point(v, first + r.refuted, e) : R4_OK;
}

static r4_status all_boxes(struct verifier *v, r4_error *e)
{
  bool open = false;
  r4_status s = R4_OK;
  for (size_t k = 0, n; k < v->spec.cases && !s && v->to->is != R4_VERIFY_VIOLATED; k += n) {
    n = 1;
    while (!has_box(v, k) && k + n < v->spec.cases && !has_box(v, k + n)) n++;
    s = one_box(v, k, n, &open, e);
  }
  if (!s && !open) v->to->is = R4_VERIFY_HOLDS;
  if (!s && v->to->is != R4_VERIFY_VIOLATED) forget_point(v->to);
  return s;
}

static r4_status open_verifier(struct verifier *v, r4_error *e)
{
  size_t n = v->spec.inputs, most;
  v->lo = mem_new(5 * n, sizeof *v->lo, "a box", e);
  v->place = v->lo ? mem_new(n, sizeof *v->place, "a box", e) : NULL;
  if (!v->place) return R4_E_MEMORY;
  v->hi = v->lo + n, v->point = v->hi + n;
  v->lo_inside = v->point + n, v->hi_inside = v->lo_inside + n;
  find_places(v);
  r4_status s = ask_all(v, &most, e);
  if (s) return s;
  v->brancher = brancher_new(v->net, r4_model_weights(v->m), most, e);
  return v->brancher ? R4_OK : R4_E_MEMORY;
}

r4_status r4_verify(const r4_model *m, const char *vnnlib, double seconds, r4_verification *to, r4_error *e)
{
  NEEDS(m, "a model", R4_E_ARGUMENT);
  NEEDS(vnnlib, "a specification", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  *to = (r4_verification){.is = R4_VERIFY_UNKNOWN};
  if (!(seconds > 0) || !isfinite(seconds))
    return r4_fail(e, R4_E_ARGUMENT, "verify: %g seconds, expected a number above 0", seconds);
  double began = now();
  struct verifier v = {.m = m, .net = r4_model_net(m), .path = vnnlib, .end = began + seconds, .to = to};
  r4_status s = vnnlib_read(&v.spec, vnnlib, e);
  if (s) return s;
  to->inputs = v.spec.inputs, to->outputs = v.spec.outputs;
  s = check(&v, e);
  if (!s) s = open_verifier(&v, e);
  if (!s) s = all_boxes(&v, e);
  to->seconds = now() - began;
  brancher_free(v.brancher);
  r4_mem_free(v.lo);
  r4_mem_free(v.place);
  r4_mem_free(v.coef);
  r4_mem_free(v.question);
  vnnlib_free(&v.spec);
  if (s) r4_verification_free(to);
  return s;
}

void r4_verification_free(r4_verification *v)
{
  if (!v) return;
  forget_point(v);
  *v = (r4_verification){.is = R4_VERIFY_UNKNOWN};
}
