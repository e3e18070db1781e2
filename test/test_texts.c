/* Texts as data: tables, lines of JSON and folders; marks and words as masks; what is refused, and where; the recipe
 * decoy-imdb; and what lint says about texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/batch/mask_fill.h"
#include "data/data.h"
#include "scratch.h"
#include "text_case.h"
#include "train/task.h"

static const char *written(const char *name, const char *content)
{
  const char *path = scratch_path(name);
  assert_int_equal(file_write(path, content, strlen(content), NULL), R4_OK);
  return path;
}

static r4_data *read_as(const char *name, const char *content, r4_data_options o, r4_error *e)
{
  if (!o.tokenizer) o.tokenizer = VOCABULARY;
  return r4_data_open(written(name, content), &o, e);
}

static r4_data *good(const char *name, const char *content, r4_data_options o)
{
  r4_error e = {0};
  r4_data *d = read_as(name, content, o, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static void refused(const char *name, const char *content, r4_data_options o, const char *error)
{
  r4_error e = {0};
  assert_null(read_as(name, content, o, &e));
  assert_error(&e, e.status, error);
}

#define IRRELEVANT ((r4_data_options){.mask_means = R4_MASKS_IRRELEVANT})

/* ---- Formats ---- */

static void test_csv(void **state)
{
  (void)state;
  r4_data *d = good(
    "a.csv",
    "id,Label,text,split,group\n7,pos,\"The good, the \"\"bad\"\"\nfilm\",train,x\n8, neg ,bad movie,1,y\n"
    "9,pos,of,test,x\n",
    (r4_data_options){0});
  assert_int_equal(r4_data_count(d), 3);
  assert_text(d, 0, "[CLS] the good , the \" bad \" film [SEP]");
  assert_text(d, 1, "[CLS] bad movie [SEP]");
  r4_example one = r4_data_example(d, 1);
  assert_string_equal(r4_data_class_name(d, (size_t)one.label), "neg");
  assert_string_equal(r4_data_group_name(d, (size_t)one.group), "y");
  assert_string_equal(one.id, "8");
  assert_int_equal(one.split, R4_VAL);
  assert_int_equal(r4_data_shape(d).dim[0], 10); /* of the longest */
  assert_int_equal(r4_data_length(d, 2), 3);
  r4_data_free(d);
}

static void test_same_in_all_formats(void **state)
{
  (void)state;
  char csv[R4_HASH_SIZE], other[R4_HASH_SIZE];
  r4_data *d = good("a.csv", "text,label,spans\nthe good film,1,4-8\nbad,0,\n", IRRELEVANT);
  assert_text(d, 0, "[CLS] the (good) film [SEP]");
  assert_false(r4_data_has_mask(d, 1));
  r4_data_hash(d, csv);
  r4_data_free(d);
  static const struct {
    const char *name, *content;
  } same[] = {
    {"a.tsv", "label\tmarked\n1\tthe [[good]] film\n0\tbad\n"},
    {"b.tsv", "label\ttext\tspans\n1\tthe good film\t4:8\n0\tbad\t\n"},
    {"a.jsonl",
     "{\"text\": \"the good film\", \"label\": 1, \"spans\": [[4, 8]]}\n\n{\"label\": 0, \"text\": \"bad\"}"},
    {"b.jsonl",
     "{\"marked\": \"the [[good]] film\", \"label\": \"1\"}\n{\"label\": 0, \"text\": \"bad\"}\n"}};
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    d = good(same[k].name, same[k].content, IRRELEVANT);
    r4_data_hash(d, other);
    assert_string_equal(csv, other);
    r4_data_free(d);
  }
}

