#include "op_case.h"

#include <math.h>
#include <stdio.h>

#include "op/op_rules.h"

static size_t case_arity(const struct op *op, const struct sample *s)
{
  if (op->arity >= 0) return (size_t)op->arity;
  size_t n = 0;
  while (n < SAMPLE_ARGS && s->in[n].rank) n++;
  return n;
}

void each_case(void (*f)(const struct op_case *c))
{
  for (size_t k = 0; k < op_count(); k++) {
    const struct op *op = op_by_index(k);
    if (op == &op_input) continue;
    if (!op->sample_count) fail_msg("%s has no sample", op->name);
    for (size_t j = 0; j < op->sample_count; j++) {
      struct op_case c = {.op = op, .sample = &op->samples[j]};
      c.n = case_arity(op, c.sample);
      snprintf(c.what, sizeof c.what, "%s sample %zu", op->name, j);
      draw_start((uint32_t)k + 1, (uint32_t)j);
      check_now = c.what;
      f(&c);
      check_now = "";
    }
  }
}

const char *arg_name(const char *prefix, size_t k)
{
  static char name[8][40];
  static unsigned next;
  char *s = name[next++ % 8];
  snprintf(s, sizeof name[0], "%s%c", prefix, (char)('a' + k));
  return s;
}

bool is_index(const struct op_case *c, size_t k)
{
  return op_is_index(c->op, k);
}

unsigned movable(const struct op_case *c)
{
  return ((1u << c->n) - 1) & ~(unsigned)c->op->index_args;
}

r4_id case_build(const struct op_case *c, r4_graph *g, r4_id *arg)
{
  const char *message;
  for (size_t k = 0; k < c->n; k++) arg[k] = r4_input(g, arg_name("", k), c->sample->in[k]);
  r4_id y =
    graph_add(g, c->op, c->n, arg, &c->sample->attr, c->op->needs_shape ? &c->sample->shape : NULL, NULL);
  if (r4_graph_status(g, &message)) fail_msg("%s: %s", c->what, message);
  return y;
}

r4_id weighted_sum(r4_graph *g, r4_id y, const char *weight)
{
  return r4_sum(g, r4_mul(g, y, r4_input(g, weight, r4_node_shape(g, y))), R4_ALL);
}

void case_values(const struct op_case *c, size_t k, double *x, size_t n)
{
  const struct sample *s = c->sample;
  bool ranged = s->low != 0 || s->high != 0;
  for (size_t i = 0; i < n; i++) {
    if (s->x[k] && is_index(c, k))
      x[i] = s->x[k][i];
    else if (s->x[k])
      x[i] = (double)(float)(s->x[k][i] != 0 ? s->x[k][i] * draw(.9, 1.1) : draw(-.05, .05));
    else if (s->whole[k])
      x[i] = (double)draw_below((uint64_t)s->whole[k]);
    else
      x[i] = draw(ranged ? s->low : -2, ranged ? s->high : 2);
  }
}

/* Where the sample tells no range, a sign is kept: the domains that there are need no more. */
static double largest_radius(const struct op_case *c, size_t k, double x)
{
  const struct sample *s = c->sample;
  if (s->x[k]) return fabs(x) / 3;
  if (s->low != 0 || s->high != 0) return fmax(0, fmin(x - s->low, s->high - x));
  return 1;
}

void case_snap(const struct op_case *c, size_t k, double *x, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    double half = round(2 * x[i]) / 2;
    if (!is_index(c, k) && fabs(half - x[i]) <= largest_radius(c, k, x[i])) x[i] = half;
  }
}

void case_radii(const struct op_case *c, size_t k, const double *x, double size, double *r, size_t n)
{
  for (size_t i = 0; i < n; i++) r[i] = .999 * size * largest_radius(c, k, x[i]) * draw(0, 1);
}

void draw_weights(double *w, size_t n)
{
  for (size_t i = 0; i < n; i++) w[i] = draw(-1, 1);
}
