/* ISIC as Rieger et al. (2020) and those after them sorted it: a folder with
 *
 *     processed/cancer  processed/no_cancer  processed/patch_no_cancer_again      segmentation
 *
 * where segmentation holds, under the same name, the mask of the coloured patch that many benign photographs have.
 * Class 1 is cancer; the groups are C (cancer), NCNP (no cancer, no patch) and NCP (no cancer, patch). Masks are 1
 * above 100 of 255. The recipe splits it once, by seed: files of one name are on one side. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/recipe.h"

static const struct part {
  const char *folder, *label, *group;
  bool masks;
} parts[] = {{"processed/cancer", "cancer", "C", false},
             {"processed/no_cancer", "no_cancer", "NCNP", false},
             {"processed/patch_no_cancer_again", "no_cancer", "NCP", true}};

enum { PARTS = sizeof parts / sizeof *parts };

static const char *const classes[] = {"no_cancer", "cancer", NULL};

static bool matches(const char *path)
{
  for (size_t k = 0; k < PARTS; k++) {
    char *folder = file_join(path, parts[k].folder, NULL);
    bool there = folder && file_is_folder(folder);
    r4_mem_free(folder);
    if (!there) return false;
  }
  return true;
}

struct described {
  const struct part *part;
  char id[LISTING_NAME];
};

static r4_status describe(const char *name, void *context, struct listed *one, r4_error *e)
{
  (void)e;
  struct described *d = context;
  snprintf(d->id, sizeof d->id, "%.*s", (int)(strrchr(name, '.') - name), name);
  *one = (struct listed){.file = one->file, .label = d->part->label, .group = d->part->group, .id = d->id};
  return R4_OK;
}

static r4_data *isic_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path, .classes = classes, .mask_from = 101};
  struct mask_index masks = {0};
  r4_data_options known = *options;
  r4_status s = folder_state_meaning(path, R4_MASKS_IRRELEVANT, &known, e);
  if (!s) s = mask_index_add(&masks, path, "segmentation", e);
  if (!s) s = mask_index_sort(&masks, path, e);
  for (size_t k = 0; !s && k < PARTS; k++) {
    struct described d = {.part = parts + k};
    s = folder_list_images(&l, parts[k].masks ? &masks : NULL, parts[k].folder, describe, &d, e);
  }
  r4_data *d = s ? NULL : listing_read(&l, &known, "ISIC", e);
  mask_index_clear(&masks);
  listing_clear(&l);
  return d;
}

const struct format isic_format = {"ISIC", "a folder with processed/{cancer,no_cancer,patch_no_cancer_again}",
                                   matches, isic_open, 0, NULL};

static r4_data *make(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  (void)options;
  return data_derive(source, e);
}

const struct recipe recipe_isic = {.name = "isic",
                                   .about = "skin photos, benign ones with coloured patches",
                                   .from = "isic",
                                   .missing = "r4 data get isic says how to get it",
                                   .size = 299,
                                   .val = .1,
                                   .test = .15,
                                   .make = make};
