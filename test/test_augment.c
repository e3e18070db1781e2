/* Augmentation: images and masks move together, and what is drawn depends on seed, epoch and example alone. */
#include <math.h>
#include <string.h>

#include "augment_case.h"
#include "base/mem.h"

/* One image of 2 x 3 pixels, 1 2 3 over 4 5 6, with a mask on the first; as bytes. */
static r4_data *make_tiny(void)
{
  struct column *v = column_new(&bytes_column, R4_SHAPE(2, 3, 1), 1, NULL);
  r4_data *d = data_new(1, v, NULL);
  for (uint8_t k = 0; k < 6; k++) ((uint8_t *)v->data)[k] = k + 1;
  data_set_masks(d, masks_new(6, NULL));
  assert_int_equal(masks_add(data_masks(d), (const uint8_t[]){255, 0, 0, 0, 0, 0}, &d->record->mask, NULL),
                   R4_OK);
  return augment_finish(d);
}

/* ---- By hand ---- */

struct tiny {
  float x[6], m[6];
  size_t seen;
};

/* Every epoch shows one of n pictures, and each of them a share of 1/n: within 5 standard deviations. */
static void see_tiny(r4_augment by, size_t n, struct tiny *picture)
{
  r4_data *d = make_tiny();
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = 1, .seed = check_seed(), .augment = by});
  for (int epoch = 0; epoch < 4000; epoch++) {
    r4_batch batch = r4_batches_next(b);
    size_t k = 0, same = 0;
    for (; k < n; k++, same = 0) {
      for (size_t j = 0; j < 6; j++) same += roundf(255 * batch.x[j]) == picture[k].x[j];
      if (same == 6) break;
    }
    if (k == n) fail_msg("epoch %d: an image that is not expected", epoch);
    for (size_t j = 0; j < 6; j++) assert_true(batch.m[j] == picture[k].m[j]);
    picture[k].seen++;
  }
  double share = 1 / (double)n, deviation = sqrt(4000 * share * (1 - share));
  for (size_t k = 0; k < n; k++) assert_true(fabs((double)picture[k].seen - 4000 * share) < 5 * deviation);
  r4_batches_free(b);
  r4_data_free(d);
}

static void flips_by_hand(void **state)
{
  (void)state;
  struct tiny picture[] = {
    {.x = {1, 2, 3, 4, 5, 6}, .m = {1}},
    {.x = {3, 2, 1, 6, 5, 4}, .m = {0, 0, 1}},
  };
  see_tiny((r4_augment){.flip = true}, 2, picture);
}

static void crops_by_hand(void **state)
{
  (void)state;
  struct tiny picture[] = {
    {.x = {5, 6, 6, 5, 6, 6}},                          /* up, left: the mask is gone */
    {.x = {4, 5, 6, 4, 5, 6}},                          /* up */
    {.x = {4, 4, 5, 4, 4, 5}},                          /* up, right */
    {.x = {2, 3, 3, 5, 6, 6}},                          /* left */
    {.x = {1, 2, 3, 4, 5, 6}, .m = {1}},                /* not at all */
    {.x = {1, 1, 2, 4, 4, 5}, .m = {1, 1}},             /* right: what came in is masked content */
    {.x = {2, 3, 3, 2, 3, 3}},                          /* down, left */
    {.x = {1, 2, 3, 1, 2, 3}, .m = {1, 0, 0, 1}},       /* down */
    {.x = {1, 1, 2, 1, 1, 2}, .m = {1, 1, 0, 1, 1, 0}}, /* down, right */
  };
  see_tiny((r4_augment){.crop = 1}, 9, picture);
}

/* ---- Against a plain definition ---- */

static size_t clamp(int64_t k, int64_t n)
{
  return (size_t)(k < 0 ? 0 : k >= n ? n - 1 : k);
}

/* Example i moved, then mirrored. */
static void move(const r4_data *d, size_t i, bool flip, int64_t down, int64_t right, float *x, float *m)
{
  float plain_x[FEATURES], plain_m[FEATURES];
  r4_data_values(d, i, plain_x);
  r4_data_mask(d, i, plain_m);
  for (size_t j = 0; j < FEATURES; j++) {
    int64_t row = (int64_t)(j / CHANNELS / WIDTH), column = (int64_t)(j / CHANNELS % WIDTH);
    int64_t from_row = row - down, from_column = (flip ? WIDTH - 1 - column : column) - right;
    size_t from = (clamp(from_row, HEIGHT) * WIDTH + clamp(from_column, WIDTH)) * CHANNELS + j % CHANNELS;
    x[j] = plain_x[from];
    m[j] = plain_m[from];
  }
}

