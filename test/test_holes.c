/* Cutout and strips: where images are hidden, by what, and what stays as it is. */
#include <math.h>
#include <string.h>

#include "augment_case.h"
#include "base/mem.h"
#include "scratch.h"

enum { EPOCHS = 200 };

static bool is_hidden(const float *pixel, const float *constant)
{
  return !memcmp(pixel, constant, CHANNELS * sizeof *pixel);
}

/* Hidden pixels of an image; those that are not are as they were. */
static size_t compare(const float *row, const float *x, const float *constant, bool *hidden)
{
  size_t n = 0;
  for (size_t p = 0; p < PIXELS; p++) {
    hidden[p] = is_hidden(row + p * CHANNELS, constant);
    if (!hidden[p]) assert_memory_equal(row + p * CHANNELS, x + p * CHANNELS, CHANNELS * sizeof *x);
    n += hidden[p];
  }
  return n;
}

/* Rows or columns that are hidden, from one edge on. */
static size_t from_edge(const bool *hidden, int edge)
{
  size_t lines = edge < 2 ? HEIGHT : WIDTH, across = edge < 2 ? WIDTH : HEIGHT, n = 0;
  for (; n < lines; n++)
    for (size_t k = 0; k < across; k++) {
      size_t line = edge % 2 ? lines - 1 - n : n, p = edge < 2 ? line * WIDTH + k : k * WIDTH + line;
      if (!hidden[p]) return n;
    }
  return n;
}

static void strips_are_at_edges(void **state)
{
  (void)state;
  r4_data *d = augment_data(true);
  r4_batches *b =
    augment_batches(d, (r4_batch_options){.size = EXAMPLES, .seed = 5, .augment = {.strips = 0.4}});
  float x[FEATURES], m[FEATURES], constant[CHANNELS];
  bool hidden[PIXELS];
  size_t seen[4][4] = {{0}}, none = 0, two = 0;
  assert_int_equal(r4_data_constant(d, CHANNELS, constant, NULL), R4_OK);
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    r4_batch batch = r4_batches_next(b);
    for (size_t i = 0; i < batch.count; i++) {
      r4_data_values(d, batch.example[i], x);
      if (!r4_data_mask(d, batch.example[i], m)) memset(m, 0, sizeof m);
      assert_memory_equal(batch.m + i * FEATURES, m, sizeof m);
      size_t n = compare(batch.x + i * FEATURES, x, constant, hidden), edges = 0, at[4];
      for (int edge = 0; edge < 4; edge++) {
        at[edge] = from_edge(hidden, edge);
        edges += at[edge] > 0;
        assert_true(at[edge] <= (edge < 2 ? 2u : 3u)); /* ceil(0.4 of 5), ceil(0.4 of 7) */
        seen[edge][at[edge]]++;
      }
      size_t inner = (HEIGHT - at[0] - at[1]) * (WIDTH - at[2] - at[3]);
      assert_true(edges <= 2 && n == PIXELS - inner);
      none += !n;
      two += edges == 2;
    }
  }
  size_t all = EPOCHS * EXAMPLES;
  for (int edge = 0; edge < 4; edge++)
    for (size_t n = 1; n <= (edge < 2 ? 2u : 3u); n++)
      assert_true(seen[edge][n] > all / 12 && seen[edge][n] < all / 5);
  /* None: each of two strips has 0 of 0 .. 2 or of 0 .. 3 pixels, (1/3 + 1/4)/2 each. Two: (1 - that)^2 times 3/4. */
  assert_true(fabs((double)none / (double)all - 0.085) < 0.02);
  assert_true(fabs((double)two / (double)all - 0.376) < 0.03);
  r4_batches_free(b);
  r4_data_free(d);
}

/* One square of 2 pixels: its centre is at any pixel, and it is cut at the edges above and on the left. */
static void squares_are_anywhere(void **state)
{
  (void)state;
  r4_data *d = augment_data(false);
  const r4_augment one = {.cutout = 0.3, .holes = 1};
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = one});
  float x[FEATURES], constant[CHANNELS];
  bool hidden[PIXELS];
  size_t corner[PIXELS] = {0}, small = 0;
  assert_int_equal(r4_data_constant(d, CHANNELS, constant, NULL), R4_OK);
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    r4_batch batch = r4_batches_next(b);
    for (size_t i = 0; i < batch.count; i++) {
      r4_data_values(d, batch.example[i], x);
      size_t n = compare(batch.x + i * FEATURES, x, constant, hidden), last = PIXELS - 1;
      while (!hidden[last]) last--;
      corner[last]++;
      bool first_row = last < WIDTH, first_column = last % WIDTH == 0;
      assert_int_equal(n, (first_row ? 1 : 2) * (first_column ? 1 : 2));
      small += n < 4;
    }
  }
  for (size_t p = 0; p < PIXELS; p++) assert_true(corner[p] > EPOCHS * EXAMPLES / PIXELS / 2);
  assert_true(small > 0);
  r4_batches_free(b);
  r4_data_free(d);
}

static size_t hidden_in_all(const r4_data *d, r4_augment by)
{
  r4_batches *b = augment_batches(d, (r4_batch_options){.size = EXAMPLES, .augment = by});
  float x[FEATURES], constant[CHANNELS];
  bool hidden[PIXELS];
  size_t n = 0;
  assert_int_equal(r4_data_constant(d, CHANNELS, constant, NULL), R4_OK);
  r4_batch batch = r4_batches_next(b);
  for (size_t i = 0; i < batch.count; i++) {
    r4_data_values(d, batch.example[i], x);
    n += compare(batch.x + i * FEATURES, x, constant, hidden);
  }
  r4_batches_free(b);
  return n;
}

