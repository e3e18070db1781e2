/* Cues: how well the label can be told from a few numbers of each example, its colour or the size of its file.
 *
 * As many training examples of each class are looked at, evenly over the data. Half of them teach a classifier of the
 * simplest kind, the other half is classified. With K classes, guessing is right 1/K of the time. */
#ifndef R4_DATA_LINT_CUE_H
#define R4_DATA_LINT_CUE_H

#include "data/data.h"

enum { CUE_FEATURES = 10 }; /* at most */

struct cues {
  const r4_data *d;
  size_t n, classes; /* examples, and classes that have enough of them                           */
  uint32_t *example; /* [n]: the k-th is of class k % classes; its turn in that class is k / classes */
  double *value;     /* [n, CUE_FEATURES]: of the cue in hand; NAN: not known                     */
  double *model;     /* [classes, CUE_FEATURES, 3]: mean, variance, half of its logarithm            */
  bool *right;       /* [n]: the cue in hand classifies it correctly; false for those that teach  */
  bool *plain;       /* [n]: the same of what may well tell the label, which a cue must beat      */
};

/* How the values of a cue are compared: as quantities, or as names of things. */
enum cue_kind { CUE_QUANTITIES, CUE_NAMES };

/* Looks at training examples for which "counts" is true. n is 0 unless two classes have 20 of them, and at least a
 * tenth of what the largest one has. */
r4_status cues_new(struct cues *q, const r4_data *d, bool (*counts)(const struct record *r));
void cues_clear(struct cues *q);

/* How many of the tested examples are classified correctly from the first "features" of value; fills right. */
size_t cue_try(struct cues *q, size_t features, enum cue_kind kind);
size_t cue_tested(const struct cues *q);

/* Whether so many correct ones tell: a fifth of the way from guessing to always, and more than the best of so many
 * tries has by chance. */
bool cue_tells(const struct cues *q, size_t right, size_t tries);
/* Whether "right" is clearly more often true than "plain", by the same measures. */
bool cue_beats_plain(const struct cues *q, size_t tries);

#endif
