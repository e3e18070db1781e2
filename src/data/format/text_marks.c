/* What is marked in texts: spans of characters, brackets, words. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "data/format/texts.h"

/* ---- Spans ---- */

r4_status marks_add(struct marks *m, size_t from, size_t to, r4_error *e)
{
  if (mem_more(&m->at, &m->room, m->n + 1, sizeof *m->at, "marks", e)) return R4_E_MEMORY;
  m->at[m->n++] = (struct mark){from, to};
  return R4_OK;
}

void marks_free(struct marks *m)
{
  r4_mem_free(m->at);
  *m = (struct marks){0};
}

/* The byte where a character begins, or SIZE_MAX if the text is shorter. */
static size_t byte_of(const char *text, int64_t character)
{
  size_t at = 0;
  uint32_t code;
  for (int64_t k = 0; k < character; k++) {
    size_t n = text[at] ? utf8_next(text + at, &code) : 0;
    if (!n) return SIZE_MAX;
    at += n;
  }
  return at;
}

r4_status marks_add_characters(struct marks *m, const char *text, int64_t from, int64_t to, const char *where,
                               r4_error *e)
{
  size_t first = from >= 0 && from < to ? byte_of(text, from) : SIZE_MAX;
  size_t last = first < SIZE_MAX ? byte_of(text, to) : SIZE_MAX;
  if (last < SIZE_MAX) return marks_add(m, first, last, e);
  return r4_fail(e, R4_E_PARSE,
                 "%s: the span %lld-%lld is not in the text: expected characters counted from 0, the second number "
                 "one past the last",
                 where, (long long)from, (long long)to);
}

r4_status marks_read(struct marks *m, const char *text, const char *spans, const char *where, r4_error *e)
{
  r4_status s = R4_OK;
  for (const char *c = spans; !s;) {
    char *end, *last;
    while (*c && strchr(" ,;", *c)) c++;
    if (!*c) break;
    long long from = strtoll(c, &end, 10), to = 0;
    bool whole = isdigit((unsigned char)*c) && (*end == '-' || *end == ':') && isdigit((unsigned char)end[1]);
    if (whole) to = strtoll(end + 1, &last, 10);
    if (!whole || (*last && !strchr(" ,;", *last)))
      return r4_fail(e, R4_E_PARSE, "%s: spans \"%.40s\", expected pairs such as 3-9 20-25", where, spans);
    s = marks_add_characters(m, text, from, to, where, e);
    c = last;
  }
  return s;
}

r4_status marks_take_brackets(struct marks *m, char *text, const char *where, r4_error *e)
{
  char *to = text;
  bool open = false;
  size_t from = 0;
  r4_status s = R4_OK;
  for (const char *c = text; !s && *c;) {
    if (!strncmp(c, open ? "]]" : "[[", 2)) {
      if (open) s = marks_add(m, from, (size_t)(to - text), e);
      from = (size_t)(to - text);
      open = !open;
      c += 2;
    } else {
      *to++ = *c++;
    }
  }
  *to = 0;
  if (!s && open) s = r4_fail(e, R4_E_PARSE, "%s: [[ at byte %zu is not closed by ]]", where, from);
  return s;
}

/* ---- Words ---- */

static const char BETWEEN[] = ", ;\t\r\n"; /* words of a list */

bool token_continues(const struct tokenizer *t, int32_t id)
{
  const char *piece = tokenizer_piece(t, id);
  return piece && piece[0] == '#' && piece[1] == '#' && piece[2];
}

void mark_words_free(struct mark_words *w)
{
  for (size_t k = 0; k < w->n; k++) {
    r4_mem_free(w->at[k].word);
    r4_mem_free(w->at[k].id);
  }
  r4_mem_free(w->at);
  r4_mem_free(w->first);
  *w = (struct mark_words){0};
}

/* A word that is unknown to the vocabulary stays in the list, without ids. */
static r4_status add_word(struct mark_words *w, const char *setting, const char *word, size_t n,
                          const struct tokenizer *t, struct tokens *room, r4_error *e)
{
  if (mem_more(&w->at, &w->room, w->n + 1, sizeof *w->at, "a list of words", e)) return R4_E_MEMORY;
  r4_error inner = {0};
  r4_status s = tokenize(t, word, n, room, &inner);
  if (s) return r4_fail(e, s, "%s: %.*s: %s", setting, (int)(n < 40 ? n : 40), word, inner.text);
  struct mark_word *new = &w->at[w->n];
  *new = (struct mark_word){.word = mem_new(n + 1, 1, "a list of words", e),
                            .id = mem_new(room->n + 1, sizeof *new->id, "a list of words", e)};
  w->n++;
  if (!new->word || !new->id) return R4_E_MEMORY;
  memcpy(new->word, word, n);
  const int32_t unknown = tokenizer_id(t, "[UNK]");
  for (size_t k = 0; k < room->n; k++) {
    if (room->token[k].id == unknown) new->n = SIZE_MAX;
    if (new->n == SIZE_MAX) break;
    new->id[new->n++] = room->token[k].id;
  }
  if (new->n == SIZE_MAX) new->n = 0;
  return R4_OK;
}

