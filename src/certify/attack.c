/* The other side of a certificate: a search for a counter-example inside the same box. Projected ascent, by the sign of
 * the slope, of the cross entropy and of minus the margin in turn,
 *
 *     x <- clip(x + a (hi - lo) sign(dJ/dx)),   a = 1, 1/2, 1/4, .. and again
 *
 * from several starts: the example, corners, points inside, and the masked contents of other examples. Each point that
 * is looked at counts. What floats find is asked once more in double before it is reported. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "certify/box.h"
#include "r4.h"

enum { BATCH = 256, STEPS = 12 };

/* A plan that gives margins of a batch, and the slope of J. */
struct searcher {
  r4_plan *plan;
  r4_type type;
  void *x, *class, *mix, *weights, *margin, *slope; /* of the plan's type */
};

struct attack {
  const r4_net *net;
  const float *stored; /* weights */
  const r4_data *d, *donors;
  const r4_certify_options *o;
  struct box box;
  size_t features, donor_count, *donor; /* examples of donors that have a mask */
  uint64_t seed;
  r4_certified *to;
  struct searcher look, judge;                  /* in float, and in double */
  float *value, *mask, *lo, *hi, *best, *least; /* [BATCH, features], but least: [BATCH] */
};

/* ---- Plans ---- */

static r4_id logits_of(const r4_net *n, r4_graph *g, r4_id x)
{
  size_t params = r4_net_params(n);
  r4_id *all = r4_mem_new(params + 1, sizeof *all);
  if (!all) return R4_NONE;
  r4_net_inputs(n, g, all);
  r4_id z = r4_net_apply(n, g, all, x);
  r4_mem_free(all);
  if (r4_net_classes(n) > 1) return z;
  r4_id both[2] = {r4_const(g, 0, R4_SHAPE(BATCH, 1)), z}; /* one output: 0 and z */
  return r4_concat(g, 2, both, 1);
}

static r4_plan *make_plan(const r4_net *n, r4_type type, r4_error *e)
{
  r4_shape in = r4_net_input(n), shape = {.rank = in.rank + 1, .dim = {BATCH}};
  memcpy(shape.dim + 1, in.dim, (size_t)in.rank * sizeof *in.dim);
  r4_graph *g = r4_graph_new();
  if (!g) {
    r4_fail(e, R4_E_MEMORY, "out of memory for an attack");
    return NULL;
  }
  r4_id x = r4_input(g, "attacked", shape), z = logits_of(n, g, x), out[2],
        mix = r4_input(g, "mix", R4_SCALAR);
  r4_id own =
    r4_one_hot(g, r4_input(g, "class", R4_SHAPE(BATCH)), r4_net_classes(n) > 1 ? r4_net_classes(n) : 2);
  r4_id zero = r4_const(g, 0, R4_SCALAR), much = r4_const(g, -1e30, R4_SCALAR);
  out[0] = r4_sub(g, r4_sum(g, r4_select(g, own, z, zero), R4_AXIS(1)),
                  r4_reduce_max(g, r4_select(g, own, much, z), R4_AXIS(1)));
  r4_id entropy = r4_mul(g, mix, r4_sum(g, r4_cross_entropy(g, z, own), R4_ALL));
  r4_id margin = r4_mul(g, r4_sub(g, r4_const(g, 1, R4_SCALAR), mix), r4_sum(g, out[0], R4_ALL));
  r4_grad(g, r4_sub(g, entropy, margin), 1, &x, &out[1]);
  r4_plan *p = z.i ? r4_plan_new(g, 2, out, &(r4_plan_options){.type = type}, e) : NULL;
  if (!z.i && e) r4_fail(e, R4_E_MEMORY, "out of memory for an attack");
  r4_graph_free(g);
  return p;
}

static void put(const struct searcher *s, void *to, size_t i, double v)
{
  if (s->type == R4_F64)
    ((double *)to)[i] = v;
  else
    ((float *)to)[i] = (float)v;
}

