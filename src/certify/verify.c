/* Specifications of others (certify/vnnlib.h): each case of one is a question to branch and bound, that none of its
 * points fulfils all constraints. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "certify/brancher.h"
#include "certify/vnnlib.h"
#include "module/net.h"
#include "r4.h"

enum { STARTS = 14 };

struct verifier {
  const r4_model *m;
  const r4_net *net;
  struct vnn_spec spec;
  const char *path;
  struct brancher *brancher;
  double *lo, *hi, *point;         /* [inputs], in the order of the net */
  double *coef, *rest;             /* of all constraints, negated: [atoms, outputs], [atoms] */
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

/* Which of two classes is larger is the same before a softmax, and what else is asked is not. */
static r4_status check_softmax(const struct verifier *v, const struct vnn_atom *a, r4_error *e)
{
  size_t up = 0, down = 0, other = 0;
  for (size_t k = 0; k < v->spec.outputs; k++) {
    up += a->coef[k] == 1, down += a->coef[k] == -1;
    other += a->coef[k] != 0 && fabs(a->coef[k]) != 1;
  }
  if (!model_has_softmax(v->m) || (up == 1 && down == 1 && !other && a->rest == 0)) return R4_OK;
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
  size_t at = v->place[a->index];
  if (a->upper)
    v->hi[at] = fmin(v->hi[at], a->end);
  else
    v->lo[at] = fmax(v->lo[at], a->end);
}

/* The box of case k; false: it has no point. */
static bool set_box(const struct verifier *v, size_t k)
{
  const struct vnn_spec *s = &v->spec;
  bool some = true;
  for (size_t i = 0; i < s->inputs; i++) v->lo[i] = -INFINITY, v->hi[i] = INFINITY;
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

static r4_status add_constraint(struct verifier *v, size_t *n, const struct vnn_atom *a, r4_error *e)
{
  if (a->input) return R4_OK;
  size_t outputs = v->spec.outputs;
  for (size_t k = 0; k < outputs; k++) v->coef[*n * outputs + k] = -a->coef[k];
  v->rest[(*n)++] = -a->rest;
  return check_softmax(v, a, e);
}

/* Constraints of case k, those of all cases first: for every point of its box the negation of one is true. */
static r4_status ask(struct verifier *v, size_t k, size_t *n, struct branch_question *to, r4_error *e)
{
  const struct vnn_spec *s = &v->spec;
  size_t first = *n;
  r4_status status = R4_OK;
  *to = (struct branch_question){.coef = v->coef + first * s->outputs, .rest = v->rest + first};
  for (size_t i = 0; i < s->common.atoms && !status; i++)
    status = add_constraint(v, n, &s->atom[s->common.atom[i]], e);
  for (size_t i = 0; i < s->kase[k].atoms && !status; i++)
    status = add_constraint(v, n, &s->atom[s->kase[k].atom[i]], e);
  to->functionals = *n - first;
  if (status || to->functionals) return status;
  return r4_fail(e, R4_E_ARGUMENT, "%s: a case has no constraint on outputs", v->path);
}

static r4_status ask_all(struct verifier *v, size_t *most, r4_error *e)
{
  const struct vnn_spec *s = &v->spec;
  size_t all = 0, n = 0;
  r4_status status = R4_OK;
  for (size_t k = 0; k < s->cases; k++) all += s->kase[k].atoms + s->common.atoms;
  v->coef = mem_new(all * (s->outputs + 1) + 1, sizeof *v->coef, "constraints", e);
  v->question = v->coef ? mem_new(s->cases, sizeof *v->question, "constraints", e) : NULL;
  if (!v->question) return R4_E_MEMORY;
  v->rest = v->coef + all * s->outputs;
  *most = 1;
  for (size_t k = 0; k < s->cases && !status; k++) {
    status = ask(v, k, &n, &v->question[k], e);
    if (v->question[k].functionals > *most) *most = v->question[k].functionals;
  }
  return status;
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

/* Whether what the net gives fulfils all constraints of a question. */
static bool fulfils(const struct verifier *v, const struct branch_question *q)
{
  bool all = true;
  for (size_t k = 0; k < q->functionals; k++) {
    double sum = q->rest[k];
    for (size_t j = 0; j < v->spec.outputs; j++) sum += q->coef[k * v->spec.outputs + j] * v->to->y[j];
    all &= sum <= 0;
  }
  return all;
}

static r4_status take_point(struct verifier *v, const struct branch_question *q, r4_error *e)
{
  v->to->x = mem_new(v->spec.inputs, sizeof *v->to->x, "a counter-example", e);
  v->to->y = v->to->x ? mem_new(v->spec.outputs, sizeof *v->to->y, "a counter-example", e) : NULL;
  if (!v->to->y) return R4_E_MEMORY;
  for (size_t k = 0; k < v->spec.inputs; k++) v->to->x[k] = v->point[v->place[k]];
  r4_status s = run_net(v, e);
  if (!s && fulfils(v, q)) v->to->is = R4_VERIFY_VIOLATED;
  return s;
}

/* Cases first .. next share a box. */
static r4_status one_box(struct verifier *v, size_t first, size_t n, bool *open, r4_error *e)
{
  struct branch_options o = {.seconds = v->end - now(), .equal = true, .starts = STARTS};
  struct branch_result r;
  if (!set_box(v, first)) return R4_OK;
  r4_status s = check_box(v, e);
  if (!s) s = brancher_run(v->brancher, v->lo, v->hi, n, v->question + first, &o, v->point, &r, e);
  if (s) return s;
  v->to->subproblems += r.leaves;
  *open |= r.is != BRANCH_PROVED;
  return r.is == BRANCH_REFUTED ? take_point(v, &v->question[first + r.refuted], e) : R4_OK;
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
  return s;
}

static r4_status open_verifier(struct verifier *v, r4_error *e)
{
  size_t n = v->spec.inputs, most;
  v->lo = mem_new(3 * n, sizeof *v->lo, "a box", e);
  v->place = v->lo ? mem_new(n, sizeof *v->place, "a box", e) : NULL;
  if (!v->place) return R4_E_MEMORY;
  v->hi = v->lo + n, v->point = v->hi + n;
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
  r4_mem_free(v->x);
  r4_mem_free(v->y);
  *v = (r4_verification){.is = R4_VERIFY_UNKNOWN};
}