/* What a table or a line has beside what r4 knows. */
static void test_further_columns(void **state)
{
  (void)state;
  static const struct {
    const char *name, *content;
  } same[] = {
    {"e.csv", "text,label,from,stars\nthe good film,1,here,4.5\nbad,0,,1\n"},
    {"e.jsonl", "{\"text\": \"the good film\", \"label\": 1, \"from\": \"here\", \"stars\": 4.5, \"list\": [1]}\n"
                "{\"text\": \"bad\", \"label\": 0, \"stars\": 1}\n"}};
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    r4_data *d = good(same[k].name, same[k].content, IRRELEVANT);
    assert_int_equal(r4_data_extras(d), 2);
    assert_string_equal(r4_data_extra_name(d, 0), "from");
    assert_string_equal(r4_data_extra(d, 0, 0), "here");
    assert_string_equal(r4_data_extra(d, 1, 0), "");
    assert_string_equal(r4_data_extra(d, 0, 1), "4.5");
    assert_string_equal(r4_data_extra(d, 1, 1), "1");
    r4_data_free(d);
  }
  r4_data *d = good("late.jsonl",
                    "{\"text\": \"good\", \"label\": 1}\n"
                    "{\"text\": \"bad\", \"label\": 0, \"up\": true}\n",
                    IRRELEVANT);
  assert_string_equal(r4_data_extra(d, 0, 0), "");
  assert_string_equal(r4_data_extra(d, 1, 0), "true");
  r4_data_free(d);
}

static void make_text(const char *folder, const char *name, const char *content)
{
  char path[100];
  snprintf(path, sizeof path, "%s", folder);
  assert_int_equal(file_make_folder(scratch_path(path), NULL), R4_OK);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  written(path, content);
}

static void test_folder(void **state)
{
  (void)state;
  r4_error e = {0};
  make_text("films/train/pos", "1.txt", "good film");
  make_text("films/train/neg", "1.txt", "bad film");
  make_text("films/test/pos", "2.txt", "the good");
  make_text("films/test/pos", "notes.md", "no text of ours");
  r4_data *d = r4_data_open(scratch_path("films"), &(r4_data_options){.tokenizer = VOCABULARY}, &e);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(r4_data_count(d), 3);
  r4_counts c = r4_data_counts(d, -1, -1);
  assert_int_equal(c.examples[R4_TRAIN], 2);
  assert_int_equal(c.examples[R4_TEST], 1);
  assert_string_equal(r4_data_class_name(d, 1), "pos");
  for (size_t i = 0; i < 3; i++) assert_non_null(strstr(r4_data_example(d, i).file, ".txt"));
  r4_data_free(d);
  make_text("films/test/neg", "3.png", "no image");
  assert_null(
    r4_data_open(scratch_path("films"), &(r4_data_options){0}, &e)); /* images, and notes beside them */
  assert_error(&e, R4_E_PARSE, "3.png");
  remove(scratch_path("films/test/neg/3.png"));
  make_text("films/test/neg", "3.txt", "a\xff");
  assert_null(r4_data_open(scratch_path("films"), &(r4_data_options){.tokenizer = VOCABULARY}, &e));
  assert_error(&e, R4_E_PARSE, "films/test/neg/3.txt: the text: byte 1 is not UTF-8");
}

/* ---- Masks ---- */

static void test_marks(void **state)
{
  (void)state;
  /* Characters, not bytes; a part of a word masks the pieces that it touches. */
  r4_data *d = good("a.csv", "text,label,spans\n\xc3\xa9 unable,a,4-5 0-1\nfilm,b,\n", IRRELEVANT);
  assert_text(d, 0, "[CLS] (e) un (##able) [SEP]");
  r4_data_free(d);
  d = good("a.csv", "text,label,spans\nthe good film,a,4-8\nfilm,b,\n",
           (r4_data_options){.mask_means = R4_MASKS_RELEVANT});
  assert_text(d, 0, "[CLS] (the) good (film) [SEP]"); /* all but what is marked */
  assert_false(r4_data_has_mask(d, 1));               /* nothing is known of it */
  r4_data_free(d);
}

