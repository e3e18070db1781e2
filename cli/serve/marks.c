/* marks.json: what a person has said, of findings and of the photos that show them.
 *
 *   {"version": 1, "mask_means": "irrelevant",
 *    "findings": [{"key", "id", "what", "answer": "core", "irrelevant" or "unsure", "edit": 3} ..],
 *    "photos": [{"finding": key, "file", "answer": "accepted" or "rejected"} ..]}
 *
 * The file is what counts: it is read again whenever somebody has changed it, and a change that cannot be written is
 * taken back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

static const char file[] = "marks.json";

static void clear_decision(struct decision *d)
{
  free(d->key), free(d->id), free(d->what), free(d->answer);
}

static void clear_judged(struct judged *j)
{
  free(j->key), free(j->file), free(j->answer);
}

void marks_clear(struct marks *m)
{
  for (size_t k = 0; k < m->n; k++) clear_decision(m->decision + k);
  for (size_t k = 0; k < m->judged; k++) clear_judged(m->judge + k);
  free(m->decision);
  free(m->judge);
  *m = (struct marks){0};
}

static r4_status no_memory(r4_error *e)
{
  snprintf(e->text, sizeof e->text, "%s: out of memory", file);
  return e->status = R4_E_MEMORY;
}

/* Room for one more element of a list: NULL when out of memory. */
static void *more(void *list, size_t n, size_t size)
{
  return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size);
}

static r4_status add_decision(struct marks *m, const char *key, const char *id, const char *what,
                              const char *answer, int64_t edit, r4_error *e)
{
  struct decision *list = more(m->decision, m->n, sizeof *list);
  if (!list) return no_memory(e);
  m->decision = list;
  struct decision d = {strdup(key), strdup(id), strdup(what), strdup(answer), edit};
  if (d.key && d.id && d.what && d.answer) {
    list[m->n++] = d;
    return R4_OK;
  }
  clear_decision(&d);
  return no_memory(e);
}

static r4_status add_judged(struct marks *m, const char *key, const char *name, const char *answer,
                            r4_error *e)
{
  struct judged *list = more(m->judge, m->judged, sizeof *list);
  if (!list) return no_memory(e);
  m->judge = list;
  struct judged j = {strdup(key), strdup(name), strdup(answer)};
  if (j.key && j.file && j.answer) {
    list[m->judged++] = j;
    return R4_OK;
  }
  clear_judged(&j);
  return no_memory(e);
}

/* ---- Reading ---- */

static r4_status damaged(r4_error *e, const char *list, size_t k)
{
  snprintf(e->text, sizeof e->text,
           "%s: entry %zu of \"%s\" is not one that r4 serve writes; fix or move the file", file, k + 1,
           list);
  return e->status = R4_E_PARSE;
}

static r4_status read_decision(struct marks *m, const r4_json_value *v, size_t k, r4_error *e)
{
  const char *text[4];
  static const char *const field[] = {"key", "id", "what", "answer"};
  double edit = 0;
  for (size_t i = 0; i < 4; i++)
    if (!(text[i] = r4_json_as_text(r4_json_get(v, field[i])))) return damaged(e, "findings", k);
  if (!r4_json_as_real(r4_json_get(v, "edit"), &edit) || !(edit >= 0 && edit < 1e15))
    return damaged(e, "findings", k);
  return add_decision(m, text[0], text[1], text[2], text[3], (int64_t)edit, e);
}

static r4_status read_judged(struct marks *m, const r4_json_value *v, size_t k, r4_error *e)
{
  const char *key = r4_json_as_text(r4_json_get(v, "finding")),
             *name = r4_json_as_text(r4_json_get(v, "file")),
             *answer = r4_json_as_text(r4_json_get(v, "answer"));
  return key && name && answer ? add_judged(m, key, name, answer, e) : damaged(e, "photos", k);
}

static r4_status parse(struct marks *m, const uint8_t *bytes, size_t size, r4_error *e)
{
  r4_json_value *root = r4_json_parse(file, bytes, size, e);
  if (!root) return e->status;
  const r4_json_value *findings = r4_json_get(root, "findings"), *photos = r4_json_get(root, "photos");
  double version = 0;
  r4_status s = R4_OK;
  if (!findings || !photos || !r4_json_as_real(r4_json_get(root, "version"), &version) || version != 1) {
    snprintf(e->text, sizeof e->text, "%s: is not of version 1, the one that this r4 reads; move the file",
             file);
    s = e->status = R4_E_PARSE;
  }
  for (size_t k = 0; !s && k < r4_json_size(findings); k++)
    s = read_decision(m, r4_json_at(findings, k), k, e);
  for (size_t k = 0; !s && k < r4_json_size(photos); k++) s = read_judged(m, r4_json_at(photos, k), k, e);
  r4_json_value_free(root);
  return s;
}

