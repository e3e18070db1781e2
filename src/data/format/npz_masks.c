#include "data/format/npz_masks.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/mask/mask.h"
#include "data/mask/mask_values.h"

static r4_status mask_meaning(struct npz_source *s, const r4_data_options *options, r4_mask_meaning *means)
{
  struct array text;
  r4_mask_meaning stated = s->is->means, asked = options->mask_means;
  r4_status status = npz_source_text(s, NPZ_MASK_MEANS, &text);
  if (status) return status;
  if (text.data) {
    const char *word = array_count(&text) == 1 ? array_text(&text, 0) : "";
    stated = R4_MASKS_RELEVANT;
    while (stated && strcmp(word, mask_meaning_words[stated])) stated--;
    if (!stated)
      status =
        r4_fail(s->e, R4_E_PARSE, "%s: mask_means is \"%s\", expected irrelevant or relevant", s->path, word);
    npz_source_drop(s, &text);
    if (status) return status;
  }
  *means = stated ? stated : asked;
  if (stated && asked && stated != asked)
    return r4_fail(s->e, R4_E_ARGUMENT,
                   "%s: says that its masks mark what is %s, the options say the opposite", s->path,
                   mask_meaning_words[stated]);
  if (*means) return R4_OK;
  return r4_fail(
    s->e, R4_E_ARGUMENT,
    "%s: does not say what its masks mark: add mask_means = \"irrelevant\" or \"relevant\" to the file, "
    "or set mask_means in the options (--mask-means irrelevant; in settings data.mask_means: irrelevant)",
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

struct reading {
  struct npz_source *s;
  const r4_data_options *options;
  size_t size; /* of a mask */
  int unit;    /* the value of a uint8 of 1 */
  bool invert;
  struct mask_values marked;
  struct mask_report report;
  float *row;       /* one mask as it is stored */
  uint16_t *stored; /* and as whole numbers     */
  uint8_t *bytes;   /* and as it is kept        */
};

/* The size of every mask in the file, and the value of a uint8 of 1: 255 if none is above 1. */
static r4_status check_masks(struct reading *r)
{
  const struct npz_source *s = r->s;
  bool stated = mask_values_stated(r->options);
  uint8_t largest = 0;
  for (int k = 0; k < R4_SPLITS; k++) {
    const struct array *m = &s->column[NPZ_M][k], *x = &s->column[NPZ_X][k];
    const char *key = npz_source_key(s, NPZ_M, k);
    if (!m->data || !s->n[k]) continue;
    if (m->type != ARRAY_BOOL && m->type != ARRAY_U8 && !array_is_float(m) &&
        !(stated && array_is_integer(m)))
      return npz_source_wrong(s, key, m, "bool, uint8 or floats, or mask_values for other whole numbers");
    size_t here = mask_size(x, m);
    if (!here || (r->size && here != r->size))
      return npz_source_wrong(s, key, m, "the shape of x, or that without channels, in every split");
    r->size = here;
    const uint8_t *byte = m->data;
    for (size_t i = 0; m->type == ARRAY_U8 && i < s->n[k] * here; i++)
      if (byte[i] > largest) largest = byte[i];
  }
  r->unit = largest > 1 ? 1 : 255;
  return R4_OK;
}

/* ---- From what is stored to bytes ---- */

static void by_values(struct reading *r)
{
  for (size_t k = 0; k < r->size; k++)
    r->bytes[k] = r->row[k] == r->stored[k] && mask_values_have(&r->marked, r->stored[k]) ? 255 : 0;
}

static void by_white(struct reading *r, const struct array *m)
{
  int factor = m->type == ARRAY_BOOL ? 255 : r->unit;
  for (size_t k = 0; k < r->size; k++) r->bytes[k] = (uint8_t)(r->stored[k] * factor);
  for (size_t k = 0; !r->options->soft_masks && k < r->size; k++) r->bytes[k] = r->bytes[k] >= 128 ? 255 : 0;
}

/* v * 255 rounded. */
static r4_status by_shares(struct reading *r, int split, size_t i)
{
  for (size_t k = 0; k < r->size; k++) {
    float v = r->row[k];
    if (!(v >= 0 && v <= 1))
      return r4_fail(
        r->s->e, R4_E_ARGUMENT,
        "%s: %s: example %zu has %g at %zu, expected 0 to 1%s",
        r->s->path, npz_source_key(r->s, NPZ_M, split), i, (double)v, k,
        r->s->held ? "" : ", or mask_values where they are labels"); /* r4_data_arrays has none */
    r->bytes[k] = (uint8_t)lrintf(v * 255);
  }
  return R4_OK;
}

static void read_stored(struct reading *r, const struct array *m, size_t i)
{
  array_floats(m, (int64_t)(i * r->size), (int64_t)r->size, r->row);
  for (size_t k = 0; k < r->size; k++)
    r->stored[k] = (uint16_t)(r->row[k] > 0 && r->row[k] < MASK_VALUES ? r->row[k] : 0);
}

/* Mask i of a split, which is example number of the file. */
static r4_status read_mask(struct reading *r, int split, size_t i, size_t number)
{
  const struct array *m = &r->s->column[NPZ_M][split];
  r4_status status = R4_OK;
  read_stored(r, m, i);
  if (mask_values_stated(r->options))
    by_values(r);
  else if (array_is_float(m))
    status = by_shares(r, split, i);
  else
    by_white(r, m);
  if (status) return status;
  bool any = false;
  for (size_t k = 0; k < r->size; k++) any |= r->bytes[k] != 0;
  if (any)
    mask_report_kept(&r->report);
  else
    mask_report_unmarked(&r->report, number, r->size, r->stored);
  for (size_t k = 0; r->invert && k < r->size; k++) r->bytes[k] = (uint8_t)(255 - r->bytes[k]);
  return R4_OK;
}

static r4_status fill_masks(struct reading *r, r4_data *d)
{
  const struct npz_source *s = r->s;
  r4_status status = R4_OK;
  for (size_t k = 0, first = 0; k < R4_SPLITS; first += s->n[k++])
    for (size_t i = 0; s->column[NPZ_M][k].data && i < s->n[k]; i++) {
      status = read_mask(r, (int)k, i, first + i);
      data_trim_mask(d, first + i, r->bytes);
      if (!status) status = masks_add(data_masks(d), r->bytes, &d->record[first + i].mask, s->e);
      if (status) return status;
    }
  return mask_report_settle(&r->report, r->options, s->path, d, s->e);
}

r4_status npz_read_masks(struct npz_source *s, r4_data *d, const r4_data_options *options)
{
  struct reading r = {.s = s, .options = options};
  r4_mask_meaning means;
  r4_status status = check_masks(&r);
  if (status || !r.size) return status;
  status = mask_meaning(s, options, &means);
  if (!status) status = mask_values_read(options, &r.marked, s->e);
  if (status) return status;
  d->means = means;
  r.invert = means == R4_MASKS_RELEVANT;
  r.row = mem_new(r.size, sizeof *r.row, s->path, s->e);
  r.stored = mem_new(r.size, sizeof *r.stored, s->path, s->e);
  r.bytes = mem_new(r.size, 1, s->path, s->e);
  data_set_masks(d, s->room ? masks_new_in(s->room, r.size, s->e) : masks_new(r.size, s->e));
  status = r.row && r.stored && r.bytes && data_masks(d) ? fill_masks(&r, d) : R4_E_MEMORY;
  r4_mem_free(r.row);
  r4_mem_free(r.stored);
  r4_mem_free(r.bytes);
  return status;
}