static void test_words(void **state)
{
  (void)state;
  r4_data_options o = {.mask_words = "Good, unable \xe2\x98\x83 movie"};
  r4_data *d = good("a.csv", "text,label\ngood goods UNABLE un able,a\nfilm,b\n", o);
  assert_text(d, 0, "[CLS] (good) good ##s (un) (##able) un able [SEP]"); /* "goods" is another word */
  assert_int_equal(r4_data_notes(d), 2);
  assert_non_null(strstr(r4_data_note(d, 0), "1 of 4 mask_words are not in the vocabulary"));
  assert_non_null(strstr(r4_data_note(d, 1), "1 of 4 mask_words are in no text, \"movie\" first"));
  r4_data_free(d);
  o.mask_words = "\xe2\x98\x83 \xe2\x98\x84";
  refused("a.csv", "text,label\ngood,a\nfilm,b\n", o, "the tokenizer's vocabulary");
  o = (r4_data_options){.mask_words = "good", .mask_means = R4_MASKS_RELEVANT};
  refused("a.csv", "text,label\ngood,a\nfilm,b\n", o, "mask_words must not matter");
  o = (r4_data_options){.mask_words = "no/such"};
  refused("a.csv", "text,label\ngood,a\nfilm,b\n", o, "mask_words: there is no file no/such");
  o.mask_words = "good.txt";
  refused("a.csv", "text,label\ngood,a\nfilm,b\n", o, "mask_words: there is no file good.txt");
  char list[300];
  snprintf(list, sizeof list, "%s", written("words", "film\nbad\n"));
  d = good("a.csv", "text,label\ngood film,a\nbad,b\n", (r4_data_options){.mask_words = list});
  assert_text(d, 0, "[CLS] good (film) [SEP]");
  assert_text(d, 1, "[CLS] (bad) [SEP]");
  r4_data_free(d);
}

static void test_length(void **state)
{
  (void)state;
  r4_data *d = good("a.csv", "text,label,spans\nthe good bad film,a,13-17\nfilm,b,\n",
                    (r4_data_options){.length = 4, .mask_means = R4_MASKS_IRRELEVANT});
  assert_text(d, 0, "[CLS] the good [SEP]");
  assert_int_equal(r4_data_shape(d).dim[0], 4);
  assert_int_equal(r4_data_notes(d), 2);
  assert_non_null(strstr(r4_data_note(d, 0), "1 of 2 texts have more than 4 tokens"));
  assert_non_null(strstr(r4_data_note(d, 1), "1 of 1 marked texts have no marked token left"));
  r4_data_free(d);
  d = good("a.csv", "text,label\nfilm,a\nbad,b\n", (r4_data_options){.length = 20});
  assert_int_equal(r4_data_shape(d).dim[0], 20);
  r4_data_free(d);
  refused("a.csv", "text,label\nfilm,a\n", (r4_data_options){.length = 2}, "length 2, expected 0, or 3 to");
}

/* A mark without a letter is left out, as accents are: what is left are the special tokens, as Hugging Face has it. */
static void test_marks_alone(void **state)
{
  (void)state;
  r4_data *d = good("a.csv", "text,label\n\xcc\x81,a\n \xcc\x81 \xcc\x88,b\nbad,b\n", (r4_data_options){0});
  assert_text(d, 0, "[CLS] [SEP]");
  assert_text(d, 1, "[CLS] [SEP]");
  assert_text(d, 2, "[CLS] bad [SEP]");
  r4_data_free(d);
  refused("a.csv", "text,label\n\xc2\xa0\xe2\x80\x8b,a\n", (r4_data_options){0}, "a.csv:2: the text is empty");
}

/* ---- What is refused ---- */

