/* Data sets by recipe: read the source, split it, see that no example is in two splits, make, and describe. */
#include "data/known/recipe.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/catalog/published.h"
#include "data/mask/mask.h"
#include "data/overlap.h"
#include "r4_tools.h"

static const struct recipe *const recipes[] = {&recipe_decoy_mnist,   &recipe_half_decoy_mnist,
                                               &recipe_decoy_derm,    &recipe_decoy,
                                               &recipe_isic,          &recipe_plant,
                                               &recipe_pets,          &recipe_decoy_imdb,
                                               &recipe_species,       &recipe_breeds,
                                               &recipe_decoy_species, &recipe_decoy_breeds,
                                               &recipe_salient,       &recipe_waterbirds,
                                               &recipe_plantvillage};

enum { RECIPES = sizeof recipes / sizeof *recipes };

bool recipe_exists(const char *name)
{
  for (size_t k = 0; k < r4_recipe_count(); k++)
    if (!strcmp(r4_recipe_describe(k).name, name)) return true;
  return false;
}

size_t r4_recipe_count(void)
{
  return RECIPES;
}

r4_recipe_info r4_recipe_describe(size_t k)
{
  if (k >= RECIPES) return (r4_recipe_info){0};
  return (r4_recipe_info){recipes[k]->name, recipes[k]->about, recipes[k]->from};
}

static const struct recipe *recipe_of(const char *name, r4_error *e)
{
  for (size_t k = 0; k < RECIPES; k++)
    if (!strcmp(recipes[k]->name, name)) return recipes[k];
  struct text known = {0};
  for (size_t k = 0; k < RECIPES; k++) text_add(&known, "%s%s", k ? ", " : "", recipes[k]->name);
  char *names = text_take(&known);
  r4_fail(e, R4_E_ARGUMENT, "no recipe is called %s; expected %s", name, names ? names : "others");
  r4_string_free(names);
  return NULL;
}

static bool given(const char *text)
{
  return text && *text;
}

/* ---- The source ---- */

/* The source that a recipe names is looked for before it is read, to say how to get it. */
static r4_status check_present(const struct recipe *r, const char *folder_given, r4_error *e)
{
  r4_error none = {0};
  char *folder = folder_given ? file_join(folder_given, "", &none) : r4_data_folder(&none);
  char *path = folder ? file_join(folder, r->from, &none) : NULL;
  r4_status s = R4_OK;
  if (none.status == R4_E_IO)
    s = r4_fail(e, R4_E_IO, "%s: %s", r->from, none.text);
  else if (!path)
    s = r4_fail(e, R4_E_MEMORY, "%s: out of memory", r->name);
  else if (!file_exists(path))
    s = r4_fail(e, R4_E_IO, "%s is not in %s; %s", r->from, folder, r->missing);
  r4_mem_free(folder);
  r4_mem_free(path);
  return s;
}

static r4_data *open_source(const struct recipe *r, const r4_recipe_options *o, r4_error *e)
{
  if (!o->from && !r->from) {
    r4_fail(e, R4_E_ARGUMENT, "%s works on any images and has none of its own: name some, such as --from digits "
                                       "(settings: --set data.from=digits)",
            r->name);
    return NULL;
  }
  if (!o->from && check_present(r, o->read.folder, e)) return NULL;
  r4_data_options read = o->read;
  if (!read.height) read.height = read.width = r->size;
  return r4_data_open(o->from ? o->from : r->from, &read, e);
}

/* ---- Splits ---- */

static bool has_part(const r4_data *d, r4_split split)
{
  for (size_t i = 0; i < d->n; i++)
    if (d->record[i].split == split) return true;
  return false;
}

/* What the source holds out for validation, for training. */
static r4_data *without_val(const r4_data *d, r4_error *e)
{
  r4_data *merged = data_derive(d, e);
  for (size_t i = 0; merged && i < d->n; i++)
    if (d->record[i].split == R4_VAL) merged->record[i].split = R4_TRAIN;
  return merged;
}

