/* The claim "box": whatever the masked features are within eps, or within the valid range, the class stays. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "certify/box.h"
#include "certify/example.h"
#include "certify/walk_back.h"
#include "op/sound.h"

enum { BATCH = 256, MOST_BYTES = 512 << 20, BISECTIONS = 16 };

struct certifier {
  const r4_net *net;
  const float *stored; /* weights */
  const r4_data *d;
  const r4_certify_options *o;
  struct box box;
  r4_graph *g;
  r4_id x, slope; /* slope: of the loss; R4_NONE: not asked for */
  struct margins margins;
  struct encloser *encloser;
  size_t batch, features;
  double *weights, *lo, *hi; /* all parameters in a row; [batch, features] */
  double *label;             /* [batch] */
  float *value, *mask;       /* [batch, features] */
  r4_certified *to;
};

/* ---- Making ---- */

/* d loss / d x. A net with one output has the logits 0 and z. */
static r4_id slope_of(const struct certifier *c, r4_id z)
{
  int64_t rows = (int64_t)c->batch, classes = c->margins.classes;
  r4_id both[2] = {r4_const(c->g, 0, R4_SHAPE(rows, 1)), z}, dx = R4_NONE;
  if (classes == 1) z = r4_concat(c->g, 2, both, 1);
  r4_id own = r4_one_hot(c->g, r4_input(c->g, "label", R4_SHAPE(rows)), classes == 1 ? 2 : classes);
  r4_grad(c->g, r4_sum(c->g, r4_cross_entropy(c->g, z, own), R4_ALL), 1, &c->x, &dx);
  return dx;
}

static r4_status build(struct certifier *c, r4_error *e)
{
  const r4_net *n = c->net;
  r4_shape in = r4_net_input(n), shape = {.rank = in.rank + 1, .dim = {(int64_t)c->batch}};
  r4_id *param = mem_new(r4_net_params(n) + 1, sizeof *param, "a net's graph", e);
  r4_id node[MARGIN_NODES + 1];
  if (!param || !(c->g = r4_graph_new())) {
    r4_mem_free(param);
    return r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  }
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  c->x = r4_input(c->g, "x", shape);
  r4_net_inputs(n, c->g, param);
  margins_find(&c->margins, c->g, r4_net_apply(n, c->g, param, c->x), c->o->semantics);
  r4_mem_free(param);
  size_t nodes = margins_nodes(&c->margins, node);
  if (c->o->gradient) node[nodes++] = c->slope = slope_of(c, c->margins.logits);
  c->encloser = encloser_new(c->g, nodes, node, c->o->semantics, e);
  return c->encloser ? R4_OK : e->status;
}

static r4_status bind(struct certifier *c, r4_error *e)
{
  const r4_net *n = c->net;
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(n) && !s; k++) {
    const double *w = c->weights + r4_net_param_offset(n, k);
    s = encloser_input(c->encloser, r4_net_param_name(n, k), w, w, e);
  }
  if (!s && c->slope.i) s = encloser_input(c->encloser, "label", c->label, c->label, e);
  return s ? s : encloser_input(c->encloser, "x", c->lo, c->hi, e);
}

static r4_status make_room(struct certifier *c, r4_error *e)
{
  size_t size = r4_net_size(c->net), each = c->batch * c->features;
  c->weights = mem_new(size + 1, sizeof *c->weights, "weights", e);
  c->lo = c->weights ? mem_new(2 * each + c->batch, sizeof *c->lo, "boxes", e) : NULL;
  c->value = c->lo ? mem_new(2 * each, sizeof *c->value, "examples", e) : NULL;
  if (!c->value) return R4_E_MEMORY;
  c->hi = c->lo + each;
  c->label = c->hi + each;
  c->mask = c->value + each;
  for (size_t k = 0; k < size; k++) c->weights[k] = c->stored[k];
  return R4_OK;
}

static void close_certifier(struct certifier *c)
{
  encloser_free(c->encloser);
  r4_graph_free(c->g);
  r4_mem_free(c->weights);
  r4_mem_free(c->lo);
  r4_mem_free(c->value);
  c->encloser = NULL;
  c->g = NULL;
  c->weights = c->lo = NULL;
  c->value = NULL;
}

/* A batch by what it takes: large images have many values. */
static size_t batch_for(const struct certifier *c)
{
  size_t n = c->o->batch > 0 ? (size_t)c->o->batch : BATCH, bytes = c->features * 24 * sizeof(double) * 64;
  while (!c->o->batch && n > 8 && n * bytes > MOST_BYTES) n /= 2;
  return n < r4_data_count(c->d) ? n : r4_data_count(c->d);
}

static r4_status open_certifier(struct certifier *c, r4_error *e)
{
  c->features = (size_t)r4_shape_count(r4_data_shape(c->d));
  c->batch = batch_for(c);
  r4_status s = build(c, e);
  if (!s) s = make_room(c, e);
  return s ? s : bind(c, e);
}

/* ---- Batches ---- */

