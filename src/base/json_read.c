/* Values stand in one array in the order of the text, each before its members; its strings, decoded, stand in another,
 * which cannot become longer than the text. The value before the root keeps the strings. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { MOST_DEPTH = 64 };

struct js {
  enum js_kind kind;
  size_t size, span; /* members; values up to the next on the same level */
  const char *key;   /* of a member of an object */
  char *text;
  int64_t whole;
  double real;
};

struct reader {
  const char *where, *text, *at, *end;
  r4_error *e;
  struct js *value;
  size_t n, capacity;
  char *strings; /* the next free place */
  int depth;
};

static r4_status refuse(const struct reader *r, const char *what)
{
  size_t line = 1;
  const char *start = r->text;
  for (const char *s = r->text; s < r->at; s++)
    if (*s == '\n') line++, start = s + 1;
  return r4_fail(r->e, R4_E_PARSE, "%s: line %zu, column %zu: %s", r->where, line,
                 (size_t)(r->at - start) + 1, what);
}

/* ---- Pieces ---- */

static char peek(const struct reader *r)
{
  return r->at < r->end ? *r->at : 0;
}

static bool take(struct reader *r, char c)
{
  if (peek(r) != c) return false;
  r->at++;
  return true;
}

static void skip_space(struct reader *r)
{
  while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}

static r4_status add_value(struct reader *r, size_t *number)
{
  if (mem_more(&r->value, &r->capacity, r->n + 1, sizeof *r->value, r->where, r->e)) return R4_E_MEMORY;
  *number = r->n;
  r->value[r->n++] = (struct js){.kind = JS_NULL, .span = 1};
  return R4_OK;
}

/* ---- Strings ---- */

/* Four hexadecimal digits. */
static bool read_hex(struct reader *r, uint32_t *code)
{
  *code = 0;
  for (int k = 0; k < 4; k++) {
    char c = peek(r);
    uint32_t digit;
    if (c >= '0' && c <= '9')
      digit = (uint32_t)(c - '0');
    else if ((c | 32) >= 'a' && (c | 32) <= 'f')
      digit = (uint32_t)((c | 32) - 'a' + 10);
    else
      return false;
    *code = *code << 4 | digit;
    r->at++;
  }
  return true;
}

