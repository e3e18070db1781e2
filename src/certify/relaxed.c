#include "certify/relaxed.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "op/sound.h"

enum { MOST_ELEMENTS = 1 << 22 };

/* ---- The graph ---- */

/* The net of so many rows, its relus, and node y: the argument of relu k, or the logits. */
struct made {
  r4_graph *g;
  r4_id x, y;
  r4_shape shape;
};

static r4_status make(struct made *m, const r4_net *n, size_t batch, r4_error *e)
{
  r4_shape in = r4_net_input(n);
  r4_id *param = mem_new(r4_net_params(n) + 1, sizeof *param, "a net's graph", e);
  *m = (struct made){.g = param ? r4_graph_new() : NULL, .shape = {.rank = in.rank + 1, .dim = {(int64_t)batch}}};
  if (!m->g) {
    r4_mem_free(param);
    return r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  }
  memcpy(m->shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  r4_net_inputs(n, m->g, param);
  m->x = r4_input(m->g, "x", m->shape);
  m->y = r4_net_apply(n, m->g, param, m->x);
  r4_mem_free(param);
  return R4_OK;
}

/* Least values of functionals of y [rows, width], one for each row. */
static r4_id least_of(const struct made *m, r4_id y, r4_id coef, struct linear_relus *relus)
{
  r4_box box = r4_box_between(m->x, r4_input(m->g, "lo", m->shape), r4_input(m->g, "hi", m->shape));
  r4_bound_options options = {.method = R4_BOUND_BEST, .inner_intervals = relus->given};
  return bound_least(m->g, y, 1, &box, &options, coef, 1, relus);
}

static r4_status graph_error(const r4_graph *g, r4_error *e)
{
  const char *message;
  r4_status s = r4_graph_status(g, &message);
  return s ? r4_fail(e, s, "%s", message) : R4_OK;
}

/* What x reaches below y has linear rules. */
static r4_status check_rules(const struct made *m, r4_error *e)
{
  bool *moves = mem_new(m->y.i + 1, sizeof *moves, "a net's graph", e);
  r4_status s = moves ? R4_OK : R4_E_MEMORY;
  for (uint32_t i = m->x.i; i <= m->y.i && !s; i++) {
    const struct node *n = graph_node(m->g, (r4_id){i});
    moves[i] = i == m->x.i;
    for (uint32_t k = 0; k < n->arity; k++) moves[i] |= moves[graph_arg(m->g, (r4_id){i}, k).i];
    if (moves[i] && i > m->x.i && !n->op->linear)
      s = r4_fail(e, R4_E_RULE, "%s has no linear rule, which branching needs", n->op->name);
  }
  r4_mem_free(moves);
  return s;
}

/* ---- Ends ---- */

static r4_status list_units(const struct made *m, const struct linear_relus *relus, struct relaxed_units *to,
                            r4_error *e)
{
  *to = (struct relaxed_units){.relus = relus->n,
                               .features = (size_t)r4_shape_count(m->shape) / (size_t)m->shape.dim[0],
                               .logits = (size_t)r4_node_shape(m->g, m->y).dim[1]};
  for (size_t k = 0; k < relus->n; k++) {
    r4_id y = relus->relu[k].y;
    to->relu[k] = y.i;
    to->argument[k] = graph_arg(m->g, y, 0).i;
    to->first[k + 1] = to->first[k] + (size_t)r4_shape_count(r4_node_shape(m->g, y)) / (size_t)m->shape.dim[0];
  }
  to->units = to->first[to->relus];
  return to->units < UINT32_MAX - to->features ? R4_OK : r4_fail(e, R4_E_ARGUMENT, "the net has too many relus");
}

static r4_status bind_weights(struct encloser *c, const struct weighted *n, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(n->net) && !s; k++) {
    const double *p = n->exact + r4_net_param_offset(n->net, k);
    s = encloser_input(c, r4_net_param_name(n->net, k), p, p, e);
  }
  return s;
}

