/* The resolved settings as YAML that reads back as the same settings, in this library and in others. */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/settings.h"

/* Characters that stand for themselves in every reader of YAML; no breaks of lines, no marks of byte order. */
static bool is_printable(uint32_t c)
{
  if (c < 0xa1) return c >= ' ' && c <= '~';
  return c != 0x2028 && c != 0x2029 && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

static void add_text(struct text *to, const char *s)
{
  uint32_t code = 0;
  text_add(to, "\"");
  for (size_t n; (n = utf8_next(s, &code)); s += n) {
    if (code == '"' || code == '\\')
      text_add(to, "\\%c", (int)code);
    else if (code == '\n')
      text_add(to, "\\n");
    else if (is_printable(code))
      text_add(to, "%.*s", (int)n, s);
    else
      text_add(to, "\\u%04x", code); /* those above 0xffff are printable */
  }
  text_add(to, "\"");
}

static void add_value(struct text *to, const r4_setting_value *v)
{
  switch (v->type) {
  case R4_SETTING_WHOLE:
    text_add(to, "%lld", (long long)v->whole);
    break;
  case R4_SETTING_REAL:
    if (v->text)
      text_add(to, "%s", v->text);
    else
      text_add_real(to, v->real);
    break;
  case R4_SETTING_FLAG:
    text_add(to, "%s", v->flag ? "true" : "false");
    break;
  case R4_SETTING_CHOICE:
    text_add(to, "%s", v->text);
    break;
  case R4_SETTING_TEXT:
    add_text(to, v->text);
    break;
  case R4_SETTING_REALS:
    if (v->text) {
      text_add(to, "%s", v->text);
      break;
    }
    text_add(to, "[");
    for (size_t k = 0; k < v->n; k++) {
      if (k) text_add(to, ", ");
      text_add_real(to, v->reals[k]);
    }
    text_add(to, "]");
    break;
  }
}

char *setting_text(const struct setting *t, const r4_settings *s)
{
  struct text to = {0};
  r4_setting_value v;
  r4_settings_get(s, t->info.key, &v, NULL);
  add_value(&to, &v);
  return text_take(&to);
}

char *r4_settings_text(const r4_settings *s)
{
  struct text to = {0};
  const char *group = "";
  const struct setting *t;
  for (size_t k = 0; (t = setting_at(k)); k++) {
    r4_setting_value v;
    if (strcmp(group, t->info.group)) text_add(&to, "%s# %s\n", *group ? "\n" : "", t->info.group);
    group = t->info.group;
    r4_settings_get(s, t->info.key, &v, NULL);
    text_add(&to, "%s: ", t->info.key);
    add_value(&to, &v);
    text_add(&to, "\n");
  }
  return text_take(&to);
}

r4_status r4_settings_save(const r4_settings *s, const char *path, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  char *text = r4_settings_text(s);
  if (!text) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
  r4_status status = file_write(path, text, strlen(text), e);
  r4_string_free(text);
  return status;
}
