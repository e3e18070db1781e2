#include "op/window.h"

r4_window r4_window_of(int64_t stride, int64_t pad)
{
  return (r4_window){
    .stride = {stride, stride}, .pad = {pad, pad, pad, pad}, .dilation = {1, 1}, .groups = 1};
}

struct attr window_attr(r4_window w, int64_t size0, int64_t size1)
{
  struct attr a = {.i = {w.stride[0], w.stride[1], w.pad[0], w.pad[1], w.pad[2], w.pad[3], w.dilation[0],
                         w.dilation[1], size0, size1}};
  a.i[W_GROUPS] = w.groups > 0 ? w.groups - 1 : w.groups;
  return a;
}

r4_window window_of(const struct attr *a)
{
  return (r4_window){.stride = {a->i[0], a->i[1]},
                     .pad = {a->i[2], a->i[3], a->i[4], a->i[5]},
                     .dilation = {a->i[6], a->i[7]},
                     .groups = window_groups(a)};
}

bool window_valid(struct infer *s)
{
  enum { MOST = 1 << 20 };
  for (int k = W_STRIDE; k < W_SIZE; k++) {
    int64_t least = k >= W_PAD && k < W_DILATION ? 0 : 1;
    if (s->attr->i[k] < least || s->attr->i[k] > MOST)
      return infer_fail(s, "stride, padding or dilation %lld is out of range", (long long)s->attr->i[k]);
  }
  if (s->attr->i[W_GROUPS] < 0 || s->attr->i[W_GROUPS] >= MOST)
    return infer_fail(s, "the number of groups is out of range");
  return true;
}

int64_t window_out(const struct attr *a, int axis, int64_t n, int64_t k)
{
  int64_t padded = n + a->i[W_PAD + 2 * axis] + a->i[W_PAD + 2 * axis + 1];
  if (k < 1 || k > padded) return 0; /* k may be absurd: no arithmetic with it before */
  int64_t room = padded - a->i[W_DILATION + axis] * (k - 1) - 1;
  return room < 0 ? 0 : room / a->i[W_STRIDE + axis] + 1;
}
