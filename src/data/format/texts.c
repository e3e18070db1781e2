#include "data/format/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "data/catalog/catalog.h"
#include "data/format/folder_scan.h"
#include "data/format/whole_open.h"
#include "text/unicode.h"

enum { TOKENS_USUAL = 512 };

/* ---- Opening ---- */

static const char USUAL[] = "minilm";

/* Where it is, in new memory: got by name, or a path. NULL when out of memory. */
static char *tokenizer_place(const char *named, const char *folder, r4_error *e)
{
  r4_error none = {0};
  const char *name = named && *named ? named : USUAL;
  char *all = folder ? file_join(folder, "", NULL) : r4_data_folder(&none),
       *got = all ? file_join(all, name, NULL) : NULL;
  bool is_got = got && catalog_find(name) && file_exists(got);
  char *place = is_got ? got : mem_copy(name, e);
  r4_mem_free(all);
  if (!is_got) r4_mem_free(got);
  return place;
}

struct tokenizer *texts_tokenizer(const char *named, const char *folder, r4_error *e)
{
  char *place = tokenizer_place(named, folder, e);
  struct tokenizer *t = NULL;
  if (place && file_exists(place))
    t = tokenizer_open(place, e);
  else if (place)
    r4_fail(e, R4_E_IO,
            "texts need a tokenizer, and %s is not there: r4 data get minilm, or name one (tokenizer)", place);
  r4_mem_free(place);
  return t;
}

/* All that is in the folder of a tokenizer: which of it is read is the tokenizer's affair. */
static r4_status list_tokenizer(const char *place, struct names *to, r4_error *e)
{
  struct names *files = NULL;
  if (!file_is_folder(place)) return names_add(to, place, NULL, e);
  r4_status s = folder_scan(place, "", false, &files, e);
  for (size_t k = 0; !s && k < files->n; k++) {
    char *file = file_join(place, files->name[k], e);
    s = file ? names_add(to, file, NULL, e) : R4_E_MEMORY;
    r4_mem_free(file);
  }
  names_drop(files);
  return s;
}

r4_status texts_list_files(const r4_data_options *options, struct names *to, r4_error *e)
{
  char *place = tokenizer_place(options->tokenizer, options->folder, e);
  r4_status s = place ? list_tokenizer(place, to, e) : R4_E_MEMORY;
  if (!s && options->mask_words && file_exists(options->mask_words)) s = names_add(to, options->mask_words, NULL, e);
  r4_mem_free(place);
  return s;
}

r4_status texts_open(struct texts *t, const char *source, const r4_data_options *options, r4_error *e)
{
  *t = (struct texts){.source = source, .options = options, .listing = {.folder = source}};
  if (options->length < 0 || options->length > 1 << 20 || options->length == 1 || options->length == 2)
    return r4_fail(e, R4_E_ARGUMENT, "%s: length %lld, expected 0, or 3 to %d tokens", source,
                   (long long)options->length, 1 << 20);
  t->most = options->length ? (size_t)options->length : TOKENS_USUAL;
  t->tokenizer = texts_tokenizer(options->tokenizer, options->folder, e);
  if (!t->tokenizer) return e && e->status ? e->status : R4_E_IO;
  t->start = tokenizer_id(t->tokenizer, "[CLS]");
  t->end = tokenizer_id(t->tokenizer, "[SEP]");
  t->padding = tokenizer_id(t->tokenizer, "[PAD]");
  if (!options->mask_words || !*options->mask_words) return R4_OK;
  if (options->mask_means == R4_MASKS_RELEVANT)
    return r4_fail(e, R4_E_ARGUMENT, "%s: mask_words must not matter, and mask_means says relevant", source);
  return mark_words_read(&t->words, "mask_words", options->mask_words, t->tokenizer, e);
}

void texts_close(struct texts *t)
{
  tokenizer_free(t->tokenizer);
  tokens_free(&t->room);
  mark_words_free(&t->words);
  listing_clear(&t->listing);
  r4_mem_free(t->id);
  r4_mem_free(t->mask);
  r4_mem_free(t->at);
  r4_mem_free(t->whole);
}

/* ---- Adding ---- */

