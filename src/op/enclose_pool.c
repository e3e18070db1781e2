/* The sound rule of unpool_max: (x, t), where t goes to the position of the largest x. Positions that may be the
 * largest get t or nothing, and those that surely are get t:
 *
 *     hi = may(max(hi t, 0)) + surely(min(hi t, 0)),    lo = may(min(lo t, 0)) + surely(max(lo t, 0))
 *
 * The ends of x are moved outward before they are compared, so that each of several equal ones may be the largest,
 * whichever a program takes. */
#include "base/mem.h"
#include "op/sound.h"

enum { LOW, HIGH, PART, PARTS };

struct room {
  double *low, *high; /* of x, moved outward or inward */
  double *t, *may, *surely;
};

static r4_status spread(const struct enclosing *c, const double *a, const double *b, const double *t, double *out)
{
  struct call call = {.n = 3, .in = {a, b, t}, .attr = c->attr, .out = out, .shape = c->shape, .error = c->error};
  call.in_shape[0] = call.in_shape[1] = c->in_shape[0];
  call.in_shape[2] = c->in_shape[1];
  return op_unpool_may.kernel(&call);
}

/* One end: upper ? hi : lo. At most all windows of a kernel reach a position. */
static r4_status one_end(const struct enclosing *c, const struct room *r, bool upper, double *out)
{
  size_t n = (size_t)r4_shape_count(c->in_shape[1]), m = (size_t)r4_shape_count(c->shape);
  const double *t = upper ? c->hi[1] : c->lo[1];
  double terms = c->op->terms(c->in_shape, c->shape, c->attr) + 1;
  for (size_t k = 0; k < n; k++) r->t[k] = upper ? sound_max(t[k], 0) : sound_min(t[k], 0);
  r4_status s = spread(c, r->low, r->high, r->t, r->may);
  for (size_t k = 0; k < n; k++) r->t[k] = upper ? sound_min(t[k], 0) : sound_max(t[k], 0);
  if (!s) s = spread(c, r->high, r->low, r->t, r->surely);
  for (size_t k = 0; k < m && !s; k++) {
    double sum = r->may[k] + r->surely[k], size = fabs(r->may[k]) + fabs(r->surely[k]);
    double error = sound_sum_error(terms, size);
    if (c->any_float) error += sound_float_error(terms, size);
    out[k] = size == 0 ? 0 : upper ? sound_up(sum + error) : sound_down(sum - error);
  }
  return s;
}

r4_status enclose_unpool_max(const struct enclosing *c)
{
  size_t n = (size_t)r4_shape_count(c->in_shape[1]), m = (size_t)r4_shape_count(c->shape);
  double *all = mem_new(n + 4 * m, sizeof *all, "a pooled image of intervals", c->error);
  if (!all) return R4_E_MEMORY;
  struct room r = {.low = all, .high = all + m, .may = all + 2 * m, .surely = all + 3 * m, .t = all + 4 * m};
  for (size_t k = 0; k < m; k++) {
    r.low[k] = sound_down(c->lo[0][k]);
    r.high[k] = sound_up(c->hi[0][k]);
  }
  r4_status s = one_end(c, &r, false, c->out_lo);
  if (!s) s = one_end(c, &r, true, c->out_hi);
  r4_mem_free(all);
  return s;
}
