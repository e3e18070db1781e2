/* What was found, and what was said of it. */
#include <errno.h>
#include <string.h>

#include "serve/answers.h"

enum { EXAMPLES = 12, SENTENCES = 6 }; /* shown with a finding */

static void put_text(r4_json *w, const r4_json_value *from, const char *key)
{
  r4_json_text(w, key, r4_json_as_text(r4_json_get(from, key)));
}

static void put_real(r4_json *w, const r4_json_value *from, const char *key)
{
  double v;
  if (r4_json_as_real(r4_json_get(from, key), &v))
    r4_json_real(w, key, v);
  else
    r4_json_text(w, key, NULL);
}

static void put_flag(r4_json *w, const r4_json_value *from, const char *key)
{
  bool v = false;
  r4_json_as_flag(r4_json_get(from, key), &v);
  r4_json_flag(w, key, v);
}

static void put_box(r4_json *w, const r4_json_value *box)
{
  double v;
  if (r4_json_size(box) != 4) return;
  r4_json_open(w, "box", '[');
  for (size_t k = 0; k < 4; k++) r4_json_real(w, NULL, r4_json_as_real(r4_json_at(box, k), &v) ? v : 0);
  r4_json_close(w, ']');
}

static void put_examples(r4_json *w, const struct site *s, const r4_json_value *examples)
{
  size_t shown = 0;
  r4_json_whole(w, "photos", (int64_t)r4_json_size(examples));
  r4_json_open(w, "examples", '[');
  for (size_t k = 0; k < r4_json_size(examples) && shown < EXAMPLES; k++) {
    const r4_json_value *one = r4_json_at(examples, k);
    const char *file = r4_json_as_text(r4_json_get(one, "file"));
    size_t photo = file ? site_photo(s, file) : s->n;
    if (photo == s->n) continue;
    shown++;
    r4_json_open(w, NULL, '{');
    r4_json_whole(w, "photo", (int64_t)photo);
    r4_json_text(w, "file", file);
    r4_json_text(w, "label", r4_photos_at(s->photos, photo).label);
    put_real(w, one, "score");
    put_box(w, r4_json_get(one, "box"));
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
}

static void put_sentences(r4_json *w, const r4_json_value *examples)
{
  r4_json_whole(w, "texts", (int64_t)r4_json_size(examples));
  r4_json_open(w, "examples", '[');
  for (size_t k = 0; k < r4_json_size(examples) && k < SENTENCES; k++) {
    const r4_json_value *one = r4_json_at(examples, k);
    r4_json_open(w, NULL, '{');
    put_text(w, one, "text");
    put_text(w, one, "label");
    put_text(w, one, "file");
    put_real(w, one, "number");
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
}

static void put_finding(r4_json *w, const struct site *s, const struct finding *f)
{
  static const char *const texts[] = {"id", "kind", "what", "where", "class", "next"};
  static const char *const reals[] = {"shown_on", "of_class", "base", "p", "lean", "lean_se"};
  const struct decision *d = marks_decision(&s->marks, f->key);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "key", f->key);
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) put_text(w, f->json, texts[k]);
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) put_real(w, f->json, reals[k]);
  put_flag(w, f->json, "pure");
  put_flag(w, f->json, "local");
  r4_json_text(w, "answer", d ? d->answer : NULL);
  r4_json_whole(w, "edit", d ? d->edit : 0);
  if (s->corpus.data) put_words_of(w, s, f);
  if (s->corpus.data)
    put_sentences(w, r4_json_get(f->json, "examples"));
  else
    put_examples(w, s, r4_json_get(f->json, "examples"));
  r4_json_close(w, '}');
}

void answer_findings(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r, (void)body;
  r4_error e = {0};
  int why = found_refresh(s, &e);
  if (why && why != ENOENT) {
    answer_error(a, 500, "%s", e.text);
    return;
  }
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_flag(w, "searched", !why);
  if (!why) put_text(w, s->found.root, "sentence");
  if (!why) put_real(w, s->found.root, "tried");
  if (!why) put_real(w, s->found.root, "level");
  r4_json_flag(w, "net", !why && r4_json_get(r4_json_get(s->found.root, "net"), "run"));
  r4_json_open(w, "findings", '[');
  for (size_t k = 0; k < s->found.n; k++) put_finding(w, s, s->found.finding + k);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  answer_json(a, w);
}

/* {"finding": key, "answer": core, irrelevant or unsure, "edit": what it was based on} */
void answer_decide(struct site *s, const struct request *r, const r4_json_value *body, struct answer *a)
{
  (void)r;
  r4_error e = {0};
  const char *answer = r4_json_as_text(r4_json_get(body, "answer"));
  double edit = -1;
  const struct finding *f = asked_finding(s, r4_json_as_text(r4_json_get(body, "finding")), a);
  if (!f) return;
  const struct decision *d = marks_decision(&s->marks, f->key);
  if (!answer || (strcmp(answer, "core") && strcmp(answer, "irrelevant") && strcmp(answer, "unsure"))) {
    answer_error(a, 400, "answer: expected core, irrelevant or unsure");
    return;
  }
  if (!r4_json_as_real(r4_json_get(body, "edit"), &edit) || edit != (d ? (double)d->edit : 0)) {
    answer_error(a, 409, "this finding was decided elsewhere, perhaps in another tab: %s",
                 d ? d->answer : "not yet");
    return;
  }
  r4_status status = s->corpus.data ? words_decide(s, f, answer, &e) : marks_decide(s, f, answer, &e);
  if (status) {
    answer_failed(a, status, &e);
    return;
  }
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "answer", answer);
  r4_json_whole(w, "edit", marks_decision(&s->marks, f->key)->edit);
  if (s->corpus.data) put_words_of(w, s, f);
  r4_json_close(w, '}');
  answer_json(a, w);
}
