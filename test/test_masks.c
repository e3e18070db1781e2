/* Operations on masks: shares, inverses, soft masks, and the four ways to make them wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chance.h"
#include "check.h"
#include "data/data.h"
#include "data/mask/mask_shape.h"

enum { N = 5000, CLASSES = 4, TRAINED = N / 5 * 4 };

static void square(uint8_t *mask, size_t side, size_t top, size_t left, size_t p)
{
  memset(mask, 0, side * side);
  for (size_t k = 0; k < p * p; k++) mask[(top + k / p) * side + left + k % p] = 255;
}

/* N examples of the same image. Example i has label i % 4 and the mask of a square of side p in corner i / 4 % 4, and
 * every fifth is for test. */
static r4_data *make(size_t side, size_t p)
{
  r4_error e = {0};
  struct column *v = column_new(&bytes_column, R4_SHAPE((int64_t)side, (int64_t)side, 3), 1, &e);
  r4_data *d = v ? data_new(N, v, &e) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(side * side, &e));
  static uint8_t mask[64 * 64];
  for (size_t i = 0; i < N; i++) {
    struct record *r = d->record + i;
    r->row = 0;
    r->label = (int32_t)(i % CLASSES);
    r->split = i % 5 == 4 ? R4_TEST : R4_TRAIN;
    square(mask, side, i & 8 ? side - p : 0, i & 4 ? side - p : 0, p);
    assert_int_equal(masks_add(data_masks(d), mask, &r->mask, &e), R4_OK);
  }
  for (int k = 0; k < CLASSES; k++)
    assert_int_equal(names_add(d->classes, (char[]){(char)('a' + k), 0}, NULL, &e), R4_OK);
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

static const uint8_t *mask_of(const r4_data *d, size_t i)
{
  return masks_at(data_masks(d), d->record[i].mask);
}

/* ---- Shares, inverses, soft masks ---- */

static void kept_masks_are_shares_of_classes(void **state)
{
  (void)state;
  r4_data *d = make(28, 4), *few = r4_data_keep_masks(d, .2, 5, NULL),
          *many = r4_data_keep_masks(d, .6, 5, NULL), *others = r4_data_keep_masks(d, .2, 6, NULL);
  size_t differ = 0;
  for (int32_t k = 0; k < CLASSES; k++) {
    assert_int_equal(r4_data_mask_count(few, R4_TRAIN, k), TRAINED / CLASSES / 5);
    assert_int_equal(r4_data_mask_count(many, R4_TRAIN, k), TRAINED / CLASSES * 3 / 5);
  }
  assert_int_equal(r4_data_mask_count(few, R4_TEST, -1), N / 5);
  assert_int_equal(r4_data_mask_count(d, R4_TRAIN, -1), TRAINED);
  for (size_t i = 0; i < N; i++) {
    if (few->record[i].mask) assert_int_equal(many->record[i].mask, d->record[i].mask);
    differ += few->record[i].mask != others->record[i].mask;
  }
  assert_true(differ > TRAINED / 5);
  r4_data *none = r4_data_keep_masks(d, 0, 5, NULL), *of_few = r4_data_keep_masks(few, .5, 7, NULL);
  assert_int_equal(r4_data_mask_count(none, R4_TRAIN, -1), 0);
  assert_int_equal(r4_data_mask_count(of_few, R4_TRAIN, 0),
                   TRAINED / CLASSES / 10); /* of those that have one */
  r4_error e;
  assert_null(r4_data_keep_masks(d, 1.5, 5, &e));
  assert_non_null(strstr(e.text, "1.5"));
  r4_data *all[] = {d, few, many, others, none, of_few};
  for (int k = 0; k < 6; k++) r4_data_free(all[k]);
}

static void inverses_are_the_rest(void **state)
{
  (void)state;
  char before[R4_HASH_SIZE], after[R4_HASH_SIZE];
  r4_data *full = make(28, 4), *d = r4_data_keep_masks(full, .5, 1, NULL),
          *core = r4_data_invert_masks(d, NULL), *back = r4_data_invert_masks(core, NULL);
  for (size_t i = 0; i < N; i++) {
    assert_int_equal(!d->record[i].mask, !core->record[i].mask);
    for (size_t k = 0; d->record[i].mask && k < 784; k++)
      assert_int_equal(mask_of(core, i)[k], 255 - mask_of(d, i)[k]);
  }
  r4_data_hash(d, before);
  r4_data_hash(back, after);
  assert_string_equal(before, after);
  r4_data *all[] = {full, d, core, back};
  for (int k = 0; k < 4; k++) r4_data_free(all[k]);
}

