/* Texts (doc/formats.md):
 *
 *     FILE.csv, FILE.tsv   with the columns text (or marked) and label, and if wanted group, split, id and spans
 *     FILE.jsonl           an object with these keys in each line
 *     DIR/CLASS/x.txt      or DIR/{train,val,test}/CLASS/x.txt: the class is the name of the folder */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/c_locale.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/format/texts.h"
#include "picture/image.h"

enum { LIMIT = 1 << 30, WHERE = 300 };
static const char UNKNOWN[] = "unknown"; /* the class of texts without labels */

/* A row of a table, or a line: what is there. */
struct row {
  char *text, *marked; /* one of the two; brackets are taken out of the second */
  const char *label, *group, *split, *id, *spans;
  const struct js *span_list;
};

static r4_status read_span_list(struct marks *m, const char *text, const struct js *list, const char *where,
                                r4_error *e)
{
  r4_status s = R4_OK;
  if (js_kind(list) == JS_NULL) return R4_OK;
  if (js_kind(list) != JS_LIST) return r4_fail(e, R4_E_PARSE, "%s: spans is not a list such as [[3, 9]]", where);
  for (const struct js *pair = NULL; !s && (pair = js_next(list, pair));) {
    int64_t from, to;
    if (js_kind(pair) != JS_LIST || js_size(pair) != 2 || !js_whole(js_at(pair, 0), &from) ||
        !js_whole(js_at(pair, 1), &to))
      return r4_fail(e, R4_E_PARSE, "%s: spans has an element that is not a pair of whole numbers, such as [3, "
                                    "9]", where);
    s = marks_add_characters(m, text, from, to, where, e);
  }
  return s;
}

static r4_status add_row_of(struct texts *t, const struct row *r, const char *where, r4_error *e)
{
  const bool unlabelled = t->options->unlabelled;
  const char *other = unlabelled ? where : NULL;
  struct listed one = {.label = unlabelled ? UNKNOWN : r->label,
                       .group = unlabelled ? NULL : r->group,
                       .id = r->id && *r->id ? r->id : other};
  struct marks marks = {0};
  char *text = r->text ? r->text : r->marked;
  if (!text || (r->text && r->marked))
    return r4_fail(e, R4_E_PARSE, "%s: expected a text, or a marked one, and not both", where);
  if (r->split && !unlabelled && folder_read_split(r->split, &one.split))
    return r4_fail(e, R4_E_PARSE, "%s: split '%.40s', expected train, val or test (or 0, 1, 2)", where,
                   r->split);
  r4_status s = r->marked ? marks_take_brackets(&marks, text, where, e) : R4_OK;
  if (!s && r->spans) s = marks_read(&marks, text, r->spans, where, e);
  if (!s && r->span_list) s = read_span_list(&marks, text, r->span_list, where, e);
  if (!s) s = texts_add(t, &one, text, &marks, where, e);
  marks_free(&marks);
  return s;
}

/* ---- Columns ---- */

enum { TEXT, MARKED, LABEL, GROUP, SPLIT, ID, SPANS, COLUMNS };
static const char *const column_name[COLUMNS] = {"text", "marked", "label", "group", "split", "id", "spans"};

static bool is_known(const char *name, int (*compare)(const char *, const char *))
{
  for (int k = 0; k < COLUMNS; k++)
    if (!compare(name, column_name[k])) return true;
  return false;
}

/* ---- Tables ---- */

/* The field of a column, or NULL; all but the texts without blanks around them. */
static char *field(const struct csv *c, const int *at, int k)
{
  if (at[k] < 0) return NULL;
  return k == TEXT || k == MARKED ? c->field[at[k]] : csv_trim(c->field[at[k]]);
}

static r4_status add_extras(struct texts *t, const struct csv *c, r4_error *e)
{
  r4_status s = R4_OK;
  for (int k = 0; !s && k < c->columns; k++)
    if (!is_known(c->name[k], strcasecmp))
      s = listing_add_extra(&t->listing, c->name[k], csv_trim(c->field[k]), e);
  return s;
}

