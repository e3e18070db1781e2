#include "data/mask/mask_places.h"

#include "data/counts.h"

struct mask_places mask_places_of(const r4_data *d)
{
  struct mask_places p = {.relevant = d->means == R4_MASKS_RELEVANT};
  r4_shape shape = data_x(d)->shape;
  bool images = shape.rank == 3 && data_mask_layout(d).size == (size_t)(shape.dim[0] * shape.dim[1]);
  size_t centre = images ? (size_t)(shape.dim[0] / 2 * shape.dim[1] + shape.dim[1] / 2) : 0;
  for (size_t i = 0; i < d->n; i++) {
    uint32_t number = d->record[i].mask;
    if (!number) continue;
    p.masked++;
    p.large += data_mask_area(d, i) > 0.5;
    p.middle += images && masks_at(data_masks(d), number)[centre];
  }
  if (p.masked) p.different = data_masks(d)->n - 1; /* number 0 is none */
  return p;
}

enum mask_doubt mask_doubt_of(struct mask_places p)
{
  bool large = 2 * p.large > p.masked, middle = 2 * p.middle > p.masked;
  if (large && !middle && p.relevant) return MASKS_RIGHT;
  if (large) return 10 * p.different <= p.masked ? MASKS_ALIKE : MASKS_LARGE;
  return middle ? MASKS_MIDDLE : MASKS_RIGHT;
}

bool mask_places_doubtful(struct mask_places p)
{
  return 2 * p.middle > p.masked || mask_doubt_of(p) == MASKS_ALIKE;
}