static r4_status enclose_ends(const struct made *m, const struct linear_relus *relus, const struct weighted *n,
                              const double *lo, const double *hi, double *least, double *most, r4_error *e)
{
  r4_id out[2 * MOST_RELUS];
  for (size_t k = 0; k < relus->n; k++) out[2 * k] = relus->relu[k].lo, out[2 * k + 1] = relus->relu[k].hi;
  struct encloser *c = encloser_new(m->g, 2 * relus->n, out, R4_SEMANTICS_REAL, e);
  r4_status s = c ? bind_weights(c, n, e) : e->status;
  if (!s) s = encloser_input(c, "lo", lo, lo, e);
  if (!s) s = encloser_input(c, "hi", hi, hi, e);
  if (!s) s = encloser_run(c, e);
  for (size_t k = 0; k < relus->n && !s; k++) {
    size_t count = (size_t)r4_shape_count(r4_node_shape(m->g, out[2 * k]));
    memcpy(least, encloser_lo(c, out[2 * k]), count * sizeof *least);
    memcpy(most, encloser_hi(c, out[2 * k + 1]), count * sizeof *most);
    least += count, most += count;
  }
  encloser_free(c);
  return s;
}

r4_status relaxed_ends(const struct weighted *n, const double *lo, const double *hi, struct relaxed_units *units,
                       double **least, double **most, r4_error *e)
{
  struct made m;
  struct linear_relus relus = {.given = false};
  r4_status s = make(&m, n->net, 1, e);
  *least = NULL;
  if (s) return s;
  s = graph_error(m.g, e);
  if (!s) least_of(&m, m.y, r4_const(m.g, 0, r4_node_shape(m.g, m.y)), &relus);
  if (!s) s = graph_error(m.g, e);
  if (!s) s = check_rules(&m, e);
  if (!s) s = list_units(&m, &relus, units, e);
  if (!s && !(*least = mem_new(2 * units->units + 1, sizeof **least, "ends", e))) s = R4_E_MEMORY;
  if (!s) *most = *least + units->units;
  if (!s) s = enclose_ends(&m, &relus, n, lo, hi, *least, *most, e);
  r4_graph_free(m.g);
  return s;
}

/* ---- Compiling ---- */

/* Which relu of the net node y is. */
static size_t relu_of(const struct relaxed_units *u, uint32_t y)
{
  size_t k = 0;
  while (k < u->relus && u->relu[k] != y) k++;
  return k;
}

static r4_status list_relus(struct relaxed *r, const struct linear_relus *relus, r4_error *e)
{
  r->relus = relus->n;
  for (size_t k = 0; k < relus->n; k++) {
    size_t of = relu_of(&r->units, relus->relu[k].y.i);
    if (of == r->units.relus) return r4_fail(e, R4_E_INTERNAL, "a relu of a net is not known: please report");
    r->relu[k] = (struct relaxed_relu){.n = r->units.first[of + 1] - r->units.first[of], .unit = r->units.first[of]};
  }
  return R4_OK;
}

/* Rooms of both precisions, one behind the other; sized first, with none. */
struct rooms {
  double *exact;
  float *near;
  size_t exacts, nears;
};

static double *take(struct rooms *m, size_t n)
{
  m->exacts += n;
  return m->exact ? m->exact + m->exacts - n : NULL;
}

static float *take_near(struct rooms *m, size_t n)
{
  m->nears += n;
  return m->near ? m->near + m->nears - n : NULL;
}

static void copied(struct rooms *m, size_t n, struct relaxed_copy *to)
{
  *to = (struct relaxed_copy){take(m, n), take_near(m, n), n};
}

static void place(struct relaxed *r, struct rooms *m)
{
  size_t features = r->batch * r->units.features;
  copied(m, features, &r->given[0]);
  copied(m, features, &r->given[1]);
  copied(m, r->batch * r->width, &r->given[2]);
  r->lo = r->given[0].exact, r->hi = r->given[1].exact, r->functional = r->given[2].exact;
  r->spread = take(m, r->batch * r->width), r->above = take(m, r->batch * r->width);
  r->towards = take_near(m, features);
  r->value = take_near(m, r->batch);
  for (size_t k = 0; k < r->relus; k++) {
    struct relaxed_relu *u = &r->relu[k];
    size_t n = r->batch * u->n;
    for (size_t i = 0; i < 2; i++) copied(m, n, &r->given[3 + 2 * k + i]), copied(m, n, &r->free[2 * k + i]);
    u->least = r->given[3 + 2 * k].exact, u->most = r->given[4 + 2 * k].exact;
    u->slope = r->free[2 * k].near, u->multiplier = r->free[2 * k + 1].near;
    u->slope_by = take_near(m, n), u->multiplier_by = take_near(m, n), u->coef = take_near(m, n);
  }
}

