#include "tensor/foreign/wire.h"

#include <string.h>

#include "base/mem.h"

enum { MOST_VARINT = 10 };

struct slice slice_of(const char *s)
{
  return (struct slice){s, strlen(s)};
}

bool slice_equal(struct slice a, struct slice b)
{
  return a.n == b.n && (!a.n || !memcmp(a.s, b.s, a.n));
}

bool slice_is(struct slice a, const char *s)
{
  return slice_equal(a, slice_of(s));
}

/* ---- Writing ---- */

static uint8_t *room_for(struct wire *w, size_t more)
{
  w->failed = w->failed || more > SIZE_MAX / 2 - w->size ||
              mem_more(&w->data, &w->capacity, w->size + more, 1, "a message", NULL);
  if (w->failed) return NULL;
  w->size += more;
  return w->data + w->size - more;
}

static size_t varint(uint8_t to[MOST_VARINT], uint64_t v)
{
  size_t n = 0;
  for (; v > 127; v >>= 7) to[n++] = (uint8_t)(v | 128);
  to[n++] = (uint8_t)v;
  return n;
}

static void add(struct wire *w, const void *data, size_t size)
{
  uint8_t *to = size ? room_for(w, size) : NULL;
  if (to) memcpy(to, data, size);
}

static void add_varint(struct wire *w, uint64_t v)
{
  uint8_t bytes[MOST_VARINT];
  add(w, bytes, varint(bytes, v));
}

static void tag(struct wire *w, unsigned field, enum wire_type type)
{
  add_varint(w, (uint64_t)field << 3 | type);
}

void wire_whole(struct wire *w, unsigned field, int64_t v)
{
  tag(w, field, WIRE_VARINT);
  add_varint(w, (uint64_t)v);
}

void wire_float(struct wire *w, unsigned field, float v)
{
  tag(w, field, WIRE_4);
  add(w, &v, sizeof v);
}

void wire_double(struct wire *w, unsigned field, double v)
{
  tag(w, field, WIRE_8);
  add(w, &v, sizeof v);
}

void wire_bytes(struct wire *w, unsigned field, const void *data, size_t size)
{
  tag(w, field, WIRE_BYTES);
  add_varint(w, size);
  add(w, data, size);
}

void wire_text(struct wire *w, unsigned field, struct slice s)
{
  if (s.n) wire_bytes(w, field, s.s, s.n);
}

size_t wire_open(struct wire *w, unsigned field)
{
  tag(w, field, WIRE_BYTES);
  return w->size;
}

/* The length comes before what it counts, which therefore moves. */
void wire_close(struct wire *w, size_t opened)
{
  uint8_t bytes[MOST_VARINT];
  size_t size = w->size - opened, n = varint(bytes, size);
  if (!room_for(w, n)) return;
  memmove(w->data + opened + n, w->data + opened, size);
  memcpy(w->data + opened, bytes, n);
}

/* ---- Reading ---- */

static void skip(struct slice *s, size_t n)
{
  s->s += n;
  s->n -= n;
}

bool wire_varint(struct slice *list, uint64_t *v)
{
  *v = 0;
  for (size_t k = 0; k < MOST_VARINT && k < list->n; k++) {
    uint8_t byte = (uint8_t)list->s[k];
    if (k == MOST_VARINT - 1 && byte > 1) return false; /* more than 64 bits */
    *v |= (uint64_t)(byte & 127) << 7 * k;
    if (byte < 128) {
      skip(list, k + 1);
      return true;
    }
  }
  return false;
}

static bool fixed(struct slice *s, size_t n, uint64_t *v)
{
  if (s->n < n) return false;
  *v = 0;
  for (size_t k = n; k--;) *v = *v << 8 | (uint8_t)s->s[k];
  skip(s, n);
  return true;
}

bool wire_next(struct slice *message, struct field *f)
{
  struct slice at = *message;
  uint64_t head;
  *f = (struct field){0};
  if (!wire_varint(&at, &head) || head >> 3 < 1 || head >> 3 >= 1 << 29) return false;
  f->number = (uint32_t)(head >> 3);
  f->type = (enum wire_type)(head & 7);
  bool ok = false;
  if (f->type == WIRE_VARINT || f->type == WIRE_BYTES) ok = wire_varint(&at, &f->value);
  if (f->type == WIRE_8 || f->type == WIRE_4) ok = fixed(&at, f->type == WIRE_8 ? 8 : 4, &f->value);
  if (!ok || (f->type == WIRE_BYTES && f->value > at.n)) return false;
  if (f->type == WIRE_BYTES) {
    f->bytes = (struct slice){at.s, (size_t)f->value};
    skip(&at, f->bytes.n);
  }
  *message = at;
  return true;
}

size_t wire_count(struct slice message, uint32_t number)
{
  size_t n = 0;
  for (struct field f; wire_next(&message, &f);) n += f.number == number;
  return n;
}
