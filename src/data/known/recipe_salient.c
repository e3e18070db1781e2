/* Salient ImageNet (Singla and Feizi, 2022) as it is published: a folder with
 *
 *     WNID/feature_NUMBER/images/NAME.jpeg     the photographs of the class that excite the feature most
 *     WNID/feature_NUMBER/cams/NAME.jpeg       where they do, of the same size
 *
 * of the six classes of the paper. People said of each feature whether it belongs to the object (core) or not
 * (spurious). An example is a photograph that is there for any of these features, once. Its mask is what the maps of
 * its spurious features mark, from the half on, or all their greys with soft_masks; photographs that are there for core
 * features only have none. Groups are class and which of the two. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format/folder.h"
#include "data/format/format.h"
#include "data/known/recipe.h"
#include "picture/image.h"

enum { SPURIOUS = 2, CORE = 4 }; /* features at most; 0 ends a list */

static const struct salient_class {
  const char *wnid, *name;
  int spurious[SPURIOUS + 1], core[CORE + 1];
} salient[] = {
  {"n02174001", "rhinoceros beetle", {1581}, {1941, 1247, 1326, 1390}},
  {"n02033041", "dowitcher", {925, 1468}, {1500, 427, 957}},
  {"n02114548", "white wolf", {1401}, {1065, 151, 2004, 6}},
  {"n02268443", "dragonfly", {1797}, {402, 754, 1178, 1390}},
  {"n02480855", "gorilla", {665}, {1317, 490, 960, 797}},
  {"n02514041", "barracouta", {778}, {686, 59, 449, 227}},
};

enum { CLASSES = sizeof salient / sizeof *salient };

static r4_status find_class(const char *path, size_t k, bool *there, r4_error *e)
{
  char *folder = file_join(path, salient[k].wnid, e);
  *there = folder && file_is_folder(folder);
  r4_mem_free(folder);
  return folder ? R4_OK : R4_E_MEMORY;
}

/* Any of them: one that is missing is then an error that says so. */
static bool matches(const char *path)
{
  bool there = false;
  for (size_t k = 0; k < CLASSES && !there; k++)
    if (find_class(path, k, &there, NULL)) break;
  return there;
}

/* ---- The photographs of a class ---- */

struct photograph {
  uint32_t name;                 /* among the names of the class */
  int found, spurious[SPURIOUS]; /* the feature whose folder has it, and those of its masks; 0: none */
};

struct photographs {
  const struct salient_class *of;
  struct names *names;
  size_t n, capacity;
  struct photograph *at;
};

static void clear(struct photographs *p)
{
  names_drop(p->names);
  r4_mem_free(p->at);
}

/* The photograph of that name, which is new if no feature before had it. */
static struct photograph *photograph_of(struct photographs *p, const char *name, int feature, r4_error *e)
{
  uint32_t number;
  if (names_find(p->names, name, &number)) return &p->at[number];
  if (mem_more(&p->at, &p->capacity, p->n + 1, sizeof *p->at, "photos", e)) return NULL;
  if (names_add(p->names, name, &number, e)) return NULL;
  p->at[p->n] = (struct photograph){.name = number, .found = feature};
  return &p->at[p->n++];
}

static r4_status add_feature(struct photographs *p, const char *path, int feature, bool spurious, r4_error *e)
{
  char inside[LISTING_NAME];
  struct names *files = NULL;
  snprintf(inside, sizeof inside, "%s/feature_%d/images", p->of->wnid, feature);
  r4_status s = folder_scan(path, inside, false, &files, e);
  size_t images = 0;
  for (size_t k = 0; !s && k < files->n; k++) {
    if (!is_image_name(files->name[k])) continue;
    struct photograph *one = photograph_of(p, files->name[k], feature, e);
    if (!one) s = e->status;
    if (one && spurious) one->spurious[one->spurious[0] != 0] = feature;
    images++;
  }
  names_drop(files);
  if (!s && !images) s = r4_fail(e, R4_E_IO, "%s/%s: has no photos (PNG or JPEG)", path, inside);
  return s;
}

