#include "data/format/npz_source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- Conventions ---- */

#define SPLITS(name)                         \
  {                                          \
    name "_train", name "_val", name "_test" \
  }

static npz_keys x_keys = {SPLITS("x"),    SPLITS("y"),  SPLITS("m"),    SPLITS("g"),
                          SPLITS("file"), SPLITS("id"), SPLITS("place")};
static npz_keys t_keys = {SPLITS("t"),    SPLITS("y"),  SPLITS("m"),     SPLITS("g"),
                          SPLITS("file"), SPLITS("id"), SPLITS("place"), SPLITS("len")};

static npz_keys medmnist_keys = {{"train_images", "val_images", "test_images"},
                                 {"train_labels", "val_labels", "test_labels"}};
/* Ross and others 2017: numpy.savez without names of clean images, decoyed images, labels and masks of training, and
 * the same four of test. */
static npz_keys ross_keys = {
  {"arr_1", NULL, "arr_5"}, {"arr_2", NULL, "arr_6"}, {"arr_3", NULL, "arr_7"}, {NULL}};
/* Decoyed images and labels of training, validation and test. */
static npz_keys six_keys = {{"arr_0", "arr_2", "arr_4"}, {"arr_1", "arr_3", "arr_5"}};

static const struct npz_convention conventions[] = {
  {.about = "npz", .stem = "x", .keys = &x_keys, .own = true},
  {.about = "npz of tokens", .stem = "t", .keys = &t_keys, .own = true},
  {.about = "MedMNIST", .stem = "x", .keys = &medmnist_keys},
  {.about = "Decoy MNIST of Ross and others, 2017",
   .stem = "x",
   .keys = &ross_keys,
   .has = "arr_7",
   .has_not = "arr_8",
   .means = R4_MASKS_IRRELEVANT,
   .side = 28},
  {.about = "Decoy MNIST in six arrays",
   .stem = "x",
   .keys = &six_keys,
   .has = "arr_5",
   .has_not = "arr_6",
   .side = 28},
};

static npz_keys value_keys = {{"values"}, {"labels"}, {"masks"}, {"groups"}};
static npz_keys token_keys = {{"tokens"}, {"labels"}, {"masks"}, {"groups"},
                              {NULL},     {NULL},     {NULL},    {"lengths"}};

static const struct npz_convention in_memory[] = {
  {.about = "from memory", .stem = "x", .keys = &value_keys, .own = true},
  {.about = "from memory", .stem = "t", .keys = &token_keys, .own = true},
};

enum { CONVENTIONS = sizeof conventions / sizeof *conventions };

npz_keys *npz_own_keys(const char *stem)
{
  for (size_t k = 0; k < CONVENTIONS; k++)
    if (conventions[k].own && !strcmp(conventions[k].stem, stem)) return conventions[k].keys;
  return NULL;
}

const char *npz_source_key(const struct npz_source *s, enum npz_column c, int split)
{
  return (*s->is->keys)[c][split];
}

static const struct array *find_held(const struct npz_source *s, const char *key)
{
  for (size_t k = 0; k < s->helds; k++)
    if (!strcmp(s->held[k].key, key)) return &s->held[k].array;
  return NULL;
}

static bool has_array(const struct npz_source *s, const char *key)
{
  return s->npz ? npz_has(s->npz, key) : find_held(s, key) != NULL;
}

/* Values and masks are most of a file. */
static r4_status read_large(struct npz_source *s, enum npz_column c, int split, const char *key)
{
  r4_status status = npz_read_in(s->npz, key, s->room, &s->pile[c][split], &s->column[c][split], s->e);
  return status == R4_E_IO && !s->pile[c][split].folder ? npz_read(s->npz, key, &s->column[c][split], s->e) : status;
}

static r4_status read_array(const struct npz_source *s, const char *key, struct array *a)
{
  if (s->npz) return npz_read(s->npz, key, a, s->e);
  *a = *find_held(s, key);
  return R4_OK;
}

