/* Augmentation of light: brightness, saturation and contrast; masks stay as they are. */
#include <math.h>
#include <string.h>

#include "augment_case.h"

static void brightness_is_one_factor(void **state)
{
  (void)state;
  for (int floats = 0; floats < 2; floats++) {
    r4_data *d = augment_data(floats);
    float x[FEATURES], m[FEATURES], least = 9, most = 0;
    size_t clipped = 0;
    r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = {.brightness = 0.25}});
    for (int epoch = 0; epoch < 20; epoch++) {
      r4_batch batch = r4_batches_next(b);
      for (size_t i = 0; i < batch.count; i++) {
        const float *row = batch.x + i * FEATURES;
        r4_data_values(d, i, x);
        if (!r4_data_mask(d, i, m)) memset(m, 0, sizeof m);
        float factor = row[1] / x[1]; /* the second of bytes is small, and never clipped */
        for (size_t j = 0; j < FEATURES; j++) {
          float want = factor * x[j];
          clipped += !floats && want > 1;
          assert_true(fabsf(row[j] - (floats ? want : fminf(want, 1))) <= 1e-5f * fabsf(want));
        }
        assert_memory_equal(batch.m + i * FEATURES, m, sizeof m);
        least = fminf(least, factor);
        most = fmaxf(most, factor);
      }
    }
    assert_true(least >= 0.7499f && least < 0.76f && most > 1.24f && most <= 1.2501f);
    assert_true(floats || clipped > 0);
    r4_batches_free(b);
    r4_data_free(d);
  }
}

/* An image of 3 pixels, red, green and blue, in floats: they are not clipped. */
static r4_data *make_colours(void)
{
  static const float x[9] = {0.9f, 0.2f, 0.1f, 0.3f, 0.7f, 0.2f, 0.1f, 0.4f, 0.8f};
  struct column *v = column_new(&floats_column, R4_SHAPE(1, 3, 3), 1, NULL);
  memcpy(v->data, x, sizeof x);
  return augment_finish(data_new(1, v, NULL));
}

static void luminances(const float *x, float l[4])
{
  for (int k = 0; k < 3; k++) l[k] = 0.299f * x[3 * k] + 0.587f * x[3 * k + 1] + 0.114f * x[3 * k + 2];
  l[3] = (l[0] + l[1] + l[2]) / 3;
}

/* Luminances move from their mean by one factor, and colours from their luminance by it times another. */
static void colour_is_saturation_and_contrast(void **state)
{
  (void)state;
  r4_data *d = make_colours();
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = 1, .augment = {.colour = 0.25}});
  float x[9], l[4], now[4], least[2] = {9, 9}, most[2] = {0, 0}, apart = 0;
  r4_data_values(d, 0, x);
  luminances(x, l);
  for (int epoch = 0; epoch < 400; epoch++) {
    const float *y = r4_batches_next(b).x;
    luminances(y, now);
    float contrast = (now[0] - l[3]) / (l[0] - l[3]), both = (y[0] - now[0]) / (x[0] - l[0]);
    float factor[2] = {contrast, both / contrast};
    assert_true(fabsf(now[3] - l[3]) < 1e-6f);
    for (int k = 0; k < 9; k++) {
      assert_true(fabsf(now[k / 3] - l[3] - contrast * (l[k / 3] - l[3])) < 1e-5f);
      assert_true(fabsf(y[k] - now[k / 3] - both * (x[k] - l[k / 3])) < 1e-5f);
    }
    for (int k = 0; k < 2; k++) least[k] = fminf(least[k], factor[k]), most[k] = fmaxf(most[k], factor[k]);
    apart = fmaxf(apart, fabsf(factor[0] - factor[1]));
  }
  for (int k = 0; k < 2; k++)
    assert_true(least[k] > 0.7499f && least[k] < 0.76f && most[k] > 1.24f && most[k] < 1.2501f);
  assert_true(apart > 0.3f);
  r4_batches_free(b);
  r4_data_free(d);
}

static void colours_of_bytes_stay_in_range(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = {.colour = 1}});
  size_t ends = 0;
  for (int epoch = 0; epoch < 20; epoch++) {
    r4_batch batch = r4_batches_next(b);
    for (size_t k = 0; k < batch.count * FEATURES; k++) {
      assert_true(batch.x[k] >= 0 && batch.x[k] <= 1);
      ends += batch.x[k] == 0;
    }
  }
  assert_true(ends > 100);
  r4_batches_free(b);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(brightness_is_one_factor),
    cmocka_unit_test(colour_is_saturation_and_contrast),
    cmocka_unit_test(colours_of_bytes_stay_in_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
