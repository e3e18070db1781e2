/* The tokenizer against Hugging Face's: hashes of the tokens of random strings and of 50 000 reviews, which
 * scripts/golden_tokenizer.py writes; and by hand: where tokens stand in the text, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "scratch.h"
#include "text/tokens.h"

static struct tokenizer *open_or_fail(const char *path)
{
  r4_error e = {0};
  struct tokenizer *t = tokenizer_open(path, &e);
  if (!t) fail_msg("%s", e.text);
  return t;
}

/* ---- Random strings, as the script has them ---- */

static uint64_t state;

static uint64_t below(uint64_t n)
{
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (z ^ z >> 31) % n;
}

struct string {
  char s[80 * 128];
  size_t n;
};

static void add_character(struct string *t, uint32_t c)
{
  if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
  char *to = t->s + t->n;
  if (c < 0x80) {
    *to = (char)c;
    t->n += 1;
  } else if (c < 0x800) {
    to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 63));
    t->n += 2;
  } else if (c < 0x10000) {
    to[0] = (char)(0xe0 | c >> 12), to[1] = (char)(0x80 | (c >> 6 & 63)), to[2] = (char)(0x80 | (c & 63));
    t->n += 3;
  } else {
    to[0] = (char)(0xf0 | c >> 18), to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63)), to[3] = (char)(0x80 | (c & 63));
    t->n += 4;
  }
}

static void random_string(struct string *t)
{
  static const uint32_t block[][2] = {{97, 26},        {97, 26},          {97, 26},        {65, 26},
                                      {32, 1},         {33, 94},          {0, 128},        {0xc0, 0x240},
                                      {0x300, 112},    {0x4e00, 0x5200},  {0xac00, 11172}, {0, 0x110000},
                                      {0x370, 0x2c90}, {0x1d000, 0x2000}, {0xf900, 0x700}};
  static const char *const chunk[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[sep]",
                                      "##",    "##a",   "[",     "the",   "ing",    "un"};
  enum { BLOCKS = sizeof block / sizeof *block, CHUNKS = sizeof chunk / sizeof *chunk };
  t->n = 0;
  for (uint64_t left = below(80); left > 0; left--) {
    uint64_t kind = below(BLOCKS + 2);
    if (kind < BLOCKS) {
      add_character(t, block[kind][0] + (uint32_t)below(block[kind][1]));
    } else if (kind == BLOCKS) {
      const char *c = chunk[below(CHUNKS)];
      memcpy(t->s + t->n, c, strlen(c));
      t->n += strlen(c);
    } else if (!below(20)) {
      char letter = (char)('a' + below(26));
      size_t n = 98 + below(5);
      memset(t->s + t->n, letter, n);
      t->n += n;
    }
  }
}

/* ---- Against the golden hashes ---- */

static void add_tokens(struct hash *h, const struct tokenizer *t, const char *text, size_t size, struct tokens *room)
{
  r4_error e = {0};
  if (tokenize(t, text, size, room, &e)) fail_msg("%s", e.text);
  hash_add_number(h, room->n);
  for (size_t k = 0; k < room->n; k++) {
    hash_add_number(h, (uint64_t)room->token[k].id);
    hash_add_number(h, room->token[k].from);
    hash_add_number(h, room->token[k].to);
  }
}

static void assert_golden(struct hash *h, const char *what)
{
  uint8_t digest[HASH_BYTES], *golden = NULL;
  char hex[HASH_HEX], line[200];
  size_t size;
  hash_end(h, digest);
  hash_hex(digest, hex);
  assert_int_equal(file_read("test/golden/tokenizer.txt", 1 << 20, &golden, &size, NULL), R4_OK);
  snprintf(line, sizeof line, "%s %s\n", what, hex);
  if (!strstr((char *)golden, line)) fail_msg("%s has other tokens than Hugging Face's", what);
  r4_mem_free(golden);
}

/* R4_SHOW=N prints the tokens of the N-th string, as the script does with --show. */
static void check_strings(const char *path, const char *name)
{
  enum { STRINGS = 10000 };
  struct tokenizer *t = open_or_fail(path);
  struct tokens room = {0};
  struct string text;
  struct hash h;
  char what[100];
  long shown = check_setting("R4_SHOW", -1);
  hash_start(&h);
  state = 1;
  for (long k = 0; k < STRINGS; k++) {
    random_string(&text);
    char *exact = malloc(text.n ? text.n : 1); /* no byte behind the last may be looked at */
    memcpy(exact, text.s, text.n);
    add_tokens(&h, t, exact, text.n, &room);
    free(exact);
    for (size_t j = 0; k == shown && j < room.n; j++)
      print_message("# (%d, %u, %u)\n", room.token[j].id, room.token[j].from, room.token[j].to);
  }
  snprintf(what, sizeof what, "%s strings %d", name, STRINGS);
  assert_golden(&h, what);
  tokens_free(&room);
  tokenizer_free(t);
}

static void test_random_strings(void **unused)
{
  (void)unused;
  static const char *const name[] = {"uncased", "cased", "raw", "lower", "stripped"};
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    char path[64];
    snprintf(path, sizeof path, "test/tokens/%s.json", name[k]);
    check_strings(path, path + strlen("test/"));
  }
  check_strings("test/tokens/vocab.txt", "tokens/uncased.json");
}

