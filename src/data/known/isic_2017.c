/* The photographs of the ISIC challenge of 2017 with a table of what each of them shows: a folder with
 *
 *     metadata_2017.csv       file,label,patch[,mask]: label is benign or malignant; patch is 1 if the photograph shows
 *                             a coloured patch, mask is 1 if there is a mask of it
 *     images/ISIC_*.jpg       masks/ISIC_*.png: white on the patch
 *
 * Classes and groups are those of the sorted photographs (recipe_isic.c). The test part of 2017 shows no patch, so it
 * is split anew, by seed and with a share of each group: 30 % test, and a tenth of the rest for validation. Some
 * photographs are there twice, under two names: one that is in a later part as well is left out. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"

static const char table_name[] = "metadata_2017.csv";
static const char *const classes[] = {"no_cancer", "cancer", NULL};

static bool matches(const char *path)
{
  return file_exists_in(path, table_name);
}

enum { FILE_NAME, LABEL, PATCH, MASK, COLUMNS };

static const struct table_column columns[COLUMNS] = {
  {"file", false}, {"label", false}, {"patch", false}, {"mask", true}};

static r4_status wrong_field(const struct csv *c, const int *at, int column, const char *expected,
                             r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s:%zu: file %s: %s is '%s', expected %s", c->file, c->line,
                 c->field[at[FILE_NAME]], columns[column].name, c->field[at[column]], expected);
}

static bool is_flag(const char *field)
{
  return !strcmp(field, "0") || !strcmp(field, "1");
}

static r4_status check_row(const struct csv *c, const int *at, r4_error *e)
{
  const char *label = c->field[at[LABEL]];
  if (strcmp(label, "benign") && strcmp(label, "malignant"))
    return wrong_field(c, at, LABEL, "benign or malignant", e);
  for (int k = PATCH; k <= MASK; k++)
    if (at[k] >= 0 && !is_flag(c->field[at[k]])) return wrong_field(c, at, k, "0 or 1", e);
  if (!*c->field[at[FILE_NAME]] || file_leads_out(c->field[at[FILE_NAME]]))
    return r4_fail(e, R4_E_PARSE, "%s:%zu: file '%s', expected a path within the folder", c->file, c->line,
                   c->field[at[FILE_NAME]]);
  return R4_OK;
}

static r4_status add_photograph(struct listing *l, struct mask_index *masks, const struct csv *c,
                                const int *at, r4_error *e)
{
  static const char *const below[] = {"images", "", NULL};
  r4_status s = check_row(c, at, e);
  if (s) return s;
  const char *file = c->field[at[FILE_NAME]], *dot = strrchr(file, '.');
  bool malignant = !strcmp(c->field[at[LABEL]], "malignant"), patch = *c->field[at[PATCH]] == '1';
  char id[LISTING_NAME], *path = NULL;
  snprintf(id, sizeof id, "%.*s", (int)(dot ? dot - file : (ptrdiff_t)strlen(file)), file);
  struct listed one = {.line = c->line,
                       .label = classes[malignant],
                       .group = malignant ? "C"
                                : patch   ? "NCP"
                                          : "NCNP",
                       .id = id,
                       .mask = mask_index_find(masks, file)};
  if (at[MASK] >= 0 && *c->field[at[MASK]] == '1' && !one.mask)
    return r4_fail(e, R4_E_IO, "%s:%zu: file %s: has a mask according to the table, which is not in %s/masks",
                   c->file, c->line, file, l->folder);
  s = folder_find_file(l->folder, file, below, &path, e);
  if (!s && !path)
    s = r4_fail(e, R4_E_IO, "%s:%zu: file %s: is neither in %s/images nor in %s", c->file, c->line, file,
                l->folder, l->folder);
  one.file = path;
  if (!s) s = listing_add(l, &one, e);
  r4_mem_free(path);
  return s;
}

static r4_data *isic_2017_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path, .table = table_name, .classes = classes};
  struct mask_index masks = {0};
  r4_data_options known = *options;
  r4_status s = folder_state_meaning(path, R4_MASKS_IRRELEVANT, &known, e);
  if (!s) s = mask_index_add(&masks, path, "masks", e);
  if (!s) s = mask_index_sort(&masks, path, e);
  if (!s) s = folder_list_table(&l, &masks, COLUMNS, columns, add_photograph, e);
  r4_data *all = s ? NULL : listing_read(&l, &known, "ISIC 2017", e);
  r4_data *split = all ? data_split_groups(all, .07, .3, options->seed, e) : NULL;
  r4_data *apart = split ? r4_data_drop_overlap(split, NULL, e) : NULL;
  r4_data_free(all);
  r4_data_free(split);
  mask_index_clear(&masks);
  listing_clear(&l);
  return apart;
}

const struct format isic_2017_format = {"ISIC 2017", "a folder with metadata_2017.csv, images and masks",
                                        matches, isic_2017_open, 0, NULL};