/* Spurious features come first: what they have is taken from there. */
static r4_status find_photographs(struct photographs *p, const char *path, r4_error *e)
{
  r4_status s = (p->names = names_new(e)) ? R4_OK : R4_E_MEMORY;
  for (const int *f = p->of->spurious; *f && !s; f++) s = add_feature(p, path, *f, true, e);
  for (const int *f = p->of->core; *f && !s; f++) s = add_feature(p, path, *f, false, e);
  return s;
}

/* ---- Listing them ---- */

/* Where the map of a feature is: "" without a feature. */
static void name_map(const struct photographs *p, const char *name, int feature, char to[LISTING_NAME])
{
  *to = 0;
  if (feature) snprintf(to, LISTING_NAME, "%s/feature_%d/cams/%s", p->of->wnid, feature, name);
}

static r4_status add_photograph(struct listing *l, const struct photographs *p, const struct photograph *one,
                                r4_error *e)
{
  const char *name = p->names->name[one->name];
  char file[LISTING_NAME], map[SPURIOUS][LISTING_NAME], group[LISTING_NAME], id[LISTING_NAME];
  int length = snprintf(file, sizeof file, "%s/feature_%d/images/%s", p->of->wnid, one->found, name);
  if (length >= LISTING_NAME)
    return r4_fail(e, R4_E_PARSE, "%s/%.80s..: a path of %d characters, expected less than %d", l->folder,
                   file, length, LISTING_NAME);
  for (size_t k = 0; k < SPURIOUS; k++) name_map(p, name, one->spurious[k], map[k]);
  snprintf(group, sizeof group, "%s, %s", p->of->name, one->spurious[0] ? "spurious" : "core");
  snprintf(id, sizeof id, "%.*s", (int)(strrchr(name, '.') - name), name);
  const struct listed listed = {.file = file,
                                .mask = *map[0] ? map[0] : NULL,
                                .mask2 = *map[1] ? map[1] : NULL,
                                .label = p->of->name,
                                .group = group,
                                .id = id};
  return listing_add(l, &listed, e);
}

static r4_status add_class(struct listing *l, size_t k, r4_error *e)
{
  struct photographs p = {.of = &salient[k]};
  bool there;
  r4_status s = find_class(l->folder, k, &there, e);
  if (!s && !there)
    s = r4_fail(e, R4_E_IO, "%s: has no folder %s (%s), expected those of all six classes", l->folder,
                salient[k].wnid, salient[k].name);
  if (!s) s = find_photographs(&p, l->folder, e);
  for (size_t i = 0; i < p.n && !s; i++) s = add_photograph(l, &p, &p.at[i], e);
  clear(&p);
  return s;
}

static r4_data *salient_open(const char *path, const r4_data_options *options, r4_error *e)
{
  const char *classes[CLASSES + 1] = {NULL};
  for (size_t k = 0; k < CLASSES; k++) classes[k] = salient[k].name;
  struct listing l = {.folder = path, .classes = classes};
  r4_data_options known = *options;
  r4_status s = folder_state_meaning(path, R4_MASKS_IRRELEVANT, &known, e);
  for (size_t k = 0; k < CLASSES && !s; k++) s = add_class(&l, k, e);
  r4_data *d = s ? NULL : listing_read(&l, &known, "Salient ImageNet", e);
  listing_clear(&l);
  return d;
}

const struct format salient_format = {
  "Salient ImageNet", "a folder with n02174001/feature_1581/images and cams", matches, salient_open, 0, NULL};

/* ---- Making ---- */

static r4_data *make(const r4_data *source, const r4_recipe_options *options, r4_error *e)
{
  (void)options;
  return data_derive(source, e);
}

const struct recipe recipe_salient = {.name = "salient-imagenet",
                                      .about =
                                        "six classes of ImageNet, whose spurious features must not matter",
                                      .from = "salient-imagenet",
                                      .missing = "r4 data get salient-imagenet says how to get it",
                                      .size = 224,
                                      .val = .1,
                                      .test = .25,
                                      .overlap = R4_OVERLAP_DROP, /* some photographs have two names */
                                      .make = make};
