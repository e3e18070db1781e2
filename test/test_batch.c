/* Batches: every example once, the same with and without a thread, from any place on. */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/data.h"

enum { SIDE = 5, CHANNELS = 2, PIXELS = SIDE * SIDE, FEATURES = PIXELS * CHANNELS, MAX_SIZE = 16 };

/* Random images of bytes or floats in three classes; two in three have one of four masks, half of it grey. */
static r4_data *make(size_t n, bool floats)
{
  draw_start(1, (uint32_t)n);
  struct column *v =
    column_new(floats ? &floats_column : &bytes_column, R4_SHAPE(SIDE, SIDE, CHANNELS), n, NULL);
  r4_data *d = v ? data_new(n, v, NULL) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(PIXELS, NULL));
  for (size_t k = 0; k < n * FEATURES; k++) {
    if (floats)
      ((float *)v->data)[k] = (float)draw(-3, 3);
    else
      ((uint8_t *)v->data)[k] = (uint8_t)k;
  }
  for (size_t i = 0; i < n; i++) {
    uint8_t mask[PIXELS] = {0};
    mask[3 + i % 4] = 255;
    mask[20] = (uint8_t)(100 + i % 4);
    d->record[i].label = (int)(i % 3);
    if (i % 3) assert_int_equal(masks_add(data_masks(d), mask, &d->record[i].mask, NULL), R4_OK);
  }
  for (int k = 0; k < 3; k++) names_add(d->classes, (char[]){(char)('a' + k), 0}, NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

static r4_batches *start(const r4_data *d, r4_batch_options options)
{
  r4_error e = {0};
  r4_batches *b = r4_batches_new(d, &options, &e);
  if (!b) fail_msg("%s", e.text);
  return b;
}

static bool same(r4_batch a, r4_batch b, size_t masked)
{
  return a.count == b.count && a.masked == b.masked && a.epoch == b.epoch && a.index == b.index &&
         !memcmp(a.example, b.example, a.count * sizeof *a.example) &&
         !memcmp(a.x, b.x, a.count * FEATURES * sizeof *a.x) && !memcmp(a.y, b.y, a.count * sizeof *a.y) &&
         !memcmp(a.m, b.m, a.count * masked * sizeof *a.m);
}

/* Each row is, to the bit, what r4_data_values and r4_data_mask give. */
static void check_rows(const r4_data *d, r4_batch b, size_t masked, const float *index)
{
  float x[FEATURES], m[FEATURES];
  size_t with_mask = 0;
  for (size_t i = 0; i < b.count; i++) {
    r4_data_values(d, b.example[i], x);
    with_mask += r4_data_mask(d, b.example[i], m);
    assert_memory_equal(b.x + i * FEATURES, x, sizeof x);
    assert_true(b.y[i] == (float)r4_data_example(d, b.example[i]).label);
    for (size_t u = 0; u < masked; u++) assert_true(b.m[i * masked + u] == m[index ? (size_t)index[u] : u]);
  }
  assert_int_equal(b.masked, with_mask);
}

static void rows_are_the_examples(void **state)
{
  (void)state;
  float index[FEATURES];
  for (int floats = 0; floats < 2; floats++) {
    r4_data *d = make(37, floats);
    size_t masked = r4_data_masked_features(d, NULL, index);
    const float want[] = {6, 7, 8, 9, 10, 11, 12, 13, 40, 41}; /* both channels of pixels 3 to 6 and 20 */
    assert_int_equal(masked, 10);
    for (size_t u = 0; u < masked; u++) assert_true(index[u] == want[u]);
    r4_batches *all = start(d, (r4_batch_options){.size = 8, .shuffle = true});
    r4_batches *few = start(d, (r4_batch_options){.size = 8, .masked = masked, .index = index});
    r4_batches *none = start(d, (r4_batch_options){.size = 8, .no_masks = true});
    for (size_t k = 0; k < 2 * r4_batches_count(all); k++) {
      check_rows(d, r4_batches_next(all), FEATURES, NULL);
      r4_batch listed = r4_batches_next(few), bare = r4_batches_next(none);
      check_rows(d, listed, masked, index);
      check_rows(d, bare, 0, NULL);
      assert_null(bare.m);
      assert_true(((uintptr_t)listed.x | (uintptr_t)listed.y | (uintptr_t)listed.m) % 64 == 0);
      for (size_t i = 0; i < listed.count; i++) assert_int_equal(listed.example[i], listed.index * 8 + i);
    }
    r4_batches_free(all);
    r4_batches_free(few);
    r4_batches_free(none);
    r4_data_free(d);
  }
}

/* The same examples in the same order, but for the masks. */
static void masked_examples_come_first(void **state)
{
  (void)state;
  r4_data *d = make(37, 0);
  r4_batch_options options = {.size = 8, .shuffle = true, .seed = 3};
  r4_batches *plain = start(d, options);
  options.masked_first = true;
  r4_batches *sorted = start(d, options);
  size_t mixed = 0;
  for (size_t k = 0; k < 2 * r4_batches_count(plain); k++) {
    r4_batch a = r4_batches_next(plain), b = r4_batches_next(sorted);
    check_rows(d, b, FEATURES, NULL);
    assert_true(b.masked_first && !a.masked_first && a.masked == b.masked);
    size_t at[2] = {0, b.masked};
    for (size_t i = 0; i < a.count; i++) {
      bool without = !d->record[a.example[i]].mask;
      mixed += !without && at[1] > b.masked;
      assert_int_equal(b.example[at[without]++], a.example[i]);
    }
  }
  assert_true(mixed > 0);
  r4_batches_free(plain);
  r4_batches_free(sorted);
  r4_data_free(d);
}

/* The order of an epoch, batch by batch. */
static size_t read_epoch(r4_batches *b, uint32_t epoch, size_t *order)
{
  size_t n = 0;
  for (size_t k = 0; k < r4_batches_count(b); k++) {
    r4_batch batch = r4_batches_next(b);
    assert_int_equal(batch.epoch, epoch);
    assert_int_equal(batch.index, k);
    memcpy(order + n, batch.example, batch.count * sizeof *order);
    n += batch.count;
  }
  return n;
}

static void an_epoch_has_every_example_once(void **state)
{
  (void)state;
  enum { N = 101, EPOCHS = 4 };
  r4_data *d = make(N, false);
  size_t order[EPOCHS][N], other[N];
  r4_batches *b = start(d, (r4_batch_options){.size = 8, .shuffle = true, .seed = 5});
  assert_int_equal(r4_batches_count(b), 13);
  for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
    size_t seen[N] = {0};
    assert_int_equal(read_epoch(b, epoch, order[epoch]), N);
    for (size_t i = 0; i < N; i++) seen[order[epoch][i]]++;
    for (size_t i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    for (uint32_t before = 0; before < epoch; before++)
      assert_memory_not_equal(order[epoch], order[before], sizeof other);
  }
  r4_batches_free(b);

  /* Seed and epoch alone: not the size of batches; another seed gives another order. */
  b = start(d, (r4_batch_options){.size = 16, .shuffle = true, .seed = 5});
  for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
    read_epoch(b, epoch, other);
    assert_memory_equal(order[epoch], other, sizeof other);
  }
  r4_batches_free(b);
  b = start(d, (r4_batch_options){.size = 16, .shuffle = true, .seed = 6});
  read_epoch(b, 0, other);
  assert_memory_not_equal(order[0], other, sizeof other);
  r4_batches_free(b);
  r4_data_free(d);
}

