/* Linear rules of element-wise operations with several arguments. */
#include "op/functional.h"

/* ---- Products and quotients ---- */

/* A single value times x. */
static bool by_point(struct functional *f, size_t moves, r4_id factor)
{
  struct lines l = {.slope = {{R4_NONE}}};
  l.slope[0][moves] = l.slope[1][moves] = factor;
  return lin_between(f, &l);
}

/* t s with both in intervals: t s = (t - e) s + e s, e one of the ends of t. t - e has one sign, so that (t - e) s is
 * between (t - e) lo(s) and (t - e) hi(s); e is the end nearer to 0. These are planes of McCormick's.
 *
 *     e = lo t:  lo(s) t + e s - e lo(s) <= t s <= hi(s) t + e s - e hi(s),   e = hi t: with lo(s) and hi(s) exchanged
 *
 * s is the factor that is never negative, if one is: the gate of a derivative. */
static bool mccormick(struct functional *f)
{
  r4_graph *g = f->g;
  size_t s = op_nonneg(g, graph_arg(g, f->y, 0)) ? 0 : 1, t = 1 - s;
  r4_id sl = iv_lo(g, f->x[s]), sh = iv_hi(g, f->x[s]), tl = iv_lo(g, f->x[t]), th = iv_hi(g, f->x[t]);
  r4_id high = r4_less(g, r4_abs(g, th), r4_abs(g, tl)), end = r4_select(g, high, th, tl);
  struct lines l = {.slope = {{R4_NONE}}};
  for (int above = 0; above < 2; above++) {
    r4_id slope = above ? r4_select(g, high, sl, sh) : r4_select(g, high, sh, sl);
    l.slope[above][t] = slope;
    l.slope[above][s] = end;
    l.at[above] = r4_neg(g, r4_mul(g, end, slope));
  }
  return lin_between(f, &l);
}

bool lin_mul(struct functional *f)
{
  for (size_t k = 0; k < 2; k++)
    if (iv_point(f->x[k])) return by_point(f, 1 - k, f->x[k].centre);
  return mccormick(f);
}

bool lin_div(struct functional *f)
{
  if (!iv_point(f->x[1])) return false;
  return by_point(f, 0, r4_div(f->g, op_like(f->g, f->y, 1), f->x[1].centre));
}

/* ---- The larger and the smaller: b + relu(a - b), a - relu(a - b) ---- */

static struct lines of_difference(struct functional *f)
{
  r4_graph *g = f->g;
  struct lines l = {.slope = {{R4_NONE}}};
  lin_relu_lines(g, r4_sub(g, iv_lo(g, f->x[0]), iv_hi(g, f->x[1])), r4_sub(g, iv_hi(g, f->x[0]), iv_lo(g, f->x[1])),
                 &l);
  return l;
}

static r4_id one_minus(r4_graph *g, r4_id x)
{
  return r4_sub(g, op_like(g, x, 1), x);
}

bool lin_max(struct functional *f)
{
  struct lines l = of_difference(f);
  for (int k = 0; k < 2; k++) l.slope[k][1] = one_minus(f->g, l.slope[k][0]);
  return lin_between(f, &l);
}

bool lin_min(struct functional *f)
{
  struct lines r = of_difference(f), l = {.slope = {{R4_NONE}}};
  for (int k = 0; k < 2; k++) {
    l.slope[k][1] = r.slope[1 - k][0];
    l.slope[k][0] = one_minus(f->g, l.slope[k][1]);
  }
  l.at[0] = r4_neg(f->g, r.at[1]);
  return lin_between(f, &l);
}

/* ---- Branches ---- */

/* The branch where the condition is decided, the ends of both where it is not. */
bool lin_select(struct functional *f)
{
  r4_graph *g = f->g;
  r4_id sure = iv_lo(g, f->x[0]), possible = iv_hi(g, f->x[0]), one = op_like(g, f->y, 1), zero = op_like(g, f->y, 0);
  r4_id a = r4_select(g, sure, one, zero), b = r4_select(g, possible, zero, one);
  struct lines l = {.slope = {{R4_NONE, a, b}, {R4_NONE, a, b}}};
  if (!iv_point(f->x[0])) {
    r4_id least = r4_min(g, iv_lo(g, f->x[1]), iv_lo(g, f->x[2]));
    r4_id most = r4_max(g, iv_hi(g, f->x[1]), iv_hi(g, f->x[2]));
    l.at[0] = r4_select(g, sure, zero, r4_select(g, possible, least, zero));
    l.at[1] = r4_select(g, sure, zero, r4_select(g, possible, most, zero));
  }
  return lin_between(f, &l);
}

bool lin_check(struct functional *f) /* the first argument, as it is */
{
  f->to[0] = f->coef;
  return true;
}
