/* The Oxford-IIIT pets with their trimaps: a folder with
 *
 *     images/NAME_NUMBER.jpg                     names of breeds of cats begin with a capital, those of dogs do not
 *     annotations/trimaps/NAME_NUMBER.png        or trimaps/: 1 on the animal, 2 on the background, 3 on the border
 *
 * The classes are the 37 breeds, and the background must not matter; the border belongs to the animal. The recipe
 * "pet-species" makes cats and dogs of them, "pet-breeds" leaves them; "decoy-" before these names plants a patch. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/recipe.h"

static const char *const places[] = {"annotations/trimaps", "trimaps"};
static const double BACKGROUND = 2;

/* Where the trimaps are; NULL: nowhere. */
static const char *trimaps_of(const char *path)
{
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    char *folder = file_join(path, places[k], NULL);
    bool there = folder && file_is_folder(folder);
    r4_mem_free(folder);
    if (there) return places[k];
  }
  return NULL;
}

static bool matches(const char *path)
{
  return trimaps_of(path) && !file_exists_in(path, "artifact_metadata.csv");
}

struct described {
  char breed[LISTING_NAME];
};

static r4_status describe(const char *name, void *context, struct listed *one, r4_error *e)
{
  struct described *d = context;
  const char *number = strrchr(name, '_');
  if (!number || number == name || !isalpha((unsigned char)*name) || !isdigit((unsigned char)number[1]))
    return r4_fail(e, R4_E_PARSE, "%s: expected the name of a breed and a number, such as Abyssinian_1.jpg",
                   one->file);
  snprintf(d->breed, sizeof d->breed, "%.*s", (int)(number - name), name);
  one->label = d->breed;
  return R4_OK;
}

static r4_data *breeds_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct listing l = {.folder = path};
  struct mask_index masks = {0};
  struct described d = {.breed = ""};
  r4_data_options known = *options;
  const char *trimaps = trimaps_of(path);
  r4_status s = trimaps ? folder_state_meaning(path, R4_MASKS_IRRELEVANT, &known, e)
                        : r4_fail(e, R4_E_IO, "%s: its trimaps are gone", path);
  if (!known.mask_value_count) {
    known.mask_values = &BACKGROUND;
    known.mask_value_count = 1;
  }
  if (!s) s = mask_index_add(&masks, path, trimaps, e);
  if (!s) s = mask_index_sort(&masks, path, e);
  if (!s) s = folder_list_images(&l, &masks, "images", describe, &d, e);
  r4_data *pets = s ? NULL : listing_read(&l, &known, "pets", e);
  mask_index_clear(&masks);
  listing_clear(&l);
  return pets;
}

const struct format breeds_format = {"pets with trimaps", "a folder with images/BREED_NN.jpg and trimaps",
                                     matches, breeds_open, 0, NULL};

/* ---- Making ---- */

static r4_data *as_it_is(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  (void)options;
  return data_derive(source, e);
}

static r4_data *by_species(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  static const char *const species[] = {"cat", "dog"};
  (void)options;
  size_t n = r4_data_count(source);
  int32_t *label = mem_new(n + 1, sizeof *label, "labels", e);
  if (!label) return NULL;
  for (size_t i = 0; i < n; i++) {
    const char *breed = r4_data_class_name(source, (size_t)r4_data_example(source, i).label);
    label[i] = !isupper((unsigned char)*breed);
  }
  r4_data *d = r4_data_relabel(source, label, 2, species, e);
  r4_mem_free(label);
  return d;
}

/* A patch in a corner, whose hue is the label in training: the masks are of the patch then. */
static r4_data *planted_on_breeds(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  return recipe_decoy.make(source, options, e);
}

static r4_data *planted_on_species(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  r4_data *two = by_species(source, options, e), *d = two ? recipe_decoy.make(two, options, e) : NULL;
  r4_data_free(two);
  return d;
}

#define PETS                                                                                            \
  .from = "pet-breeds", .missing = "r4 data get pet-breeds says how to get it", .size = 128, .val = .1, \
  .test = .2, .overlap = R4_OVERLAP_DROP /* some photographs have two names */

const struct recipe recipe_species = {.name = "pet-species",
                                      .about = "cats and dogs, whose background must not matter",
                                      PETS,
                                      .make = by_species};
const struct recipe recipe_breeds = {.name = "pet-breeds",
                                     .about = "37 breeds of pets, whose background must not matter",
                                     PETS,
                                     .make = as_it_is};
const struct recipe recipe_decoy_species = {.name = "decoy-pet-species",
                                            .about =
                                              "cats and dogs, a square in a corner has the label's hue",
                                            PETS,
                                            .own_masks = true,
                                            .make = planted_on_species};
const struct recipe recipe_decoy_breeds = {.name = "decoy-pet-breeds",
                                           .about = "37 breeds, a square in a corner has the label's hue",
                                           PETS,
                                           .own_masks = true,
                                           .make = planted_on_breeds};
