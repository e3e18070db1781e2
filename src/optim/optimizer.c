/* Optimisers: one pass over memory per step, written so that the compiler can vectorise it.
 *
 *     SGD     g <- g + decay w;  v <- momentum v + g;  w <- w - rate v
 *     Adam    g <- g + decay w;  m <- m + (1 - beta1)(g - m);  v <- beta2 v + (1 - beta2) g^2;
 *             w <- w - rate / (1 - beta1^t)  m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
 *     AdamW   w <- w - rate decay w, then as Adam without decay
 *
 * as torch.optim has them, in the same order of operations. Adam's loop becomes vector code only
 * under -fno-math-errno, since sqrtf may otherwise set errno; its values do not depend on that. */
#include "optim/optimizer.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

const char *const optimizer_words[] = {[R4_SGD] = "sgd", [R4_ADAM] = "adam", [R4_ADAMW] = "adamw", NULL};

/* Below this many parameters waking the other threads costs more than they save. */
enum { PARALLEL = 1 << 14, CHUNK = 1 << 12 };

struct r4_optimizer {
  r4_optimizer_options options;
  size_t n;
  int64_t steps;
  float *state; /* v of SGD; m and then v of Adam */
};

/* What one step needs: everything that does not depend on the element, as float. */
struct step {
  float rate, decay, momentum;
  float mean, square, keep; /* 1 - beta1, 1 - beta2, beta2  */
  float unbias, epsilon;    /* 1 / sqrt(1 - beta2^t)        */
  float shrink;             /* AdamW: 1 - rate decay        */
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
    return r4_fail(e, R4_E_ARGUMENT, "optimizer: %s is %g, expected a finite number from %g on", name, value,
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
  r4_optimizer *o = r4_mem_new(1, sizeof *o);
  float *state = n <= SIZE_MAX / 16 ? r4_mem_new_aligned(arrays * n * sizeof *state) : NULL;
  if (!o || !state) {
    r4_mem_free(o);
    r4_mem_free(state);
    r4_fail(e, R4_E_MEMORY, "optimizer: no memory for %zu parameters", n);
    return NULL;
  }
  *o = (r4_optimizer){.options = *options, .n = n, .state = state};
  return o;
}

void r4_optimizer_free(r4_optimizer *o)
{
  if (!o) return;
  r4_mem_free(o->state);
  r4_mem_free(o);
}

r4_status r4_optimizer_set_rate(r4_optimizer *o, double learning_rate, r4_error *e)
{
  NEEDS(o, "an optimizer", R4_E_ARGUMENT);
  r4_error_clear(e);
  if (!(learning_rate >= 0 && isfinite(learning_rate)))
    return r4_fail(e, R4_E_ARGUMENT, "optimizer: learning rate %g, expected a finite number from 0 on",
                   learning_rate);
  o->options.learning_rate = learning_rate;
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

void r4_optimizer_reset(r4_optimizer *o)
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
static struct step step_of(const r4_optimizer *o)
{
  const r4_optimizer_options *p = &o->options;
  double t = (double)o->steps, rate = p->learning_rate;
  bool decoupled = p->kind == R4_ADAMW;
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
    .shrink = decoupled ? (float)(1 - p->learning_rate * p->weight_decay) : 1,
  };
}

void r4_optimizer_step(r4_optimizer *o, float *weights, const float *gradient)
{
  o->steps++;
  const struct step s = step_of(o);
  const size_t n = o->n, chunks = (n + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) if (n > PARALLEL)
  for (size_t k = 0; k < chunks; k++) {
    size_t i = k * CHUNK, size = n - i < CHUNK ? n - i : CHUNK;
    if (o->options.kind == R4_SGD) {
      sgd(s, size, weights + i, gradient + i, o->state + i);
    } else {
      adam(s, size, weights + i, gradient + i, o->state + i, o->state + n + i);
    }
  }
}