static r4_status make_room(struct relaxed *r, r4_error *e)
{
  struct rooms size = {.exacts = 0};
  place(r, &size);
  struct rooms m = {.exact = mem_new(size.exacts, sizeof(double), "a relaxation", e)};
  m.near = m.exact ? mem_new_aligned(size.nears, sizeof(float), "a relaxation", e) : NULL;
  r->exact = m.exact, r->near = m.near;
  if (!m.near) return R4_E_MEMORY;
  memset(m.near, 0, size.nears * sizeof(float));
  place(r, &m);
  return R4_OK;
}

/* An input of the plan and of the encloser; K behind the name, if it is one of a relu. */
static r4_status bind_one(struct relaxed *r, const char *name, size_t k, const struct relaxed_copy *v, r4_error *e)
{
  char full[32];
  snprintf(full, sizeof full, k < MOST_RELUS ? "%s.%zu" : "%s", name, k);
  if (!graph_find_input(r->g, full).i) return R4_OK;
  const double *above = v == &r->given[2] ? r->above : v->exact;
  r4_status s = r4_plan_input(r->plan, full, v->near, e);
  return s ? s : encloser_input(r->encloser, full, v->exact, above, e);
}

static r4_status bind(struct relaxed *r, const struct weighted *n, r4_error *e)
{
  static const char *const box[] = {"lo", "hi", "functional"}, *const of[] = {"least", "most", "slope", "multiplier"};
  r4_status s = bind_weights(r->encloser, n, e);
  for (size_t k = 0; k < r4_net_params(n->net) && !s; k++)
    s = r4_plan_input(r->plan, r4_net_param_name(n->net, k), n->near + r4_net_param_offset(n->net, k), e);
  for (size_t k = 0; k < 3 && !s; k++) s = bind_one(r, box[k], MOST_RELUS, &r->given[k], e);
  for (size_t k = 0; k < r->relus && !s; k++)
    for (size_t i = 0; i < 4 && !s; i++)
      s = bind_one(r, of[i], k, i < 2 ? &r->given[3 + 2 * k + i] : &r->free[2 * k + i - 2], e);
  return s;
}

/* The value, the coefficients of features, and for each relu derivatives and coefficients; where there are none, 0. */
static r4_status compile(struct relaxed *r, const struct made *m, const struct linear_relus *relus, r4_error *e)
{
  r4_id out[2 + 3 * MOST_RELUS] = {r->least, relus->box}, free[2 * MOST_RELUS], by[2 * MOST_RELUS];
  float *to[2 + 3 * MOST_RELUS] = {r->value, r->towards};
  size_t n = 2, inputs = 0;
  if (!out[1].i) out[1] = r4_const(m->g, 0, m->shape);
  for (size_t k = 0; k < relus->n; k++)
    if (relus->relu[k].slope.i) free[inputs++] = relus->relu[k].slope, free[inputs++] = relus->relu[k].multiplier;
  r4_grad(m->g, r4_sum(m->g, r->least, R4_ALL), inputs, free, by);
  for (size_t k = 0, i = 0; k < relus->n; k++) {
    if (!relus->relu[k].slope.i) continue;
    out[n] = by[i++], to[n++] = r->relu[k].slope_by;
    out[n] = by[i++], to[n++] = r->relu[k].multiplier_by;
    out[n] = relus->relu[k].coef, to[n++] = r->relu[k].coef;
  }
  r4_status s = graph_error(m->g, e);
  if (!s && !(r->plan = r4_plan_new(m->g, n, out, NULL, e))) s = e->status;
  for (size_t k = 0; k < n && !s; k++) s = r4_plan_output(r->plan, k, to[k], e);
  return s;
}

