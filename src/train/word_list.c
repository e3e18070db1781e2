#include "train/word_list.h"

#include <ctype.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "data/format/texts.h"
#include "objective/objective.h"
#include "train/task.h"

/* ---- Adding ---- */

static r4_status make_room(struct word_list *w, size_t n, r4_error *e)
{
  w->id = mem_new(n ? n : 1, sizeof *w->id, "a list of words", e);
  return w->id ? R4_OK : R4_E_MEMORY;
}

/* A token that is listed twice counts once. */
static bool add(struct word_list *w, int32_t id)
{
  for (size_t k = 0; k < w->n; k++)
    if (w->id[k] == (float)id) return false;
  w->id[w->n++] = (float)id;
  return true;
}

/* Room for the pieces of all words, one after the other. */
static r4_status make_whole(struct word_list *w, size_t n, r4_error *e)
{
  w->by_pieces.id[1] = w->whole = mem_new(n ? n : 1, sizeof *w->whole, "a list of words", e);
  return w->whole ? R4_OK : R4_E_MEMORY;
}

static void note(char first[48], size_t *count, const char *word)
{
  if (!(*count)++) c_locale_print(first, 48, "%.40s", word);
}

/* ---- Kinds of lists ---- */

/* All but padding, [CLS] and the like. */
static r4_status take_vocabulary(struct word_list *w, const r4_data *d, r4_error *e)
{
  size_t n = (size_t)r4_data_vocabulary(d);
  r4_status s = make_room(w, n, e);
  for (size_t k = 0; !s && k < n; k++) {
    const char *piece = d->pieces && k < d->pieces->n ? d->pieces->name[k] : "";
    size_t length = strlen(piece);
    bool special = length > 2 && piece[0] == '[' && piece[length - 1] == ']';
    if (!special) w->id[w->n++] = (float)k;
  }
  w->listed = w->n;
  return s;
}

/* The tokens that masks of training are of. */
static r4_status take_masked(struct word_list *w, const r4_data *d, r4_error *e)
{
  size_t n = (size_t)r4_data_vocabulary(d);
  uint8_t *seen = mem_new(n, 1, "words", e);
  r4_status s = seen ? make_room(w, n, e) : R4_E_MEMORY;
  for (size_t i = 0; !s && i < d->n; i++) {
    const uint8_t *mask = d->record[i].split == R4_TRAIN ? data_mask_bytes(d, i) : NULL;
    for (size_t k = 0; mask && k < r4_data_length(d, i); k++)
      if (mask[k]) seen[(size_t)column_value(data_x(d), d->record[i].row, k)] = 1;
  }
  for (size_t k = 0; !s && k < n; k++)
    if (seen[k]) w->id[w->n++] = (float)k;
  w->listed = w->n;
  r4_mem_free(seen);
  return s;
}

static bool all_numbers(const char *list)
{
  size_t digits = strspn(list, "0123456789, ;\t");
  return *list && !list[digits];
}

static r4_status take_ids(struct word_list *w, const char *list, const r4_data *d, r4_error *e)
{
  r4_status s = make_room(w, strlen(list), e);
  if (!s) s = make_whole(w, strlen(list), e);
  for (const char *c = list; !s && *c;) {
    if (!isdigit((unsigned char)*c)) {
      c++;
      continue;
    }
    int64_t id = 0;
    for (; isdigit((unsigned char)*c) && id < INT32_MAX / 10; c++) id = 10 * id + (*c - '0');
    if (isdigit((unsigned char)*c) || id >= r4_data_vocabulary(d))
      return r4_fail(e, R4_E_ARGUMENT, "words.list: id %lld, expected 0 to %lld, as the data have them",
                     (long long)id, (long long)r4_data_vocabulary(d) - 1);
    w->listed++;
    if (add(w, (int32_t)id)) w->whole[w->by_pieces.count[1]++] = (int32_t)id;
  }
  return s;
}

/* Those with n pieces behind the ids that are there already; each once. Returns how many ids were added. */
static size_t add_whole(struct word_list *w, const struct mark_words *words, size_t n, int32_t *to)
{
  size_t found = 0;
  for (size_t k = 0; k < words->n; k++) {
    const struct mark_word *one = &words->at[k];
    bool is_new = one->n == n;
    for (size_t i = 0; i < found && is_new; i++) is_new = memcmp(to + i * n, one->id, n * sizeof *to);
    if (is_new) memcpy(to + found++ * n, one->id, n * sizeof *to);
  }
  w->by_pieces.count[n] = found;
  w->by_pieces.id[n] = to;
  return found * n;
}

static void count_words(struct word_list *w, const struct mark_words *words)
{
  w->listed = words->n;
  for (size_t k = 0; k < words->n; k++) {
    const struct mark_word *one = &words->at[k];
    if (!one->n) note(w->first_unknown, &w->unknown, one->word);
    if (one->n > 1) note(w->first_several, &w->several, one->word);
  }
}

/* whole: id gets the pieces of all words, otherwise words of one piece alone. */
static r4_status take_words(struct word_list *w, const struct mark_words *words, bool whole, r4_error *e)
{
  size_t pieces = 0, used = 0;
  for (size_t k = 0; k < words->n; k++) pieces += words->at[k].n;
  r4_status s = make_room(w, pieces, e);
  if (!s) s = make_whole(w, pieces, e);
  if (s) return s;
  count_words(w, words);
  for (size_t n = 1; n <= MOST_PIECES; n++) used += add_whole(w, words, n, w->whole + used);
  for (size_t k = 0; k < (whole ? used : w->by_pieces.count[1]); k++) add(w, w->whole[k]);
  return R4_OK;
}

