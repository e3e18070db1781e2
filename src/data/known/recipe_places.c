/* Photographs in which the place gives the label away, as a table tells: a folder with metadata.csv, one line per
 * photograph, and masks of the background.
 *
 *                                        columns                               masks
 *     Waterbirds (Sagawa et al. 2020)    img_filename,y,split,place,..         segmentations/: white on the bird
 *     the same with other backgrounds    file,label,split,place,bird_fraction  masks/: white on the background
 *     PlantVillage, tomato leaves        file,label,split,site,train95         masks/: white on the background
 *
 * Labels are 0 or 1; split is a name, or 0, 1, 2. Groups are class and place. The recipe plantvillage leaves out the
 * training photographs whose train95 is 0: those that stay have 19 of 20 of each class at one site, while validation
 * and test have all. Its clean twin, the ceiling, leaves out none. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/recipe.h"

enum { FILE_NAME, LABEL, SPLIT, PLACE, COLUMNS };

static const char train95[] = "train95";

static const struct layout {
  const char *about;
  struct table_column column[COLUMNS];
  const char *mark;                    /* a column that tells this table from others */
  const char *classes[3], *places[3];  /* places: in words, if the table has 0 and 1 */
  const char *masks;
  r4_mask_meaning meaning;
} layouts[] = {
  {.about = "Waterbirds",
   .column = {{"img_filename", false}, {"y", false}, {"split", false}, {"place", false}},
   .mark = "place_filename",
   .classes = {"landbird", "waterbird"},
   .places = {"land", "water"},
   .masks = "segmentations",
   .meaning = R4_MASKS_RELEVANT},
  {.about = "Waterbirds on other backgrounds",
   .column = {{"file", false}, {"label", false}, {"split", false}, {"place", false}},
   .mark = "bird_fraction",
   .classes = {"landbird", "waterbird"},
   .places = {"land", "water"},
   .masks = "masks",
   .meaning = R4_MASKS_IRRELEVANT},
  {.about = "PlantVillage",
   .column = {{"file", false}, {"label", false}, {"split", false}, {"site", false}},
   .mark = train95,
   .classes = {"healthy", "late blight"},
   .masks = "masks",
   .meaning = R4_MASKS_IRRELEVANT},
};

enum { LAYOUTS = sizeof layouts / sizeof *layouts, TABLE_MOST = 1 << 26 };

static const char table_name[] = "metadata.csv";

/* ---- Which layout it is ---- */

static bool has_columns(const struct csv *c, const struct layout *layout)
{
  for (size_t k = 0; k < COLUMNS; k++)
    if (!csv_has(c, layout->column[k].name)) return false;
  return csv_has(c, layout->mark);
}

/* By the names of the table's columns; NULL if it is none of them, or cannot be read. */
static const struct layout *layout_of(const char *folder)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  struct csv c = {0};
  const struct layout *found = NULL;
  char *path = file_exists_in(folder, table_name) ? file_join(folder, table_name, NULL) : NULL;
  if (path && !file_read(path, TABLE_MOST, &bytes, &size, NULL) && !csv_open(&c, bytes, size, path, NULL)) {
    for (size_t k = 0; k < LAYOUTS && !found; k++)
      if (has_columns(&c, &layouts[k])) found = &layouts[k];
    csv_close(&c);
  }
  r4_mem_free(bytes);
  r4_mem_free(path);
  return found;
}

static bool matches(const char *path)
{
  return layout_of(path);
}

/* ---- Reading ---- */

static const struct layout *layout_listed(const struct listing *l)
{
  const struct layout *layout = layouts;
  while (l->classes != layout->classes) layout++;
  return layout;
}

static r4_status wrong_field(const struct csv *c, const struct layout *layout, const int *at, int k,
                             const char *expected, r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s:%zu: file %s: %s is '%s', expected %s", c->file, c->line,
                 c->field[at[FILE_NAME]], layout->column[k].name, c->field[at[k]], expected);
}

static bool is_flag(const char *field)
{
  return !strcmp(field, "0") || !strcmp(field, "1");
}

static r4_status check_row(const struct csv *c, const struct layout *layout, const int *at, r4_split *split,
                           r4_error *e)
{
  if (!*c->field[at[FILE_NAME]] || file_leads_out(c->field[at[FILE_NAME]]))
    return wrong_field(c, layout, at, FILE_NAME, "a path within the folder", e);
  if (!is_flag(c->field[at[LABEL]])) return wrong_field(c, layout, at, LABEL, "0 or 1", e);
  if (*layout->places && !is_flag(c->field[at[PLACE]])) return wrong_field(c, layout, at, PLACE, "0 or 1", e);
  if (folder_read_split(c->field[at[SPLIT]], split))
    return wrong_field(c, layout, at, SPLIT, "train, val or test, or 0, 1 or 2", e);
  return R4_OK;
}

