/* Data in memory whose shortcut is known: each example is two numbers, what its class really shows and a patch, and the
 * mask of those that have one is on the patch. */
#ifndef PATCH_CASE_H
#define PATCH_CASE_H

#include "data/data.h"

enum { PATCH_CORE, PATCH_PATCH, PATCH_FEATURES };

struct patch_example {
  float core, patch;
  int label;
  bool masked, wide; /* wide: the mask is on all of it */
  r4_split split;
  int id; /* examples of one id other than 0 belong together */
};

/* Of so many classes, which are the groups. */
r4_data *patch_data(const struct patch_example *x, size_t n, int classes);

/* A list that grows: so many examples of a class, the first of which have masks. Their core is 0, and the patch of each
 * is its number in the list. */
struct patch_list {
  struct patch_example x[4000];
  size_t n;
};
void patch_add(struct patch_list *l, r4_split split, int label, size_t examples, size_t masked);
r4_data *patch_list_data(const struct patch_list *l, int classes);

float patch_of(const r4_data *d, size_t i);

/* Two classes: core is normal around -1 or 1, which tells five of six apart, and the patch is -size or size, which
 * tells all. So many examples for training and for validation, of which a share has masks. Saved as a file of the
 * scratch folder. */
struct patch_planted {
  size_t train, val;
  double masked;
  float size;
  bool one; /* only the first class has masks */
  bool any;    /* the patch is -size or size whatever the class: it says nothing */
  size_t test; /* further examples, all masked, whose patch is 0 in both classes */
};
void patch_save(const char *name, struct patch_planted p);

#endif
