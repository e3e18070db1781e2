/* Contact sheets: a grid of examples with the outlines of their masks and their names, as a PNG. */
#include "data/data.h"
#include "picture/canvas.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "picture/resize.h"

enum {
  CELL = 96,     /* images are enlarged by the whole factor that comes nearest to this          */
  LARGEST = 192, /* and made smaller above that                                                 */
  GAP = 10,      /* between cells and around them                                               */
  LINE = 14, /* of small letters */
  COLUMNS = 10,
  MOST_COLUMNS = 1000
};

static const uint8_t paper[3] = {250, 250, 248}, ink[3] = {60, 60, 60}, faint[3] = {130, 130, 130};
static const uint8_t strong[3] = {0, 210, 255}; /* of outlines */

struct layout {
  size_t columns, rows, *cell; /* example of each cell, or SIZE_MAX            */
  bool titled;                 /* a line above each row                         */
  size_t height, width;        /* of an image on the sheet                      */
  size_t factor;               /* by which it is enlarged; 0: made smaller      */
};

/* ---- What stands where ---- */

static size_t row_of(const r4_data *d, r4_sheet_rows rows, size_t i)
{
  return (size_t)(rows == R4_SHEET_CLASSES ? d->record[i].label : d->record[i].split);
}

static void find_size(struct layout *l, r4_shape shape)
{
  size_t height = (size_t)shape.dim[0], width = (size_t)shape.dim[1], side = height > width ? height : width;
  l->factor = (CELL + side / 2) / side;
  if (!l->factor) l->factor = side <= LARGEST;
  size_t up = l->factor ? l->factor : LARGEST, down = l->factor ? 1 : side;
  l->height = height * up / down ? height * up / down : 1;
  l->width = width * up / down ? width * up / down : 1;
}

/* The first examples of each class or split, or all in order. */
static r4_status lay_out(struct layout *l, const r4_data *d, r4_sheet_rows rows, size_t columns, r4_error *e)
{
  size_t groups = rows == R4_SHEET_CLASSES ? d->classes->n : R4_SPLITS;
  *l = (struct layout){.columns = columns ? columns : COLUMNS, .titled = rows != R4_SHEET_IN_ORDER};
  l->rows = l->titled ? groups : (d->n + l->columns - 1) / l->columns;
  find_size(l, data_x(d)->shape);
  l->cell = mem_new(l->rows, l->columns * sizeof *l->cell, "a sheet", e);
  size_t *filled = mem_new(groups, sizeof *filled, "a sheet", e);
  if (!l->cell || !filled) {
    r4_mem_free(l->cell);
    r4_mem_free(filled);
    return R4_E_MEMORY;
  }
  for (size_t k = 0; k < l->rows * l->columns; k++) l->cell[k] = SIZE_MAX;
  for (size_t i = 0; i < d->n; i++) {
    size_t row = l->titled ? row_of(d, rows, i) : i / l->columns;
    size_t column = l->titled ? filled[row]++ : i % l->columns;
    if (column < l->columns) l->cell[row * l->columns + column] = i;
  }
  r4_mem_free(filled);
  return R4_OK;
}

/* ---- Drawing ---- */

/* Bytes of one example, grey or colour. */
static void example_bytes(const r4_data *d, size_t i, uint8_t *to)
{
  const struct column *v = data_x(d);
  for (size_t k = 0; k < v->features; k++) {
    float x = column_value(v, d->record[i].row, k);
    to[k] = x > 0 ? x < 1 ? (uint8_t)(x * 255 + .5f) : 255 : 0; /* not a number is black */
  }
}

/* One byte per pixel. */
static void mask_bytes(const r4_data *d, size_t i, uint8_t *to)
{
  struct mask_layout layout = data_mask_layout(d);
  size_t pixels = (size_t)(data_x(d)->shape.dim[0] * data_x(d)->shape.dim[1]), step = layout.size / pixels;
  const uint8_t *from = masks_at(data_masks(d), d->record[i].mask);
  for (size_t k = 0; k < pixels; k++) to[k] = from[k * step];
}

/* from as large as the layout says. */
static r4_status enlarge(const struct layout *l, const struct image *from, uint8_t *to, r4_error *e)
{
  if (!l->factor) return resize(from, l->height, l->width, to, e);
  size_t c = from->channels;
  for (size_t i = 0; i < l->height; i++)
    for (size_t j = 0; j < l->width; j++)
      memcpy(to + (i * l->width + j) * c, from->pixel + (i / l->factor * from->width + j / l->factor) * c, c);
  return R4_OK;
}

static void paste(struct image *on, size_t x, size_t y, const struct layout *l, const uint8_t *from,
                  size_t channels)
{
  for (size_t i = 0; i < l->height; i++)
    for (size_t j = 0; j < l->width; j++, from += channels)
      for (size_t c = 0; c < 3; c++)
        on->pixel[((y + i) * on->width + x + j) * 3 + c] = from[channels == 3 ? c : 0];
}

