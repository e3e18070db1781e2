/* Settings that matter only beside others, as the table of settings says. One that was given and has no effect is
 * named: by an error where the result would be something else than what was asked for, otherwise by a sentence.
 *
 * What is given later overrides what was given before: a file its base, --set a file. So "--set method=erm" makes
 * nothing of what the file says wrong. */
#include <string.h>

#include "base/text.h"
#include "config/settings.h"
#include "data/known/recipe.h"
#include "objective/objective.h"

static bool is_among(const char *const *words, const char *word)
{
  while (*words && strcmp(*words, word)) words++;
  return *words;
}

/* A method, or one of its parts. */
static bool has_one_of(const char *const *words, const char *method)
{
  r4_method_info m = r4_method_describe(method);
  for (size_t k = 0; k < m.terms; k++)
    if (is_among(words, m.term[k])) return true;
  return is_among(words, method);
}

static bool holds(const struct setting *t, const struct used_if *f, const r4_settings *s)
{
  r4_setting_value v;
  r4_settings_get(s, f->decider, &v, NULL);
  switch (f->condition) {
  case ALWAYS:
    return true;
  case USED:
    return r4_method_uses(v.text, t->info.key);
  case ONE_OF:
    return is_among(f->words, v.text);
  case HAS_ONE_OF:
    return has_one_of(f->words, v.text);
  case NONE_OF:
    return !is_among(f->words, v.text);
  case GIVEN:
    return *v.text;
  case DRAWN: /* it is empty, or there is a head */
    return !*v.text || *s->values.head;
  case IS_0:
    return v.real == 0;
  case ABOVE_0:
    return v.real > 0 || v.text;
  case BELOW_1:
    return v.real < 1;
  case LOG_BY_DEFAULT: /* or the form is stated */
    return strcmp(s->values.form, "default") || r4_method_describe(v.text).form == R4_FORM_LOG;
  case RECIPE:
    return !*v.text || recipe_exists(v.text);
  }
  return true;
}

/* Its value is a way to say "no". */
static bool asks_for_nothing(const struct setting *t, const r4_settings *s)
{
  static const char *const no[] = {"0", "false", "\"\"", "[]", "none", "default", NULL};
  char *value = setting_text(t, s);
  bool all_correct = !strcmp(t->info.key, "data.correct") && s->values.data.correct == 1;
  bool nothing = all_correct || (value && is_among(no, value));
  r4_string_free(value);
  return nothing;
}

/* It was given where its decider was known: in the same place, or after it. */
static bool was_meant(const struct setting *t, const struct used_if *f, const r4_settings *s)
{
  int key = s->layer[setting_number(t)];
  return key && key >= s->layer[setting_number(setting_find(f->decider))] && !asks_for_nothing(t, s);
}

/* The values of the decider that a setting is for; empty if they are too many to name. */
static char *wanted(const struct setting *t, const struct used_if *f)
{
  enum { FEW = 4 };
  struct text list = {0};
  size_t users = 0;
  for (size_t k = 0; f->condition == USED && r4_method_name(k); k++)
    users += r4_method_uses(r4_method_name(k), t->info.key);
  if (users && users <= FEW) return method_list(t->info.key);
  bool listed = f->condition == ONE_OF || f->condition == HAS_ONE_OF;
  for (size_t k = 0; listed && f->words[k]; k++)
    text_add(&list, "%s%s", !k ? "" : f->words[k + 1] ? ", " : " and ", f->words[k]);
  return text_take(&list);
}

static r4_status say(const struct setting *t, const struct used_if *f, const r4_settings *s, r4_error *e)
{
  char *words = wanted(t, f), *value = setting_text(setting_find(f->decider), s);
  bool some = words && *words;
  r4_fail(e, R4_E_ARGUMENT, "%s has no effect, as %s is %.100s%s%s%s", setting_label(s, t->info.key).text,
          setting_label(s, f->decider).text, value ? value : "",
          f->condition == RECIPE ? ", which is not a recipe" : "", some ? ": it is for " : "",
          some ? words : "");
  r4_string_free(words);
  r4_string_free(value);
  return R4_E_ARGUMENT;
}

/* The condition of this setting that does not hold, of those that refuse or of the others; NULL: none. */
static const struct used_if *missing(const struct setting *t, const r4_settings *s, bool refuse)
{
  for (const struct used_if *f = t->used_if; f < t->used_if + CONDITIONS_MOST && f->decider; f++)
    if (f->refuse == refuse && !holds(t, f, s) && was_meant(t, f, s)) return f;
  return NULL;
}

/* Says it of the k-th setting without an effect; false if there are not as many. */
static bool say_missing(const r4_settings *s, bool refuse, size_t k, r4_error *e)
{
  const struct setting *t;
  const struct used_if *f;
  for (size_t i = 0; (t = setting_at(i)); i++)
    if ((f = missing(t, s, refuse)) && !k--) return say(t, f, s, e);
  return false;
}

r4_status settings_check_effects(const r4_settings *s, r4_error *e)
{
  return say_missing(s, true, 0, e) ? R4_E_ARGUMENT : R4_OK;
}

bool r4_settings_idle(const r4_settings *s, size_t k, r4_error *to)
{
  r4_error_clear(to);
  return say_missing(s, false, k, to);
}
