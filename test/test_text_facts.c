/* What is told about texts: lengths, masked tokens, tokens that say the class, and texts that are there twice. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "scratch.h"

static r4_data *of_file(const char *content, r4_data_options o)
{
  r4_error e = {0};
  assert_non_null(content);
  const char *path = scratch_path("texts.csv");
  assert_int_equal(file_write(path, content, strlen(content), NULL), R4_OK);
  o.tokenizer = "test/tokens/vocab.txt";
  r4_data *d = r4_data_open(path, &o, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

/* Texts of 1 to 40 words, and [CLS] and [SEP]; every second word is masked. */
static void test_lengths(void **state)
{
  (void)state;
  struct text t = {0};
  text_add(&t, "text,label\n");
  for (int i = 1; i <= 40; i++) {
    for (int k = 0; k < i; k++) text_add(&t, k % 2 ? "film " : "good ");
    text_add(&t, i % 2 ? ",a\n" : ",b\n");
  }
  char *content = text_take(&t);
  r4_data *d = of_file(content, (r4_data_options){.mask_words = "film"});
  r4_facts f = r4_data_facts(d);
  assert_int_equal(f.shortest, 3);
  assert_int_equal(f.longest, 42);
  assert_int_equal(f.median_length, 22); /* 20 of the 40 have at most 20 words */
  assert_int_equal(f.length_95, 40);     /* 38 have at most 38 */
  assert_int_equal(f.masked_values, 400);
  assert_int_equal(f.values, 40 * 41 / 2 + 2 * 40);
  r4_data_free(d);
  d = of_file(content, (r4_data_options){.length = 12});
  f = r4_data_facts(d);
  assert_true(f.longest == 12 && f.median_length == 12 && f.length_95 == 12);
  assert_string_equal(r4_data_note(d, 0), "30 of 40 texts have more than 12 tokens and are cut (length): half have up "
                                          "to 22, 95 % up to 40, the longest 42");
  r4_data_free(d);
  r4_string_free(content);
}

enum { TEXTS = 40 };

/* Text i has i + 1 times "the", so that no two are the same. */
static void add_text(struct text *t, int i, const char *rest)
{
  for (int k = 0; k <= i; k++) text_add(t, "the ");
  text_add(t, "%s\n", rest);
}

/* "good" is in 16 texts of a and 4 of b, "film" in 12 of b, "the" in all. */
static void add_some(struct text *t)
{
  text_add(t, "text,label,split\n");
  for (int i = 0; i < 2 * TEXTS; i++) {
    char rest[80];
    int k = i % TEXTS, b = k >= TEXTS / 2;
    snprintf(rest, sizeof rest, "%s%s,%s,%s", b == (k % 5 == 0) ? "good" : "",
             b && k % 5 > 1 ? " film film" : "", b ? "b" : "a", i < TEXTS ? "train" : "test");
    add_text(t, i, rest);
  }
}

static void assert_word(const r4_data *d, r4_giveaway_word w, const char *piece, int32_t label,
                        size_t of_class, size_t texts)
{
  assert_string_equal(r4_data_piece(d, w.id), piece);
  assert_int_equal(w.label, label);
  assert_int_equal(w.of_class, of_class);
  assert_int_equal(w.texts, texts);
}

static void test_telling_words(void **state)
{
  (void)state;
  struct text t = {0};
  r4_giveaway_word word[4];
  size_t n;
  add_some(&t);
  char *content = text_take(&t);
  r4_data *d = of_file(content, (r4_data_options){0});
  assert_int_equal(r4_data_giveaway_words(d, 2, word, &n, NULL), R4_OK);
  assert_int_equal(n, 2);
  assert_word(d, word[0], "film", 1, 12, 12);
  assert_word(d, word[1], "good", 0, 16, 20);
  r4_data_free(d);
  d = of_file(content, (r4_data_options){.mask_words = "film"});
  assert_int_equal(r4_data_giveaway_words(d, 4, word, &n, NULL), R4_OK);
  assert_word(d, word[0], "good", 0, 16, 20); /* what is masked is known already */
  assert_null(r4_data_piece(d, -1));
  assert_null(r4_data_piece(d, 1 << 24));
  r4_data_free(d);
  d = r4_data_open("digits:20", NULL, NULL);
  assert_int_equal(r4_data_giveaway_words(d, 4, word, &n, NULL), R4_OK);
  assert_int_equal(n, 0);
  assert_null(r4_data_piece(d, 0));
  r4_data_free(d);
  r4_string_free(content);
}

static const r4_finding *find(const r4_finding *f, size_t n, const char *code)
{
  for (size_t k = 0; k < n; k++)
    if (!strcmp(f[k].code, code)) return &f[k];
  return NULL;
}

static void test_lint(void **state)
{
  (void)state;
  struct text t = {0};
  r4_finding f[R4_FINDINGS];
  size_t n;
  add_some(&t);
  add_text(&t, 1, "Good,a,test"); /* as one in training */
  add_text(&t, 40, ",a,test");
  add_text(&t, 40, ",a,test");
  add_text(&t, 41, "good,b,test"); /* two labels, but not in training */
  char *content = text_take(&t);
  r4_data *d = of_file(content, (r4_data_options){0});
  assert_int_equal(r4_data_lint(d, NULL, f, &n, NULL), R4_OK);
  const r4_finding *words = find(f, n, "word-label"), *twice = find(f, n, "repeated");
  assert_non_null(words);
  assert_non_null(
    strstr(words->text, "1 tokens give a class away where no mask covers them: \"film\" is in 12"));
  assert_non_null(twice);
  assert_non_null(strstr(twice->text, "2 test examples equal another one of their split and class"));
  assert_non_null(find(f, n, "overlap"));
  assert_non_null(strstr(find(f, n, "overlap")->text, "1 examples occur in a later split"));
  assert_null(find(f, n, "label-conflict"));
  r4_data_free(d);
  r4_string_free(content);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_telling_words),
                                     cmocka_unit_test(test_lint)};
  return cmocka_run_group_tests_name("facts of texts", tests, scratch_make, scratch_remove);
}
