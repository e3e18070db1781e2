/* Texts in memory: the data set that the same table gives; words, names, what is refused, and memory that runs out. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "text_case.h"

static const char *const said[] = {"the good film", "bad", "of the movie"};

static r4_data *of_memory(const size_t *spans, r4_data_options o, r4_data_arrays a, r4_error *e)
{
  static const r4_span span[] = {{4, 8}, {3, 6}, {7, 12}};
  static const int32_t label[] = {1, 0, 1}, group[] = {0, 1, 0};
  static const char *const group_names[] = {"x", "y"};
  static const r4_split split[] = {R4_TRAIN, R4_VAL, R4_TRAIN};
  o.tokenizer = VOCABULARY;
  a.n = 3;
  a.labels = label;
  a.groups = group;
  a.group_count = 2;
  a.group_names = group_names;
  a.splits = split;
  return r4_data_texts(said, spans, span, &a, &o, e);
}

static void test_memory(void **state)
{
  (void)state;
  static const char same[] = "text,label,group,split,spans\nthe good film,1,x,train,4-8\nbad,0,y,val,\n"
                             "of the movie,1,x,train,3-6 7-12\n";
  static const size_t spans[] = {1, 0, 2};
  assert_int_equal(file_write(scratch_path("m.csv"), same, strlen(same), NULL), R4_OK);
  const r4_mask_meaning meaning[] = {R4_MASKS_IRRELEVANT, R4_MASKS_RELEVANT};
  for (size_t k = 0; k < 2; k++) {
    char mine[R4_HASH_SIZE], file[R4_HASH_SIZE];
    r4_error e = {0};
    r4_data_options o = {.mask_means = meaning[k], .length = 6};
    r4_data *d = of_memory(spans, o, (r4_data_arrays){0}, &e);
    if (!d) fail_msg("%s", e.text);
    o.tokenizer = VOCABULARY;
    r4_data *f = r4_data_open(scratch_path("m.csv"), &o, &e);
    if (!f) fail_msg("%s", e.text);
    assert_text(d, 0, k ? "[CLS] (the) good (film) [SEP]" : "[CLS] the (good) film [SEP]");
    assert_text(d, 2, k ? "[CLS] (of) the movie [SEP]" : "[CLS] of (the) (movie) [SEP]");
    assert_false(r4_data_has_mask(d, 1));
    r4_data_hash(d, mine);
    r4_data_hash(f, file);
    assert_string_equal(mine, file);
    r4_data_free(d);
    r4_data_free(f);
  }
}

static void test_memory_words_and_names(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_data *d = of_memory(NULL, (r4_data_options){.mask_words = "film, nowhere", .length = 3},
                         (r4_data_arrays){.classes = 2, .class_names = (const char *const[]){"neg", "pos"}}, &e);
  if (!d) fail_msg("%s", e.text);
  assert_string_equal(r4_data_class_name(d, 1), "pos");
  assert_text(d, 0, "[CLS] the [SEP]");
  assert_non_null(strstr(r4_data_note(d, 0), "2 of 3 texts have more than 3 tokens"));
  r4_data_free(d);
}

static void test_memory_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  static const size_t spans[] = {0, 1, 0};
  const r4_data_options irrelevant = {.mask_means = R4_MASKS_IRRELEVANT};
  assert_null(of_memory(spans, irrelevant, (r4_data_arrays){0}, &e));
  assert_error(&e, R4_E_PARSE, "text 1: the span 4-8 is not in the text");
  assert_null(of_memory(spans, (r4_data_options){0}, (r4_data_arrays){0}, &e));
  assert_error(&e, e.status, "text 1");
  assert_null(of_memory(NULL, irrelevant, (r4_data_arrays){.floats = (const float[]){0}}, &e));
  assert_error(&e, R4_E_ARGUMENT, "expected texts alone");
  assert_null(of_memory(NULL, irrelevant,
                        (r4_data_arrays){.classes = 1, .class_names = (const char *const[]){"one"}}, &e));
  assert_error(&e, e.status, "label");
  r4_data_arrays two = {.n = 2, .labels = (const int32_t[]){0, 0}};
  const r4_data_options own = {.tokenizer = VOCABULARY};
  assert_null(r4_data_texts((const char *const[]){"good", NULL}, NULL, NULL, &two, &own, &e));
  assert_error(&e, R4_E_ARGUMENT, "r4_data_texts: text 1 of");
  assert_null(r4_data_texts((const char *const[]){"good", " "}, NULL, NULL, &two, &own, &e));
  assert_error(&e, R4_E_PARSE, "text 1: the text is empty");
  assert_null(r4_data_texts((const char *const[]){"go\xff", "a"}, NULL, NULL, &two, &own, &e));
  assert_error(&e, R4_E_PARSE, "text 0: the text: ");
  two.n = 0;
  assert_null(r4_data_texts(said, NULL, NULL, &two, &own, &e));
  assert_error(&e, R4_E_PARSE, "has no texts");
}

static void test_memory_failing_allocations(void **state)
{
  (void)state;
  static const size_t spans[] = {1, 0, 1};
  r4_data *d = NULL;
  for (long n = 1; !d && n < 20000; n += n < 100 ? 1 : 41) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    d = of_memory(spans, (r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}, (r4_data_arrays){0}, &e);
    r4_mem_fail_at(0);
    if (!d && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
  }
  assert_non_null(d);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_memory), cmocka_unit_test(test_memory_words_and_names),
    cmocka_unit_test(test_memory_refused), cmocka_unit_test(test_memory_failing_allocations)};
  return cmocka_run_group_tests_name("texts in memory", tests, scratch_make, scratch_remove);
}