static r4_status make_room(struct texts *t, size_t more, r4_error *e)
{
  if (t->tokens + more > t->token_room) {
    size_t room = 2 * (t->tokens + more);
    int32_t *id = mem_grow(t->id, room, sizeof *id, t->source, e);
    if (id) t->id = id;
    uint8_t *mask = id ? mem_grow(t->mask, room, 1, t->source, e) : NULL;
    if (!mask) return R4_E_MEMORY;
    t->mask = mask;
    t->token_room = room;
  }
  if (t->texts + 2 > t->at_room) {
    size_t room = t->at_room ? 2 * t->at_room : 1024;
    size_t *at = mem_grow(t->at, room, sizeof *at, t->source, e);
    if (at) t->at = at;
    uint32_t *whole = at ? mem_grow(t->whole, room, sizeof *whole, t->source, e) : NULL;
    if (!whole) return R4_E_MEMORY;
    t->whole = whole;
    t->at_room = room;
  }
  return R4_OK;
}

/* A token is masked if some of its bytes are marked. */
static bool is_marked(const struct marks *m, const struct token *token)
{
  for (size_t k = 0; m && k < m->n; k++)
    if (token->from < m->at[k].to && token->to > m->at[k].from) return true;
  return false;
}

/* [CLS], as many tokens of the text as there is room for, [SEP]. */
static void keep_tokens(struct texts *t, const struct marks *marks)
{
  int32_t *id = t->id + t->tokens;
  uint8_t *mask = t->mask + t->tokens;
  const bool relevant = t->options->mask_means == R4_MASKS_RELEVANT && marks && marks->n;
  size_t n = 0, room = t->most - (t->start >= 0) - (t->end >= 0), first, masked = 0;
  t->cut += t->room.n > room;
  t->whole[t->texts] = (uint32_t)(t->room.n + t->most - room);
  if (t->start >= 0) mask[n] = 0, id[n++] = t->start;
  first = n;
  for (size_t k = 0; k < t->room.n && k < room; k++, n++) {
    id[n] = t->room.token[k].id;
    mask[n] = is_marked(marks, &t->room.token[k]) != relevant ? 255 : 0;
  }
  mark_words_find(&t->words, t->tokenizer, id + first, n - first, mask + first);
  for (size_t k = first; k < n; k++) masked += mask[k] > 0;
  if (t->end >= 0) mask[n] = 0, id[n++] = t->end;
  t->marked += marks && marks->n;
  t->lost += marks && marks->n && !masked;
  if (n > t->longest) t->longest = n;
  t->at[t->texts] = t->tokens;
  t->tokens += n;
  t->at[++t->texts] = t->tokens;
}

/* Blanks, and what stands for nothing. A mark without a letter is no token either, but somebody wrote it. */
static bool is_blank(const char *text)
{
  for (uint32_t code; *text;) {
    text += utf8_next(text, &code);
    enum unicode_class class = unicode_class(code);
    if (class != UNICODE_SPACE && class != UNICODE_REMOVED) return false;
  }
  return true;
}

/* Special tokens alone are a text, no tokens are none. */
static bool is_empty(const struct texts *t, const char *text)
{
  return !t->room.n && ((t->start < 0 && t->end < 0) || is_blank(text));
}

r4_status texts_add(struct texts *t, const struct listed *one, const char *text, const struct marks *marks,
                    const char *where, r4_error *e)
{
  r4_error inner = {0};
  if (!one->label || !*one->label) return r4_fail(e, R4_E_PARSE, "%s: the label is empty", where);
  if (!utf8_valid(one->label) || (one->group && !utf8_valid(one->group)))
    return r4_fail(e, R4_E_PARSE, "%s: the label or the group is not UTF-8", where);
  if (one->group && !*one->group) return r4_fail(e, R4_E_PARSE, "%s: the group is empty", where);
  if (marks && marks->n && t->options->mask_means == R4_MASKS_UNSTATED)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s: has marks: mask_means must say whether these are irrelevant or relevant (--mask-means "
                   "irrelevant; in settings data.mask_means: irrelevant)", where);
  r4_status s = tokenize(t->tokenizer, text, strlen(text), &t->room, &inner);
  if (s) return r4_fail(e, s, "%s: the text: %s", where, inner.text);
  if (is_empty(t, text)) return r4_fail(e, R4_E_PARSE, "%s: the text is empty", where);
  s = make_room(t, (t->room.n < t->most ? t->room.n : t->most) + 2, e);
  if (!s) s = listing_add(&t->listing, one, e);
  if (!s) keep_tokens(t, marks);
  return s;
}

/* ---- The data set ---- */

