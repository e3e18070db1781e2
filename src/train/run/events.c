/* A record of TFRecord, numbers in little-endian order:
 *
 *     length (8 bytes)   mask(crc(length)) (4)   data   mask(crc(data)) (4)
 *     mask(c) = rotate right(c, 15) + 0xa282ead8
 *
 * Its data are a message Event of TensorFlow's event.proto and summary.proto, in the wire format of protocol buffers:
 *
 *     Event    1 wall_time: double   2 step: int64   3 file_version: string   5 summary: Summary
 *     Summary  1 value: Value, any number            Value    1 tag: string   2 simple_value: float
 *
 * Messages that are there more than once are merged, so that each scalar may come in a Summary of its own. */
#include "train/run/events.h"

#include <string.h>

#include "base/mem.h"

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

void event_begin(struct wire *v, double time)
{
  *v = (struct wire){0};
  wire_double(v, WALL_TIME, time);
}

void event_step(struct wire *v, int64_t step)
{
  wire_whole(v, STEP, step);
}

void event_version(struct wire *v)
{
  wire_text(v, FILE_VERSION, slice_of("brain.Event:2"));
}

void event_scalar(struct wire *v, const char *tag, float value)
{
  size_t summary = wire_open(v, SUMMARY), one = wire_open(v, VALUE);
  wire_text(v, TAG, slice_of(tag));
  wire_float(v, SIMPLE_VALUE, value);
  wire_close(v, one);
  wire_close(v, summary);
}

/* ---- Records ---- */

static uint32_t masked_crc(const void *bytes, size_t n)
{
  uint32_t crc = events_crc(bytes, n);
  return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

static void put_little(uint8_t *to, uint64_t value, int n)
{
  for (int k = 0; k < n; k++) to[k] = (uint8_t)(value >> 8 * k);
}

uint8_t *event_record(struct wire *v, size_t *size)
{
  *size = HEAD + v->size + TAIL;
  uint8_t *record = v->failed ? NULL : r4_mem_new(*size, 1);
  if (record) {
    put_little(record, v->size, 8);
    put_little(record + 8, masked_crc(record, 8), 4);
    memcpy(record + HEAD, v->data, v->size);
    put_little(record + HEAD + v->size, masked_crc(v->data, v->size), TAIL);
  }
  r4_mem_free(v->data);
  *v = (struct wire){0};
  return record;
}
