/* The words that take the place of masked ones: where they come from, what becomes of words of several pieces, and what
 * is refused. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "data/data.h"
#include "scratch.h"
#include "train/word_list.h"

#define VOCABULARY "test/tokens/vocab.txt"

static r4_data *texts(void)
{
  static const char csv[] = "text,label\nthe good film,pos\nthe bad filming,neg\n";
  r4_error e = {0};
  const char *path = scratch_path("a.csv");
  assert_int_equal(file_write(path, csv, sizeof csv - 1, NULL), R4_OK);
  r4_data *d = r4_data_open(path, &(r4_data_options){.tokenizer = VOCABULARY}, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static r4_status open_list(struct word_list *w, const r4_data *d, const char *method, const char *words,
                           const char *mask_words, r4_error *e)
{
  struct settings s = {.method = (char *)method, .words = (char *)words};
  s.data.mask_words = (char *)mask_words;
  s.data.tokenizer = VOCABULARY;
  *e = (r4_error){0};
  return word_list_open(w, &s, d, e);
}

/* The pieces of a list, in its order. */
static void assert_list(const char *method, const char *words, const char *mask_words, const char *expected)
{
  struct word_list w;
  r4_error e;
  char shown[200] = "";
  r4_data *d = texts();
  if (open_list(&w, d, method, words, mask_words, &e)) fail_msg("%s", e.text);
  for (size_t k = 0; k < w.n; k++) {
    if (k) strncat(shown, " ", sizeof shown - strlen(shown) - 1);
    strncat(shown, d->pieces->name[(size_t)w.id[k]], sizeof shown - strlen(shown) - 1);
  }
  assert_string_equal(shown, expected);
  word_list_close(&w);
  r4_data_free(d);
}

static void test_where_words_come_from(void **state)
{
  (void)state;
  char file[300];
  snprintf(file, sizeof file, "%s", scratch_path("list.txt"));
  assert_int_equal(file_write(file, "Movie\nbad\nmovie\n", 16, NULL), R4_OK);
  assert_list("word-rand-r4", "film, bad", "good", "film bad");
  assert_list("word-rand-r4", "auto", "good film", "good film");
  assert_list("word-rand-r4", "auto", "", "");
  assert_list("word-adv-r4", "batch", "good", "");
  assert_list("word-adv-r4", file, "good", "movie bad"); /* each once, in lower case */
  assert_list("word-smooth-r3", "auto", "good", "");     /* noise is of all words */
  assert_list("r3", "film", "good", "");                 /* replaces nothing */
}

/* Boxes without a list have in them what masks of training are of, each piece once. */
static void test_boxes_are_of_masked_words(void **state)
{
  (void)state;
  static const char csv[] = "text,label,split,spans\nthe good film,pos,train,4-8\nthe bad filming,neg,train,8-15\n"
                            "a good movie,pos,train,2-6\nthe bad movie,neg,test,4-7\n";
  const char *path = scratch_path("spans.csv");
  struct settings s = {.method = "cert-r4+pairing", .words = "auto", .box = "words"};
  struct word_list w;
  r4_error e = {0};
  char shown[200] = "";
  s.data.mask_words = "";
  assert_int_equal(file_write(path, csv, sizeof csv - 1, NULL), R4_OK);
  r4_data *d = r4_data_open(
    path, &(r4_data_options){.tokenizer = VOCABULARY, .mask_means = R4_MASKS_IRRELEVANT}, &e);
  if (!d || word_list_open(&w, &s, d, &e)) fail_msg("%s", e.text);
  for (size_t k = 0; k < w.n; k++) {
    strncat(shown, d->pieces->name[(size_t)w.id[k]], sizeof shown - strlen(shown) - 1);
    strncat(shown, " ", sizeof shown - strlen(shown) - 1);
  }
  assert_int_equal(w.n, 3);
  assert_true(strstr(shown, "good ") && strstr(shown, "film ") && strstr(shown, "##ing "));
  word_list_close(&w);
  s.words = "batch";
  assert_error(&e, word_list_open(&w, &s, d, &e), "box is words, and words.list is batch: expected a list");
  r4_data_free(d);
}

