#include "tensor/npy.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/escape.h"

enum { HEADER_LIMIT = 1 << 20 };

static const char order_here = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

/* What the header says. */
struct header {
  char order, kind; /* '<', '>' or '|'; 'b' bool, 'u' 'i' whole, 'f' float, 'U' 'S' text */
  size_t width;     /* of an element in the file */
  bool fortran;
  int rank;
  int64_t dim[ARRAY_RANK];
};

/* ---- The header, a literal of a Python dictionary ---- */

struct scan {
  const char *file;
  const uint8_t *bytes;
  size_t at, end;
  r4_error *e;
};

#define BAD(s, ...) bad_at(s, (s)->at, __VA_ARGS__)

static r4_status bad_at(const struct scan *s, size_t at, const char *what, const char *more)
{
  return r4_fail(s->e, R4_E_PARSE, "%s: byte %zu: %s%s", s->file, at, what, more);
}

static void skip_spaces(struct scan *s)
{
  while (s->at < s->end && (s->bytes[s->at] == ' ' || s->bytes[s->at] == '\n')) s->at++;
}

/* Takes c if it comes next. */
static bool take(struct scan *s, char c)
{
  skip_spaces(s);
  if (s->at == s->end || s->bytes[s->at] != (uint8_t)c) return false;
  s->at++;
  return true;
}

static r4_status expect(struct scan *s, char c)
{
  return take(s, c) ? R4_OK : BAD(s, "expected ", (char[]){c, 0});
}

static r4_status take_string(struct scan *s, char *to, size_t size)
{
  char quote = take(s, '\'') ? '\'' : '"';
  if (quote == '"' && !take(s, '"')) return BAD(s, "expected a string", "");
  size_t n = 0, start = s->at;
  for (; s->at < s->end && s->bytes[s->at] != (uint8_t)quote; s->at++, n++) {
    if (n + 1 == size || s->bytes[s->at] == '\\') return bad_at(s, start, "an unknown string", "");
    to[n] = (char)s->bytes[s->at];
  }
  to[n] = 0;
  return expect(s, quote);
}

static r4_status take_bool(struct scan *s, bool *value)
{
  skip_spaces(s);
  size_t left = s->end - s->at;
  *value = left >= 4 && !memcmp(s->bytes + s->at, "True", 4);
  if (!*value && (left < 5 || memcmp(s->bytes + s->at, "False", 5)))
    return BAD(s, "expected True or False", "");
  s->at += *value ? 4 : 5;
  return R4_OK;
}

/* Python 2 wrote L behind long ones. */
static r4_status take_number(struct scan *s, int64_t *value)
{
  skip_spaces(s);
  size_t start = s->at;
  *value = 0;
  for (; s->at < s->end && s->bytes[s->at] >= '0' && s->bytes[s->at] <= '9'; s->at++)
    if (__builtin_mul_overflow(*value, 10, value) ||
        __builtin_add_overflow(*value, s->bytes[s->at] - '0', value))
      return bad_at(s, start, "a dimension that is too large", "");
  if (s->at == start) return BAD(s, "expected a dimension, a whole number", "");
  if (s->at < s->end && s->bytes[s->at] == 'L') s->at++;
  return R4_OK;
}

/* (), (5,) or (3, 4): a comma behind the last is optional if there are two or more. */
static r4_status take_shape(struct scan *s, struct header *h)
{
  r4_status status = expect(s, '(');
  bool comma = true;
  while (!status && !take(s, ')')) {
    if (h->rank == ARRAY_RANK) return BAD(s, "more than 8 dimensions", "");
    if (!comma) return BAD(s, "expected a comma", "");
    status = take_number(s, &h->dim[h->rank++]);
    comma = take(s, ',');
    if (!status && h->rank == 1 && !comma) return BAD(s, "expected a comma", "");
  }
  return status;
}

/* "<f4": byte order, kind, bytes; characters for U. */
static r4_status read_type(const struct scan *s, size_t at, const char *text, struct header *h)
{
  static const char known[][3] = {"b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"};
  if (!strcmp(text, "|O") || !strcmp(text, "O"))
    return bad_at(s, at, "the array holds Python objects (pickle), which may run code when read; ",
                  "save numbers or text instead");
  h->order = text[0];
  bool ordered = text[0] && strchr("<>|", text[0]);
  h->kind = ordered ? text[1] : 0;
  size_t digits = ordered && h->kind ? strspn(text + 2, "0123456789") : 0, width = 0;
  if (digits && digits < 9 && !text[2 + digits])
    for (size_t k = 0; k < digits; k++) width = 10 * width + (size_t)(text[2 + k] - '0');
  h->width = h->kind == 'U' ? 4 * width : width;
  if (width && (h->kind == 'U' || h->kind == 'S')) return R4_OK;
  for (size_t k = 0; width && k < sizeof known / sizeof *known; k++)
    if (!strcmp(text + 1, known[k]) && (text[0] != '|' || width == 1)) return R4_OK;
  return bad_at(s, at, "the type is none of b1, i1 to i8, u1 to u8, f2, f4, f8, U and S but ", text);
}