/* A part that the source has is kept, unless another one is stated in its place. */
static r4_data *split_source(const r4_data *d, const struct recipe *r, const r4_recipe_options *o,
                             r4_error *e)
{
  bool stated = o->val != 0, has_test = has_part(d, R4_TEST);
  double val = o->val > 0 ? o->val : 0;
  uint64_t seed = o->read.seed;
  if (!has_test && !stated && has_part(d, R4_VAL)) return data_hold_out(d, R4_TEST, r->test, seed, e);
  if (!has_test) return r4_data_split(d, stated ? val : r->val, r->test, seed, e);
  if (!stated) return data_derive(d, e);
  r4_data *merged = without_val(d, e), *split = merged ? r4_data_hold_out(merged, val, seed, e) : NULL;
  r4_data_free(merged);
  return split;
}

/* ---- Overlap ---- */

static r4_status count_overlap(const r4_data *d, size_t *n, r4_error *e)
{
  uint32_t *twin = mem_new(d->n ? d->n : 1, sizeof *twin, "comparing examples", e);
  if (!twin) return R4_E_MEMORY;
  r4_status s = overlap_find(d, twin, n, e);
  r4_mem_free(twin);
  return s;
}

/* What there is to make the recipe from. published: results of others stand on the split, so it is kept. *kept becomes
 * the number of examples that stay in two splits. */
static r4_data *settle_overlap(const r4_data *d, const struct recipe *r, const r4_recipe_options *o,
                               bool published, size_t *kept, r4_error *e)
{
  r4_overlap rule = o->overlap;
  if (!rule) rule = published ? R4_OVERLAP_KEEP : r->overlap ? r->overlap : R4_OVERLAP_REFUSE;
  if (rule == R4_OVERLAP_DROP) return r4_data_drop_overlap(d, NULL, e);
  r4_status s = rule == R4_OVERLAP_KEEP ? count_overlap(d, kept, e) : r4_data_check_overlap(d, e);
  return s ? NULL : data_derive(d, e);
}

/* ---- Describing ---- */

/* An argument of a command, in quotes where the shell needs them. */
static void add_argument(struct text *t, const char *name, const char *value)
{
  bool plain = *value;
  for (const char *c = value; *c; c++)
    plain = plain && (isalnum((unsigned char)*c) || strchr("-_./:+,@%", *c));
  text_add(t, " --%s %s", name, plain ? "" : "'");
  for (const char *c = value; *c; c++) text_add(t, *c == '\'' ? "'\\''" : "%c", *c);
  if (!plain) text_add(t, "'");
}

static const char *const overlap_name[] = {"", "refuse", "drop", "keep"};

/* What says how masks and texts of the source are read. */
#define DESCRIBE(options, field, type, min, max, key, was, option, help) describe_##type(t, option, options->field);

static void describe_FLAG(struct text *t, const char *option, bool value)
{
  if (value) text_add(t, " --%s", option);
}

static void describe_WHOLE(struct text *t, const char *option, int64_t value)
{
  if (value) text_add(t, " --%s %lld", option, (long long)value);
}

static void describe_reading(struct text *t, const r4_data_options *o)
{
  if (o->mask_means) text_add(t, " --mask-means %s", mask_meaning_words[o->mask_means]);
  R4_IMAGE_READING(DESCRIBE, o)
  for (size_t k = 0; k < o->mask_value_count; k++)
    text_add(t, "%s%.0f", k ? "," : " --mask-values ", o->mask_values[k]);
  if (given(o->masks)) add_argument(t, "masks", o->masks);
  if (given(o->mask_categories)) add_argument(t, "mask-categories", o->mask_categories);
  if (given(o->tokenizer)) add_argument(t, "tokenizer", o->tokenizer);
  R4_TEXT_READING(DESCRIBE, o)
  if (given(o->mask_words)) add_argument(t, "mask-words", o->mask_words);
}

