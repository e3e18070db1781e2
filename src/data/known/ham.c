/* HAM10000 as it is published (doc/recipes.md): HAM10000_metadata.csv with lesion_id, image_id and dx, photographs
 * IMAGE_ID.jpg in any of a few folders, and IMAGE_ID_segmentation.png in folders of masks. Classes are numbered as in
 * DermaMNIST. It was published without a split: 70, 10 and 20 % of each class are for training, validation and test, by
 * seed, with all photographs of a lesion on one side, unless DermaMNIST's split is asked for (ham_split.h). */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/ham_split.h"

static const char *const tables[] = {"HAM10000_metadata.csv", "HAM10000_metadata", NULL};
static const char *const photographs[] = {"", "images", "HAM10000_images_part_1", "HAM10000_images_part_2",
                                          NULL};
static const char *const classes[] = {"akiec", "bcc", "bkl", "df", "mel", "nv", "vasc", NULL};

/* The table, or NULL. */
static const char *table_of(const char *folder)
{
  for (size_t k = 0; tables[k]; k++)
    if (file_exists_in(folder, tables[k])) return tables[k];
  return NULL;
}

static bool matches(const char *path)
{
  return table_of(path);
}

static r4_status index_masks(struct mask_index *masks, const char *folder, r4_error *e)
{
  struct names *folders = NULL;
  r4_status s = folder_scan(folder, "", true, &folders, e);
  for (size_t k = 0; !s && k < folders->n; k++) {
    const char *name = folders->name[k];
    if (!strncmp(name, "masks", 5) || !strncmp(name, "HAM10000_segmentations", 22))
      s = mask_index_add(masks, folder, name, e);
  }
  names_drop(folders);
  return s ? s : mask_index_sort(masks, folder, e);
}

enum { LESION, IMAGE, DIAGNOSIS, COLUMNS };

static const struct table_column columns[COLUMNS] = {
  {"lesion_id", false}, {"image_id", false}, {"dx", false}};

static r4_status add_photograph(struct listing *l, struct mask_index *masks, const struct csv *c,
                                const int *at, r4_error *e)
{
  char name[LISTING_NAME], *path = NULL;
  snprintf(name, sizeof name, "%s.jpg", c->field[at[IMAGE]]);
  struct listed one = {.id = c->field[at[LESION]], .label = c->field[at[DIAGNOSIS]], .line = c->line};
  r4_status s = file_leads_out(name)
                  ? r4_fail(e, R4_E_PARSE, "%s:%zu: file %s: leaves the folder", c->file, c->line, name)
                  : folder_find_file(l->folder, name, photographs, &path, e);
  if (!s && !path)
    s = r4_fail(e, R4_E_IO,
                "%s:%zu: file %s: is neither in %s nor in images or HAM10000_images_part_1 or _2 there",
                c->file, c->line, name, l->folder);
  one.file = path;
  one.mask = mask_index_find(masks, name);
  if (!s) s = listing_add(l, &one, e);
  r4_mem_free(path);
  return s;
}

static r4_data *ham_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path, .table = table_of(path), .classes = classes};
  struct mask_index masks = {0};
  r4_status s = l.table ? R4_OK : r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
  if (!s && options->mask_means != R4_MASKS_UNSTATED) s = index_masks(&masks, path, e);
  if (!s) s = folder_list_table(&l, &masks, COLUMNS, columns, add_photograph, e);
  r4_data *all = s ? NULL : listing_read(&l, options, "HAM10000", e);
  r4_data *split = !all                 ? NULL
                   : options->own_split ? ham_own_split(all, path, e)
                                        : r4_data_split(all, .1, .2, options->seed, e);
  r4_data_free(all);
  mask_index_clear(&masks);
  listing_clear(&l);
  return split;
}

const struct format ham_format = {"HAM10000", "a folder with HAM10000_metadata.csv", matches, ham_open,
                                  TAKES_OWN_SPLIT, NULL};
