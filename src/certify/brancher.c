#include "certify/brancher.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "certify/domain.h"
#include "certify/falsify.h"
#include "certify/tighten.h"
#include "op/sound.h"

enum { WIDE = 128, NARROW = BRANCH_FUNCTIONALS, FIRST_STEPS = 24, STEPS = 10, LOOKS = 2, ATTACK_STEPS = 24 };
static const double FIRST_SIZE = 0.5, SIZE = 0.4; /* of steps of slopes */
static const double SHARE = 0.3;                  /* of the time, for better ends of arguments */
static const size_t MOST_BYTES = (size_t)2 << 30;

struct brancher {
  struct weighted net;
  double *weights; /* in double */
  size_t functionals;
  struct relaxed_units units;
  struct relaxed *of[2]; /* of few rows, and of many */
  struct tightener *tightener;
  struct falsifier *falsifier[2];
};

/* One box. */
struct branching {
  struct brancher *b;
  struct whole whole;
  size_t questions;
  const struct branch_question *question;
  const struct branch_options *o;
  struct domain *stack;
  size_t waiting, bytes; /* of what is on the stack */
  double end;
  double *point;
  struct branch_result *result;
};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_over(const struct branching *w)
{
  return now() >= w->end || w->bytes > (w->o->bytes ? w->o->bytes : MOST_BYTES);
}

struct brancher *brancher_new(const r4_net *n, const float *weights, size_t functionals, r4_error *e)
{
  struct brancher *b = mem_new(1, sizeof *b, "branch and bound", e);
  if (!b) return NULL;
  b->functionals = functionals;
  b->weights = mem_new(r4_net_size(n) + 1, sizeof *b->weights, "branch and bound", e);
  if (!b->weights) {
    r4_mem_free(b);
    return NULL;
  }
  for (size_t k = 0; k < r4_net_size(n); k++) b->weights[k] = (double)weights[k];
  b->net = (struct weighted){n, weights, b->weights};
  return b;
}

static void forget(struct brancher *b)
{
  relaxed_free(b->of[0]);
  relaxed_free(b->of[1]);
  tightener_free(b->tightener);
  b->of[0] = b->of[1] = NULL;
  b->tightener = NULL;
}

void brancher_free(struct brancher *b)
{
  if (!b) return;
  forget(b);
  falsifier_free(b->falsifier[0]);
  falsifier_free(b->falsifier[1]);
  r4_mem_free(b->weights);
  r4_mem_free(b);
}

/* ---- The attack ---- */

static void ask(struct falsifier *f, size_t row, const struct branch_question *q)
{
  for (size_t k = 0; k < f->functionals; k++) { /* the last one again where there are fewer */
    size_t from = k < q->functionals ? k : q->functionals - 1;
    memcpy(f->coef + (row * f->functionals + k) * f->classes, q->coef + from * f->classes,
           f->classes * sizeof *q->coef);
    f->rest[row * f->functionals + k] = q->rest[from];
  }
}

static void refute(struct branching *w, const struct falsifier *f, size_t row, size_t question)
{
  if (w->result->is == BRANCH_REFUTED) return;
  w->result->is = BRANCH_REFUTED;
  w->result->refuted = question;
  w->result->value = f->lowest[row];
  memcpy(w->point, f->at + row * f->features, f->features * sizeof *w->point);
}

static bool refutes(const struct branching *w, double value)
{
  return w->o->equal ? value <= 0 : value < 0;
}

/* Rows 0 .. n are of the questions in of. */
static void take_points(struct branching *w, const struct falsifier *f, size_t n, const size_t *of)
{
  for (size_t row = 0; row < n; row++)
    if (refutes(w, f->lowest[row])) refute(w, f, row, of[row]);
}

/* The middle, corners, and points inside. */
static void start_at(const struct branching *w, struct falsifier *f, size_t row, size_t question, size_t start)
{
  r4_random key = {.purpose = PURPOSE_FALSIFY, .step = (uint32_t)start};
  for (size_t k = 0; k < f->features; k++) {
    size_t at = row * f->features + k;
    double lo = w->whole.lo[k], hi = w->whole.hi[k], u = r4_random_uniform(key, question * f->features + k);
    f->lo[at] = lo, f->hi[at] = hi;
    f->at[at] = !start ? lo / 2 + hi / 2 : start % 2 ? (u < 0.5 ? lo : hi) : lo + u * (hi - lo);
    f->at[at] = fmin(fmax(f->at[at], lo), hi);
  }
  ask(f, row, &w->question[question]);
}

static r4_status attack(struct branching *w, r4_error *e)
{
  struct falsifier *f = w->b->falsifier[1];
  size_t all = w->questions * w->o->starts, of[WIDE];
  r4_status s = R4_OK;
  for (size_t first = 0; first < all && !s && w->result->is != BRANCH_REFUTED && !is_over(w); first += f->batch) {
    for (size_t row = 0; row < f->batch; row++) {
      size_t at = first + row < all ? first + row : first;
      of[row] = at % w->questions;
      start_at(w, f, row, of[row], at / w->questions);
    }
    s = falsifier_search(f, ATTACK_STEPS, e);
    if (!s) take_points(w, f, f->batch, of);
  }
  return s;
}