/* In 6000 shuffles of four examples each of the 24 orders comes about 250 times: 5 standard deviations. */
static void every_order_is_as_likely(void **state)
{
  (void)state;
  size_t count[256] = {0}, orders = 0, order[4];
  r4_data *d = make(4, false);
  r4_batches *b = start(d, (r4_batch_options){.size = 4, .shuffle = true, .seed = check_seed()});
  for (uint32_t epoch = 0; epoch < 6000; epoch++) {
    read_epoch(b, epoch, order);
    count[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]]++;
  }
  for (int k = 0; k < 256; k++) {
    if (!count[k]) continue;
    orders++;
    assert_in_range(count[k], 250 - 78, 250 + 78);
  }
  assert_int_equal(orders, 24);
  r4_batches_free(b);
  r4_data_free(d);
}

static void the_last_batch_is_smaller_or_dropped(void **state)
{
  (void)state;
  r4_data *d = make(20, false);
  size_t order[20];
  r4_batches *whole = start(d, (r4_batch_options){.size = 8});
  r4_batches *dropped = start(d, (r4_batch_options){.size = 8, .drop_last = true});
  r4_batches *even = start(d, (r4_batch_options){.size = 10});
  assert_int_equal(r4_batches_count(whole), 3);
  assert_int_equal(r4_batches_count(dropped), 2);
  assert_int_equal(r4_batches_count(even), 2);
  for (uint32_t epoch = 0; epoch < 2; epoch++) {
    assert_int_equal(read_epoch(whole, epoch, order), 20);
    assert_int_equal(read_epoch(dropped, epoch, order), 16);
    assert_int_equal(read_epoch(even, epoch, order), 20);
  }
  assert_int_equal(r4_batches_seek(whole, 0, 2, NULL), R4_OK);
  assert_int_equal(r4_batches_next(whole).count, 4);
  r4_batches_free(whole);
  r4_batches_free(dropped);
  r4_batches_free(even);
  r4_data_free(d);
}

