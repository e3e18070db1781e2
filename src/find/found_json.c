/* find.json: what was found, for programs that go on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "find/find.h"
#include "find/text_words.h"

enum { VERSION = 1, MOST_BYTES = 1 << 28, AROUND = 12 };

/* ---- Words ---- */

char *r4_found_sentence(const r4_found *f)
{
  struct text t = {0};
  if (!f) return NULL;
  if (f->n)
    text_add(&t, "%zu cue%s for the label, among %llu tests.", f->n, f->n > 1 ? "s" : "",
             (unsigned long long)f->tried);
  else
    text_add(&t, "Nothing was found that gives the label away: none of %llu tests says so at level %g.",
             (unsigned long long)f->tried, f->level);
  return text_take(&t);
}

char *r4_data_snippet(const r4_data *d, size_t i, int64_t token, r4_error *e)
{
  NEEDS(d, "data", NULL);
  struct text t = {0};
  if (i >= d->n || !data_x(d)->is->ids) {
    r4_fail(e, R4_E_ARGUMENT, "example %zu is not a text", i);
    return NULL;
  }
  size_t at = token > 0 ? (size_t)token : 0, from = at > AROUND ? at - AROUND : 0;
  if (from) text_add(&t, ".. ");
  text_of_tokens(&t, d, i, from, 2 * AROUND);
  if (from + 2 * AROUND < column_length(data_x(d), d->record[i].row)) text_add(&t, " ..");
  return text_done(&t, "a text", e);
}

/* A word of a command for a shell. */
static void add_word(struct text *t, const char *s)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:+,@%=";
  if (*s && !s[strspn(s, plain)]) {
    text_add(t, "%s", s);
    return;
  }
  text_add(t, "'");
  for (; *s; s++) text_add(t, *s == '\'' ? "'\\''" : "%c", *s);
  text_add(t, "'");
}

static char *next_of(const r4_clue *c, const char *source, const char *run, r4_error *e)
{
  struct text t = {0};
  text_add(&t, "r4 find ");
  add_word(&t, source ? source : "DATA");
  if (run && !strcmp(run, "quick"))
    text_add(&t, " --quick-net");
  else if (run)
    text_add(&t, " --run "), add_word(&t, run);
  text_add(&t, " --propose %s%s", c->id,
           c->sightings && c->sighting->token < 0 && c->kind != R4_CLUE_LENGTH ? " --out masks" : "");
  return text_done(&t, "a command", e);
}

/* ---- Which data ---- */

/* The hash without masks: a person draws these because of what was found, and goes on with the same findings. */
static r4_status hash_of(const r4_data *d, char hex[R4_HASH_SIZE], r4_error *e)
{
  r4_data *bare = data_derive(d, e);
  if (!bare) return R4_E_MEMORY;
  for (size_t i = 0; i < bare->n; i++) bare->record[i].mask = 0;
  r4_data_hash(bare, hex);
  r4_data_free(bare);
  return R4_OK;
}

/* ---- Writing ---- */

static void write_data(struct json_writer *w, const r4_data *d, const char *source)
{
  char hash[R4_HASH_SIZE] = "";
  r4_counts all = r4_data_counts(d, -1, -1);
  if (hash_of(d, hash, NULL)) w->text.failed = true;
  jw_break(w);
  jw_open(w, "data", '{');
  jw_text(w, "source", source);
  jw_text(w, "hash", hash);
  jw_text(w, "kind", data_x(d)->is->ids ? "texts" : "images");
  jw_whole(w, "examples", (int64_t)d->n);
  jw_whole(w, "training", (int64_t)all.examples[R4_TRAIN]);
  jw_open(w, "classes", '[');
  for (size_t k = 0; k < d->classes->n; k++) jw_text(w, NULL, d->classes->name[k]);
  jw_close(w, ']');
  jw_open(w, "counts", '[');
  for (size_t k = 0; k < d->classes->n; k++)
    jw_whole(w, NULL, (int64_t)r4_data_counts(d, (int32_t)k, -1).examples[R4_TRAIN]);
  jw_close(w, ']');
  jw_close(w, '}');
}

