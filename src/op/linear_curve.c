/* Linear rules of functions of one argument, f on [l, u] (doc/bounds.md has the proofs).
 *
 *     chord     from (l, f(l)) to (u, f(u)):  slope a = (f(u) - f(l)) / (u - l), between f'(l) and f'(u)
 *     tangent   at m = (l + u) / 2:           slope f'(m)
 *
 *     convex     above the chord, below the tangent: max(f(l) - a l, f(u) - a u) + a x >= f(x) for every a
 *     concave    the reverse
 *     sigmoidal  f' rises up to 0 and falls from there: it is convex for u <= 0, concave for l >= 0, and else, with
 *                k = min(f'(l), f'(u)) <= f', f(x) - k x does not fall: f(l) + k (x - l) <= f(x) <= f(u) + k (x - u)
 *
 * Slopes are kept between f'(l) and f'(u), where they are in real arithmetic: where u - l is as small as its rounding
 * errors the quotient says nothing, and any slope with its own intercept will do. */
#include "op/functional.h"

static const double TINY = 1e-30; /* less than the width of any interval that matters, and not 0 as a float */

/* f at the ends and in the middle, with its derivative. */
struct curve {
  r4_graph *g;
  r4_id x[3], y[3], slope[3]; /* at l, u, m */
};
enum { L, U, M };

static r4_id slope_at(r4_graph *g, r4_id y)
{
  r4_id dx[MAX_ARITY] = {R4_NONE};
  graph_node(g, y)->op->vjp(g, y, op_like(g, y, 1), dx);
  return dx[0].i ? dx[0] : op_like(g, y, 0);
}

static struct curve curve_of(const struct functional *f)
{
  struct curve c = {.g = f->g};
  c.x[L] = iv_lo(f->g, f->x[0]);
  c.x[U] = iv_hi(f->g, f->x[0]);
  c.x[M] = r4_scale(f->g, r4_add(f->g, c.x[L], c.x[U]), 0.5);
  for (int k = 0; k < 3 && !f->g->error.status; k++) {
    c.y[k] = graph_again(f->g, f->y, &c.x[k]);
    if (!f->g->error.status) c.slope[k] = slope_at(f->g, c.y[k]);
  }
  return c;
}

/* The slope of the chord, between least and most. */
static r4_id chord(const struct curve *c, r4_id least, r4_id most)
{
  r4_graph *g = c->g;
  r4_id width = r4_max(g, r4_sub(g, c->x[U], c->x[L]), op_like(g, c->x[L], TINY));
  r4_id slope = r4_div(g, r4_sub(g, c->y[U], c->y[L]), width);
  return r4_min(g, r4_max(g, slope, least), most);
}

/* f - slope x at a point */
static r4_id intercept(const struct curve *c, int at, r4_id slope)
{
  return r4_sub(c->g, c->y[at], r4_mul(c->g, slope, c->x[at]));
}

/* The tangent on one side (0: below), the chord on the other. */
static bool bent(struct functional *f, int tangent)
{
  struct curve c = curve_of(f);
  struct lines l = {.slope = {{R4_NONE}}};
  r4_id least = c.slope[tangent ? U : L], most = c.slope[tangent ? L : U], a = chord(&c, least, most);
  r4_id p = intercept(&c, L, a), q = intercept(&c, U, a);
  l.slope[tangent][0] = c.slope[M];
  l.at[tangent] = intercept(&c, M, c.slope[M]);
  l.slope[1 - tangent][0] = a;
  l.at[1 - tangent] = tangent ? r4_min(f->g, p, q) : r4_max(f->g, p, q);
  return lin_between(f, &l);
}

bool lin_convex(struct functional *f)
{
  return bent(f, 0);
}

bool lin_concave(struct functional *f)
{
  return bent(f, 1);
}

/* ---- Sigmoidal: which of the three cases is told by selects, element by element ---- */

struct cases {
  r4_graph *g;
  r4_id right, left; /* l > 0: concave; -u > 0: convex */
};

static r4_id choose(const struct cases *s, r4_id concave, r4_id convex, r4_id mixed)
{
  return r4_select(s->g, s->right, concave, r4_select(s->g, s->left, convex, mixed));
}

bool lin_sigmoidal(struct functional *f)
{
  r4_graph *g = f->g;
  struct curve c = curve_of(f);
  struct cases s = {.g = g, .right = c.x[L], .left = r4_neg(g, c.x[U])};
  r4_id k = r4_min(g, c.slope[L], c.slope[U]), a = chord(&c, k, r4_max(g, c.slope[L], c.slope[U]));
  r4_id p = intercept(&c, L, a), q = intercept(&c, U, a), tangent = intercept(&c, M, c.slope[M]);
  struct lines l = {.slope = {{choose(&s, a, c.slope[M], k)}, {choose(&s, c.slope[M], a, k)}},
                    .at = {choose(&s, r4_min(g, p, q), tangent, intercept(&c, L, k)),
                           choose(&s, tangent, r4_max(g, p, q), intercept(&c, U, k))}};
  return lin_between(f, &l);
}

