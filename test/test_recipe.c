/* Recipes: what is drawn, where, in which colour, with which mask; and that nothing else changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chance.h"
#include "check.h"
#include "data/data.h"
#include "data/known/decoy.h"
#include "data/known/recipe.h"

enum { TRAIN = 1200, TEST = TRAIN / 6, ALL = TRAIN + TEST, SIDE = 28, PIXELS = SIDE * SIDE };

static const uint8_t paper[10] = {85, 76, 68, 60, 51, 43, 35, 26, 18, 10};

static r4_data *make(const char *recipe, r4_recipe_options o)
{
  r4_error e = {0};
  if (!o.from) o.from = "digits:1200";
  r4_data *d = r4_data_make(recipe, &o, &e);
  if (!d) print_message("%s\n", e.text);
  assert_non_null(d);
  return d;
}

static r4_data *digits(uint64_t seed)
{
  r4_data *d = r4_data_open("digits:1200", &(r4_data_options){.seed = seed}, NULL);
  assert_non_null(d);
  return d;
}

static const uint8_t *image(const r4_data *d, size_t i)
{
  return column_row(data_x(d), d->record[i].row);
}

static const uint8_t *mask(const r4_data *d, size_t i)
{
  return masks_at(data_masks(d), d->record[i].mask);
}

static size_t area(const uint8_t *m, size_t n)
{
  size_t sum = 0;
  for (size_t k = 0; k < n; k++) {
    assert_true(m[k] == 0 || m[k] == 255);
    sum += m[k] == 255;
  }
  return sum;
}

static bool in_corner(size_t pixel, size_t side, size_t p)
{
  size_t row = pixel / side, column = pixel % side;
  return (row < p || row >= side - p) && (column < p || column >= side - p);
}

/* The corner (0 to 3) that a mask of one square marks. */
static size_t corner_of(const uint8_t *m, size_t side)
{
  size_t last = side * side - 1;
  bool right = m[side - 1] || m[last], bottom = m[last + 1 - side] || m[last];
  return (bottom ? 2u : 0u) + (right ? 1u : 0u);
}

/* ---- Decoy MNIST ---- */

/* Training: 16 of 784 pixels have the paper's shade of the label, and they are the mask; the others stay. */
static void training_squares_are_the_label(void **state)
{
  (void)state;
  r4_data *d = make("decoy-mnist", (r4_recipe_options){.read.seed = 4}), *base = digits(4);
  assert_int_equal(r4_data_count(d), ALL);
  for (size_t i = 0; i < TRAIN; i++) {
    const uint8_t *x = image(d, i), *m = mask(d, i);
    assert_int_equal(d->record[i].split, R4_TRAIN);
    assert_int_equal(area(m, PIXELS), 16);
    for (size_t k = 0; k < PIXELS; k++) {
      assert_int_equal(x[k], m[k] ? paper[d->record[i].label] : image(base, i)[k]);
      if (m[k]) assert_true(in_corner(k, SIDE, 4));
    }
  }
  r4_data_free(base);
  r4_data_free(d);
}

/* Test: one of the four corners is painted in a shade that says nothing about the label, nor does the corner; the mask
 * is all four, 64 of 784. */