static void two_squares_unless_told_otherwise(void **state)
{
  (void)state;
  r4_data *d = augment_data(true);
  size_t one = hidden_in_all(d, (r4_augment){.cutout = 0.3, .holes = 1});
  size_t two = hidden_in_all(d, (r4_augment){.cutout = 0.3, .holes = 2});
  assert_int_equal(hidden_in_all(d, (r4_augment){.cutout = 0.3}), two);
  assert_true(two > one && hidden_in_all(d, (r4_augment){.cutout = 0.3, .holes = 5}) > two);
  assert_int_equal(hidden_in_all(d, (r4_augment){.cutout = 1, .holes = 64}), EXAMPLES * PIXELS);
  r4_data_free(d);
}

/* The filled example is hidden where the example is, and donors are whole; what else is drawn stays. */
static void filled_examples_are_hidden_alike(void **state)
{
  (void)state;
  r4_data *d = augment_data(true);
  const r4_batch_options plain = {.size = EXAMPLES, .fill = R4_FILL_EXCHANGE, .augment = {.flip = true}};
  r4_batch_options holes = plain;
  holes.augment.strips = 0.4;
  holes.augment.cutout = 0.3;
  r4_batches *a = augment_batches(d, plain), *b = augment_batches(d, holes);
  float constant[CHANNELS];
  bool hidden[PIXELS], in_filled[PIXELS];
  size_t differ = 0;
  assert_int_equal(r4_data_constant(d, CHANNELS, constant, NULL), R4_OK);
  for (int epoch = 0; epoch < 20; epoch++) {
    r4_batch was = r4_batches_next(a), is = r4_batches_next(b);
    assert_memory_equal(was.m, is.m, EXAMPLES * FEATURES * sizeof(float));
    for (size_t i = 0; i < was.count; i++) {
      compare(is.x + i * FEATURES, was.x + i * FEATURES, constant, hidden);
      compare(is.filled + i * FEATURES, was.filled + i * FEATURES, constant, in_filled);
      assert_memory_equal(hidden, in_filled, sizeof hidden);
      differ += memcmp(is.x + i * FEATURES, is.filled + i * FEATURES, FEATURES * sizeof(float)) != 0;
    }
  }
  assert_true(differ > 100);
  r4_batches_free(a);
  r4_batches_free(b);
  r4_data_free(d);
}

/* By seed, epoch and example: in any batch, from any epoch on. */
static void the_same_holes_again(void **state)
{
  (void)state;
  r4_data *d = augment_data(true);
  r4_batch_options o = {.size = EXAMPLES, .seed = 3, .augment = {.strips = 0.4, .cutout = 0.2}};
  r4_batches *a = augment_batches(d, o);
  for (int epoch = 0; epoch < 4; epoch++) r4_batches_next(a);
  r4_batch whole = r4_batches_next(a);
  o.size = 5, o.prefetch = true;
  r4_batches *b = augment_batches(d, o);
  assert_int_equal(r4_batches_seek(b, 4, 0, NULL), R4_OK);
  for (size_t first = 0; first < EXAMPLES; first += 5) {
    r4_batch part = r4_batches_next(b);
    assert_memory_equal(part.x, whole.x + first * FEATURES, part.count * FEATURES * sizeof(float));
  }
  r4_batches_free(a);
  o.seed = 4, o.size = EXAMPLES;
  a = augment_batches(d, o);
  assert_int_equal(r4_batches_seek(a, 4, 0, NULL), R4_OK);
  r4_batches_free(b);
  o.seed = 3;
  b = augment_batches(d, o);
  assert_int_equal(r4_batches_seek(b, 4, 0, NULL), R4_OK);
  assert_memory_not_equal(r4_batches_next(a).x, r4_batches_next(b).x, EXAMPLES * FEATURES * sizeof(float));
  r4_batches_free(a);
  r4_batches_free(b);
  r4_data_free(d);
}

static void refused(const r4_data *d, r4_augment by, const char *says)
{
  r4_error e = {0};
  assert_null(r4_batches_new(d, &(r4_batch_options){.size = 1, .augment = by}, &e));
  assert_error(&e, e.status, says);
}

static void bad_holes_are_named(void **state)
{
  (void)state;
  static const float x[8];
  static const int32_t label[2];
  const r4_data_arrays a = {.n = 2, .shape = R4_SHAPE(4), .floats = x, .labels = label, .classes = 2};
  r4_data *d = augment_data(true), *vectors = r4_data_new(&a, NULL);
  refused(d, (r4_augment){.cutout = 1.1}, "augment.cutout is 1.1, expected 0 to 1");
  refused(d, (r4_augment){.cutout = -0.1}, "augment.cutout is -0.1");
  refused(d, (r4_augment){.strips = 0.6}, "augment.strips is 0.6, expected 0 to 0.5");
  refused(d, (r4_augment){.cutout = 0.1, .holes = 65}, "augment.holes is 65");
  refused(d, (r4_augment){.cutout = 0.1, .holes = -1}, "augment.holes is -1");
  refused(vectors, (r4_augment){.strips = 0.1}, "augment.strips is for images");
  refused(vectors, (r4_augment){.cutout = 0.1}, "augment.cutout is for images");
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_batches *b = r4_batches_new(d, &(r4_batch_options){.size = 2, .augment = {.strips = 0.4}}, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(b ? !reached : e.status == R4_E_MEMORY);
    r4_batches_free(b);
    if (!reached) break;
  }
  r4_data_free(vectors);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(strips_are_at_edges),
    cmocka_unit_test(squares_are_anywhere),
    cmocka_unit_test(two_squares_unless_told_otherwise),
    cmocka_unit_test(filled_examples_are_hidden_alike),
    cmocka_unit_test(the_same_holes_again),
    cmocka_unit_test(bad_holes_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