static void test_strings_of_minilm(void **unused)
{
  (void)unused;
  CHECK_NEEDS_DATA("minilm");
  check_strings(check_data("minilm"), "minilm");
}

static void test_reviews(void **unused)
{
  (void)unused;
  CHECK_NEEDS_DATA("imdb");
  CHECK_NEEDS_DATA("minilm");
  uint8_t *bytes;
  size_t size, letters = 0;
  struct js *root;
  struct hash h;
  struct tokens room = {0};
  struct tokenizer *t = open_or_fail(check_data("minilm"));
  assert_int_equal(file_read(check_data("imdb/reviews.json"), SIZE_MAX, &bytes, &size, NULL), R4_OK);
  assert_int_equal(js_parse("reviews.json", bytes, size, &root, NULL), R4_OK);
  r4_mem_free(bytes);
  hash_start(&h);
  clock_t spent = 0;
  for (const struct js *r = NULL; (r = js_next(root, r));) {
    const char *text = js_text(js_get(r, "t"));
    clock_t start = clock();
    tokenize(t, text, strlen(text), &room, NULL);
    spent += clock() - start;
    letters += strlen(text);
    add_tokens(&h, t, text, strlen(text), &room);
  }
  print_message("# %.0f MB of text per second of CPU time\n",
                (double)letters / 1e6 / ((double)spent / CLOCKS_PER_SEC));
  assert_golden(&h, "minilm reviews 50000");
  js_free(root);
  tokens_free(&room);
  tokenizer_free(t);
}

/* ---- By hand ---- */

static void assert_tokens(const struct tokenizer *t, const char *text, const char *expected)
{
  char shown[1000] = "", one[100];
  struct tokens to = {0};
  assert_int_equal(tokenize(t, text, strlen(text), &to, NULL), R4_OK);
  for (size_t k = 0; k < to.n; k++) {
    const char *piece = tokenizer_piece(t, to.token[k].id);
    snprintf(one, sizeof one, "%s%s %u-%u", k ? ", " : "", piece, to.token[k].from, to.token[k].to);
    strncat(shown, one, sizeof shown - strlen(shown) - 1);
  }
  assert_string_equal(shown, expected);
  tokens_free(&to);
}

static void test_places(void **unused)
{
  (void)unused;
  struct tokenizer *t = open_or_fail("test/tokens/vocab.txt");
  assert_tokens(t, "", "");
  assert_tokens(t, " \t\n", "");
  assert_tokens(t, "The MOVIE!", "the 0-3, movie 4-9, ! 9-10");
  assert_tokens(t, "unable", "un 0-2, ##able 2-6");
  assert_tokens(t, "caf\xc3\xa9 a", "c 0-1, ##a 1-2, ##f 2-3, ##e 3-5, a 6-7"); /* two bytes are one letter */
  assert_tokens(t, "cafe\xcc\x81 a",
                "c 0-1, ##a 1-2, ##f 2-3, ##e 3-4, a 7-8"); /* the accent is no part of it */
  assert_tokens(t, "go\x01od", "good 0-5");                 /* nor is a control character, but */
  assert_tokens(t, "\xe4\xba\xba\xe4\xb8\xad", "\xe4\xba\xba 0-3, \xe4\xb8\xad 3-6"); /* it has an inside */
  assert_tokens(t, "a[SEP]b [sep]", "a 0-1, [SEP] 1-6, b 6-7, [ 8-9, s 9-10, ##e 10-11, ##p 11-12, ] 12-13");
  assert_tokens(t, "a\xe2\x98\x83 b", "[UNK] 0-4, b 5-6"); /* a piece is missing: the whole word is unknown */
  tokenizer_free(t);
}

static void test_long_words(void **unused)
{
  (void)unused;
  struct tokenizer *t = open_or_fail("test/tokens/vocab.txt");
  char text[1000];
  for (size_t n = 99; n <= 101; n++) {
    struct tokens to = {0};
    memset(text, 'z', n);
    assert_int_equal(tokenize(t, text, n, &to, NULL), R4_OK);
    assert_int_equal(to.n, n <= 100 ? n : 1);
    assert_int_equal(to.token[to.n - 1].to, n);
    tokens_free(&to);
  }
  tokenizer_free(t);
}

static void test_not_utf8(void **unused)
{
  (void)unused;
  static const struct {
    const char *text, *error;
  } bad[] = {{"ab\xff", "byte 2 is not UTF-8"},
             {"\xc3", "byte 0 is not UTF-8"},               /* it ends too early       */
             {"a [SEP]\xe4\xba", "byte 7 is not UTF-8"},    /* counted from the start  */
             {"\xed\xa0\x80", "byte 0 is not UTF-8"},       /* a surrogate             */
             {"\xc0\xaf", "byte 0 is not UTF-8"},           /* longer than need be     */
             {"a\xf4\x90\x80\x80", "byte 1 is not UTF-8"}}; /* above the last character */
  struct tokenizer *t = open_or_fail("test/tokens/vocab.txt");
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct tokens to = {0};
    r4_error e = {0};
    assert_int_equal(tokenize(t, bad[k].text, strlen(bad[k].text), &to, &e), R4_E_PARSE);
    assert_error(&e, R4_E_PARSE, bad[k].error);
    assert_int_equal(to.n, 0);
    tokens_free(&to);
  }
  tokenizer_free(t);
}