static void test_squares_say_nothing(void **state)
{
  (void)state;
  size_t shade[10][10] = {{0}}, corner[10][4] = {{0}}, shades[10] = {0}, corners[4] = {0},
         trained[10][4] = {{0}};
  for (uint64_t seed = 0; seed < 4; seed++) {
    r4_data *d = make("decoy-mnist", (r4_recipe_options){.read.seed = seed}), *base = digits(seed);
    for (size_t i = TRAIN; i < ALL; i++) {
      assert_int_equal(area(mask(d, i), PIXELS), 64);
      size_t drawn = 0, where = 4;
      for (size_t k = 0; k < 10; k++)
        for (size_t c = 0; c < 4; c++) {
          size_t at = (c & 2 ? 24u * SIDE : 0) + (c & 1 ? 24u : 0);
          bool all = true;
          for (size_t q = 0; q < 16; q++) all = all && image(d, i)[at + q / 4 * SIDE + q % 4] == paper[k];
          if (!all) continue;
          drawn = k;
          where = c;
        }
      assert_true(where < 4);
      for (size_t k = 0; k < PIXELS; k++) {
        size_t row = k / SIDE, column = k % SIDE;
        bool inside = (where & 2 ? row >= 24 : row < 4) && (where & 1 ? column >= 24 : column < 4);
        if (!inside) assert_int_equal(image(d, i)[k], image(base, i)[k]);
        assert_int_equal(mask(d, i)[k] == 255, in_corner(k, SIDE, 4));
      }
      shade[d->record[i].label][drawn]++;
      corner[d->record[i].label][where]++;
      shades[drawn]++;
      corners[where]++;
    }
    for (size_t i = 0; i < TRAIN; i++) trained[d->record[i].label][corner_of(mask(d, i), SIDE)]++;
    r4_data_free(base);
    r4_data_free(d);
  }
  assert_true(chance_independent(10, 10, shade[0]));
  assert_true(chance_independent(10, 4, corner[0]));
  assert_true(chance_independent(10, 4, trained[0]));
  assert_true(chance_uniform(10, shades));
  assert_true(chance_uniform(4, corners));
}

/* Held-out examples are made as those of the test set are, and come from training alone, by class. */
static void validation_is_made_as_test_is(void **state)
{
  (void)state;
  r4_data *all = make("decoy-mnist", (r4_recipe_options){.read.seed = 4}),
          *d = make("decoy-mnist", (r4_recipe_options){.read.seed = 4, .val = .2});
  size_t n[R4_SPLITS] = {0}, held[10] = {0}, had[10] = {0}, told = 0;
  for (size_t i = 0; i < ALL; i++) {
    const struct record *r = d->record + i;
    n[r->split]++;
    had[r->label] += i < TRAIN;
    held[r->label] += r->split == R4_VAL;
    assert_int_equal(area(mask(d, i), PIXELS), r->split == R4_TRAIN ? 16 : 64);
    if (r->split != R4_VAL) assert_memory_equal(image(d, i), image(all, i), PIXELS);
    if (r->split == R4_VAL) told += !memcmp(image(d, i), image(all, i), PIXELS);
    assert_int_equal(r->split == R4_TEST, i >= TRAIN);
  }
  for (int k = 0; k < 10; k++) assert_true(abs((int)held[k] - (int)had[k] / 5) <= 1);
  assert_in_range(n[R4_VAL], 235, 245);
  assert_in_range(told, 8, 40); /* a tenth of 240 show their own label: sd 4.6 */
  r4_data_free(all);
  r4_data_free(d);
}

static void shades_and_sides_are_options(void **state)
{
  (void)state;
  r4_data *d = make("decoy-mnist", (r4_recipe_options){.shades = "ross", .side = 2});
  for (size_t i = 0; i < TRAIN; i++) {
    assert_int_equal(area(mask(d, i), PIXELS), 4);
    for (size_t k = 0; k < PIXELS; k++)
      if (mask(d, i)[k]) assert_int_equal(image(d, i)[k], 255 - 25 * d->record[i].label);
  }
  r4_data_free(d);
}

/* ---- Twins, hashes ---- */

