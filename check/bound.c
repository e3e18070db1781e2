/* Interval arithmetic, by directed rounding.
 *
 * A number x that is known to be in [lo, hi] is kept as two upper bounds, up >= x and dn >= -x, and the processor
 * rounds every operation upward. Then sums of upper bounds, and their products with numbers that are not negative, are
 * upper bounds of what they would be without rounding: whatever the order, and with or without fused operations.
 *
 *     w x     <= |w| up  and  -w x <= |w| dn    if w >= 0;    <= |w| dn  and  <= |w| up    if w < 0
 *     x + y   <= x.up + y.up,                  -(x + y) <= x.dn + y.dn
 *     x / n   <= x.up / n                      for a constant n > 0
 *
 * relu, max and the like are increasing: the bounds go through. Weights are float32, which double has exactly. What
 * overflows is infinite, and 0 times that is not a number: no comparison with it is true, so nothing is claimed of it.
 * The compiler must know (-frounding-math), and round_upward asks the processor whether it does so.
 *
 * any_float: the net is computed in float32, u = 2^-24, in some order, with or without fused operations. A sum of n
 * products then has an error of at most g(n + 2) sum |w||x| + n 2^-149, g(k) = k u / (1 - k u) (Higham, Accuracy and
 * Stability of Numerical Algorithms, section 3.1; the last term is underflow), if nothing overflows. It is added to
 * both bounds. It is known for dense, conv, depthwise, sums and means, and for no other part that rounds. */
#include "check.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined __FAST_MATH__ || FLT_EVAL_METHOD != 0 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "needs IEEE arithmetic as it is written, and little-endian numbers"
#endif

/* The bounds of one feature in all lanes, and of sum |w||x|. */
struct sum {
  double up[LANES], dn[LANES], size[LANES];
};

struct value value_new(struct shape s)
{
  size_t n = shape_size(&s) * LANES;
  return (struct value){s, take(n, sizeof(double)), take(n, sizeof(double))};
}

struct value value_copy(const struct value *v)
{
  struct value to = value_new(v->shape);
  size_t bytes = shape_size(&v->shape) * LANES * sizeof(double);
  memcpy(to.up, v->up, bytes);
  memcpy(to.dn, v->dn, bytes);
  return to;
}

void value_free(struct value *v)
{
  free(v->up);
  free(v->dn);
}

/* s += w x */
static inline void add_to(const struct run *r, struct sum *restrict s, double w, const double *up, const double *dn)
{
  add(s->up, s->dn, w, up, dn);
  for (int b = 0; b < LANES && r->any_float; b++) s->size[b] += (w < 0 ? -w : w) * larger(up[b], dn[b]);
}

/* What any order of n products and their sum in float32 may be off by. */
static double float_error(size_t n, double size)
{
  double g = ((double)n + 2) * 0x1p-24, error = g / -(g - 1) * size + (double)n * 0x1p-149;
  return g < 0.5 && size + error <= FLT_MAX ? error : INFINITY;
}

/* The sum of n products, or its n-th part, becomes a feature of y. */
static void put(const struct run *r, const struct sum *s, size_t n, size_t divisor, struct value *y, size_t feature)
{
  for (size_t b = 0, k = feature * LANES; b < LANES; b++, k++) {
    double error = r->any_float ? float_error(n + (divisor > 1 ? 2 : 0), s->size[b]) : 0;
    y->up[k] = (s->up[b] + error) / (double)divisor;
    y->dn[k] = (s->dn[b] + error) / (double)divisor;
  }
}

/* ---- Windows ---- */

int64_t window_pixel(const struct part *p, size_t k, int64_t i)
{
  int64_t size = p->num['k'], h = (int64_t)p->in.h, w = (int64_t)p->in.w;
  int64_t y = (int64_t)(k / p->out.w % p->out.h) * p->num['s'] - p->pad[0] + i / size * p->num['d'];
  int64_t x = (int64_t)(k % p->out.w) * p->num['s'] - p->pad[1] + i % size * p->num['d'];
  return y < 0 || x < 0 || y >= h || x >= w ? -1 : y * w + x;
}

