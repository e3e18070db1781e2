/* enumerate_case.h - the least value of a functional of a tiny net on two features, exactly but for rounding: the box
 * is cut into the polygons of all activation patterns, where the net is affine. */
#ifndef ENUMERATE_CASE_H
#define ENUMERATE_CASE_H

#include <math.h>
#include <string.h>

#include "check.h"

enum { FEATURES = 2, MOST_UNITS = 6, LAYERS = 3, CORNERS = 64 };

struct affine {
  double w[FEATURES], b;
};

struct polygon {
  size_t n;
  double at[CORNERS][FEATURES];
};

struct tiny {
  size_t layers, width[LAYERS + 1]; /* the last one: outputs */
  const float *weights;             /* as the net has them: of each layer W, then b */
};

static inline double value(const struct affine *f, const double *x)
{
  return f->w[0] * x[0] + f->w[1] * x[1] + f->b;
}

/* The part of p where sign f >= 0. */
static inline struct polygon clip(const struct polygon *p, const struct affine *f, double sign)
{
  struct polygon to = {.n = 0};
  for (size_t k = 0; k < p->n; k++) {
    const double *a = p->at[k], *b = p->at[(k + 1) % p->n];
    double u = sign * value(f, a), v = sign * value(f, b);
    assert_true(to.n + 2 < CORNERS);
    if (u >= 0) memcpy(to.at[to.n++], a, sizeof to.at[0]);
    if ((u < 0) == (v < 0)) continue;
    double t = u / (u - v);
    for (int i = 0; i < FEATURES; i++) to.at[to.n][i] = a[i] + t * (b[i] - a[i]);
    to.n++;
  }
  return to;
}

struct question {
  size_t functionals, outputs;
  double coef[2 * MOST_UNITS], rest[2];
};

/* The least of max_k g_k over p, where the outputs are affine: in each part where one of two is larger, at a corner. */
static inline double least_of(const struct polygon *p, const struct affine *z, const struct question *q)
{
  struct affine g[2] = {{{0}, 0}};
  double least = INFINITY;
  for (size_t k = 0; k < q->functionals; k++) {
    g[k].b = q->rest[k];
    for (size_t j = 0; j < q->outputs; j++) {
      for (int i = 0; i < FEATURES; i++) g[k].w[i] += q->coef[k * q->outputs + j] * z[j].w[i];
      g[k].b += q->coef[k * q->outputs + j] * z[j].b;
    }
  }
  struct affine d = {{g[0].w[0] - g[1].w[0], g[0].w[1] - g[1].w[1]}, g[0].b - g[1].b};
  for (size_t k = 0; k < q->functionals; k++) {
    struct polygon part = q->functionals > 1 ? clip(p, &d, k ? -1 : 1) : *p;
    for (size_t c = 0; c < part.n; c++) least = fmin(least, value(&g[k], part.at[c]));
  }
  return least;
}

static inline void layer(const struct tiny *n, size_t l, const struct affine *h, struct affine *to)
{
  const float *w = n->weights;
  for (size_t k = 0, in = FEATURES; k < l; in = n->width[k++]) w += (in + 1) * n->width[k];
  size_t in = l ? n->width[l - 1] : FEATURES, out = n->width[l];
  for (size_t j = 0; j < out; j++) {
    to[j] = (struct affine){{0}, (double)w[out * in + j]};
    for (size_t k = 0; k < in; k++) {
      for (int i = 0; i < FEATURES; i++) to[j].w[i] += (double)w[j * in + k] * h[k].w[i];
      to[j].b += (double)w[j * in + k] * h[k].b;
    }
  }
}

/* Units before the one of this number are decided in p: h are arguments from it on, and results before it. */
static inline double enumerate(const struct tiny *n, size_t l, size_t unit, const struct affine *h,
                               const struct polygon *p, const struct question *q)
{
  struct affine next[MOST_UNITS];
  if (!p->n) return INFINITY;
  if (l == n->layers) return least_of(p, h, q);
  if (unit == n->width[l]) {
    layer(n, l + 1, h, next);
    return enumerate(n, l + 1, 0, next, p, q);
  }
  struct polygon on = clip(p, &h[unit], 1), off = clip(p, &h[unit], -1);
  double a = enumerate(n, l, unit + 1, h, &on, q);
  memcpy(next, h, n->width[l] * sizeof *h);
  next[unit] = (struct affine){{0}, 0};
  return fmin(a, enumerate(n, l, unit + 1, next, &off, q));
}

static inline double exact_least(const struct tiny *n, const double *lo, const double *hi, const struct question *q)
{
  struct affine x[FEATURES] = {{{1, 0}, 0}, {{0, 1}, 0}}, h[MOST_UNITS];
  struct polygon box = {4, {{lo[0], lo[1]}, {hi[0], lo[1]}, {hi[0], hi[1]}, {lo[0], hi[1]}}};
  layer(n, 0, x, h);
  return enumerate(n, 0, 0, h, &box, q);
}

#endif