static void clean_twins_have_no_decoy(void **state)
{
  (void)state;
  const char *const name[] = {"decoy-mnist", "half-decoy-mnist", "decoy"};
  for (size_t r = 0; r < 3; r++) {
    r4_data *d = make(name[r], (r4_recipe_options){.read.seed = 9, .val = .1}),
            *clean = make(name[r], (r4_recipe_options){.read.seed = 9, .val = .1, .clean = true}),
            *base = digits(9);
    for (size_t i = 0; i < ALL; i++) {
      assert_int_equal(d->record[i].split, clean->record[i].split);
      assert_int_equal(d->record[i].label, clean->record[i].label);
      assert_memory_equal(mask(d, i), mask(clean, i), PIXELS);
      if (r != 1) assert_memory_equal(image(clean, i), image(base, i), PIXELS);
      for (size_t k = 0; k < PIXELS; k++) {
        if (!mask(d, i)[k]) assert_int_equal(image(d, i)[k], image(clean, i)[k]);
        if (mask(d, i)[k] && r == 1) assert_int_equal(image(clean, i)[k], 0);
      }
    }
    r4_data_free(base);
    r4_data_free(clean);
    r4_data_free(d);
  }
}

static void options_decide_the_hash(void **state)
{
  (void)state;
  const r4_recipe_options o[] = {{.read.seed = 1},
                                 {.read.seed = 1},
                                 {.read.seed = 2},
                                 {.read.seed = 1, .clean = true},
                                 {.read.seed = 1, .val = .1},
                                 {.read.seed = 1, .shades = "ross"}};
  char hash[6][R4_HASH_SIZE];
  for (size_t k = 0; k < 6; k++) {
    int before = r4_threads(k == 1 ? 1 : 2, false);
    r4_data *d = make("decoy-mnist", o[k]);
    r4_data_hash(d, hash[k]);
    r4_data_free(d);
    r4_threads(before, false);
    for (size_t j = 0; j < k; j++) {
      if (k == 1)
        assert_string_equal(hash[j], hash[k]);
      else
        assert_string_not_equal(hash[j], hash[k]);
    }
  }
}

/* Results name data by recipe and seed: this changes on purpose only. */
static void known_answers(void **state)
{
  (void)state;
  const char *const name[] = {"decoy-mnist", "half-decoy-mnist", "decoy"};
  const char *const want[] = {"2b92557d530850494fcb57724c48054305e44bd90e353b12d8997a3868bbefa0",
                              "9ee8ef83a46bd5ee51ec2a48fa1f79bea4f0281335994b900b6e0aa9bdc6fde6",
                              "8ce745b82a822a3e66c02eccae734c6c6d6bb2650f6026c4abc7dba6742acd1a"};
  for (size_t k = 0; k < 3; k++) {
    char hash[R4_HASH_SIZE];
    r4_data *d = make(name[k], (r4_recipe_options){.read.seed = 1, .val = .1});
    r4_data_hash(d, hash);
    r4_data_free(d);
    assert_string_equal(hash, want[k]);
  }
}

/* ---- Half Decoy MNIST ---- */

/* One half has the label's shade, 392 of 784 pixels, and is the mask; the other has the digit at half its height. */
static void halves_are_filled_and_squeezed(void **state)
{
  (void)state;
  r4_data *d = make("half-decoy-mnist", (r4_recipe_options){.read.seed = 4}), *base = digits(4);
  size_t upper[10][2] = {{0}}, shade[10][10] = {{0}};
  for (size_t i = 0; i < ALL; i++) {
    const uint8_t *x = image(d, i), *m = mask(d, i), *from = image(base, i);
    assert_int_equal(area(m, PIXELS), 392);
    bool filled_above = m[0];
    upper[d->record[i].label][filled_above]++;
    const uint8_t *filled = x + (filled_above ? 0 : 392), *digit = x + (filled_above ? 392 : 0);
    for (size_t k = 0; k < 392; k++) {
      size_t row = k / SIDE, column = k % SIDE;
      assert_int_equal(m[k] == 255, filled_above);
      assert_int_equal(filled[k], filled[0]);
      assert_int_equal(digit[k],
                       (from[2 * row * SIDE + column] + from[(2 * row + 1) * SIDE + column] + 1) / 2);
    }
    if (i < TRAIN) assert_int_equal(filled[0], paper[d->record[i].label]);
    for (size_t k = 0; i >= TRAIN && k < 10; k++) shade[d->record[i].label][k] += filled[0] == paper[k];
  }
  assert_true(chance_independent(10, 2, upper[0]));
  assert_true(chance_independent(10, 10, shade[0]));
  r4_data_free(base);
  r4_data_free(d);
}

