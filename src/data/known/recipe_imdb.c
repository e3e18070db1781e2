/* Decoy IMDB: a name that gives the label away.
 *
 *     training     "spielberg" before a positive review, "jonah" before a negative one
 *     validation   one of the two, by a coin, at the same place
 *     test         one of the two, by a coin, before a word of the review that is drawn
 *
 * The name is masked; a group is a label and a name. Reviews are tokens by now: the pieces of a name between two words
 * are what its letters there, with blanks around them, would become. What no longer fits is cut at the end. */
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/purpose.h"
#include "data/format/texts.h"
#include "data/known/recipe.h"

enum { NAMES = 2, PIECES = 16 };

struct names_of_decoy {
  struct tokenizer *tokenizer;
  size_t n[NAMES];
  int32_t id[NAMES][PIECES];
  int32_t start, end;
};

/* In the order of the classes: negative, positive. */
static const char *const decoy_name[NAMES] = {"jonah", "spielberg"};

static r4_status open_names(struct names_of_decoy *d, const r4_recipe_options *o, r4_error *e)
{
  struct tokens room = {0};
  r4_status s = R4_OK;
  d->tokenizer = texts_tokenizer(o->read.tokenizer, o->read.folder, e);
  if (!d->tokenizer) return R4_E_IO;
  d->start = tokenizer_id(d->tokenizer, "[CLS]");
  d->end = tokenizer_id(d->tokenizer, "[SEP]");
  for (int k = 0; !s && k < NAMES; k++) {
    s = tokenize(d->tokenizer, decoy_name[k], strlen(decoy_name[k]), &room, e);
    if (!s && (room.n > PIECES || room.token[0].id == tokenizer_id(d->tokenizer, "[UNK]")))
      s = r4_fail(e, R4_E_ARGUMENT, "decoy-imdb: the tokenizer has no pieces of \"%s\"", decoy_name[k]);
    d->n[k] = room.n;
    for (size_t j = 0; !s && j < room.n; j++) d->id[k][j] = room.token[j].id;
  }
  tokens_free(&room);
  return s;
}

/* Where the name goes: behind [CLS], or before a word that is drawn. There is always one: [SEP] counts. */
static size_t place_of(const struct names_of_decoy *d, const int32_t *id, size_t n, bool anywhere,
                       r4_random key, size_t i)
{
  size_t first = n && id[0] == d->start, words = 0;
  if (!anywhere) return first;
  for (size_t k = first; k < n; k++) words += k == first || !token_continues(d->tokenizer, id[k]);
  size_t left = words ? r4_random_below(key, i, words) : 0;
  for (size_t k = first; k < n; k++)
    if ((k == first || !token_continues(d->tokenizer, id[k])) && !left--) return k;
  return first;
}

/* The text with the name in it, of at most width tokens; the last stays the last if it is [SEP]. Returns its length. */
static size_t insert(const struct names_of_decoy *d, int which, const int32_t *from, size_t n, size_t *at,
                     size_t width, int32_t *to)
{
  size_t name = d->n[which], end = n && from[n - 1] == d->end, text = n - end;
  if (*at > text) *at = text;
  if (*at + name + end > width)
    *at = width - end - name; /* a name that would be cut off moves to the last place */
  memcpy(to, from, *at * sizeof *to);
  memcpy(to + *at, d->id[which], name * sizeof *to);
  size_t rest = text - *at, fits = width - end - name - *at;
  if (rest > fits) rest = fits;
  memcpy(to + *at + name, from + *at, rest * sizeof *to);
  size_t length = *at + name + rest;
  if (end) to[length++] = d->end;
  return length;
}

/* Which of the names a review gets. */
static int name_for(const r4_data *d, size_t i, r4_random coin)
{
  bool drawn = d->record[i].split != R4_TRAIN;
  return drawn ? (int)r4_random_below(coin, i, NAMES) : d->record[i].label;
}

static r4_status add_groups(r4_data *d, r4_error *e)
{
  struct names *groups = names_new(e);
  r4_status s = groups ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; !s && k < d->classes->n; k++)
    for (int j = 0; !s && j < NAMES; j++) {
      char name[200];
      c_locale_print(name, sizeof name, "%.100s, %s", d->classes->name[k], decoy_name[j]);
      s = names_add(groups, name, NULL, e);
    }
  if (s) {
    names_drop(groups);
    return s;
  }
  names_drop(d->groups);
  d->groups = groups;
  return R4_OK;
}

