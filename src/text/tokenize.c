/* From words to tokens, and special tokens in between. */
#include <string.h>

#include "base/mem.h"
#include "text/tokenizer.h"

struct target {
  const struct tokenizer *t;
  struct tokens *to;
  r4_error *e;
};

static r4_status add_token(const struct target *g, int32_t id, struct span span)
{
  struct tokens *to = g->to;
  if (mem_more(&to->token, &to->room, to->n + 1, sizeof *to->token, "tokens", g->e)) return R4_E_MEMORY;
  to->token[to->n++] = (struct token){id, span.from, span.to};
  return R4_OK;
}

/* Greedy: the longest piece first. A word of which some rest has no piece is unknown as a whole. */
static r4_status add_word(void *to, const struct word *w)
{
  const struct target *g = to;
  const struct tokenizer *t = g->t;
  const size_t before = g->to->n;
  bool known = w->characters <= t->word_most;
  for (size_t k = 0, n; known && k < w->bytes; k += n) {
    int32_t id = 0;
    n = vocabulary_longest(&t->vocabulary, k ? t->inside : 0, w->byte + k, w->bytes - k, &id);
    known = n > 0;
    if (!known) break;
    r4_status s = add_token(g, id, (struct span){w->of[k].from, w->of[k + n - 1].to});
    if (s) return s;
  }
  if (known) return R4_OK;
  g->to->n = before;
  return add_token(g, t->unknown, w->all);
}

/* The first special token in text from k on, the longest that begins there: returns where. */
static size_t find_special(const struct tokenizer *t, const char *text, size_t size, size_t k,
                           size_t *length, int32_t *id)
{
  for (*length = 0; t->special.nodes && k < size; k++) {
    if (t->special_first) {
      const char *next = memchr(text + k, t->special_first, size - k);
      if (!next) break;
      k = (size_t)(next - text);
    }
    *length = vocabulary_longest(&t->special, 0, text + k, size - k, id);
    if (*length) return k;
  }
  return size;
}

r4_status tokenize(const struct tokenizer *t, const char *text, size_t size, struct tokens *to, r4_error *e)
{
  struct target g = {t, to, e};
  const struct word_sink sink = {&g, add_word};
  to->n = 0;
  if (size >= UINT32_MAX)
    return r4_fail(e, R4_E_ARGUMENT, "a text of %zu bytes, expected fewer than %u", size, UINT32_MAX);
  r4_status s = R4_OK;
  for (size_t k = 0, length; k < size && !s; k += length) {
    int32_t id = 0;
    size_t end = find_special(t, text, size, k, &length, &id);
    s = words_of(t, text + k, end - k, k, &sink, e);
    if (!s && length) s = add_token(&g, id, (struct span){(uint32_t)end, (uint32_t)(end + length)});
    k = end;
  }
  if (s) to->n = 0;
  return s;
}

void tokens_free(struct tokens *to)
{
  if (!to) return;
  r4_mem_free(to->token);
  *to = (struct tokens){0};
}
