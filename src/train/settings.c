/* Settings as an object: defaults, --set, asking, and combinations that make no sense. */
#include "train/settings.h"

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

void r4_settings_free(r4_settings *s)
{
  if (!s) return;
  const struct setting *t;
  for (size_t k = 0; (t = setting_at(k)); k++) {
    r4_mem_free(s->origin[k]);
    if (t->info.type == R4_SETTING_TEXT) r4_mem_free(*(char **)((char *)&s->values + t->offset));
  }
  r4_mem_free(s->values.data.found.written);
  r4_mem_free(s->values.data.found.path);
  r4_mem_free(s);
}

/* ---- Changing ---- */

r4_status settings_note_origin(r4_settings *s, const struct setting *t, const char *where, r4_error *e)
{
  size_t bytes = strlen(where) + 1, k = setting_number(t);
  char *copy = r4_mem_new(bytes, 1);
  if (!copy) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", where);
  r4_mem_free(s->origin[k]);
  s->origin[k] = memcpy(copy, where, bytes);
  return R4_OK;
}

r4_status r4_settings_set(r4_settings *s, const char *assignment, const char *origin, r4_error *e)
{
  char key[64];
  size_t length = strcspn(assignment, "=");
  r4_error_clear(e);
  snprintf(key, sizeof key, "%.*s", length < sizeof key ? (int)length : (int)sizeof key, assignment);
  if (!assignment[length])
    return r4_fail(e, R4_E_ARGUMENT, "%s: \"%.60s\" has no value, expected key=value", origin, assignment);
  const struct setting *t = setting_find(key);
  if (!t) return setting_unknown(origin, key, e);
  r4_status status = setting_read(t, origin, assignment + length + 1, &s->values, e);
  return status ? status : settings_note_origin(s, t, origin, e);
}

/* ---- Asking ---- */

r4_status r4_settings_get(const r4_settings *s, const char *key, r4_setting_value *value, r4_error *e)
{
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
    break;
  case R4_SETTING_FLAG:
    value->flag = *(const bool *)at;
    break;
  case R4_SETTING_TEXT:
  case R4_SETTING_CHOICE:
    value->text = *(const char *const *)at;
    break;
  case R4_SETTING_REALS:
    value->n = list->n;
    value->reals = list->v;
    break;
  }
  return R4_OK;
}

/* ---- Combinations ---- */

/* "lambda (a.yaml:3:9)": a setting, and where its value comes from. */
struct label {
  char text[160];
};

static struct label label_of(const r4_settings *s, const char *key)
{
  struct label l;
  const char *origin = s->origin[setting_number(setting_find(key))];
  snprintf(l.text, sizeof l.text, "%s (%s)", key, origin ? origin : "default");
  return l;
}

#define LABEL(key) label_of(s, key).text

static r4_status check_weights(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  if (!r4_method_is_guided(v->method)) return R4_OK;
  if (!(v->lambda > 0 || v->delta > 0))
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is %s, but %s and %s are 0: nothing would be penalised, set one of them",
                   LABEL("method"), v->method, LABEL("lambda"), LABEL("delta"));
  if (!strcmp(v->method, "ibp-ex+r3") && !(v->lambda_r3 > 0))
    return r4_fail(e, R4_E_ARGUMENT, "%s is ibp-ex+r3, but %s is 0: it would be ibp-ex", LABEL("method"),
                   LABEL("lambda_r3"));
  return R4_OK;
}

static r4_status check_lists(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  const struct reals *range = &v->range, *at = &v->decay_at;
  if (range->n && !(range->n == 2 && range->v[0] < range->v[1]))
    return r4_fail(e, R4_E_ARGUMENT, "%s: expected two numbers, the lower one first, or none",
                   LABEL("range"));
  for (size_t k = 1; k < at->n; k++)
    if (!(at->v[k - 1] < at->v[k]))
      return r4_fail(e, R4_E_ARGUMENT, "%s: %g stands after %g, expected rising epochs", LABEL("decay_at"),
                     at->v[k], at->v[k - 1]);
  if (!strcmp(v->schedule, "steps") && !at->n)
    return r4_fail(e, R4_E_ARGUMENT, "%s is steps, but %s is empty: the rate would never fall",
                   LABEL("schedule"), LABEL("decay_at"));
  return R4_OK;
}

r4_status r4_settings_check(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  r4_error_clear(e);
  r4_status status = check_weights(s, e);
  if (!status) status = check_lists(s, e);
  if (status) return status;
  if (!strcmp(v->data.corrupt, "none") && v->data.correct < 1)
    return r4_fail(e, R4_E_ARGUMENT, "%s is %g, but %s is none: no mask would be made wrong",
                   LABEL("data.correct"), v->data.correct, LABEL("data.corrupt"));
  return R4_OK;
}
