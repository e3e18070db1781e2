/* Settings that matter only beside others. One table: a setting that was given and has no effect is named, by an error
 * where the result would be something else than what was asked for, otherwise by a sentence.
 *
 * What is given later overrides what was given before: a file its base, --set a file. So "--set method=erm" makes
 * nothing of what the file says wrong. */
#include <string.h>

#include "base/text.h"
#include "config/settings.h"
#include "data/known/recipe.h"
#include "objective/objective.h"

/* Of the setting that decides. */
enum condition { USED, ONE_OF, HAS_ONE_OF, NONE_OF, GIVEN, DRAWN, IS_0, ABOVE_0, BELOW_1, RECIPE, LOG_BY_DEFAULT };

struct effect {
  const char *key, *decider; /* key has an effect only if the decider is ... */
  enum condition condition;
  const char *const *words; /* ... one of these, or none; NULL ends them; USED: of the methods that use key */
  bool refuse;
};

#define OF(...) ((const char *const[]){__VA_ARGS__, NULL})

/* clang-format off */
static const struct effect effects[] = {
  {"data.from",    "data",         RECIPE,  NULL,       true},
  {"data.shades",  "data",         RECIPE,  NULL,       true},
  {"data.clean",   "data",         RECIPE,  NULL,       true},
  {"data.corrupt", "data.correct", BELOW_1, NULL,       true},
  {"data.correct", "data.corrupt", NONE_OF, OF("none"), true},

  {"init",        "from", DRAWN, NULL, false},
  {"head",        "from", GIVEN, NULL, false},
  {"head_epochs", "head", GIVEN, NULL, true},
  {"from_prefix", "from", GIVEN, NULL, false},
  {"from_ignore", "from", GIVEN, NULL, false},

  {"bound",         "method", HAS_ONE_OF, OF("auto", "cert-r4"), false},
  {"lambda",        "method", USED,    NULL,         false},
  {"penalty_mean",  "method", USED,    NULL,         false},
  {"guard",         "method", USED,    NULL,         false},
  {"lambda_r3",     "method", USED,    NULL,         false},
  {"lambda_r3",     "delta",  IS_0,    NULL,         true},
#define PENALTY(identifier, name)                   \
  {"lambda." name,  "method", USED,    NULL, false}, \
  {"lambda." name,  "delta",  IS_0,    NULL, true},
#include "objective/methods.def"
  {"guide",         "method", USED,    NULL,         false},
  {"guide_cells",   "guide",  GIVEN,   NULL,         false},
  {"penalty_after", "method", USED,    NULL,         false},
  {"penalty_every", "method", USED,    NULL,         false},
  {"lambda_ramp",   "method", USED,    NULL,         false},
  {"lambda_ramp",   "delta",  IS_0,    NULL,         true},
  {"delta",         "method", USED,    NULL,         false},
  {"delta_rate",    "delta",  ABOVE_0, NULL,         false},
  {"delta_ramp",    "delta",  ABOVE_0, NULL,         false},
  {"eps",           "method", USED,    NULL,         false},
  {"eps_ramp",      "method", USED,    NULL,         false},
  {"eps_ramp",      "eps",    ABOVE_0, NULL,         false},
  {"explain",       "method", USED,    NULL,         false},
  {"norm",          "method", USED,    NULL,         false},
  {"form",          "method", USED,    NULL,         false},
  {"form",          "delta",  IS_0,    NULL,         true},
  {"tau",           "delta",  IS_0,    NULL,         true},
  {"tau",           "method", LOG_BY_DEFAULT, NULL,  false},
  {"tau",           "form",   NONE_OF, OF("linear"), false},
  {"samples",       "method", USED,    NULL,         false},
  {"sample_max",    "method", USED,    NULL,         false},
  {"box",           "method", USED,    NULL,         false},
  {"words",         "method", USED,    NULL,         false},
  {"candidates",    "method", USED,    NULL,         false},
  {"steps",         "method", USED,    NULL,         false},
  {"alpha",         "method", USED,    NULL,         false},
  {"random_start",  "method", USED,    NULL,         false},
  {"range",         "method", USED,    NULL,         false},
  {"group_step",    "method", USED,    NULL,         false},
  {"group_weights", "method", NONE_OF, OF("group-dro"), true},

  {"augment.holes", "augment.cutout", ABOVE_0, NULL, false},

  {"momentum", "optimizer", ONE_OF,  OF("sgd"),           false},
  {"beta1",    "optimizer", ONE_OF,  OF("adam", "adamw"), false},
  {"beta2",    "optimizer", ONE_OF,  OF("adam", "adamw"), false},
  {"decay_at", "schedule",  ONE_OF,  OF("steps"),         false},
  {"decay_by", "schedule",  ONE_OF,  OF("steps"),         false},
  {"patience", "select",    NONE_OF, OF("last"),          false},
};
/* clang-format on */

enum { EFFECTS = sizeof effects / sizeof *effects };

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

static bool holds(const struct effect *f, const r4_settings *s)
{
  r4_setting_value v;
  r4_settings_get(s, f->decider, &v, NULL);
  switch (f->condition) {
  case USED:
    return r4_method_uses(v.text, f->key);
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
    return v.real > 0;
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
static bool was_meant(const struct effect *f, const r4_settings *s)
{
  const struct setting *t = setting_find(f->key);
  int key = s->layer[setting_number(t)];
  return key && key >= s->layer[setting_number(setting_find(f->decider))] && !asks_for_nothing(t, s);
}

/* The values of the decider that a setting is for; empty if they are too many to name. */
static char *wanted(const struct effect *f)
{
  enum { FEW = 4 };
  struct text list = {0};
  size_t users = 0;
  for (size_t k = 0; f->condition == USED && r4_method_name(k); k++)
    users += r4_method_uses(r4_method_name(k), f->key);
  if (users && users <= FEW) return method_list(f->key);
  bool listed = f->condition == ONE_OF || f->condition == HAS_ONE_OF;
  for (size_t k = 0; listed && f->words[k]; k++)
    text_add(&list, "%s%s", !k ? "" : f->words[k + 1] ? ", " : " and ", f->words[k]);
  return text_take(&list);
}

static r4_status say(const struct effect *f, const r4_settings *s, r4_error *e)
{
  char *words = wanted(f), *value = setting_text(setting_find(f->decider), s);
  bool some = words && *words;
  r4_fail(e, R4_E_ARGUMENT, "%s has no effect, as %s is %.100s%s%s%s", setting_label(s, f->key).text,
          setting_label(s, f->decider).text, value ? value : "",
          f->condition == RECIPE ? ", which is not a recipe" : "", some ? ": it is for " : "",
          some ? words : "");
  r4_string_free(words);
  r4_string_free(value);
  return R4_E_ARGUMENT;
}

/* The k-th effect that is missing, of those that are refused or of the others. */
static const struct effect *missing(const r4_settings *s, bool refuse, size_t k)
{
  for (const struct effect *f = effects; f < effects + EFFECTS; f++)
    if (f->refuse == refuse && !holds(f, s) && was_meant(f, s) && !k--) return f;
  return NULL;
}

r4_status settings_check_effects(const r4_settings *s, r4_error *e)
{
  const struct effect *f = missing(s, true, 0);
  return f ? say(f, s, e) : R4_OK;
}

bool r4_settings_idle(const r4_settings *s, size_t k, r4_error *to)
{
  const struct effect *f = missing(s, false, k);
  r4_error_clear(to);
  if (f) say(f, s, to);
  return f;
}
