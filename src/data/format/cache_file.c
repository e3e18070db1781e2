#include "data/format/cache_file.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "data/format/cache_parts.h"

static const char magic[16] = "r4 image cache\n";

struct header {
  char magic[sizeof magic];
  uint64_t version, examples, height, width, channels;
  uint64_t masks; /* with number 0; none at all: 0 */
  uint64_t notes; /* bytes, a line for each note   */
};

/* Where the parts begin, and the size of all. */
struct layout {
  size_t rows, number, masks, notes, digest, end;
};

/* False if a product or sum does not fit: nothing is looked at for a header that lies. */
static bool lay_out(const struct header *h, struct layout *at)
{
  const size_t limit = SIZE_MAX / 16;
  size_t pixels, features, rows, masks;
  if (__builtin_mul_overflow(h->height, h->width, &pixels) ||
      __builtin_mul_overflow(pixels, h->channels, &features) ||
      __builtin_mul_overflow(features, h->examples, &rows) ||
      __builtin_mul_overflow(pixels, h->masks, &masks))
    return false;
  if (rows > limit || masks > limit || h->examples > UINT32_MAX || h->notes > limit) return false;
  at->rows = CACHE_HEAD;
  at->number = at->rows + cache_up(rows);
  at->masks = at->number + cache_up(h->examples * sizeof(uint32_t));
  at->notes = at->masks + cache_up(masks);
  at->digest = at->notes + cache_up(h->notes);
  at->end = at->digest + HASH_BYTES;
  return true;
}

/* ---- Reading ---- */

/* The header, if it is one of n examples and tells the size of the file. */
static bool read_header(const struct map *m, size_t n, struct header *h, struct layout *at)
{
  if (m->size < CACHE_HEAD) return false;
  memcpy(h, m->bytes, sizeof *h);
  return !memcmp(h->magic, magic, sizeof magic) && h->version == DECODER_VERSION && h->examples == n &&
         h->height && h->width && (h->channels == 1 || h->channels == 3) && lay_out(h, at) &&
         at->end == m->size;
}

static bool load_notes(const char *text, size_t size, r4_data *d)
{
  for (const char *line = text, *end; line < text + size; line = end + 1) {
    end = memchr(line, '\n', (size_t)(text + size - line));
    if (!end || data_add_note(d, NULL, "%.*s", (int)(end - line), line)) return false;
  }
  return true;
}

static bool load_masks(struct map *m, const struct header *h, const struct layout *at, r4_data *d)
{
  const uint32_t *number = (const uint32_t *)(const void *)(m->bytes + at->number);
  for (size_t i = 0; i < d->n; i++) {
    if (number[i] && number[i] >= h->masks) return false;
    d->record[i].mask = number[i];
  }
  if (!h->masks) return true;
  struct masks *masks = masks_mapped(m, at->masks, h->masks, h->height * h->width, NULL);
  data_set_masks(d, masks);
  return masks;
}

bool cache_file_load(struct map *m, r4_data *d)
{
  struct header h;
  struct layout at;
  if (!read_header(m, d->n, &h, &at)) return false;
  r4_shape shape = R4_SHAPE((int64_t)h.height, (int64_t)h.width, (int64_t)h.channels);
  struct column *values = column_mapped(m, at.rows, &bytes_column, shape, d->n, NULL);
  if (!values) return false;
  data_set_x(d, values);
  return load_masks(m, &h, &at, d) && load_notes((const char *)m->bytes + at.notes, h.notes, d);
}

/* ---- Making ---- */

static struct header header_of(const r4_data *d, r4_shape shape)
{
  struct header h = {.version = DECODER_VERSION,
                     .examples = d->n,
                     .height = (uint64_t)shape.dim[0],
                     .width = (uint64_t)shape.dim[1],
                     .channels = (uint64_t)shape.dim[2],
                     .masks = data_masks(d) ? data_masks(d)->n : 0};
  memcpy(h.magic, magic, sizeof magic);
  for (size_t k = 0; k < r4_data_notes(d); k++) h.notes += strlen(r4_data_note(d, k)) + 1;
  return h;
}

r4_status cache_file_begin(struct cache_maker *c, const char *path, r4_shape shape, r4_data *d, r4_error *e)
{
  *c = (struct cache_maker){0};
  struct header h = header_of(d, shape);
  struct layout at;
  if (!lay_out(&h, &at)) return r4_fail(e, R4_E_MEMORY, "%s: too many values", path);
  r4_status s = file_begin(&c->writer, path, e);
  if (s) return s;
  c->size = at.number;
  c->room = map_room(&c->writer, c->size, e);
  struct column *values = c->room ? column_over(c->room + CACHE_HEAD, &bytes_column, shape, d->n, e) : NULL;
  if (!values) {
    s = c->room ? R4_E_MEMORY : R4_E_IO;
    cache_file_abandon(c);
    return s;
  }
  data_set_x(d, values);
  return R4_OK;
}

static void put_notes(FILE *f, const r4_data *d, size_t size)
{
  for (size_t k = 0; k < r4_data_notes(d); k++) fprintf(f, "%s\n", r4_data_note(d, k));
  static const uint8_t zeros[64];
  fwrite(zeros, 1, cache_up(size) - size, f);
}

static r4_status put_behind_rows(struct cache_maker *c, const struct header *h, const r4_data *d, r4_error *e)
{
  FILE *f = c->writer.f;
  uint32_t *number = mem_new(d->n, sizeof *number, "masks", e);
  if (!number) return R4_E_MEMORY;
  for (size_t i = 0; i < d->n; i++) number[i] = d->record[i].mask;
  fseeko(f, (off_t)c->size, SEEK_SET);
  cache_put(f, number, d->n * sizeof *number);
  if (h->masks) cache_put(f, masks_at(data_masks(d), 0), h->masks * data_masks(d)->size);
  put_notes(f, d, h->notes);
  r4_mem_free(number);
  return fflush(f) ? r4_fail(e, R4_E_IO, "%s: cannot be written", c->writer.path) : R4_OK;
}

r4_status cache_file_end(struct cache_maker *c, r4_data *d, r4_error *e)
{
  struct header h = header_of(d, data_x(d)->shape);
  memcpy(c->room, &h, sizeof h);
  data_set_x(d, NULL);
  map_room_close(c->room, c->size);
  c->room = NULL;
  r4_status s = put_behind_rows(c, &h, d, e);
  if (!s) s = cache_put_digest(&c->writer, e);
  if (!s) return file_end(&c->writer, e);
  file_abandon(&c->writer);
  return s;
}

void cache_file_abandon(struct cache_maker *c)
{
  map_room_close(c->room, c->size);
  c->room = NULL;
  if (c->writer.f) file_abandon(&c->writer);
}
