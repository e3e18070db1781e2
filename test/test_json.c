/* JSON: what is written reads back, and a text that is not JSON is refused by name. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder_make.h"
#include "scratch.h"

static void test_json_text(void **state)
{
  (void)state;
  struct json_writer w = {0};
  jw_open(&w, NULL, '{');
  jw_text(&w, "a\"\\\n", "é\x01\xff!");
  jw_open(&w, "list", '[');
  jw_real(&w, NULL, .1), jw_real(&w, NULL, NAN), jw_real(&w, NULL, -INFINITY);
  jw_whole(&w, NULL, INT64_MIN), jw_flag(&w, NULL, true);
  jw_open(&w, NULL, '['), jw_close(&w, ']'), jw_text(&w, NULL, NULL);
  jw_close(&w, ']');
  jw_open(&w, "empty", '{'), jw_close(&w, '}');
  jw_close(&w, '}');
  char *text = text_take(&w.text);
  assert_string_equal(
    text, "{\"a\\\"\\\\\\u000a\":\"é\\u0001\\\\xff!\",\"list\":[0.1,null,\"-inf\",-9223372036854775808,"
          "true,[],null],\"empty\":{}}");
  r4_string_free(text);
}

/* Figures come back as they were: NaN is null, infinity a text; what is not there is no figure. */
static void test_json_figures(void **state)
{
  (void)state;
  const char *text = "[0.5,null,\"inf\",\"-inf\",7,\"nan\",true]";
  struct js *root;
  double v[7];
  assert_int_equal(js_parse("text", text, strlen(text), &root, NULL), R4_OK);
  for (size_t k = 0; k < 7; k++) assert_int_equal(js_real(js_at(root, k), &v[k]), k < 5);
  assert_true(v[0] == .5 && isnan(v[1]) && v[2] == INFINITY && v[3] == -INFINITY && v[4] == 7);
  assert_false(js_real(NULL, v));
  js_free(root);
}

/* The same as an object: infinity is a text, since JSON has no number for it; without a writer there is no crash. */
static void test_json_object(void **state)
{
  (void)state;
  for (int round = 0; round < 2; round++) {
    r4_json *w = round ? r4_json_new() : NULL;
    r4_json_open(w, NULL, '{');
    r4_json_open(w, "k", '[');
    r4_json_real(w, NULL, 0.5), r4_json_real(w, NULL, NAN), r4_json_real(w, NULL, INFINITY);
    r4_json_real(w, NULL, -INFINITY);
    r4_json_whole(w, NULL, 7), r4_json_flag(w, NULL, false), r4_json_text(w, NULL, "a\nb"), r4_json_text(w, NULL, NULL);
    r4_json_break(w), r4_json_open(w, NULL, '['), r4_json_close(w, ']');
    r4_json_close(w, ']'), r4_json_close(w, '}');
    char *text = r4_json_take(w);
    if (round)
      assert_string_equal(text, "{\"k\":[0.5,null,\"inf\",\"-inf\",7,false,\"a\\u000ab\",null,\n[]]}");
    else
      assert_null(text);
    r4_string_free(text);
    r4_json_open(w, NULL, '[');
    r4_json_free(w); /* half written */
  }
}

/* Every bit of a double survives. */
static void test_json_reals(void **state)
{
  (void)state;
  draw_start(1, 0);
  for (int k = 0; k < 2000; k++) {
    uint64_t bits = draw_below(UINT64_MAX);
    double v, read = 0;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v)) continue;
    struct json_writer w = {0};
    struct js *root = NULL;
    jw_open(&w, NULL, '['), jw_real(&w, NULL, v), jw_close(&w, ']');
    char *text = text_take(&w.text);
    assert_int_equal(js_parse("x", text, strlen(text), &root, NULL), R4_OK);
    assert_true(js_number(js_at(root, 0), &read));
    if (memcmp(&read, &v, sizeof v) && v != 0) fail_msg("%s is not %.17g", text, v);
    js_free(root);
    r4_string_free(text);
  }
}

static void test_json_reading(void **state)
{
  (void)state;
  const char *text =
    " {\"b\": [1, -2.5e1, \"x\\\"\\/\\n\\u00e9\\ud83d\\ude00\", [], {}],\n \"a\" :null,\"c\":true}\n";
  struct js *root = NULL;
  int64_t whole = 7;
  double number = 0;
  bool flag = false;
  assert_int_equal(js_parse("x", text, strlen(text), &root, NULL), R4_OK);
  const struct js *v = js_next(root, NULL);
  assert_string_equal(js_key(v), "b");
  assert_int_equal(js_kind(v), JS_LIST);
  assert_int_equal(js_size(v), 5);
  assert_true(js_whole(js_at(v, 0), &whole) && whole == 1);
  assert_false(js_whole(js_at(v, 1), &whole));
  assert_true(js_number(js_at(v, 1), &number) && number == -25);
  assert_string_equal(js_text(js_at(v, 2)), "x\"/\n\u00e9\U0001f600");
  assert_int_equal(js_kind(js_at(v, 4)), JS_OBJECT);
  assert_int_equal(js_kind(js_at(v, 5)), JS_NULL);
  assert_null(js_next(js_at(v, 3), NULL));
  v = js_next(root, v);
  assert_string_equal(js_key(v), "a");
  v = js_next(root, v);
  assert_true(js_flag(v, &flag) && flag && js_get(root, "c") == v);
  assert_null(js_next(root, v));
  assert_null(js_get(root, "d"));
  assert_int_equal(js_size(root), 3);
  js_free(root);
}