/* Rows behind the last example are of no interest: copies of the first. */
static void read_batch(struct certifier *c, size_t first, size_t n)
{
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < c->batch; k++) {
    size_t i = first + (k < n ? k : 0);
    r4_data_values(c->d, i, c->value + k * c->features);
    r4_data_mask(c->d, i, c->mask + k * c->features);
    c->label[k] = r4_data_example(c->d, i).label;
  }
}

/* eps: of each example, or NULL for that of the box. */
static r4_status enclose_batch(struct certifier *c, const double *eps, r4_error *e)
{
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < c->batch; k++) {
    struct box box = c->box;
    if (eps) box.whole = false, box.eps = eps[k];
    size_t at = k * c->features;
    box_ends(&box, c->features, c->value + at, c->mask + at, c->lo + at, c->hi + at);
  }
  return encloser_run(c->encloser, e);
}

/* || m . max(|lo|, |hi|) ||_2, from above. */
static double delta_of(const struct certifier *c, size_t row)
{
  const double *lo = encloser_lo(c->encloser, c->slope), *hi = encloser_hi(c->encloser, c->slope);
  double sum = 0;
  for (size_t k = row * c->features; k < (row + 1) * c->features; k++) {
    double one = c->mask[k] > 0 ? c->mask[k] * sound_largest(lo[k], hi[k]) : 0;
    sum += one * one;
  }
  return sum == 0 ? 0 : sound_up(sqrt(sound_up(sum + sound_sum_error((double)c->features + 4, sum))));
}

static void take_margins(struct certifier *c, size_t first, size_t n)
{
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < n; k++) {
    r4_certified *to = &c->to[first + k];
    certified_take(&c->margins, c->encloser, k, to);
    if (to->holds) to->by = R4_PROVED_INTERVALS;
    if (c->slope.i) to->delta = delta_of(c, k);
  }
}

/* ---- Radii ---- */

/* The largest eps that may be asked for: the whole range, or 1. */
static double largest_radius(const struct certifier *c)
{
  return c->box.ranged ? c->box.high - c->box.low : 1;
}

static void try_radii(struct certifier *c, size_t first, size_t n, const double *eps, double *below,
                      double *above)
{
  for (size_t k = 0; k < n; k++) {
    int32_t class = c->to[first + k].predicted;
    bool holds = class >= 0 && margins_least(&c->margins, c->encloser, (int64_t)k, class) > 0;
    *(holds ? &below[k] : &above[k]) = eps[k];
  }
}

/* Bisection: below holds, above is not known to. A margin falls as eps grows, but for roundings, which bisection does
 * not mind: what it reports was proved. */
static r4_status find_radii(struct certifier *c, size_t first, size_t n, r4_error *e)
{
  double most = largest_radius(c), *room = mem_new(3 * c->batch, sizeof *room, "radii", e);
  if (!room) return R4_E_MEMORY;
  double *eps = room, *below = room + c->batch, *above = below + c->batch;
  for (size_t k = 0; k < c->batch; k++) below[k] = -1, above[k] = eps[k] = most;
  r4_status s = enclose_batch(c, eps, e);
  if (!s) try_radii(c, first, n, eps, below, above);
  for (int step = 0; step < BISECTIONS && !s; step++) {
    for (size_t k = 0; k < c->batch; k++)
      eps[k] = below[k] == most ? most : below[k] < 0 ? (step ? above[k] / 2 : 0) : (below[k] + above[k]) / 2;
    s = enclose_batch(c, eps, e);
    if (!s) try_radii(c, first, n, eps, below, above);
  }
  for (size_t k = 0; k < n && !s; k++) c->to[first + k].radius = below[k] < 0 ? 0 : below[k];
  r4_mem_free(room);
  return s;
}

/* ---- All examples ---- */

/* Batches have the same examples wherever it begins, and so the same bits. */
static r4_status certify_all(struct certifier *c, r4_error *e)
{
  size_t all = r4_data_count(c->d);
  r4_status s = R4_OK;
  for (size_t first = c->o->done - c->o->done % c->batch; first < all && !s; first += c->batch) {
    size_t n = all - first < c->batch ? all - first : c->batch;
    read_batch(c, first, n);
    s = enclose_batch(c, NULL, e);
    if (!s) take_margins(c, first, n);
    if (!s && c->o->radius) s = find_radii(c, first, n, e);
    if (!s && c->o->progress && !c->o->progress(first + n, all, c->o->user))
      s = r4_fail(e, R4_E_ARGUMENT, "certify: stopped after %zu of %zu examples", first + n, all);
  }
  return s;
}

/* ---- Linear bounds ---- */