/* Which of the moves made the row; it must be one. */
static size_t find_move(const r4_data *d, size_t i, int64_t crop, const float *x, const float *m)
{
  float want_x[FEATURES], want_m[FEATURES];
  size_t k = 0;
  for (int flip = 0; flip < 2; flip++)
    for (int64_t down = -crop; down <= crop; down++)
      for (int64_t right = -crop; right <= crop; right++, k++) {
        move(d, i, flip, down, right, want_x, want_m);
        if (memcmp(x, want_x, sizeof want_x)) continue;
        assert_memory_equal(m, want_m, sizeof want_m);
        return k;
      }
  fail_msg("example %zu is moved in no known way", i);
  return 0;
}

static void images_and_masks_move_together(void **state)
{
  (void)state;
  enum { CROP = 2, MOVES = 2 * 5 * 5, EPOCHS = 100 };
  for (int floats = 0; floats < 2; floats++) {
    r4_data *d = augment_data(floats);
    size_t seen[MOVES] = {0};
    r4_batches *b = augment_batches(
      d, (r4_batch_options){.size = EXAMPLES, .seed = 3, .augment = {.flip = true, .crop = CROP}});
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      r4_batch batch = r4_batches_next(b);
      for (size_t i = 0; i < batch.count; i++)
        seen[find_move(d, batch.example[i], CROP, batch.x + i * FEATURES, batch.m + i * FEATURES)]++;
    }
    for (size_t k = 0; k < MOVES; k++) assert_in_range(seen[k], 12, 84); /* about 48: 5 standard deviations */
    r4_batches_free(b);
    r4_data_free(d);
  }
}

/* How far an example goes right says nothing of how far it, or one of the next, goes down: one in five is equal. */
static void moves_are_independent(void **state)
{
  (void)state;
  enum { CROP = 2, SIDE = 2 * CROP + 1, EPOCHS = 100, LAGS = 4 };
  r4_data *d = augment_data(false);
  size_t equal[LAGS] = {0}, pairs = EPOCHS * (EXAMPLES - LAGS);
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = {.crop = CROP}});
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    r4_batch batch = r4_batches_next(b);
    size_t move[EXAMPLES];
    for (size_t i = 0; i < EXAMPLES; i++)
      move[i] = find_move(d, i, CROP, batch.x + i * FEATURES, batch.m + i * FEATURES);
    for (size_t i = 0; i + LAGS < EXAMPLES; i++)
      for (size_t lag = 0; lag < LAGS; lag++) equal[lag] += move[i] % SIDE == move[i + lag] / SIDE;
  }
  for (size_t lag = 0; lag < LAGS; lag++) assert_in_range(equal[lag], pairs / 7, pairs / 4);
  r4_batches_free(b);
  r4_data_free(d);
}

/* ---- What is drawn ---- */

static const r4_augment all = {.flip = true, .crop = 2, .brightness = 0.2, .colour = 0.2};

static bool same(r4_batch a, r4_batch b)
{
  size_t bytes = a.count * FEATURES * sizeof *a.x;
  return a.count == b.count && !memcmp(a.x, b.x, bytes) && !memcmp(a.m, b.m, bytes) &&
         !memcmp(a.filled, b.filled, bytes);
}

/* With and without a thread, on one thread or two, from any place on. */
static void threads_and_resuming_change_nothing(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  r4_batch_options o = {.size = 7, .shuffle = true, .seed = 5, .augment = all, .fill = R4_FILL_SWAP};
  int before = r4_threads(0, false);
  r4_threads(1, false);
  r4_batches *plain = augment_batches(d, o);
  o.prefetch = true;
  r4_batches *ahead = augment_batches(d, o);
  for (int k = 0; k < 40; k++) {
    r4_batch a = r4_batches_next(plain);
    r4_threads(1 + k % 2, false);
    assert_true(same(a, r4_batches_next(ahead)));
    r4_batches *resumed = augment_batches(d, o);
    assert_int_equal(r4_batches_seek(resumed, a.epoch, a.index, NULL), R4_OK);
    assert_true(same(a, r4_batches_next(resumed)));
    r4_batches_free(resumed);
  }
  r4_threads(before, false);
  r4_batches_free(plain);
  r4_batches_free(ahead);
  r4_data_free(d);
}

static void seeds_and_epochs_differ(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  const r4_augment kinds[] = {{.flip = true}, {.crop = 1}, {.brightness = 0.1}, {.colour = 0.1}};
  for (size_t k = 0; k < 4; k++) {
    r4_batches *b[3];
    for (uint64_t seed = 0; seed < 3; seed++)
      b[seed] =
        augment_batches(d, (r4_batch_options){.size = EXAMPLES, .seed = seed / 2, .augment = kinds[k]});
    r4_batch first = r4_batches_next(b[0]), again = r4_batches_next(b[1]), other = r4_batches_next(b[2]);
    assert_true(same(first, again));
    assert_false(same(first, other));
    assert_false(same(r4_batches_next(b[0]), again)); /* the next epoch */
    for (int j = 0; j < 3; j++) r4_batches_free(b[j]);
  }
  r4_data_free(d);
}