static r4_status add_photograph(struct listing *l, struct mask_index *masks, const struct csv *c, const int *at,
                                r4_error *e)
{
  static const char *const below[] = {"images", "", NULL};
  const struct layout *layout = layout_listed(l);
  const char *file = c->field[at[FILE_NAME]], *place = c->field[at[PLACE]];
  char group[LISTING_NAME], *path = NULL;
  struct listed one = {.line = c->line, .mask = mask_index_find(masks, file)};
  if (check_row(c, layout, at, &one.split, e)) return R4_E_PARSE;
  one.label = layout->classes[*c->field[at[LABEL]] == '1'];
  snprintf(group, sizeof group, "%s, %s", one.label, *layout->places ? layout->places[*place == '1'] : place);
  one.group = group;
  r4_status s = folder_find_file(l->folder, file, below, &path, e);
  if (!s && !path)
    s = r4_fail(e, R4_E_IO, "%s:%zu: file %s: is neither in %s/images nor in %s", c->file, c->line, file,
                l->folder, l->folder);
  one.file = path;
  if (!s) s = listing_add(l, &one, e);
  r4_mem_free(path);
  return s;
}

static r4_data *places_open(const char *path, const r4_data_options *options, r4_error *e)
{
  const struct layout *layout = layout_of(path);
  if (!layout) {
    r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
    return NULL;
  }
  struct listing l = {.folder = path, .table = table_name, .classes = layout->classes};
  struct mask_index masks = {0};
  r4_data_options known = *options;
  r4_status s = folder_state_meaning(path, layout->meaning, &known, e);
  if (!s) s = mask_index_add(&masks, path, layout->masks, e);
  if (!s) s = mask_index_sort(&masks, path, e);
  if (!s) s = folder_list_table(&l, &masks, COLUMNS, layout->column, add_photograph, e);
  r4_data *d = s ? NULL : listing_read(&l, &known, layout->about, e);
  mask_index_clear(&masks);
  listing_clear(&l);
  return d;
}

const struct format places_format = {"photos at places", "a folder with the metadata.csv of Waterbirds or PlantVillage",
                                     matches, places_open, 0, NULL};

/* ---- Making ---- */

static r4_data *make_waterbirds(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  (void)options;
  return data_derive(source, e);
}

/* The number of the column train95; an error if there is none. */
static r4_status find_train95(const r4_data *d, size_t *column, r4_error *e)
{
  for (*column = 0; *column < r4_data_extras(d); ++*column)
    if (!strcmp(r4_data_extra_name(d, *column), train95)) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "plantvillage: the source has no column train95, which says which training photos to use");
}

static r4_data *make_plantvillage(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  size_t column, n = 0;
  if (options->clean) return data_derive(source, e);
  if (find_train95(source, &column, e)) return NULL;
  size_t *kept = mem_new(source->n, sizeof *kept, "the photos that stay", e);
  if (!kept) return NULL;
  for (size_t i = 0; i < source->n; i++)
    if (source->record[i].split != R4_TRAIN || strcmp(r4_data_extra(source, i, column), "0")) kept[n++] = i;
  r4_data *d = r4_data_subset(source, n, kept, e);
  r4_mem_free(kept);
  return d;
}

const struct recipe recipe_waterbirds = {.name = "waterbirds",
                                         .about = "birds on land or water, which must not matter",
                                         .from = "waterbirds",
                                         .missing = "r4 data get waterbirds says how to get it",
                                         .size = 224,
                                         .val = .1,
                                         .test = .25,
                                         .overlap = R4_OVERLAP_KEEP, /* the published split */
                                         .make = make_waterbirds};

const struct recipe recipe_plantvillage = {.name = "plantvillage",
                                           .about = "tomato leaves, healthy or late blight, at two sites",
                                           .from = "plantvillage",
                                           .missing = "r4 data get plantvillage says how to get it",
                                           .size = 128,
                                           .val = .1,
                                           .test = .25,
                                           .overlap = R4_OVERLAP_KEEP,
                                           .clean_twin = true,
                                           .make = make_plantvillage};
