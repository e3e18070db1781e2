/* Leaves of sugar beet (Schramowski et al. 2020): a folder with images/DAY_Znn*.jpg and, in masks, the foreground of
 * each, which is all that may matter. Plants Z1 to Z3 are healthy, the others diseased. If there are
 * rgb_dataset_splits/train_2.txt and test_2.txt, lists of names without ending, they are the split; otherwise the
 * recipe splits by seed, with all photographs of a plant on one side.
 *
 * The recipe makes images twice as bright, v <- min(255, 2 v), and in test replaces the background by the mean colour
 * of all pixels of training, so that a model that looked at it is found out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/recipe.h"

static const char *const classes[] = {"healthy", "diseased", NULL};

/* ---- Reading ---- */

/* The place of "Znn" in a name, and its length; NULL if there is none. */
static const char *plant_of(const char *name, size_t *length)
{
  const char *mark = strstr(name, "_Z");
  size_t digits = mark ? strspn(mark + 2, "0123456789") : 0;
  *length = digits + 1;
  return digits && digits < 9 ? mark + 1 : NULL;
}

static bool matches(const char *path)
{
  struct names *files = NULL;
  size_t length;
  bool is =
    !folder_scan(path, "images", false, &files, NULL) && files->n && plant_of(files->name[0], &length);
  names_drop(files);
  return is;
}

struct described {
  char id[16];
  uint8_t *list[R4_SPLITS]; /* the files of the split, as text; NULL: there is none */
};

/* Whether a line of the text is the name without its ending. */
static bool is_listed(const uint8_t *text, const char *name)
{
  size_t n = (size_t)(strrchr(name, '.') - name);
  for (const char *line = (const char *)text; *line;) {
    size_t length = strcspn(line, "\r\n");
    if (length == n && !strncmp(line, name, n)) return true;
    line += length + strspn(line + length, "\r\n");
  }
  return false;
}

static r4_status describe(const char *name, void *context, struct listed *one, r4_error *e)
{
  struct described *d = context;
  size_t length;
  const char *plant = plant_of(name, &length);
  if (!plant)
    return r4_fail(e, R4_E_PARSE, "%s: has no number of a plant, expected a name such as 5_Z12.jpg",
                   one->file);
  snprintf(d->id, sizeof d->id, "%.*s", (int)length, plant);
  long number = strtol(plant + 1, NULL, 10);
  one->id = d->id;
  one->label = classes[number < 1 || number > 3];
  if (!d->list[R4_TEST]) return R4_OK;
  bool train = is_listed(d->list[R4_TRAIN], name), test = is_listed(d->list[R4_TEST], name);
  if (train == test)
    return r4_fail(e, R4_E_PARSE, "%s: is in %s of train_2.txt and test_2.txt, expected in one", one->file,
                   train ? "both" : "none");
  one->split = train ? R4_TRAIN : R4_TEST;
  return R4_OK;
}

static r4_status read_lists(const char *path, struct described *d, r4_error *e)
{
  static const struct {
    r4_split split;
    const char *file;
  } lists[] = {{R4_TRAIN, "rgb_dataset_splits/train_2.txt"}, {R4_TEST, "rgb_dataset_splits/test_2.txt"}};
  r4_status s = R4_OK;
  for (size_t k = 0; !s && k < sizeof lists / sizeof *lists; k++) {
    size_t size;
    char *file = file_join(path, lists[k].file, e);
    if (!file) return R4_E_MEMORY;
    if (k || file_exists(file)) s = file_read(file, 1 << 24, &d->list[lists[k].split], &size, e);
    r4_mem_free(file);
    if (!d->list[R4_TRAIN]) break;
  }
  return s;
}

static r4_data *plant_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path, .classes = classes};
  struct mask_index masks = {0};
  struct described d = {.id = ""};
  r4_data_options known = *options;
  r4_status s = folder_state_meaning(path, R4_MASKS_RELEVANT, &known, e);
  if (!s) s = read_lists(path, &d, e);
  if (!s) s = mask_index_add(&masks, path, "masks", e);
  if (!s) s = mask_index_sort(&masks, path, e);
  if (!s) s = folder_list_images(&l, &masks, "images", describe, &d, e);
  r4_data *plants = s ? NULL : listing_read(&l, &known, "plants", e);
  for (int k = 0; k < R4_SPLITS; k++) r4_mem_free(d.list[k]);
  mask_index_clear(&masks);
  listing_clear(&l);
  return plants;
}

const struct format plant_format = {"plants", "a folder with images/DAY_Znn.jpg and masks", matches,
                                    plant_open, 0, NULL};

/* ---- Making ---- */

static void brighten(const struct column *from, struct column *to)
{
  const uint8_t *dark = from->data;
  uint8_t *bright = to->data;
  for (size_t k = 0; k < from->rows * from->features; k++)
    bright[k] = dark[k] < 128 ? (uint8_t)(2 * dark[k]) : 255;
}

/* Of all pixels of training, rounded. */
static void mean_colour(const r4_data *d, const struct column *v, size_t channels, uint8_t *mean)
{
  uint64_t sum[3] = {0}, pixels = 0;
  for (size_t i = 0; i < d->n; i++) {
    if (d->record[i].split != R4_TRAIN) continue;
    const uint8_t *row = column_row(v, d->record[i].row);
    for (size_t k = 0; k < v->features; k++) sum[k % channels] += row[k];
    pixels += v->features / channels;
  }
  for (size_t c = 0; c < channels; c++) mean[c] = (uint8_t)(pixels ? (sum[c] + pixels / 2) / pixels : 0);
}

static r4_data *make(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  (void)options;
  const struct column *from = data_x(source);
  r4_shape shape = from->shape;
  if (!column_is_image_bytes(from) || shape.rank != 3 || (shape.dim[2] != 1 && shape.dim[2] != 3)) {
    r4_fail(e, R4_E_SHAPE, "plant: the source has no images of bytes with 1 or 3 channels");
    return NULL;
  }
  struct column *v = column_new(&bytes_column, shape, from->rows, e);
  r4_data *d = v ? data_derive(source, e) : NULL;
  if (!d) {
    column_drop(v);
    return NULL;
  }
  uint8_t mean[3];
  size_t channels = (size_t)shape.dim[2];
  brighten(from, v);
  mean_colour(source, v, channels, mean);
  struct mask_layout layout = data_mask_layout(source);
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    if (r->split != R4_TEST || !r->mask) continue;
    const uint8_t *mask = masks_at(data_masks(d), r->mask);
    uint8_t *row = column_row(v, r->row);
    for (size_t k = 0; k < v->features; k++)
      if (mask[k / layout.repeat] >= 128) row[k] = mean[k % channels];
  }
  data_set_x(d, v);
  return d;
}

const struct recipe recipe_plant = {.name = "plant",
                                    .about = "leaves of sugar beet, whose background must not matter",
                                    .from = "plant",
                                    .missing = "r4 data get plant says how to get it",
                                    .size = 213,
                                    .val = .1,
                                    .test = .25,
                                    .make = make};
