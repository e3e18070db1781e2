/* JSON: what is accepted and written again reads as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static void write(struct json_writer *w, const char *key, const struct js *v)
{
  int64_t whole;
  double number;
  bool flag;
  enum js_kind kind = js_kind(v);
  if (kind == JS_OBJECT || kind == JS_LIST) {
    jw_open(w, key, kind == JS_OBJECT ? '{' : '[');
    for (const struct js *member = NULL; (member = js_next(v, member));) write(w, js_key(member), member);
    jw_close(w, kind == JS_OBJECT ? '}' : ']');
  } else if (js_whole(v, &whole)) {
    jw_whole(w, key, whole);
  } else if (js_number(v, &number)) {
    jw_real(w, key, number);
  } else if (js_flag(v, &flag)) {
    jw_flag(w, key, flag);
  } else {
    jw_text(w, key, js_text(v));
  }
}

static char *written(const struct js *root)
{
  struct json_writer w = {0};
  write(&w, NULL, root);
  return text_take(&w.text);
}

/* Twice: the first time changes 1e999 to null and 1.0 to 1. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct js *root, *again, *third;
  r4_error e = {0};
  r4_status s = js_parse("x", data, size, &root, &e);
  require(s == e.status && (s == R4_OK) == (root != NULL) && (!s || e.text[0]));
  if (s) return 0;
  char *text = written(root);
  require(js_parse("x", text, strlen(text), &again, NULL) == R4_OK);
  char *text_again = written(again);
  require(js_parse("x", text_again, strlen(text_again), &third, NULL) == R4_OK);
  char *last = written(third);
  require(!strcmp(text_again, last));
  js_free(root);
  js_free(again);
  js_free(third);
  r4_string_free(text);
  r4_string_free(text_again);
  r4_string_free(last);
  return 0;
}
