/* PNG, by libpng. Its errors jump to the function that marked the place, read_png or write_png, whose locals do not
 * change after the mark; all that libpng allocates comes from mem.h and is freed with its structs. */
#include <png.h>
#include <string.h>

#include "base/mem.h"
#include "picture/image_codec.h"

/* What the functions that libpng calls back need to know. */
struct session {
  const struct image_source *from; /* reading */
  size_t at;
  uint8_t *data; /* writing */
  size_t size, capacity;
  r4_error *e;
  r4_status status;
  bool memory; /* an allocation failed, whatever libpng makes of it */
  bool stored; /* pixels are wanted as they are stored, not as they show */
};

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
  struct session *s = png_get_mem_ptr(png);
  void *p = r4_mem_new(size, 1);
  if (!p) s->memory = true;
  return p;
}

static void release(png_structp png, png_voidp p)
{
  (void)png;
  r4_mem_free(p);
}

static void fail(png_structp png, png_const_charp message)
{
  struct session *s = png_get_error_ptr(png);
  const char *name = s->from ? s->from->name : "PNG";
  if (s->memory)
    s->status = r4_fail(s->e, R4_E_MEMORY, "%s: out of memory", name);
  else
    s->status = r4_fail(s->e, R4_E_PARSE, "%s: not a valid PNG at byte %zu: %s", name, s->at, message);
  png_longjmp(png, 1);
}

/* A file that libpng doubts is not data to train on. But that memory ran out is told while zlib is allocating, and zlib
 * frees what it has when it is let go on; then comes an error. */
static void warn(png_structp png, png_const_charp message)
{
  struct session *s = png_get_error_ptr(png);
  if (!s->memory) fail(png, message);
}

/* ---- Reading ---- */

static void take(png_structp png, png_bytep to, size_t n)
{
  struct session *s = png_get_io_ptr(png);
  if (n > s->from->size - s->at) png_error(png, "the file ends early");
  memcpy(to, s->from->data + s->at, n);
  s->at += n;
}

/* The header: its claim, before libpng takes memory for a row of that width. */
static bool is_possible(png_structp png, png_infop info, struct session *s)
{
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);                   /* image.c has the limit */
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* gamma, profiles, texts */
  png_read_info(png, info);
  size_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
  return !(s->status = image_check_claim(s->from, &image_png, height, width));
}

/* With every transform that makes bytes of it: palettes and fewer bits expanded, 16 bits scaled to 8. Stored numbers
 * are only unpacked. */
static void begin(png_structp png, png_infop info, bool stored, struct image *as)
{
  if (stored) {
    png_set_packing(png);
  } else {
    png_set_expand(png);
    png_set_scale_16(png);
  }
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  as->height = png_get_image_height(png, info);
  as->width = png_get_image_width(png, info);
  as->channels = png_get_rowbytes(png, info) / as->width; /* a byte each; two for numbers of 16 bits */
}

static void read_pixels(png_structp png, struct image *to)
{
  int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; pass++)
    for (size_t y = 0; y < to->height; y++) png_read_row(png, to->pixel + y * to->width * to->channels, NULL);
}

/* With pixels reads to the end of the file, which must be the end of the image. */
static r4_status read_png(struct session *s, struct image *image, bool pixels)
{
  png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, fail, warn, s, allocate, release);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) {
    png_destroy_read_struct(&png, NULL, NULL);
    return r4_fail(s->e, R4_E_MEMORY, "%s: out of memory", s->from->name);
  }
  if (!setjmp(png_jmpbuf(png))) {
    png_set_read_fn(png, s, take);
    bool possible = is_possible(png, info, s);
    if (possible) begin(png, info, s->stored, image);
    if (possible && pixels) {
      read_pixels(png, image);
      png_read_end(png, NULL);
      if (s->at < s->from->size) png_error(png, "the image ends here, the file does not");
    }
  }
  png_destroy_read_struct(&png, &info, NULL);
  return s->status;
}

static r4_status look(const struct image_source *from, struct image *as)
{
  return read_png(&(struct session){.from = from, .e = from->e}, as, false);
}

static r4_status decode(const struct image_source *from, struct image *to)
{
  return read_png(&(struct session){.from = from, .e = from->e}, to, true);
}

/* The header of a PNG file has the bits of a number and the kind of its pixels in two bytes. */
static enum image_stored stored(const struct image_source *from)
{
  enum { BITS = 24, KIND = 25 };
  if (from->data[KIND] == PNG_COLOR_TYPE_PALETTE) return STORED_INDEX;
  return from->data[KIND] == PNG_COLOR_TYPE_GRAY && from->data[BITS] == 16 ? STORED_GREY16 : STORED_SHOWN;
}

static r4_status decode_stored(const struct image_source *from, struct image *to)
{
  return read_png(&(struct session){.from = from, .e = from->e, .stored = true}, to, true);
}

/* Deflate makes at most 1032 bytes of one, and a byte of PNG holds at most eight pixels. */
const struct image_codec image_png = {.name = "PNG",
                                      .magic = "\x89PNG\r\n\x1a\n",
                                      .exact = true,
                                      .look = look,
                                      .decode = decode,
                                      .stored = stored,
                                      .decode_stored = decode_stored,
                                      .most_pixels_per_byte = 8 * 1032};

/* ---- Writing ---- */

static void put(png_structp png, png_bytep from, size_t n)
{
  struct session *s = png_get_io_ptr(png);
  if (n > s->capacity - s->size) {
    size_t capacity = 2 * s->capacity + n;
    uint8_t *grown = r4_mem_grow(s->data, capacity, 1);
    if (!grown) {
      s->memory = true;
      png_error(png, "out of memory");
    }
    s->data = grown;
    s->capacity = capacity;
  }
  memcpy(s->data + s->size, from, n);
  s->size += n;
}

static void flush(png_structp png)
{
  (void)png;
}

static void write_pixels(png_structp png, png_infop info, const struct image *image)
{
  int colour = image->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY;
  png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, colour,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (size_t y = 0; y < image->height; y++)
    png_write_row(png, image->pixel + y * image->width * image->channels);
  png_write_end(png, NULL);
}

static r4_status write_png(struct session *s, const struct image *image)
{
  png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, s, fail, warn, s, allocate, release);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) {
    png_destroy_write_struct(&png, NULL);
    return r4_fail(s->e, R4_E_MEMORY, "PNG: out of memory");
  }
  if (!setjmp(png_jmpbuf(png))) {
    png_set_write_fn(png, s, put, flush);
    write_pixels(png, info, image);
  }
  png_destroy_write_struct(&png, &info);
  return s->status;
}

r4_status image_encode(const struct image *image, uint8_t **data, size_t *size, r4_error *e)
{
  struct session s = {.e = e};
  r4_status status = write_png(&s, image);
  if (status) {
    r4_mem_free(s.data);
    return status;
  }
  *data = s.data;
  *size = s.size;
  return R4_OK;
}