static r4_status read_table(struct texts *t, const char *path, uint8_t *bytes, size_t size, r4_error *e)
{
  struct csv c;
  int at[COLUMNS];
  bool row = true;
  r4_status s = csv_open(&c, bytes, size, path, e);
  if (s) return s;
  for (int k = 0; !s && k < COLUMNS; k++) {
    at[k] = -1;
    if (csv_has(&c, column_name[k]) || (k == LABEL && !t->options->unlabelled))
      s = csv_column(&c, column_name[k], at + k, e);
  }
  if (!s && at[TEXT] < 0 && at[MARKED] < 0) s = csv_column(&c, "text", at, e);
  while (!s && !(s = csv_next(&c, &row, e)) && row) {
    char where[WHERE];
    snprintf(where, sizeof where, "%.200s:%zu", path, c.line);
    struct row r = {.text = field(&c, at, TEXT),
                    .marked = field(&c, at, MARKED),
                    .label = field(&c, at, LABEL),
                    .group = field(&c, at, GROUP),
                    .split = field(&c, at, SPLIT),
                    .id = field(&c, at, ID),
                    .spans = field(&c, at, SPANS)};
    s = add_row_of(t, &r, where, e);
    if (!s) s = add_extras(t, &c, e);
  }
  csv_close(&c);
  return s;
}

/* ---- Lines of JSON ---- */

/* A text, or a number or flag as it would be written: labels are often numbers. */
static const char *word_of(const struct js *v, char number[32])
{
  int64_t whole;
  bool flag;
  if (js_whole(v, &whole)) {
    snprintf(number, 32, "%lld", (long long)whole);
    return number;
  }
  if (js_flag(v, &flag)) return flag ? "true" : "false";
  return js_text(v);
}

static r4_status copy_word(const char *word, char **to, r4_error *e)
{
  struct text copy = {0};
  *to = NULL;
  if (!word) return R4_OK;
  text_add(&copy, "%s", word);
  *to = text_done(&copy, "a text", e);
  return *to ? R4_OK : R4_E_MEMORY;
}

/* Texts, numbers and flags; what has parts of its own is no value to tell examples apart by. */
static r4_status add_members(struct texts *t, const struct js *line, r4_error *e)
{
  r4_status s = R4_OK;
  for (const struct js *v = NULL; !s && (v = js_next(line, v));) {
    char number[32];
    double real;
    const char *word = word_of(v, number);
    if (!word && js_number(v, &real)) {
      c_locale_print(number, sizeof number, "%.9g", real);
      word = number;
    }
    if (word && !is_known(js_key(v), strcmp)) s = listing_add_extra(&t->listing, js_key(v), word, e);
  }
  return s;
}

/* Keys are the names of columns, and what they hold is taken as a field of a table is. */
static r4_status read_line(struct texts *t, const struct js *line, const char *where, r4_error *e)
{
  const struct js *spans = js_get(line, "spans");
  char *copy[SPANS] = {NULL}, *word[SPANS] = {NULL}, number[32];
  r4_status s = R4_OK;
  for (int k = 0; !s && k < SPANS; k++) {
    const struct js *v = js_get(line, column_name[k]);
    bool text = k == TEXT || k == MARKED;
    s = copy_word(text ? js_text(v) : word_of(v, number), &copy[k], e);
    if (copy[k]) word[k] = text ? copy[k] : csv_trim(copy[k]);
    if (!s && !text && !copy[k] && js_kind(v) != JS_NULL)
      s = r4_fail(e, R4_E_PARSE, "%s: %s is neither a text nor a whole number", where, column_name[k]);
  }
  struct row r = {.text = word[TEXT],
                  .marked = word[MARKED],
                  .label = word[LABEL],
                  .group = word[GROUP],
                  .split = word[SPLIT],
                  .id = word[ID],
                  .spans = js_text(spans),
                  .span_list = js_text(spans) ? NULL : spans};
  if (!s) s = add_row_of(t, &r, where, e);
  if (!s) s = add_members(t, line, e);
  for (int k = 0; k < SPANS; k++) r4_string_free(copy[k]);
  return s;
}

