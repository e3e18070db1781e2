/* Pictures of findings and of masks: a sheet of small photos, each with what is marked in it outlined. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "find/find.h"
#include "find/proposed.h"
#include "picture/canvas.h"
#include "picture/resize.h"

enum {
  TILE = 112, /* pixels of the longer side of a photo */
  GAP = 10,
  LINE = 14,        /* of small letters */
  EXAMPLES = 8,     /* of a finding */
  MOST_ROWS = 40,   /* of findings */
  MASKS_ACROSS = 10 /* and as many rows of masks, the least sure ones */
};

static const uint8_t paper[3] = {250, 250, 248}, ink[3] = {60, 60, 60}, faint[3] = {130, 130, 130};
static const uint8_t strong[3] = {0, 210, 255}; /* of outlines */

/* A sheet in hand. */
struct sheet {
  const r4_data *d;
  struct image on, photo;     /* photo: bytes of one, as the data are */
  size_t height, width;       /* of a tile */
  uint8_t *tile, *mask;       /* a photo and what is marked in it, [height, width] */
  r4_error *e;
};

static r4_status sheet_check(const r4_data *d, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  if (s.rank == 3 && (s.dim[2] == 1 || s.dim[2] == 3)) return R4_OK;
  return r4_fail(e, R4_E_SHAPE, "a sheet shows images with 1 or 3 channels, and these examples are %zu %s",
                 data_x(d)->features, data_x(d)->is->element);
}

static void sheet_clear(struct sheet *s)
{
  image_clear(&s->on);
  image_clear(&s->photo);
  r4_mem_free(s->tile);
  r4_mem_free(s->mask);
}

/* Room for rows of tiles, each below a title of so many lines. */
static r4_status sheet_new(struct sheet *s, const r4_data *d, size_t rows, size_t across, size_t titles, r4_error *e)
{
  r4_shape shape = data_x(d)->shape;
  size_t h = (size_t)shape.dim[0], w = (size_t)shape.dim[1], longer = h > w ? h : w;
  *s = (struct sheet){.d = d, .e = e, .height = h * TILE / longer, .width = w * TILE / longer};
  s->height += !s->height;
  s->width += !s->width;
  r4_status status = image_new(&s->photo, h, w, (size_t)shape.dim[2], e);
  if (!status)
    status = image_new(&s->on, GAP + rows * (s->height + (1 + titles) * LINE + GAP), GAP + across * (s->width + GAP), 3,
                       e);
  s->tile = status ? NULL : mem_new(s->height * s->width, 3, "a sheet", e);
  s->mask = s->tile ? mem_new(s->height * s->width, 1, "a sheet", e) : NULL;
  for (size_t k = 0; s->mask && k < s->on.height * s->on.width; k++) memcpy(s->on.pixel + 3 * k, paper, 3);
  return s->mask ? R4_OK : status ? status : R4_E_MEMORY;
}

static r4_status draw_photo(struct sheet *s, size_t i, size_t x, size_t y)
{
  const struct column *from = data_x(s->d);
  size_t channels = s->photo.channels;
  for (size_t k = 0; k < from->features; k++) {
    float v = column_value(from, s->d->record[i].row, k);
    s->photo.pixel[k] = v > 0 ? v < 1 ? (uint8_t)(v * 255 + .5f) : 255 : 0;
  }
  r4_status status = resize(&s->photo, s->height, s->width, s->tile, s->e);
  for (size_t k = 0; !status && k < s->height * s->width; k++)
    for (size_t c = 0; c < 3; c++)
      s->on.pixel[((y + k / s->width) * s->on.width + x + k % s->width) * 3 + c] =
        s->tile[k * channels + (channels == 3 ? c : 0)];
  return status;
}