static r4_status take_entry(struct scan *s, struct header *h, unsigned *seen)
{
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  char key[16], type[32];
  skip_spaces(s);
  size_t start = s->at;
  r4_status status = take_string(s, key, sizeof key);
  if (status) return status;
  unsigned k = 0;
  while (k < 3 && strcmp(key, keys[k])) k++;
  if (k == 3 || *seen & 1u << k) return bad_at(s, start, k == 3 ? "an unknown key, " : "twice the key ", key);
  *seen |= 1u << k;
  status = expect(s, ':');
  if (status || k == 1) return status ? status : take_bool(s, &h->fortran);
  if (k == 2) return take_shape(s, h);
  skip_spaces(s);
  size_t at = s->at;
  if (take(s, '[')) return bad_at(s, at, "a structured type, expected an array of numbers or text", "");
  status = take_string(s, type, sizeof type);
  return status ? status : read_type(s, at, type, h);
}

static r4_status take_dictionary(struct scan *s, struct header *h)
{
  unsigned seen = 0;
  r4_status status = expect(s, '{');
  for (bool comma = true; !status && !take(s, '}');) {
    if (!comma) return BAD(s, "expected a comma or }", "");
    status = take_entry(s, h, &seen);
    comma = take(s, ',');
  }
  if (status) return status;
  if (seen != 7) return BAD(s, "the header ends without descr, fortran_order and shape", "");
  skip_spaces(s);
  return s->at == s->end ? R4_OK : BAD(s, "expected the end of the header", "");
}

/* Magic, version and length; s then covers the header. */
static r4_status take_preamble(struct scan *s, size_t size)
{
  const uint8_t *b = s->bytes;
  s->end = size;
  if (size < 10 || memcmp(b, "\x93NUMPY", 6))
    return BAD(s, "not an npy file, which begins with \\x93NUMPY", "");
  s->at = 6;
  if (b[6] < 1 || b[6] > 3 || b[7]) return BAD(s, "an unknown version, expected 1.0, 2.0 or 3.0", "");
  s->at = b[6] == 1 ? 10 : 12;
  if (size < s->at) return bad_at(s, size, "the file ends in the length of the header", "");
  size_t length = (size_t)b[8] | (size_t)b[9] << 8;
  if (b[6] > 1) length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
  if (length > HEADER_LIMIT) return bad_at(s, 8, "a header of more than 1 MiB", "");
  if (length > size - s->at) return bad_at(s, size, "the file ends in the header", "");
  s->end = s->at + length;
  return R4_OK;
}

/* ---- The elements ---- */

/* The size of the elements must be what is left of the file. */
static r4_status check_size(const struct scan *s, const struct header *h, size_t size)
{
  size_t bytes = h->width, there = size - s->end;
  bool empty = false;
  for (int k = 0; k < h->rank; k++) {
    empty |= !h->dim[k];
    if (h->dim[k] && (__builtin_mul_overflow(bytes, (size_t)h->dim[k], &bytes) || bytes > INT64_MAX))
      return r4_fail(s->e, R4_E_PARSE, "%s: byte %zu: the shape in the header overflows", s->file, s->end);
  }
  if (empty) bytes = 0;
  if (bytes == there) return R4_OK;
  return r4_fail(s->e, R4_E_PARSE, "%s: byte %zu: %zu bytes of elements, expected %zu", s->file,
                 s->end + (there < bytes ? there : bytes), there, bytes);
}

static enum array_type type_of(const struct header *h)
{
  int size = h->width == 8 ? 3 : h->width == 4 ? 2 : h->width == 2 ? 1 : 0;
  switch (h->kind) {
  case 'b':
    return ARRAY_BOOL;
  case 'u':
    return (enum array_type)(ARRAY_U8 + 2 * size);
  case 'i':
    return (enum array_type)(ARRAY_I8 + 2 * size);
  case 'f':
    return (enum array_type)(ARRAY_F16 + size - 1);
  default:
    return ARRAY_TEXT;
  }
}

static void swap_bytes(uint8_t *data, size_t n, size_t width)
{
  for (; n; n--, data += width)
    for (size_t k = 0; k < width / 2; k++) {
      uint8_t byte = data[k];
      data[k] = data[width - 1 - k];
      data[width - 1 - k] = byte;
    }
}