static r4_status read_again(struct site *s, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  struct marks fresh = {0};
  int why = place_read(s, file, MOST_FILE, &bytes, &size, &fresh.stamp, e);
  r4_status status = why == ENOENT ? R4_OK : why ? R4_E_IO : parse(&fresh, bytes, size, e);
  free(bytes);
  if (status) {
    marks_clear(&fresh);
    return status;
  }
  marks_clear(&s->marks);
  s->marks = fresh;
  return R4_OK;
}

r4_status marks_refresh(struct site *s, r4_error *e)
{
  struct stamp now = {0};
  int why = place_stat(s, file, &now);
  bool same = why == ENOENT ? !s->marks.stamp.inode : !why && stamp_equal(&now, &s->marks.stamp);
  return same ? R4_OK : read_again(s, e);
}

/* ---- Writing ---- */

static r4_json *write(const struct marks *m)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_whole(w, "version", 1);
  r4_json_text(w, "mask_means", "irrelevant");
  r4_json_break(w);
  r4_json_open(w, "findings", '[');
  for (size_t k = 0; k < m->n; k++) {
    const struct decision *d = m->decision + k;
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "key", d->key);
    r4_json_text(w, "id", d->id);
    r4_json_text(w, "what", d->what);
    r4_json_text(w, "answer", d->answer);
    r4_json_whole(w, "edit", d->edit);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  r4_json_break(w);
  r4_json_open(w, "photos", '[');
  for (size_t k = 0; k < m->judged; k++) {
    const struct judged *j = m->judge + k;
    r4_json_break(w);
    r4_json_open(w, NULL, '{');
    r4_json_text(w, "finding", j->key);
    r4_json_text(w, "file", j->file);
    r4_json_text(w, "answer", j->answer);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return w;
}

/* What is in memory goes to the disk; if it cannot, what is on the disk comes back. */
static r4_status keep(struct site *s, r4_status status, r4_error *e)
{
  if (!status) {
    r4_json *w = write(&s->marks);
    char *text = r4_json_take(w);
    r4_json_free(w);
    status = text ? place_write(s, file, text, strlen(text), e) : no_memory(e);
    r4_string_free(text);
  }
  r4_error other = {0};
  if (status)
    read_again(s, &other);
  else
    place_stat(s, file, &s->marks.stamp);
  return status;
}

/* ---- Questions and changes ---- */

r4_status marks_begin(struct site *s, r4_error *e)
{
  return s->marks.stamp.inode ? R4_OK : keep(s, R4_OK, e);
}

const struct decision *marks_decision(const struct marks *m, const char *key)
{
  for (size_t k = 0; k < m->n; k++)
    if (!strcmp(m->decision[k].key, key)) return m->decision + k;
  return NULL;
}

static r4_status set(char **to, const char *text, r4_error *e)
{
  char *copy = strdup(text);
  if (!copy) return no_memory(e);
  free(*to);
  *to = copy;
  return R4_OK;
}

r4_status marks_decide(struct site *s, const struct finding *f, const char *answer, r4_error *e)
{
  struct decision *d = (struct decision *)marks_decision(&s->marks, f->key);
  r4_status status =
    d ? set(&d->answer, answer, e) : add_decision(&s->marks, f->key, f->id, f->what, answer, 1, e);
  if (!status && d) d->edit++;
  return keep(s, status, e);
}

static r4_status judge_one(struct marks *m, const char *key, const char *name, const char *answer,
                           r4_error *e)
{
  size_t k = 0;
  while (k < m->judged && (strcmp(m->judge[k].file, name) || strcmp(m->judge[k].key, key))) k++;
  if (k == m->judged) return *answer ? add_judged(m, key, name, answer, e) : R4_OK;
  if (*answer) return set(&m->judge[k].answer, answer, e);
  clear_judged(m->judge + k);
  memmove(m->judge + k, m->judge + k + 1, (m->judged - k - 1) * sizeof *m->judge);
  m->judged--;
  return R4_OK;
}

r4_status marks_judge(struct site *s, const char *key, size_t n, const size_t *photo, const char *answer,
                      r4_error *e)
{
  r4_status status = R4_OK;
  for (size_t k = 0; !status && k < n; k++)
    status = judge_one(&s->marks, key, r4_photos_at(s->photos, photo[k]).name, answer, e);
  return keep(s, status, e);
}

char *marks_said(const struct site *s, const char *key)
{
  char *said = calloc(s->n + 1, 1);
  for (size_t k = 0; said && k < s->marks.judged; k++) {
    const struct judged *j = s->marks.judge + k;
    if (strcmp(j->key, key)) continue;
    size_t photo = site_photo(s, j->file);
    if (photo < s->n) said[photo] = *j->answer;
  }
  return said;
}