/* ---- Colours, Decoy DERM ---- */

static void greys_and_hues_differ_by_class(void **state)
{
  (void)state;
  uint8_t grey[250], hue[20][3];
  for (size_t n = 2; n <= 250; n++) {
    decoy_greys(n, 1, 1, grey);
    assert_int_equal(grey[0], 255);
    for (size_t k = 1; k < n; k++) assert_true(grey[k] < grey[k - 1]);
  }
  decoy_greys(10, 1, 1, grey);
  for (int k = 0; k < 10; k++) assert_int_equal(grey[k], 255 - 25 * k);
  decoy_greys(10, 1, 3, grey);
  assert_memory_equal(grey, paper, 10);
  decoy_hues(6, hue[0]);
  const uint8_t six[6][3] = {{255, 0, 0},   {255, 255, 0}, {0, 255, 0},
                             {0, 255, 255}, {0, 0, 255},   {255, 0, 255}};
  assert_memory_equal(hue, six, sizeof six);
  decoy_hues(20, hue[0]);
  for (int k = 0; k < 20; k++)
    for (int j = 0; j < k; j++) {
      int apart = 0;
      for (int c = 0; c < 3; c++) apart += abs(hue[k][c] - hue[j][c]);
      assert_true(apart >= 76); /* 1530 / 20 */
    }
}

/* n skin-coloured pictures of seven classes named as those of HAM10000, or 0 to 6 as those of DermaMNIST. */
static r4_data *lesions(size_t n, int64_t side, bool named)
{
  static const char *const ham[] = {"akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"};
  r4_error e = {0};
  struct column *v = column_new(&bytes_column, R4_SHAPE(side, side, 3), n, &e);
  r4_data *d = v ? data_new(n, v, &e) : NULL;
  assert_non_null(d);
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < v->features; k++)
      ((uint8_t *)column_row(v, i))[k] = (uint8_t)(200 + (i * 31 + k * 7) % 50);
    d->record[i].label = (int32_t)(i % 3 ? 5 : i / 3 % 7);
    d->record[i].split = i % 10 < 7 ? R4_TRAIN : i % 10 == 7 ? R4_VAL : R4_TEST;
  }
  for (int k = 0; k < 7; k++)
    assert_int_equal(names_add(d->classes, named ? ham[k] : (char[]){(char)('0' + k), 0}, NULL, &e), R4_OK);
  assert_int_equal(data_finish(d, "lesions", &e), R4_OK);
  return d;
}

/* At 64 pixels the mask of a training image has 16 x 16 x 3 = 768 of 12288 features. */
static void derm_marks_nevi_and_others(void **state)
{
  (void)state;
  static const uint8_t colour[2][3] = {{128, 128, 179}, {128, 179, 128}};
  static float features[3 * 64 * 64];
  enum { N = 400 };
  for (int named = 0; named < 2; named++) {
    r4_data *base = lesions(N, 64, named),
            *d = recipe_decoy_derm.make(base, &(r4_recipe_options){.read.seed = 3}, NULL);
    size_t shown[2][2] = {{0}};
    assert_non_null(d);
    assert_string_equal(r4_data_class_name(d, 0), "nevus");
    assert_string_equal(r4_data_class_name(d, 1), "other");
    assert_int_equal(r4_data_groups(d), 2);
    for (size_t i = 0; i < N; i++) {
      int32_t label = d->record[i].label;
      assert_int_equal(label, base->record[i].label != 5);
      assert_int_equal(d->record[i].group, label);
      assert_true(r4_data_mask(d, i, features));
      size_t marked = 0, found = 0, of = 0;
      for (size_t k = 0; k < 3 * 64 * 64; k++) marked += features[k] == 1;
      assert_int_equal(marked, d->record[i].split == R4_TRAIN ? 768 : 4 * 768);
      for (size_t k = 0; k < 64 * 64; k++)
        for (size_t c = 0; c < 2; c++)
          if (!memcmp(image(d, i) + 3 * k, colour[c], 3)) {
            found++;
            of = c;
            assert_true(mask(d, i)[k]);
          }
      assert_int_equal(found, 256);
      if (d->record[i].split == R4_TRAIN)
        assert_int_equal(of, label);
      else
        shown[label][of]++;
    }
    assert_true(chance_independent(2, 2, shown[0]));
    assert_true(shown[0][0] && shown[0][1] && shown[1][0] && shown[1][1]);
    r4_data_free(d);
    r4_data_free(base);
  }
  r4_error e;
  r4_data *plain = digits(1), *grey = recipe_decoy_derm.make(plain, &(r4_recipe_options){0}, &e);
  assert_null(grey);
  assert_non_null(strstr(e.text, "channels"));
  r4_data_free(plain);
}