static r4_status from_text(struct word_list *w, const char *list, const struct settings *s, const r4_data *d,
                           bool whole, r4_error *e)
{
  struct mark_words words = {0};
  struct tokenizer *t = texts_tokenizer(task_place(s, s->data.tokenizer), NULL, e);
  if (!t) return e->status;
  r4_status status = R4_OK;
  if (r4_data_vocabulary(d) > tokenizer_size(t))
    status =
      r4_fail(e, R4_E_ARGUMENT, "words.list: the data have ids up to %lld, but the tokenizer has %lld pieces",
              (long long)r4_data_vocabulary(d) - 1, (long long)tokenizer_size(t));
  if (!status) status = mark_words_read(&words, "words.list", task_place(s, list), t, e);
  if (!status) status = take_words(w, &words, whole, e);
  mark_words_free(&words);
  tokenizer_free(t);
  return status;
}

/* ---- The setting ---- */

/* Bounds of the method are over words. */
static bool has_word_box(const struct settings *s)
{
  return r4_method_uses(s->method, "box") && !strcmp(s->box, "words");
}

/* auto: what masks are of, where masked words are replaced. */
static const char *meant(const struct settings *s)
{
  bool noise = method_has_noise_of_words(s->method);
  if (strcmp(s->words, "auto")) return s->words;
  if (!noise && *s->data.mask_words) return s->data.mask_words;
  return has_word_box(s) ? "masked" : "batch";
}

static bool is_source(const char *words)
{
  return !strcmp(words, "auto") || !strcmp(words, "batch") || !strcmp(words, "vocabulary");
}

static r4_status take_list(struct word_list *w, const char *list, const struct settings *s, const r4_data *d,
                           bool whole, r4_error *e)
{
  if (!*list)
    return r4_fail(e, R4_E_ARGUMENT, "words.list is empty, expected auto, batch, or words or a file of them");
  return !d->pieces && all_numbers(list) ? take_ids(w, list, d, e) : from_text(w, list, s, d, whole, e);
}

/* Whether the method has anything to do with words: those with boxes do if these are of words. */
static bool wants_words(const struct settings *s)
{
  return method_replaces_words(s->method) || has_word_box(s);
}

/* Tokens are replaced one by one, and no word is one. Those that masks are of are in the batch as well. */
static r4_status none_fits(struct word_list *w, const struct settings *s, r4_error *e)
{
  r4_mem_free(w->id);
  w->id = NULL;
  if (!strcmp(s->words, "auto")) return R4_OK;
  return r4_fail(
    e, R4_E_ARGUMENT,
    "words.list: none of %zu words is one piece of the tokenizer, as a masked token is (\"%s\" is several)",
    w->listed, w->first_several);
}

r4_status word_list_open(struct word_list *w, const struct settings *s, const r4_data *d, r4_error *e)
{
  *w = (struct word_list){0};
  if (!wants_words(s)) return R4_OK;
  bool boxed = has_word_box(s);
  if (boxed && !r4_data_vocabulary(d)) return r4_fail(e, R4_E_ARGUMENT, "box: words is for texts");
  if (!r4_data_vocabulary(d)) return R4_OK;
  const char *list = meant(s);
  if (boxed && !strcmp(list, "masked")) return take_masked(w, d, e);
  if (boxed && is_source(list))
    return r4_fail(e, R4_E_ARGUMENT, "box is words, and words.list is %s: expected a list, or a file of them",
                   s->words);
  if (!strcmp(list, "batch")) return R4_OK;
  if (strcmp(list, "vocabulary")) {
    r4_status status = take_list(w, list, s, d, boxed, e);
    return status || w->n ? status : none_fits(w, s, e);
  }
  if (r4_method_uses(s->method, "words.list=vocabulary")) return take_vocabulary(w, d, e);
  return r4_fail(e, R4_E_ARGUMENT,
                 "words.list: vocabulary is for word-smooth-r3: %s needs a list, or batch",
                 s->method);
}

r4_status word_list_named(struct word_list *w, const struct settings *s, const r4_data *d, r4_error *e)
{
  const char *list = is_source(s->words) ? s->data.mask_words : s->words;
  *w = (struct word_list){0};
  return *list && r4_data_vocabulary(d) ? take_list(w, list, s, d, true, e) : R4_OK;
}

void word_list_close(struct word_list *w)
{
  r4_mem_free(w->id);
  r4_mem_free(w->whole);
  *w = (struct word_list){0};
}

r4_status r4_settings_words(const r4_settings *s, const r4_data *d, r4_word_ids *to, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  struct word_list w;
  *to = (r4_word_ids){0};
  r4_status status = word_list_named(&w, &s->values, d, e);
  if (!status && !w.n)
    status = r4_fail(e, R4_E_ARGUMENT, "there is no list of words: expected texts, and words.list or data.mask_words");
  if (!status && !(to->id = mem_new(w.n, sizeof *to->id, "a list of words", e))) status = R4_E_MEMORY;
  for (size_t k = 0; k < w.n && !status; k++) to->id[k] = (int32_t)w.id[k];
  to->n = status ? 0 : w.n;
  to->listed = w.listed;
  to->unknown = w.unknown;
  memcpy(to->first_unknown, w.first_unknown, sizeof to->first_unknown);
  word_list_close(&w);
  return status;
}

void r4_word_ids_free(r4_word_ids *w)
{
  if (!w) return;
  r4_mem_free(w->id);
  *w = (r4_word_ids){0};
}
