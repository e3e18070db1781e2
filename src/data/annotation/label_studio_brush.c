/* The packed image is a stream of bits, the highest of a byte first:
 *
 *     32  how many values there are: 4 height width        5  bits of a value, minus 1
 *     4 x 4  four lengths in bits, minus 1
 *
 * and then, until all values are there: 1 bit that tells a run from single values, 2 bits that choose one of the four
 * lengths, in that many bits the number of values minus 1, and the value of the run, or the single values. */
#include "data/annotation/label_studio_brush.h"

#include "base/mem.h"

enum { CHANNELS = 4, LENGTHS = 4 };

struct stream {
  const uint8_t *byte;
  size_t bits, at; /* all of them, and the next one */
};

struct brush {
  uint32_t *run; /* of pixels that are not marked and marked in turns */
  size_t n, room;
  uint64_t at; /* values so far */
};

/* The next n bits as a number; false behind the end. */
static bool take(struct stream *s, unsigned n, uint32_t *to)
{
  if (n > s->bits - s->at) return false;
  uint32_t v = 0;
  for (unsigned k = 0; k < n; k++, s->at++) v = v << 1 | (s->byte[s->at / 8] >> (7 - s->at % 8) & 1);
  *to = v;
  return true;
}

/* Adds values that are the same. Only every fourth one counts. */
static bool add_values(struct brush *b, uint64_t n, bool marked)
{
  uint64_t pixels = (b->at + n) / CHANNELS - b->at / CHANNELS;
  b->at += n;
  if (!pixels) return true;
  if (mem_more(&b->run, &b->room, b->n + 2, sizeof *b->run, "a brush", NULL)) return false;
  if (!b->n) b->run[b->n++] = 0;
  if (((b->n - 1) % 2 == 1) != marked) b->run[b->n++] = 0;
  b->run[b->n - 1] += (uint32_t)pixels;
  return true;
}

struct packing {
  unsigned value, length[LENGTHS]; /* in bits */
  uint64_t values;
};

static bool take_header(struct stream *s, struct packing *p)
{
  uint32_t values, value, length;
  if (!take(s, 32, &values) || !take(s, 5, &value)) return false;
  for (int k = 0; k < LENGTHS; k++) {
    if (!take(s, 4, &length)) return false;
    p->length[k] = length + 1;
  }
  p->values = values;
  p->value = value + 1;
  return true;
}

/* One run, or some single values. *memory becomes false if there is none. */
static bool take_some(struct stream *s, const struct packing *p, struct brush *b, bool *memory)
{
  uint32_t same, which, count, value;
  if (!take(s, 1, &same) || !take(s, 2, &which) || !take(s, p->length[which], &count)) return false;
  uint64_t n = (uint64_t)count + 1;
  if (n > p->values - b->at) return false;
  if (same) return take(s, p->value, &value) && (*memory = add_values(b, n, value > 0));
  for (uint64_t k = 0; k < n; k++)
    if (!take(s, p->value, &value) || !(*memory = add_values(b, 1, value > 0))) return false;
  return true;
}

static uint8_t *bytes_of(const struct js *list, bool *sound)
{
  size_t n = 0;
  uint8_t *bytes = r4_mem_new(js_size(list) + 1, 1);
  *sound = true;
  for (const struct js *v = NULL; bytes && js_size(list) && (v = js_next(list, v));) {
    int64_t byte;
    *sound = *sound && js_whole(v, &byte) && byte >= 0 && byte <= 255;
    if (*sound) bytes[n++] = (uint8_t)byte;
  }
  return bytes;
}

r4_status label_studio_read_brush(const struct js *rle, size_t image, size_t height, size_t width,
                                  const char *where, struct annotations *to, r4_error *e)
{
  if (js_kind(rle) != JS_LIST) return r4_fail(e, R4_E_PARSE, "%s: expected rle, a list of bytes", where);
  bool sound = false, memory = true;
  uint8_t *bytes = bytes_of(rle, &sound);
  if (!bytes) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", where);
  struct stream s = {bytes, sound ? 8 * js_size(rle) : 0, 0};
  struct packing p = {0};
  struct brush b = {0};
  sound = sound && take_header(&s, &p) && p.values == (uint64_t)CHANNELS * height * width;
  while (sound && b.at < p.values) sound = take_some(&s, &p, &b, &memory);
  const struct runs runs = {(uint32_t)height, (uint32_t)width, false, b.n, b.run};
  r4_status status = !memory  ? r4_fail(e, R4_E_MEMORY, "%s: out of memory", where)
                     : !sound ? r4_fail(e, R4_E_PARSE, "%s: rle is not a packed image of %zu x %zu pixels",
                                        where, width, height)
                              : annotations_add_runs(to, image, &runs, where, e);
  r4_mem_free(b.run);
  r4_mem_free(bytes);
  return status;
}
