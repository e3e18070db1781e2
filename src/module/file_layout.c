/* Parameters as files have them. The engine has channels last, PyTorch first. For weights of convolutions that is
 *
 *     [out, height, width, in]  here,     [out, in, height, width]  in the file,
 *
 * and a dense layer on a flattened image is a convolution with a window as large as the image: its columns lie in the
 * order height, width, channel here and channel, height, width in the file. Everything else is equal. */
#include <string.h>

#include "module/net.h"

static void reorder(struct param_layout l, bool to_file, const float *from, float *to)
{
  for (size_t o = 0; o < l.out; o++)
    for (size_t y = 0; y < l.height; y++)
      for (size_t x = 0; x < l.width; x++)
        for (size_t i = 0; i < l.in; i++) {
          size_t here = ((o * l.height + y) * l.width + x) * l.in + i;
          size_t file = ((o * l.in + i) * l.height + y) * l.width + x;
          to[to_file ? file : here] = from[to_file ? here : file];
        }
}

void net_reorder(const r4_net *n, bool to_file, const float *from, float *to)
{
  for (size_t k = 0; k < n->params; k++) {
    const struct param *p = &n->param[k];
    if (p->layout.height)
      reorder(p->layout, to_file, from + p->offset, to + p->offset);
    else
      memcpy(to + p->offset, from + p->offset, (size_t)r4_shape_count(p->shape) * sizeof *to);
  }
}