static void write_names(struct image *on, const r4_data *d, size_t i, size_t x, size_t y, size_t width)
{
  char text[256];
  const struct record *r = d->record + i;
  const char *label = d->classes->name[r->label], *group = d->groups->name[r->group];
  bool same = d->groups == d->classes || !strcmp(label, group);
  snprintf(text, sizeof text, "%s%s%s", label, same ? "" : " / ", same ? "" : group);
  canvas_text(on, x, y, &font_small, width, ink, text);
}

/* room: memory for an example and for one as large as on the sheet. */
static r4_status draw_cell(struct image *on, const r4_data *d, const struct layout *l, size_t i, size_t x,
                           size_t y, uint8_t *room[2], r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  struct image from = {(size_t)s.dim[0], (size_t)s.dim[1], (size_t)s.dim[2], room[0]};
  example_bytes(d, i, room[0]);
  r4_status status = enlarge(l, &from, room[1], e);
  if (status) return status;
  paste(on, x, y, l, room[1], from.channels);
  if (d->record[i].mask) {
    from.channels = 1;
    mask_bytes(d, i, room[0]);
    status = enlarge(l, &from, room[1], e);
    if (!status) canvas_outline(on, x, y, l->height, l->width, room[1], strong);
  }
  write_names(on, d, i, x, y + l->height + 3, l->width + GAP - 3);
  return status;
}

static void write_title(struct image *on, const r4_data *d, r4_sheet_rows rows, size_t row, size_t y)
{
  char text[256];
  size_t n = 0;
  for (size_t i = 0; i < d->n; i++) n += row_of(d, rows, i) == row;
  const char *name = rows == R4_SHEET_CLASSES ? d->classes->name[row] : split_words[row];
  snprintf(text, sizeof text, "%s: %zu", name, n);
  canvas_text(on, GAP, y, &font_small, on->width - 2 * GAP, faint, text);
}

static r4_status draw(struct image *on, const r4_data *d, const struct layout *l, r4_sheet_rows rows,
                      r4_error *e)
{
  size_t row_height = l->height + LINE + GAP + (l->titled ? LINE : 0), most = l->height * l->width * 3;
  size_t features = data_x(d)->features > most ? data_x(d)->features : most;
  uint8_t *room[2] = {mem_new(features, 1, "a sheet", e), mem_new(features, 1, "a sheet", e)};
  r4_status s = R4_OK;
  if (!room[0] || !room[1]) s = R4_E_MEMORY;
  for (size_t k = 0; k < on->height * on->width; k++) memcpy(on->pixel + 3 * k, paper, 3);
  for (size_t row = 0; !s && row < l->rows; row++) {
    size_t y = GAP + row * row_height;
    if (l->titled) write_title(on, d, rows, row, y);
    if (l->titled) y += LINE;
    for (size_t column = 0; !s && column < l->columns; column++) {
      size_t i = l->cell[row * l->columns + column];
      if (i != SIZE_MAX) s = draw_cell(on, d, l, i, GAP + column * (l->width + GAP), y, room, e);
    }
  }
  r4_mem_free(room[0]);
  r4_mem_free(room[1]);
  return s;
}

/* ---- All ---- */

static r4_status check_request(const r4_data *d, r4_sheet_rows rows, size_t columns, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  if (s.rank != 3 || (s.dim[2] != 1 && s.dim[2] != 3))
    return r4_fail(e, R4_E_SHAPE, "a sheet shows images with 1 or 3 channels, and these examples are %zu %s",
                   data_x(d)->features, data_x(d)->is->element);
  if (!d->n) return r4_fail(e, R4_E_ARGUMENT, "a sheet without examples");
  if ((unsigned)rows > R4_SHEET_IN_ORDER || columns > MOST_COLUMNS)
    return r4_fail(e, R4_E_ARGUMENT, "a sheet of %zu columns in order %d, expected at most %d", columns,
                   (int)rows, MOST_COLUMNS);
  return R4_OK;
}

r4_status r4_data_sheet(const r4_data *d, r4_sheet_rows rows, size_t columns, const char *file, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  struct layout l = {0};
  struct image sheet = {0};
  r4_status s = check_request(d, rows, columns, e);
  if (!s) s = lay_out(&l, d, rows, columns, e);
  if (s) return s;
  size_t height = GAP + l.rows * (l.height + LINE + GAP + (l.titled ? LINE : 0));
  size_t width = GAP + l.columns * (l.width + GAP);
  if (height > IMAGE_MAX_PIXELS / width)
    s = r4_fail(e, R4_E_ARGUMENT, "a sheet of %zu rows and %zu columns needs more than %d million pixels",
                l.rows, l.columns, IMAGE_MAX_PIXELS / 1000000);
  if (!s) s = image_new(&sheet, height, width, 3, e);
  if (!s) s = draw(&sheet, d, &l, rows, e);
  if (!s) s = image_write(&sheet, file, e);
  image_clear(&sheet);
  r4_mem_free(l.cell);
  return s;
}
