/* Linear bounds and branching: what intervals cannot tell. The certificate has no hints that could be wrong: whatever
 * helps is found again.
 *
 * A functional c y of what a part gives is walked back to the box. If y = L x + k, c y = (c L) x + c k. For relu(z),
 * z in [l, u], l < 0 < u, there are the lines
 *
 *     relu(z) >= s z  for every s in [0, 1],      relu(z) <= s z + max(-s l, (1 - s) u)  for every s
 *
 * (relu(z) - s z is convex, and largest at an end): for c >= 0, and c < 0. Coefficients are ranges. One that may have
 * either sign, -a to b, is taken for negative: the line above, times -a, is at most 0, and times b relu(z) is not.
 * Where relu6 has both kinks its ends are left. At the box, c x is at least the sum of the least c_k x_k. Only an upper
 * bound of what is to be subtracted is summed up (bound.c).
 *
 * Branching: the points with z >= 0, and those with z <= 0, are all. In one half relu(z) = z, and f >= f - m z for
 * every m >= 0; in the other relu(z) = 0, and f >= f + m z: walked back they may be better. What both halves show is
 * true.
 *
 * s and m are found uphill: the derivative of the bound by s is c z, by m -z or z, at the point where the relaxation is
 * least, which goes ahead through the lines. They are any numbers, and each bound that they give is true. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_STEPS = 24, STEPS = 10, MOST_ROUNDS = 400, MOST_TRIES = 8, MOST_UNITS = 1 << 26 };
static const double DECAY = 0.85, AIM = 1.2;

/* A part of the box. Of each unit: 1: z >= 0, -1: z <= 0, 0: all z; and its best slope and multiplier so far. */
struct unit {
  float cut, slope, multiplier;
};
struct domain {
  struct domain *below; /* on a stack */
  int64_t against;      /* the class j of z_class - z_j */
  int tries;            /* rounds without anything left to cut */
  struct unit unit[];
};

/* Functionals in lanes. By unit and lane: */
struct walk {
  const struct net *net;
  struct value x;   /* the box, the same in all lanes; and where the bound is least */
  struct value at;
  double *up, *dn;  /* of the arguments of relus, by unit: z <= up and -z <= dn */
  double *cut, *slope, *multiplier, *coef, *z;
  double minus[LANES], low[LANES];
};

/* ---- Back ---- */

/* -(c v) for a constant v is at most what is added. */
static void constant(struct walk *w, size_t lane, struct range c, struct range v)
{
  w->minus[lane] += most((struct range){c.dn, c.up}, v);
}

/* Sums: to = c W. Means: W has the share of each pixel of the window. */
static void back_sums(struct walk *w, const struct part *p, const struct value *c, struct value *to)
{
  bool all = is(p, "globalpool"), means = !p->weight;
  size_t area = p->out.h * p->out.w, pixels = p->in.h * p->in.w, groups = means ? p->in.c : (size_t)p->num['g'];
  size_t size = all ? pixels : (size_t)(p->num['k'] * p->num['k']), group = p->out.c / groups, n = p->in.c / groups;
  for (size_t k = 0; k < shape_size(&p->out); k++) {
    size_t o = k / area, from = o / group * n;
    double up[LANES], dn[LANES];
    bool any = false;
    for (size_t i = k * LANES; i < (k + 1) * LANES; i++) any |= c->up[i] != 0 || c->dn[i] != 0;
    if (!any) continue; /* every product is 0 */
    for (size_t b = 0; b < LANES; b++) {
      up[b] = c->up[k * LANES + b] / (means ? (double)size : 1);
      dn[b] = c->dn[k * LANES + b] / (means ? (double)size : 1);
      if (p->bias) constant(w, b, (struct range){up[b], dn[b]}, exactly(p->bias[o]));
    }
    for (size_t i = 0; i < size; i++) {
      int64_t at = all ? (int64_t)i : window_pixel(p, k, (int64_t)i);
      for (size_t j = 0; j < n && at >= 0; j++) {
        size_t f = ((from + j) * pixels + (size_t)at) * LANES;
        add(to->up + f, to->dn + f, means ? 1 : p->weight[(o * n + j) * size + i], up, dn);
      }
    }
  }
}

static void back_affine(struct walk *w, const struct part *p, struct value *c)
{
  size_t area = p->in.h * p->in.w * LANES;
  for (size_t i = 0; i < p->in.c * area; i++) {
    struct scaling a = scaling_of(p, i / area);
    struct range v = {c->up[i], c->dn[i]}, by = times(v, a.by);
    if (v.up == 0 && v.dn == 0) continue;
    constant(w, i % LANES, v, a.plus);
    constant(w, i % LANES, by, (struct range){a.minus.dn, a.minus.up});
    c->up[i] = by.up, c->dn[i] = by.dn;
  }
}

