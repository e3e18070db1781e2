/* The table of methods, and what the program asks of it. */
#include <string.h>

#include "base/text.h"
#include "objective/objective.h"

#define METHOD(identifier, name) &method_##identifier,
static const struct method *methods[] = {
#include "objective/methods.def"
  NULL, /* one that a test adds */
};
#undef METHOD

#define METHOD(identifier, name) name,
const char *method_words[] = {
#include "objective/methods.def"
  NULL, NULL};
const char *method_choices[] = {"auto",
#include "objective/methods.def"
                                NULL, NULL};
#undef METHOD

enum { METHODS = sizeof methods / sizeof *methods - 1 };

void method_add(const char *name, const struct method *m)
{
  methods[METHODS] = m;
  method_words[METHODS] = method_choices[METHODS + 1] = m ? name : NULL;
}

const struct method *method_find(const char *name)
{
  for (size_t k = 0; method_words[k]; k++)
    if (!strcmp(method_words[k], name)) return methods[k];
  return NULL;
}

size_t r4_method_count(void)
{
  size_t n = 0;
  while (method_words[n]) n++;
  return n;
}

const char *r4_method_name(size_t k)
{
  return k < r4_method_count() ? method_words[k] : NULL;
}

/* One of its terms compares examples with their filled selves. */
static bool pairs(const struct method *m)
{
  for (size_t k = 0; k < METHOD_TERMS && m->term[k]; k++)
    if (m->term[k]->pairs) return true;
  return false;
}

r4_method_info r4_method_describe(const char *method)
{
  const struct method *m = method_find(method);
  if (!m) return (r4_method_info){0};
  return (r4_method_info){.guided = m->term[0] != NULL,
                          .fills = m->fills,
                          .waits = m->waits,
                          .texts = m->texts,
                          .pairs = pairs(m),
                          .groups = m->groups,
                          .lambda = m->lambda,
                          .lambda_r3 = m->lambda_r3,
                          .form = m->form};
}

bool method_dies_of_penalty(const char *method)
{
  const struct method *m = method_find(method);
  return m && m->term[0] && !m->term[0]->answers;
}

/* ---- Settings ---- */

static bool is_among(const char *word, const char *const *list)
{
  while (list && *list && strcmp(*list, word)) list++;
  return list && *list;
}

static bool term_uses(const struct term *t, const char *setting)
{
  if (!strcmp(setting, "penalty_mean")) return !t->over_masked;
  if (!strcmp(setting, "eps_ramp")) setting = "eps";
  return is_among(setting, t->settings);
}

bool r4_method_uses(const char *method, const char *setting)
{
  static const char *const of_all[] = {
    "lambda", "lambda_ramp", "delta", "penalty_after", "penalty_every", "form", "guard", "guide", NULL};
  const struct method *m = method_find(method);
  if (!m) return !strcmp(method, method_choices[0]); /* auto may take one that does */
  if (!strcmp(setting, "lambda_r3")) return m->term[1];
  if (!strcmp(setting, "group_step")) return m->groups;
  for (size_t k = 0; k < METHOD_TERMS && m->term[k]; k++)
    if (is_among(setting, of_all) || term_uses(m->term[k], setting)) return true;
  return false;
}

char *method_list(const char *setting)
{
  struct text list = {0};
  size_t n = 0, said = 0;
  for (size_t k = 0; method_words[k]; k++) n += r4_method_uses(method_words[k], setting);
  for (size_t k = 0; method_words[k]; k++) {
    if (!r4_method_uses(method_words[k], setting)) continue;
    text_add(&list, "%s%s", !said ? "" : said + 1 < n ? ", " : " and ", method_words[k]);
    said++;
  }
  return text_take(&list);
}