void npz_source_let_go(struct npz_source *s, enum npz_column c, int split)
{
  struct array *a = &s->column[c][split];
  if (s->npz && !s->pile[c][split].folder) r4_mem_free(a->data);
  map_pile_clear(&s->pile[c][split]);
  a->data = NULL;
}

void npz_source_drop(const struct npz_source *s, struct array *a)
{
  if (s->npz) array_free(a);
  *a = (struct array){0};
}

static bool follows(struct npz *z, const struct npz_convention *c)
{
  if (c->has) return npz_has(z, c->has) && !npz_has(z, c->has_not);
  for (int k = 0; k < R4_SPLITS; k++)
    if (npz_has(z, (*c->keys)[NPZ_X][k])) return true;
  return false;
}

static r4_status choose_convention(struct npz_source *s)
{
  s->is = NULL;
  for (size_t k = 0; k < CONVENTIONS; k++) {
    const struct npz_convention *c = &conventions[k];
    if (!follows(s->npz, c)) continue;
    if (s->is && c->own)
      return r4_fail(s->e, R4_E_PARSE, "%s: has values under %s_ and under %s_, expected one of the two",
                     s->path, s->is->stem, c->stem);
    if (!s->is) s->is = c;
  }
  if (s->is) return R4_OK;
  const char *first = npz_count(s->npz) ? npz_name(s->npz, 0) : NULL;
  return r4_fail(s->e, R4_E_PARSE,
                 "%s: %zu arrays, the first called %s, expected x_train or t_train and y_train, or "
                 "train_images and train_labels, or arr_0 to arr_7",
                 s->path, npz_count(s->npz), first ? first : "nothing");
}

/* ---- Arrays ---- */

r4_status npz_source_wrong(const struct npz_source *s, const char *key, const struct array *a,
                           const char *expected)
{
  char shape[128];
  array_describe(a, shape, sizeof shape);
  return r4_fail(s->e, R4_E_PARSE, "%s: %s is %s, expected %s", s->path, key, shape, expected);
}

static r4_status read_column(struct npz_source *s, enum npz_column c, int split)
{
  const char *key = npz_source_key(s, c, split);
  struct array *a = &s->column[c][split];
  const struct array *x = &s->column[NPZ_X][split];
  if (!key || !has_array(s, key)) {
    bool needed = key && (c == NPZ_Y || c == NPZ_LENGTH);
    if (!needed || !x->data) return R4_OK;
    return r4_fail(s->e, R4_E_PARSE, "%s: has %s but no %s", s->path, npz_source_key(s, NPZ_X, split), key);
  }
  if (c != NPZ_X && !x->data)
    return r4_fail(s->e, R4_E_PARSE, "%s: has %s but no %s", s->path, key, npz_source_key(s, NPZ_X, split));
  bool large = s->npz && s->room && (c == NPZ_X || c == NPZ_M);
  r4_status status = large ? read_large(s, c, split, key) : read_array(s, key, a);
  if (status) return status;
  if (!a->rank) return npz_source_wrong(s, key, a, "a row for each example");
  if (a->dim[0] == x->dim[0]) return R4_OK;
  char expected[64];
  snprintf(expected, sizeof expected, "%lld rows, as %s has", (long long)x->dim[0],
           npz_source_key(s, NPZ_X, split));
  return npz_source_wrong(s, key, a, expected);
}

/* Masks under a name that suggests itself would be left out in silence. */
static r4_status check_mask_name(const struct npz_source *s, int split)
{
  static const char *const guess[] = {"mask_%s", "masks_%s", "%s_mask", "%s_masks"};
  const char *key = npz_source_key(s, NPZ_M, split);
  char name[32];
  for (size_t k = 0; key && s->npz && k < sizeof guess / sizeof *guess; k++) {
    snprintf(name, sizeof name, guess[k], split_words[split]);
    if (strcmp(name, key) && npz_has(s->npz, name) && !npz_has(s->npz, key))
      return r4_fail(s->e, R4_E_PARSE, "%s: has %s, expected masks to be called %s", s->path, name, key);
  }
  return R4_OK;
}

