/* The writer as an object, for programs. A writer that could not be made (NULL) ignores what it is told, and has no
 * text at the end. */
#include "base/checksum.h"
#include "base/mem.h"
#include "r4_tools.h"

struct r4_json {
  struct json_writer writer;
};

r4_json *r4_json_new(void)
{
  return r4_mem_new(1, sizeof(r4_json));
}

void r4_json_free(r4_json *w)
{
  if (!w) return;
  r4_mem_free(w->writer.text.s);
  r4_mem_free(w);
}

void r4_json_open(r4_json *w, const char *key, char bracket)
{
  if (w) jw_open(&w->writer, key, bracket);
}

void r4_json_close(r4_json *w, char bracket)
{
  if (w) jw_close(&w->writer, bracket);
}

void r4_json_checksum(r4_json *w)
{
  if (w) checksum_close(&w->writer);
}

void r4_json_break(r4_json *w)
{
  if (w) jw_break(&w->writer);
}

void r4_json_real(r4_json *w, const char *key, double v)
{
  if (w) jw_real(&w->writer, key, v);
}

void r4_json_whole(r4_json *w, const char *key, int64_t v)
{
  if (w) jw_whole(&w->writer, key, v);
}

void r4_json_flag(r4_json *w, const char *key, bool v)
{
  if (w) jw_flag(&w->writer, key, v);
}

void r4_json_text(r4_json *w, const char *key, const char *s)
{
  if (w) jw_text(&w->writer, key, s);
}

char *r4_json_take(r4_json *w)
{
  if (!w) return NULL;
  w->writer.follows = w->writer.breaks = false;
  return text_take(&w->writer.text);
}
