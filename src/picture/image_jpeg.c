/* JPEG, by libjpeg-turbo: 8 bits, grey, YCbCr, RGB, CMYK and YCCK; baseline and progressive. */
#include <limits.h>
#include <string.h>
#include <turbojpeg.h>

#include "base/mem.h"
#include "picture/exif.h"
#include "picture/image_codec.h"

/* Data that libjpeg calls corrupt, or that ends early, is an error at once and not a grey patch. */
enum { FLAGS = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS };

static r4_status refused(const struct image_source *from, tjhandle handle)
{
  return r4_fail(from->e, R4_E_PARSE, "%s: not a valid JPEG: %s", from->name, tjGetErrorStr2(handle));
}

static r4_status read_header(const struct image_source *from, tjhandle handle, struct image *as,
                             int *colourspace)
{
  int width = 0, height = 0, subsampling = 0;
  if (from->size > ULONG_MAX || tjDecompressHeader3(handle, from->data, (unsigned long)from->size, &width,
                                                    &height, &subsampling, colourspace))
    return refused(from, handle);
  if (width < 1 || height < 1)
    return r4_fail(from->e, R4_E_PARSE, "%s: claims %d x %d pixels", from->name, width, height);
  as->height = (size_t)height;
  as->width = (size_t)width;
  as->channels = *colourspace == TJCS_GRAY ? 1 : 3;
  return image_check_claim(from, &image_jpeg, as->height, as->width);
}

/* ---- The end of the image ---- */

/* A JPEG is a list of markers, ff xx. Most are followed by a segment that starts with its length; between segments
 * stand entropy-coded bytes, in which ff is followed by 00 or by a restart, d0 to d7. */
static bool has_segment(uint8_t marker)
{
  enum { STUFFED = 0, TEMPORARY = 1, RESTART = 0xd0, START = 0xd8 };
  return marker != STUFFED && marker != TEMPORARY && !(marker >= RESTART && marker <= START);
}

/* The byte after the end marker, or size if there is none. */
static size_t end_of_image(const uint8_t *data, size_t size)
{
  enum { FILL = 0xff, END = 0xd9 };
  for (size_t at = 0; at + 2 <= size;) {
    uint8_t marker = data[at + 1];
    if (data[at] != 0xff || marker == FILL) {
      at++;
      continue;
    }
    at += 2;
    if (marker == END) return at;
    if (has_segment(marker)) at += at + 2 <= size ? (size_t)data[at] << 8 | data[at + 1] : 2;
  }
  return size;
}

static r4_status check_end(const struct image_source *from)
{
  size_t end = end_of_image(from->data, from->size);
  if (end < 2 || memcmp(from->data + end - 2, "\xff\xd9", 2))
    return r4_fail(from->e, R4_E_PARSE, "%s: not a valid JPEG: the file ends early", from->name);
  if (end < from->size)
    return r4_fail(from->e, R4_E_PARSE, "%s: not a valid JPEG: %zu bytes after the end of the image",
                   from->name, from->size - end);
  return R4_OK;
}

/* ---- Orientation ---- */

/* That of the first segment of EXIF: those stand before the first scan. */
static int orientation(const struct image_source *from)
{
  enum { SCAN = 0xda, APP1 = 0xe1 };
  static const char head[6] = "Exif\0";
  const uint8_t *data = from->data;
  for (size_t at = 2; at + 4 <= from->size && data[at] == 0xff && data[at + 1] != SCAN;) {
    uint8_t marker = data[at + 1];
    size_t length = (size_t)data[at + 2] << 8 | data[at + 3]; /* with its own two bytes */
    if (!has_segment(marker) || marker == 0xff) {
      at += marker == 0xff ? 1 : 2;
      continue;
    }
    if (length < 2 || length > from->size - at - 2) return 1;
    bool exif = marker == APP1 && length >= 2 + sizeof head && !memcmp(data + at + 4, head, sizeof head);
    if (exif) return exif_orientation(data + at + 4 + sizeof head, length - 2 - sizeof head);
    at += 2 + length;
  }
  return 1;
}

/* ---- Pixels ---- */

/* Inks are stored inverted, as Adobe does: r = c k / 255. */
static void from_cmyk(size_t pixels, const uint8_t *cmyk, uint8_t *rgb)
{
  for (size_t i = 0; i < pixels; i++, cmyk += 4, rgb += 3)
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)((cmyk[k] * cmyk[3] + 127) / 255);
}

static r4_status decompress(const struct image_source *from, tjhandle handle, int format,
                            const struct image *size, uint8_t *to)
{
  if (tjDecompress2(handle, from->data, (unsigned long)from->size, to, (int)size->width, 0, (int)size->height,
                    format, FLAGS))
    return refused(from, handle);
  return R4_OK;
}

static r4_status decompress_cmyk(const struct image_source *from, tjhandle handle, struct image *to)
{
  size_t pixels = to->height * to->width;
  uint8_t *cmyk = mem_new(pixels, 4, from->name, from->e);
  if (!cmyk) return R4_E_MEMORY;
  r4_status s = decompress(from, handle, TJPF_CMYK, to, cmyk);
  if (!s) from_cmyk(pixels, cmyk, to->pixel);
  r4_mem_free(cmyk);
  return s;
}

static r4_status decode(const struct image_source *from, struct image *to)
{
  tjhandle handle = tjInitDecompress();
  if (!handle) return r4_fail(from->e, R4_E_MEMORY, "%s: out of memory", from->name);
  struct image same = *to;
  int colourspace = 0;
  r4_status s = read_header(from, handle, &same, &colourspace);
  if (!s && (colourspace == TJCS_CMYK || colourspace == TJCS_YCCK))
    s = decompress_cmyk(from, handle, to);
  else if (!s)
    s = decompress(from, handle, to->channels == 1 ? TJPF_GRAY : TJPF_RGB, to, to->pixel);
  tjDestroy(handle);
  return s ? s : check_end(from);
}

static r4_status look(const struct image_source *from, struct image *as)
{
  tjhandle handle = tjInitDecompress();
  if (!handle) return r4_fail(from->e, R4_E_MEMORY, "%s: out of memory", from->name);
  int colourspace = 0;
  r4_status s = read_header(from, handle, as, &colourspace);
  tjDestroy(handle);
  return s;
}

/* A block of 8 x 8 pixels takes at least one bit of Huffman code. */
const struct image_codec image_jpeg = {.name = "JPEG",
                                       .magic = "\xff\xd8\xff",
                                       .look = look,
                                       .decode = decode,
                                       .orientation = orientation,
                                       .most_pixels_per_byte = 8 * 64};
