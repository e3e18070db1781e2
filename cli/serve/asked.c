/* What requests name: photos, findings, numbers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/answers.h"

bool asked_whole(const struct request *r, const char *name, long otherwise, long least, long most, long *to,
                 struct answer *a)
{
  const char *text = r->argument(r->from, name);
  char *end = NULL;
  *to = otherwise;
  if (!text) return true;
  errno = 0;
  *to = strtol(text, &end, 10);
  if (end != text && !*end && !errno && *to >= least && *to <= most) return true;
  answer_error(a, 400, "%s: expected a whole number from %ld to %ld", name, least, most);
  return false;
}

size_t asked_photo(const struct site *s, const struct request *r, struct answer *a)
{
  long k = 0;
  if (!r->argument(r->from, "photo"))
    answer_error(a, 400, "no photo is named");
  else if (asked_whole(r, "photo", 0, 0, (long)s->n - 1, &k, a))
    return (size_t)k;
  return s->n;
}

size_t told_photo(const struct site *s, const r4_json_value *object, struct answer *a)
{
  double k = -1;
  if (r4_json_as_real(r4_json_get(object, "photo"), &k) && k >= 0 && k < (double)s->n && floor(k) == k)
    return (size_t)k;
  answer_error(a, 400, "photo: expected a whole number below %zu", s->n);
  return s->n;
}

const struct finding *asked_finding(struct site *s, const char *key, struct answer *a)
{
  r4_error e = {0};
  int why = found_refresh(s, &e);
  if (why && why != ENOENT) {
    answer_error(a, 500, "%s", e.text);
    return NULL;
  }
  const struct finding *f = why ? NULL : found_get(&s->found, key);
  if (!f)
    answer_error(a, 404, "find.json has no such finding any more: search again, or load the page again");
  return f;
}

void answer_task(const struct task *t, struct answer *a)
{
  if (!t) {
    answer_error(a, 409, "too much waits already: let some of it be done first");
    return;
  }
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_whole(w, "task", t->number);
  r4_json_close(w, '}');
  answer_json(a, w);
}