static void put_utf8(struct reader *r, uint32_t c)
{
  if (c < 0x80) {
    *r->strings++ = (char)c;
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *r->strings++ = (char)(0xf0u << (3 - more) | c >> 6 * more); /* 110xxxxx, 1110xxxx or 11110xxx */
  while (more--) *r->strings++ = (char)(0x80 | (c >> 6 * more & 0x3f));
}

/* After a backslash. Code points above 0xffff are pairs of surrogates. */
static r4_status read_escape(struct reader *r)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *known = peek(r) ? strchr(from, peek(r)) : NULL;
  uint32_t code, low;
  if (known) {
    *r->strings++ = to[known - from];
    r->at++;
    return R4_OK;
  }
  if (!take(r, 'u') || !read_hex(r, &code)) return refuse(r, "an unknown escape");
  if (code >= 0xd800 && code < 0xdc00) {
    if (!take(r, '\\') || !take(r, 'u') || !read_hex(r, &low) || low < 0xdc00 || low > 0xdfff)
      return refuse(r, "half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (!code || (code >= 0xdc00 && code < 0xe000)) return refuse(r, "an escape that is not a character");
  put_utf8(r, code);
  return R4_OK;
}

/* The text ends with a zero, so that utf8_next stops there. */
static r4_status read_string(struct reader *r, char **text)
{
  *text = r->strings;
  if (!take(r, '"')) return refuse(r, "expected a string");
  while (!take(r, '"')) {
    uint32_t code;
    if (take(r, '\\')) {
      r4_status s = read_escape(r);
      if (s) return s;
      continue;
    }
    if (r->at >= r->end) return refuse(r, "a string is not closed");
    size_t n = utf8_next(r->at, &code);
    if (!n || code < ' ') return refuse(r, "a byte that is not UTF-8, or a control character");
    memcpy(r->strings, r->at, n);
    r->strings += n;
    r->at += n;
  }
  *r->strings++ = 0;
  return R4_OK;
}

/* ---- Numbers and words ---- */

static bool skip_digits(struct reader *r)
{
  const char *from = r->at;
  while (peek(r) >= '0' && peek(r) <= '9') r->at++;
  return r->at > from;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static r4_status read_number(struct reader *r, struct js *v)
{
  const char *from = r->at;
  bool whole = true;
  take(r, '-');
  bool ok = take(r, '0') || skip_digits(r);
  if (ok && take(r, '.')) whole = false, ok = skip_digits(r);
  if (ok && (take(r, 'e') || take(r, 'E'))) {
    whole = false;
    if (!take(r, '+')) take(r, '-');
    ok = skip_digits(r);
  }
  if (!ok) return refuse(r, "expected a value");
  errno = 0;
  v->real = c_locale_real(from, NULL);
  v->whole = whole ? strtoll(from, NULL, 10) : 0;
  v->kind = whole && !errno ? JS_WHOLE : JS_REAL;
  return R4_OK;
}

static bool take_word(struct reader *r, const char *word)
{
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n)) return false;
  r->at += n;
  return true;
}

static r4_status read_word(struct reader *r, struct js *v)
{
  v->kind = JS_FLAG;
  if ((v->whole = take_word(r, "true")) || take_word(r, "false")) return R4_OK;
  v->kind = JS_NULL;
  return take_word(r, "null") ? R4_OK : read_number(r, v);
}

/* ---- Values ---- */

static int by_key(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static r4_status check_keys(const struct reader *r, const struct js *object)
{
  const char **key = mem_new(object->size, sizeof *key, r->where, r->e);
  if (!key) return R4_E_MEMORY;
  const struct js *member = object + 1;
  for (size_t k = 0; k < object->size; k++, member += member->span) key[k] = member->key;
  qsort(key, object->size, sizeof *key, by_key);
  r4_status s = R4_OK;
  for (size_t k = 1; k < object->size && !s; k++)
    if (!strcmp(key[k - 1], key[k]))
      s = r4_fail(r->e, R4_E_PARSE, "%s: the key \"%.80s\" occurs twice in an object", r->where, key[k]);
  r4_mem_free(key);
  return s;
}

static r4_status read_value(struct reader *r, const char *key);

static r4_status read_member(struct reader *r, bool object)
{
  char *key = NULL;
  skip_space(r);
  r4_status s = object ? read_string(r, &key) : R4_OK;
  if (s) return s;
  skip_space(r);
  if (object && !take(r, ':')) return refuse(r, "expected \":\"");
  s = read_value(r, key);
  skip_space(r);
  return s;
}

/* After the bracket; value number k is the object or list. */
static r4_status read_members(struct reader *r, size_t k, bool object)
{
  char close = object ? '}' : ']';
  r4_status s = R4_OK;
  size_t size = 0;
  if (++r->depth > MOST_DEPTH) return refuse(r, "too many levels");
  skip_space(r);
  if (!take(r, close)) {
    do {
      s = read_member(r, object);
      size++;
    } while (!s && take(r, ','));
    if (!s && !take(r, close)) s = refuse(r, object ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
  }
  if (s) return s;
  r->depth--;
  r->value[k].size = size;
  r->value[k].span = r->n - k;
  return object ? check_keys(r, &r->value[k]) : R4_OK;
}

static r4_status read_value(struct reader *r, const char *key)
{
  size_t k = 0;
  r4_status s = add_value(r, &k);
  if (s) return s;
  struct js *v = &r->value[k];
  v->key = key;
  skip_space(r);
  char c = peek(r);
  if (c == '{' || c == '[') {
    v->kind = c == '{' ? JS_OBJECT : JS_LIST;
    r->at++;
    return read_members(r, k, c == '{');
  }
  if (c != '"') return read_word(r, v);
  v->kind = JS_TEXT;
  return read_string(r, &v->text);
}

static r4_status read_root(struct reader *r)
{
  skip_space(r);
  if (peek(r) != '{' && peek(r) != '[') return refuse(r, "expected an object or a list");
  r4_status s = read_value(r, NULL);
  skip_space(r);
  return !s && r->at < r->end ? refuse(r, "expected nothing more") : s;
}

r4_status js_parse(const char *where, const void *text, size_t size, struct js **root, r4_error *e)
{
  char *copy = mem_new(size + 1, 1, where, e), *strings = mem_new(size + 1, 1, where, e);
  struct reader r = {
    .where = where, .text = copy, .at = copy, .end = copy + size, .e = e, .strings = strings};
  size_t keeper;
  *root = NULL;
  r4_status s = copy && strings ? add_value(&r, &keeper) : R4_E_MEMORY;
  if (!s) {
    if (size) memcpy(copy, text, size);
    s = read_root(&r);
  }
  r4_mem_free(copy);
  if (s) {
    r4_mem_free(strings);
    r4_mem_free(r.value);
    return s;
  }
  r.value[0].text = strings;
  *root = r.value + 1;
  return R4_OK;
}

void js_free(struct js *root)
{
  if (!root) return;
  r4_mem_free(root[-1].text);
  r4_mem_free(root - 1);
}

/* ---- Asking ---- */

enum js_kind js_kind(const struct js *v)
{
  return v ? v->kind : JS_NULL;
}

size_t js_size(const struct js *v)
{
  return v ? v->size : 0;
}

const struct js *js_at(const struct js *v, size_t k)
{
  if (k >= js_size(v)) return NULL;
  const struct js *member = v + 1;
  while (k--) member += member->span;
  return member;
}

const struct js *js_get(const struct js *object, const char *key)
{
  if (js_kind(object) != JS_OBJECT) return NULL;
  const struct js *member = object + 1;
  for (size_t k = 0; k < object->size; k++, member += member->span)
    if (!strcmp(member->key, key)) return member;
  return NULL;
}

const struct js *js_next(const struct js *v, const struct js *member)
{
  const struct js *next = member ? member + member->span : v + 1;
  return next < v + v->span ? next : NULL;
}

const char *js_key(const struct js *member)
{
  return member ? member->key : NULL;
}

bool js_whole(const struct js *v, int64_t *to)
{
  if (js_kind(v) != JS_WHOLE) return false;
  *to = v->whole;
  return true;
}

bool js_number(const struct js *v, double *to)
{
  if (js_kind(v) != JS_WHOLE && js_kind(v) != JS_REAL) return false;
  *to = v->real;
  return true;
}

bool js_real(const struct js *v, double *to)
{
  const char *text = js_text(v);
  if (js_number(v, to)) return true;
  *to = !text ? NAN : *text == '-' ? -INFINITY : INFINITY;
  return text ? !strcmp(text, "inf") || !strcmp(text, "-inf") : v && js_kind(v) == JS_NULL;
}

bool js_flag(const struct js *v, bool *to)
{
  if (js_kind(v) != JS_FLAG) return false;
  *to = v->whole;
  return true;
}

const char *js_text(const struct js *v)
{
  return js_kind(v) == JS_TEXT ? v->text : NULL;
}
