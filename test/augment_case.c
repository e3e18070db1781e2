#include "augment_case.h"

r4_data *augment_finish(r4_data *d)
{
  names_add(d->classes, "a", NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

r4_data *augment_data(bool floats)
{
  struct column *v =
    column_new(floats ? &floats_column : &bytes_column, R4_SHAPE(HEIGHT, WIDTH, CHANNELS), EXAMPLES, NULL);
  r4_data *d = data_new(EXAMPLES, v, NULL);
  draw_start(7, 0);
  data_set_masks(d, masks_new(PIXELS, NULL));
  for (size_t k = 0; k < EXAMPLES * FEATURES; k++) {
    if (floats)
      ((float *)v->data)[k] = (float)k - 300;
    else
      ((uint8_t *)v->data)[k] = (uint8_t)(3 * (k % FEATURES) + k / FEATURES);
  }
  for (size_t i = 0; i < EXAMPLES; i++) {
    uint8_t mask[PIXELS] = {0};
    for (int k = 0; k < 3; k++) mask[(size_t)draw_below(PIXELS)] = k ? 255 : 100;
    if (i % 3) assert_int_equal(masks_add(data_masks(d), mask, &d->record[i].mask, NULL), R4_OK);
  }
  return augment_finish(d);
}

r4_batches *augment_batches(const r4_data *d, r4_batch_options options)
{
  r4_error e = {0};
  r4_batches *b = r4_batches_new(d, &options, &e);
  if (!b) fail_msg("%s", e.text);
  return b;
}