static void test_vocabulary_is_for_noise(void **state)
{
  (void)state;
  struct word_list w;
  r4_error e;
  r4_data *d = texts();
  assert_int_equal(open_list(&w, d, "word-smooth-r3", "vocabulary", "", &e), R4_OK);
  assert_true((int64_t)w.n < r4_data_vocabulary(d) && w.n > 100);
  for (size_t k = 0; k < w.n; k++) assert_null(strstr(d->pieces->name[(size_t)w.id[k]], "CLS"));
  word_list_close(&w);
  assert_error(&e, open_list(&w, d, "word-rand-r4", "vocabulary", "", &e), "needs a list");
  word_list_close(&w);
  r4_data_free(d);
}

/* "filming" is film ##ing: a masked token is one piece, which such a word cannot replace. */
static void test_words_of_several_pieces(void **state)
{
  (void)state;
  struct word_list w;
  r4_error e;
  r4_data *d = texts();
  assert_list("word-rand-r4", "filming good", "", "good");
  assert_int_equal(open_list(&w, d, "word-rand-r4", "filming good \xe2\x98\x83", "", &e), R4_OK);
  assert_true(w.listed == 3 && w.several == 1 && w.unknown == 1);
  assert_string_equal(w.first_several, "filming");
  assert_string_equal(w.first_unknown, "\xe2\x98\x83");
  word_list_close(&w);
  assert_error(&e, open_list(&w, d, "word-rand-r4", "filming", "", &e), "is one piece");
  word_list_close(&w);
  assert_error(&e, open_list(&w, d, "word-rand-r4", "\xe2\x98\x83", "", &e), "vocabulary");
  word_list_close(&w);
  assert_error(&e, open_list(&w, d, "word-rand-r4", "", "", &e), "is empty");
  r4_data_free(d);
}

/* Whole words, by the number of their pieces, each once; boxes have every piece. */
static void test_whole_words(void **state)
{
  (void)state;
  struct word_list w;
  r4_data *d = texts();
  r4_error e = {0};
  struct settings s = {.method = "erm", .words = "auto"};
  s.data.mask_words = "filming good gooding bad filming";
  s.data.tokenizer = VOCABULARY;
  if (word_list_named(&w, &s, d, &e)) fail_msg("%s", e.text);
  assert_true(w.by_pieces.count[1] == 2 && w.by_pieces.count[2] == 2 && w.by_pieces.count[4] == 0);
  const int32_t *filming = w.by_pieces.id[2], *gooding = filming + 2;
  assert_string_equal(d->pieces->name[filming[0]], "film");
  assert_string_equal(d->pieces->name[gooding[0]], "good");
  assert_string_equal(d->pieces->name[gooding[1]], "##ing");
  assert_int_equal(w.n, 4); /* good bad film ##ing */
  word_list_close(&w);
  r4_data_free(d);
}

/* Of texts that are ids already, a list may be of ids. */
static void test_ids(void **state)
{
  (void)state;
  static const int32_t id[] = {1, 2, 3, 4}, length[] = {2, 2}, label[] = {0, 1};
  struct word_list w;
  r4_error e = {0};
  r4_data *d = r4_data_new(
    &(r4_data_arrays){.n = 2, .shape = R4_SHAPE(2), .tokens = id, .lengths = length, .labels = label}, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(open_list(&w, d, "word-adv-r4", "3, 1 3", "", &e), R4_OK);
  assert_true(w.n == 2 && w.id[0] == 3 && w.id[1] == 1);
  word_list_close(&w);
  assert_error(&e, open_list(&w, d, "word-adv-r4", "5", "", &e), "id 5, expected 0 to 4");
  word_list_close(&w);
  assert_error(&e, open_list(&w, d, "word-adv-r4", "99999999999999999999", "", &e), "expected 0 to 4");
  word_list_close(&w);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_where_words_come_from), cmocka_unit_test(test_boxes_are_of_masked_words),
    cmocka_unit_test(test_vocabulary_is_for_noise),
    cmocka_unit_test(test_words_of_several_pieces), cmocka_unit_test(test_whole_words),
    cmocka_unit_test(test_ids)};
  return cmocka_run_group_tests_name("word list", tests, scratch_make, scratch_remove);
}
