#include "data/format/whole.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "data/format/cache_parts.h"
#include "data/format/whole_words.h"

static const char magic[16] = "r4 data cache\n";

struct header {
  char magic[sizeof magic];
  uint64_t version, record; /* record: bytes of one */
  uint64_t kind, rank, dim[R4_MAX_RANK];
  double number[COLUMN_NUMBERS];
  uint64_t rows, examples, masks, mask, words, means; /* masks: with number 0, each of so many bytes */
};

/* Where the parts begin, and the size of all. */
struct layout {
  size_t features, rows, lengths, records, masks, words, digest, end;
};

static const struct column_kind *const kinds[] = {&bytes_column, &floats_column, &tokens_column};

static const struct column_kind *kind_of(uint64_t tag)
{
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (kinds[k]->tag == tag) return kinds[k];
  return NULL;
}

/* False for what does not fit: nothing is looked at for a header that lies. */
static bool lay_out(const struct header *h, struct layout *at)
{
  const uint64_t most = SIZE_MAX / 16;
  const struct column_kind *kind = kind_of(h->kind);
  uint64_t features = 1, rows, masks;
  if (!kind || !h->rank || h->rank > R4_MAX_RANK || !h->examples) return false;
  for (uint64_t k = 0; k < R4_MAX_RANK; k++) {
    if (!h->dim[k] != (k >= h->rank)) return false;
    if (h->dim[k] && __builtin_mul_overflow(features, h->dim[k], &features)) return false;
  }
  if (__builtin_mul_overflow(features, kind->size, &rows) || __builtin_mul_overflow(rows, h->rows, &rows) ||
      __builtin_mul_overflow(h->masks, h->mask, &masks))
    return false;
  if (rows > most || masks > most || h->words > most || h->rows > UINT32_MAX || h->examples > UINT32_MAX)
    return false;
  at->features = features;
  at->rows = CACHE_HEAD;
  at->lengths = at->rows + cache_up(rows);
  at->records = at->lengths + cache_up(kind->lengths ? h->rows * sizeof(uint32_t) : 0);
  at->masks = at->records + cache_up(h->examples * sizeof(struct record));
  at->words = at->masks + cache_up(masks);
  at->digest = at->words + cache_up(h->words);
  at->end = at->digest + HASH_BYTES;
  return true;
}

/* ---- Writing ---- */

static struct header header_of(const r4_data *d, size_t words)
{
  const struct column *x = data_x(d);
  const struct masks *m = data_masks(d);
  struct header h = {.version = WHOLE_VERSION,
                     .record = sizeof *d->record,
                     .kind = x->is->tag,
                     .rank = (uint64_t)x->shape.rank,
                     .rows = x->rows,
                     .examples = d->n,
                     .masks = m ? m->n : 0,
                     .mask = m ? m->size : 0,
                     .words = words,
                     .means = d->means};
  memcpy(h.magic, magic, sizeof magic);
  memcpy(h.number, x->number, sizeof h.number);
  for (int k = 0; k < x->shape.rank; k++) h.dim[k] = (uint64_t)x->shape.dim[k];
  return h;
}

static void put_head(FILE *f, const r4_data *d, size_t words)
{
  static const uint8_t zeros[CACHE_HEAD];
  struct header h = header_of(d, words);
  fwrite(&h, sizeof h, 1, f);
  fwrite(zeros, 1, CACHE_HEAD - sizeof h, f);
}

/* The records one by one, so that what is between their fields is zero. */
static void put_records(FILE *f, const r4_data *d)
{
  for (size_t i = 0; i < d->n; i++) {
    struct record one;
    const struct record *r = d->record + i;
    memset(&one, 0, sizeof one);
    one.row = r->row, one.origin = r->origin, one.mask = r->mask, one.label = r->label, one.group = r->group;
    one.file = r->file, one.id = r->id, one.extra = r->extra, one.split = r->split;
    fwrite(&one, sizeof one, 1, f);
  }
  size_t size = d->n * sizeof(struct record);
  fwrite((const uint8_t[CACHE_STEP]){0}, 1, cache_up(size) - size, f);
}