static void a_thread_changes_nothing(void **state)
{
  (void)state;
  float index[FEATURES];
  r4_data *d = make(61, false);
  size_t masked = r4_data_masked_features(d, NULL, index);
  r4_batch_options options = {.size = 8, .shuffle = true, .seed = 9, .masked = masked, .index = index};
  int before = r4_threads(0, false);
  for (int threads = 1; threads <= 2; threads++) {
    r4_threads(threads, false);
    options.prefetch = false;
    r4_batches *plain = start(d, options);
    options.prefetch = true;
    r4_batches *ahead = start(d, options);
    for (size_t k = 0; k < 400; k++) {
      r4_batch a = r4_batches_next(plain), b = r4_batches_next(ahead);
      for (size_t wait = draw_below(20); wait > 0; wait--) sched_yield(); /* the next one is made meanwhile */
      assert_true(same(a, b, masked));
    }
    r4_batches_free(plain);
    r4_batches_free(ahead);
  }
  r4_threads(before, false);
  r4_data_free(d);
}

static void seeking_is_resuming(void **state)
{
  (void)state;
  r4_data *d = make(50, false);
  r4_batch_options options = {.size = 7, .shuffle = true, .seed = 3};
  r4_batches *from_start = start(d, options);
  for (int prefetch = 0; prefetch < 2; prefetch++) {
    options.prefetch = prefetch;
    r4_batches *resumed = start(d, options);
    for (size_t place = 0; place < 60; place++) {
      size_t at = draw_below(40), count = r4_batches_count(resumed);
      assert_int_equal(r4_batches_seek(from_start, 0, 0, NULL), R4_OK);
      for (size_t k = 0; k < at; k++) r4_batches_next(from_start);
      assert_int_equal(r4_batches_seek(resumed, (uint32_t)(at / count), at % count, NULL), R4_OK);
      for (size_t k = draw_below(4); k > 0; k--)
        assert_true(same(r4_batches_next(from_start), r4_batches_next(resumed), FEATURES));
    }
    r4_error e = {0};
    assert_int_equal(r4_batches_seek(resumed, 0, 8, &e), R4_E_ARGUMENT);
    assert_non_null(strstr(e.text, "batch 8"));
    r4_batches_free(resumed);
  }
  r4_batches_free(from_start);
  r4_data_free(d);
}

/* Batches keep what they need of a data set, and stop at any moment. */
static void anything_may_go_first(void **state)
{
  (void)state;
  for (size_t steps = 0; steps < 30; steps++) {
    r4_data *d = make(30, false);
    r4_batches *b = start(d, (r4_batch_options){.size = 4, .shuffle = true, .prefetch = true});
    r4_data_free(d);
    for (size_t k = 0; k < steps; k++) r4_batches_next(b);
    r4_batches_free(b);
  }
  r4_batches_free(NULL);
}

static void bad_options_are_named(void **state)
{
  (void)state;
  r4_data *d = make(10, false);
  float index[FEATURES], outside[] = {FEATURES}, half[] = {1.5f};
  size_t masked = r4_data_masked_features(d, NULL, index);
  const struct {
    r4_batch_options options;
    const char *text;
  } bad[] = {
    {{.size = 0}, "0 examples"},
    {{.size = 11, .drop_last = true}, "10 examples do not fill a batch of 11"},
    {{.size = 2, .masked = 3}, "without an index"},
    {{.size = 2, .masked = 1, .index = outside}, "is 50, expected a whole number from 0 to 49"},
    {{.size = 2, .masked = 1, .index = half}, "is 1.5"},
    {{.size = 2, .masked = masked - 1, .index = index}, "touches feature 41"},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    assert_null(r4_batches_new(d, &bad[k].options, &e));
    if (!strstr(e.text, bad[k].text)) fail_msg("case %zu: \"%s\"", k, e.text);
  }
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_data *d = make(10, false);
  float index[FEATURES];
  size_t masked = r4_data_masked_features(d, NULL, index);
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_batches *b = r4_batches_new(
      d,
      &(r4_batch_options){
        .size = 4, .masked = masked, .index = index, .prefetch = n % 2, .by_group = true},
      &e);
    bool reached = r4_mem_count() >= n;
    assert_true(b ? !reached : e.status == R4_E_MEMORY && *e.text);
    if (b) { /* a batch allocates nothing */
      r4_mem_fail_at(1);
      for (int k = 0; k < 9; k++) assert_true(r4_batches_next(b).count > 0);
      assert_int_equal(r4_mem_count(), 0);
    }
    r4_mem_fail_at(0);
    r4_batches_free(b);
    if (!reached) break;
  }
  r4_data_free(d);
}

