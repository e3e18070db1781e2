/* Ids of tokens, the same number for every example: a text that is shorter has a length, and is padded with one id. Ids
 * are exact as floats. */
#include <math.h>
#include <stdio.h>

#include "data/column/column.h"

enum { VOCABULARY, PADDING, MOST = 1 << 24 }; /* vocabulary: ids are below; 0: it is not stated */

static void read_ids(const struct column *c, size_t row, size_t first, size_t n, float *to)
{
  const int32_t *from = (const int32_t *)column_row(c, row) + first;
  for (size_t k = 0; k < n; k++) to[k] = (float)from[k];
}

static void write_ids(struct column *c, size_t row, const float *from)
{
  int32_t *to = column_row(c, row);
  for (size_t k = 0; k < c->features; k++) to[k] = (int32_t)from[k];
}

/* Padding behind the end is what lengths are for; in front of it, most of a text is missing. */
static const char *doubt(const struct column *c, char *text, size_t size)
{
  size_t padded = 0, first = 0;
  for (size_t i = c->rows; i-- > 0;) {
    const int32_t *id = column_row(c, i);
    if (id[c->length[i] - 1] == (int32_t)c->number[PADDING]) padded++, first = i;
  }
  if (!padded) return NULL;
  snprintf(text, size,
           "%zu texts end with the id of padding, %d, within their length, that of row %zu first: are "
           "lengths those "
           "of the texts?",
           padded, (int)c->number[PADDING], first);
  return "padding-counted";
}

static int64_t limit(const struct column *c)
{
  return c->number[VOCABULARY] > 0 ? (int64_t)c->number[VOCABULARY] : MOST;
}

static r4_status check(const struct column *c, const struct column_source *from)
{
  double vocabulary = c->number[VOCABULARY], padding = c->number[PADDING];
  if (!(vocabulary >= 0 && vocabulary <= MOST && vocabulary == floor(vocabulary)))
    return r4_fail(from->e, R4_E_PARSE, "%s: a vocabulary of %g ids, expected a whole number from 1 to %d",
                   from->path, vocabulary, MOST);
  if (!(padding >= 0 && padding < (double)limit(c) && padding == floor(padding)))
    return r4_fail(from->e, R4_E_PARSE, "%s: padding with the id %g, expected a whole number from 0 to %lld",
                   from->path, padding, (long long)limit(c) - 1);
  return R4_OK;
}

/* What is behind the end of a text is not looked at. */
static r4_status take_ids(struct column *c, size_t row, const struct array *a,
                          const struct column_source *from)
{
  for (size_t i = 0; i < (size_t)a->dim[0]; i++) {
    int32_t *to = column_row(c, row + i);
    for (size_t k = 0; k < c->features; k++) {
      double id =
        k < c->length[row + i] ? array_number(a, (int64_t)(i * c->features + k)) : c->number[PADDING];
      if (!(id >= 0 && id < (double)limit(c)))
        return r4_fail(from->e, R4_E_PARSE, "%s: %s: example %zu has the id %.0f at %zu, expected 0 to %lld",
                       from->path, from->key, i, id, k, (long long)limit(c) - 1);
      to[k] = (int32_t)id;
    }
  }
  return R4_OK;
}

static bool takes(const struct array *a)
{
  return array_is_integer(a) && a->type != ARRAY_BOOL;
}

const struct column_kind tokens_column = {
  .name = "tokens",
  .element = "tokens",
  .tag = 2,
  .size = sizeof(int32_t),
  .lengths = true,
  .ids = true,
  .number = {[VOCABULARY] = {"vocabulary", 0}, [PADDING] = {"padding", 0}},
  .read = read_ids,
  .write = write_ids,
  .doubt = doubt,
  .stem = "t",
  .arrays = "whole numbers",
  .shapes = "[examples, tokens]",
  .least = 2,
  .most = 2,
  .array = ARRAY_I32,
  .takes = takes,
  .check = check,
  .take = take_ids,
};

int64_t column_vocabulary(const struct column *c)
{
  if (c->is != &tokens_column) return 0;
  if (c->number[VOCABULARY] > 0) return (int64_t)c->number[VOCABULARY];
  const int32_t *id = c->data;
  int32_t most = (int32_t)c->number[PADDING];
  for (size_t k = 0; k < c->rows * c->features; k++)
    if (id[k] > most) most = id[k];
  return (int64_t)most + 1;
}
