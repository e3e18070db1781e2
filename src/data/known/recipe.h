/* Recipes: a recipe is one struct, and one line in the table of recipe.c. */
#ifndef R4_DATA_KNOWN_RECIPE_H
#define R4_DATA_KNOWN_RECIPE_H

#include "data/data.h"

struct recipe {
  const char *name, *about;
  const char *from, *missing; /* the source when none is given, and what to do when it is not there;
                                 NULL: one must be given */
  int64_t size;               /* images are resized to this when no size is given; 0: not */
  double val, test;           /* shares of a source that has no test part of its own */
  r4_overlap overlap; /* what to do about examples in two splits if nothing else is stated; 0: refuse */
  bool own_masks;     /* it draws decoys, whose masks are used in place of the source's */
  bool greys;         /* and these have a choice of shades                   */
  bool clean_twin;    /* the source's shortcut can be left out, although it is no decoy */
  /* From the source, read and split, whose overlap has been dealt with. What is made is described by the caller. */
  r4_data *(*make)(const r4_data *source, const r4_recipe_options *options, r4_error *e);
};

extern const struct recipe recipe_decoy_mnist, recipe_half_decoy_mnist, recipe_decoy_derm, recipe_decoy;
extern const struct recipe recipe_decoy_imdb;
extern const struct recipe recipe_isic, recipe_plant, recipe_pets, recipe_species, recipe_breeds;
extern const struct recipe recipe_decoy_species, recipe_decoy_breeds, recipe_salient;
extern const struct recipe recipe_waterbirds, recipe_plantvillage;

/* There is a recipe of this name. */
bool recipe_exists(const char *name);

#endif