/* To make images brighter as well moves none of them elsewhere. */
static void one_leaves_the_others(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  r4_augment dim = all;
  dim.brightness = dim.colour = 0;
  r4_batches *a = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = all});
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = dim});
  for (int epoch = 0; epoch < 5; epoch++)
    assert_memory_equal(r4_batches_next(a).m, r4_batches_next(b).m, EXAMPLES * FEATURES * sizeof(float));
  r4_batches_free(a);
  r4_batches_free(b);
  r4_data_free(d);
}

/* Content is filled where the mask has gone. */
static void filling_comes_after(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  for (r4_fill kind = R4_FILL_COLOUR; kind <= R4_FILL_SWAP; kind++) {
    size_t masked = 0, changed = 0;
    r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = all, .fill = kind});
    for (int epoch = 0; epoch < 5; epoch++) {
      r4_batch batch = r4_batches_next(b);
      for (size_t j = 0; j < EXAMPLES * FEATURES; j++) {
        masked += batch.m[j] > 0;
        changed += batch.m[j] > 0 && batch.filled[j] != batch.x[j];
        if (batch.m[j] == 0) assert_true(batch.filled[j] == batch.x[j]);
      }
    }
    assert_true(masked > 200 && 10 * changed > 9 * masked);
    r4_batches_free(b);
  }
  r4_data_free(d);
}

/* Two images of 1 x 3 pixels, 10 20 30 with a mask on the first pixel, and 40 50 60 without one. */
static r4_data *make_donor(void)
{
  struct column *v = column_new(&floats_column, R4_SHAPE(1, 3, 1), 2, NULL);
  r4_data *d = data_new(2, v, NULL);
  for (int k = 0; k < 6; k++) ((float *)v->data)[k] = 10.f * (float)(k + 1);
  data_set_masks(d, masks_new(3, NULL));
  assert_int_equal(masks_add(data_masks(d), (const uint8_t[]){255, 0, 0}, &d->record->mask, NULL), R4_OK);
  d->record[1].row = 1;
  return augment_finish(d);
}

/* Where 10 stands on the second image: 1 for the first pixel, 2, 4. Whatever else it has is its own. */
static int places_of_content(r4_augment by)
{
  r4_data *d = make_donor();
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = 2, .augment = by, .fill = R4_FILL_PASTE});
  int seen = 0;
  for (int epoch = 0; epoch < 200; epoch++) {
    r4_batch batch = r4_batches_next(b);
    for (int k = 0; k < 3; k++) {
      float x = batch.x[3 + k], filled = batch.filled[3 + k];
      assert_true(filled == x || filled == 10);
      seen |= filled == 10 ? 1 << k : 0;
    }
  }
  r4_batches_free(b);
  r4_data_free(d);
  return seen;
}

/* What is pasted moves as well, by a draw of its own. */
static void donors_are_augmented(void **state)
{
  (void)state;
  assert_int_equal(places_of_content((r4_augment){0}), 1);
  assert_int_equal(places_of_content((r4_augment){.flip = true}), 1 | 4);
}

/* ---- Lists ---- */

/* A listed batch is a whole one without what is 0 in all; and every listed feature is touched in some epoch. */
static void check_list(const r4_data *d, r4_augment by)
{
  float index[FEATURES];
  size_t n = r4_data_masked_features(d, &by, index), touched[FEATURES] = {0}, listed[FEATURES] = {0};
  for (size_t u = 0; u < n; u++) listed[(size_t)index[u]] = 1;
  r4_batch_options o = {.size = EXAMPLES, .shuffle = true, .augment = by};
  r4_batches *whole = augment_batches(d, o);
  o.masked = n;
  o.index = index;
  r4_batches *few = augment_batches(d, o);
  for (int epoch = 0; epoch < 500; epoch++) {
    r4_batch a = r4_batches_next(whole), b = r4_batches_next(few);
    for (size_t i = 0; i < a.count; i++) {
      for (size_t j = 0; j < FEATURES; j++) touched[j] |= a.m[i * FEATURES + j] > 0;
      for (size_t u = 0; u < n; u++) assert_true(b.m[i * n + u] == a.m[i * FEATURES + (size_t)index[u]]);
    }
  }
  assert_memory_equal(touched, listed, sizeof touched);
  r4_batches_free(whole);
  r4_batches_free(few);
}