/* The ends of a unit in a lane: those of the whole box, and of its half. */
static struct range ends(const struct walk *w, size_t at)
{
  struct range z = {w->up[at / LANES], w->dn[at / LANES]};
  if (w->cut[at] < 0) z.up = smaller(z.up, 0);
  if (w->cut[at] > 0) z.dn = smaller(z.dn, 0);
  return z;
}

/* What a line is in a lane: relu(z) is least or most s z + v, v a constant or between two. */
struct line_of {
  double s;
  struct range v;
};

static struct line_of line_at(const struct walk *w, const struct part *p, size_t at, struct range c)
{
  const struct range z = ends(w, at), none = {0, 0};
  double highest = is(p, "relu6") ? 6 : INFINITY, s = w->slope[at];
  if (z.up <= 0) return (struct line_of){0, none};
  if (z.dn <= 0 && z.up <= highest) return (struct line_of){1, none};
  if (!(z.up <= highest)) return (struct line_of){0, clipped(z, highest)};
  if (c.dn <= 0) return (struct line_of){fmin(fmax(s, 0), 1), none};
  s = z.up / (z.up + z.dn);
  double above = larger(s * z.dn, (1 - s) * z.up);
  return (struct line_of){s, {above, -above}};
}

static void back_relu(struct walk *w, const struct part *p, struct value *c)
{
  for (size_t i = 0; i < shape_size(&p->in) * LANES; i++) {
    size_t at = p->unit * LANES + i;
    struct range v = {c->up[i], c->dn[i]};
    double m = fmax(w->multiplier[at], 0);
    w->coef[at] = v.up / 2 - v.dn / 2;
    if (v.up != 0 || v.dn != 0) {
      struct line_of l = line_at(w, p, at, v);
      constant(w, i % LANES, v, l.v);
      v = times(v, exactly(l.s));
    }
    if (w->cut[at]) v.up += w->cut[at] > 0 ? -m : m, v.dn += w->cut[at] > 0 ? m : -m;
    c->up[i] = v.up, c->dn[i] = v.dn;
  }
}

static struct value back(struct walk *w, const struct part *p, const struct part *stop, struct value c);

static void back_branches(struct walk *w, const struct part *p, const struct value *c, struct value *to)
{
  for (size_t k = 0; k < p->branches; k++) {
    struct value z = value_copy(c);
    const struct part *last = p->branch[k];
    while (last && last->next) last = last->next;
    if (last) z = back(w, last, p->before, z);
    for (size_t i = 0; i < shape_size(&p->in) * LANES; i++) to->up[i] += z.up[i], to->dn[i] += z.dn[i];
    value_free(&z);
  }
}

/* Parts from p back to before stop: c, which is consumed, becomes a functional of what stop gives. */
static struct value back(struct walk *w, const struct part *p, const struct part *stop, struct value c)
{
  for (; p != stop; p = p->before) {
    bool sums = strstr("dense conv depthwise avgpool globalpool", p->kind);
    struct value to = sums || p->branches ? value_new(p->in) : c;
    to.shape = p->in;
    if (sums) back_sums(w, p, &c, &to);
    if (p->branches) back_branches(w, p, &c, &to);
    if (is(p, "relu") || is(p, "relu6")) back_relu(w, p, &to);
    if (is(p, "batchnorm") || is(p, "normalize")) back_affine(w, p, &to);
    if (to.up != c.up) value_free(&c);
    c = to;
  }
  return c;
}

/* low: at least c y, y the output of p, which is consumed; at: where the functional of the box is least. */
static void least(struct walk *w, const struct part *p, struct value c)
{
  memset(w->minus, 0, sizeof w->minus);
  c = back(w, p, NULL, c);
  for (size_t i = 0; i < shape_size(&c.shape) * LANES; i++) {
    constant(w, i % LANES, (struct range){c.up[i], c.dn[i]}, (struct range){w->x.up[i], w->x.dn[i]});
    w->at.up[i] = c.up[i] > c.dn[i] ? -w->x.dn[i] : w->x.up[i];
    w->at.dn[i] = -w->at.up[i];
  }
  for (int b = 0; b < LANES; b++) w->low[b] = -w->minus[b];
  value_free(&c);
}

/* ---- Ahead ---- */

