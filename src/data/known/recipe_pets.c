/* Cats and dogs with a planted patch (oxford-pets-cascam): a folder with
 *
 *     artifact_metadata.csv    image,bbox_xmin,bbox_ymin,bbox_xmax,bbox_ymax: the corners of the patch, both in it,
 *                              where every image is 512 x 512, whatever its size is here; other columns do not matter
 *     images/NAME.jpg          names of cats begin with a capital, those of dogs do not, as the Oxford pets have it
 *
 * Read as it is, it has the animals as they are, and the box as their mask. The recipe plants the patch: white on
 * cats and black on dogs in training, either by a fair coin in validation and test. Groups are class and colour. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/purpose.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/recipe.h"

enum { MEASURED_IN = 512 };

static const char table_name[] = "artifact_metadata.csv";
static const char *const classes[] = {"cat", "dog", NULL};

static bool matches(const char *path)
{
  return file_exists_in(path, table_name);
}

/* ---- The table ---- */

enum { IMAGE, LEFT, TOP, RIGHT, BOTTOM, COLUMNS };

static const struct table_column columns[COLUMNS] = {
  {"image", false}, {"bbox_xmin", false}, {"bbox_ymin", false}, {"bbox_xmax", false}, {"bbox_ymax", false}};

static r4_status read_corner(const struct csv *c, int column, double *to, r4_error *e)
{
  char *end;
  const char *text = c->field[column];
  *to = c_locale_real(text, &end);
  if (*text && !*end && *to >= 0 && *to < MEASURED_IN) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s:%zu: %s is \"%.40s\", expected 0 to %d", c->file, c->line,
                 c->name[column], text, MEASURED_IN - 1);
}

/* The first time: boxes. */
static r4_status add_box(struct listing *l, struct mask_index *masks, const struct csv *c, const int *at,
                         r4_error *e)
{
  (void)masks;
  char where[LISTING_NAME];
  double v[COLUMNS];
  size_t image;
  snprintf(where, sizeof where, "%s:%zu", c->file, c->line);
  r4_status s =
    annotations_add_image(l->annotations, c->field[at[IMAGE]], NULL, MEASURED_IN, MEASURED_IN, &image, e);
  for (int k = LEFT; !s && k < COLUMNS; k++) s = read_corner(c, at[k], &v[k], e);
  return s ? s
           : annotations_add_box(l->annotations, image, v[LEFT], v[TOP], v[RIGHT] - v[LEFT] + 1,
                                 v[BOTTOM] - v[TOP] + 1, where, e);
}

/* The second time: images, which find their boxes. */
static r4_status add_image(struct listing *l, struct mask_index *masks, const struct csv *c, const int *at,
                           r4_error *e)
{
  (void)masks;
  static const char *const below[] = {"images", NULL};
  const char *file = c->field[at[IMAGE]];
  char *path = NULL;
  if (!isalpha((unsigned char)*file) || file_leads_out(file))
    return r4_fail(e, R4_E_PARSE, "%s:%zu: image '%s', expected a name that begins with a letter", c->file,
                   c->line, file);
  r4_status s = folder_find_file(l->folder, file, below, &path, e);
  if (!s && !path)
    s = r4_fail(e, R4_E_IO, "%s:%zu: image %s: is not in %s/images", c->file, c->line, file, l->folder);
  struct listed one = {.file = path, .line = c->line, .label = classes[!isupper((unsigned char)*file)]};
  if (!s) s = listing_add(l, &one, e);
  r4_mem_free(path);
  return s;
}

/* What the cache of images must know about the boxes. */
static void digest_boxes(struct annotations *a)
{
  struct hash h;
  hash_start(&h);
  hash_add(&h, a->point, 2 * a->points * sizeof *a->point);
  hash_end(&h, a->digest);
}

