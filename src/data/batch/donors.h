/* Donors: the examples with a mask, whose masked content others are given. */
#ifndef R4_DATA_BATCH_DONORS_H
#define R4_DATA_BATCH_DONORS_H

#include "data/data.h"

struct donors {
  size_t classes;
  size_t *example;  /* those of a class are neighbours             */
  size_t *first;    /* [classes + 1]: where each class begins      */
  size_t *examples; /* [classes]: of the class, with a mask or not */
};

r4_status donors_find(struct donors *s, const r4_data *d, r4_error *e);
/* All examples instead, whatever their masks: for what is in a place that others have masked. */
r4_status donors_find_all(struct donors *s, const r4_data *d, r4_error *e);
void donors_clear(struct donors *s);

size_t donors_all(const struct donors *s);
/* Of other classes than this one, and the k-th of them. */
size_t donors_for(const struct donors *s, int32_t class);
size_t donors_at(const struct donors *s, int32_t class, size_t k);
/* Of this class, and the k-th of them. */
size_t donors_own(const struct donors *s, int32_t class);
size_t donors_own_at(const struct donors *s, int32_t class, size_t k);
/* In this class masks are so much rarer than in the others that a mask alone speaks for these: its share is below half
 * of theirs, p, and the chance P(X <= masked), X ~ Binomial(examples, p), of so few is below 1 %. Few masks, drawn
 * without regard to classes, differ from class to class, too. */
bool donors_are_rare(const struct donors *s, int32_t class);
/* Some other class has donors, and they are not rare in it. */
bool donors_elsewhere(const struct donors *s, int32_t class);
/* The same of numbers alone: of the class, and of all others. */
bool masks_are_rare(double masked, double examples, double others_masked, double others);
/* Likewise with four fifths in place of a half: a mask speaks a little for the others. */
bool masks_are_rarer(double masked, double examples, double others_masked, double others);

#endif