static r4_status describe(r4_data *d, const struct recipe *r, const r4_recipe_options *o, size_t kept,
                          r4_error *e)
{
  struct text t = {0};
  text_add(&t, "r4 data make %s", r->name);
  if (o->from) add_argument(&t, "from", o->from);
  text_add(&t, " --seed %llu", (unsigned long long)o->read.seed);
  if (o->val > 0) text_add(&t, " --val %.15g", o->val);
  if (o->val < 0) text_add(&t, " --val none");
  if (o->read.height) text_add(&t, " --size %lld", (long long)o->read.height);
  if (o->shades) add_argument(&t, "shades", o->shades);
  if (o->side) text_add(&t, " --side %lld", (long long)o->side);
  if (o->clean) text_add(&t, " --clean");
  if (o->read.own_split) text_add(&t, " --split own");
  if (o->overlap) text_add(&t, " --overlap %s", overlap_name[o->overlap]);
  describe_reading(&t, &o->read);
  if (kept) text_add(&t, "  # %zu examples also occur in a later split", kept);
  char *line = text_done(&t, "a description", e);
  if (!line) return R4_E_MEMORY;
  r4_status s = data_set_about(d, e, "%s", line);
  r4_string_free(line);
  return s;
}

/* ---- Making ---- */

/* Something is said about masks of the source, beside what they mean. */
static bool reads_masks(const r4_data_options *o)
{
  return o->soft_masks || o->mask_value_count || given(o->masks) || given(o->mask_categories) ||
         given(o->mask_words);
}

static r4_status check_sizes(const r4_recipe_options *o, r4_error *e)
{
  int64_t size = o->read.height, side = o->side;
  if (size < 0 || size > 65536 || side < 0 || side > 65536)
    return r4_fail(e, R4_E_ARGUMENT, "size %lld and side %lld, expected 0 to 65536", (long long)size,
                   (long long)side);
  if (size != o->read.width)
    return r4_fail(e, R4_E_ARGUMENT, "images of %lld x %lld, expected squares: recipes take one size",
                   (long long)size, (long long)o->read.width);
  return R4_OK;
}

static r4_status check_options(const struct recipe *r, const r4_recipe_options *o, r4_error *e)
{
  if (!(o->val < 1))
    return r4_fail(e, R4_E_ARGUMENT, "a validation share of %g, expected less than 1", o->val);
  if (check_sizes(o, e)) return R4_E_ARGUMENT;
  if (r->own_masks && reads_masks(&o->read))
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s draws its own masks: soft_masks, mask_values, mask_words, masks and mask_categories do not "
                   "apply",
                   r->name);
  if (!r->own_masks && ((o->clean && !r->clean_twin) || o->side))
    return r4_fail(e, R4_E_ARGUMENT, "%s has no decoys to leave out or to resize",
                   r->name);
  if (!r->greys && o->shades)
    return r4_fail(e, R4_E_ARGUMENT, "%s has no shades of grey, got %s", r->name, o->shades);
  if ((unsigned)o->overlap > R4_OVERLAP_KEEP)
    return r4_fail(e, R4_E_ARGUMENT, "r4_data_make: overlap is %d, expected 0 to %d", (int)o->overlap, R4_OVERLAP_KEEP);
  return mask_meaning_check(o->read.mask_means, "r4_data_make", e);
}

r4_data *r4_data_make(const char *recipe, const r4_recipe_options *options, r4_error *e)
{
  r4_recipe_options o = options ? *options : (r4_recipe_options){0};
  const struct recipe *r = recipe_of(recipe ? recipe : "", e);
  if (!r || check_options(r, &o, e)) return NULL;
  size_t kept = 0;
  r4_data *source = open_source(r, &o, e);
  if (source && o.keep_val && has_part(source, R4_VAL)) o.val = 0; /* as the source has it */
  r4_data *split = source ? split_source(source, r, &o, e) : NULL;
  bool published = source && (o.read.own_split || published_find(source));
  r4_data *settled = split ? settle_overlap(split, r, &o, published, &kept, e) : NULL;
  r4_data *made = settled ? r->make(settled, &o, e) : NULL;
  r4_data_free(source);
  r4_data_free(split);
  r4_data_free(settled);
  if (made && !describe(made, r, &o, kept, e)) return made;
  r4_data_free(made);
  return NULL;
}
