#include "data/format/folder_masks.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "picture/resize.h"

r4_status listing_read_file(const struct listing *l, const char *file, uint8_t **data, size_t *size,
                            r4_error *e)
{
  char *path = file_join(l->folder, file, e);
  if (!path) return R4_E_MEMORY;
  r4_status s = file_read(path, IMAGE_MAX_BYTES, data, size, e);
  r4_mem_free(path);
  return s;
}

r4_status mask_reader_start(struct mask_reader *r, const struct listing *l, const r4_data_options *options,
                            r4_shape shape, r4_error *e)
{
  *r = (struct mask_reader){.l = l,
                            .height = (size_t)shape.dim[0],
                            .width = (size_t)shape.dim[1],
                            .flip = options->mask_means == R4_MASKS_RELEVANT};
  r->rule = (struct mask_rule){.from = l->mask_from ? l->mask_from : 128, .soft = options->soft_masks};
  if (!mask_values_stated(options)) return R4_OK;
  if (l->annotations)
    return r4_fail(e, R4_E_ARGUMENT, "%s: mask_values is for masks that are images, and these are outlines",
                   l->annotations->file);
  r->rule.marked = &r->marked;
  return mask_values_read(options, &r->marked, e);
}

/* ---- From a mask in the size of its image to one of the data set ---- */

static uint8_t mark_from(const struct mask_reader *r)
{
  return r->rule.marked ? 128 : r->rule.from;
}

static bool any_from(size_t n, const uint8_t *mask, uint8_t least)
{
  for (size_t k = 0; k < n; k++)
    if (mask[k] >= least) return true;
  return false;
}

/* The mask in the meaning of the library, 255 = must not matter, from one that was resized. */
static void interpret(const struct mask_reader *r, size_t n, uint8_t *mask)
{
  uint8_t from = mark_from(r), flip = r->flip ? 255 : 0;
  for (size_t k = 0; k < n; k++) {
    uint8_t v = r->rule.soft ? mask[k] : mask[k] >= from ? 255 : 0;
    mask[k] = v ^ flip;
  }
}

static r4_status fit(struct mask_reader *r, size_t i, const struct image *mask, uint8_t *to, r4_error *e)
{
  size_t pixels = r->height * r->width;
  r4_status s = resize(mask, r->height, r->width, to, e);
  if (s) return s;
  uint8_t least = r->rule.soft ? 1 : mark_from(r);
  if (any_from(mask->height * mask->width, mask->pixel, least) && !any_from(pixels, to, least))
    tally_add(&r->report.gone, i);
  interpret(r, pixels, to);
  return R4_OK;
}

/* ---- Images of masks ---- */

/* One of the masks of example i, whose image is that; image_clear. */
static r4_status decode(struct mask_reader *r, size_t i, const char *file, const struct image *image,
                        struct image *mask, r4_error *e)
{
  const struct listing *l = r->l;
  size_t size = 0;
  uint8_t *data = NULL;
  char *name = file_join(l->folder, file, e);
  r4_status s = name ? R4_OK : R4_E_MEMORY;
  if (!s) s = listing_read_file(l, file, &data, &size, e);
  const struct mask_image f = {data, size, name, i, &r->report, e};
  if (!s) s = mask_image_decode(&f, &r->rule, mask);
  bool turned = mask->height == image->width && mask->width == image->height;
  if (!s && (mask->height != image->height || mask->width != image->width))
    s = r4_fail(e, R4_E_PARSE, "%s: has %zu x %zu pixels, expected %zu x %zu, as its image %s%s", name,
                mask->width, mask->height, image->width, image->height, l->at[i].file,
                turned ? "; photos are rotated by their EXIF orientation, and masks must fit the result" : "");
  r4_mem_free(data);
  r4_mem_free(name);
  return s;
}

static r4_status read_image(struct mask_reader *r, size_t i, const struct image *image, uint8_t *to,
                            r4_error *e)
{
  const struct listed *one = &r->l->at[i];
  struct image mask = {0}, second = {0};
  r4_status s = decode(r, i, one->mask, image, &mask, e);
  if (!s && one->mask2) s = decode(r, i, one->mask2, image, &second, e);
  for (size_t k = 0; !s && one->mask2 && k < mask.height * mask.width; k++)
    if (second.pixel[k] > mask.pixel[k]) mask.pixel[k] = second.pixel[k];
  if (!s) s = fit(r, i, &mask, to, e);
  image_clear(&mask);
  image_clear(&second);
  return s;
}