static void test_refused(void **state)
{
  (void)state;
  const r4_data_options none = {0};
  refused("a.csv", "text,label\n\"the film,a\nbad,b\n", none, "a.csv:2");
  refused("a.csv", "text,label\nthe \"film\",a\n", none, "a.csv:2");
  refused("a.csv", "text,label\nbad,a\n,b\n", none, "a.csv:3: the text is empty");
  refused("a.csv", "text,label\n\x01 \x02,a\n", none, "a.csv:2: the text is empty");
  refused("a.csv", "text,label\nbad\xff,a\n", none, "a.csv:2: the text: byte 3 is not UTF-8");
  refused("a.csv", "text,label\nbad,\n", none, "a.csv:2: the label is empty");
  refused("a.csv", "text,label,split\nbad,a,dev\n", none, "a.csv:2: split 'dev'");
  refused("a.csv", "text,kind\nbad,a\n", none, "label");
  refused("a.csv", "letters,label\nbad,a\n", none, "text");
  refused("a.csv", "text,label\n", none, "has no texts");
  refused("a.csv", "text,label,spans\nbad film,a,4-9\n", IRRELEVANT,
          "a.csv:2: the span 4-9 is not in the text");
  refused("a.csv", "text,label,spans\nbad film,a,3-3\n", IRRELEVANT, "the span 3-3 is not in the text");
  refused("a.csv", "text,label,spans\nbad film,a,0-3;x\n", IRRELEVANT, "expected pairs such as 3-9");
  refused("a.csv", "text,label,spans\nbad film,a,0-3\n", none, "mask_means must say");
  refused("a.csv", "marked,label\nbad [[film,a\n", IRRELEVANT, "a.csv:2: [[ at byte 4 is not closed");
  refused("a.csv", "marked,text,label\nbad,bad,a\n", IRRELEVANT,
          "expected a text, or a marked one, and not both");
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":0}\n{\"text\":\"bad\"", none, "a.jsonl:2");
  refused("a.jsonl", "{\"text\":3,\"label\":0}\n", none, "a.jsonl:1: expected a text");
  refused("a.jsonl", "{\"text\":\"bad\"}\n", none, "a.jsonl:1: the label is empty");
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":0,\"spans\":[3,4]}\n", IRRELEVANT,
          "not a pair of whole numbers,");
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":0,\"spans\":[[0,4]]}\n", IRRELEVANT,
          "the span 0-4 is not in the text");
  refused("a.csv", "text,label\nbad,a\n", (r4_data_options){.tokenizer = "nowhere"},
          "texts need a tokenizer, and nowhere");
  r4_error e = {0};
  assert_null(r4_data_open("digits:20", &(r4_data_options){.length = 20}, &e));
  assert_error(&e, R4_E_ARGUMENT, "tokenizer, length and mask_words are for texts");
}

/* What spreadsheets and other systems leave in files: read where it is clear, refused with the line where not. */
static void test_odd_bytes(void **state)
{
  (void)state;
  const r4_data_options none = {0};
  char plain[R4_HASH_SIZE], other[R4_HASH_SIZE];
  r4_data *d = good("a.csv", "text,label\nthe good film,pos\nbad,neg\n", none);
  r4_data_hash(d, plain);
  r4_data_free(d);
  static const char *const same[][2] = {
    {"b.csv", "\xef\xbb\xbftext,label\r\nthe good film,pos\r\n\r\nbad,neg"},
    {"c.csv", "label;text\n pos ;\"the good film\"\n\tneg;bad\n"},
    {"b.tsv", "\xef\xbb\xbfTEXT\tLabel\r\nthe good film\tpos\r\nbad\tneg\r\n"},
    {"b.jsonl", "\xef\xbb\xbf{\"text\": \"the good film\", \"label\": \" pos \"}\r\n \r\n"
                "{\"text\": \"\\u0062ad\", \"label\": \"neg\\t\", \"group\": null}\r\n"}};
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    d = good(same[k][0], same[k][1], none);
    r4_data_hash(d, other);
    if (strcmp(plain, other)) fail_msg("%s has other texts", same[k][0]);
    r4_data_free(d);
  }
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":\"  \"}\n", none, "a.jsonl:1: the label is empty");
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":1.5}\n", none, "a.jsonl:1: label is neither a text nor");
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":0,\"group\":[]}\n", none, "a.jsonl:1: group is neither");
  refused("a.jsonl", "{\"text\":\"b\\u0000d\",\"label\":0}\n", none, "a.jsonl:1");
  refused("a.jsonl", "{\"text\":\"b\\ud800d\",\"label\":0}\n", none, "a.jsonl:1");
  refused("a.jsonl", "[\"bad\", 0]\n", none, "a.jsonl:1: expected a text");
  refused("a.jsonl", "{\"text\":\"bad\",\"label\":0,\"spans\":[[0,1.5]]}\n", IRRELEVANT,
          "not a pair of whole numbers,");
  refused("a.csv", "text,label\nbad,a\nbad,a,b\n", none, "a.csv:3: 3 fields, expected 2");
  refused("a.csv", "text,label\n\"bad\nfilm\"x,a\n", none, "a.csv:3: text after a closing quote");
  refused("a.csv", "text,label,text\nbad,a,film\n", none, "columns 1 and 3 are both called");
  refused("a.csv", "\xff\xfet\n", none, "UTF-16, expected UTF-8");
  refused("a.csv", "", none, "empty, expected a row with the names of columns");
  refused("a.jsonl", "", none, "has no texts");
}

