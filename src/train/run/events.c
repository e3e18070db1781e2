/* A record of TFRecord, numbers in little-endian order:
 *
 *     length (8 bytes)   mask(crc(length)) (4)   data   mask(crc(data)) (4)
 *     mask(c) = rotate right(c, 15) + 0xa282ead8
 *
 * Its data are a message Event of TensorFlow's event.proto and summary.proto; a field is its number << 3 | kind, then
 * its value (kind 0: varint, 1: 8 bytes, 2: length and bytes, 5: 4 bytes):
 *
 *     Event    1 wall_time: double   2 step: int64   3 file_version: string   5 summary: Summary
 *     Summary  1 value: Value, any number            Value    1 tag: string   2 simple_value: float
 *
 * Messages that are there more than once are merged, so that each scalar may come in a Summary of its own. */
#include "train/run/events.h"

#include <string.h>

#include "base/mem.h"

enum { VARINT = 0, EIGHT = 1, BYTES = 2, FOUR = 5 };
enum { WALL_TIME = 1, STEP = 2, FILE_VERSION = 3, SUMMARY = 5, VALUE = 1, TAG = 1, SIMPLE_VALUE = 2 };
enum { HEAD = 12, TAIL = 4 }; /* of a record */

uint32_t events_crc(const void *bytes, size_t n)
{
  uint32_t crc = ~UINT32_C(0);
  for (const uint8_t *b = bytes; n--; b++) {
    crc ^= *b;
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
  }
  return ~crc;
}

/* ---- Messages ---- */

static void add(struct event *v, const void *bytes, size_t n)
{
  if (v->failed) return;
  if (v->size + n > v->room) {
    size_t room = 2 * (v->size + n) + 64;
    uint8_t *grown = r4_mem_grow(v->bytes, room, 1);
    v->failed = !grown;
    if (!grown) return;
    v->bytes = grown;
    v->room = room;
  }
  memcpy(v->bytes + v->size, bytes, n);
  v->size += n;
}

static void put_little(uint8_t *to, uint64_t value, int n)
{
  for (int k = 0; k < n; k++) to[k] = (uint8_t)(value >> 8 * k);
}

static void add_varint(struct event *v, uint64_t value)
{
  uint8_t byte;
  do {
    byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
    add(v, &byte, 1);
    value >>= 7;
  } while (value);
}

static void add_key(struct event *v, unsigned field, unsigned kind)
{
  add_varint(v, field << 3 | kind);
}

static void add_text(struct event *v, unsigned field, const char *text)
{
  add_key(v, field, BYTES);
  add_varint(v, strlen(text));
  add(v, text, strlen(text));
}

static size_t varint_size(uint64_t value)
{
  size_t n = 1;
  while (value >>= 7) n++;
  return n;
}

void event_begin(struct event *v, double time)
{
  static const uint8_t head[HEAD] = {0};
  uint8_t eight[8];
  uint64_t bits;
  *v = (struct event){0};
  memcpy(&bits, &time, sizeof bits);
  put_little(eight, bits, 8);
  add(v, head, HEAD); /* event_record fills it */
  add_key(v, WALL_TIME, EIGHT);
  add(v, eight, 8);
}

void event_step(struct event *v, int64_t step)
{
  add_key(v, STEP, VARINT);
  add_varint(v, (uint64_t)step);
}

void event_version(struct event *v)
{
  add_text(v, FILE_VERSION, "brain.Event:2");
}

void event_scalar(struct event *v, const char *tag, float value)
{
  uint8_t four[4];
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_little(four, bits, 4);
  size_t n = strlen(tag), size = 1 + varint_size(n) + n + 1 + sizeof four; /* of the Value */
  add_key(v, SUMMARY, BYTES);
  add_varint(v, 1 + varint_size(size) + size);
  add_key(v, VALUE, BYTES);
  add_varint(v, size);
  add_text(v, TAG, tag);
  add_key(v, SIMPLE_VALUE, FOUR);
  add(v, four, sizeof four);
}

/* ---- Records ---- */

static uint32_t masked_crc(const void *bytes, size_t n)
{
  uint32_t crc = events_crc(bytes, n);
  return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

uint8_t *event_record(struct event *v, size_t *size)
{
  uint8_t tail[TAIL] = {0}, *record = NULL;
  if (!v->failed) put_little(tail, masked_crc(v->bytes + HEAD, v->size - HEAD), TAIL);
  add(v, tail, TAIL);
  if (v->failed) {
    r4_mem_free(v->bytes);
  } else {
    record = v->bytes;
    put_little(record, v->size - HEAD - TAIL, 8);
    put_little(record + 8, masked_crc(record, 8), 4);
  }
  *size = v->size;
  *v = (struct event){0};
  return record;
}
