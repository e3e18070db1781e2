#include "data/known/decoy.h"

#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"

struct picture {
  size_t height, width, channels;
};

struct rectangle {
  size_t top, left, height, width;
};

static r4_status check_pictures(const r4_data *d, struct picture *p, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  if (s.rank != 3 || !column_is_image_bytes(data_x(d)))
    return r4_fail(e, R4_E_ARGUMENT,
                   "decoys need images of bytes, [height, width, channels]; %s has %s of rank %d", d->about,
                   column_is_image_bytes(data_x(d)) ? "examples" : data_x(d)->is->name, s.rank);
  *p = (struct picture){(size_t)s.dim[0], (size_t)s.dim[1], (size_t)s.dim[2]};
  return R4_OK;
}

static void fill(uint8_t *image, struct picture p, struct rectangle r, const uint8_t *colour)
{
  for (size_t row = r.top; row < r.top + r.height; row++)
    for (size_t column = r.left; column < r.left + r.width; column++)
      memcpy(image + (row * p.width + column) * p.channels, colour, p.channels);
}

/* The number of the mask that covers n rectangles. */
static r4_status add_mask(struct masks *m, struct picture p, size_t n, const struct rectangle *r,
                          uint32_t *number, r4_error *e)
{
  uint8_t *mask = mem_new(p.height * p.width, 1, "a mask", e), marked = 255;
  if (!mask) return R4_E_MEMORY;
  for (size_t k = 0; k < n; k++) fill(mask, (struct picture){p.height, p.width, 1}, r[k], &marked);
  r4_status s = masks_add(m, mask, number, e);
  r4_mem_free(mask);
  return s;
}

/* The class whose colour example i shows. */
static size_t shown(const r4_data *d, size_t i, uint64_t seed)
{
  const struct record *r = d->record + i;
  if (r->split == R4_TRAIN) return (size_t)r->label;
  return (size_t)r4_random_below((r4_random){seed, PURPOSE_CLASS, 0}, i, d->classes->n);
}

/* d with rows of values in the order of its examples, no masks yet, and without groups of its own. Takes over v and
 * m; v may be NULL for the values as they are. */
static r4_data *derive(const r4_data *d, struct column *v, struct masks *m, r4_error *e)
{
  r4_data *made = data_derive(d, e);
  struct names *groups = made ? names_new(e) : NULL;
  if (!groups) {
    column_drop(v);
    masks_drop(m);
    r4_data_free(made);
    return NULL;
  }
  names_drop(made->groups);
  made->groups = groups;
  data_set_masks(made, m);
  if (v) data_set_x(made, v);
  for (size_t i = 0; v && i < made->n; i++) made->record[i].row = (uint32_t)i;
  return made;
}

static r4_data *finish(r4_data *made, r4_error *e)
{
  if (!data_finish(made, made->about, e)) return made;
  r4_data_free(made);
  return NULL;
}

/* ---- A square in a corner ---- */

/* Corner 0 to 3: the lower bit says right, the higher one bottom. */
static struct rectangle corner_of(struct picture p, size_t side, size_t corner)
{
  return (struct rectangle){corner & 2 ? p.height - side : 0, corner & 1 ? p.width - side : 0, side, side};
}

static size_t draw_corner(uint64_t seed, size_t i)
{
  return (size_t)r4_random_below((r4_random){seed, PURPOSE_CORNER, 0}, i, 4);
}

static struct column *draw_squares(const r4_data *d, struct picture p, const struct decoy *decoy, r4_error *e)
{
  struct column *v = column_new(&bytes_column, data_x(d)->shape, d->n, e);
  if (!v) return NULL;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < d->n; i++) {
    uint8_t *image = memcpy(column_row(v, i), column_row(data_x(d), d->record[i].row), v->features);
    fill(image, p, corner_of(p, decoy->side, draw_corner(decoy->seed, i)),
         decoy->colour + shown(d, i, decoy->seed) * p.channels);
  }
  return v;
}

