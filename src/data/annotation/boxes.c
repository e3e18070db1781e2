/* Boxes in a table: one line for each, with the columns file and
 *
 *     x, y, width, height      or      x1, y1, x2, y2      or      xmin, ymin, xmax, ymax
 *
 * in pixels from the upper left corner of the image; the second corner is not in the box. A column label is for
 * mask_categories; image_width and image_height are the size that the numbers are measured in, where that is not the
 * image's own. A line without numbers says that the image has no box. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/csv.h"
#include "data/annotation/mask_source.h"
#include "picture/image.h"

enum { CORNERS = 4, WHERE = 300 };

struct columns {
  int file, label, at[CORNERS], height, width; /* -1: there is none */
  bool ends;                                   /* the third and fourth are the other corner */
};

static bool matches(const struct mask_text *t)
{
  return !t->json;
}

/* ---- Columns ---- */

static const struct naming {
  const char *name[CORNERS];
  bool ends;
} namings[] = {{{"x", "y", "width", "height"}, false},
               {{"x1", "y1", "x2", "y2"}, true},
               {{"xmin", "ymin", "xmax", "ymax"}, true}};

enum { NAMINGS = sizeof namings / sizeof *namings };

static r4_status optional(const struct csv *c, const char *name, int *column, r4_error *e)
{
  *column = -1;
  return csv_has(c, name) ? csv_column(c, name, column, e) : R4_OK;
}

/* The naming of which all columns are there. */
static const struct naming *naming_of(const struct csv *c)
{
  for (size_t k = 0; k < NAMINGS; k++) {
    int there = 0;
    for (int i = 0; i < CORNERS; i++) there += csv_has(c, namings[k].name[i]);
    if (there == CORNERS) return namings + k;
  }
  return NULL;
}

/* What is missing for the first naming, with the names that there are, and what else would do. */
static r4_status missing(const struct csv *c, r4_error *e)
{
  static const char *const needed[] = {"file", "x", "y", "width", "height"};
  r4_error seen = {0};
  int column;
  for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
    if (csv_column(c, needed[k], &column, &seen)) break;
  return r4_fail(e, R4_E_PARSE,
                 "%.300s; expected file, x, y, width, height, or file, x1, y1, x2, y2, and if wanted label, "
                 "image_width, image_height",
                 seen.text);
}

static r4_status find_columns(const struct csv *c, struct columns *to, r4_error *e)
{
  const struct naming *naming = naming_of(c);
  if (!naming || !csv_has(c, "file")) return missing(c, e);
  r4_status s = csv_column(c, "file", &to->file, e);
  to->ends = naming->ends;
  for (int k = 0; !s && k < CORNERS; k++) s = csv_column(c, naming->name[k], &to->at[k], e);
  if (!s) s = optional(c, "label", &to->label, e);
  if (!s) s = optional(c, "image_height", &to->height, e);
  if (!s) s = optional(c, "image_width", &to->width, e);
  if (!s && (to->height < 0) != (to->width < 0))
    s =
      r4_fail(e, R4_E_PARSE, "%s:1: has one of image_width and image_height, expected both or none", c->file);
  return s;
}

/* ---- Rows ---- */

static r4_status read_number(const struct csv *c, int column, double *to, r4_error *e)
{
  char *end;
  const char *text = c->field[column];
  *to = c_locale_real(text, &end);
  if (*text && !*end && isfinite(*to) && !strpbrk(text, "xX")) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s:%zu: %s is \"%.40s\", expected a number", c->file, c->line,
                 c->name[column], text);
}

static r4_status read_size(const struct csv *c, int column, size_t *to, r4_error *e)
{
  double v = 0;
  *to = 0;
  if (column < 0) return R4_OK;
  r4_status s = read_number(c, column, &v, e);
  if (s) return s;
  if (!(v >= 1 && v <= IMAGE_MAX_PIXELS && v == floor(v)))
    return r4_fail(e, R4_E_PARSE, "%s:%zu: %s is %g, expected a number of pixels", c->file, c->line,
                   c->name[column], v);
  *to = (size_t)v;
  return R4_OK;
}

static bool has_box(const struct csv *c, const struct columns *at)
{
  for (int k = 0; k < CORNERS; k++)
    if (*c->field[at->at[k]]) return true;
  return false;
}

static r4_status read_row(const struct csv *c, const struct columns *at, struct categories *wanted,
                          struct annotations *to, r4_error *e)
{
  size_t image, height, width;
  double v[CORNERS];
  char where[WHERE];
  const char *file = c->field[at->file];
  snprintf(where, sizeof where, "%s:%zu: file %.100s", c->file, c->line, file);
  if (!*file) return r4_fail(e, R4_E_PARSE, "%s:%zu: the file is empty", c->file, c->line);
  r4_status s = read_size(c, at->height, &height, e);
  if (!s) s = read_size(c, at->width, &width, e);
  if (!s) s = annotations_add_image(to, file, NULL, height, width, &image, e);
  if (s || !has_box(c, at)) return s;
  if (!categories_want(wanted, at->label < 0 ? "" : c->field[at->label])) return R4_OK;
  for (int k = 0; !s && k < CORNERS; k++) s = read_number(c, at->at[k], &v[k], e);
  if (s) return s;
  if (at->ends) v[2] -= v[0], v[3] -= v[1];
  return annotations_add_box(to, image, v[0], v[1], v[2], v[3], where, e);
}

static r4_status read(const struct mask_text *t, struct categories *wanted, struct annotations *to,
                      r4_error *e)
{
  struct csv c;
  struct columns at;
  bool row = true;
  r4_status s = csv_open(&c, t->bytes, t->size, t->file, e);
  if (s) return s;
  s = find_columns(&c, &at, e);
  to->any_scale = true;
  while (!s && !(s = csv_next(&c, &row, e)) && row)
    if (csv_trim_row(&c)) s = read_row(&c, &at, wanted, to, e);
  csv_close(&c);
  return s;
}

const struct mask_source boxes_source = {
  "boxes", "a table with file, x, y, width, height, or file, x1, y1, x2, y2", "boxes.csv", matches, read};
