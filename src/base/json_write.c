#include "base/json.h"

#include <math.h>

#include "base/printable.h"
#include "base/utf8.h"

static void begin_value(struct json_writer *w)
{
  text_add(&w->text, "%s%s", w->follows ? "," : "", w->breaks ? "\n" : "");
  w->follows = true;
  w->breaks = false;
}

void jw_break(struct json_writer *w)
{
  w->breaks = true;
}

void jw_open(struct json_writer *w, char bracket)
{
  begin_value(w);
  text_add(&w->text, "%c", bracket);
  w->follows = false;
}

void jw_close(struct json_writer *w, char bracket)
{
  text_add(&w->text, "%c", bracket);
  w->follows = true;
}

static void add_string(struct text *to, const char *s)
{
  text_add(to, "\"");
  for (size_t n; *s; s += n) {
    uint32_t code = 0;
    n = utf8_next(s, &code);
    if (code == '"' || code == '\\')
      text_add(to, "\\%c", *s);
    else if (n && !printable_is_control(code))
      text_add(to, "%.*s", (int)n, s);
    else
      text_add(to, n ? "\\u%04x" : "\\\\x%02x", n ? code : (uint8_t)*s);
    n += !n;
  }
  text_add(to, "\"");
}

void jw_key(struct json_writer *w, const char *key)
{
  begin_value(w);
  add_string(&w->text, key);
  text_add(&w->text, ":");
  w->follows = false;
}

void jw_real(struct json_writer *w, double v)
{
  begin_value(w);
  if (isfinite(v))
    text_add_real(&w->text, v);
  else
    text_add(&w->text, isnan(v) ? "null" : v > 0 ? "\"inf\"" : "\"-inf\"");
}

void jw_whole(struct json_writer *w, int64_t v)
{
  begin_value(w);
  text_add(&w->text, "%lld", (long long)v);
}

void jw_flag(struct json_writer *w, bool v)
{
  begin_value(w);
  text_add(&w->text, "%s", v ? "true" : "false");
}

void jw_text(struct json_writer *w, const char *s)
{
  begin_value(w);
  if (s)
    add_string(&w->text, s);
  else
    text_add(&w->text, "null");
}

void jw_put_open(struct json_writer *w, const char *key, char bracket)
{
  jw_key(w, key);
  jw_open(w, bracket);
}

void jw_put_real(struct json_writer *w, const char *key, double v)
{
  jw_key(w, key);
  jw_real(w, v);
}

void jw_put_whole(struct json_writer *w, const char *key, int64_t v)
{
  jw_key(w, key);
  jw_whole(w, v);
}

void jw_put_flag(struct json_writer *w, const char *key, bool v)
{
  jw_key(w, key);
  jw_flag(w, v);
}

void jw_put_text(struct json_writer *w, const char *key, const char *s)
{
  jw_key(w, key);
  jw_text(w, s);
}