static r4_status add_words(struct mark_words *w, const char *setting, const char *list, const struct tokenizer *t,
                           r4_error *e)
{
  struct tokens room = {0};
  r4_status s = R4_OK;
  for (const char *c = list + strspn(list, BETWEEN); !s && *c; c += strspn(c, BETWEEN)) {
    size_t n = strcspn(c, BETWEEN);
    s = add_word(w, setting, c, n, t, &room, e);
    c += n;
  }
  tokens_free(&room);
  return s;
}

/* A file of words: text without zeros, perhaps with a byte order mark. */
static r4_status read_word_file(struct mark_words *w, const char *setting, const char *path,
                                const struct tokenizer *t, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_error inner = {0};
  r4_status s = file_read(path, 1 << 24, &bytes, &size, e);
  if (s) return s;
  const char *text = (const char *)bytes;
  if (strlen(text) != size)
    s = r4_fail(e, R4_E_PARSE, "%s: %s: byte %zu is zero, expected words", setting, path, strlen(text));
  else if ((s = add_words(w, path, text + utf8_mark(text, size), t, &inner)))
    r4_fail(e, s, "%s: %s", setting, inner.text);
  r4_mem_free(bytes);
  return s;
}

/* Words by their first piece, those that are listed first before others. */
static r4_status index_words(struct mark_words *w, const struct tokenizer *t, r4_error *e)
{
  w->first = mem_new((size_t)tokenizer_size(t), sizeof *w->first, "a list of words", e);
  if (!w->first) return R4_E_MEMORY;
  for (size_t k = w->n; k-- > 0;) {
    if (!w->at[k].n) continue;
    size_t *first = &w->first[w->at[k].id[0]];
    w->at[k].next = *first;
    *first = k + 1;
  }
  return R4_OK;
}

/* One word that is called as files are: taken for a word, it would mask nothing in silence. */
static bool looks_like_a_file(const char *list)
{
  static const char *const ending[] = {".txt", ".csv", ".tsv"};
  size_t n = strlen(list);
  if (strcspn(list, BETWEEN) < n) return false;
  for (size_t k = 0; k < sizeof ending / sizeof *ending; k++)
    if (n > 4 && !strcmp(list + n - 4, ending[k])) return true;
  return strchr(list, '/') != NULL;
}

r4_status mark_words_take(struct mark_words *w, const char *setting, const char *list, const struct tokenizer *t,
                          r4_error *e)
{
  r4_status s = add_words(w, setting, list, t, e);
  return s ? s : index_words(w, t, e);
}

r4_status mark_words_read(struct mark_words *w, const char *setting, const char *list, const struct tokenizer *t,
                          r4_error *e)
{
  size_t known = 0;
  bool is_file = file_exists(list) && !file_is_folder(list);
  if (!is_file && looks_like_a_file(list))
    return r4_fail(e, R4_E_IO, "%s: there is no file %.200s", setting, list);
  r4_status s = is_file ? read_word_file(w, setting, list, t, e) : add_words(w, setting, list, t, e);
  if (!s) s = index_words(w, t, e);
  for (size_t k = 0; !s && k < w->n; k++) known += w->at[k].n > 0;
  if (!s && !known)
    s = r4_fail(e, R4_E_ARGUMENT, "%s: no word of \"%.80s\" is in the tokenizer's vocabulary", setting, list);
  return s;
}

static bool is_at(const struct mark_word *w, const struct tokenizer *t, const int32_t *id, size_t n)
{
  if (!w->n || w->n > n || memcmp(id, w->id, w->n * sizeof *id)) return false;
  return w->n == n || !token_continues(t, id[w->n]);
}

void mark_words_find(struct mark_words *w, const struct tokenizer *t, const int32_t *id, size_t n, uint8_t *mask)
{
  for (size_t k = 0; k < n; k++) {
    if (k && token_continues(t, id[k])) continue;
    for (size_t j = w->first ? w->first[id[k]] : 0; j; j = w->at[j - 1].next) {
      struct mark_word *word = &w->at[j - 1];
      if (!is_at(word, t, id + k, n - k)) continue;
      memset(mask + k, 255, word->n);
      word->found++;
    }
  }
}