/* The photo, its outline (s->mask), and its name and label below. */
static r4_status draw_tile(struct sheet *s, size_t i, size_t x, size_t y)
{
  char text[256];
  r4_example is = r4_data_example(s->d, i);
  const char *slash = is.file ? strrchr(is.file, '/') : NULL;
  r4_status status = draw_photo(s, i, x, y);
  if (status) return status;
  canvas_outline(&s->on, x, y, s->height, s->width, s->mask, strong);
  if (is.file)
    snprintf(text, sizeof text, "%s %s", slash ? slash + 1 : is.file, s->d->classes->name[is.label]);
  else
    snprintf(text, sizeof text, "%zu %s", i, s->d->classes->name[is.label]);
  canvas_text(&s->on, x, y + s->height + 3, &font_small, s->width + GAP - 3, ink, text);
  return R4_OK;
}

/* ---- Findings ---- */

/* Two pixels wider than the box, so that what is in it can be seen. */
static void mark_box(struct sheet *s, const double box[4])
{
  enum { WIDER = 2 };
  double h = (double)s->height, w = (double)s->width;
  double top = box[1] * h - WIDER, bottom = (box[1] + box[3]) * h + WIDER;
  double left = box[0] * w - WIDER, right = (box[0] + box[2]) * w + WIDER;
  for (size_t k = 0; k < s->height * s->width; k++) {
    double y = (double)(k / s->width) + .5, x = (double)(k % s->width) + .5;
    s->mask[k] = box[2] > 0 && y > top && y < bottom && x > left && x < right ? 255 : 0;
  }
}

static r4_status draw_finding(struct sheet *s, const r4_found *f, size_t k, size_t y)
{
  r4_clue c = r4_found_at(f, k);
  char title[256];
  r4_status status = R4_OK;
  snprintf(title, sizeof title, "%zu %s: %s", k + 1, c.id, c.what);
  canvas_text(&s->on, GAP, y, &font_small, s->on.width - 2 * GAP, faint, title);
  for (size_t j = 0; !status && j < c.sightings && j < EXAMPLES; j++) {
    mark_box(s, c.sighting[j].box);
    status = draw_tile(s, c.sighting[j].example, GAP + j * (s->width + GAP), y + LINE);
  }
  return status;
}

r4_status r4_found_sheet(const r4_found *f, const r4_data *d, const char *file, r4_error *e)
{
  NEEDS(f, "what was found", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(file, "a file", R4_E_ARGUMENT);
  struct sheet s = {0};
  size_t rows = f->n < MOST_ROWS ? f->n : MOST_ROWS;
  r4_status status = sheet_check(d, e);
  if (!status && !rows) status = r4_fail(e, R4_E_ARGUMENT, "a sheet without findings");
  if (!status) status = sheet_new(&s, d, rows, EXAMPLES, 1, e);
  for (size_t k = 0; !status && k < rows; k++)
    status = draw_finding(&s, f, k, GAP + k * (s.height + 2 * LINE + GAP));
  if (!status) status = image_write(&s.on, file, e);
  sheet_clear(&s);
  return status;
}

/* ---- Masks ---- */

static r4_status draw_mask(struct sheet *s, const r4_proposed *p, size_t k)
{
  const struct image one = {p->height, p->width, 1, p->at[k].mask};
  r4_status status = resize(&one, s->height, s->width, s->mask, s->e);
  size_t row = k / MASKS_ACROSS, column = k % MASKS_ACROSS;
  return status ? status
                : draw_tile(s, p->at[k].is.example, GAP + column * (s->width + GAP),
                            GAP + row * (s->height + LINE + GAP));
}

r4_status r4_proposed_sheet(const r4_proposed *p, const r4_data *d, const char *file, r4_error *e)
{
  NEEDS(p, "proposals", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(file, "a file", R4_E_ARGUMENT);
  struct sheet s = {0};
  size_t n = p->n < MASKS_ACROSS * MASKS_ACROSS ? p->n : MASKS_ACROSS * MASKS_ACROSS;
  r4_status status = sheet_check(d, e);
  if (!status && !n) status = r4_fail(e, R4_E_ARGUMENT, "a sheet without masks");
  if (!status) status = sheet_new(&s, d, (n + MASKS_ACROSS - 1) / MASKS_ACROSS, MASKS_ACROSS, 0, e);
  for (size_t k = 0; !status && k < n; k++) status = draw_mask(&s, p, k);
  if (!status) status = image_write(&s.on, file, e);
  sheet_clear(&s);
  return status;
}