/* Margins of so many examples; the rows behind them are copies of the first. */
static r4_status walk_some(struct certifier *c, struct walk_back *w, int64_t steps, size_t n, const size_t *example,
                           r4_error *e)
{
  struct walk_back_room room = walk_back_room(w);
  for (size_t k = 0; k < walk_back_batch(w); k++) {
    size_t i = example[k < n ? k : 0], at = k * c->features;
    r4_data_values(c->d, i, c->value);
    r4_data_mask(c->d, i, c->mask);
    box_ends(&c->box, c->features, c->value, c->mask, room.lo + at, room.hi + at);
    room.class[k] = c->to[i].predicted;
  }
  r4_status s = walk_back_run(w, steps, e);
  for (size_t k = 0; k < n && !s; k++) {
    r4_certified *to = &c->to[example[k]];
    double margin = walk_back_least(w, k);
    if ((c->o->method == R4_BOUND_LINEAR && !steps) || margin > to->margin) to->margin = margin;
    to->holds = to->margin > 0 && to->margin < INFINITY;
    if (!to->holds || c->o->method == R4_BOUND_LINEAR) to->by = R4_PROVED_NOT;
    if (to->holds && !to->by) to->by = steps ? R4_PROVED_SLOPES : R4_PROVED_LINEAR;
  }
  return s;
}

/* n examples; steps 0: with the usual slopes. */
static r4_status walk_list(struct certifier *c, struct walk_back *w, int64_t steps, size_t n, const size_t *example,
                           r4_error *e)
{
  size_t all = r4_data_count(c->d);
  r4_status s = R4_OK;
  for (size_t first = 0, here; first < n && !s; first += here) {
    here = n - first < walk_back_batch(w) ? n - first : walk_back_batch(w);
    s = walk_some(c, w, steps, here, example + first, e);
    if (!s && c->o->progress && !c->o->progress(all - n + first + here, all, c->o->user))
      s = r4_fail(e, R4_E_ARGUMENT, "certify: stopped after %zu of %zu examples", all - n + first + here, all);
  }
  return s;
}

/* Of those that are not proved, or of all; of a class that is known. */
static size_t list_walks(const struct certifier *c, bool everything, size_t *example)
{
  size_t n = 0;
  for (size_t i = 0; i < r4_data_count(c->d); i++)
    if (c->to[i].predicted >= 0 && (everything || !c->to[i].holds)) example[n++] = i;
  return n;
}

/* Where intervals do not tell: linear bounds; where these do not: with better slopes. */
static r4_status walk_all(struct certifier *c, r4_error *e)
{
  size_t *example = mem_new(r4_data_count(c->d) + 1, sizeof *example, "examples", e);
  if (!example) return R4_E_MEMORY;
  size_t n = list_walks(c, c->o->method == R4_BOUND_LINEAR, example);
  struct walk_back *w = n ? walk_back_new(c->net, c->weights, (size_t)c->o->batch, n, e) : NULL;
  r4_status s = w || !n ? R4_OK : e->status;
  if (!s && n) s = walk_list(c, w, 0, n, example, e);
  if (!s && n && c->o->slopes > 0) s = walk_list(c, w, c->o->slopes, list_walks(c, false, example), example, e);
  walk_back_free(w);
  r4_mem_free(example);
  return s;
}

static r4_status check_options(const r4_certify_options *o, r4_error *e)
{
  if (o->slopes > 0 && o->method == R4_BOUND_INTERVALS)
    return r4_fail(e, R4_E_ARGUMENT, "certify: slopes are of linear bounds, not of intervals");
  if (o->method == R4_BOUND_INTERVALS) return R4_OK;
  if (o->semantics != R4_SEMANTICS_REAL)
    return r4_fail(e, R4_E_ARGUMENT, "certify: linear bounds are of real arithmetic; expected the semantics real");
  if (o->done)
    return r4_fail(e, R4_E_ARGUMENT, "certify: linear bounds come back to examples: none is done before all are");
  if (o->radius) return r4_fail(e, R4_E_ARGUMENT, "certify: radii are found by intervals; expected that method");
  return R4_OK;
}

static r4_status check_data(const r4_net *n, const r4_data *d, r4_error *e)
{
  if (r4_data_vocabulary(d) > 0)
    return r4_fail(e, R4_E_ARGUMENT,
                   "certify: the claim box is for numbers, and the examples are texts, whose words are replaced");
  long long features = (long long)r4_shape_count(r4_net_input(n)),
            given = (long long)r4_shape_count(r4_data_shape(d));
  if (features == given) return R4_OK;
  return r4_fail(e, R4_E_SHAPE, "certify: the net takes %lld values, the examples have %lld", features,
                 given);
}

r4_status r4_certify_box(const r4_net *n, const float *weights, const r4_data *d,
                         const r4_certify_options *options, r4_certified *to, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(options, "options", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct certifier c = {.net = n, .stored = weights, .d = d, .o = options, .to = to};
  r4_status s = check_data(n, d, e);
  if (!s) s = check_options(options, e);
  if (!s) s = box_read(&c.box, options->eps, options->low, options->high, e);
  if (!s) s = open_certifier(&c, e);
  if (!s) s = certified_begin(n, weights, d, options->done, to, e);
  if (!s) s = certify_all(&c, e);
  if (!s && options->method != R4_BOUND_INTERVALS) s = walk_all(&c, e);
  close_certifier(&c);
  return s;
}
