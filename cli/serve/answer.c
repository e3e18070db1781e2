/* Making and releasing answers. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

void answer_clear(struct answer *a)
{
  if (a->release) a->release(a->own);
  *a = (struct answer){0};
}

void answer_bytes(struct answer *a, const char *type, void *bytes, size_t size, void (*release)(void *))
{
  answer_clear(a);
  *a = (struct answer){
    .status = 200, .type = type, .body = bytes, .size = size, .own = bytes, .release = release};
}

static void release_text(void *text)
{
  r4_string_free(text);
}

void answer_json(struct answer *a, r4_json *w)
{
  char *text = r4_json_take(w);
  r4_json_free(w);
  if (text) {
    answer_bytes(a, "application/json", text, strlen(text), release_text);
    return;
  }
  static const char none[] = "{\"error\": \"out of memory\"}";
  answer_clear(a);
  *a = (struct answer){.status = 500, .type = "application/json", .body = none, .size = sizeof none - 1};
}

void answer_error(struct answer *a, int status, const char *format, ...)
{
  char text[R4_ERROR_SIZE + 256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "error", text);
  r4_json_close(w, '}');
  answer_json(a, w);
  if (a->status == 200) a->status = status;
}

void answer_failed(struct answer *a, r4_status s, const r4_error *e)
{
  int status = s == R4_E_BUSY ? 409 : s == R4_E_IO || s == R4_E_MEMORY ? 500 : 400;
  answer_error(a, status, "%s", *e->text ? e->text : s == R4_E_MEMORY ? "out of memory" : r4_status_name(s));
}
