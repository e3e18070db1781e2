/* The window of a convolution or pooling, as attributes. */
#ifndef R4_OP_WINDOW_H
#define R4_OP_WINDOW_H

#include "op/op_rules.h"

/* attr.i: stride 0-1, pad 2-5 (top, bottom, left, right), dilation 6-7, then two sizes 8-9 that
 * each operation explains, for unpool_sum two more 10-11, and for convolutions the groups beyond the first, 12. */
enum { W_STRIDE = 0, W_PAD = 2, W_DILATION = 6, W_SIZE = 8, W_IMAGE = 10, W_GROUPS = 12 };

struct attr window_attr(r4_window w, int64_t size0, int64_t size1);
r4_window window_of(const struct attr *attr);

static inline int64_t window_groups(const struct attr *attr)
{
  return attr->i[W_GROUPS] + 1;
}

/* Values in range: strides, dilations and groups at least 1, padding at least 0, nothing absurd. */
bool window_valid(struct infer *s);

/* Output length along axis 0 or 1 for an image of n and a kernel of k, or 0 if it does not fit. */
int64_t window_out(const struct attr *attr, int axis, int64_t n, int64_t k);

/* Position in the image for output position o and kernel position k; outside if < 0 or >= n. */
static inline int64_t window_at(const struct attr *attr, int axis, int64_t o, int64_t k)
{
  return o * attr->i[W_STRIDE + axis] - attr->i[W_PAD + 2 * axis] + k * attr->i[W_DILATION + axis];
}

#endif
