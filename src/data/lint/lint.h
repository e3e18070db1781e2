/* What is probably wrong with a data set: each check looks for one thing, and tells it once. */
#ifndef R4_DATA_LINT_LINT_H
#define R4_DATA_LINT_LINT_H

#include "data/data.h"
#include "data/lint/cue.h"
#include "data/overlap.h"

struct lint {
  const r4_data *d;
  const char *source;
  struct overlap_key *key;
  r4_finding *finding;
  size_t n;
  r4_status status; /* of a check that could not look */
};

enum lint_kind { WARNING, NOTE };

void lint_tell(struct lint *l, enum lint_kind kind, const char *code, const char *format, ...)
  R4_PRINTF(4, 5);

/* How an example is called in a text. */
struct lint_name {
  char text[160];
};
struct lint_name lint_name_of(const r4_data *d, size_t i);

/* All checks of masks, for a data set that was read with some. */
void lint_masks(struct lint *l);
/* Classes of very few examples next to others; how many the largest has. */
void lint_rare_classes(struct lint *l);
size_t lint_largest_class(const struct lint *l);
/* A folder of a class whose files are masks of the images of other classes. */
void lint_class_of_masks(struct lint *l);
/* A folder with a table and without masks. */
void lint_no_masks(struct lint *l);
/* Tokens that give a class away. */
void lint_words(struct lint *l);
/* What gives the label of images away; and properties of their files that do, which must beat what is plain of q: so
 * many of the tested examples are classified correctly from that. */
void lint_images(struct lint *l);
r4_status lint_files(struct lint *l, struct cues *q, size_t plain);
/* "N of M training images (P %) are classified correctly, after learning from as many others, ..": the examples are
 * halved, and one half is tested. */
struct lint_name lint_score(const struct cues *q, size_t right);
/* All checks of the names of classes and groups, and of how many examples they have. */
void lint_groups(struct lint *l);

#endif
