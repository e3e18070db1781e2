/* Settings of a run that is to go on, beside those it was begun with. */
#include <string.h>

#include "config/settings.h"

/* What makes all steps depend on the length of the run; NULL: nothing. */
static const char *length_matters(const struct settings *s)
{
  if (!strcmp(s->schedule, "linear") || !strcmp(s->schedule, "cosine")) return "schedule";
  return s->delta > 0 && s->delta_ramp == 0 && r4_method_describe(s->method).guided ? "delta.ramp" : NULL;
}

static r4_run_change change_of(const struct setting *t, const struct settings *now)
{
  bool decides = !t->harmless || (!strcmp(t->info.key, "epochs") && length_matters(now));
  return decides ? R4_RUN_OTHER : t->harmless;
}

bool setting_differs(const struct setting *t, const r4_settings *a, const r4_settings *b)
{
  char *x = setting_text(t, a), *y = setting_text(t, b);
  bool differs = !x || !y || strcmp(x, y);
  r4_string_free(x);
  r4_string_free(y);
  return differs;
}

static void describe(const struct setting *t, const r4_settings *was, const r4_settings *now, r4_error *to)
{
  const char *why = strcmp(t->info.key, "epochs") ? NULL : length_matters(&now->values);
  char *x = setting_text(t, was), *y = setting_text(t, now),
       *z = why ? setting_text(setting_find(why), now) : NULL;
  r4_fail(to, R4_E_ARGUMENT, "%s has changed from %.120s to %.120s%s%s%s%s", t->info.key, x ? x : "?", y ? y : "?",
          why ? ", which affects all steps with " : "", why ? why : "", why ? " " : "", z ? z : "");
  r4_string_free(x);
  r4_string_free(y);
  r4_string_free(z);
}

r4_run_change r4_settings_compare(const r4_settings *was, const r4_settings *now, r4_error *to)
{
  r4_run_change largest = R4_RUN_SAME;
  const struct setting *t;
  r4_error_clear(to);
  for (size_t k = 0; (t = setting_at(k)); k++) {
    if (!setting_differs(t, was, now) || change_of(t, &now->values) <= largest) continue;
    largest = change_of(t, &now->values);
    describe(t, was, now, to);
  }
  return largest;
}
