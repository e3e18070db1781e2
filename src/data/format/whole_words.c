#include "data/format/whole_words.h"

#include <string.h>

#include "base/mem.h"

/* What stands for the source at the beginning of a text. */
static const char HERE[] = "\1";

/* ---- Writing ---- */

static void put_number(FILE *f, uint64_t n)
{
  fwrite(&n, sizeof n, 1, f);
}

static void put_text(FILE *f, const char *text)
{
  fwrite(text, 1, strlen(text) + 1, f);
}

static void put_told(FILE *f, const char *source, const char *text)
{
  size_t n = strlen(source);
  bool here = !strncmp(text, source, n);
  if (here) fputs(HERE, f);
  put_text(f, here ? text + n : text);
}

/* How many there are and one more, so that a list that is missing is not an empty one. Only sentences begin with the
 * source: in other names HERE stands for itself. */
static void put_names(FILE *f, const char *source, const struct names *l)
{
  put_number(f, l ? l->n + 1 : 0);
  for (size_t k = 0; l && k < l->n; k++) put_told(f, source, l->name[k]);
}

static void put_extras(FILE *f, const struct extras *x)
{
  put_number(f, x ? x->n + 1 : 0);
  for (size_t k = 0; x && k < x->n; k++) {
    put_text(f, x->column[k].name);
    put_number(f, x->column[k].rows);
    for (size_t i = 0; i < x->column[k].rows; i++) put_text(f, extras_at(x, k, i));
  }
}

void whole_put_words(FILE *f, const char *source, const r4_data *d)
{
  put_told(f, source, d->about);
  put_names(f, HERE, d->classes);
  put_names(f, HERE, d->groups == d->classes ? NULL : d->groups);
  put_names(f, HERE, d->files);
  put_names(f, HERE, d->ids);
  put_names(f, source, d->notes);
  put_names(f, HERE, d->pieces);
  put_extras(f, d->extras);
}

/* ---- Reading ---- */

struct words {
  const char *at, *end;
  r4_error *e;
};

static r4_status damaged(struct words *w)
{
  w->at = w->end;
  return r4_fail(w->e, R4_E_PARSE, "the cache is damaged");
}

static r4_status take_number(struct words *w, uint64_t *n)
{
  *n = 0;
  if ((size_t)(w->end - w->at) < sizeof *n) return damaged(w);
  memcpy(n, w->at, sizeof *n);
  w->at += sizeof *n;
  return R4_OK;
}

static r4_status take_text(struct words *w, const char **text)
{
  const char *zero = memchr(w->at, 0, (size_t)(w->end - w->at));
  *text = w->at;
  if (!zero) return damaged(w);
  w->at = zero + 1;
  return R4_OK;
}

/* A text with the source in its place: r4_string_free. */
static r4_status take_told(struct words *w, const char *source, char **told)
{
  const char *text;
  struct text t = {0};
  *told = NULL;
  r4_status s = take_text(w, &text);
  if (s) return s;
  bool here = *text == *HERE;
  text_add(&t, "%s%s", here ? source : "", text + here);
  *told = text_done(&t, "the words of a cache", w->e);
  return *told ? R4_OK : R4_E_MEMORY;
}

static r4_status take_names(struct words *w, const char *source, struct names **l)
{
  uint64_t n;
  r4_status s = take_number(w, &n);
  if (s || !n) return s;
  if (!*l) *l = names_new(w->e);
  if (!*l) return R4_E_MEMORY;
  while (!s && --n) {
    char *told;
    s = take_told(w, source, &told);
    if (!s) s = names_add(*l, told, NULL, w->e);
    r4_string_free(told);
  }
  return s;
}

static r4_status take_extra(struct words *w, struct extras *x)
{
  const char *name, *text;
  uint64_t rows;
  size_t column;
  r4_status s = take_text(w, &name);
  if (!s) s = take_number(w, &rows);
  if (!s) s = extras_column(x, name, &column, w->e);
  if (!s && column == EXTRAS_MOST) return damaged(w);
  for (uint64_t i = 0; !s && i < rows; i++) {
    s = take_text(w, &text);
    if (!s) s = extras_set(x, column, i, text, w->e);
  }
  return s;
}

static r4_status take_extras(struct words *w, r4_data *d)
{
  uint64_t n;
  r4_status s = take_number(w, &n);
  if (s || !n) return s;
  if (n > EXTRAS_MOST + 1) return damaged(w);
  if (!(d->extras = extras_new(w->e))) return R4_E_MEMORY;
  while (!s && --n) s = take_extra(w, d->extras);
  return s;
}

r4_status whole_take_words(const uint8_t *bytes, size_t size, const char *source, r4_data *d, r4_error *e)
{
  struct words w = {(const char *)bytes, (const char *)bytes + size, e};
  char *about;
  r4_status s = take_told(&w, source, &about);
  if (!s) s = data_set_about(d, e, "%s", about);
  r4_string_free(about);
  struct names **const list[] = {&d->classes, &d->groups, &d->files, &d->ids, &d->notes, &d->pieces};
  for (size_t k = 0; !s && k < sizeof list / sizeof *list; k++)
    s = take_names(&w, list[k] == &d->notes ? source : HERE, list[k]);
  if (!s) s = take_extras(&w, d);
  return s || w.at == w.end ? s : damaged(&w);
}