/* Nodes have the numbers that they had where units were listed. */
static bool knows_argument(const struct made *m, const struct relaxed_units *u, size_t k)
{
  r4_id y = {u->relu[k]};
  return y.i <= m->g->size && graph_is(m->g, y, &op_relu) && graph_arg(m->g, y, 0).i == u->argument[k];
}

static r4_status open_relaxed(struct relaxed *r, const struct weighted *n, size_t k, r4_error *e)
{
  struct made m;
  struct linear_relus relus = {.given = true};
  r4_status s = make(&m, n->net, r->batch, e);
  r->g = m.g;
  if (s || (s = graph_error(m.g, e))) return s;
  if (k < RELAXED_LOGITS && !knows_argument(&m, &r->units, k))
    return r4_fail(e, R4_E_INTERNAL, "a relu of a net is not where it was: please report");
  r4_id y = k == RELAXED_LOGITS ? m.y : (r4_id){r->units.argument[k]};
  r4_id functional = r4_input(m.g, "functional", r4_node_shape(m.g, y));
  r->width = (size_t)r4_shape_count(r4_node_shape(m.g, y)) / r->batch;
  r->least = least_of(&m, y, functional, &relus);
  r->least = r4_reshape(m.g, r->least, R4_SHAPE((int64_t)r->batch));
  s = graph_error(m.g, e);
  if (!s) s = list_relus(r, &relus, e);
  if (!s) s = make_room(r, e);
  if (!s) s = compile(r, &m, &relus, e); /* adds derivatives to the graph, which an encloser does not allow */
  if (!s && !(r->encloser = encloser_new(m.g, 1, &r->least, R4_SEMANTICS_REAL, e))) s = e->status;
  return s ? s : bind(r, n, e);
}

struct relaxed *relaxed_new(const struct weighted *n, const struct relaxed_units *units, size_t k, size_t batch,
                            r4_error *e)
{
  struct relaxed *r = mem_new(1, sizeof *r, "a relaxation", e);
  if (!r) return NULL;
  r->batch = batch;
  r->units = *units;
  if (!open_relaxed(r, n, k, e)) return r;
  relaxed_free(r);
  return NULL;
}

void relaxed_free(struct relaxed *r)
{
  if (!r) return;
  encloser_free(r->encloser);
  r4_plan_free(r->plan);
  r4_graph_free(r->g);
  r4_mem_free(r->exact);
  r4_mem_free(r->near);
  r4_mem_free(r);
}

size_t relaxed_batch(const struct relaxed_units *u, size_t most)
{
  size_t largest = u->features;
  for (size_t k = 0; k < u->relus; k++)
    if (u->first[k + 1] - u->first[k] > largest) largest = u->first[k + 1] - u->first[k];
  size_t fits = MOST_ELEMENTS / largest;
  return fits < 1 ? 1 : fits < most ? fits : most;
}

/* ---- Running ---- */

r4_status relaxed_begin(struct relaxed *r, r4_error *e)
{
  for (size_t k = 0; k < 3 + 2 * r->relus; k++) {
    const struct relaxed_copy *c = &r->given[k];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < c->n; i++) c->near[i] = (float)c->exact[i];
  }
  return relaxed_run(r, e);
}

r4_status relaxed_run(struct relaxed *r, r4_error *e)
{
  return r4_plan_run(r->plan, e);
}

r4_status relaxed_prove(struct relaxed *r, const double **least, r4_error *e)
{
  for (size_t k = 0; k < 2 * r->relus; k++) {
    const struct relaxed_copy *c = &r->free[k];
    for (size_t i = 0; i < c->n; i++) c->exact[i] = (double)c->near[i];
  }
  for (size_t i = 0; i < r->batch * r->width; i++)
    r->above[i] = r->spread[i] > 0 ? sound_up(r->functional[i] + r->spread[i]) : r->functional[i];
  r4_status s = encloser_run(r->encloser, e);
  *least = encloser_lo(r->encloser, r->least);
  return s;
}