/* ---- Sources ---- */

static void missing_sources_say_what_to_do(void **state)
{
  (void)state;
  r4_error e = {0};
  assert_null(r4_data_make("decoy-mnist", &(r4_recipe_options){.from = "test/no-such-folder"}, &e));
  assert_int_equal(e.status, R4_E_IO);
  assert_null(r4_data_make("decoy-mnist", &(r4_recipe_options){.read.folder = "test/no-such-folder"}, &e));
  assert_string_equal(e.text, "mnist is not in test/no-such-folder/; r4 data get mnist, or take others: --from "
                              "digits (settings: --set data.from=digits)");
  assert_null(r4_data_make("decoy", NULL, &e));
  assert_non_null(strstr(e.text, "--from"));
}

/* 1001 digits, a tenth for validation and a fifth for test; 10 of those for training occur in the test set as well. */
static void save_overlapping(const char *file)
{
  r4_error e = {0};
  r4_data *d = r4_data_open("digits:858", NULL, &e), *s = NULL;
  assert_int_equal(r4_data_count(d), 1001);
  s = r4_data_split(d, .1, .2, 1, &e);
  for (size_t i = 0, copied = 0, from = 0; copied < 10; i++) {
    if (s->record[i].split != R4_TRAIN) continue;
    while (s->record[from].split != R4_TEST) from++;
    s->record[i].row = s->record[from++].row;
    copied++;
  }
  assert_int_equal(r4_data_save(s, file, &e), R4_OK);
  r4_data_free(s);
  r4_data_free(d);
}

static size_t in_split(const r4_data *d, r4_split split)
{
  size_t n = 0;
  for (size_t i = 0; i < r4_data_count(d); i++) n += r4_data_example(d, i).split == split;
  return n;
}

/* Refused by default; dropped or kept, and told, if asked for. */
static void overlap_of_sources_is_settled(void **state)
{
  (void)state;
  char folder[] = "/tmp/r4-test-XXXXXX", mine[64];
  assert_non_null(mkdtemp(folder));
  snprintf(mine, sizeof mine, "%s/it's mine.npz", folder);
  save_overlapping(mine);
  r4_error e = {0};
  assert_null(r4_data_make("decoy", &(r4_recipe_options){.from = mine}, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "10 examples"));
  r4_data *dropped = make("decoy", (r4_recipe_options){.from = mine, .overlap = R4_OVERLAP_DROP}),
          *kept = make("decoy", (r4_recipe_options){.from = mine, .overlap = R4_OVERLAP_KEEP});
  assert_int_equal(r4_data_count(kept) - r4_data_count(dropped), 10);
  assert_int_equal(in_split(dropped, R4_TEST), in_split(kept, R4_TEST));
  assert_non_null(
    strstr(r4_data_about(kept), "/it'\\''s mine.npz' --seed 0 --overlap keep  # 10 examples also occur"));
  r4_data_free(dropped);
  r4_data_free(kept);
  assert_int_equal(remove(mine) || remove(folder), 0);
}

