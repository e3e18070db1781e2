#include "golden.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *name, *value;
} golden_pair;

struct golden {
  golden_tensor *tensor;
  golden_pair *text;
  size_t tensors, texts;
};

typedef struct {
  golden *g;
  const char *path;
  const char *at; /* the next character to read */
  int line;       /* its line                   */
  char *error;
} reader;

/* ---- Small things ---------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool fail(reader *r, const char *format, ...)
{
  va_list args;
  int n = snprintf(r->error, GOLDEN_ERROR_SIZE, "%s:%d: ", r->path, r->line);
  if (n < 0 || n >= GOLDEN_ERROR_SIZE) return false;
  va_start(args, format);
  vsnprintf(r->error + n, (size_t)(GOLDEN_ERROR_SIZE - n), format, args);
  va_end(args);
  return false;
}

/* Moves over blanks; with lines also over ends of lines and comments. */
static void skip(reader *r, bool lines)
{
  for (;;) {
    r->at += strspn(r->at, " \t\r");
    if (!lines) return;
    if (*r->at == '#') r->at += strcspn(r->at, "\n");
    if (*r->at != '\n') return;
    r->at++;
    r->line++;
  }
}

static char *copy(const char *from, size_t length)
{
  char *to = malloc(length + 1);
  if (to) {
    memcpy(to, from, length);
    to[length] = 0;
  }
  return to;
}

/* The next word of this line, or NULL. The caller frees it. */
static char *word(reader *r)
{
  skip(r, false);
  size_t length = strcspn(r->at, " \t\r\n");
  if (length == 0) return NULL;
  char *w = copy(r->at, length);
  r->at += length;
  return w;
}

