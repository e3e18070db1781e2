/* Where masks are: the smallest rectangle around each. */
#include "data/batch/augment.h"

/* The rows and columns of an image in which a mask is not 0, into p; false if there are none. */
static bool surround(const uint8_t *mask, size_t height, size_t width, size_t depth, r4_rect *p)
{
  size_t top = height, bottom = 0, left = width, right = 0;
  for (size_t k = 0; k < height * width * depth; k++) {
    if (!mask[k]) continue;
    size_t row = k / (width * depth), column = k / depth % width;
    if (row < top) top = row;
    if (row >= bottom) bottom = row + 1;
    if (column < left) left = column;
    if (column >= right) right = column + 1;
  }
  if (!bottom) return false;
  *p = (r4_rect){(int64_t)top, (int64_t)left, (int64_t)(bottom - top), (int64_t)(right - left)};
  return true;
}

/* A mask that is moved towards an edge is repeated there: it grows by as much as it moves. */
static void grow(r4_rect *p, r4_shape image, int64_t by)
{
  p->height = p->height + by < image.dim[0] ? p->height + by : image.dim[0];
  p->width = p->width + by < image.dim[1] ? p->width + by : image.dim[1];
  if (p->top > image.dim[0] - p->height) p->top = image.dim[0] - p->height;
  if (p->left > image.dim[1] - p->width) p->left = image.dim[1] - p->width;
}

size_t r4_data_mask_rects(const r4_data *d, const r4_augment *augment, r4_rect *rect)
{
  r4_shape image = data_x(d)->shape;
  size_t n = 0;
  if (image.rank != 3) return 0;
  size_t depth = (size_t)image.dim[2] / data_mask_layout(d).repeat;
  for (size_t i = 0; i < d->n; i++) {
    const uint8_t *mask = data_mask_bytes(d, i);
    if (!mask || !surround(mask, (size_t)image.dim[0], (size_t)image.dim[1], depth, &rect[n])) continue;
    if (augment) grow(&rect[n], image, augment->crop);
    n++;
  }
  return n;
}