static r4_status read_lines(struct texts *t, const char *path, const char *bytes, size_t size, r4_error *e)
{
  r4_status s = R4_OK;
  size_t number = 1;
  const char *line = bytes + utf8_mark(bytes, size), *end = bytes + size;
  for (const char *next; !s && line < end; line = next, number++) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    char where[WHERE];
    struct js *root = NULL;
    next = stop ? stop + 1 : end;
    snprintf(where, sizeof where, "%.200s:%zu", path, number);
    size_t n = (size_t)((stop ? stop : end) - line);
    if (strspn(line, " \t\r") >= n) continue;
    s = js_parse(where, line, n, &root, e);
    if (!s) s = read_line(t, root, where, e);
    js_free(root);
  }
  return s;
}

/* ---- Folders ---- */

static bool ends_with(const char *name, const char *ending)
{
  size_t n = strlen(name), m = strlen(ending);
  return n > m && !strcasecmp(name + n - m, ending);
}

static bool is_text_name(const char *name)
{
  return ends_with(name, ".txt");
}

/* A file that is one text. */
static r4_status add_file(struct texts *t, const char *path, const struct listed *one, const char *bytes,
                          size_t size, r4_error *e)
{
  if (strlen(bytes) != size)
    return r4_fail(e, R4_E_PARSE, "%s: byte %zu is zero: not a text", path, strlen(bytes));
  return texts_add(t, one, bytes + utf8_mark(bytes, size), NULL, path, e);
}

static r4_status read_file(struct texts *t, const char *file, struct listed one, r4_error *e)
{
  char *path = file_join(t->source, file, e);
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_status s = path ? file_check_inside(t->source, file, e) : R4_E_MEMORY;
  if (!s) s = file_read(path, LIMIT, &bytes, &size, e);
  one.file = file;
  if (t->options->unlabelled) one.id = path;
  if (!s) s = add_file(t, path, &one, (char *)bytes, size, e);
  r4_mem_free(bytes);
  r4_mem_free(path);
  return s;
}

static r4_status read_class(struct texts *t, const char *folder, const struct listed *one, r4_error *e)
{
  struct names *files = NULL;
  r4_status s = folder_scan(t->source, folder, false, &files, e);
  for (size_t k = 0; !s && k < files->n; k++) {
    if (!is_text_name(files->name[k])) continue;
    struct text inside = {0};
    text_add(&inside, "%s%s%s", folder, *folder ? "/" : "", files->name[k]);
    char *file = text_done(&inside, folder, e);
    s = file ? read_file(t, file, *one, e) : R4_E_MEMORY;
    r4_mem_free(file);
  }
  names_drop(files);
  return s;
}

/* The folders in source/part; those of a split have folders of classes in them. */
static r4_status read_part(struct texts *t, const char *part, r4_split split, r4_error *e)
{
  struct names *folders = NULL;
  r4_status s = folder_scan(t->source, part, true, &folders, e);
  for (size_t k = 0; !s && k < folders->n; k++) {
    const char *name = folders->name[k];
    r4_split inner;
    struct text path = {0};
    text_add(&path, "%s%s%s", part, *part ? "/" : "", name);
    char *inside = text_done(&path, t->source, e);
    if (!inside)
      s = R4_E_MEMORY;
    else if (!*part && strlen(name) > 1 && !folder_read_split(name, &inner))
      s = read_part(t, inside, inner, e);
    else
      s = read_class(t, inside, &(struct listed){.label = name, .split = split}, e);
    r4_mem_free(inside);
  }
  names_drop(folders);
  return s;
}

