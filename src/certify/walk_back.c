#include "certify/walk_back.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "certify/slopes.h"
#include "op/sound.h"
#include "pass/bound.h"

enum { MOST_ELEMENTS = 1 << 22, MOST_BATCH = 256 }; /* elements of one node */

struct walk_back {
  const r4_net *net;
  r4_graph *g;
  r4_id least; /* [functionals, batch] */
  struct linear_relus relus;
  struct slopes *slopes; /* NULL: there are no relus */
  struct encloser *encloser;
  size_t batch, features;
  int64_t classes;
  struct walk_back_room room;
};

/* ---- The graph ---- */

/* [classes * batch, classes]: row j, b is that of z_own - z_j, own the class of b. Of one output: z, -z for class 0. */
static r4_id functionals(r4_graph *g, r4_id class, int64_t classes)
{
  int64_t batch = r4_node_shape(g, class).dim[0];
  if (classes == 1)
    return r4_reshape(g, r4_sub(g, r4_scale(g, class, 2), r4_const(g, 1, R4_SHAPE(batch))), R4_SHAPE(batch, 1));
  r4_shape all = R4_SHAPE(classes, batch, classes), eye = R4_SHAPE(classes, classes);
  r4_id other = r4_equal(g, r4_iota(g, 0, eye), r4_iota(g, 1, eye));
  r4_id own = r4_broadcast(g, r4_one_hot(g, class, classes), all);
  other = r4_broadcast(g, r4_reshape(g, other, R4_SHAPE(classes, 1, classes)), all);
  return r4_reshape(g, r4_sub(g, own, other), R4_SHAPE(classes * batch, classes));
}

static r4_status build(struct walk_back *w, int64_t batch, r4_error *e)
{
  r4_shape in = r4_net_input(w->net), shape = {.rank = in.rank + 1, .dim = {batch}};
  r4_bound_options options = {.method = R4_BOUND_BEST};
  r4_id *param = mem_new(r4_net_params(w->net) + 1, sizeof *param, "a net's graph", e);
  const char *message;
  r4_graph_free(w->g);
  if (!param || !(w->g = r4_graph_new())) {
    r4_mem_free(param);
    w->g = NULL;
    return r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  }
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  r4_net_inputs(w->net, w->g, param);
  r4_id x = r4_input(w->g, "x", shape), z = r4_net_apply(w->net, w->g, param, x);
  r4_box box = r4_box_between(x, r4_input(w->g, "lo", shape), r4_input(w->g, "hi", shape));
  r4_mem_free(param);
  w->classes = r4_net_classes(w->net);
  r4_id coef = functionals(w->g, r4_input(w->g, "class", R4_SHAPE(batch)), w->classes);
  w->relus.given = false;
  w->least = bound_least(w->g, z, 1, &box, &options, coef, w->classes, &w->relus);
  r4_status s = r4_graph_status(w->g, &message);
  return s ? r4_fail(e, s, "%s", message) : R4_OK;
}

/* A batch by the largest node of one example. */
static r4_status choose_batch(struct walk_back *w, size_t asked, size_t examples, r4_error *e)
{
  int64_t largest = 1, most = examples < MOST_BATCH ? (int64_t)examples : MOST_BATCH;
  w->batch = asked;
  r4_status s = asked ? R4_OK : build(w, 1, e);
  if (s || asked) return s;
  for (uint32_t i = 1; i <= w->g->size; i++) {
    int64_t count = r4_shape_count(w->g->node[i].shape);
    if (count > largest && w->g->node[i].op != &op_input) largest = count;
  }
  int64_t fits = MOST_ELEMENTS / largest;
  if (fits > most) fits = most;
  w->batch = fits < 1 ? 1 : (size_t)fits;
  return R4_OK;
}

static r4_status bind(struct walk_back *w, const double *weights, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(w->net) && !s; k++) {
    const double *p = weights + r4_net_param_offset(w->net, k);
    s = encloser_input(w->encloser, r4_net_param_name(w->net, k), p, p, e);
  }
  for (size_t k = 0; k < w->relus.n && !s; k++) {
    const double *v = slopes_values(w->slopes, k);
    r4_id slope = w->relus.relu[k].slope;
    if (slope.i) s = encloser_input(w->encloser, graph_name(w->g, slope), v, v, e);
  }
  if (!s) s = encloser_input(w->encloser, "lo", w->room.lo, w->room.lo, e);
  if (!s) s = encloser_input(w->encloser, "hi", w->room.hi, w->room.hi, e);
  return s ? s : encloser_input(w->encloser, "class", w->room.class, w->room.class, e);
}

static r4_status open_walk_back(struct walk_back *w, const double *weights, size_t batch, size_t examples, r4_error *e)
{
  r4_status s = choose_batch(w, batch, examples, e);
  if (!s) s = build(w, (int64_t)w->batch, e);
  if (s) return s;
  w->features = (size_t)r4_shape_count(r4_net_input(w->net));
  w->room.lo = mem_new(w->batch * (2 * w->features + 1), sizeof *w->room.lo, "boxes", e);
  if (!w->room.lo) return R4_E_MEMORY;
  w->room.hi = w->room.lo + w->batch * w->features;
  w->room.class = w->room.hi + w->batch * w->features;
  struct walk_back_room r = w->room;
  if (w->relus.n) {
    w->slopes = slopes_new(w->net, w->g, w->least, &w->relus, weights, r.lo, r.hi, r.class, e);
    if (!w->slopes) return e->status;
  }
  w->encloser = encloser_new(w->g, 1, &w->least, R4_SEMANTICS_REAL, e);
  return w->encloser ? bind(w, weights, e) : e->status;
}

struct walk_back *walk_back_new(const r4_net *n, const double *weights, size_t batch, size_t examples, r4_error *e)
{
  struct walk_back *w = mem_new(1, sizeof *w, "linear bounds", e);
  if (!w) return NULL;
  w->net = n;
  if (!open_walk_back(w, weights, batch, examples, e)) return w;
  walk_back_free(w);
  return NULL;
}

void walk_back_free(struct walk_back *w)
{
  if (!w) return;
  encloser_free(w->encloser);
  slopes_free(w->slopes);
  r4_graph_free(w->g);
  r4_mem_free(w->room.lo);
  r4_mem_free(w);
}

size_t walk_back_batch(const struct walk_back *w)
{
  return w->batch;
}

struct walk_back_room walk_back_room(struct walk_back *w)
{
  return w->room;
}

r4_status walk_back_run(struct walk_back *w, int64_t steps, r4_error *e)
{
  r4_status s = R4_OK;
  if (w->slopes && steps > 0) s = slopes_search(w->slopes, steps, e);
  if (w->slopes && steps <= 0) slopes_reset(w->slopes);
  return s ? s : encloser_run(w->encloser, e);
}

/* ---- Margins ---- */

static double with_room(double margin)
{
  static const double ROOM = 1e-6;
  double rounded = sound_down(margin - ROOM * (1 + fabs(margin)) * (1 + 1e-9));
  return rounded == rounded ? rounded : -INFINITY;
}

double walk_back_least(const struct walk_back *w, size_t i)
{
  const double *lo = encloser_lo(w->encloser, w->least);
  int64_t class = (int64_t)w->room.class[i];
  double least = INFINITY;
  for (int64_t j = 0; j < w->classes; j++)
    if (j != class || w->classes == 1) least = sound_min(lo[j * (int64_t)w->batch + (int64_t)i], least);
  return with_room(least);
}