/* ---- Outlines ---- */

/* Outlines without a pixel in them mark nothing, whatever a mark means. */
static r4_status draw(struct mask_reader *r, size_t i, const struct image *image, uint8_t *to, r4_error *e)
{
  struct image mask;
  struct outline_report found = {0};
  r4_status s = image_new(&mask, image->height, image->width, 1, e);
  if (!s)
    s = annotations_draw(r->l->annotations, r->l->at[i].marks - 1, mask.height, mask.width, mask.pixel,
                         &found, e);
  if (!s && found.outside) tally_add(&r->outside, i);
  if (!s && found.scaled) tally_add(&r->scaled, i);
  if (!s && found.nothing) tally_add(&r->nothing, i);
  if (!s && any_from(mask.height * mask.width, mask.pixel, 1)) {
    mask_report_kept(&r->report);
    s = fit(r, i, &mask, to, e);
  } else if (!s) {
    memset(to, 0, r->height * r->width);
  }
  image_clear(&mask);
  return s;
}

r4_status mask_reader_read(struct mask_reader *r, size_t i, const struct image *image, uint8_t *to,
                           r4_error *e)
{
  return r->l->at[i].mask ? read_image(r, i, image, to, e) : draw(r, i, image, to, e);
}

/* ---- All together ---- */

static r4_status add_note(const struct mask_reader *r, const struct tally *t, const char *what, r4_data *d,
                          r4_error *e)
{
  if (!t->n) return R4_OK;
  return data_add_note(d, e, "%s: of %zu image%s %s, %s first", r->l->annotations->file, t->n,
                       t->n > 1 ? "s" : "", what, r->l->at[t->first].file);
}

/* Annotations of images that are not there. */
static r4_status check_strangers(const struct annotations *a, r4_data *d, r4_error *e)
{
  size_t strangers = 0, first = 0;
  for (size_t k = a->images; k-- > 0;)
    if (!a->image[k].used) first = k, strangers++;
  if (!strangers) return R4_OK;
  if (strangers == a->images)
    return r4_fail(e, R4_E_PARSE, "%s: none of its %zu images is in the folder, %s first", a->file, strangers,
                   a->image[first].name);
  return data_add_note(d, e, "%s: %zu of its %zu images are not in the folder, %s first", a->file, strangers,
                       a->images, a->image[first].name);
}

r4_status mask_reader_settle(const struct mask_reader *r, const r4_data_options *options, r4_data *d,
                             r4_error *e)
{
  r4_status s = r->l->annotations ? check_strangers(r->l->annotations, d, e) : R4_OK;
  if (!s) s = add_note(r, &r->outside, "outlines reach beyond the image, and are cut", d, e);
  if (!s)
    s = add_note(r, &r->scaled, "the size is not that of the file, and outlines are scaled to it", d, e);
  if (!s) s = add_note(r, &r->nothing, "an outline contains no pixel of the image", d, e);
  return s ? s : mask_report_settle(&r->report, options, r->l->folder, d, e);
}

void mask_reader_describe(const struct listing *l, const r4_data *d, const r4_data_options *options,
                          char *text, size_t size)
{
  bool relevant = options->mask_means == R4_MASKS_RELEVANT;
  char values[128];
  struct mask_values marked;
  if (!data_masks(d)) {
    snprintf(text, size, "none");
  } else if (l->annotations) {
    snprintf(text, size, "%s outlines of %s must not matter", relevant ? "all but the" : "the",
             l->annotations->file);
  } else if (!mask_values_stated(options) || mask_values_read(options, &marked, NULL)) {
    snprintf(text, size, "%s must not matter", relevant ? "black" : "white");
  } else {
    mask_values_text(&marked, values, sizeof values);
    snprintf(text, size, "%s values %s must not matter", relevant ? "all but the" : "the", values);
  }
}
