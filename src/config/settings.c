/* Settings as an object: defaults, --set, and asking. */
#include "config/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- Making ---- */

r4_settings *r4_settings_new(void)
{
  r4_settings *s = r4_mem_new(1, sizeof *s);
  if (!s) return NULL;
  const struct setting *t;
  for (size_t k = 0; (t = setting_at(k)); k++)
    if (setting_read(t, "default", t->info.initial, &s->values, NULL)) {
      r4_settings_free(s);
      return NULL;
    }
  return s;
}

/* The texts that s owns, one after the other; NULL after the last. */
static char **owned_text(r4_settings *s, size_t k)
{
  size_t n = 0;
  const struct setting *t;
  for (size_t i = 0; (t = setting_at(i)); i++) {
    if (n++ == k) return &s->origin[i];
    bool owned = t->info.type == R4_SETTING_TEXT || t->info.sums;
    if (owned && n++ == k) return (char **)((char *)&s->values + t->offset);
  }
  if (k - n >= 2 * FOUND_MOST) return NULL;
  size_t place = (k - n) / 2;
  return (k - n) % 2 ? &s->values.data.found[place].path : &s->values.data.found[place].written;
}

void r4_settings_free(r4_settings *s)
{
  char **text;
  if (!s) return;
  for (size_t k = 0; (text = owned_text(s, k)); k++) r4_mem_free(*text);
  r4_mem_free(s);
}

r4_settings *settings_copy(const r4_settings *from)
{
  r4_settings *s = r4_mem_new(1, sizeof *s);
  char **text;
  bool all = s != NULL;
  if (s) *s = *from;
  for (size_t k = 0; s && (text = owned_text(s, k)); k++) {
    const char *theirs = *text;
    *text = all && theirs ? r4_mem_new(strlen(theirs) + 1, 1) : NULL;
    if (*text) memcpy(*text, theirs, strlen(theirs) + 1);
    all = all && (*text || !theirs);
  }
  if (all) return s;
  r4_settings_free(s);
  return NULL;
}

/* ---- Changing ---- */

r4_status settings_note_origin(r4_settings *s, const struct setting *t, const char *key, const char *where,
                               r4_error *e)
{
  size_t bytes = strlen(where) + 1, k = setting_number(t);
  char *copy = mem_new(bytes, 1, where, e);
  if (!copy) return R4_E_MEMORY;
  r4_mem_free(s->origin[k]);
  s->origin[k] = memcpy(copy, where, bytes);
  s->layer[k] = s->layers;
  s->by_old_name[k] = strcmp(key, t->info.key) != 0;
  return R4_OK;
}

/* Assignments that follow each other and come from the same place are one layer. */
static void begin_assignment(r4_settings *s, const char *origin)
{
  if (!strncmp(s->assigning, origin, sizeof s->assigning - 1)) return;
  settings_begin_layer(s);
  snprintf(s->assigning, sizeof s->assigning, "%s", origin);
}

void settings_begin_layer(r4_settings *s)
{
  s->layers++;
  s->assigning[0] = 0;
}

/* Resolved settings of an older version lack those that are new since. */
void settings_end_layer(r4_settings *s)
{
  size_t given = 0, all = r4_setting_count();
  for (size_t k = 0; k < all; k++) given += s->layer[k] == s->layers;
  if (given < all - all / 4) return;
  memset(s->layer, 0, sizeof s->layer);
  memset(s->by_old_name, 0, sizeof s->by_old_name);
}

r4_status r4_settings_set(r4_settings *s, const char *assignment, const char *origin, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  NEEDS(assignment, "an assignment", R4_E_ARGUMENT);
  NEEDS(origin, "an origin", R4_E_ARGUMENT);
  char key[64];
  size_t length = strcspn(assignment, "=");
  r4_error_clear(e);
  snprintf(key, sizeof key, "%.*s", length < sizeof key ? (int)length : (int)sizeof key, assignment);
  if (!assignment[length])
    return r4_fail(e, R4_E_ARGUMENT, "%s: \"%.60s\" has no value, expected key=value", origin, assignment);
  const struct setting *t = setting_find(key);
  if (!t) return setting_unknown(origin, key, e);
  begin_assignment(s, origin);
  r4_status status = setting_read(t, origin, assignment + length + 1, &s->values, e);
  return status ? status : settings_note_origin(s, t, key, origin, e);
}

/* ---- Asking ---- */

bool r4_settings_renamed(const r4_settings *s, size_t k, r4_error *to)
{
  const struct setting *t;
  r4_error_clear(to);
  for (size_t i = 0; s && (t = setting_at(i)); i++) {
    if (!s->by_old_name[i] || k--) continue;
    r4_fail(to, R4_E_ARGUMENT, "%s: %s is now called %s", s->origin[i], t->info.was, t->info.key);
    return true;
  }
  return false;
}

r4_status r4_settings_get(const r4_settings *s, const char *key, r4_setting_value *value, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  NEEDS(key, "a key", R4_E_ARGUMENT);
  NEEDS(value, "room for the value", R4_E_ARGUMENT);
  r4_error_clear(e);
  const struct setting *t = setting_find(key);
  if (!t) return setting_unknown("settings", key, e);
  const void *at = (const char *)&s->values + t->offset;
  const struct reals *list = at;
  *value = (r4_setting_value){.type = t->info.type};
  switch (t->info.type) {
  case R4_SETTING_WHOLE:
    value->whole = *(const int64_t *)at;
    break;
  case R4_SETTING_REAL:
    value->real = *(const double *)at;
    value->text = setting_word(&t->info, value->real);
    break;
  case R4_SETTING_FLAG:
    value->flag = *(const bool *)at;
    break;
  case R4_SETTING_TEXT:
  case R4_SETTING_CHOICE:
    value->text = *(const char *const *)at;
    break;
  case R4_SETTING_REALS:
    value->text = list->word;
    value->n = list->n;
    value->reals = list->v;
    break;
  }
  return R4_OK;
}
