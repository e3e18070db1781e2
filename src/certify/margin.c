#include "certify/margin.h"

#include <math.h>

#include "op/sound.h"

/* Another program may compute the same bound by other sound arithmetic: the margin leaves room for that. */
static const double ROOM = 1e-6;

/* A weight or bias: an input, perhaps in another shape or repeated for each row. */
static r4_id stored(const r4_graph *g, r4_id x)
{
  while (graph_is(g, x, &op_broadcast) || graph_is(g, x, &op_reshape)) x = graph_arg(g, x, 0);
  return graph_is(g, x, &op_input) ? x : R4_NONE;
}

/* h W^T with W stored. */
static bool is_linear(struct margins *m, const r4_graph *g, r4_id y)
{
  if (!graph_is(g, y, &op_matmul) || r4_node_shape(g, y).rank != 2) return false;
  const struct attr *attr = &graph_node(g, y)->attr;
  r4_id w = graph_arg(g, y, 1);
  if (attr->i[0] || !attr->i[1] || !graph_is(g, w, &op_input)) return false;
  m->hidden = graph_arg(g, y, 0);
  m->weights = w;
  m->features = r4_node_shape(g, w).dim[1];
  return true;
}

void margins_find(struct margins *m, const r4_graph *g, r4_id logits, r4_semantics semantics)
{
  *m = (struct margins){.logits = logits, .any_float = semantics == R4_SEMANTICS_ANY_FLOAT};
  r4_shape shape = r4_node_shape(g, logits);
  m->classes = shape.rank == 2 ? shape.dim[1] : 1;
  if (m->classes < 2 || is_linear(m, g, logits) || !graph_is(g, logits, &op_add)) return;
  for (size_t k = 0; k < 2; k++) {
    r4_id bias = stored(g, graph_arg(g, logits, 1 - k));
    if (!bias.i || r4_shape_count(r4_node_shape(g, bias)) != m->classes) continue;
    if (is_linear(m, g, graph_arg(g, logits, k))) {
      m->bias = bias;
      return;
    }
  }
}

size_t margins_nodes(const struct margins *m, r4_id node[MARGIN_NODES])
{
  size_t n = 0;
  node[n++] = m->logits;
  if (m->hidden.i) node[n++] = m->hidden;
  if (m->weights.i) node[n++] = m->weights;
  if (m->bias.i) node[n++] = m->bias;
  return n;
}

static double size_of(const struct margins *m, const struct encloser *x, int64_t i, int64_t k)
{
  int64_t at = i * m->classes + k;
  return sound_largest(encloser_lo(x, m->logits)[at], encloser_hi(x, m->logits)[at]);
}

/* The float logit of class c is off by at most this: a sum of products and the bias, in any order. */
static double float_error_of(const struct margins *m, const struct encloser *x, int64_t i, int64_t c)
{
  const double *lo = encloser_lo(x, m->hidden) + i * m->features, *hi = encloser_hi(x, m->hidden) + i * m->features;
  const double *w = encloser_lo(x, m->weights) + c * m->features;
  double sum = m->bias.i ? fabs(encloser_lo(x, m->bias)[c]) : 0;
  for (int64_t k = 0; k < m->features; k++) sum += sound_largest(lo[k], hi[k]) * fabs(w[k]);
  sum = sound_up(sum + sound_sum_error((double)m->features + 1, sum));
  return sound_up(sound_float_error((double)m->features + 1, sum));
}

/* sum_k d_k h_k + (b_c - b_j), d = W_c - W_j. Each term is rounded twice, d included, before it is added. */
static double merged(const struct margins *m, const struct encloser *x, int64_t i, int64_t c, int64_t j)
{
  const double *lo = encloser_lo(x, m->hidden) + i * m->features, *hi = encloser_hi(x, m->hidden) + i * m->features;
  const double *w = encloser_lo(x, m->weights), *a = w + c * m->features, *b = w + j * m->features;
  double sum = 0, size = 0;
  if (m->bias.i) {
    sum = encloser_lo(x, m->bias)[c] - encloser_lo(x, m->bias)[j];
    size = fabs(sum);
  }
  for (int64_t k = 0; k < m->features; k++) {
    double d = a[k] - b[k], term = d * (d < 0 ? hi[k] : lo[k]);
    sum += term;
    size += fabs(term);
  }
  sum -= sound_sum_error((double)m->features + 8, size);
  if (m->any_float) sum -= sound_up(float_error_of(m, x, i, c) + float_error_of(m, x, i, j));
  return sound_down(sum);
}

static double separate(const struct margins *m, const struct encloser *x, int64_t i, int64_t c, int64_t j)
{
  return sound_down(encloser_lo(x, m->logits)[i * m->classes + c] - encloser_hi(x, m->logits)[i * m->classes + j]);
}

static double with_room(double margin, double sizes)
{
  double rounded = sound_down(margin - sound_up(sound_up(fabs(margin) + sizes) * (ROOM * (1 + 1e-9))));
  return rounded == rounded ? rounded : -INFINITY;
}

double margins_least(const struct margins *m, const struct encloser *x, int64_t i, int64_t c)
{
  if (m->classes == 1) {
    double margin = c ? encloser_lo(x, m->logits)[i] : -encloser_hi(x, m->logits)[i];
    return with_room(margin, size_of(m, x, i, 0));
  }
  double least = INFINITY, own = size_of(m, x, i, c);
  for (int64_t j = 0; j < m->classes; j++) {
    if (j == c) continue;
    double one = m->hidden.i ? merged(m, x, i, c, j) : separate(m, x, i, c, j);
    if (!m->any_float || !m->hidden.i) one = sound_max(one, separate(m, x, i, c, j));
    least = sound_min(with_room(one, sound_up(own + size_of(m, x, i, j))), least);
  }
  return least;
}
