/* The list of words that must not matter, of texts. */
#include <string.h>

#include "serve/answers.h"

/* ---- What it is ---- */

static void put_word(r4_json *w, const struct site *s, r4_listed_word one)
{
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "word", one.word);
  r4_json_flag(w, "known", one.known);
  r4_json_whole(w, "texts", (int64_t)one.texts);
  r4_json_open(w, "of", '[');
  for (size_t c = 0; c < r4_data_classes(s->corpus.data); c++) {
    if (!one.of_class[c]) continue;
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "class", r4_data_class_name(s->corpus.data, c));
    r4_json_whole(w, "texts", (int64_t)one.of_class[c]);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}

static void put_list(const struct site *s, struct answer *a)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "file", words_file);
  r4_json_text(w, "version", s->words.version);
  r4_json_text(w, "refuses", s->refuses_words);
  r4_json_whole(w, "texts", (int64_t)r4_listed_words_texts(s->words.count));
  r4_json_whole(w, "all", (int64_t)s->n);
  r4_json_open(w, "words", '[');
  for (size_t k = 0; k < r4_listed_words_size(s->words.count); k++)
    put_word(w, s, r4_listed_words_at(s->words.count, k));
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  answer_json(a, w);
}

void answer_words(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r, (void)body;
  put_list(s, a);
}

/* ---- What becomes of it ---- */

/* {"add": word} or {"remove": word}, and "base": the list that whoever asks has seen. A word, as it is in the list. */
void answer_edit_words(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  r4_error e = {0};
  const char *add = r4_json_as_text(r4_json_get(body, "add")),
             *out = r4_json_as_text(r4_json_get(body, "remove")),
             *base = r4_json_as_text(r4_json_get(body, "base")), *word = add ? add : out;
  if (!word || (add && out) || !base) {
    answer_error(a, 400, "expected base, and one of add and remove");
    return;
  }
  if (s->refuses_words) {
    answer_error(a, 400, "the list cannot be edited here: %s", s->refuses_words);
    return;
  }
  if (!words_can_have(word)) {
    answer_error(
      a, 400,
      "expected one word of less than %d bytes, without blanks, commas and semicolons, which separate "
      "words in %s",
      MOST_WORD - 1, words_file);
    return;
  }
  if (strcmp(base, s->words.version)) {
    answer_error(a, 409, "%s was changed elsewhere, in another tab or by another program: look at it first",
                 words_file);
    return;
  }
  r4_status status = words_change(s, add, out, &e);
  if (status)
    answer_failed(a, status, &e);
  else
    put_list(s, a);
}

/* ---- Of a finding ---- */

static const char *cannot(const struct finding *f)
{
  char word[MOST_WORD];
  const char *kind = r4_json_as_text(r4_json_get(f->json, "kind"));
  size_t n = 0;
  if (!f->words) return "This is in no word, so that nothing can be masked for it.";
  for (const char *at = f->words; words_next(&at, word); n++)
    if (!words_can_have(word))
      return "Commas and semicolons separate words in the list, and cannot be in it themselves.";
  if (n > 1) return "The list has these words one by one: each is masked wherever it stands.";
  return kind && !strcmp(kind, "position") ? "The list masks the word wherever it stands, not only there."
                                           : NULL;
}

void put_words_of(r4_json *w, const struct site *s, const struct finding *f)
{
  char word[MOST_WORD];
  bool listed = false, missing = false;
  r4_json_open(w, "words", '[');
  for (const char *at = f->words; words_next(&at, word);) {
    r4_json_text(w, NULL, word);
    *(words_has(s, word) ? &listed : &missing) = true;
  }
  r4_json_close(w, ']');
  r4_json_flag(w, "listed", listed && !missing);
  r4_json_text(w, "note", cannot(f));
}
