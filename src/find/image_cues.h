/* Cues of images: one feature of a cell, or of the cells of a region, as their mean or the most extreme of them; much
 * of it, or little. */
#ifndef R4_FIND_IMAGE_CUES_H
#define R4_FIND_IMAGE_CUES_H

#include "find/cells.h"
#include "find/ranking.h"

enum { CUE_NAME = 96 }; /* room for a short name */

enum cue_region { REGION_BORDER, REGION_CENTRE, REGION_ANYWHERE, CUE_REGIONS };

struct image_cue {
  enum cell_feature feature;
  bool low;  /* little of it tells */
  bool cell; /* of one cell, which is place */
  size_t place;
  enum cue_region region; /* otherwise */
  bool extreme;           /* the most extreme cell of the region, otherwise their mean */
};

size_t image_cues(const struct grid *g); /* how many there are */
struct image_cue image_cue_at(const struct grid *g, size_t k);
/* The cue of an image, from its cells; NaN if these are masked. *cell becomes the one that it is of, or SIZE_MAX. */
float image_cue_of(const struct grid *g, const struct image_cue *q, const float *cells, size_t *cell);
/* A cell of the grid is one of those that the cue is of. */
bool image_cue_has(const struct grid *g, const struct image_cue *q, size_t cell);
/* It is at the border: what is there is rarely what an image is about. */
bool image_cue_is_outside(const struct grid *g, const struct image_cue *q);

/* In words, of a set that has the same everywhere or not. */
struct cue_words {
  char name[CUE_NAME], where[64]; /* a short name; "at the bottom right (row 8, column 6)"    */
  const char *how, *others;       /* "redder"; where the other photos are less so: " there"  */
};
void image_cue_words(const struct grid *g, const struct image_cue *q, bool same, struct cue_words *to);

#endif