/* The ends of a unit in lanes b and b + 1, of 1 z and -1 z. */
static void tighten(struct walk *w, const struct part *p, size_t n, const size_t *unit)
{
  struct value c = value_new(p->in);
  for (size_t k = 0; k < n; k++) {
    size_t at = unit[k] * LANES + 2 * k;
    c.up[at] = c.dn[at + 1] = 1, c.dn[at] = c.up[at + 1] = -1;
  }
  least(w, p->before, c);
  for (size_t k = 0; k < n; k++) {
    double *up = &w->up[p->unit + unit[k]], *dn = &w->dn[p->unit + unit[k]];
    if (-w->low[2 * k] < *dn) *dn = -w->low[2 * k];
    if (-w->low[2 * k + 1] < *up) *up = -w->low[2 * k + 1];
  }
}

/* Ends of the arguments of a relu, by intervals (z, in all lanes) and, where it is undecided, by walking back. */
static void find_ends(void *of, const struct part *p, struct value *z)
{
  struct walk *w = of;
  size_t n = shape_size(&p->in), unit[LANES / 2], some = 0;
  for (size_t i = 0; i < n; i++) w->up[p->unit + i] = z->up[i * LANES], w->dn[p->unit + i] = z->dn[i * LANES];
  for (size_t i = 0; i < n && p->unit; i++) { /* before the first relu intervals are exact */
    if (w->up[p->unit + i] > 0 && w->dn[p->unit + i] > 0) unit[some++] = i;
    if (some == LANES / 2 || (some && i + 1 == n)) tighten(w, p, some, unit), some = 0;
  }
  for (size_t i = 0; i < n * LANES; i++) {
    size_t at = p->unit * LANES + i;
    struct range v = clipped(ends(w, at), is(p, "relu6") ? 6 : INFINITY);
    w->slope[at] = w->up[at / LANES] > w->dn[at / LANES];
    z->up[i] = v.up, z->dn[i] = v.dn;
  }
}

/* Points go through the lines that the last walk took. */
static void follow(void *of, const struct part *p, struct value *z)
{
  struct walk *w = of;
  for (size_t i = 0; i < shape_size(&p->in) * LANES; i++) {
    size_t at = p->unit * LANES + i;
    struct line_of l = line_at(w, p, at, exactly(w->coef[at]));
    w->z[at] = z->up[i];
    z->up[i] = l.s * z->up[i] + (w->coef[at] > 0 ? -l.v.dn : l.v.up);
    z->dn[i] = -z->up[i];
  }
}

static void go(struct walk *w, void (*at_relu)(void *, const struct part *, struct value *), const struct value *from)
{
  const struct batch nothing = {.length = {0}};
  const struct run r = {.batch = &nothing, .at_relu = at_relu, .of = w};
  struct value y = apply(&r, w->net->first, NULL, value_copy(from));
  value_free(&y);
}

/* ---- Uphill ---- */

/* The derivative by a multiplier; 0 where it may not move. */
static double slack(const struct walk *w, size_t at)
{
  double d = w->cut[at] > 0 ? -w->z[at] : w->cut[at] < 0 ? w->z[at] : 0;
  return d > 0 || w->multiplier[at] > 0 ? d : 0;
}

/* One step of a lane: slopes by the sign of the derivative; multipliers, in other steps, as far as would make up for
 * what is missing (Polyak's step). */
static void step(struct walk *w, size_t lane, double size, double missing, bool aims)
{
  double sum = 0;
  for (size_t at = lane; at < w->net->units * LANES; at += LANES) sum += slack(w, at) * slack(w, at);
  for (size_t at = lane; at < w->net->units * LANES; at += LANES) {
    double by = w->coef[at] > 0 ? w->z[at] : 0, s = fmin(fmax(w->slope[at], 0), 1);
    if (!aims) w->slope[at] = s + (by > 0 ? size : by < 0 ? -size : 0);
    if (aims && sum > 0) w->multiplier[at] = fmax(0, w->multiplier[at]) + missing * AIM / sum * slack(w, at);
  }
}

/* ---- Domains ---- */

static void push(struct domain **stack, const struct domain *like, size_t units, size_t cut, float sign)
{
  size_t bytes = sizeof *like + units * sizeof *like->unit;
  struct domain *d = take(bytes, 1);
  memcpy(d, like, bytes);
  if (sign != 0) d->unit[cut].cut = sign;
  d->below = *stack;
  *stack = d;
}

static void copy_lane(struct walk *w, size_t lane, struct domain *d, bool keep)
{
  for (size_t k = 0, at = lane; k < w->net->units; k++, at += LANES) {
    struct unit *u = &d->unit[k];
    if (keep) u->slope = (float)w->slope[at], u->multiplier = (float)w->multiplier[at];
    else w->cut[at] = u->cut, w->slope[at] = u->slope, w->multiplier[at] = u->multiplier;
  }
}

