#include "data/format/npz_source.h"

#include <math.h>
#include <stdio.h>

/* ---- Conventions ---- */

#define SPLITS(name)                         \
  {                                          \
    name "_train", name "_val", name "_test" \
  }

npz_keys npz_own_keys = {SPLITS("x"),    SPLITS("y"),  SPLITS("m"),    SPLITS("g"),
                         SPLITS("file"), SPLITS("id"), SPLITS("place")};

static npz_keys medmnist_keys = {{"train_images", "val_images", "test_images"},
                                 {"train_labels", "val_labels", "test_labels"}};
/* Ross and others 2017: numpy.savez without names of clean images, decoyed images, labels and masks of training, and
 * the same four of test. */
static npz_keys ross_keys = {
  {"arr_1", NULL, "arr_5"}, {"arr_2", NULL, "arr_6"}, {"arr_3", NULL, "arr_7"}, {NULL}};
/* Decoyed images and labels of training, validation and test. */
static npz_keys six_keys = {{"arr_0", "arr_2", "arr_4"}, {"arr_1", "arr_3", "arr_5"}};

static const struct npz_convention conventions[] = {
  {.about = "npz", .keys = &npz_own_keys},
  {.about = "MedMNIST", .keys = &medmnist_keys},
  {"Decoy MNIST of Ross and others, 2017", &ross_keys, "arr_7", "arr_8", R4_MASKS_IRRELEVANT, 28},
  {"Decoy MNIST in six arrays", &six_keys, "arr_5", "arr_6", R4_MASKS_UNSTATED, 28},
};

const char *npz_source_key(const struct npz_source *s, enum npz_column c, int split)
{
  return (*s->is->keys)[c][split];
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
  for (size_t k = 0; k < sizeof conventions / sizeof *conventions; k++) {
    s->is = &conventions[k];
    if (follows(s->npz, s->is)) return R4_OK;
  }
  const char *first = npz_count(s->npz) ? npz_name(s->npz, 0) : NULL;
  return r4_fail(s->e, R4_E_PARSE,
                 "%s: %zu arrays, the first called %s, expected x_train and y_train, or train_images and "
                 "train_labels, or arr_0 to arr_7",
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
  if (!key || !npz_has(s->npz, key)) {
    if (c != NPZ_Y || !x->data) return R4_OK;
    return r4_fail(s->e, R4_E_PARSE, "%s: has %s but no %s", s->path, npz_source_key(s, NPZ_X, split), key);
  }
  if (c != NPZ_X && !x->data)
    return r4_fail(s->e, R4_E_PARSE, "%s: has %s but no %s", s->path, key, npz_source_key(s, NPZ_X, split));
  r4_status status = npz_read(s->npz, key, a, s->e);
  if (status) return status;
  if (!a->rank) return npz_source_wrong(s, key, a, "a row for each example");
  if (a->dim[0] == x->dim[0]) return R4_OK;
  char expected[64];
  snprintf(expected, sizeof expected, "%lld rows, as %s has", (long long)x->dim[0],
           npz_source_key(s, NPZ_X, split));
  return npz_source_wrong(s, key, a, expected);
}

static r4_status read_columns(struct npz_source *s)
{
  for (int k = 0; k < R4_SPLITS; k++) {
    for (int c = 0; c < NPZ_COLUMNS; c++) {
      r4_status status = read_column(s, (enum npz_column)c, k);
      if (status) return status;
    }
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
      return r4_fail(s->e, R4_E_PARSE, "%s: %s: example %zu has %g, expected a whole number from %d to %lld",
                     s->path, key, i, v, low, (long long)limit - 1);
    to[i] = (int32_t)v;
  }
  return R4_OK;
}

r4_status npz_source_text(struct npz_source *s, const char *key, struct array *a)
{
  *a = (struct array){0};
  if (!npz_has(s->npz, key)) return R4_OK;
  r4_status status = npz_read(s->npz, key, a, s->e);
  if (!status && (a->type != ARRAY_TEXT || a->rank > 1)) {
    status = npz_source_wrong(s, key, a, "text, one or a list");
    array_free(a);
  }
  return status;
}

/* ---- The whole ---- */

r4_status npz_source_open(struct npz_source *s, const char *path, r4_error *e)
{
  *s = (struct npz_source){.path = path, .npz = npz_open(path, e), .e = e};
  if (!s->npz) return R4_E_IO;
  r4_status status = choose_convention(s);
  return status ? status : read_columns(s);
}

void npz_source_close(struct npz_source *s)
{
  for (int c = 0; c < NPZ_COLUMNS; c++)
    for (int k = 0; k < R4_SPLITS; k++) array_free(&s->column[c][k]);
  npz_close(s->npz);
}