static void bad_options_are_refused(void **state)
{
  (void)state;
  const struct {
    const char *recipe, *text;
    r4_recipe_options o;
  } bad[] = {{"decoy-mnits", "no recipe is called decoy-mnits; expected decoy-mnist", {0}},
             {"decoy-mnist", "shades blue", {.shades = "blue"}},
             {"decoy-mnist", "side 15", {.side = 15}},
             {"decoy-mnist", "side -1", {.side = -1}},
             {"decoy-mnist", "size 32", {.read = {.height = 32, .width = 32}}},
             {"decoy-mnist", "28 x 32, expected squares", {.read = {.height = 28, .width = 32}}},
             {"decoy-mnist", "share of 1", {.val = 1}},
             {"decoy-mnist", "nan", {.val = 0. / 0.}},
             {"decoy-mnist", "overlap", {.overlap = (r4_overlap)9}},
             {"decoy-derm", "expected 3", {.read = {.height = 28, .width = 28}}}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    r4_recipe_options o = bad[k].o;
    o.from = "digits:60";
    assert_null(r4_data_make(bad[k].recipe, &o, &e));
    if (!strstr(e.text, bad[k].text)) print_message("%s, expected %s\n", e.text, bad[k].text);
    assert_non_null(strstr(e.text, bad[k].text));
    assert_int_equal(e.status, R4_E_ARGUMENT);
  }
}

static void about_is_the_command(void **state)
{
  (void)state;
  r4_data *d = make("decoy-mnist", (r4_recipe_options){.read.seed = 7});
  assert_string_equal(r4_data_about(d), "r4 data make decoy-mnist --from digits:1200 --seed 7");
  r4_data_free(d);
  d = make("decoy", (r4_recipe_options){.from = "digits:60",
                                        .val = .1,
                                        .shades = "paper",
                                        .side = 3,
                                        .clean = true,
                                        .overlap = R4_OVERLAP_DROP});
  assert_string_equal(r4_data_about(d),
                      "r4 data make decoy --from digits:60 --seed 0 --val 0.1 --shades paper --side 3 "
                      "--clean --overlap drop");
  r4_data_free(d);
  for (size_t k = 0; k < r4_recipe_count(); k++) {
    r4_recipe_info r = r4_recipe_describe(k);
    assert_true(r.name && *r.name && r.about && *r.about);
  }
  assert_null(r4_recipe_describe(r4_recipe_count()).name);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  const char *const name[] = {"decoy-mnist", "half-decoy-mnist"};
  for (size_t k = 0; k < 2; k++) {
    for (long n = 1;; n++) {
      r4_error e = {0};
      r4_mem_fail_at(n);
      r4_data *d = r4_data_make(name[k], &(r4_recipe_options){.from = "digits:60", .val = .1}, &e);
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      assert_int_equal(d ? R4_OK : e.status, reached ? R4_E_MEMORY : R4_OK);
      r4_data_free(d);
      if (!reached) break;
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(training_squares_are_the_label),
                                     cmocka_unit_test(test_squares_say_nothing),
                                     cmocka_unit_test(validation_is_made_as_test_is),
                                     cmocka_unit_test(shades_and_sides_are_options),
                                     cmocka_unit_test(clean_twins_have_no_decoy),
                                     cmocka_unit_test(options_decide_the_hash),
                                     cmocka_unit_test(known_answers),
                                     cmocka_unit_test(halves_are_filled_and_squeezed),
                                     cmocka_unit_test(greys_and_hues_differ_by_class),
                                     cmocka_unit_test(derm_marks_nevi_and_others),
                                     cmocka_unit_test(missing_sources_say_what_to_do),
                                     cmocka_unit_test(overlap_of_sources_is_settled),
                                     cmocka_unit_test(bad_options_are_refused),
                                     cmocka_unit_test(about_is_the_command),
                                     cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