static r4_data *pets_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path, .table = table_name, .classes = classes};
  r4_data_options known = *options;
  r4_status s = folder_state_meaning(path, R4_MASKS_IRRELEVANT, &known, e);
  if (!s && !(l.annotations = annotations_new(table_name, e))) s = R4_E_MEMORY;
  if (!s) l.annotations->any_scale = true;
  if (!s) s = folder_list_table(&l, NULL, COLUMNS, columns, add_box, e);
  if (!s) s = annotations_finish(l.annotations, e);
  if (!s) digest_boxes(l.annotations);
  if (!s) s = folder_list_table(&l, NULL, COLUMNS, columns, add_image, e);
  r4_data *d = s ? NULL : listing_read(&l, &known, "pets", e);
  listing_clear(&l);
  return d;
}

const struct format pets_format = {"pets", "a folder with artifact_metadata.csv and images", matches,
                                   pets_open, 0, NULL};

/* ---- Planting ---- */

enum { WHITE, BLACK, COLOURS };

/* Cats are white and dogs black where the label may be seen. */
static int colour_of(const r4_data *d, size_t i, uint64_t seed)
{
  const struct record *r = d->record + i;
  if (r->split == R4_TRAIN) return r->label ? BLACK : WHITE;
  return (int)r4_random_below((r4_random){seed, PURPOSE_CLASS, 0}, i, COLOURS);
}

static r4_status set_groups(r4_data *d, uint64_t seed, r4_error *e)
{
  static const char *const names[] = {"cat, white patch", "cat, black patch", "dog, white patch",
                                      "dog, black patch"};
  struct names *groups = names_new(e);
  if (!groups) return R4_E_MEMORY;
  names_drop(d->groups);
  d->groups = groups;
  r4_status s = R4_OK;
  for (int k = 0; !s && k < 2 * COLOURS; k++) s = names_add(groups, names[k], NULL, e);
  for (size_t i = 0; i < d->n; i++) d->record[i].group = COLOURS * d->record[i].label + colour_of(d, i, seed);
  return s;
}

static r4_status plant(r4_data *d, const r4_data *source, uint64_t seed, r4_error *e)
{
  struct column *v = column_new(&bytes_column, data_x(source)->shape, source->n, e);
  if (!v) return R4_E_MEMORY;
  const struct mask_layout layout = data_mask_layout(source);
  for (size_t i = 0; i < d->n; i++) {
    const uint8_t *mask = data_mask_bytes(source, i);
    uint8_t *row = memcpy(column_row(v, i), column_row(data_x(source), source->record[i].row), v->features);
    for (size_t k = 0; mask && k < v->features; k++)
      if (mask[k / layout.repeat]) row[k] = colour_of(d, i, seed) == WHITE ? 255 : 0;
    d->record[i].row = (uint32_t)i;
  }
  data_set_x(d, v);
  return R4_OK;
}

static r4_data *make(const r4_data *source, const r4_recipe_options *o, r4_error *e)
{
  if (o->side || source->classes->n != 2 || !column_is_image_bytes(data_x(source)) || !data_masks(source)) {
    r4_fail(
      e, R4_E_ARGUMENT, "pets: %s",
      o->side
        ? "the patch has the size that the table says: side does not apply"
        : "the source has no images of two classes with boxes, expected a folder with artifact_metadata.csv");
    return NULL;
  }
  r4_data *d = data_derive(source, e);
  if (d && !set_groups(d, o->read.seed, e) && (o->clean || !plant(d, source, o->read.seed, e))) return d;
  r4_data_free(d);
  return NULL;
}

const struct recipe recipe_pets = {
  .name = "decoy-pets",
  .about = "cats and dogs with a patch, white on cats and black on dogs in training",
  .from = "pets",
  .missing = "r4 data get pets says how to get it",
  .size = 64,
  .val = .1,
  .test = .2,
  .overlap = R4_OVERLAP_DROP, /* some photographs have two names */
  .own_masks = true,
  .make = make};
