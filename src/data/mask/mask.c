#include "data/mask/mask.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/choose.h"

const char *const mask_meaning_words[] = {[R4_MASKS_UNSTATED] = "unstated",
                                          [R4_MASKS_IRRELEVANT] = "irrelevant",
                                          [R4_MASKS_RELEVANT] = "relevant",
                                          NULL};

r4_status mask_meaning_check(r4_mask_meaning means, const char *function, r4_error *e)
{
  if ((unsigned)means <= R4_MASKS_RELEVANT) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s: mask_means is %d, expected R4_MASKS_UNSTATED, R4_MASKS_IRRELEVANT or "
                                   "R4_MASKS_RELEVANT", function, (int)means);
}

struct masks *mask_copy(const struct masks *m, r4_error *e)
{
  struct masks *copy = masks_new(m->size, e);
  uint32_t number = 0;
  for (uint32_t k = 1; copy && k < m->n; k++) {
    if (!masks_add(copy, masks_at(m, k), &number, e)) continue;
    masks_drop(copy);
    copy = NULL;
  }
  return copy;
}

static bool is_training_mask(const struct record *r)
{
  return r->split == R4_TRAIN && r->mask;
}

/* The strata are the classes, and one of all other examples. */
r4_status mask_choose(const r4_data *d, double share, r4_random key, uint8_t *chosen, r4_error *e)
{
  uint32_t *stratum = mem_new(d->n ? d->n : 1, sizeof *stratum, "choosing among examples", e);
  if (!stratum) return R4_E_MEMORY;
  for (size_t i = 0; i < d->n; i++)
    stratum[i] = is_training_mask(d->record + i) ? (uint32_t)d->record[i].label : UINT32_MAX;
  r4_status s = choose_share(d->n, stratum, share, key, chosen, e);
  for (size_t i = 0; i < d->n; i++) chosen[i] = chosen[i] && stratum[i] != UINT32_MAX;
  r4_mem_free(stratum);
  return s;
}

size_t r4_data_mask_count(const r4_data *d, r4_split split, int32_t label)
{
  size_t n = 0;
  for (size_t i = 0; i < d->n; i++)
    n += d->record[i].mask && d->record[i].split == split && (label < 0 || d->record[i].label == label);
  return n;
}

r4_data *r4_data_keep_masks(const r4_data *d, double share, uint64_t seed, r4_error *e)
{
  NEEDS(d, "data", NULL);
  uint8_t *kept = mem_new(d->n ? d->n : 1, 1, "choosing among examples", e);
  r4_data *made = NULL;
  if (!kept) return NULL;
  if (!mask_choose(d, share, (r4_random){seed, PURPOSE_KEEP, 0}, kept, e)) made = data_derive(d, e);
  for (size_t i = 0; made && i < d->n; i++)
    if (d->record[i].split == R4_TRAIN && !kept[i]) made->record[i].mask = 0;
  r4_mem_free(kept);
  return made;
}

/* ---- Every mask anew ---- */

/* Element k of the new mask, from that of the old one. */
typedef uint8_t element(uint8_t old, size_t k, const void *context);

static r4_status add_changed(struct masks *m, const uint8_t *old, element *change, const void *context,
                             uint8_t *room, uint32_t *number, r4_error *e)
{
  for (size_t k = 0; k < m->size; k++) room[k] = change(old[k], k, context);
  return masks_add(m, room, number, e);
}

/* The new mask of each example in made: equal masks become one, but for what lies on padding. */
static r4_status change_each(const r4_data *d, r4_data *made, bool training_only, struct masks *m,
                             element *change, const void *context, uint8_t *room, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t i = 0; !s && i < made->n; i++) {
    struct record *r = made->record + i;
    if (!r->mask || (training_only && r->split != R4_TRAIN)) continue;
    const uint8_t *old = masks_at(data_masks(d), r->mask);
    for (size_t k = 0; k < m->size; k++) room[k] = change(old[k], k, context);
    data_trim_mask(d, r->row, room);
    s = masks_add(m, room, &r->mask, e);
  }
  return s;
}

/* d with other masks: in training only, or everywhere. */
static r4_data *change_masks(const r4_data *d, bool training_only, element *change, const void *context,
                             r4_error *e)
{
  r4_data *made = data_derive(d, e);
  if (!made || !data_masks(d)) return made;
  struct masks *m = training_only ? mask_copy(data_masks(d), e) : masks_new(data_masks(d)->size, e);
  uint32_t *number = mem_new(data_masks(d)->n, sizeof *number, "masks", e);
  uint8_t *room = mem_new(data_masks(d)->size, 1, "masks", e);
  r4_status s = m && number && room ? R4_OK : R4_E_MEMORY;
  bool each = data_x(d)->length != NULL;
  if (!s && each) s = change_each(d, made, training_only, m, change, context, room, e);
  for (uint32_t k = 1; !s && !each && k < data_masks(d)->n; k++)
    s = add_changed(m, masks_at(data_masks(d), k), change, context, room, number + k, e);
  for (size_t i = 0; !s && !each && i < made->n; i++) {
    struct record *r = made->record + i;
    if (!training_only || r->split == R4_TRAIN) r->mask = number[r->mask];
  }
  r4_mem_free(number);
  r4_mem_free(room);
  data_set_masks(made, m);
  if (!s) return made;
  r4_data_free(made);
  return NULL;
}

static uint8_t opposite(uint8_t old, size_t k, const void *context)
{
  (void)k;
  (void)context;
  return (uint8_t)(255 - old);
}

r4_data *r4_data_invert_masks(const r4_data *d, r4_error *e)
{
  NEEDS(d, "data", NULL);
  r4_data *to = change_masks(d, false, opposite, NULL, e);
  if (to && to->means) to->means = to->means == R4_MASKS_RELEVANT ? R4_MASKS_IRRELEVANT : R4_MASKS_RELEVANT;
  return to;
}

struct softening {
  double alpha;
  const double *mean; /* in 0 .. 1 */
};

/* alpha mean m + (1 - alpha) m */
static uint8_t soften(uint8_t old, size_t k, const void *context)
{
  const struct softening *s = context;
  return (uint8_t)lround(old * (s->alpha * s->mean[k] + 1 - s->alpha));
}

/* The mean over the training examples that have a mask. */
static void mean_mask(const r4_data *d, double *mean)
{
  double n = 0;
  for (size_t i = 0; i < d->n; i++) {
    if (!is_training_mask(d->record + i)) continue;
    const uint8_t *mask = masks_at(data_masks(d), d->record[i].mask);
    for (size_t k = 0; k < data_masks(d)->size; k++) mean[k] += mask[k];
    n++;
  }
  for (size_t k = 0; n > 0 && k < data_masks(d)->size; k++) mean[k] /= 255 * n;
}

r4_data *r4_data_soften_masks(const r4_data *d, double alpha, r4_error *e)
{
  NEEDS(d, "data", NULL);
  if (!(alpha >= 0 && alpha <= 1)) {
    r4_fail(e, R4_E_ARGUMENT, "masks softened by %g, expected 0 to 1", alpha);
    return NULL;
  }
  if (!data_masks(d)) return data_derive(d, e);
  double *mean = mem_new(data_masks(d)->size, sizeof *mean, "a mask", e);
  if (!mean) return NULL;
  mean_mask(d, mean);
  r4_data *made = change_masks(d, true, soften, &(struct softening){alpha, mean}, e);
  r4_mem_free(mean);
  return made;
}
