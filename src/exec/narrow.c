/* conv2d_dx for images with few channels (an explanation of an RGB image): oneDNN pads 3 channels
 * to 16 there and wastes four fifths of its work. */
#include "exec/kernel.h"

r4_status narrow_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  (void)q, (void)e;
  *k = NULL;
  return R4_OK;
}
