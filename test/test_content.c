/* Masked content of images whose masks have holes: what may matter never comes along. */
#include <string.h>

#include "check.h"
#include "data/batch/content.h"

/* One row: content is 1, the hole 0; what each pixel takes. */
static void rows_by_hand(void **state)
{
  (void)state;
  static const struct {
    size_t n;
    uint8_t mask[8];
    uint32_t want[8];
  } rows[] = {
    {5, {255, 255, 0, 255, 255}, {0, 1, 0, 3, 4}},               /* 2 is next to 1: 2 x 1 - 2 */
    {6, {0, 0, 255, 255, 255, 255}, {4, 3, 2, 3, 4, 5}},         /* a hole at the edge is a mirror image */
    {5, {0, 0, 0, 255, 255}, {3, 3, 4, 3, 4}},                   /* .. and the edge itself where there is no more */
    {4, {127, 128, 0, 0}, {1, 1, 1, 1}},                         /* masked from the half on */
    {3, {127, 0, 1}, {0, 1, 2}},                                 /* nowhere: as it is */
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    uint32_t from[8];
    content_sources(rows[k].mask, (struct shape_size){1, rows[k].n}, from);
    assert_memory_equal(from, rows[k].want, rows[k].n * sizeof *from);
    content_sources(rows[k].mask, (struct shape_size){rows[k].n, 1}, from);
    assert_memory_equal(from, rows[k].want, rows[k].n * sizeof *from);
  }
}

static size_t apart(size_t a, size_t b, size_t width)
{
  size_t r = a / width > b / width ? a / width - b / width : b / width - a / width;
  size_t c = a % width > b % width ? a % width - b % width : b % width - a % width;
  return r * r + c * c;
}

/* Random masks: a pixel takes content, from about as far as the nearest, mirrored at most: twice its distance. */
static void content_is_near(void **state)
{
  (void)state;
  enum { HEIGHT = 9, WIDTH = 11, PIXELS = HEIGHT * WIDTH };
  for (uint64_t trial = 0; trial < 300; trial++) {
    const r4_random key = {trial, 1, 0};
    uint8_t mask[PIXELS];
    uint32_t from[PIXELS];
    double share = r4_random_uniform(key, PIXELS);
    for (size_t k = 0; k < PIXELS; k++) mask[k] = r4_random_uniform(key, k) < share ? 255 : 0;
    mask[trial % PIXELS] = 255;
    content_sources(mask, (struct shape_size){HEIGHT, WIDTH}, from);
    for (size_t k = 0; k < PIXELS; k++) {
      size_t nearest = SIZE_MAX;
      for (size_t j = 0; j < PIXELS; j++)
        if (mask[j] && apart(k, j, WIDTH) < nearest) nearest = apart(k, j, WIDTH);
      assert_true(mask[from[k]]);
      if (mask[k]) assert_int_equal(from[k], k);
      assert_true(apart(k, from[k], WIDTH) <= 5 * nearest); /* 4, but for what two passes miss */
    }
  }
}

/* Photographs of a thing (200 and more) on a ground (below 100); each thing is elsewhere, and of another size. */
enum { EXAMPLES = 12, SIDE = 12, ALL = SIDE * SIDE };

static bool is_thing(size_t i, size_t k)
{
  size_t row = k / SIDE, column = k % SIDE, top = i % 5, left = 2 + i % 3, side = 3 + i % 4;
  return row >= top && row < top + side && column >= left && column < left + side;
}

