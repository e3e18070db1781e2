/* Words that are neither a command nor a setting nor a method, though somebody may ask for help about them: what they
 * are, and where there is more. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "help.h"

static bool is_recipe(const char *word)
{
  for (size_t k = 0; k < r4_recipe_count(); k++) {
    r4_recipe_info r = r4_recipe_describe(k);
    if (strcmp(r.name, word)) continue;
    printf("%s: %s\n\nA recipe for data: r4 data make %s, or \"data: %s\" in a file of settings.\n"
           "All data: r4 data list    The presets and tables of some: r4 help train, r4 help reproduce\n",
           r.name, r.about, r.name, r.name);
    return true;
  }
  return false;
}

static bool is_known(const char *word)
{
  const r4_known *x;
  for (size_t k = 0; (x = r4_known_at(k)); k++) {
    if (strcmp(x->name, word)) continue;
    printf("%s: %s\n\nData: r4 data get %s    All data: r4 data list\n", x->name, x->about, x->name);
    return true;
  }
  return false;
}

/* "kappa_masked" is what they mean who ask for kappa. */
static bool is_figure(const char *word)
{
  size_t n = strlen(word), found = 0;
  for (size_t k = 0; k < r4_figure_count(); k++) {
    r4_figure_info f = r4_figure_describe(k);
    if (strncmp(f.key, word, n) || (f.key[n] && f.key[n] != '_')) continue;
    printf("%s: %s\n", f.key, f.about);
    found++;
  }
  if (found) printf("\nr4 eval RUN measures it; doc/figures.md has the formulas.\n");
  return found;
}

static const struct {
  const char *word, *text;
} others[] = {
  {"masks", "Masks say where content must not matter: 1 where nothing may, 0 where all may.\n\n"
            "Where they come from: doc/data.md. What white means in yours: r4 help data.mask_means. To draw them: r4 "
            "serve.\nWhich method fits them: r4 help methods, r4 help method"},
  {"settings", "r4 help train lists what most users change, r4 help train --all all of them"},
  {"presets", "Files of settings in experiments/, such as decoy-mnist/cert-r4: r4 help train"},
  {"figures", "r4 eval RUN prints them; doc/figures.md has the formulas"},
  {"recipes", "r4 data list"},
  {NULL, NULL}};

bool help_elsewhere(const char *word)
{
  if (is_recipe(word) || is_known(word) || is_figure(word)) return true;
  for (size_t k = 0; others[k].word; k++) {
    size_t n = strlen(word);
    bool one_of_them = !strncmp(others[k].word, word, n) && !strcmp(others[k].word + n, "s");
    if (strcmp(others[k].word, word) && !one_of_them) continue;
    printf("%s\n", others[k].text);
    return true;
  }
  return false;
}
