/* Optimisers: one pass over memory per step, written so that the compiler can vectorise it.
 *
 *     SGD     g <- g + decay w;  v <- momentum v + g;  w <- w - rate v
 *     Adam    g <- g + decay w;  m <- m + (1 - beta1)(g - m);  v <- beta2 v + (1 - beta2) g^2;
 *             w <- w - rate / (1 - beta1^t)  m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
 *     AdamW   w <- w - rate decay w, then as Adam without decay
 *
 * as torch.optim has them, in the same order of operations. A range of the weights may have a factor of its own, with
 * which its rate is multiplied, and so what decay takes by the rate; with 0 it is frozen. Adam's loop becomes vector
 * code only under -fno-math-errno, since sqrtf may otherwise set errno; its values do not depend on that. */
#include "optim/optimizer.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

const char *const optimizer_words[] = {[R4_SGD] = "sgd", [R4_ADAM] = "adam", [R4_ADAMW] = "adamw", NULL};

/* Below this many parameters waking the other threads costs more than they save. */
enum { PARALLEL = 1 << 14, CHUNK = 1 << 12 };

/* What one step needs: everything that does not depend on the element, as float. */
struct step {
  float rate, decay, momentum;
  float mean, square, keep; /* 1 - beta1, 1 - beta2, beta2  */
  float unbias, epsilon;    /* 1 / sqrt(1 - beta2^t)        */
  float shrink;             /* AdamW: 1 - rate decay        */
};

/* Weights with one rate, from the end of the stretch before. */
struct stretch {
  size_t end;
  double factor;
  struct step step; /* the present one */
};

struct r4_optimizer {
  r4_optimizer_options options;
  size_t n;
  int64_t steps;
  float *state; /* v of SGD; m and then v of Adam */
  struct stretch *stretch;
  size_t stretches; /* the last ends at n */
};

r4_optimizer_options r4_optimizer_defaults(r4_optimizer_kind kind)
{
  return (r4_optimizer_options){.kind = kind,
                                .learning_rate = kind == R4_SGD ? 1e-2 : 1e-3,
                                .momentum = kind == R4_SGD ? 0.9 : 0,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .epsilon = 1e-8};
}

/* lowest <= value < limit; false for NaN. */
static r4_status check_range(const char *name, double value, double lowest, double limit, r4_error *e)
{
  if (value >= lowest && value < limit) return R4_OK;
  if (isinf(limit)) {
    return r4_fail(e, R4_E_ARGUMENT, "optimizer: %s is %g, expected a finite number of at least %g", name, value,
                   lowest);
  }
  return r4_fail(e, R4_E_ARGUMENT, "optimizer: %s is %g, expected %g <= %s < %g", name, value, lowest, name,
                 limit);
}

static r4_status check_options(const r4_optimizer_options *o, r4_error *e)
{
  if (!o) return r4_fail(e, R4_E_ARGUMENT, "optimizer: options are missing");
  if (o->kind != R4_SGD && o->kind != R4_ADAM && o->kind != R4_ADAMW) {
    return r4_fail(e, R4_E_ARGUMENT, "optimizer: kind is %d, expected R4_SGD, R4_ADAM or R4_ADAMW",
                   (int)o->kind);
  }
  r4_status s = check_range("learning_rate", o->learning_rate, 0, HUGE_VAL, e);
  if (!s) s = check_range("weight_decay", o->weight_decay, 0, HUGE_VAL, e);
  if (o->kind == R4_SGD) return s ? s : check_range("momentum", o->momentum, 0, 1, e);
  if (!s) s = check_range("beta1", o->beta1, 0, 1, e);
  if (!s) s = check_range("beta2", o->beta2, 0, 1, e);
  if (!s && !(o->epsilon > 0 && isfinite(o->epsilon))) {
    s = r4_fail(e, R4_E_ARGUMENT, "optimizer: epsilon is %g, expected a finite number above 0", o->epsilon);
  }
  return s;
}

/* v of SGD; m and v of Adam. */
static size_t arrays_of(r4_optimizer_kind kind)
{
  return kind == R4_SGD ? 1 : 2;
}

