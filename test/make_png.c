#include "make_png.h"

#include <string.h>

void bytes_put(struct bytes *b, const void *data, size_t n)
{
  assert_true(b->n + n <= sizeof b->at);
  memcpy(b->at + b->n, data, n);
  b->n += n;
}

static void put32(struct bytes *b, uint32_t v)
{
  bytes_put(b, (uint8_t[]){(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}, 4);
}

static uint32_t crc(const uint8_t *data, size_t n)
{
  uint32_t c = ~0u;
  for (size_t i = 0; i < n; i++) {
    c ^= data[i];
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
  }
  return ~c;
}

static void chunk(struct bytes *b, const char *type, const void *data, size_t n)
{
  put32(b, (uint32_t)n);
  size_t start = b->n;
  bytes_put(b, type, 4);
  bytes_put(b, data, n);
  put32(b, crc(b->at + start, b->n - start));
}

/* Deflate, in one stored block. */
static void zlib_stored(struct bytes *b, const uint8_t *data, size_t n)
{
  uint32_t s1 = 1, s2 = 0;
  for (size_t i = 0; i < n; i++) {
    s1 = (s1 + data[i]) % 65521;
    s2 = (s2 + s1) % 65521;
  }
  bytes_put(b, (uint8_t[]){0x78, 1, 1, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8)}, 7);
  bytes_put(b, data, n);
  put32(b, s2 << 16 | s1);
}

void write_png(struct bytes *b, struct png p)
{
  static struct bytes header, packed;
  b->n = header.n = packed.n = 0;
  bytes_put(b, "\x89PNG\r\n\x1a\n", 8);
  put32(&header, p.width);
  put32(&header, p.height);
  bytes_put(&header, (uint8_t[]){p.depth, p.type, 0, 0, p.interlaced}, 5);
  chunk(b, "IHDR", header.at, header.n);
  chunk(b, "gAMA", (uint8_t[]){0, 1, 0x86, 0xa0}, 4); /* gamma 1: must make no difference */
  if (p.n_palette) chunk(b, "PLTE", p.palette, p.n_palette);
  if (p.n_transparent) chunk(b, "tRNS", p.transparent, p.n_transparent);
  zlib_stored(&packed, p.rows, p.n_rows);
  chunk(b, "IDAT", packed.at, packed.n);
  chunk(b, "IEND", "", 0);
}