static double get(const struct searcher *s, const void *from, size_t i)
{
  return s->type == R4_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static r4_status bind(struct searcher *s, const r4_net *n, const float *weights, size_t features, r4_error *e)
{
  size_t width = s->type == R4_F64 ? sizeof(double) : sizeof(float), size = r4_net_size(n),
         each = BATCH * features;
  char *room = s->weights = mem_new_aligned(size + 2 * each + 3 * BATCH + 64, width, "an attack", e);
  if (!room) return R4_E_MEMORY;
  s->x = room + size * width, s->slope = room + (size + each) * width;
  s->class = room + (size + 2 * each) * width, s->margin = room + (size + 2 * each + BATCH) * width;
  s->mix = room + (size + 2 * each + 2 * BATCH) * width;
  for (size_t k = 0; k < size; k++) put(s, s->weights, k, weights[k]);
  r4_status status = r4_plan_input(s->plan, "attacked", s->x, e);
  for (size_t k = 0; k < r4_net_params(n) && !status; k++)
    status = r4_plan_input(s->plan, r4_net_param_name(n, k), room + r4_net_param_offset(n, k) * width, e);
  if (!status) status = r4_plan_input(s->plan, "class", s->class, e);
  if (!status) status = r4_plan_input(s->plan, "mix", s->mix, e);
  if (!status) status = r4_plan_output(s->plan, 0, s->margin, e);
  return status ? status : r4_plan_output(s->plan, 1, s->slope, e);
}

static r4_status open_searcher(struct searcher *s, const struct attack *a, r4_type type, r4_error *e)
{
  const r4_net *n = a->net;
  *s = (struct searcher){.type = type, .plan = make_plan(n, type, e)};
  return s->plan ? bind(s, n, a->stored, a->features, e) : e->status;
}

/* ---- Boxes of floats that are inside the box of real numbers ---- */

static float not_below(double v)
{
  float f = (float)v;
  return (double)f < v ? nextafterf(f, INFINITY) : f;
}

static float not_above(double v)
{
  return -not_below(-v);
}

static void inner_box(const struct attack *a, size_t row)
{
  for (size_t k = row * a->features; k < (row + 1) * a->features; k++) {
    double x = a->value[k], low = -INFINITY, high = INFINITY;
    a->lo[k] = a->hi[k] = a->value[k];
    if (!(a->mask[k] > 0)) continue;
    double r = a->box.eps * a->mask[k] * (1 - 1e-14);
    if (!a->box.whole) low = x - r, high = x + r;
    if (a->box.ranged) low = fmax(low, a->box.low), high = fmin(high, a->box.high);
    if (low < x) a->lo[k] = fminf(not_below(low), a->value[k]);
    if (high > x) a->hi[k] = fmaxf(not_above(high), a->value[k]);
  }
}

/* ---- Starts ---- */

static void start_at(const struct attack *a, size_t row, size_t example, size_t start)
{
  r4_random key = {.seed = a->seed, .purpose = PURPOSE_ATTACK, .step = (uint32_t)start};
  size_t first = row * a->features;
  float *content = NULL;
  if (start % 3 == 1 && a->donor_count) {
    content = a->best + BATCH * a->features + first; /* room for a row of another example */
    r4_data_values(a->donors, a->donor[r4_random_below(key, example, a->donor_count)], content);
  }
  for (size_t k = 0; k < a->features; k++) {
    float lo = a->lo[first + k], hi = a->hi[first + k], x = a->value[first + k];
    double u = lo < hi ? r4_random_uniform(key, (uint64_t)example * a->features + k + (1ull << 40)) : 0;
    if (content)
      x = content[k];
    else if (start)
      x = start % 3 == 2 ? (u < 0.5 ? lo : hi) : (float)(lo + u * ((double)hi - lo));
    put(&a->look, a->look.x, first + k, fminf(fmaxf(x, lo), hi));
  }
}

static void load(const struct attack *a, size_t n, const size_t *example, size_t start)
{
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < BATCH; row++) {
    size_t i = example[row < n ? row : 0];
    r4_data_values(a->d, i, a->value + row * a->features);
    r4_data_mask(a->d, i, a->mask + row * a->features);
    inner_box(a, row);
    start_at(a, row, i, start);
    put(&a->look, a->look.class, row, a->to[i].predicted);
    a->least[row] = INFINITY;
  }
}

/* ---- The search ---- */

/* Keeps the points with the least margins so far. */
static void keep_best(const struct attack *a, size_t n)
{
  for (size_t row = 0; row < n; row++) {
    float margin = (float)get(&a->look, a->look.margin, row);
    if (!(margin < a->least[row])) continue;
    a->least[row] = margin;
    memcpy(a->best + row * a->features, (const float *)a->look.x + row * a->features,
           a->features * sizeof(float));
  }
}

static void step(const struct attack *a, double size)
{
  float *x = a->look.x, *slope = a->look.slope;
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < BATCH * a->features; k++) {
    float width = a->hi[k] - a->lo[k], to = x[k] + (float)size * width *
                                                     (slope[k] > 0   ? 1
                                                      : slope[k] < 0 ? -1
                                                                     : 0);
    if (width > 0) x[k] = fminf(fmaxf(to, a->lo[k]), a->hi[k]);
  }
}

static r4_status search(const struct attack *a, size_t n, size_t start, r4_error *e)
{
  r4_status s = R4_OK;
  for (int k = 0; k < STEPS && !s; k++) {
    put(&a->look, a->look.mix, 0, start % 2 ? 1 : 0);
    s = r4_plan_run(a->look.plan, e);
    if (s) break;
    keep_best(a, n);
    step(a, ldexp(1, -(k % 6)));
  }
  if (!s) s = r4_plan_run(a->look.plan, e);
  if (!s) keep_best(a, n);
  return s;
}