/* ---- With kinks ---- */

/* relu(x) >= s x for every s in [0, 1]: the one that leaves the smaller area, 1 if u > -l and 0 else. Above is the
 * chord. */
void lin_relu_lines(r4_graph *g, r4_id lo, r4_id hi, struct lines *l)
{
  struct curve c = {.g = g, .x = {lo, hi}, .y = {r4_relu(g, lo), r4_relu(g, hi)}};
  r4_id a = chord(&c, r4_step(g, lo), r4_step(g, hi));
  l->slope[0][0] = r4_less(g, r4_neg(g, lo), hi);
  l->slope[1][0] = a;
  l->at[0] = R4_NONE;
  l->at[1] = r4_max(g, intercept(&c, L, a), intercept(&c, U, a));
}

/* The lower slopes are moved, each functional's by itself, and kept between f'(l) and f'(u): all of them are valid. */
static bool shifted(struct functional *f, const struct lines *l, r4_id lo, r4_id hi)
{
  r4_graph *g = f->g;
  r4_id part[] = {l->slope[0][0], l->slope[1][0], l->at[1], r4_step(g, lo), r4_step(g, hi)};
  functional_repeat(f, sizeof part / sizeof *part, part);
  functional_spread(f);
  r4_id below = r4_min(g, r4_max(g, r4_add(g, part[0], f->shift), part[3]), part[4]);
  f->to[0] = functional_line(f, below, part[1]);
  f->rest = functional_line(f, R4_NONE, part[2]);
  return true;
}

bool lin_relu(struct functional *f)
{
  struct lines l = {.slope = {{R4_NONE}}};
  r4_id lo = iv_lo(f->g, f->x[0]), hi = iv_hi(f->g, f->x[0]);
  lin_relu_lines(f->g, lo, hi, &l);
  return f->shift.i ? shifted(f, &l, lo, hi) : lin_between(f, &l);
}

/* |x| >= s x for every s in [-1, 1]: the sign of the middle, which is exact where x has one sign. */
bool lin_abs(struct functional *f)
{
  r4_graph *g = f->g;
  struct curve c = curve_of(f);
  r4_id a = chord(&c, c.slope[L], c.slope[U]);
  struct lines l = {.slope = {{r4_sign(g, c.x[M])}, {a}},
                    .at = {R4_NONE, r4_max(g, intercept(&c, L, a), intercept(&c, U, a))}};
  return lin_between(f, &l);
}

/* step(x) = [x > 0]. Where it is decided it is a constant. Where l <= 0 < u, two lines below: 0 and x / u, the second
 * with the smaller area if u > -l; and two above: 1 and 1 - x / l, the second if u < -l. */
static struct lines step_lines(r4_graph *g, r4_id lo, r4_id hi)
{
  r4_id zero = op_like(g, lo, 0), one = op_like(g, lo, 1), tiny = op_like(g, lo, TINY), below = r4_neg(g, lo);
  r4_id open = r4_sub(g, r4_step(g, hi), r4_step(g, lo));
  r4_id up = r4_mul(g, open, r4_less(g, below, hi)), down = r4_mul(g, open, r4_less(g, hi, below));
  return (struct lines){.slope = {{r4_select(g, up, r4_div(g, one, r4_max(g, hi, tiny)), zero)},
                                  {r4_select(g, down, r4_div(g, one, r4_max(g, below, tiny)), zero)}},
                        .at = {r4_step(g, lo), r4_step(g, hi)}};
}

bool lin_step(struct functional *f)
{
  struct lines l = step_lines(f->g, iv_lo(f->g, f->x[0]), iv_hi(f->g, f->x[0]));
  return lin_between(f, &l);
}

/* 2 step(x) - 1 <= sign(x) <= 1 - 2 step(-x), equal but at 0: where 0 is an end, the sign of that end is closer. */
bool lin_sign(struct functional *f)
{
  r4_graph *g = f->g;
  r4_id lo = iv_lo(g, f->x[0]), hi = iv_hi(g, f->x[0]);
  struct lines right = step_lines(g, lo, hi), left = step_lines(g, r4_neg(g, hi), r4_neg(g, lo));
  r4_id inside = r4_mul(g, r4_step(g, r4_neg(g, lo)), r4_step(g, hi)), twice = r4_scale(g, inside, 2);
  struct lines l = {.slope = {{r4_mul(g, right.slope[0][0], twice)}, {r4_mul(g, left.slope[0][0], twice)}},
                    .at = {r4_sign(g, lo), r4_sign(g, hi)}};
  return lin_between(f, &l);
}
