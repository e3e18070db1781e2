/* What is done with texts: masked tokens are replaced, and what is for images says so. */
#include <string.h>

#include "command.h"
#include "data/batch/mask_fill.h"
#include "scratch.h"
#include "train/task.h"

enum { N = 6, TOKENS = 5 };

/* Tokens of text i are 10 i + 1, 10 i + 2 and so on. The first two of texts 0, 2, 4 are masked, and the third of 4. */
static const int32_t lengths[N] = {5, 4, 3, 5, 4, 1}, labels[N] = {0, 1, 0, 1, 0, 1};

static r4_data *make(float third)
{
  r4_error e = {0};
  int32_t tokens[N][TOKENS];
  float masks[N][TOKENS] = {{0}};
  for (int32_t i = 0; i < N; i++)
    for (int32_t k = 0; k < TOKENS; k++) {
      tokens[i][k] = 10 * i + k + 1;
      masks[i][k] = i % 2 == 0 && k < 2;
    }
  masks[4][2] = third;
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = N,
                                             .shape = R4_SHAPE(TOKENS),
                                             .tokens = tokens[0],
                                             .lengths = lengths,
                                             .labels = labels,
                                             .mask_floats = masks[0],
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* Texts as they are seen in an epoch; what is not masked, or padding, is as it was. */
static void see(const r4_data *d, r4_fill kind, uint32_t epoch, float to[N][TOKENS])
{
  r4_error e = {0};
  float m[TOKENS], x[TOKENS];
  r4_data *filled = r4_data_fill(d, kind, 7, epoch, &e);
  if (!filled) fail_msg("%s", e.text);
  for (size_t i = 0; i < N; i++) {
    assert_int_equal(r4_data_length(filled, i), lengths[i]);
    r4_data_values(filled, i, to[i]);
    r4_data_values(d, i, x);
    r4_data_mask(d, i, m);
    for (size_t k = 0; k < TOKENS; k++) {
      bool may = kind == R4_FILL_PASTE ? k < (size_t)lengths[i] : m[k] >= .5f;
      assert_true(may || to[i][k] == x[k]);
    }
  }
  r4_data_free(filled);
}

/* It is in a text, there, and not masked. */
static void assert_free_token(float id)
{
  int text = (int)id / 10, place = (int)id % 10 - 1;
  assert_true(id == (float)(int)id && text < N && place >= 0 && place < lengths[text]);
  assert_true(text % 2 || place >= (text == 4 ? 3 : 2));
}

static void noise_and_colour_draw_other_tokens(void **state)
{
  (void)state;
  r4_data *d = make(1);
  float x[N][TOKENS];
  int differ = 0, change = 0;
  float last = 0;
  for (uint32_t epoch = 0; epoch < 20; epoch++) {
    see(d, R4_FILL_NOISE, epoch, x);
    for (size_t i = 0; i < N; i += 2)
      for (size_t k = 0; k < 2; k++) assert_free_token(x[i][k]);
    differ += x[0][0] != x[0][1];
    change += x[0][0] != last;
    last = x[0][0];
    see(d, R4_FILL_COLOUR, epoch, x);
    assert_free_token(x[4][0]);
    assert_true(x[4][0] == x[4][1] && x[4][1] == x[4][2] && x[0][0] == x[0][1]);
  }
  assert_true(differ > 10 && change > 10);
  r4_data_free(d);
}

static void swap_takes_masked_tokens_in_order(void **state)
{
  (void)state;
  r4_data *d = make(1);
  float x[N][TOKENS];
  int from[N] = {0};
  for (uint32_t epoch = 0; epoch < 20; epoch++) {
    see(d, R4_FILL_SWAP, epoch, x);
    for (size_t i = 0; i < N; i += 2) {
      int donor = (int)x[i][0] / 10;
      assert_true(donor != (int)i && donor % 2 == 0);
      from[donor]++;
      for (size_t k = 0; k < 2; k++) assert_true(x[i][k] == (float)(10 * donor + (int)k + 1));
      if (i == 4) assert_true(x[i][2] == (float)(10 * donor + 1)); /* from the start again */
    }
  }
  assert_true(from[0] && from[2] && from[4]);
  r4_data_free(d);
}

static void paste_ends_with_the_text(void **state)
{
  (void)state;
  r4_data *d = make(1);
  float x[N][TOKENS];
  int pasted = 0;
  for (uint32_t epoch = 0; epoch < 20; epoch++) {
    see(d, R4_FILL_PASTE, epoch, x);
    pasted += x[5][0] != 51;
    assert_true(x[5][0] == 51 || x[5][0] == 1 || x[5][0] == 21 || x[5][0] == 41);
    assert_true(x[5][1] == 0); /* padding */
  }
  assert_true(pasted > 3 && pasted < 17);
  r4_data_free(d);
}

/* Else they would still be more frequent in the class that has them: in all of its texts, and in half of the others. */
static void paste_takes_masked_tokens_away(void **state)
{
  (void)state;
  r4_data *d = make(1);
  float x[N][TOKENS];
  int taken = 0;
  for (uint32_t epoch = 0; epoch < 40; epoch++) {
    see(d, R4_FILL_PASTE, epoch, x);
    for (int i = 0; i < N; i += 2) {
      bool gone = x[i][0] != (float)(10 * i + 1);
      taken += gone;
      for (size_t k = 0; gone && k < 2; k++) assert_free_token(x[i][k]);
      for (int k = i == 4 ? 3 : 2; k < lengths[i]; k++) assert_true(x[i][k] == (float)(10 * i + k + 1));
    }
  }
  assert_in_range(taken, 40, 80); /* of 120 */
  r4_data_free(d);
}

/* Ids are whole, however grey a mask. */
static void grey_counts_from_the_half_on(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    r4_data *d = make(k ? .6f : .4f);
    float x[N][TOKENS];
    see(d, R4_FILL_SWAP, 1, x);
    assert_int_equal(x[4][2] != 43, k);
    r4_data_free(d);
  }
}

