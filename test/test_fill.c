/* What takes the place of masked content. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/batch/mask_fill.h"
#include "train/task.h"

enum {
  SIDE = 6,
  CHANNELS = 3,
  PIXELS = SIDE * SIDE,
  FEATURES = PIXELS * CHANNELS,
  EXAMPLES = 12,
  INSIDE = 4 * CHANNELS
};

/* A square of 2 x 2 whose corner is at (top, left). */
static void put_mask(r4_data *d, size_t i, size_t top, size_t left)
{
  uint8_t mask[PIXELS] = {0};
  for (size_t k = 0; k < 4; k++) mask[(top + k / 2) * SIDE + left + k % 2] = 255;
  assert_int_equal(masks_add(data_masks(d), mask, &d->record[i].mask, NULL), R4_OK);
}

/* Two classes in turn. Of image i all bytes are 10 i, and 10 i + 5 within its mask; masked(i): it has one. */
static r4_data *make(bool (*masked)(size_t i), bool floats)
{
  struct column *v =
    column_new(floats ? &floats_column : &bytes_column, R4_SHAPE(SIDE, SIDE, CHANNELS), EXAMPLES, NULL);
  r4_data *d = data_new(EXAMPLES, v, NULL);
  data_set_masks(d, masks_new(PIXELS, NULL));
  for (size_t i = 0; i < EXAMPLES; i++) {
    d->record[i].label = (int32_t)(i % 2);
    if (masked(i)) put_mask(d, i, i % 4, i % 3);
    for (size_t j = 0; j < FEATURES; j++) {
      bool inside = d->record[i].mask && masks_at(data_masks(d), d->record[i].mask)[j / CHANNELS];
      if (floats)
        ((float *)v->data)[i * FEATURES + j] = (float)(10 * i + 5 * inside) - 20;
      else
        ((uint8_t *)v->data)[i * FEATURES + j] = (uint8_t)(10 * i + 5 * inside);
    }
  }
  names_add(d->classes, "a", NULL, NULL);
  names_add(d->classes, "b", NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

static bool all(size_t i)
{
  return i < EXAMPLES;
}
static bool some(size_t i)
{
  return i % 3 != 0;
}
static bool one_class(size_t i)
{
  return i % 2 == 1;
}
static bool none(size_t i)
{
  return i > EXAMPLES;
}

/* One example before and after, and its mask. */
struct pair {
  float x[FEATURES], filled[FEATURES], m[FEATURES];
  bool masked;
};

static struct pair look(const r4_data *d, const r4_data *filled, size_t i)
{
  struct pair p;
  r4_data_values(d, i, p.x);
  r4_data_values(filled, i, p.filled);
  p.masked = r4_data_mask(d, i, p.m);
  return p;
}

static r4_data *fill(const r4_data *d, r4_fill kind, uint64_t seed, uint32_t epoch)
{
  r4_error e = {0};
  r4_data *filled = r4_data_fill(d, kind, seed, epoch, &e);
  if (!filled) fail_msg("%s", e.text);
  return filled;
}

/* Outside of the mask nothing changes; inside, for all that are drawn, everything does. */
static void only_masked_content_changes(void **state)
{
  (void)state;
  for (r4_fill kind = R4_FILL_NONE; kind <= R4_FILL_SWAP; kind++) {
    r4_data *d = make(some, false), *filled = fill(d, kind, 1, 0);
    for (size_t i = 0; i < EXAMPLES; i++) {
      struct pair p = look(d, filled, i);
      for (size_t j = 0; j < FEATURES; j++) {
        bool inside = p.masked && p.m[j] > 0;
        bool same = p.filled[j] == p.x[j];
        if (!inside || kind == R4_FILL_NONE) assert_true(same);
        if (inside && kind != R4_FILL_NONE) assert_false(same);
      }
    }
    r4_data_free(filled);
    r4_data_free(d);
  }
}

/* The values inside the mask of one example, all of them. */
static void inside(const struct pair *p, float v[INSIDE])
{
  size_t n = 0;
  for (size_t j = 0; j < FEATURES; j++)
    if (p->m[j] > 0) v[n++] = p->filled[j];
  assert_int_equal(n, INSIDE);
}

static void colours_are_one_and_noise_is_many(void **state)
{
  (void)state;
  r4_data *d = make(all, true), *colour = fill(d, R4_FILL_COLOUR, 3, 0),
          *noise = fill(d, R4_FILL_NOISE, 3, 0);
  for (size_t i = 0; i < EXAMPLES; i++) {
    float c[INSIDE], n[INSIDE];
    struct pair p = look(d, colour, i), q = look(d, noise, i);
    inside(&p, c);
    inside(&q, n);
    for (size_t k = CHANNELS; k < INSIDE; k++) assert_true(c[k] == c[k % CHANNELS]);
    assert_true(c[0] != c[1] && c[1] != c[2]);
    assert_true(n[0] != n[3] && n[3] != n[6]);
    for (size_t k = 0; k < INSIDE; k++) { /* the values of the data: -20 to 95 */
      assert_true(c[k] >= -20 && c[k] <= 95);
      assert_true(n[k] >= -20 && n[k] <= 95);
    }
  }
  r4_data_free(noise);
  r4_data_free(colour);
  r4_data_free(d);
}

static void mean_and_blur_by_hand(void **state)
{
  (void)state;
  float mean[FEATURES], v[INSIDE];
  r4_data *d = make(all, false), *average = fill(d, R4_FILL_MEAN, 0, 0), *blur = fill(d, R4_FILL_BLUR, 0, 0);
  assert_int_equal(r4_data_mean(d, mean, NULL), R4_OK);
  for (size_t i = 0; i < EXAMPLES; i++) {
    struct pair p = look(d, average, i), q = look(d, blur, i);
    for (size_t j = 0; j < FEATURES; j++)
      if (p.m[j] > 0) assert_true(p.filled[j] == mean[j]);
    inside(&q, v); /* all around is 10 i */
    for (size_t k = 0; k < INSIDE; k++) assert_true(fabsf(v[k] - (float)(10 * i) / 255) < 1e-6f);
  }
  r4_data_free(blur);
  r4_data_free(average);
  r4_data_free(d);
}

static void blank_is_nothing(void **state)
{
  (void)state;
  r4_data *d = make(all, true), *filled = fill(d, R4_FILL_BLANK, 0, 0);
  for (size_t i = 0; i < EXAMPLES; i++) {
    struct pair p = look(d, filled, i);
    for (size_t j = 0; j < FEATURES; j++) assert_true(p.filled[j] == (p.m[j] > 0 ? 0 : p.x[j]));
  }
  assert_string_equal(r4_fill_name(R4_FILL_BLANK), "blank");
  assert_string_equal(r4_fill_name(R4_FILL_NONE), "none");
  assert_null(r4_fill_name((r4_fill)(R4_FILL_EXCHANGE + 1)));
  r4_data_free(filled);
  r4_data_free(d);
}

/* The example whose content this is, inside its mask: bytes are 10 i + 5. */
static size_t whose(float v)
{
  double i = (v * 255 - 5) / 10;
  assert_true(fabs(i - round(i)) < 1e-3);
  return (size_t)lround(i);
}

/* Masks lie at different places, so content is moved with its box. Donors have masks, and are of all classes. */
static void swap_brings_masked_content_of_others(void **state)
{
  (void)state;
  r4_data *d = make(some, false);
  size_t other_class = 0;
  for (uint32_t epoch = 0; epoch < 20; epoch++) {
    r4_data *filled = fill(d, R4_FILL_SWAP, 5, epoch);
    for (size_t i = 0; i < EXAMPLES; i++) {
      struct pair p = look(d, filled, i);
      float v[INSIDE];
      if (!p.masked) continue;
      inside(&p, v);
      size_t donor = whose(v[0]);
      for (size_t k = 0; k < INSIDE; k++) assert_int_equal(whose(v[k]), donor);
      assert_true(donor != i && donor < EXAMPLES && d->record[donor].mask);
      other_class += donor % 2 != i % 2;
    }
    r4_data_free(filled);
  }
  assert_in_range(other_class, 40, 120); /* of 160 */
  r4_data_free(d);
}

/* Masks on one class only: about half of all examples, of both classes, get the content of another at its place. */
static void paste_reaches_every_class(void **state)
{
  (void)state;
  r4_data *d = make(one_class, false);
  size_t pasted[2] = {0};
  for (uint32_t epoch = 0; epoch < 50; epoch++) {
    r4_data *filled = fill(d, R4_FILL_PASTE, 5, epoch);
    for (size_t i = 0; i < EXAMPLES; i++) {
      struct pair p = look(d, filled, i);
      size_t changed = 0, donor = EXAMPLES;
      for (size_t j = 0; j < FEATURES; j++) {
        if (p.filled[j] == p.x[j]) continue;
        if (!changed++) donor = whose(p.filled[j]);
        assert_int_equal(whose(p.filled[j]), donor);
        assert_true(masks_at(data_masks(d), d->record[donor].mask)[j / CHANNELS]);
      }
      assert_true(!changed || (donor != i && donor % 2 == 1));
      assert_true(!changed || changed == INSIDE);
      pasted[i % 2] += changed > 0;
    }
    r4_data_free(filled);
  }
  for (int k = 0; k < 2; k++) assert_in_range(pasted[k], 120, 180); /* of 300 */
  r4_data_free(d);
}

static void the_same_seed_and_epoch_give_the_same(void **state)
{
  (void)state;
  r4_data *d = make(all, false);
  char hash[4][R4_HASH_SIZE];
  for (r4_fill kind = R4_FILL_COLOUR; kind <= R4_FILL_BLANK; kind++) {
    const struct {
      uint64_t seed;
      uint32_t epoch;
    } at[] = {{1, 0}, {1, 0}, {2, 0}, {1, 1}};
    for (int k = 0; k < 4; k++) {
      r4_data *filled = fill(d, kind, at[k].seed, at[k].epoch);
      r4_data_hash(filled, hash[k]);
      r4_data_free(filled);
    }
    bool drawn = kind != R4_FILL_MEAN && kind != R4_FILL_BLUR && kind != R4_FILL_BLANK;
    assert_string_equal(hash[0], hash[1]);
    assert_true(drawn == (strcmp(hash[0], hash[2]) != 0));
    assert_true(drawn == (strcmp(hash[0], hash[3]) != 0));
  }
  r4_data_free(d);
}

/* What batches give is what r4_data_fill gives, with and without a thread, from any place on. */
static void batches_are_filled_alike(void **state)
{
  (void)state;
  r4_data *d = make(some, false);
  for (r4_fill kind = R4_FILL_NONE; kind <= R4_FILL_BLANK; kind++)
    for (int prefetch = 0; prefetch < 2; prefetch++) {
      r4_batch_options o = {.size = 5, .shuffle = true, .seed = 7, .fill = kind, .prefetch = prefetch};
      r4_batches *b = r4_batches_new(d, &o, NULL);
      assert_int_equal(r4_batches_seek(b, 2, 1, NULL), R4_OK);
      for (int n = 0; n < 4; n++) {
        r4_batch batch = r4_batches_next(b);
        r4_data *filled = fill(d, kind, 7, batch.epoch);
        for (size_t i = 0; i < batch.count; i++) {
          struct pair p = look(d, filled, batch.example[i]);
          assert_memory_equal(batch.x + i * FEATURES, p.x, sizeof p.x);
          assert_memory_equal(batch.filled + i * FEATURES, p.filled, sizeof p.filled);
        }
        r4_data_free(filled);
      }
      r4_batches_free(b);
    }
  r4_data_free(d);
}

static void masks_decide_what_can_work(void **state)
{
  (void)state;
  const struct {
    bool (*masked)(size_t i);
    r4_fill kind;
  } c[] = {{all, R4_FILL_COLOUR}, {some, R4_FILL_COLOUR}, {one_class, R4_FILL_PASTE}, {none, R4_FILL_NONE}};
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
    r4_data *d = make(c[k].masked, false);
    assert_int_equal(fill_for(d), c[k].kind);
    bool one = c[k].kind == R4_FILL_PASTE;
    assert_int_equal(task_explain(&s->values, d), one ? R4_EXPLAIN_MARGIN : R4_EXPLAIN_LOSS);
    r4_data_free(d);
  }
  r4_settings_free(s);
}

static void vectors_are_filled_too(void **state)
{
  (void)state;
  struct column *v = column_new(&floats_column, R4_SHAPE(4), 3, NULL);
  r4_data *d = data_new(3, v, NULL);
  r4_error e = {0};
  data_set_masks(d, masks_new(4, NULL));
  for (size_t k = 0; k < 12; k++) ((float *)v->data)[k] = (float)k;
  for (size_t i = 0; i < 3; i++)
    masks_add(data_masks(d), (const uint8_t[]){0, 255, 255, 0}, &d->record[i].mask, NULL);
  names_add(d->classes, "a", NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  for (r4_fill kind = R4_FILL_COLOUR; kind <= R4_FILL_PASTE; kind++) {
    if (kind == R4_FILL_BLUR) continue;
    r4_data *filled = fill(d, kind, 1, 0);
    float x[4];
    r4_data_values(filled, 1, x);
    assert_true(x[0] == 4 && x[3] == 7);
    assert_true(x[1] >= 1 && x[1] <= 9 && x[2] >= 2 && x[2] <= 10); /* each feature in its own range */
    if (kind == R4_FILL_SWAP) assert_true((x[1] == 1 && x[2] == 2) || (x[1] == 9 && x[2] == 10));
    r4_data_free(filled);
  }
  assert_null(r4_data_fill(d, R4_FILL_BLUR, 1, 0, &e));
  assert_non_null(strstr(e.text, "blur is for images"));
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(only_masked_content_changes), cmocka_unit_test(colours_are_one_and_noise_is_many),
    cmocka_unit_test(mean_and_blur_by_hand),       cmocka_unit_test(swap_brings_masked_content_of_others),
    cmocka_unit_test(paste_reaches_every_class),   cmocka_unit_test(the_same_seed_and_epoch_give_the_same),
    cmocka_unit_test(batches_are_filled_alike),    cmocka_unit_test(masks_decide_what_can_work),
    cmocka_unit_test(vectors_are_filled_too),      cmocka_unit_test(blank_is_nothing),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("fill", tests, NULL, NULL);
}
