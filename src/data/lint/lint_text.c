/* What is probably wrong with texts. */
#include "base/c_locale.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/lint/giveaway_words.h"
#include "data/lint/lint.h"

enum { FIRST = 8 }; /* words that are named */

/* As it looks, or its id. */
static struct lint_name token_name(const r4_data *d, int32_t id)
{
  struct lint_name name;
  const char *piece = r4_data_piece(d, id);
  if (piece)
    c_locale_print(name.text, sizeof name.text, "\"%.40s\"", piece);
  else
    c_locale_print(name.text, sizeof name.text, "%d", (int)id);
  return name;
}

/* The most frequent one comes first. */
static void tell(struct lint *l, const r4_giveaway_word *word, size_t n)
{
  size_t first = 0, named = 0;
  struct text others = {0};
  for (size_t k = 1; k < n; k++)
    if (word[k].of_class > word[first].of_class) first = k;
  for (size_t k = 0; k < n && named < FIRST; k++)
    if (k != first)
      text_add(&others, "%s%s (%s)", named++ ? ", " : "; others: ", token_name(l->d, word[k].id).text,
               l->d->classes->name[word[k].label]);
  char *rest = text_take(&others);
  lint_tell(l, WARNING, "word-label",
            "%zu tokens give a class away where no mask covers them: %s is in %zu training texts, %zu of "
            "them of class %s%s",
            n, token_name(l->d, word[first].id).text, word[first].texts, word[first].of_class,
            l->d->classes->name[word[first].label], n > 1 && rest ? rest : "");
  r4_string_free(rest);
}

/* Telling tokens of which 95 % of the texts are of one class. */
void lint_words(struct lint *l)
{
  r4_giveaway_word *word = NULL;
  size_t all = 0, n = 0;
  r4_status s = giveaway_find(l->d, &word, &all, NULL);
  if (s) l->status = s;
  while (n < all && 20 * word[n].of_class >= 19 * word[n].texts) n++;
  if (n) tell(l, word, n);
  r4_mem_free(word);
}
