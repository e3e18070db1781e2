/* From text to words. One character at a time: cleaned, set apart, decomposed, put in order, stripped, lowered, added
 * to the word in hand. ASCII goes straight to the word, by a table. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

/* A mark that waits for the others of its character, to be put in order with them. */
struct waiting {
  uint32_t c;
  int order;
  size_t number;    /* in the order of the text                            */
  bool added;       /* it has no character of the text to itself           */
  struct span span; /* of that character, or of the one that it came with  */
};

struct scan {
  const struct tokenizer *t;
  const struct word_sink *sink;
  r4_error *e;
  struct word word;
  struct waiting *wait;
  size_t waits, room;
  struct span last; /* of the last character that was not added */
};

void tokenizer_prepare(struct tokenizer *t)
{
  for (uint32_t c = 0; c < 128; c++) {
    enum unicode_class class = unicode_class(c);
    if (!t->clean && class == UNICODE_REMOVED) class = c >= '\t' && c <= '\r' ? UNICODE_SPACE : UNICODE_PLAIN;
    t->ascii[c].class = (uint8_t) class;
    t->ascii[c].lower = (char)(t->lower && c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
}

/* ---- The word in hand ---- */

static r4_status end_word(struct scan *s)
{
  if (!s->word.characters) return R4_OK;
  r4_status status = s->sink->take(s->sink->to, &s->word);
  s->word.characters = s->word.bytes = 0;
  return status;
}

static size_t utf8_write(uint32_t c, char *to)
{
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t k = n; --k > 0; c >>= 6) to[k] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)(0xf00 >> n | c);
  return n;
}

static void add_to_word(struct scan *s, uint32_t c, struct span span)
{
  struct word *w = &s->word;
  if (!w->characters) w->all = span;
  w->all.to = span.to;
  if (w->characters++ >= s->t->word_most) return;
  size_t n = utf8_write(c, w->byte + w->bytes);
  for (size_t k = 0; k < n; k++) w->of[w->bytes + k] = span;
  w->bytes += n;
}

/* A character after all changes. */
static r4_status place(struct scan *s, uint32_t c, struct span span)
{
  enum unicode_class class = unicode_class(c);
  r4_status status = R4_OK;
  bool control_space = (c >= '\t' && c <= '\r') || c == 0x85;
  if (class == UNICODE_SPACE || control_space) return end_word(s);
  if (class != UNICODE_PUNCTUATION) {
    add_to_word(s, c, span);
    return R4_OK;
  }
  status = end_word(s);
  if (status) return status;
  add_to_word(s, c, span);
  return end_word(s);
}

static r4_status strip_and_lower(struct scan *s, uint32_t c, struct span span)
{
  if (s->t->accents_off && unicode_class(c) == UNICODE_MARK) return R4_OK;
  uint32_t lower[2] = {c};
  size_t n = s->t->lower ? unicode_lower(c, lower) : 1;
  r4_status status = R4_OK;
  for (size_t k = 0; k < n && !status; k++) status = place(s, lower[k], span);
  return status;
}

/* ---- Decomposition ---- */

static int by_order(const void *a, const void *b)
{
  const struct waiting *x = a, *y = b;
  if (x->order != y->order) return x->order < y->order ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Marks in canonical order. As in tokenizers, those that are characters of the text stand for the bytes that came at
 * their turn, before they were put in order; an added one for those of the mark that it now follows. */
static r4_status end_waiting(struct scan *s)
{
  size_t n = s->waits, turn = 0;
  s->waits = 0;
  if (!n) return R4_OK;
  struct waiting *in_order = s->wait + n; /* the second half of the room */
  memcpy(in_order, s->wait, n * sizeof *in_order);
  qsort(in_order, n, sizeof *in_order, by_order);
  r4_status status = R4_OK;
  for (size_t k = 0; k < n && !status; k++) {
    if (!in_order[k].added) {
      while (s->wait[turn].added) turn++;
      s->last = s->wait[turn++].span;
    }
    status = strip_and_lower(s, in_order[k].c, s->last);
  }
  return status;
}

static r4_status wait_for_others(struct scan *s, struct waiting w)
{
  if (mem_more(&s->wait, &s->room, 2 * (s->waits + 1), sizeof *s->wait, "the marks of a character", s->e))
    return R4_E_MEMORY;
  w.number = s->waits;
  s->wait[s->waits++] = w;
  return R4_OK;
}

static r4_status decompose(struct scan *s, uint32_t c, struct span span)
{
  if (!s->t->accents_off) return strip_and_lower(s, c, span);
  uint32_t part[UNICODE_PARTS];
  size_t n = unicode_decompose(c, part);
  r4_status status = R4_OK;
  for (size_t k = 0; k < n && !status; k++) {
    int order = unicode_order(part[k]);
    if (order) {
      status =
        wait_for_others(s, (struct waiting){.c = part[k], .order = order, .added = k > 0, .span = span});
      continue;
    }
    status = end_waiting(s);
    if (!k) s->last = span;
    if (!status) status = strip_and_lower(s, part[k], s->last);
  }
  return status;
}

/* ---- The characters of the text ---- */

static r4_status take_character(struct scan *s, uint32_t c, struct span span)
{
  if (s->t->clean) {
    enum unicode_class class = unicode_class(c);
    if (class == UNICODE_REMOVED) return R4_OK;
    if (class == UNICODE_SPACE) c = ' ';
  }
  if (!s->t->cjk || !unicode_is_cjk(c)) return decompose(s, c, span);
  r4_status status = decompose(s, ' ', span);
  if (!status) status = decompose(s, c, span);
  return status ? status : decompose(s, ' ', span);
}

static r4_status take_ascii(struct scan *s, unsigned char c, struct span span)
{
  enum unicode_class class = s->t->ascii[c].class;
  if (class == UNICODE_REMOVED) return R4_OK;
  r4_status status = s->waits ? end_waiting(s) : R4_OK;
  s->last = span;
  if (class != UNICODE_PLAIN && !status) status = end_word(s);
  if (class == UNICODE_SPACE || status) return status;
  add_to_word(s, (unsigned char)s->t->ascii[c].lower, span);
  return class == UNICODE_PUNCTUATION ? end_word(s) : R4_OK;
}

/* The character at text, of which size bytes are left; 0 if it is none. */
static size_t decode(const char *text, size_t size, uint32_t *c)
{
  char last[5] = {0}; /* utf8_next looks at up to four bytes */
  if (size < 4) text = memcpy(last, text, size);
  size_t n = utf8_next(text, c);
  return n <= size ? n : 0;
}

r4_status words_of(const struct tokenizer *t, const char *text, size_t size, size_t at,
                   const struct word_sink *sink, r4_error *e)
{
  struct scan s;
  s.t = t;
  s.sink = sink;
  s.e = e;
  s.wait = NULL;
  s.waits = s.room = s.word.characters = s.word.bytes = 0;
  s.last = (struct span){0, 0};
  r4_status status = R4_OK;
  for (size_t k = 0, n = 1; k < size && !status; k += n) {
    uint32_t c, from = (uint32_t)(at + k);
    if ((unsigned char)text[k] < 128) {
      n = 1;
      status = take_ascii(&s, (unsigned char)text[k], (struct span){from, from + 1});
    } else if ((n = decode(text + k, size - k, &c))) {
      status = take_character(&s, c, (struct span){from, from + (uint32_t)n});
    } else {
      status = r4_fail(e, R4_E_PARSE, "byte %zu is not UTF-8", at + k);
    }
  }
  if (!status) status = end_waiting(&s);
  if (!status) status = end_word(&s);
  r4_mem_free(s.wait);
  return status;
}