/* The first token of so many of MANY texts of each class is masked. It is 1 in the second class, and in the first, of
 * which is the first text, 1 in all but "others" texts. What fill: auto does for a method. */
static r4_fill filled_by(size_t first, size_t second, size_t others, const char *method)
{
  enum { MANY = 100 };
  int32_t tokens[2 * MANY][2], classes[2 * MANY], full[2 * MANY];
  float masks[2 * MANY][2] = {{0}};
  for (size_t i = 0; i < 2 * MANY; i++) {
    size_t k = i / 2;
    classes[i] = i % 2;
    full[i] = 2;
    tokens[i][0] = i % 2 == 0 && k < others ? 2 : 1;
    tokens[i][1] = 3;
    masks[i][0] = k < (i % 2 ? second : first);
  }
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = 2 * MANY,
                                             .shape = R4_SHAPE(2),
                                             .tokens = tokens[0],
                                             .lengths = full,
                                             .labels = classes,
                                             .mask_floats = masks[0],
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           NULL);
  r4_settings *s = r4_settings_new();
  assert_true(d && s);
  assert_int_equal(r4_settings_set(s, method, "test", NULL), R4_OK);
  r4_fill kind = task_fill(&s->values, d);
  r4_settings_free(s);
  r4_data_free(d);
  return kind;
}

/* An exchange hides what masked words say, not that they are there. */
static void words_are_exchanged_where_that_hides_them(void **state)
{
  (void)state;
  static const struct {
    size_t masked[2], others;
    r4_fill fill, pairing;
  } want[] = {
    {{100, 100}, 100, R4_FILL_SWAP, R4_FILL_SWAP},
    {{90, 100}, 100, R4_FILL_SWAP, R4_FILL_SWAP},
    {{10, 10}, 100, R4_FILL_EXCHANGE, R4_FILL_SWAP}, /* few masks: a penalty in few texts is enough */
    {{70, 100}, 100, R4_FILL_NOISE, R4_FILL_NOISE},  /* a mask speaks for the second class          */
    {{100, 70}, 70, R4_FILL_NOISE, R4_FILL_NOISE},
    {{30, 50}, 100, R4_FILL_EXCHANGE, R4_FILL_EXCHANGE},
    {{40, 100}, 100, R4_FILL_PASTE, R4_FILL_PASTE},
    {{100, 100}, 0, R4_FILL_NOISE, R4_FILL_NOISE}, /* all masked words are the same */
    {{100, 100}, 8, R4_FILL_NOISE, R4_FILL_NOISE},
    {{100, 100}, 12, R4_FILL_SWAP, R4_FILL_SWAP},
    {{0, 0}, 100, R4_FILL_NONE, R4_FILL_NONE},
  };
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    const size_t *masked = want[k].masked;
    r4_fill fill = filled_by(masked[0], masked[1], want[k].others, "method=fill"),
            pairing = filled_by(masked[0], masked[1], want[k].others, "method=pairing");
    if (fill != want[k].fill || pairing != want[k].pairing)
      fail_msg("case %zu: %d, pairing %d", k, (int)fill, (int)pairing);
  }
}

static void batches_are_filled(void **state)
{
  (void)state;
  r4_data *d = make(1);
  float x[N][TOKENS];
  r4_batches *b = r4_batches_new(d, &(r4_batch_options){.size = N, .seed = 7, .fill = R4_FILL_NOISE}, NULL);
  for (uint32_t epoch = 0; epoch < 3; epoch++) {
    r4_batch batch = r4_batches_next(b);
    see(d, R4_FILL_NOISE, epoch, x);
    assert_memory_equal(batch.filled, x, sizeof x);
  }
  r4_batches_free(b);
  assert_int_equal(fill_for(d), R4_FILL_PASTE); /* one class alone has masks */
  r4_data *of_one = r4_data_subset(d, 3, (size_t[]){0, 2, 4}, NULL);
  assert_int_equal(fill_for(of_one), R4_FILL_SWAP);
  r4_data_free(of_one);
  r4_data_free(d);
}