static void write_box(struct json_writer *w, const double box[4])
{
  if (!(box[2] > 0)) {
    jw_real(w, "box", NAN); /* null */
    return;
  }
  jw_open(w, "box", '[');
  for (int k = 0; k < 4; k++) jw_real(w, NULL, box[k]);
  jw_close(w, ']');
}

static r4_status write_sighting(struct json_writer *w, const r4_data *d, const r4_sighting *s, r4_error *e)
{
  r4_example x = r4_data_example(d, s->example);
  bool text = data_x(d)->is->ids;
  char *words = text ? r4_data_snippet(d, s->example, s->token, e) : NULL;
  if (text && !words) return R4_E_MEMORY;
  jw_open(w, NULL, '{');
  jw_text(w, "file", x.file);
  jw_whole(w, "number", (int64_t)s->example);
  jw_text(w, "label", d->classes->name[x.label]);
  jw_text(w, "split", split_words[x.split]);
  jw_real(w, "score", s->score);
  write_box(w, s->box);
  if (text) jw_whole(w, "token", s->token), jw_text(w, "text", words);
  jw_close(w, '}');
  r4_string_free(words);
  return R4_OK;
}

static r4_status write_clue(struct json_writer *w, const r4_data *d, const r4_clue *c, const char *source,
                            const char *run, r4_error *e)
{
  char *next = next_of(c, source, run, e);
  r4_status s = next ? R4_OK : R4_E_MEMORY;
  jw_break(w);
  jw_open(w, NULL, '{');
  jw_text(w, "id", c->id);
  jw_text(w, "kind", r4_clue_kind_name(c->kind));
  jw_text(w, "what", c->what);
  jw_text(w, "where", c->where);
  jw_text(w, "class", d->classes->name[c->label]);
  jw_whole(w, "shown_on", (int64_t)c->shown_on);
  jw_whole(w, "of_class", (int64_t)c->of_class);
  jw_real(w, "base", c->base);
  jw_real(w, "p", c->p);
  jw_flag(w, "pure", c->pure);
  jw_flag(w, "local", c->local);
  jw_real(w, "lean", c->lean);
  jw_real(w, "lean_se", c->lean_se);
  jw_text(w, "words", c->words);
  jw_open(w, "examples", '[');
  for (size_t k = 0; !s && k < c->sightings; k++) s = write_sighting(w, d, c->sighting + k, e);
  jw_close(w, ']');
  jw_text(w, "next", next);
  jw_close(w, '}');
  r4_string_free(next);
  return s;
}

char *r4_found_json(const r4_found *f, const r4_data *d, const char *source, const char *run, r4_error *e)
{
  NEEDS(f, "what was found", NULL);
  NEEDS(d, "data", NULL);
  struct json_writer w = {0};
  char *sentence = r4_found_sentence(f);
  r4_status s = R4_OK;
  jw_open(&w, NULL, '{');
  jw_whole(&w, "version", VERSION);
  write_data(&w, d, source);
  jw_break(&w);
  if (run) {
    jw_open(&w, "net", '{');
    jw_text(&w, "run", run);
    jw_close(&w, '}');
  } else {
    jw_text(&w, "net", NULL);
  }
  jw_whole(&w, "tried", (int64_t)f->tried);
  jw_real(&w, "level", f->level);
  jw_break(&w);
  jw_text(&w, "sentence", sentence);
  jw_open(&w, "findings", '[');
  for (size_t k = 0; !s && k < f->n; k++) {
    r4_clue c = r4_found_at(f, k);
    s = write_clue(&w, d, &c, source, run, e);
  }
  jw_close(&w, ']');
  jw_close(&w, '}');
  char *text = text_done(&w.text, "what was found", e);
  if (!sentence || s) r4_string_free(text), text = NULL;
  if (!sentence) r4_fail(e, R4_E_MEMORY, "out of memory for what was found");
  r4_string_free(sentence);
  return text;
}