/* ---- By group ---- */

/* 40 examples of group 0, 3 of group 2, one of group 3; none of group 1. */
static r4_data *make_groups(void)
{
  r4_data *d = make(44, false), *grouped = data_derive(d, NULL);
  assert_non_null(grouped);
  names_drop(grouped->groups);
  grouped->groups = names_new(NULL);
  for (int k = 0; k < 4; k++) names_add(grouped->groups, (char[]){(char)('p' + k), 0}, NULL, NULL);
  for (size_t i = 0; i < 44; i++) grouped->record[i].group = i < 40 ? 0 : i < 43 ? 2 : 3;
  r4_data_free(d);
  return grouped;
}

/* Over 3000 epochs of 44 places, each of the three groups has a third of them, and each example its share of that. */
static void groups_are_equally_likely(void **state)
{
  (void)state;
  enum { EPOCHS = 3000, PLACES = 44 * EPOCHS };
  size_t count[44] = {0};
  r4_data *d = make_groups();
  r4_batches *b =
    start(d, (r4_batch_options){.size = 16, .by_group = true, .masked_first = true, .seed = 3});
  assert_int_equal(r4_batches_count(b), 3);
  for (size_t k = 0; k < 3 * EPOCHS; k++) {
    r4_batch batch = r4_batches_next(b);
    assert_int_equal(batch.count, k % 3 < 2 ? 16 : 12);
    check_rows(d, batch, FEATURES, NULL);
    for (size_t i = 0; i < batch.count; i++) count[batch.example[i]]++;
  }
  for (size_t i = 0; i < 44; i++) {
    double p = i < 40 ? 1. / 120 : i < 43 ? 1. / 9 : 1. / 3, n = (double)count[i];
    assert_true(fabs(n - PLACES * p) < 5 * sqrt(PLACES * p));
  }
  r4_batches_free(b);
  r4_data_free(d);
}

/* The order is one of seed and epoch: from any place on, on a thread or not, and not that of another epoch. */
static void groups_are_drawn_anew_in_each_epoch(void **state)
{
  (void)state;
  r4_data *d = make_groups();
  r4_batch_options o = {.size = 16, .by_group = true, .seed = 3, .fill = R4_FILL_NOISE};
  r4_batches *a = start(d, o), *b = start(d, (o.prefetch = true, o));
  size_t first[16];
  memcpy(first, r4_batches_next(a).example, sizeof first);
  assert_int_equal(r4_batches_seek(b, 5, 1, NULL), R4_OK);
  while (true) {
    r4_batch x = r4_batches_next(a);
    if (x.epoch == 1 && !x.index) assert_memory_not_equal(x.example, first, sizeof first);
    if (x.epoch < 5 || (x.epoch == 5 && !x.index)) continue;
    r4_batch y = r4_batches_next(b);
    assert_true(same(x, y, FEATURES));
    assert_memory_equal(x.filled, y.filled, x.count * FEATURES * sizeof *x.filled);
    if (x.epoch == 6) break;
  }
  r4_batches_free(a);
  r4_batches_free(b);
  r4_data_free(d);
}

/* The one example of the last group comes several times in a batch, and its mask has other noise in it each time. */
static void repeated_examples_look_different(void **state)
{
  (void)state;
  r4_data *d = make_groups();
  r4_batches *b =
    start(d, (r4_batch_options){.size = 44, .by_group = true, .seed = 3, .fill = R4_FILL_NOISE});
  r4_batch batch = r4_batches_next(b);
  const float *before = NULL;
  size_t times = 0;
  for (size_t i = 0; i < 44; i++) {
    if (batch.example[i] != 43) continue;
    const float *now = batch.filled + i * FEATURES;
    if (before) assert_memory_not_equal(now, before, FEATURES * sizeof *now);
    before = now;
    times++;
  }
  assert_true(times > 5);
  r4_batches_free(b);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_are_the_examples),
    cmocka_unit_test(masked_examples_come_first),
    cmocka_unit_test(an_epoch_has_every_example_once),
    cmocka_unit_test(every_order_is_as_likely),
    cmocka_unit_test(the_last_batch_is_smaller_or_dropped),
    cmocka_unit_test(a_thread_changes_nothing),
    cmocka_unit_test(seeking_is_resuming),
    cmocka_unit_test(anything_may_go_first),
    cmocka_unit_test(bad_options_are_named),
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(groups_are_equally_likely),
    cmocka_unit_test(groups_are_drawn_anew_in_each_epoch),
    cmocka_unit_test(repeated_examples_look_different),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