/* Each corner is marked in a quarter of the training masks: alpha / 4 + 1 - alpha is left of it. */
static void soft_masks_come_from_the_mean(void **state)
{
  (void)state;
  r4_data *d = make(28, 4), *soft = r4_data_soften_masks(d, .6, NULL),
          *same = r4_data_soften_masks(d, 0, NULL);
  char before[R4_HASH_SIZE], after[R4_HASH_SIZE];
  r4_data_hash(d, before);
  r4_data_hash(same, after);
  assert_string_equal(before, after);
  double share[4] = {0};
  for (size_t i = 0; i < N; i++)
    if (d->record[i].split == R4_TRAIN) share[i / 4 % 4] += 1. / TRAINED;
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < 784; k++) {
      double left = d->record[i].split == R4_TRAIN ? .6 * share[i / 4 % 4] + .4 : 1;
      assert_int_equal(mask_of(soft, i)[k], lround(left * mask_of(d, i)[k]));
    }
  r4_error e;
  assert_null(r4_data_soften_masks(d, -1, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  r4_data_free(same);
  r4_data_free(soft);
  r4_data_free(d);
}

/* ---- Shapes ---- */

/* Largest (or with flip, smallest) element at most `by` away, by its definition. */
static void by_definition(const uint8_t *mask, size_t height, size_t width, size_t by, uint8_t flip,
                          uint8_t *to)
{
  for (size_t k = 0; k < height * width; k++) {
    uint8_t most = 0;
    for (size_t j = 0; j < height * width; j++) {
      long down = (long)(j / width) - (long)(k / width), right = (long)(j % width) - (long)(k % width);
      uint8_t value = mask[j] ^ flip;
      if (labs(down) <= (long)by && labs(right) <= (long)by && value > most) most = value;
    }
    to[k] = most ^ flip;
  }
}

static void growing_and_shrinking_fit_their_definition(void **state)
{
  (void)state;
  uint8_t mask[300], got[300], want[300];
  draw_start(1, 2);
  for (int round = 0; round < 300; round++) {
    struct shape_size size = {1 + draw_below(15), 1 + draw_below(15)};
    size_t n = size.height * size.width, by = draw_below(8), depth = 0;
    uint64_t kind = draw_below(3);
    for (size_t k = 0; k < n; k++)
      mask[k] = kind == 0   ? (uint8_t)draw_below(256)
                : kind == 1 ? 255 * (draw_below(8) > 0)
                            : 255 * (draw_below(8) == 0);
    assert_int_equal(shape_grow(mask, size, by, got, NULL), R4_OK);
    by_definition(mask, size.height, size.width, by, 0, want);
    assert_memory_equal(got, want, n);
    assert_int_equal(shape_shrink(mask, size, by, got, NULL), R4_OK);
    by_definition(mask, size.height, size.width, by, 255, want);
    assert_memory_equal(got, want, n);
    assert_int_equal(shape_depth(mask, size, &depth, NULL), R4_OK);
    size_t least = 1, most = size.height > size.width ? size.height : size.width;
    for (; least < most; least++) {
      by_definition(mask, size.height, size.width, least, 255, want);
      bool empty = true;
      for (size_t k = 0; k < n; k++) empty = empty && !want[k];
      if (empty) break;
    }
    assert_int_equal(depth, least);
  }
}

/* ---- Corruption ---- */

struct range {
  size_t low, high;
};

/* The ranges of the paper's two experiments: side, patch, place, shift, growth, loss. */
static const struct {
  size_t side, p;
  struct range range[4];
} papers[2] = {{28, 4, {{5, 23}, {1, 3}, {1, 4}, {1, 3}}}, {64, 16, {{16, 46}, {1, 14}, {1, 16}, {1, 15}}}};

/* What was drawn for the rows and columns of a corrupted mask: it must be the square that this makes of the corner. */
static void read_draws(const uint8_t *mask, size_t side, size_t p, size_t corner, r4_corruption kind,
                       size_t drawn[2])
{
  static uint8_t want[64 * 64];
  struct shape_box b = shape_box(mask, (struct shape_size){side, side});
  size_t at[2] = {b.top, b.left}, n = b.height;
  assert_int_equal(b.height, b.width);
  for (int axis = 0; axis < 2; axis++) {
    bool far = corner & (axis ? 1 : 2);
    size_t inward = far ? side - p - at[axis] : at[axis];
    if (kind == R4_CORRUPT_MISPOSITION) drawn[axis] = at[axis];
    if (kind == R4_CORRUPT_SHIFT) drawn[axis] = inward;
    if (kind == R4_CORRUPT_DILATION) drawn[axis] = n - p;
    if (kind == R4_CORRUPT_SHRINK) drawn[axis] = p - n;
    if (kind >= R4_CORRUPT_DILATION)
      assert_int_equal(at[axis], far ? side - n : 0); /* anchored */
    else
      assert_int_equal(n, p);
  }
  square(want, side, b.top, b.left, n);
  assert_memory_equal(mask, want, side * side);
}

static void corruption_has_the_ranges_of_the_paper(void **state)
{
  (void)state;
  for (size_t x = 0; x < 2; x++) {
    r4_data *d = make(papers[x].side, papers[x].p);
    for (int kind = 0; kind < 4; kind++) {
      struct range range = papers[x].range[kind];
      size_t values = range.high - range.low + 1, count[2][64] = {{0}}, both[64 * 64] = {0},
             corner[4][64] = {{0}};
      for (uint64_t seed = 0; seed < 3; seed++) {
        r4_data *bad = r4_data_corrupt_masks(d, (r4_corruption)kind, 0, seed, NULL);
        assert_non_null(bad);
        for (size_t i = 0; i < N; i++) {
          if (d->record[i].split != R4_TRAIN) continue;
          size_t drawn[2], c = i / 4 % 4;
          read_draws(mask_of(bad, i), papers[x].side, papers[x].p, c, (r4_corruption)kind, drawn);
          for (int axis = 0; axis < 2; axis++) {
            assert_in_range(drawn[axis], range.low, range.high);
            count[axis][drawn[axis] - range.low]++;
          }
          both[(drawn[0] - range.low) * values + drawn[1] - range.low]++;
          corner[c][drawn[0] - range.low]++;
        }
        r4_data_free(bad);
      }
      for (int axis = 0; axis < 2; axis++) {
        for (size_t k = 0; k < values; k++) assert_true(count[axis][k] > 0);
        assert_true(chance_uniform(values, count[axis]));
      }
      size_t table[4 * 64];
      for (size_t k = 0; k < 4 * values; k++) table[k] = corner[k / values][k % values];
      assert_true(chance_independent(4, values, table));
      if (kind < R4_CORRUPT_DILATION) assert_true(chance_independent(values, values, both));
    }
    r4_data_free(d);
  }
}

static void a_share_stays_correct(void **state)
{
  (void)state;
  const double share[] = {0, .04, .2, .8, 1};
  r4_data *d = make(28, 4);
  char before[R4_HASH_SIZE], after[R4_HASH_SIZE], hash[3][R4_HASH_SIZE];
  r4_data_hash(d, before);
  for (int kind = 0; kind < 4; kind++) {
    static uint8_t correct[N];
    memset(correct, 0, N);
    for (size_t s = 0; s < 5; s++) {
      size_t wrong[CLASSES] = {0};
      r4_data *bad = r4_data_corrupt_masks(d, (r4_corruption)kind, share[s], 7, NULL);
      for (size_t i = 0; i < N; i++) {
        bool same = !memcmp(mask_of(d, i), mask_of(bad, i), 784);
        wrong[d->record[i].label] += !same;
        if (d->record[i].split == R4_TEST) assert_true(same);
        if (correct[i]) assert_true(same); /* shares nest */
        correct[i] = same;
      }
      for (int k = 0; k < CLASSES; k++)
        assert_int_equal(wrong[k], TRAINED / CLASSES - lround(share[s] * TRAINED / CLASSES));
      r4_data_free(bad);
    }
    for (uint64_t s = 0; s < 3; s++) {
      r4_data *bad = r4_data_corrupt_masks(d, (r4_corruption)kind, .5, s / 2, NULL);
      r4_data_hash(bad, hash[s]);
      r4_data_free(bad);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[0], hash[2]);
  }
  r4_data_hash(d, after);
  assert_string_equal(before, after);
  r4_data_free(d);
}

/* A ring somewhere in the image: moved whole, or grown and shrunk on all sides. */
static void any_mask_can_be_corrupted(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(28, 4);
  static uint8_t ring[784], want[784];
  square(ring, 28, 3, 15, 9);
  for (size_t k = 0; k < 9; k++) ring[(6 + k / 3) * 28 + 18 + k % 3] = 0;
  data_set_masks(d, masks_new(784, &e));
  for (size_t i = 0; i < N; i++)
    assert_int_equal(masks_add(data_masks(d), ring, &d->record[i].mask, &e), R4_OK);
  struct shape_size size = {28, 28};
  size_t places[20] = {0}, down[8] = {0}, left[8] = {0}, grown[2] = {0};
  for (int kind = 0; kind < 4; kind++) {
    r4_data *bad = r4_data_corrupt_masks(d, (r4_corruption)kind, 0, 3, &e);
    for (size_t i = 0; i < N; i += i % 5 == 3 ? 2 : 1) {
      const uint8_t *m = mask_of(bad, i);
      struct shape_box b = shape_box(m, size);
      if (kind < 2) {
        shape_move(ring, size, (int64_t)b.top - 3, (int64_t)b.left - 15, want);
        assert_memory_equal(m, want, 784);
      } else if (kind == R4_CORRUPT_DILATION) { /* three wide: gone after two steps */
        grown[b.height == 13]++;
        assert_int_equal(shape_grow(ring, size, b.height == 13 ? 2 : 1, want, &e), R4_OK);
        assert_memory_equal(m, want, 784);
      } else {
        assert_int_equal(shape_shrink(ring, size, 1, want, &e), R4_OK);
        assert_memory_equal(m, want, 784);
      }
      if (kind == R4_CORRUPT_MISPOSITION) places[b.top]++;
      if (kind == R4_CORRUPT_SHIFT) { /* 4 * 9 is more than 28: 1 .. 7, to the farther edges */
        assert_in_range(b.top, 4, 10);
        assert_in_range(b.left, 8, 14);
        down[b.top - 4]++;
        left[b.left - 8]++;
      }
    }
    r4_data_free(bad);
  }
  assert_true(chance_uniform(20, places) && chance_uniform(7, down) && chance_uniform(7, left) &&
              chance_uniform(2, grown));
  r4_data_free(d);
}

static void what_cannot_be_corrupted_is_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  struct column *v = column_new(&floats_column, R4_SHAPE(6), 2, &e);
  r4_data *d = data_new(2, v, &e);
  assert_int_equal(names_add(d->classes, "a", NULL, &e), R4_OK);
  r4_data *without = r4_data_corrupt_masks(d, R4_CORRUPT_SHIFT, 0, 1, &e);
  assert_non_null(without); /* no masks, nothing to do */
  data_set_masks(d, masks_new(6, &e));
  assert_int_equal(masks_add(data_masks(d), (uint8_t[]){255, 0, 0, 0, 0, 0}, &d->record[0].mask, &e), R4_OK);
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  assert_null(r4_data_corrupt_masks(d, R4_CORRUPT_SHIFT, 0, 1, &e));
  assert_non_null(strstr(e.text, "images"));
  assert_null(r4_data_corrupt_masks(d, (r4_corruption)4, 0, 1, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  r4_data_free(without);
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_data *d = make(28, 4);
  for (int kind = 0; kind < 6; kind++) {
    for (long n = 1;; n++) {
      r4_error e = {0};
      r4_mem_fail_at(n);
      r4_data *made = kind < 4    ? r4_data_corrupt_masks(d, (r4_corruption)kind, .5, 1, &e)
                      : kind == 4 ? r4_data_soften_masks(d, .5, &e)
                                  : r4_data_keep_masks(d, .5, 1, &e);
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      assert_int_equal(made ? R4_OK : e.status, reached ? R4_E_MEMORY : R4_OK);
      r4_data_free(made);
      if (!reached) break;
    }
  }
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(kept_masks_are_shares_of_classes),
                                     cmocka_unit_test(inverses_are_the_rest),
                                     cmocka_unit_test(soft_masks_come_from_the_mean),
                                     cmocka_unit_test(growing_and_shrinking_fit_their_definition),
                                     cmocka_unit_test(corruption_has_the_ranges_of_the_paper),
                                     cmocka_unit_test(a_share_stays_correct),
                                     cmocka_unit_test(any_mask_can_be_corrupted),
                                     cmocka_unit_test(what_cannot_be_corrupted_is_refused),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