/* ---- A round: some domains at once ---- */

struct round {
  struct relaxed *r;
  size_t n, rows, first[WIDE], question[WIDE]; /* domains, and where their rows begin; by row, its question */
  struct domain *domain[WIDE];
  double rest[WIDE];
};

static void load(struct branching *w, struct round *t, struct domain *d)
{
  const struct branch_question *q = &w->question[d->question];
  struct relaxed *r = t->r;
  t->domain[t->n] = d;
  t->first[t->n++] = t->rows;
  domain_load(d, &w->whole, r, t->rows);
  for (size_t j = 0; j < d->rows; j++, t->rows++) {
    memcpy(r->functional + t->rows * r->width, q->coef + j * r->width, r->width * sizeof *q->coef);
    for (size_t i = 0; i < r->width; i++)
      r->spread[t->rows * r->width + i] = q->spread ? q->spread[j * r->width + i] : 0;
    t->rest[t->rows] = q->rest[j];
    t->question[t->rows] = d->question;
  }
}

static void push(struct branching *w, struct domain *d)
{
  if (!d) return;
  d->below = w->stack;
  w->stack = d;
  w->waiting++;
  w->bytes += d->bytes;
}

static struct domain *pop(struct branching *w)
{
  struct domain *d = w->stack;
  w->stack = d->below;
  w->waiting--;
  w->bytes -= d->bytes;
  return d;
}

/* From the top of the stack, as many as fit. */
static void take(struct branching *w, struct round *t)
{
  struct brancher *b = w->b;
  size_t needed = w->waiting * b->functionals;
  t->r = b->of[needed > b->of[0]->batch];
  while (w->stack && t->rows + w->stack->rows <= t->r->batch && t->n < WIDE) {
    load(w, t, pop(w));
  }
  for (size_t row = t->rows; row < t->r->batch; row++) /* what is there is any numbers: those of the first domain */
    domain_load(&(struct domain){.rows = 1, .slope = t->domain[0]->slope}, &w->whole, t->r, row);
}

static double with_room(double bound)
{
  double rounded = sound_down(bound - 1e-6 * (1 + fabs(bound)) * (1 + 1e-9));
  return rounded == rounded ? rounded : -INFINITY;
}

static double bound_of(const struct round *t, size_t row)
{
  return (double)t->r->value[row] + t->rest[row];
}

/* The best row of a domain, in plain arithmetic. */
static size_t best_row(const struct round *t, size_t k)
{
  size_t best = t->first[k];
  for (size_t row = best + 1; row < t->first[k] + t->domain[k]->rows; row++)
    if (bound_of(t, row) > bound_of(t, best)) best = row;
  return best;
}

/* Those that plain arithmetic proves are enclosed; what that proves is done. */
static r4_status close_leaves(struct branching *w, struct round *t, r4_error *e)
{
  const double *least = NULL;
  bool any = false;
  for (size_t k = 0; k < t->n; k++) any |= bound_of(t, best_row(t, k)) > 0;
  r4_status s = any ? relaxed_prove(t->r, &least, e) : R4_OK;
  for (size_t k = 0; k < t->n && any && !s; k++) {
    size_t row = best_row(t, k);
    double bound = with_room(sound_down(least[row] + t->rest[row]));
    if (!(bound > 0)) continue;
    w->result->least = fmin(w->result->least, bound);
    w->result->leaves++;
    r4_mem_free(t->domain[k]);
    t->domain[k] = NULL;
  }
  return s;
}

/* Where the relaxation is least the net itself may be, too. */
static r4_status look(struct branching *w, struct round *t, r4_error *e)
{
  struct relaxed *r = t->r;
  struct falsifier *f = w->b->falsifier[t->n > NARROW];
  size_t n = 0, of[WIDE];
  for (size_t k = 0; k < t->n && n < f->batch; k++) {
    if (!t->domain[k]) continue;
    size_t row = best_row(t, k), from = row * f->features, to = n * f->features;
    for (size_t i = 0; i < f->features; i++) {
      f->lo[to + i] = w->whole.lo[i], f->hi[to + i] = w->whole.hi[i];
      f->at[to + i] = r->towards[from + i] > 0 ? r->lo[from + i] : r->hi[from + i];
    }
    of[n] = t->question[row];
    ask(f, n++, &w->question[t->question[row]]);
  }
  r4_status s = n ? falsifier_search(f, LOOKS, e) : R4_OK;
  if (!s) take_points(w, f, n, of);
  return s;
}

/* stuck: a domain cannot be cut, and nothing is known of it. */
static r4_status cut_rest(struct branching *w, struct round *t, bool *stuck, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < t->n && !s; k++) {
    struct cut c;
    if (!t->domain[k]) continue;
    size_t row = best_row(t, k);
    if (!domain_choose(t->r, row, &c)) {
      *stuck = true;
      continue;
    }
    w->result->cuts++;
    for (int half = 0; half < 2 && !s; half++) {
      c.up = half;
      struct domain *d = domain_half(t->domain[k], t->r, t->first[k], c, e);
      push(w, d);
      if (!d) s = R4_E_MEMORY;
    }
  }
  return s;
}