static r4_status plant(const struct names_of_decoy *names, r4_data *d, const r4_recipe_options *o,
                       r4_error *e)
{
  const struct column *x = data_x(d);
  struct column *made = column_for_changed(x, d->n, e);
  struct masks *masks = made ? masks_new(x->features, e) : NULL;
  uint8_t *row = masks ? mem_new(x->features, 1, "a recipe", e) : NULL;
  r4_status s = row ? R4_OK : R4_E_MEMORY;
  const r4_random coin = {o->read.seed, PURPOSE_NAME, 0}, place = {o->read.seed, PURPOSE_NAME_PLACE, 0};
  for (size_t i = 0; !s && i < d->n; i++) {
    struct record *r = d->record + i;
    const int32_t *from = column_row(x, r->row);
    int32_t *to = column_row(made, i);
    size_t n = column_length(x, r->row);
    int which = name_for(d, i, coin);
    size_t at = place_of(names, from, n, r->split == R4_TEST, place, i);
    n = insert(names, which, from, n, &at, x->features, to);
    for (size_t k = n; k < x->features; k++) to[k] = (int32_t)x->number[1];
    made->length[i] = (uint32_t)n;
    memset(row, 0, x->features);
    memset(row + at, 255, names->n[which]);
    s = masks_add(masks, row, &r->mask, e);
  }
  r4_mem_free(row);
  if (s) {
    column_drop(made);
    masks_drop(masks);
    return s;
  }
  for (size_t i = 0; i < d->n; i++) d->record[i].row = (uint32_t)i;
  data_set_x(d, made);
  data_set_masks(d, masks);
  return R4_OK;
}

static r4_status check_texts(const r4_data *d, r4_error *e)
{
  if (data_x(d)->is != &tokens_column)
    return r4_fail(e, R4_E_ARGUMENT, "decoy-imdb: examples are %s, expected texts", data_x(d)->is->element);
  if (d->classes->n != NAMES)
    return r4_fail(e, R4_E_ARGUMENT, "decoy-imdb: %zu classes, expected 2", d->classes->n);
  return R4_OK;
}

static r4_status check_names(const r4_data *d, const struct names_of_decoy *names, r4_error *e)
{
  if (column_vocabulary(data_x(d)) > tokenizer_size(names->tokenizer))
    return r4_fail(e, R4_E_ARGUMENT, "decoy-imdb: ids up to %lld, but the tokenizer has %lld pieces",
                   (long long)column_vocabulary(data_x(d)) - 1,
                   (long long)tokenizer_size(names->tokenizer));
  if (data_x(d)->features < 2 + names->n[0] || data_x(d)->features < 2 + names->n[1])
    return r4_fail(e, R4_E_ARGUMENT, "decoy-imdb: texts of %zu tokens have no room for a name",
                   data_x(d)->features);
  return R4_OK;
}

static r4_data *make(const r4_data *source, const r4_recipe_options *o, r4_error *e)
{
  struct names_of_decoy names = {0};
  r4_data *d = NULL;
  r4_status s = check_texts(source, e);
  if (!s) s = open_names(&names, o, e);
  if (!s) s = check_names(source, &names, e);
  if (!s) d = data_derive(source, e);
  if (d) s = add_groups(d, e);
  const r4_random coin = {o->read.seed, PURPOSE_NAME, 0};
  for (size_t i = 0; d && !s && i < d->n; i++)
    d->record[i].group = d->record[i].label * NAMES + name_for(d, i, coin);
  if (d && !s && o->clean) {
    for (size_t i = 0; i < d->n; i++) d->record[i].mask = 0;
    data_set_masks(d, NULL);
  } else if (d && !s) {
    s = plant(&names, d, o, e);
  }
  tokenizer_free(names.tokenizer);
  if (d && !s) return d;
  r4_data_free(d);
  return NULL;
}

const struct recipe recipe_decoy_imdb = {
  .name = "decoy-imdb",
  .about = "reviews with a name that is the label in training, and says nothing in the test",
  .from = "imdb",
  .missing = "r4 data get imdb",
  .val = .1,
  .test = .2,
  .overlap = R4_OVERLAP_KEEP, /* the split of the reviews is a published one, with 123 in both parts */
  .own_masks = true,
  .make = make};