/* The head is written again once it is known how much the words are. */
static void put_all(FILE *f, const char *source, const r4_data *d)
{
  const struct column *x = data_x(d);
  const struct masks *m = data_masks(d);
  put_head(f, d, 0);
  cache_put(f, x->data, x->rows * x->features * x->is->size);
  cache_put(f, x->length, x->length ? x->rows * sizeof *x->length : 0);
  put_records(f, d);
  cache_put(f, m ? m->bytes : NULL, m ? m->n * m->size : 0);
  off_t words = ftello(f);
  whole_put_words(f, source, d);
  size_t size = (size_t)(ftello(f) - words);
  fwrite((const uint8_t[CACHE_STEP]){0}, 1, cache_up(size) - size, f);
  fseeko(f, 0, SEEK_SET);
  put_head(f, d, size);
  fseeko(f, 0, SEEK_END);
}

r4_status whole_write(const char *path, const char *source, const r4_data *d, r4_error *e)
{
  struct file_writer w;
  r4_status s = file_begin(&w, path, e);
  if (s) return s;
  put_all(w.f, source, d);
  s = ferror(w.f) ? r4_fail(e, R4_E_IO, "%s: cannot be written", path) : cache_put_digest(&w, e);
  if (!s) return file_end(&w, e);
  file_abandon(&w);
  return s;
}

/* ---- Reading ---- */

static bool read_header(const struct map *m, struct header *h, struct layout *at)
{
  if (m->size < CACHE_HEAD) return false;
  memcpy(h, m->bytes, sizeof *h);
  return !memcmp(h->magic, magic, sizeof magic) && h->version == WHOLE_VERSION && h->record == sizeof(struct record) &&
         h->means <= R4_MASKS_RELEVANT && lay_out(h, at) && at->end == m->size;
}

static struct column *load_values(struct map *m, const struct header *h, const struct layout *at, r4_error *e)
{
  r4_shape shape = {.rank = (int)h->rank};
  for (int k = 0; k < shape.rank; k++) shape.dim[k] = (int64_t)h->dim[k];
  struct column *c = column_mapped(m, at->rows, kind_of(h->kind), shape, h->rows, e);
  if (!c) return NULL;
  memcpy(c->number, h->number, sizeof c->number);
  if (c->length) memcpy(c->length, m->bytes + at->lengths, h->rows * sizeof *c->length);
  bool good = !column_check(c, &(struct column_source){m->path, c->is->stem, NULL});
  for (size_t i = 0; c->length && i < c->rows; i++) good &= c->length[i] && c->length[i] <= at->features;
  if (good) return c;
  column_drop(c);
  return NULL;
}

static r4_status load_rest(struct map *m, const struct header *h, const struct layout *at, const char *source,
                           r4_data *d, r4_error *e)
{
  memcpy(d->record, m->bytes + at->records, h->examples * sizeof *d->record);
  d->means = (r4_mask_meaning)h->means;
  if (h->masks) {
    data_set_masks(d, masks_mapped(m, at->masks, h->masks, h->mask, e));
    if (!data_masks(d)) return R4_E_MEMORY;
  }
  r4_status s = whole_take_words(m->bytes + at->words, h->words, source, d, e);
  return s ? s : data_finish(d, source, e);
}

r4_data *whole_load(struct map *m, const char *source, r4_error *e)
{
  struct header h;
  struct layout at;
  r4_error why = {0};
  if (!read_header(m, &h, &at)) return NULL;
  struct column *values = load_values(m, &h, &at, &why);
  r4_data *d = values ? data_new(h.examples, values, &why) : NULL;
  if (d && !load_rest(m, &h, &at, source, d, &why)) return d;
  r4_data_free(d);
  if (why.status == R4_E_MEMORY && e) *e = why;
  return NULL;
}