static void lists_hold_what_moved_masks_touch(void **state)
{
  (void)state;
  const r4_augment kinds[] = {{.flip = true},
                              {.crop = 1},
                              {.crop = 2},
                              {.flip = true, .crop = 1},
                              {.flip = true, .crop = 3, .brightness = 0.5},
                              {.brightness = 0.5}};
  for (size_t pixel = 0; pixel < PIXELS; pixel += 3) {
    r4_data *d = augment_data(false);
    uint8_t mask[PIXELS] = {[0] = 0};
    struct masks *masks = masks_new(PIXELS, NULL);
    uint32_t number = 0;
    mask[pixel] = 200;
    assert_int_equal(masks_add(masks, mask, &number, NULL), R4_OK);
    for (size_t i = 0; i < EXAMPLES; i++) d->record[i].mask = i % 2 ? number : 0;
    data_set_masks(d, masks);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) check_list(d, kinds[k]);
    r4_data_free(d);
  }
}

static void a_list_that_is_too_short_is_refused(void **state)
{
  (void)state;
  r4_data *d = make_tiny();
  float index[6], want[] = {0, 2};
  r4_error e = {0};
  const r4_augment flip = {.flip = true};
  r4_batch_options o = {.size = 1, .augment = flip, .masked = 1, .index = index};
  assert_int_equal(r4_data_masked_features(d, NULL, index), 1);
  assert_null(r4_batches_new(d, &o, &e));
  assert_non_null(strstr(e.text, "masks that augment moves can touch feature 2, which index does not list"));
  assert_int_equal(r4_data_masked_features(d, &flip, index), 2);
  assert_memory_equal(index, want, sizeof want);
  r4_data_free(d);
}

/* ---- Refusals ---- */

static void bad_options_are_named(void **state)
{
  (void)state;
  r4_data *image = augment_data(false),
          *vector = data_new(1, column_new(&bytes_column, R4_SHAPE(8), 1, NULL), NULL),
          *by_feature = data_new(1, column_new(&bytes_column, R4_SHAPE(2, 2, 3), 1, NULL), NULL);
  data_set_masks(by_feature, masks_new(12, NULL));
  augment_finish(vector);
  augment_finish(by_feature);
  const struct {
    const r4_data *d;
    r4_augment by;
    const char *text;
  } bad[] = {
    {vector, {.flip = true}, "augment.flip is for images, and examples are 8 features"},
    {vector, {.crop = 1}, "augment.crop is for images"},
    {vector, {.brightness = 0.5}, "augment.brightness is for images"},
    {by_feature, {.flip = true}, "augment.flip is for masks with an element per pixel"},
    {by_feature, {.crop = 1, .brightness = 0.5}, "augment.crop is for masks with an element per pixel"},
    {image, {.crop = -1}, "augment.crop is -1, expected 0 to 4 for images of 5 x 7 pixels"},
    {image, {.crop = HEIGHT}, "augment.crop is 5"},
    {image, {.brightness = -0.1}, "augment.brightness is -0.1, expected 0 to 1"},
    {image, {.brightness = 1.5}, "augment.brightness is 1.5"},
    {image, {.brightness = (double)NAN}, "augment.brightness is nan"},
    {vector, {.colour = 0.5}, "augment.colour is for images"},
    {image, {.colour = 1.5}, "augment.colour is 1.5, expected 0 to 1"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    assert_null(r4_batches_new(bad[k].d, &(r4_batch_options){.size = 1, .augment = bad[k].by}, &e));
    assert_int_equal(e.status, R4_E_ARGUMENT);
    if (!strstr(e.text, bad[k].text)) fail_msg("case %zu: \"%s\"", k, e.text);
  }
  r4_batches_free(augment_batches(by_feature, (r4_batch_options){.size = 1, .augment = {.brightness = 0.5}}));
  r4_data_free(image);
  r4_data_free(vector);
  r4_data_free(by_feature);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  float index[FEATURES];
  size_t masked = r4_data_masked_features(d, &all, index);
  r4_batch_options o = {.size = 4, .masked = masked, .index = index, .augment = all, .prefetch = true};
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_batches *b = r4_batches_new(d, &o, &e);
    bool reached = r4_mem_count() >= n;
    assert_true(b ? !reached : e.status == R4_E_MEMORY && *e.text);
    r4_mem_fail_at(0);
    r4_batches_free(b);
    if (!reached) break;
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(flips_by_hand),
    cmocka_unit_test(crops_by_hand),
    cmocka_unit_test(images_and_masks_move_together),
    cmocka_unit_test(moves_are_independent),
    cmocka_unit_test(threads_and_resuming_change_nothing),
    cmocka_unit_test(seeds_and_epochs_differ),
    cmocka_unit_test(one_leaves_the_others),
    cmocka_unit_test(filling_comes_after),
    cmocka_unit_test(donors_are_augmented),
    cmocka_unit_test(lists_hold_what_moved_masks_touch),
    cmocka_unit_test(a_list_that_is_too_short_is_refused),
    cmocka_unit_test(bad_options_are_named),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