/* Elements in the order of C from those in the order of Fortran, whose first index runs fastest. */
static void reorder(const struct header *h, const uint8_t *from, size_t count, uint8_t *to)
{
  int64_t index[ARRAY_RANK] = {0}, stride[ARRAY_RANK], at = 0;
  for (int k = 0; k < h->rank; k++) stride[k] = k ? stride[k - 1] * h->dim[k - 1] : 1;
  for (size_t i = 0; i < count; i++, to += h->width) {
    memcpy(to, from + (size_t)at * h->width, h->width);
    for (int k = h->rank - 1; k >= 0; k--) {
      at += stride[k];
      if (++index[k] < h->dim[k]) break;
      at -= stride[k] * h->dim[k];
      index[k] = 0;
    }
  }
}

/* One element of text; false if there is a zero inside, or no character. */
static bool decode_text(const struct header *h, const uint8_t *from, char *to)
{
  bool ended = false, wide = h->kind == 'U';
  for (size_t k = 0; k < h->width; k += wide ? 4 : 1) {
    uint32_t code = from[k];
    if (wide) memcpy(&code, from + k, 4);
    if (code && ended) return false;
    ended |= !code;
    size_t n = wide ? escape_put(code, to) : 1;
    if (!n) return false;
    if (!wide) *to = (char)code;
    if (code) to += n;
  }
  return true;
}

static bool are_bools(const uint8_t *from, size_t count)
{
  uint8_t any = 0;
  for (size_t i = 0; i < count; i++) any |= from[i];
  return any <= 1;
}

/* Elements as they are in the file, but in the order of C and of this machine, become a. A character of U takes at
 * most as many bytes of UTF-8. */
static r4_status decode(const struct scan *s, const struct header *h, const uint8_t *from, size_t count,
                        struct array *a)
{
  if (h->kind == 'b' && !are_bools(from, count))
    return bad_at(s, s->end, "bools that are neither 0 nor 1", "");
  r4_status status = array_new(a, type_of(h), h->width + 1, h->rank, h->dim, s->e);
  if (status) return status;
  if (a->type != ARRAY_TEXT) {
    memcpy(a->data, from, count * h->width);
    return R4_OK;
  }
  for (size_t i = 0; i < count; i++) {
    if (decode_text(h, from + i * h->width, (char *)a->data + i * a->width)) continue;
    array_free(a);
    return r4_fail(s->e, R4_E_PARSE, "%s: byte %zu: text %zu of these has a zero inside, or no character",
                   s->file, s->end, i);
  }
  return R4_OK;
}

static r4_status read_elements(const struct scan *s, const struct header *h, struct array *a)
{
  const uint8_t *from = s->bytes + s->end;
  size_t count = 1;
  for (int k = 0; k < h->rank; k++) count *= (size_t)h->dim[k];
  size_t swapped = h->kind == 'U'   ? 4
                   : h->kind == 'S' ? 1
                                    : h->width; /* bytes that go the other way together */
  bool swap = swapped > 1 && h->order != order_here, moved = h->fortran && h->rank > 1 && count;
  if (!swap && !moved) return decode(s, h, from, count, a);
  uint8_t *copy = mem_new(count ? count : 1, h->width, s->file, s->e);
  if (!copy) return R4_E_MEMORY;
  if (moved)
    reorder(h, from, count, copy);
  else
    memcpy(copy, from, count * h->width);
  if (swap) swap_bytes(copy, count * h->width / swapped, swapped);
  r4_status status = decode(s, h, copy, count, a);
  r4_mem_free(copy);
  return status;
}

r4_status npy_read(const uint8_t *bytes, size_t size, const char *file, struct array *a, r4_error *e)
{
  struct scan s = {.file = file, .bytes = bytes, .e = e};
  struct header h = {0};
  *a = (struct array){0};
  r4_status status = take_preamble(&s, size);
  if (!status) status = take_dictionary(&s, &h);
  if (!status) status = check_size(&s, &h, size);
  return status ? status : read_elements(&s, &h, a);
}

bool npy_view(uint8_t *bytes, size_t size, const char *file, struct array *a)
{
  struct scan s = {.file = file, .bytes = bytes};
  struct header h = {0};
  *a = (struct array){0};
  if (take_preamble(&s, size) || take_dictionary(&s, &h) || check_size(&s, &h, size)) return false;
  if (type_of(&h) == ARRAY_TEXT || (h.fortran && h.rank > 1)) return false;
  if (h.kind == 'b' && !are_bools(bytes + s.end, size - s.end)) return false;
  *a = (struct array){.type = type_of(&h), .width = h.width, .rank = h.rank};
  memcpy(a->dim, h.dim, sizeof h.dim);
  size_t at = s.end / h.width * h.width, n = size - s.end; /* where elements of this width may lie */
  a->data = memmove(bytes + at, bytes + s.end, n);
  if (h.width > 1 && h.order != order_here) swap_bytes(a->data, n / h.width, h.width);
  return true;
}
