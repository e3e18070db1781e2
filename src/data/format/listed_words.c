/* In how many texts each word of a list is: what it would mask. */
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "data/format/texts.h"

struct r4_listed_words {
  struct mark_words words;
  size_t classes, texts;
  size_t *of_class; /* [words, classes] */
  size_t *all;      /* [words]          */
};

void r4_listed_words_free(r4_listed_words *w)
{
  if (!w) return;
  mark_words_free(&w->words);
  r4_mem_free(w->of_class);
  r4_mem_free(w->all);
  r4_mem_free(w);
}

/* of_class[w, c] = |{texts of class c that have w}|: a text counts once, however often it has the word. */
static void count_text(r4_listed_words *w, const r4_data *d, size_t i, const struct tokenizer *t,
                       uint8_t *mask)
{
  size_t length = column_length(data_x(d), d->record[i].row);
  const int32_t *id = column_row(data_x(d), d->record[i].row);
  bool any = false;
  for (size_t k = 0; k < w->words.n; k++) w->words.at[k].found = 0;
  mark_words_find(&w->words, t, id, length, mask);
  for (size_t k = 0; k < w->words.n; k++) {
    if (!w->words.at[k].found) continue;
    any = true;
    w->all[k]++;
    w->of_class[k * w->classes + (size_t)d->record[i].label]++;
  }
  w->texts += any;
}

static r4_status count(r4_listed_words *w, const r4_data *d, const struct tokenizer *t, r4_error *e)
{
  size_t longest = 1;
  for (size_t i = 0; i < d->n; i++) {
    size_t length = column_length(data_x(d), d->record[i].row);
    longest = length > longest ? length : longest;
  }
  uint8_t *mask = mem_new(longest, 1, "a text", e);
  if (!mask) return R4_E_MEMORY;
  for (size_t i = 0; i < d->n; i++) count_text(w, d, i, t, mask);
  r4_mem_free(mask);
  return R4_OK;
}

static r4_status make(r4_listed_words *w, const r4_data *d, const char *list, const struct tokenizer *t,
                      r4_error *e)
{
  if ((int64_t)tokenizer_size(t) != r4_data_vocabulary(d))
    return r4_fail(e, R4_E_ARGUMENT,
                   "the texts are of a vocabulary of %lld pieces, and the tokenizer has %lld",
                   (long long)r4_data_vocabulary(d), (long long)tokenizer_size(t));
  r4_status s = mark_words_take(&w->words, "a list of words", list, t, e);
  w->classes = d->classes->n;
  if (!s && !(w->of_class = mem_new(w->words.n * w->classes + 1, sizeof *w->of_class, "a list of words", e)))
    s = R4_E_MEMORY;
  if (!s && !(w->all = mem_new(w->words.n + 1, sizeof *w->all, "a list of words", e))) s = R4_E_MEMORY;
  return s ? s : count(w, d, t, e);
}

r4_listed_words *r4_listed_words_count(const r4_data *d, const char *list, const r4_data_options *options,
                                       r4_error *e)
{
  NEEDS(d, "data", NULL);
  NEEDS(list, "a list of words", NULL);
  if (!data_x(d)->is->ids) {
    r4_fail(e, R4_E_ARGUMENT, "words are counted in texts, and the examples are none");
    return NULL;
  }
  struct tokenizer *t =
    texts_tokenizer(options ? options->tokenizer : NULL, options ? options->folder : NULL, e);
  r4_listed_words *w = t ? mem_new(1, sizeof *w, "a list of words", e) : NULL;
  r4_status s = w ? make(w, d, list, t, e) : R4_E_MEMORY;
  tokenizer_free(t);
  if (!s) return w;
  r4_listed_words_free(w);
  return NULL;
}

size_t r4_listed_words_size(const r4_listed_words *w)
{
  return w ? w->words.n : 0;
}

size_t r4_listed_words_texts(const r4_listed_words *w)
{
  return w ? w->texts : 0;
}

r4_listed_word r4_listed_words_at(const r4_listed_words *w, size_t k)
{
  if (!w || k >= w->words.n) return (r4_listed_word){0};
  return (r4_listed_word){w->words.at[k].word, w->words.at[k].n > 0, w->all[k], w->of_class + k * w->classes};
}
