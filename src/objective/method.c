/* The table of methods, and what the program asks of it. */
#include <string.h>

#include "base/text.h"
#include "objective/objective.h"

#define PLAIN(identifier, name) {name, &method_##identifier},
#define PENALTY PLAIN
#define SUM(name) {name, NULL},
static struct {
  const char *name;
  const struct method *method; /* NULL: its parts are in the table */
} methods[] = {
#include "objective/methods.def"
  {NULL, NULL}, /* one that a test adds */
  {NULL, NULL},
};

enum { METHODS = sizeof methods / sizeof *methods - 2 };

#define PLAIN(identifier, name) name,
#define PENALTY PLAIN
#define SUM(name) name,
const char *method_words[] = {
#include "objective/methods.def"
  NULL, NULL};

#define PLAIN(identifier, name) name,
#define PENALTY PLAIN
#define SUM(name) name,
const char *method_choices[] = {"auto",
#include "objective/methods.def"
                                NULL, NULL};

void method_add(const char *name, const struct method *m)
{
  methods[METHODS].method = m;
  methods[METHODS].name = method_words[METHODS] = method_choices[METHODS + 1] = m ? name : NULL;
}

static char plain_letter(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '_' ? '-' : c;
}

bool method_is(const char *s, size_t n, const char *name)
{
  size_t k = 0;
  while (k < n && name[k] && plain_letter(s[k]) == name[k]) k++;
  return k == n && !name[k];
}

const char *method_name(const char *s, size_t n)
{
  for (size_t k = 0; methods[k].name; k++)
    if (method_is(s, n, methods[k].name)) return methods[k].name;
  return NULL;
}

const struct method *method_find(const char *name)
{
  for (size_t k = 0; methods[k].name; k++)
    if (!strcmp(methods[k].name, name)) return methods[k].method;
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

/* ---- What is known of it ---- */

static void add_part(r4_method_info *to, const char *name, const struct method *m)
{
  to->fills |= m->fills;
  to->texts |= m->texts;
  to->groups |= m->groups;
  to->waits |= m->waits;
  if (!m->term) return;
  if (m->form == R4_FORM_LOG) to->form = m->form;
  to->guided = true;
  to->pairs |= m->term->pairs;
  to->term[to->terms] = name;
  to->formula[to->terms] = m->formula ? m->formula : "";
  to->lambda[to->terms++] = m->lambda;
}

r4_method_info r4_method_describe(const char *method)
{
  r4_method_info to = {0};
  struct composition c;
  if (!composition_of(method, &c)) return to;
  for (size_t k = 0; k < c.parts; k++) add_part(&to, c.name[k], c.part[k]);
  if (c.parts == 1) to.about = c.part[0]->about ? c.part[0]->about : "";
  for (size_t k = 0; k < c.terms; k++) to.leads[k] = to.waits && !c.part[k]->waits;
  return to;
}

bool method_dies_of_penalty(const char *method)
{
  struct composition c;
  if (!composition_of(method, &c) || !c.terms) return false;
  for (size_t k = 0; k < c.terms; k++)
    if (c.part[k]->term->answers) return false;
  return true;
}

/* ---- Settings ---- */

static bool is_among(const char *word, const char *const *list)
{
  while (list && *list && strcmp(*list, word)) list++;
  return list && *list;
}

static bool term_uses(const struct term *t, const char *setting)
{
  if (!strcmp(setting, "penalty.mean")) return !t->over_masked;
  if (!strcmp(setting, "eps.ramp")) setting = "eps";
  return is_among(setting, t->settings);
}

static size_t count_users(const struct composition *c, const char *setting)
{
  size_t users = 0;
  for (size_t k = 0; k < c->terms; k++) users += term_uses(c->part[k]->term, setting);
  return users;
}

/* "penalty.norm=sum": all terms that look at the norm must know this one. */
static bool value_is_known(const struct composition *c, const char *value)
{
  char setting[32] = {0};
  size_t length = strcspn(value, "=");
  if (length >= sizeof setting) return false;
  memcpy(setting, value, length);
  size_t users = count_users(c, value);
  return users && users == count_users(c, setting);
}

static bool has_term(const struct composition *c, const char *name)
{
  for (size_t k = 0; k < c->terms; k++)
    if (!strcmp(c->name[k], name)) return true;
  return false;
}

bool r4_method_uses(const char *method, const char *setting)
{
  static const char *const of_all[] = {"lambda",        "penalty.ramp",  "delta",
                                       "penalty.after", "penalty.every", "penalty.form",
                                       "penalty.cap",   "guide",         NULL};
  static const char OF_TERM[] = "lambda.";
  struct composition c;
  if (!composition_of(method, &c)) return !strcmp(method, method_choices[0]); /* auto may take one that does */
  if (!strcmp(setting, "lambda_r3")) return c.terms > 1;
  if (!strcmp(setting, "group_step")) return c.part[0]->groups;
  if (!strncmp(setting, OF_TERM, sizeof OF_TERM - 1)) return has_term(&c, setting + sizeof OF_TERM - 1);
  if (strchr(setting, '=')) return value_is_known(&c, setting);
  return c.terms && (is_among(setting, of_all) || count_users(&c, setting));
}

bool method_replaces_words(const char *method)
{
  struct composition c;
  if (!composition_of(method, &c)) return false;
  for (size_t k = 0; k < c.terms; k++)
    if (term_uses(c.part[k]->term, "words.list") && !term_uses(c.part[k]->term, "box")) return true;
  return false;
}

bool method_has_noise_of_words(const char *method)
{
  struct composition c;
  return composition_of(method, &c) && count_users(&c, "words.list=vocabulary");
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