/* Whether a folder in source, or one of those in it, has a file with such a name. */
static bool has_file(const char *source, const char *inside, int below, bool (*is)(const char *name))
{
  struct names *files = NULL, *folders = NULL;
  bool has = false;
  if (*inside && !folder_scan(source, inside, false, &files, NULL))
    for (size_t k = 0; k < files->n; k++) has = has || is(files->name[k]);
  if (!has && below && !folder_scan(source, inside, true, &folders, NULL))
    for (size_t k = 0; !has && k < folders->n; k++) {
      char *deeper = *inside ? file_join(inside, folders->name[k], NULL) : NULL;
      has = has_file(source, deeper ? deeper : folders->name[k], below - 1, is);
      r4_mem_free(deeper);
    }
  names_drop(files);
  names_drop(folders);
  return has;
}

/* ---- All ---- */

r4_status texts_read(struct texts *t, const char *path, uint8_t *bytes, size_t size, r4_error *e)
{
  const struct listed one = {.label = UNKNOWN, .id = path};
  if (is_text_name(path)) return add_file(t, path, &one, (char *)bytes, size, e);
  if (ends_with(path, ".jsonl")) return read_lines(t, path, (char *)bytes, size, e);
  return read_table(t, path, bytes, size, e);
}

static r4_status read_all(struct texts *t, const char *path, r4_error *e)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  const struct listed one = {.label = UNKNOWN, .id = path};
  if (file_is_folder(path) && t->options->unlabelled) return read_class(t, "", &one, e);
  if (file_is_folder(path)) return read_part(t, "", R4_TRAIN, e);
  r4_status s = file_read(path, LIMIT, &bytes, &size, e);
  if (!s) s = texts_read(t, path, bytes, size, e);
  r4_mem_free(bytes);
  return s;
}

/* Every text below a folder, of whatever class: more than is read does no harm. */
static r4_status list_below(const char *source, const char *inside, struct names *to, r4_error *e)
{
  struct names *files = NULL, *folders = NULL;
  r4_status s = folder_scan(source, inside, false, &files, e);
  if (!s) s = folder_scan(source, inside, true, &folders, e);
  for (size_t k = 0; !s && k < files->n; k++) {
    struct text path = {0};
    text_add(&path, "%s/%s%s%s", source, inside, *inside ? "/" : "", files->name[k]);
    char *file = text_done(&path, source, e);
    s = file ? R4_OK : R4_E_MEMORY;
    if (!s && is_text_name(file)) s = names_add(to, file, NULL, e);
    r4_string_free(file);
  }
  for (size_t k = 0; !s && k < folders->n; k++) {
    struct text path = {0};
    text_add(&path, "%s%s%s", inside, *inside ? "/" : "", folders->name[k]);
    char *deeper = text_done(&path, source, e);
    s = deeper ? list_below(source, deeper, to, e) : R4_E_MEMORY;
    r4_string_free(deeper);
  }
  names_drop(files);
  names_drop(folders);
  return s;
}

static r4_status list_files(const char *path, struct names *to, r4_error *e)
{
  return file_is_folder(path) ? list_below(path, "", to, e) : names_add(to, path, NULL, e);
}

static r4_data *text_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct texts t;
  r4_data *d = NULL;
  if (!texts_open(&t, path, options, e) && !read_all(&t, path, e)) d = texts_data(&t, "texts", e);
  texts_close(&t);
  return d;
}

static bool matches(const char *path)
{
  if (!file_is_folder(path))
    return ends_with(path, ".csv") || ends_with(path, ".tsv") || ends_with(path, ".jsonl");
  return !file_exists_in(path, "metadata.csv") && has_file(path, "", 2, is_text_name) &&
         !has_file(path, "", 2, is_image_name); /* notes beside images are no texts */
}

const struct format text_format = {
  "text", "a CSV, TSV or JSONL file with text and label, or a folder of .txt files for each class", matches,
  text_open, TAKES_WORDS, list_files};