/* For programs: what r4_json_checksum ended reads back, and says so if it was edited. */
static void test_json_sealed(void **state)
{
  (void)state;
  double real = 0;
  r4_error e = {0};
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_real(w, "r", 0.1), r4_json_whole(w, "w", -7);
  r4_json_flag(w, "f", true), r4_json_text(w, "t", "a b");
  r4_json_open(w, "l", '['), r4_json_whole(w, NULL, 3), r4_json_real(w, NULL, NAN), r4_json_close(w, ']');
  r4_json_checksum(w);
  char *text = r4_json_take(w), file[1000];
  r4_json_free(w);
  snprintf(file, sizeof file, "%s\n", text);
  r4_string_free(text);
  put_text(scratch_folder(), "sealed.json", file);
  r4_json_value *root = r4_json_read_sealed(scratch_path("sealed.json"), &e);
  assert_non_null(root);
  assert_true(r4_json_as_real(r4_json_get(root, "r"), &real) && real == 0.1);
  assert_true(r4_json_as_real(r4_json_get(root, "w"), &real) && real == -7);
  assert_string_equal(r4_json_as_text(r4_json_get(root, "t")), "a b");
  const r4_json_value *list = r4_json_get(root, "l");
  assert_int_equal(r4_json_size(list), 2);
  assert_true(r4_json_as_real(r4_json_at(list, 1), &real) && isnan(real));
  assert_null(r4_json_at(list, 2));
  assert_null(r4_json_at(root, 0));
  assert_null(r4_json_get(root, "x"));
  assert_int_equal(r4_json_size(r4_json_get(root, "t")), 0);
  assert_false(r4_json_as_real(NULL, &real) || r4_json_as_real(r4_json_get(root, "f"), &real) || r4_json_as_text(list));
  r4_json_value_free(root);
  strchr(file, '7')[0] = '8';
  put_text(scratch_folder(), "sealed.json", file);
  assert_null(r4_json_read_sealed(scratch_path("sealed.json"), &e));
  assert_error(&e, R4_E_ARGUMENT, "sealed.json: was edited: its SHA-256 does not match the one at its end");
  assert_null(r4_json_read_sealed("nowhere.json", &e));
  assert_int_equal(e.status, R4_E_IO);
}

static void refuses_json(const char *text, const char *expected)
{
  struct js *root;
  r4_error e = {0};
  assert_error(&e, js_parse("x", text, strlen(text), &root, &e), expected);
  assert_null(root);
}

static void test_json_is_strict(void **state)
{
  (void)state;
  refuses_json("", "x: line 1, column 1: expected an object or a list");
  refuses_json("3", "x: line 1, column 1: expected an object or a list");
  refuses_json("{\"a\":1,\n\"b\":2,\"a\":3}", "x: the key \"a\" occurs twice");
  refuses_json("{} {}", "x: line 1, column 4: expected nothing more");
  refuses_json("{\"a\":1,\n  }", "x: line 2, column 3: expected a string");
  refuses_json("[1,]", "x: line 1, column 4: expected a value");
  refuses_json("[1 2]", "x: line 1, column 4: expected \",\" or \"]\"");
  refuses_json("{\"a\" 1}", "x: line 1, column 6: expected \":\"");
  static const char *const values[] = {"NaN", "01",  "+1",   ".5",  "1.",  "1e",
                                       "-",   "tru", "nulL", "'a'", "0x1", "Infinity"};
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    char text[40];
    snprintf(text, sizeof text, "[%s]", values[k]);
    refuses_json(text, "x: line 1, column ");
  }
  refuses_json("[\"a", "x: line 1, column 4: a string is not closed");
  refuses_json("[\"\\x\"]", "an unknown escape");
  refuses_json("[\"\\u12\"]", "an unknown escape");
  refuses_json("[\"\\u0000\"]", "an escape that is not a character");
  refuses_json("[\"\\udc00\"]", "an escape that is not a character");
  refuses_json("[\"\\ud800\"]", "half of a surrogate pair");
  refuses_json("[\"\\ud800\\u0041\"]", "half of a surrogate pair");
  refuses_json("[\"\t\"]", "a control character");
  refuses_json("[\"\xff\"]", "not UTF-8");
  char deep[80] = "";
  memset(deep, '[', 65);
  refuses_json(deep, "x: line 1, column 66: too many levels");
  struct js *root;
  assert_int_equal(js_parse("x", "[\0]", 3, &root, NULL), R4_E_PARSE);
  int64_t whole;
  assert_int_equal(js_parse("x", "[9223372036854775807,9223372036854775808]", 41, &root, NULL), R4_OK);
  assert_true(js_whole(js_at(root, 0), &whole) && whole == INT64_MAX);
  assert_false(js_whole(js_at(root, 1), &whole));
  js_free(root);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_json_text),      cmocka_unit_test(test_json_object), cmocka_unit_test(test_json_figures),
    cmocka_unit_test(test_json_reals),     cmocka_unit_test(test_json_reading),
    cmocka_unit_test(test_json_is_strict), cmocka_unit_test(test_json_sealed),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