/* z_class - z_j in each lane; a net of one output has z for class 1, and -z. */
static void margins_of(struct walk *w, int64_t class, struct domain *const d[LANES])
{
  const struct part *last = w->net->first;
  struct value c = value_new(w->net->out);
  while (last && last->next) last = last->next;
  for (size_t b = 0; b < LANES; b++) {
    size_t own = (size_t)class * LANES + b, other = (size_t)d[b]->against * LANES + b;
    if (w->net->out.c == 1) c.up[b] = class ? 1 : -1, c.dn[b] = -c.up[b];
    else c.up[own] = 1, c.dn[own] = -1, c.up[other] = -1, c.dn[other] = 1;
  }
  least(w, last, c);
}

/* Where the lines may lose most: above, the chord at 0; below, by the better slope at an end. */
static size_t choose(const struct walk *w, size_t lane)
{
  size_t best = w->net->units;
  double most_lost = 0;
  for (size_t k = 0; k < w->net->units; k++) {
    size_t at = k * LANES + lane;
    struct range z = ends(w, at);
    double c = w->coef[at], lost = c < 0 ? -c * z.up * z.dn / (z.up + z.dn) : c * smaller(z.up, z.dn) / 4;
    if (z.up > 0 && z.dn > 0 && lost > most_lost) most_lost = lost, best = k;
  }
  return best;
}

/* Up to LANES domains at once: those that are shown are freed, others are cut. */
static void round_of(struct walk *w, struct domain **stack, int64_t class, double margin, size_t steps)
{
  struct domain *d[LANES];
  double best[LANES];
  size_t n = 0, open = 1;
  for (; n < LANES && *stack; n++) d[n] = *stack, *stack = d[n]->below;
  for (size_t b = 0; b < LANES; b++) {
    if (b >= n) d[b] = d[0];
    copy_lane(w, b, d[b], false);
    best[b] = -INFINITY;
  }
  for (size_t t = 0; t <= steps && open; t++) {
    margins_of(w, class, d);
    open = 0;
    for (size_t b = 0; b < n; b++) {
      if (w->low[b] > best[b]) best[b] = w->low[b], copy_lane(w, b, d[b], true);
      open += !(best[b] >= margin);
    }
    if (!open || t == steps) break;
    go(w, follow, &w->at);
    for (size_t b = 0; b < n; b++)
      if (!(best[b] >= margin)) step(w, b, 0.5 * pow(DECAY, (double)t), margin - w->low[b], t % 2);
  }
  for (size_t b = 0; b < n; b++) {
    size_t unit = choose(w, b);
    bool cuts = unit < w->net->units; /* nothing to cut: again, with more steps */
    d[b]->tries += !cuts;
    for (int half = -1; half < 2 && !(best[b] >= margin); half += cuts ? 2 : 3)
      push(stack, d[b], w->net->units, unit, cuts ? (float)half : 0);
    free(d[b]);
  }
}

/* ---- A box ---- */

static bool has_lines(const struct part *p)
{
  bool all = true;
  for (; p && all; p = p->next) {
    all = !strstr("maxpool embedding mean first", p->kind);
    for (size_t k = 0; k < p->branches; k++) all = all && has_lines(p->branch[k]);
  }
  return all;
}

bool net_proves(const struct net *n, struct value x, int64_t class, double margin)
{
  size_t all = n->units * LANES, first = 0, rounds = 0;
  struct walk w = {.net = n, .x = x, .at = value_new(n->in), .up = take(2 * n->units + 5 * all, sizeof(double))};
  struct domain *stack = NULL, *whole = take(sizeof *whole + n->units * sizeof *whole->unit, 1);
  bool fine = has_lines(n->first);
  w.dn = w.up + n->units, w.cut = w.dn + n->units, w.slope = w.cut + all, w.multiplier = w.slope + all;
  w.coef = w.multiplier + all, w.z = w.coef + all;
  if (fine) go(&w, find_ends, &w.x);
  copy_lane(&w, 0, whole, true);
  for (whole->against = 0; whole->against < (int64_t)n->classes; whole->against++)
    if (whole->against != class) push(&stack, whole, n->units, 0, 0), first++;
  for (; stack && fine; rounds++)
    if ((fine = rounds < MOST_ROUNDS && (first + rounds * LANES) * n->units < MOST_UNITS && stack->tries < MOST_TRIES))
      round_of(&w, &stack, class, margin, rounds * LANES < first ? FIRST_STEPS : STEPS);
  for (struct domain *d; (d = stack); free(d)) stack = d->below;
  value_free(&w.x), value_free(&w.at);
  free(w.up), free(whole);
  return fine && rounds;
}