static void *grown(void *list, size_t count, size_t size)
{
  return realloc(list, (count + 1) * size);
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool read_text(reader *r)
{
  golden *g = r->g;
  golden_pair *list = grown(g->text, g->texts, sizeof *list);
  if (!list) return fail(r, "out of memory");
  g->text = list;
  golden_pair *p = &list[g->texts++];
  *p = (golden_pair){.name = word(r)};
  if (!p->name) return fail(r, "\"text\" needs a name");
  skip(r, false);
  size_t length = strcspn(r->at, "\r\n");
  p->value = copy(r->at, length);
  r->at += length;
  return p->value ? true : fail(r, "out of memory");
}

static bool read_integer(reader *r, int64_t least, int64_t most, int64_t *value)
{
  skip(r, false);
  if (*r->at == '\n' || *r->at == 0) return false;
  char *end;
  *value = strtoll(r->at, &end, 10);
  bool good = end != r->at && strchr(" \t\r\n", *end) && *value >= least && *value <= most;
  r->at = end;
  return good;
}

static bool read_shape(reader *r, golden_tensor *t)
{
  int64_t rank;
  if (!read_integer(r, 0, GOLDEN_MAX_RANK, &rank))
    return fail(r, "tensor %s needs a rank of 0 .. %d", t->name, GOLDEN_MAX_RANK);
  t->rank = (int)rank;
  t->count = 1;
  for (int k = 0; k < t->rank; k++) {
    if (!read_integer(r, 1, 1000000, &t->dim[k]))
      return fail(r, "tensor %s needs %d dimensions of at least 1", t->name, t->rank);
    t->count *= (size_t)t->dim[k];
    if (t->count > 10000000) return fail(r, "tensor %s is too large", t->name);
  }
  skip(r, false);
  if (*r->at != '\n' && *r->at != 0) return fail(r, "tensor %s: more than its rank of dimensions", t->name);
  return true;
}

static bool read_values(reader *r, golden_tensor *t)
{
  t->value = calloc(t->count, sizeof *t->value);
  if (!t->value) return fail(r, "out of memory");
  for (size_t k = 0; k < t->count; k++) {
    char *end;
    skip(r, true);
    t->value[k] = strtod(r->at, &end);
    if (end == r->at || !strchr(" \t\r\n", *end))
      return fail(r, "tensor %s: expected value %zu of %zu", t->name, k + 1, t->count);
    r->at = end;
  }
  return true;
}

static bool read_tensor(reader *r)
{
  golden *g = r->g;
  golden_tensor *list = grown(g->tensor, g->tensors, sizeof *list);
  if (!list) return fail(r, "out of memory");
  g->tensor = list;
  golden_tensor *t = &list[g->tensors++];
  *t = (golden_tensor){.name = word(r)};
  if (!t->name) return fail(r, "\"tensor\" needs a name");
  return read_shape(r, t) && read_values(r, t);
}

static bool read_records(reader *r)
{
  for (;;) {
    skip(r, true);
    if (*r->at == 0) return true;
    char *kind = word(r);
    if (!kind) return fail(r, "out of memory");
    bool text = strcmp(kind, "text") == 0, tensor = strcmp(kind, "tensor") == 0;
    if (!text && !tensor) fail(r, "expected \"text\" or \"tensor\", not \"%.40s\"", kind);
    free(kind);
    if (!(text && read_text(r)) && !(tensor && read_tensor(r))) return false;
  }
}

/* ---- Interface ------------------------------------------------------------------------------- */

golden *golden_parse(const char *path, const char *text, char error[GOLDEN_ERROR_SIZE])
{
  reader r = {.g = calloc(1, sizeof(golden)), .path = path, .at = text, .line = 1, .error = error};
  if (!r.g) {
    fail(&r, "out of memory");
    return NULL;
  }
  if (!read_records(&r)) {
    golden_free(r.g);
    return NULL;
  }
  return r.g;
}

static char *contents(FILE *file)
{
  size_t size = 0, room = 1 << 16;
  char *text = malloc(room + 1);
  while (text) {
    size_t n = fread(text + size, 1, room - size, file);
    size += n;
    if (n == 0) break;
    if (size == room) {
      char *more = realloc(text, 2 * room + 1);
      if (!more) free(text);
      text = more;
      room *= 2;
    }
  }
  if (text) text[size] = 0;
  return text;
}

golden *golden_read(const char *path, char error[GOLDEN_ERROR_SIZE])
{
  FILE *file = fopen(path, "r");
  if (!file) {
    snprintf(error, GOLDEN_ERROR_SIZE, "%s: %s", path, strerror(errno));
    return NULL;
  }
  char *text = contents(file);
  bool broken = ferror(file) || !text;
  fclose(file);
  golden *g = NULL;
  if (broken)
    snprintf(error, GOLDEN_ERROR_SIZE, "%s: cannot be read", path);
  else
    g = golden_parse(path, text, error);
  free(text);
  return g;
}

void golden_free(golden *g)
{
  if (!g) return;
  for (size_t k = 0; k < g->tensors; k++) {
    free(g->tensor[k].name);
    free(g->tensor[k].value);
  }
  for (size_t k = 0; k < g->texts; k++) {
    free(g->text[k].name);
    free(g->text[k].value);
  }
  free(g->tensor);
  free(g->text);
  free(g);
}

const golden_tensor *golden_find(const golden *g, const char *name)
{
  for (size_t k = 0; k < g->tensors; k++)
    if (strcmp(g->tensor[k].name, name) == 0) return &g->tensor[k];
  return NULL;
}

const char *golden_text(const golden *g, const char *name)
{
  for (size_t k = 0; k < g->texts; k++)
    if (strcmp(g->text[k].name, name) == 0) return g->text[k].value;
  return NULL;
}

size_t golden_numbers(const golden *g, const char *name, size_t max, double *number)
{
  const char *at = golden_text(g, name);
  size_t n = 0;
  while (at && *(at += strspn(at, " \t"))) {
    char *end;
    double v = strtod(at, &end);
    if (end == at) return 0;
    if (n < max) number[n] = v;
    n++;
    at = end;
  }
  return n;
}