static r4_data *things(void)
{
  static uint8_t x[EXAMPLES * ALL], mask[EXAMPLES * ALL];
  static int32_t label[EXAMPLES];
  for (size_t i = 0; i < EXAMPLES; i++) {
    label[i] = (int32_t)(i % 2);
    for (size_t k = 0; k < ALL; k++) {
      mask[i * ALL + k] = is_thing(i, k) ? 0 : 255;
      x[i * ALL + k] = (uint8_t)(is_thing(i, k) ? 200 + i : 5 * i + k % 5);
    }
  }
  r4_error e = {0};
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = EXAMPLES,
                                             .shape = R4_SHAPE(SIDE, SIDE, 1),
                                             .bytes = x,
                                             .labels = label,
                                             .mask_bytes = mask,
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static void swapped_ground_has_no_thing_of_others(void **state)
{
  (void)state;
  r4_data *d = things();
  for (uint32_t epoch = 0; epoch < 10; epoch++) {
    r4_error e = {0};
    r4_data *swapped = r4_data_fill(d, R4_FILL_SWAP, 7, epoch, &e);
    if (!swapped) fail_msg("%s", e.text);
    for (size_t i = 0; i < EXAMPLES; i++) {
      float was[ALL], is[ALL];
      r4_data_values(d, i, was);
      r4_data_values(swapped, i, is);
      size_t donor = SIZE_MAX;
      for (size_t k = 0; k < ALL; k++) {
        if (is_thing(i, k)) {
          assert_true(is[k] == was[k]);
          continue;
        }
        assert_true(is[k] * 255 < 100);
        if (donor == SIZE_MAX) donor = (size_t)(is[k] * 255 + .5f) / 5;
        assert_int_equal((size_t)(is[k] * 255 + .5f) / 5, donor); /* one donor's ground, all of it */
      }
      assert_int_not_equal(donor, i);
    }
    r4_data_free(swapped);
  }
  r4_data_free(d);
}

static void vectors_by_hand(void **state)
{
  (void)state;
  static const struct {
    uint8_t own[6], donor[6];
    uint32_t want[6];
  } rows[] = {
    {{255, 255, 0, 0, 0, 0}, {0, 0, 0, 0, 255, 255}, {4, 5, 2, 3, 4, 5}}, /* in order */
    {{255, 255, 255, 0, 0, 0}, {0, 0, 0, 200, 0, 128}, {3, 5, 3, 3, 4, 5}}, /* .. and from the first again */
    {{255, 255, 0, 0, 0, 0}, {0, 255, 255, 0, 0, 0}, {1, 1, 2, 3, 4, 5}}, /* a feature of both is itself */
    {{255, 0, 0, 0, 0, 255}, {0, 0, 0, 0, 0, 127}, {0, 1, 2, 3, 4, 5}},   /* nowhere: as it is */
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    uint32_t from[6];
    content_in_order(rows[k].own, rows[k].donor, 6, from);
    assert_memory_equal(from, rows[k].want, sizeof from);
  }
}

/* Flat images with a patch at the beginning or at the end: a patch is replaced by a patch. */
static void swapped_vectors_keep_a_patch(void **state)
{
  (void)state;
  enum { VECTORS = 10, LENGTH = 8, PATCH = 3 };
  static float x[VECTORS * LENGTH], mask[VECTORS * LENGTH];
  static int32_t label[VECTORS];
  for (size_t i = 0; i < VECTORS; i++) {
    size_t first = i % 3 ? 0 : LENGTH - PATCH;
    label[i] = (int32_t)(i % 2);
    for (size_t k = first; k < first + PATCH; k++) mask[i * LENGTH + k] = 1, x[i * LENGTH + k] = (float)(1 + i);
  }
  r4_error e = {0};
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = VECTORS,
                                             .shape = R4_SHAPE(LENGTH),
                                             .floats = x,
                                             .labels = label,
                                             .mask_floats = mask,
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  for (uint32_t epoch = 0; epoch < 10; epoch++) {
    r4_data *swapped = r4_data_fill(d, R4_FILL_SWAP, 7, epoch, &e);
    if (!swapped) fail_msg("%s", e.text);
    for (size_t i = 0; i < VECTORS; i++) {
      float v[LENGTH], donor = 0;
      r4_data_values(swapped, i, v);
      for (size_t k = 0; k < LENGTH; k++) {
        if (mask[i * LENGTH + k] > 0 && donor == 0) donor = v[k];
        assert_true(v[k] == (mask[i * LENGTH + k] > 0 ? donor : 0));
      }
      assert_true(donor > 0 && donor != (float)(1 + i));
    }
    r4_data_free(swapped);
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_by_hand), cmocka_unit_test(content_is_near),
                                     cmocka_unit_test(swapped_ground_has_no_thing_of_others),
                                     cmocka_unit_test(vectors_by_hand), cmocka_unit_test(swapped_vectors_keep_a_patch)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
