#include "data/mask/mask_image.h"

#include "base/mem.h"

/* ---- By stated values ---- */

static bool mark(const struct image_values *v, const struct mask_values *marked, struct image *mask)
{
  bool any = false;
  for (size_t k = 0; k < v->height * v->width; k++) {
    bool is = mask_values_have(marked, v->value[k]);
    mask->pixel[k] = is ? 255 : 0;
    any |= is;
  }
  return any;
}

static r4_status by_values(const struct mask_image *f, const struct mask_values *marked, struct image *mask)
{
  struct image_values v;
  r4_status s = image_read_values(f->data, f->size, f->name, &v, f->e);
  if (!s && !v.exact)
    s = r4_fail(f->e, R4_E_ARGUMENT, "%s: is JPEG, which does not keep values exactly: mask_values needs PNG",
                f->name);
  if (!s) s = image_new(mask, v.height, v.width, 1, f->e);
  if (!s && mark(&v, marked, mask))
    mask_report_kept(f->report);
  else if (!s)
    mask_report_unmarked(f->report, f->example, v.height * v.width, v.value);
  image_values_clear(&v);
  return s;
}

/* ---- By white ---- */

static bool is_coloured(const struct image *image)
{
  const uint8_t *p = image->pixel;
  for (size_t k = 0; k < image->height * image->width; k++, p += 3)
    if (p[0] != p[1] || p[0] != p[2]) return true;
  return false;
}

/* A palette of greys is as good as grey. One of colours means what its maker meant: how bright the colour of label 15
 * happens to be says nothing. */
static r4_status check_palette(const struct mask_image *f, const struct image_values *v)
{
  struct image shown;
  struct mask_values seen = {0};
  char text[128];
  r4_status s = image_decode(f->data, f->size, f->name, 3, &shown, f->e);
  if (s) return s;
  bool coloured = is_coloured(&shown);
  image_clear(&shown);
  if (!coloured) return R4_OK;
  for (size_t k = 0; k < v->height * v->width; k++) mask_values_add(&seen, v->value[k]);
  mask_values_text(&seen, text, sizeof text);
  return r4_fail(f->e, R4_E_ARGUMENT,
                 "%s: has a palette of colours, with the indexes %s: state which of them mark something with "
                 "mask_values",
                 f->name, text);
}

static bool any_from(const struct image *mask, uint8_t least)
{
  for (size_t k = 0; k < mask->height * mask->width; k++)
    if (mask->pixel[k] >= least) return true;
  return false;
}

/* What is stored is looked at only where that can make a difference. */
static r4_status by_white(const struct mask_image *f, const struct mask_rule *rule, struct image *mask)
{
  r4_status s = image_decode(f->data, f->size, f->name, 1, mask, f->e);
  if (s) return s;
  bool kept = any_from(mask, rule->soft ? 1 : rule->from);
  if (!kept || image_has_palette(f->data, f->size)) {
    struct image_values v;
    s = image_read_values(f->data, f->size, f->name, &v, f->e);
    if (!s && v.indexes) s = check_palette(f, &v);
    if (!s && !kept) mask_report_unmarked(f->report, f->example, v.height * v.width, v.value);
    image_values_clear(&v);
  }
  if (!s && kept) mask_report_kept(f->report);
  if (s) image_clear(mask);
  return s;
}

r4_status mask_image_decode(const struct mask_image *f, const struct mask_rule *rule, struct image *mask)
{
  *mask = (struct image){0};
  return rule->marked ? by_values(f, rule->marked, mask) : by_white(f, rule, mask);
}