r4_optimizer *r4_optimizer_new(size_t n, const r4_optimizer_options *options, r4_error *e)
{
  r4_error_clear(e);
  if (check_options(options, e)) return NULL;
  size_t arrays = arrays_of(options->kind);
  r4_optimizer *o = mem_new(1, sizeof *o, "an optimizer", e);
  float *state = mem_new_aligned(n, arrays * sizeof *state, "an optimizer", e);
  struct stretch *all = mem_new(1, sizeof *all, "an optimizer", e);
  if (!o || !state || !all) {
    r4_mem_free(o);
    r4_mem_free(state);
    r4_mem_free(all);
    return NULL;
  }
  *all = (struct stretch){.end = n, .factor = 1};
  *o = (r4_optimizer){.options = *options, .n = n, .state = state, .stretch = all, .stretches = 1};
  return o;
}

void r4_optimizer_free(r4_optimizer *o)
{
  if (!o) return;
  r4_mem_free(o->stretch);
  r4_mem_free(o->state);
  r4_mem_free(o);
}

r4_status r4_optimizer_set_rate(r4_optimizer *o, double learning_rate, r4_error *e)
{
  NEEDS(o, "an optimizer", R4_E_ARGUMENT);
  r4_error_clear(e);
  if (!(learning_rate >= 0 && isfinite(learning_rate)))
    return r4_fail(e, R4_E_ARGUMENT, "optimizer: learning rate %g, expected a finite number of at least 0",
                   learning_rate);
  o->options.learning_rate = learning_rate;
  return R4_OK;
}

static r4_status check_ranges(const r4_optimizer *o, size_t n, const r4_rate_range *range, r4_error *e)
{
  size_t at = 0;
  for (size_t k = 0; k < n; at = range[k].first + range[k].count, k++) {
    if (range[k].first < at || range[k].first > o->n || range[k].count > o->n - range[k].first)
      return r4_fail(e, R4_E_ARGUMENT,
                     "optimizer: range %zu has %zu weights from %zu on, expected some of %zu to %zu", k,
                     range[k].count, range[k].first, at, o->n);
    if (!(range[k].factor >= 0 && isfinite(range[k].factor)))
      return r4_fail(e, R4_E_ARGUMENT,
                     "optimizer: range %zu has the factor %g, expected a finite number of at least 0", k,
                     range[k].factor);
  }
  return R4_OK;
}

/* Goes on to end, with the last stretch if that has the same factor. */
static void stretch_to(r4_optimizer *o, size_t end, double factor)
{
  size_t begin = o->stretches ? o->stretch[o->stretches - 1].end : 0;
  if (end == begin) return;
  if (!o->stretches || o->stretch[o->stretches - 1].factor != factor) o->stretches++;
  o->stretch[o->stretches - 1] = (struct stretch){.end = end, .factor = factor};
}

r4_status r4_optimizer_set_ranges(r4_optimizer *o, size_t n, const r4_rate_range *range, r4_error *e)
{
  NEEDS(o, "an optimizer", R4_E_ARGUMENT);
  NEEDS(range || !n, "ranges", R4_E_ARGUMENT);
  r4_error_clear(e);
  r4_status s = check_ranges(o, n, range, e);
  if (s) return s;
  struct stretch *stretch =
    mem_new(n + 1, 2 * sizeof *stretch, "the ranges of an optimizer", e); /* and gaps */
  if (!stretch) return R4_E_MEMORY;
  r4_mem_free(o->stretch);
  o->stretch = stretch;
  o->stretches = 0;
  for (size_t k = 0; k < n; k++) {
    stretch_to(o, range[k].first, 1);
    stretch_to(o, range[k].first + range[k].count, range[k].factor);
  }
  stretch_to(o, o->n, 1);
  return R4_OK;
}

const float *r4_optimizer_state(const r4_optimizer *o, size_t *n, int64_t *steps)
{
  *n = arrays_of(o->options.kind) * o->n;
  *steps = o->steps;
  return o->state;
}