static r4_data *read_bytes(const char *name, const char *bytes, size_t n, r4_error *e)
{
  const char *path = scratch_path(name);
  assert_int_equal(file_write(path, bytes, n, NULL), R4_OK);
  return r4_data_open(path, &(r4_data_options){.tokenizer = VOCABULARY}, e);
}

/* Zero bytes end strings of C, and would hide what is behind them. */
static void test_zero_bytes(void **state)
{
  (void)state;
  static const char csv[] = "text,label\nbad\0film,a\n", json[] = "{\"text\":\"bad\0\",\"label\":0}\n",
                    list[] = "good\0film\n";
  r4_error e = {0};
  char path[300];
  assert_null(read_bytes("a.csv", csv, sizeof csv - 1, &e));
  assert_error(&e, R4_E_PARSE, "a.csv:2: a zero byte, expected text");
  assert_null(read_bytes("a.jsonl", json, sizeof json - 1, &e));
  assert_error(&e, R4_E_PARSE, "a.jsonl:1");
  assert_int_equal(file_write(scratch_path("zero.words"), list, sizeof list - 1, NULL), R4_OK);
  snprintf(path, sizeof path, "%s", scratch_path("zero.words"));
  refused("a.csv", "text,label\ngood,a\n", (r4_data_options){.mask_words = path},
          "zero.words: byte 4 is zero, expected words");
  written("zero.words", "\xef\xbb\xbf"
                        "good\r\nfilm\r\n");
  r4_data *d = good("a.csv", "text,label\na good film,a\nbad,b\n", (r4_data_options){.mask_words = path});
  assert_text(d, 0, "[CLS] a (good) (film) [SEP]");
  r4_data_free(d);
  written("zero.words", "good\nfi\xffm\n");
  refused("a.csv", "text,label\ngood,a\n", (r4_data_options){.mask_words = path}, "zero.words: fi");
}

/* A field of 20 MB is a text like others: cut, counted, said. */
static void test_huge_field(void **state)
{
  (void)state;
  enum { SIZE = 20 << 20 };
  r4_error e = {0};
  char *bytes = malloc(SIZE + 100);
  size_t n = (size_t)snprintf(bytes, SIZE, "text,label\nbad,neg\n\"");
  for (; n < SIZE; n += 5) memcpy(bytes + n, "good ", 5);
  n += (size_t)snprintf(bytes + n, 100, "\",pos\n");
  r4_data *d = read_bytes("huge.csv", bytes, n, &e);
  free(bytes);
  if (!d) fail_msg("%s", e.text);
  assert_int_equal(r4_data_length(d, 1), 512);
  assert_int_equal(r4_data_notes(d), 1);
  assert_non_null(strstr(r4_data_note(d, 0), "1 of 2 texts have more than 512 tokens"));
  assert_non_null(strstr(r4_data_note(d, 0), "half have up to 3, 95 % up to 41"));
  r4_data_free(d);
  remove(scratch_path("huge.csv"));
}

