#include "small_images.h"

r4_data *small_images(size_t n, int64_t side, const float *x, const int32_t *label, const r4_split *split,
                      const float *mask)
{
  r4_error e = {0};
  const r4_data_arrays a = {.n = n,
                            .shape = R4_SHAPE(side, side, 1),
                            .floats = x,
                            .labels = label,
                            .splits = split,
                            .mask_floats = mask,
                            .masks_by_feature = true,
                            .mask_means = R4_MASKS_IRRELEVANT};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}
