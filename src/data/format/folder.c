/* A folder of images, in one of two layouts (doc/data.md):
 *
 *     DIR/metadata.csv    with the columns file and label, and if wanted group, split and id
 *     DIR/CLASS/x.png     or DIR/{train,val,test}/CLASS/x.png: the class is the name of the folder
 *
 * and, in both, DIR/masks with a mask for some of the images, or all, or none. */
#include "data/format/folder.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/annotation/mask_source.h"
#include "data/format/format.h"
#include "data/mask/mask.h"
#include "picture/image.h"

static const char table_name[] = "metadata.csv", masks_name[] = "masks";

r4_status folder_read_split(const char *name, r4_split *split)
{
  static const struct {
    const char *name;
    r4_split split;
  } known[] = {{"train", R4_TRAIN},  {"training", R4_TRAIN}, {"0", R4_TRAIN},        {"val", R4_VAL},
               {"valid", R4_VAL},    {"1", R4_VAL},          {"validation", R4_VAL}, {"test", R4_TEST},
               {"testing", R4_TEST}, {"2", R4_TEST}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (!strcasecmp(name, known[k].name)) {
      *split = known[k].split;
      return R4_OK;
    }
  return R4_E_PARSE;
}

/* ---- Tables ---- */

enum { COLUMNS = 8 };

/* Adds what was expected to what was found. */
static r4_status missing_column(const struct table_column *columns, size_t n, const r4_error *found,
                                r4_error *e)
{
  char wanted[128] = "", optional[128] = "";
  for (size_t k = 0; k < n; k++) {
    char *list = columns[k].optional ? optional : wanted;
    size_t length = strlen(list);
    snprintf(list + length, sizeof wanted - length, "%s%s", length ? ", " : "", columns[k].name);
  }
  return r4_fail(e, R4_E_PARSE, "%.300s; expected %s%s%s", found->text, wanted,
                 *optional ? ", and if wanted " : "", optional);
}

static r4_status find_columns(const struct csv *c, size_t n, const struct table_column *columns, int *at,
                              r4_error *e)
{
  for (size_t k = 0; k < n; k++) {
    r4_error found = {0};
    at[k] = -1;
    if (columns[k].optional && !csv_has(c, columns[k].name)) continue;
    if (csv_column(c, columns[k].name, at + k, &found)) return missing_column(columns, n, &found, e);
  }
  return R4_OK;
}

static bool is_among(const char *name, size_t n, const struct table_column *columns)
{
  for (size_t k = 0; k < n; k++)
    if (!strcasecmp(name, columns[k].name)) return true;
  return false;
}

/* What else the row has. */
static r4_status add_extras(struct listing *l, const struct csv *c, size_t n, const struct table_column *columns,
                            r4_error *e)
{
  r4_status s = R4_OK;
  for (int k = 0; !s && k < c->columns; k++)
    if (!is_among(c->name[k], n, columns)) s = listing_add_extra(l, c->name[k], c->field[k], e);
  return s;
}

r4_status folder_list_table(struct listing *l, struct mask_index *masks, size_t n,
                            const struct table_column *columns, add_row *add, r4_error *e)
{
  enum { LIMIT = 1 << 30 };
  uint8_t *bytes = NULL;
  size_t size = 0;
  char *path = file_join(l->folder, l->table, e);
  r4_status s = path ? file_check_inside(l->folder, l->table, e) : R4_E_MEMORY;
  if (!s) s = file_read(path, LIMIT, &bytes, &size, e);
  struct csv c;
  if (!s && !(s = csv_open(&c, bytes, size, path, e))) {
    int at[COLUMNS];
    bool row = true;
    s = find_columns(&c, n, columns, at, e);
    /* Blanks around values are nobody's intention; rows of nothing but separators are what spreadsheets leave. */
    while (!s && !(s = csv_next(&c, &row, e)) && row) {
      size_t before = l->n;
      if (csv_trim_row(&c)) s = add(l, masks, &c, at, e);
      if (!s && l->n > before) s = add_extras(l, &c, n, columns, e);
    }
    csv_close(&c);
  }
  r4_mem_free(bytes);
  r4_mem_free(path);
  return s;
}

r4_status folder_find_file(const char *folder, const char *file, const char *const *below, char **path,
                           r4_error *e)
{
  *path = NULL;
  for (; *below; below++) {
    struct text name = {0};
    text_add(&name, "%s%s%s", *below, **below ? "/" : "", file);
    char *inside = text_done(&name, file, e), *whole = inside ? file_join(folder, inside, e) : NULL;
    bool there = whole && file_exists(whole), failed = !whole;
    r4_mem_free(whole);
    if (there) {
      *path = inside;
      return R4_OK;
    }
    r4_mem_free(inside);
    if (failed) return R4_E_MEMORY;
  }
  return R4_OK;
}

/* ---- metadata.csv ---- */

enum { FILE_NAME, LABEL, GROUP, SPLIT, ID, METADATA };

static const struct table_column metadata[METADATA] = {
  {"file", false}, {"label", false}, {"group", true}, {"split", true}, {"id", true}};

static r4_status check_row(const struct csv *c, const int *at, struct listed *one, r4_error *e)
{
  char name[LISTING_NAME];
  snprintf(name, sizeof name, "%s:%zu: file %s", c->file, c->line, c->field[at[FILE_NAME]]);
  if (!*c->field[at[FILE_NAME]]) return r4_fail(e, R4_E_PARSE, "%s:%zu: the file is empty", c->file, c->line);
  if (file_leads_out(c->field[at[FILE_NAME]]))
    return r4_fail(e, R4_E_PARSE, "%s: leaves the folder, expected a path within it", name);
  if (!*one->label) return r4_fail(e, R4_E_PARSE, "%s: the label is empty", name);
  if (one->group && !*one->group) return r4_fail(e, R4_E_PARSE, "%s: the group is empty", name);
  if (one->id && !*one->id) one->id = NULL;
  if (at[SPLIT] >= 0 && folder_read_split(c->field[at[SPLIT]], &one->split))
    return r4_fail(e, R4_E_PARSE, "%s: split '%s', expected train, val or test (or 0, 1, 2)", name,
                   c->field[at[SPLIT]]);
  return R4_OK;
}

static r4_status add_metadata(struct listing *l, struct mask_index *masks, const struct csv *c, const int *at,
                              r4_error *e)
{
  static const char *const below[] = {"", "images", NULL};
  const char *file = c->field[at[FILE_NAME]];
  char *path = NULL;
  struct listed one = {.line = c->line,
                       .label = c->field[at[LABEL]],
                       .group = at[GROUP] < 0 ? NULL : c->field[at[GROUP]],
                       .id = at[ID] < 0 ? NULL : c->field[at[ID]]};
  r4_status s = check_row(c, at, &one, e);
  if (!s) s = folder_find_file(l->folder, file, below, &path, e);
  if (!s && !path)
    s = r4_fail(e, R4_E_IO, "%s:%zu: file %s: is neither in %s nor in %s/images", c->file, c->line, file,
                l->folder, l->folder);
  one.file = path;
  if (path) one.named = strlen(path) - strlen(file);
  one.mask = mask_index_find(masks, file);
  if (!s) s = listing_add(l, &one, e);
  r4_mem_free(path);
  return s;
}

/* ---- Folders as classes ---- */

/* What Windows puts into folders of pictures. */
static bool is_of_the_system(const char *name)
{
  return !strcasecmp(name, "Thumbs.db") || !strcasecmp(name, "desktop.ini");
}

/* A file that the cache has put there, KEY.images and what belongs to it: nobody's photo, and nobody's mistake. */
static bool is_of_the_cache(const char *name)
{
  const char *end = strstr(name, ".images");
  return end && (!end[7] || end[7] == '.');
}

r4_status folder_list_images(struct listing *l, struct mask_index *masks, const char *inside,
                             describe_image *describe, void *context, r4_error *e)
{
  struct names *files = NULL;
  r4_status s = folder_scan(l->folder, inside, false, &files, e);
  for (size_t k = 0; !s && k < files->n; k++) {
    const char *name = files->name[k];
    if (!is_image_name(name)) {
      l->of_the_cache += is_of_the_cache(name);
      if (!is_of_the_system(name) && !is_of_the_cache(name)) s = listing_leave_out(&l->skipped, inside, name, e);
      continue;
    }
    char *file = file_join(inside, name, e);
    struct listed one = {.file = file};
    s = file ? describe(name, context, &one, e) : R4_E_MEMORY;
    if (!s && masks) one.mask = mask_index_find(masks, file);
    if (!s) s = listing_add(l, &one, e);
    r4_mem_free(file);
  }
  names_drop(files);
  return s;
}

/* As the folder of a class says. */
static r4_status describe_by_folder(const char *name, void *context, struct listed *one, r4_error *e)
{
  (void)name, (void)e;
  const struct listed *class = context;
  one->label = class->label;
  one->split = class->split;
  return R4_OK;
}

/* The classes of one part, which is a folder of folders; "" is the whole. */
static r4_status list_part(struct listing *l, struct mask_index *masks, const char *part, r4_split split,
                           r4_error *e)
{
  struct names *classes = NULL;
  r4_status s = folder_scan(l->folder, part, true, &classes, e);
  for (size_t k = 0; !s && k < classes->n; k++) {
    const char *class = classes->name[k];
    struct listed as = {.label = class, .split = split};
    if (!*part && !strcmp(class, masks_name)) continue;
    struct text path = {0};
    text_add(&path, "%s%s%s", part, *part ? "/" : "", class);
    char *inside = text_done(&path, class, e);
    size_t before = l->n, cached = l->of_the_cache;
    s = inside ? folder_list_images(l, masks, inside, describe_by_folder, &as, e) : R4_E_MEMORY;
    if (!s && l->n == before && l->of_the_cache == cached) s = listing_leave_out(&l->bare, part, class, e);
    r4_mem_free(inside);
  }
  names_drop(classes);
  return s;
}

static r4_status list_folders(struct listing *l, struct mask_index *masks, r4_error *e)
{
  struct names *folders = NULL;
  r4_status s = folder_scan(l->folder, "", true, &folders, e);
  if (s) return s;
  r4_split split;
  size_t parts = 0, others = 0;
  for (size_t k = 0; k < folders->n; k++) {
    const char *name = folders->name[k];
    bool part = !folder_read_split(name, &split) && strlen(name) > 1;
    parts += part;
    others += !part && strcmp(name, masks_name) != 0;
  }
  if (parts && others)
    s = r4_fail(e, R4_E_PARSE,
                "%s: has folders called train, val or test and others, expected one or the other", l->folder);
  else if (!parts)
    s = list_part(l, masks, "", R4_TRAIN, e);
  for (size_t k = 0; !s && parts && k < folders->n; k++)
    if (!folder_read_split(folders->name[k], &split)) s = list_part(l, masks, folders->name[k], split, e);
  names_drop(folders);
  return s;
}

/* ---- Both ---- */

r4_status folder_state_meaning(const char *folder, r4_mask_meaning meaning, r4_data_options *options,
                               r4_error *e)
{
  if (options->mask_means != R4_MASKS_UNSTATED && options->mask_means != meaning)
    return r4_fail(e, R4_E_ARGUMENT, "%s: white in its masks means %s, and mask_means says otherwise", folder,
                   mask_meaning_words[meaning]);
  options->mask_means = meaning;
  return R4_OK;
}

r4_status folder_list_all(struct listing *l, struct mask_index *masks, const r4_data_options *options,
                          r4_error *e)
{
  char *table = file_join(l->folder, table_name, e);
  if (!table) return R4_E_MEMORY;
  r4_status s = options
                  ? mask_source_open(l->folder, options->masks, options->mask_categories, &l->annotations, e)
                  : R4_OK;
  if (!s) s = mask_index_add(masks, l->folder, masks_name, e);
  if (!s) s = mask_index_sort(masks, l->folder, e);
  if (file_exists(table)) l->table = table_name;
  if (!s)
    s =
      l->table ? folder_list_table(l, masks, METADATA, metadata, add_metadata, e) : list_folders(l, masks, e);
  r4_mem_free(table);
  return s;
}

static r4_data *folder_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path};
  struct mask_index masks = {0};
  r4_data *d = folder_list_all(&l, &masks, options, e) ? NULL : listing_read(&l, options, "folder", e);
  if (d && listing_tell_left_out(&l, d, e)) {
    r4_data_free(d);
    d = NULL;
  }
  mask_index_clear(&masks);
  listing_clear(&l);
  return d;
}

struct names *folder_stray_masks(const char *path, r4_error *e)
{
  struct listing l = {.folder = path};
  struct mask_index masks = {0};
  struct names *stray = folder_list_all(&l, &masks, NULL, e) ? NULL : names_new(e);
  for (size_t k = 0; stray && k < masks.n; k++)
    if (!masks.at[k].used && names_add(stray, masks.at[k].path, NULL, e)) {
      names_drop(stray);
      stray = NULL;
    }
  mask_index_clear(&masks);
  listing_clear(&l);
  return stray;
}

/* When memory does not suffice to look, opening will tell. */
static bool matches(const char *path)
{
  char *table = file_join(path, table_name, NULL);
  bool is = !table || file_exists(table);
  r4_mem_free(table);
  if (is || !file_is_folder(path)) return is;
  struct names *folders = NULL;
  is = folder_scan(path, "", true, &folders, NULL) || folders->n;
  names_drop(folders);
  return is;
}

const struct format folder_format = {
  "folder", "a folder with metadata.csv, or with a folder of images for each class", matches, folder_open,
  TAKES_ANNOTATIONS, NULL};