static void what_is_for_images_says_so(void **state)
{
  (void)state;
  r4_data *d = make(1);
  r4_error e = {0};
  float mean[TOKENS];
  assert_null(r4_data_fill(d, R4_FILL_MEAN, 0, 0, &e));
  assert_error(&e, R4_E_ARGUMENT, "fill: mean is for values that can be mixed, and examples are 5 tokens");
  assert_null(r4_data_fill(d, R4_FILL_BLUR, 0, 0, &e));
  assert_error(&e, R4_E_ARGUMENT, "blur");
  const r4_augment augments[] = {{.flip = true}, {.crop = 1}, {.brightness = .1}};
  for (size_t k = 0; k < 3; k++) {
    assert_null(r4_batches_new(d, &(r4_batch_options){.size = 2, .augment = augments[k]}, &e));
    assert_error(&e, R4_E_ARGUMENT, "is for images, and examples are 5 tokens");
  }
  assert_int_equal(r4_data_sheet(d, R4_SHEET_CLASSES, 0, scratch_path("a.png"), &e), R4_E_SHAPE);
  assert_error(&e, R4_E_SHAPE, "a sheet shows images with 1 or 3 channels, and these examples are 5 tokens");
  assert_int_equal(r4_data_mean(d, mean, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "tokens");
  assert_null(r4_data_corrupt_masks(d, R4_CORRUPT_SHIFT, .5, 0, &e));
  assert_error(&e, R4_E_ARGUMENT, "image");
  r4_data_free(d);
}

static void lint_knows_padding(void **state)
{
  (void)state;
  r4_finding found[R4_FINDINGS];
  size_t n = 0, seen = 0;
  static const int32_t tokens[2][3] = {{4, 5, 6}, {7, 0, 0}}, two[2] = {3, 3}, zero[2] = {0, 1};
  r4_data *d = r4_data_new(
    &(r4_data_arrays){.n = 2, .shape = R4_SHAPE(3), .tokens = tokens[0], .lengths = two, .labels = zero},
    NULL);
  assert_int_equal(r4_data_lint(d, NULL, found, &n, NULL), R4_OK);
  for (size_t k = 0; k < n; k++)
    if (!strcmp(found[k].code, "padding-counted")) {
      seen++;
      assert_non_null(strstr(found[k].text, "1 texts end with the id of padding, 0, within"));
      assert_non_null(strstr(found[k].text, "row 1 first")); /* not the text that ends with a word */
    }
  assert_int_equal(seen, 1);
  r4_data_free(d);
}

static void the_command_shows_texts(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = make(1);
  assert_int_equal(r4_data_save(d, scratch_path("t.npz"), &e), R4_OK);
  EXPECT("$R4 data show t.npz", 0,
         "6 examples of 5 tokens at most: 1 to 5, half up to 4, 95 % up to 5, mean 3.667; ids from 1 to 51 of 52",
         "3 have a mask, which covers 60.6 % (40.0 to 75.0)", "31.82 % of all tokens are masked");
  EXPECT("$R4 data show t.npz --json", 0,
         "\"tokens\":{\"shortest\":1,\"longest\":5,\"median\":4,\"most_of_95_per_cent\":5,\"all\":22,\"masked\":7,"
         "\"vocabulary\":52}");
  EXPECT("$R4 data show t.npz --out t.png", 2, "a sheet shows images");
  EXPECT("$R4 data lint t.npz", 1, "mask-one-class");
  r4_data_free(d);
}

static void nets_know_how_many_ids_there_are(void **state)
{
  (void)state;
  const struct {
    const char *net;
    int64_t ids;
  } nets[] = {{"embedding 7 2, first, dense 2", 7},
              {"sum(embedding 9 2; embedding 5 2; position 3 2), mean, dense 2", 5},
              {"dense 2", 0}};
  for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
    r4_net *n = r4_net_open(nets[k].net, R4_SHAPE(3), NULL);
    assert_non_null(n);
    assert_int_equal(r4_net_vocabulary(n), nets[k].ids);
    r4_net_free(n);
  }
}

int main(void)
{
  if (!check_command()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(noise_and_colour_draw_other_tokens),
                                     cmocka_unit_test(swap_takes_masked_tokens_in_order),
                                     cmocka_unit_test(paste_ends_with_the_text),
    cmocka_unit_test(paste_takes_masked_tokens_away),
                                     cmocka_unit_test(grey_counts_from_the_half_on),
                                     cmocka_unit_test(words_are_exchanged_where_that_hides_them),
    cmocka_unit_test(batches_are_filled),
                                     cmocka_unit_test(what_is_for_images_says_so),
                                     cmocka_unit_test(lint_knows_padding),
                                     cmocka_unit_test(nets_know_how_many_ids_there_are),
                                     cmocka_unit_test(the_command_shows_texts)};
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