r4_status r4_optimizer_restore(r4_optimizer *o, size_t n, const float *state, int64_t steps, r4_error *e)
{
  NEEDS(o, "an optimizer", R4_E_ARGUMENT);
  NEEDS(state || !n, "a state", R4_E_ARGUMENT);
  r4_error_clear(e);
  size_t expected = arrays_of(o->options.kind) * o->n;
  if (n != expected || steps < 0)
    return r4_fail(e, R4_E_ARGUMENT,
                   "optimizer: a state of %zu numbers after %lld steps, expected %zu numbers", n,
                   (long long)steps, expected);
  memcpy(o->state, state, n * sizeof *state);
  o->steps = steps;
  return R4_OK;
}

void optimizer_reset(r4_optimizer *o)
{
  memset(o->state, 0, arrays_of(o->options.kind) * o->n * sizeof *o->state);
  o->steps = 0;
}

static void sgd(const struct step s, size_t n, float *restrict w, const float *restrict gradient,
                float *restrict v)
{
  for (size_t i = 0; i < n; i++) {
    float g = gradient[i] + s.decay * w[i];
    v[i] = s.momentum * v[i] + g;
    w[i] -= s.rate * v[i];
  }
}

static void adam(const struct step s, size_t n, float *restrict w, const float *restrict gradient,
                 float *restrict m, float *restrict v)
{
  for (size_t i = 0; i < n; i++) {
    float old = s.shrink * w[i];
    float g = gradient[i] + s.decay * old;
    m[i] += s.mean * (g - m[i]);
    v[i] = s.keep * v[i] + s.square * g * g;
    w[i] = old - s.rate * m[i] / (sqrtf(v[i]) * s.unbias + s.epsilon);
  }
}

/* Powers and differences in double: 1 - beta2 in float would be off by 1e-5 of itself. */
static struct step step_of(const r4_optimizer *o, double factor)
{
  const r4_optimizer_options *p = &o->options;
  double t = (double)o->steps, rate = factor * p->learning_rate;
  bool decoupled = p->kind == R4_ADAMW;
  float shrink = decoupled ? (float)(1 - rate * p->weight_decay) : 1;
  if (p->kind != R4_SGD) rate /= 1 - pow(p->beta1, t);
  return (struct step){
    .rate = (float)rate,
    .decay = decoupled ? 0 : (float)p->weight_decay,
    .momentum = (float)p->momentum,
    .mean = (float)(1 - p->beta1),
    .square = (float)(1 - p->beta2),
    .keep = (float)p->beta2,
    .unbias = (float)(1 / sqrt(1 - pow(p->beta2, t))),
    .epsilon = (float)p->epsilon,
    .shrink = shrink,
  };
}

static void move(const r4_optimizer *o, const struct step s, size_t i, size_t size, float *weights,
                 const float *gradient)
{
  if (o->options.kind == R4_SGD)
    sgd(s, size, weights + i, gradient + i, o->state + i);
  else
    adam(s, size, weights + i, gradient + i, o->state + i, o->state + o->n + i);
}

/* The first stretch that ends after i. */
static size_t stretch_at(const r4_optimizer *o, size_t i)
{
  size_t low = 0, high = o->stretches;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (o->stretch[middle].end > i)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void move_chunk(const r4_optimizer *o, size_t i, size_t end, float *weights, const float *gradient)
{
  for (size_t k = stretch_at(o, i); i < end; k++) {
    const struct stretch *t = &o->stretch[k];
    size_t to = t->end < end ? t->end : end;
    if (t->factor > 0) move(o, t->step, i, to - i, weights, gradient);
    i = to;
  }
}

void r4_optimizer_step(r4_optimizer *o, float *weights, const float *gradient)
{
  o->steps++;
  for (size_t k = 0; k < o->stretches; k++) o->stretch[k].step = step_of(o, o->stretch[k].factor);
  const size_t n = o->n, chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) if (n > PARALLEL)
  for (size_t k = 0; k < chunks; k++) {
    size_t i = k * CHUNK, size = n - i < CHUNK ? n - i : CHUNK;
    move_chunk(o, i, i + size, weights, gradient);
  }
}