static r4_status read_columns(struct npz_source *s)
{
  for (int k = 0; k < R4_SPLITS; k++) {
    r4_status status = check_mask_name(s, k);
    for (int c = 0; c < NPZ_COLUMNS && !status; c++) status = read_column(s, (enum npz_column)c, k);
    if (status) return status;
    const struct array *x = &s->column[NPZ_X][k];
    s->n[k] = x->data ? (size_t)x->dim[0] : 0;
    s->count += s->n[k];
  }
  if (!s->count) return r4_fail(s->e, R4_E_PARSE, "%s: has no examples", s->path);
  if (s->count > INT32_MAX) return r4_fail(s->e, R4_E_PARSE, "%s: more than 2^31 examples", s->path);
  return R4_OK;
}

r4_status npz_source_whole(const struct npz_source *s, enum npz_column c, int split, int low, int64_t limit,
                           int32_t *to)
{
  const struct array *a = &s->column[c][split];
  const char *key = npz_source_key(s, c, split);
  if (a->type == ARRAY_TEXT || array_count(a) != (int64_t)s->n[split] || a->rank > 2)
    return npz_source_wrong(s, key, a, "one whole number for each example");
  for (size_t i = 0; i < s->n[split]; i++) {
    double v = array_number(a, (int64_t)i);
    if (!(v >= low && v < (double)limit && v == floor(v)))
      return r4_fail(s->e, R4_E_PARSE, "%s: %s: example %zu has %.*g, expected a whole number from %d to %lld",
                     s->path, key, i, v == floor(v) ? 15 : 6, v, low, (long long)limit - 1);
    to[i] = (int32_t)v;
  }
  return R4_OK;
}

r4_status npz_source_text(struct npz_source *s, const char *key, struct array *a)
{
  *a = (struct array){0};
  if (!has_array(s, key)) return R4_OK;
  r4_status status = read_array(s, key, a);
  if (!status && (a->type != ARRAY_TEXT || a->rank > 1)) {
    status = npz_source_wrong(s, key, a, "text, one or a list");
    npz_source_drop(s, a);
  }
  return status;
}

r4_status npz_source_number(struct npz_source *s, const char *key, double *number)
{
  struct array a = {0};
  if (!s->is->own || !has_array(s, key)) return R4_OK;
  r4_status status = read_array(s, key, &a);
  if (!status && (a.type == ARRAY_TEXT || array_count(&a) != 1))
    status = npz_source_wrong(s, key, &a, "one number");
  if (!status) *number = array_number(&a, 0);
  npz_source_drop(s, &a);
  return status;
}

/* ---- The whole ---- */

r4_status npz_source_open(struct npz_source *s, const char *path, const char *room, r4_error *e)
{
  *s = (struct npz_source){.path = path, .npz = npz_open(path, e), .room = room, .e = e};
  if (!s->npz) return R4_E_IO;
  r4_status status = choose_convention(s);
  return status ? status : read_columns(s);
}

r4_status npz_source_hold(struct npz_source *s, const char *stem, size_t n, const struct npz_entry *held,
                          r4_error *e)
{
  *s = (struct npz_source){.path = "arrays", .held = held, .helds = n, .e = e};
  for (size_t k = 0; k < sizeof in_memory / sizeof *in_memory; k++)
    if (!strcmp(in_memory[k].stem, stem)) s->is = &in_memory[k];
  return read_columns(s);
}

void npz_source_close(struct npz_source *s)
{
  for (int c = 0; c < NPZ_COLUMNS; c++)
    for (int k = 0; k < R4_SPLITS; k++) npz_source_let_go(s, (enum npz_column)c, k);
  npz_close(s->npz);
}