static struct column *tokens_column_of(const struct texts *t, r4_error *e)
{
  size_t width = t->options->length ? t->most : t->longest;
  struct column *c = column_new_in(whole_room(t->options), &tokens_column, R4_SHAPE((int64_t)width), t->texts, e);
  if (!c) return NULL;
  c->number[0] = (double)tokenizer_size(t->tokenizer);
  c->number[1] = t->padding < 0 ? 0 : t->padding;
  for (size_t i = 0; i < t->texts; i++) {
    int32_t *to = column_row(c, i);
    size_t n = t->at[i + 1] - t->at[i];
    memcpy(to, t->id + t->at[i], n * sizeof *to);
    for (size_t k = n; k < width; k++) to[k] = (int32_t)c->number[1];
    c->length[i] = (uint32_t)n;
  }
  return c;
}

static r4_status set_masks(const struct texts *t, r4_data *d, r4_error *e)
{
  size_t width = data_x(d)->features;
  uint8_t *row = mem_new(width, 1, t->source, e);
  struct masks *m = row ? masks_new(width, e) : NULL;
  r4_status s = m ? R4_OK : R4_E_MEMORY;
  for (size_t i = 0; !s && i < t->texts; i++) {
    size_t n = t->at[i + 1] - t->at[i];
    memset(row, 0, width);
    memcpy(row, t->mask + t->at[i], n);
    s = masks_add(m, row, &d->record[i].mask, e);
  }
  r4_mem_free(row);
  if (s)
    masks_drop(m);
  else
    data_set_masks(d, m);
  return s;
}

static r4_status add_pieces(const struct texts *t, r4_data *d, r4_error *e)
{
  r4_status s = (d->pieces = names_new(e)) ? R4_OK : R4_E_MEMORY;
  for (int32_t k = 0; !s && k < tokenizer_size(t->tokenizer); k++) {
    const char *piece = tokenizer_piece(t->tokenizer, k);
    s = names_add(d->pieces, piece ? piece : "", NULL, e);
  }
  return s;
}

static int by_length(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Says how long texts were. */
static r4_status note_cut(const struct texts *t, r4_data *d, r4_error *e)
{
  const size_t n = t->texts;
  qsort(t->whole, n, sizeof *t->whole, by_length);
  return data_add_note(d, e,
                       "%zu of %zu texts have more than %zu tokens and are cut (length): half have up to %u, 95 %% up "
                       "to %u, the longest %u",
                       t->cut, n, t->most, t->whole[(n - 1) / 2], t->whole[(95 * n + 99) / 100 - 1],
                       t->whole[n - 1]);
}

static r4_status add_notes(const struct texts *t, r4_data *d, r4_error *e)
{
  r4_status s = t->cut ? note_cut(t, d, e) : R4_OK;
  if (!s && t->lost)
    s = data_add_note(
      d, e, "%zu of %zu marked texts have no marked token left: the marks are beyond the cut, or on no token",
      t->lost, t->marked);
  size_t unknown = 0, unused = 0;
  const char *first_unknown = NULL, *first_unused = NULL;
  for (size_t k = t->words.n; k-- > 0;) {
    const struct mark_word *w = &t->words.at[k];
    if (!w->n) first_unknown = w->word, unknown++;
    if (w->n && !w->found) first_unused = w->word, unused++;
  }
  if (!s && unknown)
    s = data_add_note(d, e, "%zu of %zu mask_words are not in the vocabulary, \"%.40s\" first", unknown,
                      t->words.n, first_unknown);
  if (!s && unused)
    s = data_add_note(d, e, "%zu of %zu mask_words are in no text, \"%.40s\" first", unused, t->words.n,
                      first_unused);
  return s;
}

r4_data *texts_data(struct texts *t, const char *about, r4_error *e)
{
  if (!t->texts) {
    r4_fail(e, R4_E_PARSE, "%s: has no texts", t->source);
    return NULL;
  }
  struct column *c = tokens_column_of(t, e);
  r4_data *d = c ? data_new(t->texts, c, e) : NULL;
  if (!d) return NULL;
  r4_status s = listing_records(&t->listing, d, e);
  if (!s && (t->marked || t->words.n)) s = set_masks(t, d, e);
  if (!s) s = add_pieces(t, d, e);
  if (!s) s = add_notes(t, d, e);
  if (!s) s = data_set_about(d, e, "%s, %s", t->source, about);
  if (!s) s = data_finish(d, t->source, e);
  if (!s) return d;
  r4_data_free(d);
  return NULL;
}
