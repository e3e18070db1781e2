#include "base/json.h"

#include <math.h>

#include "base/printable.h"
#include "base/utf8.h"

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

static void begin_value(struct json_writer *w, const char *key)
{
  text_add(&w->text, "%s%s", w->follows ? "," : "", w->breaks ? "\n" : "");
  if (key) {
    add_string(&w->text, key);
    text_add(&w->text, ":");
  }
  w->follows = true;
  w->breaks = false;
}

void jw_break(struct json_writer *w)
{
  w->breaks = true;
}

void jw_open(struct json_writer *w, const char *key, char bracket)
{
  begin_value(w, key);
  text_add(&w->text, "%c", bracket);
  w->follows = false;
}

void jw_close(struct json_writer *w, char bracket)
{
  text_add(&w->text, "%c", bracket);
  w->follows = true;
}

void jw_real(struct json_writer *w, const char *key, double v)
{
  begin_value(w, key);
  if (isfinite(v))
    text_add_real(&w->text, v);
  else
    text_add(&w->text, isnan(v) ? "null" : v > 0 ? "\"inf\"" : "\"-inf\"");
}

void jw_whole(struct json_writer *w, const char *key, int64_t v)
{
  begin_value(w, key);
  text_add(&w->text, "%lld", (long long)v);
}

void jw_flag(struct json_writer *w, const char *key, bool v)
{
  begin_value(w, key);
  text_add(&w->text, "%s", v ? "true" : "false");
}

void jw_text(struct json_writer *w, const char *key, const char *s)
{
  begin_value(w, key);
  if (s)
    add_string(&w->text, s);
  else
    text_add(&w->text, "null");
}
