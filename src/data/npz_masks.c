#include "data/npz_masks.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static r4_status mask_meaning(struct npz_source *s, const r4_data_options *options, r4_mask_meaning *means)
{
  struct array text;
  r4_mask_meaning stated = s->is->means, asked = options->mask_means;
  r4_status status = npz_source_text(s, NPZ_MASK_MEANS, &text);
  if (status) return status;
  if (text.data) {
    const char *word = array_count(&text) == 1 ? array_text(&text, 0) : "";
    stated = !strcmp(word, "irrelevant") ? R4_MASKS_IRRELEVANT
             : !strcmp(word, "relevant") ? R4_MASKS_RELEVANT
                                         : R4_MASKS_UNSTATED;
    if (!stated)
      status =
        r4_fail(s->e, R4_E_PARSE, "%s: mask_means is \"%s\", expected irrelevant or relevant", s->path, word);
    array_free(&text);
    if (status) return status;
  }
  *means = stated ? stated : asked;
  if (stated && asked && stated != asked)
    return r4_fail(s->e, R4_E_ARGUMENT,
                   "%s: says that its masks mark what is %s, the options say the opposite", s->path,
                   stated == R4_MASKS_RELEVANT ? "relevant" : "irrelevant");
  if (*means) return R4_OK;
  return r4_fail(
    s->e, R4_E_ARGUMENT,
    "%s: does not say what its masks mark: add mask_means = \"irrelevant\" or \"relevant\" to the file, "
    "or set mask_means in the options",
    s->path);
}

/* Elements of one mask: a feature each, or a pixel each; 0 if the shapes do not fit. */
static size_t mask_size(const struct array *x, const struct array *m)
{
  bool pixels = x->rank == 4 && (m->rank == 3 || (m->rank == 4 && m->dim[3] == 1));
  bool flat = x->rank == 3 && m->rank == 4 && m->dim[3] == 1;
  if (!pixels && !flat && m->rank != x->rank) return 0;
  size_t n = 1;
  for (int k = 1; k < m->rank && !(k == 3 && (pixels || flat)); k++) {
    if (m->dim[k] != x->dim[k]) return 0;
    n *= (size_t)m->dim[k];
  }
  return n;
}

/* The size of every mask in the file, and the value of a uint8 of 1: 255 if none is above 1. */
static r4_status check_masks(const struct npz_source *s, size_t *size, int *unit)
{
  uint8_t largest = 0;
  *size = 0;
  for (int k = 0; k < R4_SPLITS; k++) {
    const struct array *m = &s->column[NPZ_M][k], *x = &s->column[NPZ_X][k];
    const char *key = npz_source_key(s, NPZ_M, k);
    if (!m->data || !s->n[k]) continue;
    if (m->type != ARRAY_BOOL && m->type != ARRAY_U8 && !array_is_float(m))
      return npz_source_wrong(s, key, m, "bool, uint8 or floats");
    size_t here = mask_size(x, m);
    if (!here || (*size && here != *size))
      return npz_source_wrong(s, key, m, "the shape of x, or that without channels, in every split");
    *size = here;
    const uint8_t *byte = m->data;
    for (size_t i = 0; m->type == ARRAY_U8 && i < s->n[k] * here; i++)
      if (byte[i] > largest) largest = byte[i];
  }
  *unit = largest > 1 ? 1 : 255;
  return R4_OK;
}

/* Mask i of a split in bytes, v * 255 rounded. row has room for size floats. */
static r4_status mask_bytes(const struct npz_source *s, int split, size_t i, size_t size, int unit, bool soft,
                            float *row, uint8_t *to)
{
  const struct array *m = &s->column[NPZ_M][split];
  if (!array_is_float(m)) {
    const uint8_t *from = (const uint8_t *)m->data + i * size;
    int factor = m->type == ARRAY_BOOL ? 255 : unit;
    for (size_t k = 0; k < size; k++) to[k] = (uint8_t)(from[k] * factor);
    for (size_t k = 0; !soft && k < size; k++) to[k] = to[k] >= 128 ? 255 : 0;
    return R4_OK;
  }
  array_floats(m, (int64_t)(i * size), (int64_t)size, row);
  for (size_t k = 0; k < size; k++) {
    if (!(row[k] >= 0 && row[k] <= 1))
      return r4_fail(s->e, R4_E_ARGUMENT, "%s: %s: example %zu has %g at %zu, expected 0 to 1", s->path,
                     npz_source_key(s, NPZ_M, split), i, (double)row[k], k);
    to[k] = (uint8_t)lrintf(row[k] * 255);
  }
  return R4_OK;
}

static r4_status fill_masks(const struct npz_source *s, r4_data *d, int unit, bool soft, bool invert,
                            float *row, uint8_t *bytes)
{
  r4_status status = R4_OK;
  size_t size = d->masks->size;
  for (size_t k = 0, first = 0; k < R4_SPLITS; first += s->n[k++])
    for (size_t i = 0; s->column[NPZ_M][k].data && i < s->n[k]; i++) {
      status = mask_bytes(s, (int)k, i, size, unit, soft, row, bytes);
      for (size_t j = 0; !status && invert && j < size; j++) bytes[j] = (uint8_t)(255 - bytes[j]);
      if (!status) status = masks_add(d->masks, bytes, &d->record[first + i].mask, s->e);
      if (status) return status;
    }
  return status;
}

r4_status npz_read_masks(struct npz_source *s, r4_data *d, const r4_data_options *options)
{
  size_t size;
  int unit = 0;
  r4_mask_meaning means;
  r4_status status = check_masks(s, &size, &unit);
  if (status || !size) return status;
  status = mask_meaning(s, options, &means);
  if (status) return status;
  float *row = r4_mem_new(size, sizeof *row);
  uint8_t *bytes = r4_mem_new(size, 1);
  data_set_masks(d, masks_new(size, s->e));
  if (!row || !bytes || !d->masks)
    status = r4_fail(s->e, R4_E_MEMORY, "%s: out of memory for masks of %zu elements", s->path, size);
  else
    status = fill_masks(s, d, unit, options->soft_masks, means == R4_MASKS_RELEVANT, row, bytes);
  r4_mem_free(row);
  r4_mem_free(bytes);
  return status;
}
