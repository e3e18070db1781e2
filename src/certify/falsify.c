#include "certify/falsify.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static r4_plan *compile(const struct falsifier *f, const r4_net *n, r4_type type, r4_error *e)
{
  r4_shape in = r4_net_input(n), shape = {.rank = in.rank + 1, .dim = {(int64_t)f->batch}};
  int64_t rows = (int64_t)f->batch, times = (int64_t)f->functionals, classes = (int64_t)f->classes;
  r4_id *param = mem_new(r4_net_params(n) + 1, sizeof *param, "an attack", e);
  r4_graph *g = param ? r4_graph_new() : NULL;
  if (!g) {
    r4_mem_free(param);
    r4_fail(e, R4_E_MEMORY, "out of memory for an attack");
    return NULL;
  }
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  r4_net_inputs(n, g, param);
  r4_id x = r4_input(g, "attacked", shape), z = r4_net_apply(n, g, param, x), out[2];
  r4_id each = r4_mul(g, r4_reshape(g, z, R4_SHAPE(rows, 1, classes)),
                      r4_input(g, "functional", R4_SHAPE(rows, times, classes)));
  r4_id all = r4_add(g, r4_sum(g, each, R4_AXIS(2)), r4_input(g, "rest", R4_SHAPE(rows, times)));
  out[0] = r4_reduce_max(g, all, R4_AXIS(1));
  r4_grad(g, r4_sum(g, out[0], R4_ALL), 1, &x, &out[1]);
  r4_plan *p = r4_plan_new(g, type == R4_F32 ? 2 : 1, out, &(r4_plan_options){.type = type}, e);
  r4_mem_free(param);
  r4_graph_free(g);
  return p;
}

static r4_status bind(r4_plan *p, const struct weighted *n, r4_type type, const void *x, const void *coef,
                      const void *rest, void *value, r4_error *e)
{
  r4_status s = r4_plan_input(p, "attacked", x, e);
  for (size_t k = 0; k < r4_net_params(n->net) && !s; k++) {
    size_t at = r4_net_param_offset(n->net, k);
    const void *w = type == R4_F32 ? (const void *)(n->near + at) : (const void *)(n->exact + at);
    s = r4_plan_input(p, r4_net_param_name(n->net, k), w, e);
  }
  if (!s) s = r4_plan_input(p, "functional", coef, e);
  if (!s) s = r4_plan_input(p, "rest", rest, e);
  return s ? s : r4_plan_output(p, 0, value, e);
}

static r4_status make_room(struct falsifier *f, r4_error *e)
{
  size_t each = f->batch * f->features, n = f->batch * f->functionals;
  double *at = f->lo = mem_new(3 * each + n * (f->classes + 1) + f->batch, sizeof *at, "an attack", e);
  float *near = at ? mem_new(3 * each + n * (f->classes + 1) + 2 * f->batch, sizeof *near, "an attack", e) : NULL;
  f->near = near;
  if (!near) return R4_E_MEMORY;
  f->hi = at += each, f->at = at += each, f->coef = at += each;
  f->rest = at += n * f->classes;
  f->lowest = at + n;
  f->x = near, f->slope = near += each, f->best = near += each, f->functional = near += each;
  f->added = near += n * f->classes;
  f->value = near += n;
  f->least = near + f->batch;
  return R4_OK;
}

static r4_status open_falsifier(struct falsifier *f, const struct weighted *n, r4_error *e)
{
  r4_status s = make_room(f, e);
  if (!s && !(f->look = compile(f, n->net, R4_F32, e))) s = e->status;
  if (!s && !(f->judge = compile(f, n->net, R4_F64, e))) s = e->status;
  if (!s) s = bind(f->look, n, R4_F32, f->x, f->functional, f->added, f->value, e);
  if (!s) s = r4_plan_output(f->look, 1, f->slope, e);
  return s ? s : bind(f->judge, n, R4_F64, f->at, f->coef, f->rest, f->lowest, e);
}

struct falsifier *falsifier_new(const struct weighted *n, size_t batch, size_t functionals, r4_error *e)
{
  struct falsifier *f = mem_new(1, sizeof *f, "an attack", e);
  if (!f) return NULL;
  *f = (struct falsifier){.batch = batch, .functionals = functionals, .classes = (size_t)r4_net_classes(n->net),
                          .features = (size_t)r4_shape_count(r4_net_input(n->net))};
  if (!open_falsifier(f, n, e)) return f;
  falsifier_free(f);
  return NULL;
}

void falsifier_free(struct falsifier *f)
{
  if (!f) return;
  r4_plan_free(f->look);
  r4_plan_free(f->judge);
  r4_mem_free(f->lo);
  r4_mem_free(f->near);
  r4_mem_free(f);
}

static void begin(struct falsifier *f)
{
  for (size_t k = 0; k < f->batch * f->features; k++) f->x[k] = (float)f->at[k];
  for (size_t k = 0; k < f->batch * f->functionals * f->classes; k++) f->functional[k] = (float)f->coef[k];
  for (size_t k = 0; k < f->batch * f->functionals; k++) f->added[k] = (float)f->rest[k];
  for (size_t row = 0; row < f->batch; row++) f->least[row] = INFINITY;
}

static void keep_lowest(struct falsifier *f)
{
  for (size_t row = 0; row < f->batch; row++) {
    if (!(f->value[row] < f->least[row])) continue;
    f->least[row] = f->value[row];
    memcpy(f->best + row * f->features, f->x + row * f->features, f->features * sizeof *f->x);
  }
}

static void step(struct falsifier *f, double size)
{
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < f->batch * f->features; k++) {
    float by = f->slope[k];
    double way = size * (f->hi[k] - f->lo[k]), to = (double)f->x[k] - (by > 0 ? way : by < 0 ? -way : 0);
    f->x[k] = (float)fmin(fmax(to, f->lo[k]), f->hi[k]);
  }
}

/* Floats near an end may be outside of the box: it is the number inside that is judged. */
static r4_status judge(struct falsifier *f, r4_error *e)
{
  for (size_t k = 0; k < f->batch * f->features; k++)
    f->at[k] = fmin(fmax((double)f->best[k], f->lo[k]), f->hi[k]);
  return r4_plan_run(f->judge, e);
}

r4_status falsifier_search(struct falsifier *f, int steps, r4_error *e)
{
  begin(f);
  r4_status s = r4_plan_run(f->look, e);
  for (int k = 0; k < steps && !s; k++) {
    keep_lowest(f);
    step(f, ldexp(1, -(k % 6)));
    s = r4_plan_run(f->look, e);
  }
  bool any = false;
  if (!s) keep_lowest(f);
  for (size_t row = 0; row < f->batch; row++) {
    any |= f->least[row] < 1e-3F;
    f->lowest[row] = INFINITY;
  }
  return s || !any ? s : judge(f, e);
}
