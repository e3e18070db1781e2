#include "data/annotation/categories.h"

#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "base/text.h"

r4_status categories_read(struct categories *c, const char *list, r4_error *e)
{
  *c = (struct categories){0};
  if (!list || !*list) return R4_OK;
  if (!(c->text = mem_copy(list, e))) return R4_E_MEMORY;
  for (char *at = c->text, *next; at; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = 0;
    const char *word = csv_trim(at);
    if (c->n == CATEGORIES_MOST || !*word) {
      categories_clear(c);
      return r4_fail(e, R4_E_ARGUMENT,
                     "mask_categories is \"%.80s\", expected 1 to %d names, separated by commas", list,
                     CATEGORIES_MOST);
    }
    c->word[c->n++] = word;
  }
  return R4_OK;
}

void categories_clear(struct categories *c)
{
  r4_mem_free(c->text);
  *c = (struct categories){0};
}

/* Adds a label to the known ones, if it is new and there is room. */
static void remember(struct categories *c, const char *label)
{
  char quoted[64];
  if (snprintf(quoted, sizeof quoted, "\"%s\"", label) >= (int)sizeof quoted || strstr(c->known, quoted))
    return;
  size_t n = strlen(c->known);
  if (n + strlen(quoted) + 3 < sizeof c->known)
    snprintf(c->known + n, sizeof c->known - n, "%s%s", n ? ", " : "", quoted);
}

bool categories_want_also(struct categories *c, const char *label)
{
  for (size_t k = 0; k < c->n; k++)
    if (!strcmp(c->word[k], label)) return c->seen[k] = true;
  return false;
}

bool categories_want(struct categories *c, const char *label)
{
  remember(c, label);
  return categories_want_also(c, label) || !c->n;
}

r4_status categories_check(const struct categories *c, const char *file, r4_error *e)
{
  for (size_t k = 0; k < c->n; k++)
    if (!c->seen[k])
      return r4_fail(e, R4_E_ARGUMENT,
                     "%s: nothing is labelled \"%s\", which mask_categories asks for; there are %s", file,
                     c->word[k], *c->known ? c->known : "no labels");
  return R4_OK;
}