r4_data *decoy_corner(const r4_data *d, const struct decoy *decoy, r4_error *e)
{
  struct picture p;
  if (check_pictures(d, &p, e)) return NULL;
  if (!decoy->side || 2 * decoy->side > p.height || 2 * decoy->side > p.width) {
    r4_fail(e, R4_E_ARGUMENT, "a square of side %zu, expected 1 or more and at most half of %zu x %zu",
            decoy->side, p.height, p.width);
    return NULL;
  }
  struct rectangle corner[4];
  uint32_t one[4] = {0}, all = 0;
  r4_status s = R4_OK;
  struct masks *m = masks_new(p.height * p.width, e);
  for (size_t k = 0; k < 4; k++) corner[k] = corner_of(p, decoy->side, k);
  for (size_t k = 0; m && !s && k < 4; k++) s = add_mask(m, p, 1, corner + k, one + k, e);
  if (m && !s) s = add_mask(m, p, 4, corner, &all, e);
  struct column *v = m && !s && !decoy->clean ? draw_squares(d, p, decoy, e) : NULL;
  if (!m || s || (!v && !decoy->clean)) {
    masks_drop(m);
    return NULL;
  }
  r4_data *made = derive(d, v, m, e);
  if (!made) return NULL;
  for (size_t i = 0; i < made->n; i++) {
    struct record *r = made->record + i;
    r->mask = r->split == R4_TRAIN ? one[draw_corner(decoy->seed, i)] : all;
  }
  return finish(made, e);
}

/* ---- Half of the image ---- */

/* Half 0 is the upper one. */
static struct rectangle half_of(struct picture p, size_t half)
{
  return (struct rectangle){half * (p.height / 2), 0, p.height / 2, p.width};
}

/* The half that is filled; the image is in the other. */
static size_t draw_half(uint64_t seed, size_t i)
{
  return (size_t)r4_random_below((r4_random){seed, PURPOSE_HALF, 0}, i, 2);
}

static void squeeze(const uint8_t *from, struct picture p, uint8_t *to)
{
  size_t row = p.width * p.channels;
  for (size_t k = 0; k < p.height / 2; k++, from += 2 * row)
    for (size_t c = 0; c < row; c++) *to++ = (uint8_t)((from[c] + from[row + c] + 1) / 2);
}

static struct column *draw_halves(const r4_data *d, struct picture p, const struct decoy *decoy, r4_error *e)
{
  struct column *v = column_new(&bytes_column, data_x(d)->shape, d->n, e);
  if (!v) return NULL;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < d->n; i++) {
    size_t filled = draw_half(decoy->seed, i);
    uint8_t *image = column_row(v, i);
    squeeze(column_row(data_x(d), d->record[i].row), p, image + (1 - filled) * (v->features / 2));
    if (!decoy->clean)
      fill(image, p, half_of(p, filled), decoy->colour + shown(d, i, decoy->seed) * p.channels);
  }
  return v;
}

r4_data *decoy_half(const r4_data *d, const struct decoy *decoy, r4_error *e)
{
  struct picture p;
  if (check_pictures(d, &p, e)) return NULL;
  if (p.height % 2) {
    r4_fail(e, R4_E_ARGUMENT, "images of height %zu, expected an even one to squeeze to half", p.height);
    return NULL;
  }
  uint32_t half[2] = {0};
  r4_status s = R4_OK;
  struct masks *m = masks_new(p.height * p.width, e);
  for (size_t k = 0; m && !s && k < 2; k++) {
    struct rectangle r = half_of(p, k);
    s = add_mask(m, p, 1, &r, half + k, e);
  }
  struct column *v = m && !s ? draw_halves(d, p, decoy, e) : NULL;
  if (!v) {
    masks_drop(m);
    return NULL;
  }
  r4_data *made = derive(d, v, m, e);
  if (!made) return NULL;
  for (size_t i = 0; i < made->n; i++) made->record[i].mask = half[draw_half(decoy->seed, i)];
  return finish(made, e);
}

/* ---- Colours ---- */

void decoy_greys(size_t classes, size_t channels, int divisor, uint8_t *colour)
{
  for (size_t k = 0; k < classes; k++)
    memset(colour + k * channels, (int)(255 - 250 * k / classes) / divisor, channels);
}

/* Around the edge of the colour cube: red, yellow, green, cyan, blue, magenta, and back. On each of the six sides one
 * channel is full, one is none and one rises or falls. */
void decoy_hues(size_t classes, uint8_t *colour)
{
  static const uint8_t full[6] = {0, 1, 1, 2, 2, 0}, moving[6] = {1, 0, 2, 1, 0, 2};
  for (size_t k = 0; k < classes; k++) {
    size_t at = 6 * 255 * k / classes, side = at / 255, along = at % 255;
    memset(colour + 3 * k, 0, 3);
    colour[3 * k + full[side]] = 255;
    colour[3 * k + moving[side]] = (uint8_t)(side % 2 ? 255 - along : along);
  }
}
