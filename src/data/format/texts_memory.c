/* Texts of the caller: their tokens and masks are made as those of a file are, and become arrays, which are checked as
 * all others are. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/format/texts.h"
#include "data/mask/mask.h"

/* ---- Tokens ---- */

struct given {
  size_t n;
  const char *const *text;
  const size_t *spans;
  const r4_span *span;
};

static r4_status add_text(struct texts *t, const struct given *g, size_t i, size_t first, r4_error *e)
{
  const struct listed one = {.label = "0"}; /* those of the caller come with the arrays */
  struct marks marks = {0};
  char where[32];
  r4_status s = R4_OK;
  snprintf(where, sizeof where, "text %zu", i);
  for (size_t k = 0; !s && g->spans && k < g->spans[i]; k++)
    s = marks_add_characters(&marks, g->text[i], g->span[first + k].from, g->span[first + k].to, where, e);
  if (!s) s = texts_add(t, &one, g->text[i], &marks, where, e);
  marks_free(&marks);
  return s;
}

static r4_data *tokens_of(const struct given *g, const r4_data_options *options, r4_error *e)
{
  struct texts t;
  r4_data *d = NULL;
  r4_status s = texts_open(&t, "texts", options, e);
  for (size_t i = 0, first = 0; !s && i < g->n; i++) {
    s = add_text(&t, g, i, first, e);
    first += g->spans ? g->spans[i] : 0;
  }
  if (!s) d = texts_data(&t, "in memory", e);
  texts_close(&t);
  return d;
}

/* ---- Labels and all else ---- */

/* [n, tokens], or NULL: none has one, or out of memory. */
static uint8_t *masks_of(const r4_data *d, r4_error *e)
{
  size_t width = data_x(d)->features;
  uint8_t *all = data_masks(d) ? mem_new(d->n, width, "the masks of texts", e) : NULL;
  for (size_t i = 0; all && i < d->n; i++) {
    const uint8_t *mask = data_mask_bytes(d, i);
    if (mask) memcpy(all + i * width, mask, width);
  }
  return all;
}

/* What names had to be looked up for, and what was odd, goes along. */
static void move_words(r4_data *from, r4_data *to)
{
  to->pieces = from->pieces;
  from->pieces = NULL;
  if (to->notes) return;
  to->notes = from->notes;
  from->notes = NULL;
}

static r4_data *labelled(r4_data *tokens, const r4_data_arrays *arrays, r4_error *e)
{
  const struct column *c = data_x(tokens);
  r4_data_arrays a = *arrays;
  uint8_t *masks = masks_of(tokens, e);
  if (e->status) return NULL;
  a.shape = c->shape;
  a.tokens = c->data;
  a.lengths = (const int32_t *)c->length; /* at most 2^20 */
  a.vocabulary = (int64_t)c->number[0];
  a.padding = (int32_t)c->number[1];
  a.mask_bytes = masks;
  a.mask_means = R4_MASKS_IRRELEVANT;
  r4_data *d = r4_data_new(&a, e);
  if (d) move_words(tokens, d);
  r4_mem_free(masks);
  return d;
}

r4_data *r4_data_texts(const char *const *text, const size_t *spans, const r4_span *span,
                       const r4_data_arrays *arrays, const r4_data_options *options, r4_error *e)
{
  static const r4_data_options usual;
  NEEDS(text, "texts", NULL);
  NEEDS(arrays, "arrays", NULL);
  NEEDS(arrays->labels, "labels", NULL);
  NEEDS_EACH(arrays->n, text, "text", NULL);
  if (spans) {
    NEEDS(span, "the spans that are counted", NULL);
  }
  r4_error own = {0};
  if (!e) e = &own;
  r4_error_clear(e);
  if (arrays->floats || arrays->bytes || arrays->tokens || arrays->mask_floats || arrays->mask_bytes) {
    r4_fail(e, R4_E_ARGUMENT, "r4_data_texts: values or masks are given, expected texts alone");
    return NULL;
  }
  if (mask_meaning_check(arrays->mask_means, __func__, e) ||
      (options && mask_meaning_check(options->mask_means, __func__, e)))
    return NULL;
  const struct given g = {arrays->n, text, spans, span};
  r4_data *tokens = tokens_of(&g, options ? options : &usual, e);
  r4_data *d = tokens ? labelled(tokens, arrays, e) : NULL;
  if (d && options) d->means = options->mask_means;
  r4_data_free(tokens);
  return d;
}