/* y[o] = sum of w[o][c][i] x[c][i] + bias[o] over the channels c of a group and the pixels i of a window */
static void sums(const struct run *r, const struct part *p, const struct value *x, struct value *y)
{
  static const double one[LANES] = {1, 1, 1, 1, 1, 1, 1, 1}, minus_one[LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
  size_t area = p->out.h * p->out.w, size = (size_t)(p->num['k'] * p->num['k']), pixels = p->in.h * p->in.w;
  size_t group = (size_t)(p->num['n'] / p->num['g']), n = p->in.c / (size_t)p->num['g'];
  for (size_t k = 0; k < shape_size(&p->out); k++) {
    size_t o = k / area, from = o / group * n;
    struct sum s = {{0}, {0}, {0}};
    for (size_t i = 0; i < size; i++) {
      int64_t at = window_pixel(p, k, (int64_t)i);
      for (size_t c = 0; c < n && at >= 0; c++) {
        size_t f = ((from + c) * pixels + (size_t)at) * LANES;
        add_to(r, &s, p->weight[(o * n + c) * size + i], x->up + f, x->dn + f);
      }
    }
    if (p->bias) add_to(r, &s, p->bias[o], one, minus_one);
    put(r, &s, n * size + 1, 1, y, k);
  }
}

/* Means count the padding as 0. -max(x) is the smallest of all -x. */
static void pool(const struct run *r, const struct part *p, const struct value *x, struct value *y)
{
  size_t area = p->out.h * p->out.w, pixels = p->in.h * p->in.w, size = (size_t)(p->num['k'] * p->num['k']);
  for (size_t k = 0; k < shape_size(&p->out); k++) {
    struct sum s = {{0}, {0}, {0}};
    double *up = y->up + k * LANES, *dn = y->dn + k * LANES;
    for (size_t b = 0; b < LANES; b++) up[b] = -INFINITY, dn[b] = INFINITY;
    for (size_t i = 0; i < size; i++) {
      int64_t at = window_pixel(p, k, (int64_t)i);
      if (at < 0) continue;
      size_t f = (k / area * pixels + (size_t)at) * LANES;
      add_to(r, &s, 1, x->up + f, x->dn + f);
      for (size_t b = 0; b < LANES; b++) up[b] = larger(up[b], x->up[f + b]), dn[b] = smaller(dn[b], x->dn[f + b]);
    }
    if (is(p, "avgpool")) put(r, &s, size, size, y, k);
  }
}

/* The mean of all pixels of a channel, or of the tokens that are there; or the first token. */
static void mean(const struct run *r, const struct part *p, const struct value *x, struct value *y)
{
  size_t all = p->in.h * p->in.w;
  for (size_t k = 0; k < p->out.c * LANES; k++) {
    size_t there = p->in.rank == TOKENS && r->batch->length[k % LANES] < all ? r->batch->length[k % LANES] : all;
    double up = 0, dn = 0, size = 0;
    if (is(p, "first")) there = 1;
    for (size_t t = 0; t < there; t++) {
      size_t f = (k / LANES * all + t) * LANES + k % LANES;
      up += x->up[f], dn += x->dn[f], size += larger(x->up[f], x->dn[f]);
    }
    double error = r->any_float && there > 1 ? float_error(all + 2, size) : 0, n = there ? (double)there : 1;
    y->up[k] = (up + error) / n;
    y->dn[k] = (dn + error) / n;
  }
}

/* ---- Other parts ---- */

/* 1 / sqrt(v) of v > 0: Newton finds s, and s (1 +- 2^-46) is taken if its square proves it. */
static struct range inverse_root(struct range v)
{
  double s = v.up > 1 ? 1 / v.up : 1;
  for (int k = 0; k < 300; k++) s *= 1.5 - 0.5 * v.up * s * s;
  double up = s + s * 0x1p-46, dn = s * 0x1p-46 - s, least = -(-up * up * -v.dn); /* up^2 v, rounded down */
  bool proved = up > 0 && dn < 0 && v.dn < 0 && least >= 1 && dn * dn * v.up <= 1;
  return proved ? (struct range){up, dn} : (struct range){INFINITY, INFINITY};
}

/* batchnorm (x - mean) / sqrt(var + eps) weight + bias;  normalize (x - mean) / std */
struct scaling scaling_of(const struct part *p, size_t c)
{
  if (p->var) {
    struct range root = inverse_root((struct range){p->var[c] + p->eps.up, p->eps.dn - p->var[c]});
    return (struct scaling){times(root, exactly(p->weight[c])), exactly(p->mean[c]), exactly(p->bias[c])};
  }
  struct range std = p->list[1][p->listed[1] > 1 ? c : 0];
  struct range by = std.dn < 0 ? (struct range){1 / -std.dn, -1 / std.up} : (struct range){INFINITY, INFINITY};
  return (struct scaling){by, p->list[0][p->listed[0] > 1 ? c : 0], {0, 0}};
}

static void affine(const struct run *r, const struct part *p, const struct value *x, struct value *y)
{
  size_t area = p->in.h * p->in.w * LANES;
  double unknown = r->any_float ? INFINITY : 0;
  for (size_t c = 0; c < p->in.c; c++) {
    struct scaling a = scaling_of(p, c);
    for (size_t i = c * area; i < (c + 1) * area; i++) {
      struct range z = times((struct range){x->up[i] + a.minus.dn, x->dn[i] + a.minus.up}, a.by);
      y->up[i] = z.up + a.plus.up + unknown;
      y->dn[i] = z.dn + a.plus.dn + unknown;
    }
  }
}

/* The smallest box that has the vectors of all words that a token may be. */
static void embedding(const struct run *r, const struct part *p, struct value *y)
{
  for (size_t k = 0; k < shape_size(&p->out) * LANES; k++) {
    size_t b = k % LANES, t = k / LANES % p->out.w, c = k / LANES / p->out.w;
    for (size_t i = 0; i <= (r->batch->vary[b][t] ? r->c->words : 0); i++) {
      int64_t id = i ? r->c->word[i - 1] : r->batch->id[b][t];
      if (id < 0 || id >= p->num['n']) refuse("the net has no token %lld", (long long)id);
      double w = p->weight[(size_t)id * p->out.c + c];
      y->up[k] = i ? larger(y->up[k], w) : w;
      y->dn[k] = i ? larger(y->dn[k], -w) : -w;
    }
  }
}

static void relu(const struct run *r, const struct part *p, struct value *y)
{
  if (r->at_relu) {
    r->at_relu(r->of, p, y);
    return;
  }
  for (size_t k = 0; k < shape_size(&y->shape) * LANES; k++) {
    struct range v = clipped((struct range){y->up[k], y->dn[k]}, is(p, "relu6") ? 6 : INFINITY);
    y->up[k] = v.up, y->dn[k] = v.dn;
  }
}

static void branches(const struct run *r, const struct part *p, const struct value *x, struct value *y)
{
  for (size_t k = 0; k < p->branches; k++) {
    struct value z = apply(r, p->branch[k], NULL, value_copy(x));
    for (size_t i = 0; i < shape_size(&p->out) * LANES; i++) {
      double size = larger(y->up[i], y->dn[i]) + larger(z.up[i], z.dn[i]);
      double error = r->any_float && k ? float_error(p->branches, size) : 0; /* in any order */
      y->up[i] += z.up[i] + error;
      y->dn[i] += z.dn[i] + error;
    }
    value_free(&z);
  }
}

struct value apply(const struct run *r, const struct part *p, const struct part *end, struct value x)
{
  for (; p && p != end; p = p->next) {
    bool same = is(p, "relu") || is(p, "relu6") || is(p, "flatten") || is(p, "leaf") || is(p, "dropout");
    struct value y = same ? x : value_new(p->out);
    y.shape = p->out;
    if (is(p, "dense") || is(p, "conv") || is(p, "depthwise")) sums(r, p, &x, &y);
    if (is(p, "maxpool") || is(p, "avgpool")) pool(r, p, &x, &y);
    if (is(p, "mean") || is(p, "first") || is(p, "globalpool")) mean(r, p, &x, &y);
    if (is(p, "batchnorm") || is(p, "normalize")) affine(r, p, &x, &y);
    if (is(p, "embedding")) embedding(r, p, &y);
    if (is(p, "relu") || is(p, "relu6")) relu(r, p, &y);
    if (p->branches) branches(r, p, &x, &y);
    if (!same) value_free(&x);
    x = y;
  }
  return x;
}

/* ---- Margins ---- */

/* At least z_i - z_j for every x in a lane; a negative index is that of 0. The last layer is merged: with d = w_i - w_j
 * it is the sum of d x, which is less than the difference of two bounds, as x is the same in both. */
static double difference(const struct run *r, const struct part *last, const struct value *x, size_t b, int64_t i,
                         int64_t j)
{
  size_t n = x->shape.c;
  if (!last) return (i < 0 ? 0 : x->up[(size_t)i * LANES + b]) + (j < 0 ? 0 : x->dn[(size_t)j * LANES + b]);
  double bi = last->bias && i >= 0 ? last->bias[i] : 0, bj = last->bias && j >= 0 ? last->bias[j] : 0;
  double sum = bi - bj, si = larger(bi, -bi), sj = larger(bj, -bj);
  for (size_t k = 0; k < n; k++) {
    struct range v = {x->up[k * LANES + b], x->dn[k * LANES + b]};
    double p = i < 0 ? 0 : last->weight[(size_t)i * n + k], q = j < 0 ? 0 : last->weight[(size_t)j * n + k];
    sum += most((struct range){p - q, q - p}, v);
    if (r->any_float) si += larger(p, -p) * larger(v.up, v.dn), sj += larger(q, -q) * larger(v.up, v.dn);
  }
  return r->any_float ? sum + float_error(n + 1, si) + float_error(n + 1, sj) : sum;
}

/* A net with one output z has two classes, of 0 and of z. */
struct margins net_margins(const struct net *n, const struct certificate *c, struct batch *batch)
{
  const struct run r = {.c = c, .batch = batch, .any_float = c->semantics == ANY_FLOAT};
  const struct part *last = n->first;
  int64_t single = n->out.c == 1;
  struct margins m;
  while (last && (last->next || !is(last, "dense"))) last = last->next;
  struct value x = apply(&r, n->first, last, batch->x);
  for (size_t b = 0; b < LANES; b++) {
    int64_t class = batch->class[b] - single;
    double against = -INFINITY;
    m.high[b] = INFINITY, m.size[b] = 0;
    for (int64_t j = -single; j < (int64_t)n->out.c; j++) {
      double z = j < 0 || c->semantics != THIS_PROGRAM ? 0 : difference(&r, last, &x, b, j, -1);
      m.size[b] = larger(m.size[b], larger(z, -z));
      if (j == class) continue;
      against = larger(against, difference(&r, last, &x, b, j, class));
      m.high[b] = smaller(m.high[b], difference(&r, last, &x, b, class, j));
    }
    m.low[b] = -against;
  }
  value_free(&x);
  return m;
}

/* Asks the processor with what must be rounded: products, sums, quotients, whole numbers, numbers close to 0. */
void round_upward(void)
{
  const struct run r = {.any_float = false};
  volatile double tiny = 0x1p-30, three = 3, least = 0x1p-1074, unit = 1;
  volatile int64_t large = ((int64_t)1 << 60) + 1;
  struct sum s = {{0}, {0}, {0}};
  double up[LANES], dn[LANES];
  bool acts = !fesetround(FE_UPWARD);
  for (int b = 0; b < LANES; b++) s.up[b] = unit, s.dn[b] = -unit, up[b] = tiny, dn[b] = -tiny;
  add_to(&r, &s, tiny, up, dn);
  for (int b = 0; b < LANES; b++) acts = acts && s.up[b] == 1 + 0x1p-52 && s.dn[b] == -1;
  acts = acts && 1 / three + -1 / three > 0 && least * 0.5 == least && 0x1p-1022 * tiny > 0 && (double)large > 0x1p60;
  if (!acts) refuse("this processor or compiler does not round upward as it must");
}