/* Whether the margin is negative in double as well. */
static r4_status judge(const struct attack *a, size_t n, const size_t *example, r4_error *e)
{
  bool any = false;
  for (size_t row = 0; row < n; row++) any |= a->least[row] < 0;
  if (!any) return R4_OK;
  for (size_t k = 0; k < BATCH * a->features; k++) put(&a->judge, a->judge.x, k, a->best[k]);
  for (size_t row = 0; row < BATCH; row++)
    put(&a->judge, a->judge.class, row, a->to[example[row < n ? row : 0]].predicted);
  put(&a->judge, a->judge.mix, 0, 0);
  r4_status s = r4_plan_run(a->judge.plan, e);
  for (size_t row = 0; row < n && !s; row++)
    if (a->least[row] < 0 && get(&a->judge, a->judge.margin, row) < 0) a->to[example[row]].broken = true;
  return s;
}

/* ---- All examples ---- */

/* Those that are correct, not broken yet, and have something to move. */
static size_t list_open(const struct attack *a, size_t *example)
{
  size_t n = 0;
  for (size_t i = 0; i < r4_data_count(a->d); i++) {
    bool correct = a->to[i].predicted == a->to[i].label;
    if (correct && !a->to[i].broken && r4_data_has_mask(a->d, i)) example[n++] = i;
  }
  return n;
}

static r4_status one_start(const struct attack *a, size_t start, size_t starts, size_t *example, r4_error *e)
{
  size_t n = list_open(a, example), all = r4_data_count(a->d);
  r4_status s = R4_OK;
  for (size_t first = 0; first < n && !s; first += BATCH) {
    size_t here = n - first < BATCH ? n - first : BATCH;
    load(a, here, example + first, start);
    s = search(a, here, start, e);
    if (!s) s = judge(a, here, example + first, e);
    size_t done = start * all + (size_t)((double)(first + here) / (double)n * (double)all);
    if (!s && a->o->progress && !a->o->progress(done, starts * all, a->o->user))
      s = r4_fail(e, R4_E_ARGUMENT, "certify: the attack was stopped");
  }
  return s;
}

static r4_status find_donors(struct attack *a, r4_error *e)
{
  size_t n = a->donors ? r4_data_count(a->donors) : 0;
  if (n && r4_shape_count(r4_data_shape(a->donors)) != (int64_t)a->features)
    return r4_fail(e, R4_E_SHAPE, "certify: the donors of an attack differ in shape from the examples");
  if (!(a->donor = mem_new(n + 1, sizeof *a->donor, "donors", e))) return R4_E_MEMORY;
  for (size_t i = 0; i < n; i++)
    if (r4_data_has_mask(a->donors, i)) a->donor[a->donor_count++] = i;
  return R4_OK;
}

static r4_status make_room(struct attack *a, r4_error *e)
{
  size_t each = BATCH * a->features;
  a->value = mem_new(6 * each + BATCH, sizeof *a->value, "an attack", e);
  if (!a->value) return R4_E_MEMORY;
  a->mask = a->value + each, a->lo = a->mask + each, a->hi = a->lo + each, a->best = a->hi + each;
  a->least = a->best + 2 * each;
  return find_donors(a, e);
}

static r4_status run_attack(struct attack *a, size_t starts, r4_error *e)
{
  size_t *example = mem_new(r4_data_count(a->d) + 1, sizeof *example, "examples", e);
  r4_status s = example ? make_room(a, e) : R4_E_MEMORY;
  if (!s) s = open_searcher(&a->look, a, R4_F32, e);
  if (!s) s = open_searcher(&a->judge, a, R4_F64, e);
  for (size_t k = a->o->done; k < starts && !s; k++) s = one_start(a, k, starts, example, e);
  r4_plan_free(a->look.plan);
  r4_plan_free(a->judge.plan);
  r4_mem_free(a->look.weights);
  r4_mem_free(a->judge.weights);
  r4_mem_free(a->value);
  r4_mem_free(a->donor);
  r4_mem_free(example);
  return s;
}

r4_status r4_attack_box(const r4_net *n, const float *weights, const r4_data *d,
                        const r4_certify_options *box, const r4_data *donors, size_t starts, uint64_t seed,
                        r4_certified *x, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(box, "options", R4_E_ARGUMENT);
  NEEDS(x, "what was certified", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct attack a = {.net = n, .stored = weights, .d = d, .donors = donors, .o = box, .seed = seed, .to = x};
  a.features = (size_t)r4_shape_count(r4_data_shape(d));
  r4_status s = box_read(&a.box, box->eps, box->low, box->high, e);
  if (!s && (r4_data_vocabulary(d) > 0 || a.features != (size_t)r4_shape_count(r4_net_input(n))))
    s = r4_fail(e, R4_E_SHAPE, "certify: the shape of the examples does not fit the net");
  return s ? s : run_attack(&a, starts, e);
}