r4_status r4_found_save(const r4_found *f, const r4_data *d, const char *source, const char *run,
                        const char *file, r4_error *e)
{
  NEEDS(f, "what was found", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(file, "a file", R4_E_ARGUMENT);
  r4_error own = {0};
  char *text = r4_found_json(f, d, source, run, &own);
  if (!text) {
    if (e) *e = own;
    return own.status;
  }
  r4_status s = file_write(file, text, strlen(text), e);
  r4_string_free(text);
  return s;
}

/* ---- Reading ---- */

/* A file in hand. */
struct reading {
  const r4_data *d;
  const char *file;
  r4_error *e;
};

static r4_status wrong(const struct reading *r, const char *what)
{
  return r4_fail(r->e, R4_E_PARSE, "%s: %s is missing or not what it should be", r->file, what);
}

static r4_status read_sighting(const struct reading *r, const struct js *v, struct clue *c, size_t *room)
{
  r4_sighting s = {.token = -1};
  int64_t number = -1;
  const struct js *box = js_get(v, "box");
  if (!js_whole(js_get(v, "number"), &number) || number < 0 || (size_t)number >= r->d->n)
    return wrong(r, "the number of an example");
  s.example = (size_t)number;
  js_whole(js_get(v, "token"), &s.token);
  if (!js_number(js_get(v, "score"), &s.score)) return wrong(r, "a score");
  for (size_t k = 0; js_size(box) == 4 && k < 4; k++)
    if (!js_number(js_at(box, k), s.box + k) || !(s.box[k] >= 0 && s.box[k] <= 1)) return wrong(r, "a box");
  return clue_sight(c, room, s, r->e);
}

static r4_status read_kind(const struct reading *r, const struct js *v, r4_clue_kind *to)
{
  const char *name = js_text(js_get(v, "kind"));
  for (int k = 0; name && k < R4_CLUE_KINDS; k++) {
    *to = (r4_clue_kind)k;
    if (!strcmp(r4_clue_kind_name(*to), name)) return R4_OK;
  }
  return wrong(r, "the kind of a finding");
}

static r4_status read_numbers(const struct reading *r, const struct js *v, r4_clue *c)
{
  int64_t shown_on = -1, of_class = -1;
  if (!js_whole(js_get(v, "shown_on"), &shown_on) || !js_whole(js_get(v, "of_class"), &of_class) ||
      shown_on < 0 || of_class < 0)
    return wrong(r, "how many examples show a finding");
  c->shown_on = (size_t)shown_on;
  c->of_class = (size_t)of_class;
  js_number(js_get(v, "base"), &c->base);
  js_number(js_get(v, "p"), &c->p);
  js_number(js_get(v, "lean"), &c->lean);
  js_number(js_get(v, "lean_se"), &c->lean_se);
  js_flag(js_get(v, "pure"), &c->pure);
  js_flag(js_get(v, "local"), &c->local);
  return R4_OK;
}

static void copy_text(char *to, size_t size, const struct js *from)
{
  const char *text = js_text(from);
  snprintf(to, size, "%s", text ? text : "");
}

static r4_status read_clue(const struct reading *r, const struct js *v, struct clue *c)
{
  const char *class = js_text(js_get(v, "class")), *words = js_text(js_get(v, "words"));
  const struct js *list = js_get(v, "examples");
  uint32_t label = 0;
  size_t room = 0;
  copy_text(c->text->id, FIND_ID, js_get(v, "id"));
  copy_text(c->text->where, FIND_WHERE, js_get(v, "where"));
  copy_text(c->text->what, R4_ERROR_SIZE, js_get(v, "what"));
  if (!*c->text->id) return wrong(r, "the id of a finding");
  if (!class || !names_find(r->d->classes, class, &label)) return wrong(r, "the class of a finding");
  c->is.label = (int32_t)label;
  if (words && !(c->word = mem_copy(words, r->e))) return R4_E_MEMORY;
  r4_status s = read_kind(r, v, &c->is.kind);
  if (!s) s = read_numbers(r, v, &c->is);
  for (const struct js *one = NULL; !s && list && (one = js_next(list, one));)
    s = read_sighting(r, one, c, &room);
  return s;
}

/* What differs between the data that a file was written for and these, as far as the file says. */
static void say_difference(const struct reading *r, const struct js *data, char to[256])
{
  const struct js *classes = js_get(data, "classes");
  size_t n = r4_data_counts(r->d, -1, -1).examples[R4_TRAIN];
  int64_t examples = -1, training = -1;
  bool same = js_size(classes) == r->d->classes->n;
  js_whole(js_get(data, "examples"), &examples);
  js_whole(js_get(data, "training"), &training);
  for (size_t k = 0; same && k < r->d->classes->n; k++) {
    const char *name = js_text(js_at(classes, k));
    same = name && !strcmp(name, r->d->classes->name[k]);
  }
  if (examples != (int64_t)r->d->n)
    snprintf(to, 256, "of %lld examples, and these are %zu", (long long)examples, r->d->n);
  else if (!same)
    snprintf(to, 256, "with other classes, or in another order");
  else if (training != (int64_t)n)
    snprintf(to, 256, "with %lld examples for training, and these have %zu: the parts are others (metadata.csv, seed)",
             (long long)training, n);
  else
    snprintf(to, 256, "of as many examples: content, labels, parts, order or size is another (--size, metadata.csv)");
}

static r4_status check(const struct reading *r, const struct js *root)
{
  char hash[R4_HASH_SIZE], how[256];
  int64_t version = 0;
  const struct js *data = js_get(root, "data");
  const char *has = js_text(js_get(data, "hash"));
  if (!js_whole(js_get(root, "version"), &version) || !has)
    return wrong(r, "the version or the hash of the data");
  if (version != VERSION)
    return r4_fail(r->e, R4_E_ARGUMENT, "%s: is of version %lld, expected %d", r->file, (long long)version,
                   VERSION);
  r4_status s = hash_of(r->d, hash, r->e);
  if (s) return s;
  if (!strcmp(hash, has)) return R4_OK;
  say_difference(r, data, how);
  return r4_fail(r->e, R4_E_ARGUMENT,
                 "%s: is about other data, %s; read the data as for that search, or search again with --out", r->file,
                 how);
}

static r4_status read_all(const struct reading *r, const struct js *root, r4_found *f)
{
  const struct js *list = js_get(root, "findings");
  int64_t tried = 0;
  r4_status s = check(r, root);
  if (!s && js_kind(list) != JS_LIST) s = wrong(r, "the list of findings");
  js_whole(js_get(root, "tried"), &tried);
  js_number(js_get(root, "level"), &f->level);
  f->tried = tried > 0 ? (uint64_t)tried : 0;
  for (const struct js *one = NULL; !s && (one = js_next(list, one));) {
    struct clue *c = found_add(f, r->e);
    s = c ? read_clue(r, one, c) : R4_E_MEMORY;
  }
  return s;
}

r4_found *r4_found_load(const char *file, const r4_data *d, r4_error *e)
{
  NEEDS(file, "a file", NULL);
  NEEDS(d, "data", NULL);
  const struct reading r = {d, file, e};
  r4_find_options usual = find_options(NULL);
  struct js *root = NULL;
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_found *f = found_new(&usual, e);
  r4_status s = f ? file_read(file, MOST_BYTES, &bytes, &size, e) : R4_E_MEMORY;
  if (!s) s = js_parse(file, bytes, size, &root, e);
  if (!s) s = read_all(&r, root, f);
  js_free(root);
  r4_mem_free(bytes);
  if (!s) return f;
  r4_found_free(f);
  return NULL;
}
