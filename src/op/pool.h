/* What the operations of pooling share: the walk over windows of an image [n,h,w,c]. */
#ifndef R4_OP_POOL_H
#define R4_OP_POOL_H

#include "op/window.h"

/* The shape of the pooled image x, or false and an error. */
bool pool_geometry(struct infer *s, r4_shape x, r4_shape *out);

struct pool_walk {
  const struct attr *attr;
  r4_shape image, out;
};

/* Place of kernel position (p, q) of window (u, v) of image n, channel 0; -1 outside of the image. */
static inline int64_t pool_at(const struct pool_walk *w, int64_t n, int64_t u, int64_t v, int64_t p,
                              int64_t q)
{
  int64_t h = window_at(w->attr, 0, u, p), k = window_at(w->attr, 1, v, q);
  if (h < 0 || h >= w->image.dim[1] || k < 0 || k >= w->image.dim[2]) return -1;
  return ((n * w->image.dim[1] + h) * w->image.dim[2] + k) * w->image.dim[3];
}

/* position k of the pooled image as (n, u, v, c) */
static inline void pool_unravel(r4_shape s, int64_t k, int64_t *i)
{
  for (int a = 3; a >= 0; a--) {
    i[a] = k % s.dim[a];
    k /= s.dim[a];
  }
}

/* The larger of the two; not a number stays. */
#define POOL_LARGER(m, x) ((x) > (m) || (x) != (x) ? (x) : (m))

/* Is b unbeaten, if those before it have at most "before" and those after it "after"? 1, 0, or not a number. */
#define POOL_SHARE(b, first, before, after)             \
  (((first) || (b) > (before)) && (b) >= (after)    ? 1 \
   : (!(first) && (b) <= (before)) || (b) < (after) ? 0 \
                                                    : NAN)

/* The interval of (a, b, t) under unpool_may or pick_may. */
struct interval may_bound(r4_graph *g, const struct op *op, struct attr attr, struct interval *x);

/* clang-format off */

extern const struct attr_field pool_fields[];
#define TWO 2, 2, 0, 0, 0, 0, 1, 1, 2, 2
#define OVERLAP 1, 2, 1, 0, 0, 1, 1, 1, 3, 2
#define APART 3, 3, 0, 0, 0, 0, 1, 1, 2, 2
#define IMAGE4 VALUES(1, 2, 3, 4, 8, 7, 6, 5)
#define POOL_OP(NAME, ARITY)                                                                             \
  .name = #NAME, .arity = ARITY, .kind = OP_DENSE, .fields = pool_fields, .vjp = NAME##_vjp, .kernel = NAME##_kernel

/* clang-format on */

#endif