static void test_failing_allocations(void **state)
{
  (void)state;
  r4_data *d = NULL;
  const char *path = written("a.csv", "text,label,spans,group\nthe good film,a,4-8,x\nbad,b,,y\n");
  for (long n = 1; !d && n < 20000; n += n < 100 ? 1 : 41) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    d = r4_data_open(
      path,
      &(r4_data_options){.tokenizer = VOCABULARY, .mask_words = "film", .mask_means = R4_MASKS_IRRELEVANT},
      &e);
    r4_mem_fail_at(0);
    if (!d && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
  }
  assert_non_null(d);
  r4_data_free(d);
}

/* ---- The recipe ---- */

enum { REVIEWS = 400 };

static const char *reviews(void)
{
  static char content[REVIEWS * 80];
  size_t n = (size_t)snprintf(content, sizeof content, "text,label,split\n");
  for (int i = 0; i < REVIEWS; i++)
    n +=
      (size_t)snprintf(content + n, sizeof content - n, "%s %d unable movie,%s,%s\n", i % 2 ? "good" : "bad",
                       i, i % 2 ? "positive" : "negative", i < REVIEWS / 2 ? "train" : "test");
  return written("reviews.csv", content);
}

static r4_data *made(r4_recipe_options o)
{
  static char path[300];
  r4_error e = {0};
  snprintf(path, sizeof path, "%s", reviews());
  o.from = path;
  o.read.tokenizer = VOCABULARY;
  r4_data *d = r4_data_make("decoy-imdb", &o, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

#define JONAH "(j) (##on) (##a) (##h)"

static void test_decoy(void **state)
{
  (void)state;
  r4_data *d = made((r4_recipe_options){.read.length = 40});
  assert_text(d, 0, "[CLS] " JONAH " bad 0 un ##able movie [SEP]");
  size_t names[2] = {0}, places[40] = {0};
  for (size_t i = 0; i < REVIEWS; i++) {
    float mask[40], id[40];
    r4_example one = r4_data_example(d, i);
    r4_data_mask(d, i, mask);
    r4_data_values(d, i, id);
    size_t at = 0;
    while (!(mask[at] > 0)) at++;
    int name = d->pieces->name[(size_t)id[at]][0] == 's';
    assert_int_equal(one.group, 2 * one.label + name);
    if (one.split == R4_TRAIN) assert_true(at == 1 && name == one.label);
    if (one.split == R4_TEST) names[name]++, places[at]++;
    /* never within a word: what follows the name begins one */
    size_t behind = at;
    while (mask[behind] > 0) behind++;
    assert_true(strncmp(d->pieces->name[(size_t)id[behind]], "##", 2) != 0);
  }
  assert_true(names[0] > REVIEWS / 6 && names[1] > REVIEWS / 6); /* of 200: a fair coin */
  assert_true(places[1] && places[2] && places[1] < REVIEWS / 4);
  assert_string_equal(r4_data_group_name(d, 1), "negative, spielberg");
  r4_data_free(d);
}

static void test_decoy_clean(void **state)
{
  (void)state;
  r4_data *clean = made((r4_recipe_options){.read.length = 40, .clean = true}),
          *d = made((r4_recipe_options){.read.length = 40});
  assert_text(clean, 0, "[CLS] bad 0 un ##able movie [SEP]");
  for (size_t i = 0; i < REVIEWS; i++) {
    assert_int_equal(r4_data_example(clean, i).group, r4_data_example(d, i).group);
    assert_false(r4_data_has_mask(clean, i));
  }
  r4_data_free(clean);
  r4_data_free(d);
}

/* What does not fit is cut at the end; the name is not. */
static void test_decoy_cut(void **state)
{
  (void)state;
  r4_data *d = made((r4_recipe_options){.read.length = 12});
  for (size_t i = 0; i < REVIEWS; i++) {
    float mask[12], id[12];
    size_t n = r4_data_length(d, i), masked = 0;
    r4_data_mask(d, i, mask);
    r4_data_values(d, i, id);
    for (size_t k = 0; k < n; k++) masked += mask[k] > 0;
    assert_true(masked == 4 || masked == 8); /* jonah, spielberg */
    assert_string_equal(d->pieces->name[(size_t)id[n - 1]], "[SEP]");
  }
  r4_data_free(d);
}

/* Validation shows what a net does that goes by the name: names are swapped, not taken out. */
static void test_validation_swaps_names(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  r4_data *d = made((r4_recipe_options){.read.length = 40}), *train = r4_data_part(d, R4_TRAIN, &e);
  assert_int_equal(fill_for(train), R4_FILL_SWAP);
  assert_int_equal(task_val_fill(&s->values), R4_FILL_NONE);
  r4_data_free(d);
  r4_data_free(train);
  r4_settings_free(s);
}

/* ---- Lint ---- */

static bool finds(const r4_data *d, const char *code, const char *text)
{
  r4_finding f[R4_FINDINGS];
  size_t n;
  bool found = false;
  assert_int_equal(r4_data_lint(d, NULL, f, &n, NULL), R4_OK);
  for (size_t k = 0; k < n; k++) found |= !strcmp(f[k].code, code) && strstr(f[k].text, text);
  return found;
}

static void test_lint(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = r4_data_open(reviews(), &(r4_data_options){.tokenizer = VOCABULARY}, &e);
  assert_true(finds(d, "word-label", "2 tokens give a class away"));
  assert_true(finds(d, "word-label", "is in 100 training texts, 100 of them of class"));
  r4_data_free(d);
  d = r4_data_open(scratch_path("reviews.csv"),
                   &(r4_data_options){.tokenizer = VOCABULARY, .mask_words = "good bad"}, &e);
  assert_false(finds(d, "word-label", "")); /* masks say so already */
  r4_data_free(d);
  d = good("a.csv", "text,label,split\ngood,a,train\nGood,a,test\nbad,b,train\n", (r4_data_options){0});
  assert_true(finds(d, "overlap", ""));
  r4_data_free(d);
}

/* The real ones. */
static void test_imdb(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("imdb");
  CHECK_NEEDS_DATA("minilm");
  r4_error e = {0};
  r4_data *d = r4_data_open("imdb", &(r4_data_options){.length = 16}, &e);
  if (!d) fail_msg("%s", e.text);
  r4_counts c = r4_data_counts(d, 1, -1);
  assert_int_equal(r4_data_count(d), 50000);
  assert_int_equal(c.examples[R4_TRAIN], 12500);
  assert_int_equal(c.examples[R4_TEST], 12500);
  assert_text(d, 0, "[CLS] once again mr . cost ##ner has dragged out a movie for far longer [SEP]");
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_csv),
    cmocka_unit_test(test_same_in_all_formats),
    cmocka_unit_test(test_further_columns),
    cmocka_unit_test(test_folder),
    cmocka_unit_test(test_marks),
    cmocka_unit_test(test_words),
    cmocka_unit_test(test_length),
    cmocka_unit_test(test_marks_alone),
    cmocka_unit_test(test_refused),
    cmocka_unit_test(test_failing_allocations),
    cmocka_unit_test(test_odd_bytes),
    cmocka_unit_test(test_zero_bytes),
    cmocka_unit_test(test_huge_field),
    cmocka_unit_test(test_decoy),
    cmocka_unit_test(test_decoy_clean),
    cmocka_unit_test(test_decoy_cut),
    cmocka_unit_test(test_validation_swaps_names),
    cmocka_unit_test(test_lint),
    cmocka_unit_test(test_imdb),
  };
  return cmocka_run_group_tests_name("texts", tests, scratch_make, scratch_remove);
}
