/* The purity scan of images, in three steps: all cues are tried (find_images.c), those that tell are put in order and
 * thinned out (scan_order.c), and become clues (scan_clues.c). */
#ifndef R4_FIND_SCAN_H
#define R4_FIND_SCAN_H

#include "find/divided.h"
#include "find/file_cues.h"
#include "find/find.h"
#include "find/image_cues.h"

enum place_family { FAMILY_EXTREME, FAMILY_MEAN, FAMILY_CELL, FAMILY_FILE, FAMILIES };

/* A scan in hand. */
struct scan {
  const r4_data *d;
  const r4_find_options *o;
  r4_error *e;
  struct grid g;
  size_t n, cues, file_cues; /* photos; cues of what they look like, then those of their files */
  uint32_t *photo;           /* [n]: numbers of examples */
  int32_t *label;            /* [n] */
  float *cells, *value;      /* [n, CELL_FLOATS]; [n]: of the cue in hand */
  struct about_file *file;   /* [n]; NULL: there are no files */
  struct ranking ranking;
  struct tries tries;
  uint64_t tests[FAMILIES][SET_KINDS];
  struct division division[CELLS_MOST * CELL_FEATURES]; /* by cue / 2, of cues of one cell; not all are tried */
  double usual[CELL_FEATURES];                          /* variances of features, for these */
  const struct division *divides[CELLS_MOST];           /* the one that tells most of a cell that divides, or NULL */
  size_t names;                                         /* beginnings of file names that tell */
};

/* What tells, and where it comes: lower ranks first. */
struct ordered {
  const struct telling *t;
  int rank;
  double log_p; /* corrected */
  double order; /* within its rank */
  double share; /* of the class that it gives away */
};

enum place_family scan_family(const struct scan *s, uint32_t cue);
/* The cue of all photos, to s->value. */
void scan_values(struct scan *s, uint32_t cue);
bool scan_is_pure(const struct telling *t);
bool scan_leads(const struct telling *t); /* pure, or much of a class */
bool scan_is_name(const struct scan *s, uint32_t cue); /* what the file is called */
bool scan_is_local(const struct scan *s, uint32_t cue); /* of some place of the image */

/* Marks the cells that divide, of the n sets that tell at the level of the search. */
void scan_divide(struct scan *s, const struct ordered *all, size_t n);
/* The set is of a cell that divides, on the side that has something; on the other one, which is an absence. */
bool scan_is_content(const struct scan *s, const struct telling *t);
bool scan_is_absence(const struct scan *s, const struct telling *t);

/* What tells at the level of the search, the first "kept" of *all without what they say already; r4_mem_free. */
r4_status scan_order(struct scan *s, struct ordered **all, size_t *kept);
r4_status scan_clues(struct scan *s, r4_found *f, const struct ordered *kept, size_t n);

#endif
