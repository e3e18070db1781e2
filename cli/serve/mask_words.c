/* mask_words.txt: words that must not matter, one in each line, as data.mask_words of the settings reads it.
 *
 * The file is what counts: it is read again whenever somebody has changed it. A change adds words to what the file has
 * at that moment, or takes some out; without words there is no file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

const char words_file[] = "mask_words.txt";
static const char between[] = ", ;\t\r\n"; /* what separates words in such a file */

void words_clear(struct word_list *l)
{
  r4_listed_words_free(l->count);
  *l = (struct word_list){0};
}

static r4_status wrong(r4_error *e, r4_status s, const char *why)
{
  snprintf(e->text, sizeof e->text, "%s: %.450s", words_file, why);
  return e->status = s;
}

/* ---- Reading ---- */

static r4_status read_list(const struct site *s, struct word_list *to, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  char hex[R4_HASH_SIZE];
  r4_data_options o = corpus_reading(s);
  int why = place_read(s, words_file, MOST_JSON, &bytes, &size, &to->stamp, e);
  if (why && why != ENOENT) return R4_E_IO;
  r4_hash(bytes ? bytes : (const uint8_t *)"", size, hex);
  snprintf(to->version, sizeof to->version, "%.*s", VERSION_SIZE - 1, why ? "none" : hex);
  r4_status status = R4_OK;
  const char *text = bytes ? (const char *)bytes : "";
  if (strlen(text) != size) status = wrong(e, R4_E_PARSE, "has a zero byte: it is not a list of words");
  if (!strncmp(text, "\xef\xbb\xbf", 3)) text += 3;
  r4_error inner = {0};
  if (!status && !(to->count = r4_listed_words_count(s->corpus.data, text, &o, &inner)))
    status = wrong(e, inner.status, inner.text);
  free(bytes);
  return status;
}

r4_status words_refresh(struct site *s, r4_error *e)
{
  struct stamp now = {0};
  struct word_list fresh = {0};
  int why = place_stat(s, words_file, &now);
  bool same = why == ENOENT ? !s->words.stamp.inode : !why && stamp_equal(&now, &s->words.stamp);
  if (same && s->words.count) return R4_OK;
  r4_status status = read_list(s, &fresh, e);
  if (status) {
    words_clear(&fresh);
    return status;
  }
  words_clear(&s->words);
  s->words = fresh;
  return R4_OK;
}

bool words_has(const struct site *s, const char *word)
{
  for (size_t k = 0; k < r4_listed_words_size(s->words.count); k++)
    if (!strcmp(r4_listed_words_at(s->words.count, k).word, word)) return true;
  return false;
}

bool words_can_have(const char *word)
{
  size_t n = strlen(word);
  for (size_t k = 0; k < n; k++)
    if ((unsigned char)word[k] < ' ') return false;
  return n && n + 1 < MOST_WORD && strcspn(word, between) == n;
}

bool words_next(const char **at, char word[MOST_WORD])
{
  if (!*at || !**at) return false;
  const char *end = strstr(*at, ", ");
  size_t n = end ? (size_t)(end - *at) : strlen(*at);
  snprintf(word, MOST_WORD, "%.*s", (int)(n < MOST_WORD ? n : MOST_WORD), *at);
  *at = end ? end + 2 : *at + n;
  return true;
}

/* ---- Changing ---- */

/* words = "a, b": one of them is this. */
static bool is_among(const char *words, const char *word)
{
  char one[MOST_WORD];
  while (words_next(&words, one))
    if (!strcmp(one, word)) return true;
  return false;
}

static void write_list(FILE *f, const struct site *s, const char *add, const char *remove)
{
  char word[MOST_WORD];
  for (size_t k = 0; k < r4_listed_words_size(s->words.count); k++) {
    r4_listed_word one = r4_listed_words_at(s->words.count, k);
    if (!is_among(remove, one.word)) fprintf(f, "%s\n", one.word);
  }
  for (const char *at = add; words_next(&at, word);) {
    bool twice = false;
    char other[MOST_WORD];
    for (const char *before = add; before < at && words_next(&before, other) && before < at;)
      twice = twice || !strcmp(other, word);
    if (words_can_have(word) && !words_has(s, word) && !twice) fprintf(f, "%s\n", word);
  }
}

/* The file, or NULL when out of memory; free. */
static char *list_text(const struct site *s, const char *add, const char *remove)
{
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  write_list(f, s, add, remove);
  if (!fclose(f)) return text;
  free(text);
  return NULL;
}

static r4_status put_list(struct site *s, const char *text, r4_error *e)
{
  if (!text) return wrong(e, R4_E_MEMORY, "out of memory");
  size_t size = strlen(text);
  r4_status status = size > MOST_JSON ? wrong(e, R4_E_ARGUMENT, "the list would have more than 1 MB")
                     : size           ? place_write(s, words_file, text, size, e)
                                      : place_remove(s, words_file, e);
  return status ? status : words_refresh(s, e);
}

r4_status words_change(struct site *s, const char *add, const char *remove, r4_error *e)
{
  char *text = list_text(s, add, remove);
  r4_status status = put_list(s, text, e);
  free(text);
  return status;
}

/* Another finding that must not matter has the word, too. */
static bool is_needed(const struct site *s, const struct finding *f, const char *word)
{
  for (size_t k = 0; k < s->found.n; k++) {
    const struct finding *other = s->found.finding + k;
    const struct decision *d = marks_decision(&s->marks, other->key);
    if (strcmp(other->key, f->key) && d && !strcmp(d->answer, "irrelevant") && is_among(other->words, word))
      return true;
  }
  return false;
}

/* Its words, but those that another one needs. */
static r4_status take_back(struct site *s, const struct finding *f, r4_error *e)
{
  char word[MOST_WORD];
  r4_status status = R4_OK;
  for (const char *at = f->words; !status && words_next(&at, word);)
    if (words_has(s, word) && !is_needed(s, f, word)) status = words_change(s, NULL, word, e);
  return status;
}

static r4_status follow(struct site *s, const struct finding *f, const char *answer, r4_error *e)
{
  const struct decision *d = marks_decision(&s->marks, f->key);
  if (s->refuses_words || !f->words) return R4_OK;
  if (!strcmp(answer, "irrelevant")) return words_change(s, f->words, NULL, e);
  return d && !strcmp(d->answer, "irrelevant") ? take_back(s, f, e) : R4_OK;
}

r4_status words_decide(struct site *s, const struct finding *f, const char *answer, r4_error *e)
{
  r4_error other = {0};
  char *was = list_text(s, NULL, NULL), version[VERSION_SIZE];
  memcpy(version, s->words.version, sizeof version);
  r4_status status = was ? follow(s, f, answer, e) : wrong(e, R4_E_MEMORY, "out of memory");
  if (!status) status = marks_decide(s, f, answer, e);
  if (status && was && strcmp(version, s->words.version)) put_list(s, was, &other);
  free(was);
  return status;
}
