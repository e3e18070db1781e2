/* The features that masks touch, and that they can touch once they are moved. */
#include "data/batch/augment.h"

/* Marks, one every stride floats, each 1 or 0: those at most `by` places from one that is 1 become 1. */
static void grow_line(float *mark, size_t n, size_t stride, float by)
{
  float away = by + 1;
  for (size_t k = 0; k < n; k++) {
    away = mark[k * stride] == 1 ? 0 : away + 1;
    mark[k * stride] = away;
  }
  for (size_t k = n; k-- > 0;) {
    away = mark[k * stride] < away + 1 ? mark[k * stride] : away + 1;
    mark[k * stride] = away;
  }
  for (size_t k = 0; k < n; k++) mark[k * stride] = mark[k * stride] <= by;
}

static void mirror_line(float *mark, size_t n, size_t stride)
{
  for (size_t k = 0; k < n / 2; k++) {
    float *left = mark + k * stride, *right = mark + (n - 1 - k) * stride;
    *left = *right = *left > *right ? *left : *right;
  }
}

/* As augment.h moves masks: every place of the square of 2 crop + 1 is drawn, and then both sides. Masks go nowhere
 * else, so that nothing is listed in vain. */
static void spread(const r4_data *d, const r4_augment *by, float *mark)
{
  r4_shape s = data_x(d)->shape;
  size_t height = (size_t)s.dim[0], width = (size_t)s.dim[1], channels = (size_t)s.dim[2];
  for (size_t column = 0; column < width; column++)
    grow_line(mark + column * channels, height, width * channels, (float)by->crop);
  for (size_t row = 0; row < height; row++) {
    float *line = mark + row * width * channels;
    grow_line(line, width, channels, (float)by->crop);
    if (by->flip) mirror_line(line, width, channels);
  }
}

/* Elements of masks stand for pixels; feature k * repeat + c is channel c of pixel k. The first feature of a
 * pixel keeps whether it is touched, until it is read and the list, which is never longer, grows over it. */
size_t r4_data_masked_features(const r4_data *d, const r4_augment *augment, float *index)
{
  struct mask_layout layout = data_mask_layout(d);
  r4_shape shape = data_x(d)->shape;
  size_t n = 0;
  for (size_t k = 0; k < data_x(d)->features; k++) index[k] = 0;
  for (size_t i = 0; i < d->n; i++) {
    const uint8_t *mask = data_mask_bytes(d, i);
    for (size_t k = 0; mask && k < layout.size; k++)
      if (mask[k]) index[k * layout.repeat] = 1;
  }
  bool by_pixel = shape.rank == 3 && layout.repeat == (size_t)shape.dim[2];
  if (by_pixel && augment && augment_moves(augment)) spread(d, augment, index);
  for (size_t k = 0; k < layout.size; k++) {
    if (index[k * layout.repeat] == 0) continue;
    for (size_t c = 0; c < layout.repeat; c++) index[n++] = (float)(k * layout.repeat + c);
  }
  return n;
}