static r4_status one_round(struct branching *w, bool first, bool *stuck, r4_error *e)
{
  struct round t = {.n = 0};
  take(w, &t);
  r4_status s = relaxed_search(t.r, t.rows, t.rest, first ? FIRST_STEPS : STEPS, first ? FIRST_SIZE : SIZE, e);
  if (!s) s = close_leaves(w, &t, e);
  if (!s) s = look(w, &t, e);
  if (!s && w->result->is != BRANCH_REFUTED) s = cut_rest(w, &t, stuck, e);
  for (size_t k = 0; k < t.n; k++) r4_mem_free(t.domain[k]);
  return s;
}

static r4_status branch(struct branching *w, r4_error *e)
{
  bool stuck = false;
  r4_status s = R4_OK;
  for (size_t q = 0; q < w->questions && !s; q++) {
    struct domain *d = domain_new(q, w->question[q].functionals, 0, w->b->units.units, e);
    push(w, d);
    if (!d) s = R4_E_MEMORY;
  }
  for (bool first = true; w->stack && !stuck && !s && w->result->is == BRANCH_OPEN && !is_over(w); first = false)
    s = one_round(w, first && w->waiting <= w->b->of[1]->batch, &stuck, e);
  if (!s && !w->stack && !stuck && w->result->is == BRANCH_OPEN) w->result->is = BRANCH_PROVED;
  while (w->stack) r4_mem_free(pop(w));
  return s;
}

/* ---- A box ---- */

/* What is compiled is of the relus of a net, which are the same for all boxes. */
static r4_status compile(struct brancher *b, const struct relaxed_units *units, r4_error *e)
{
  if (b->of[1] && !memcmp(&b->units, units, sizeof *units)) return R4_OK;
  forget(b);
  b->units = *units;
  size_t wide = relaxed_batch(units, WIDE), narrow = wide < NARROW ? wide : NARROW;
  if (narrow < b->functionals) narrow = b->functionals;
  if (wide < narrow) wide = narrow;
  b->of[0] = relaxed_new(&b->net, units, RELAXED_LOGITS, narrow, e);
  b->of[1] = b->of[0] ? relaxed_new(&b->net, units, RELAXED_LOGITS, wide, e) : NULL;
  b->tightener = b->of[1] ? tightener_new(&b->net, units, wide, e) : NULL;
  return b->tightener ? R4_OK : e->status;
}

static r4_status check(const struct brancher *b, const double *lo, const double *hi, size_t questions,
                       const struct branch_question *q, r4_error *e)
{
  size_t features = (size_t)r4_shape_count(r4_net_input(b->net.net));
  if (b->functionals > BRANCH_FUNCTIONALS || !b->functionals)
    return r4_fail(e, R4_E_ARGUMENT, "branching: %zu constraints are to hold at once, expected 1 to %d",
                   b->functionals, BRANCH_FUNCTIONALS);
  for (size_t k = 0; k < features; k++)
    if (!(lo[k] <= hi[k]) || !isfinite(lo[k]) || !isfinite(hi[k]))
      return r4_fail(e, R4_E_ARGUMENT, "branching: feature %zu is between %g and %g, expected finite numbers, the "
                                       "lower one first", k, lo[k], hi[k]);
  for (size_t k = 0; k < questions; k++)
    if (!q[k].functionals || q[k].functionals > b->functionals)
      return r4_fail(e, R4_E_ARGUMENT, "branching: question %zu has %zu functionals, expected 1 to %zu", k,
                     q[k].functionals, b->functionals);
  return R4_OK;
}

static r4_status bound(struct branching *w, r4_error *e)
{
  struct brancher *b = w->b;
  struct relaxed_units units;
  double *least, *most;
  double began = now();
  r4_status s = relaxed_ends(&b->net, w->whole.lo, w->whole.hi, &units, &least, &most, e);
  if (!s) s = compile(b, &units, e);
  w->whole.least = least, w->whole.most = most;
  if (!s) s = tighten(b->tightener, &w->whole, least, most, began + SHARE * (w->end - began), e);
  if (!s) s = branch(w, e);
  r4_mem_free(least);
  return s;
}

r4_status brancher_run(struct brancher *b, const double *lo, const double *hi, size_t questions,
                       const struct branch_question *question, const struct branch_options *options, double *point,
                       struct branch_result *result, r4_error *e)
{
  struct branching w = {.b = b, .whole = {.lo = lo, .hi = hi}, .questions = questions, .question = question,
                        .o = options, .point = point, .result = result, .end = now() + options->seconds};
  *result = (struct branch_result){.is = BRANCH_OPEN, .least = INFINITY};
  r4_status s = check(b, lo, hi, questions, question, e);
  for (int k = 0; k < 2 && !s; k++)
    if (!b->falsifier[k] && !(b->falsifier[k] = falsifier_new(&b->net, k ? WIDE : NARROW, b->functionals, e)))
      s = e->status;
  if (!s && options->starts) s = attack(&w, e);
  return !s && result->is == BRANCH_OPEN ? bound(&w, e) : s;
}