static void assert_refused(const char *content, const char *error)
{
  const char *path = scratch_path("vocabulary");
  r4_error e = {0};
  assert_int_equal(file_write(path, content, strlen(content), NULL), R4_OK);
  assert_null(tokenizer_open(path, &e));
  assert_error(&e, e.status, error);
  assert_error(&e, e.status, path);
}

#define BERT                                                                                        \
  "\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}," \
  "\"model\":{\"type\":"                                                                            \
  "\"WordPiece\",\"vocab\":"

static void test_refused(void **unused)
{
  (void)unused;
  r4_error e = {0};
  assert_refused("", "has no piece [UNK]");
  assert_refused("a\nb\n", "has no piece [UNK]");
  assert_refused("[UNK]\n\xff\n", "line 2 is not UTF-8");
  assert_refused("{\"model\":{\"type\":\"BPE\"}}", "its model is BPE, expected WordPiece");
  assert_refused("{\"model\":{\"type\":\"WordPiece\"}}", "its normalizer is missing");
  assert_refused("{" BERT "{\"a\":1}}}", "has no piece [UNK]");
  assert_refused("{" BERT "{\"[UNK]\":-1}}}", "the id of \"[UNK]\"");
  assert_refused("{" BERT "{\"[UNK]\":1e3}}}", "the id of \"[UNK]\"");
  assert_refused("{" BERT "[]}}", "has no vocab");
  assert_refused("{\"added_tokens\":[{\"content\":\"x\",\"id\":3,\"lstrip\":true}]," BERT "{\"[UNK]\":0}}}",
                 "the added token x is lstrip");
  assert_refused("[UNK]\na\nb\na \n", "line 4: the piece \"a\" is in line 2 already");
  assert_refused("{" BERT "{\"[UNK]\":0,\"a\":2,\"b\":2}}}", "\"a\" and \"b\" have the same id 2");
  assert_refused("{\"added_tokens\":[{\"content\":\"x\",\"id\":0}]," BERT "{\"[UNK]\":0}}}",
                 "\"[UNK]\" and \"x\" have the same id 0");
  assert_refused("{\"added_tokens\":[{\"content\":\"x\",\"id\":2}]," BERT "{\"[UNK]\":0,\"x\":1}}}",
                 "the added token x has the id 2, in the vocabulary it has 1");
  assert_null(tokenizer_open(scratch_folder(), &e));
  assert_error(&e, R4_E_IO, "neither tokenizer.json nor vocab.txt");
  assert_null(tokenizer_open(scratch_path("nothing"), &e));
  assert_error(&e, R4_E_IO, "nothing");
}

/* A vocabulary with capitals says so in the file beside it. */
static void test_config(void **unused)
{
  (void)unused;
  static const char pieces[] = "[UNK]\nA\na\n", config[] = "{\"do_lower_case\": false}";
  struct tokenizer *t;
  assert_int_equal(file_write(scratch_path("vocab.txt"), pieces, strlen(pieces), NULL), R4_OK);
  t = open_or_fail(scratch_folder());
  assert_tokens(t, "A", "a 0-1");
  tokenizer_free(t);
  assert_int_equal(file_write(scratch_path("tokenizer_config.json"), config, strlen(config), NULL), R4_OK);
  t = open_or_fail(scratch_folder());
  assert_tokens(t, "A", "A 0-1");
  assert_int_equal(tokenizer_size(t), 3);
  assert_int_equal(tokenizer_id(t, "a"), 2);
  assert_int_equal(tokenizer_id(t, "b"), -1);
  assert_null(tokenizer_piece(t, 3));
  tokenizer_free(t);
}

static void test_failing_allocations(void **unused)
{
  (void)unused;
  bool done = false;
  for (long n = 1; !done && n < 20000; n += n < 100 ? 1 : 37) {
    struct tokens to = {0};
    r4_error e = {0};
    r4_mem_fail_at(n);
    struct tokenizer *t = tokenizer_open("test/tokens/uncased.json", &e);
    done = t && !tokenize(t, "a\xcc\x81\xcc\x81 b", 7, &to, &e);
    r4_mem_fail_at(0);
    if (!done) assert_error(&e, R4_E_MEMORY, "memory");
    tokens_free(&to);
    tokenizer_free(t);
  }
  assert_true(done);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_random_strings),
    cmocka_unit_test(test_strings_of_minilm),
    cmocka_unit_test(test_reviews),
    cmocka_unit_test(test_places),
    cmocka_unit_test(test_long_words),
    cmocka_unit_test(test_not_utf8),
    cmocka_unit_test(test_refused),
    cmocka_unit_test(test_config),
    cmocka_unit_test(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("tokenizer", tests, scratch_make, scratch_remove);
}
