#include "data/format/gzip.h"

#include <zlib.h>

#include "base/mem.h"

/* Deflate holds at most 258 bytes in 2 bits; the smallest file has a header of 10 bytes and a trailer of 8. */
enum { EXPANSION = 1032, SMALLEST = 18 };

bool gzip_is(const uint8_t *bytes, size_t size)
{
  return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static size_t claimed_size(const uint8_t *end)
{
  return (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

static r4_status check_end(const z_stream *z, int code, size_t size, const char *file, r4_error *e)
{
  size_t at = size - z->avail_in;
  if (code == Z_MEM_ERROR) return r4_fail(e, R4_E_MEMORY, "%s: out of memory for decompressing", file);
  if (code == Z_STREAM_END && z->avail_in)
    return r4_fail(e, R4_E_PARSE, "%s: byte %zu: %u bytes after the end of the compressed data", file, at,
                   z->avail_in);
  if (code == Z_STREAM_END && !z->avail_out) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s: byte %zu: the compressed data are damaged: %s", file, at,
                 z->msg ? z->msg : "they do not have the length that the file says");
}

r4_status gzip_read(const uint8_t *bytes, size_t size, const char *file, uint8_t **content,
                    size_t *content_size, r4_error *e)
{
  if (size < SMALLEST)
    return r4_fail(e, R4_E_PARSE, "%s: byte %zu: the gzip file ends too early", file, size);
  size_t n = claimed_size(bytes + size);
  if (size > UINT32_MAX || n / EXPANSION > size)
    return r4_fail(e, R4_E_PARSE, "%s: byte %zu: claims %zu bytes in %zu, more than deflate can hold", file,
                   size - 4, n, size);
  uint8_t *to = mem_new(n ? n : 1, 1, file, e);
  if (!to) return R4_E_MEMORY;
  z_stream z = {
    .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)n};
  int code = inflateInit2(&z, 16 + MAX_WBITS); /* 16: gzip, with its checksum */
  if (code == Z_OK) {
    code = inflate(&z, Z_FINISH);
    inflateEnd(&z);
  }
  r4_status s = check_end(&z, code, size, file, e);
  if (s) {
    r4_mem_free(to);
    return s;
  }
  *content = to;
  *content_size = n;
  return R4_OK;
}
