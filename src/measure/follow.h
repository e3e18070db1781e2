/* Whether a net follows the label of masked content, or is thrown off by any change of it.
 *
 * Exchanging masked content may cost a net correct predictions in two ways: it takes the content for a sign of the
 * class whose content it usually is, which is the shortcut; or other content there, of whatever class, disturbs it.
 * Validation examples with a mask get the masked content of training examples, where the shortcut is, once of their own
 * class and once of another. With o_i the share of draws in which example i is correct with content of its own class,
 * and a_i with that of another,
 *
 *     followed = sum_i (o_i - a_i) / sum_i o_i
 *
 * is the share of correct predictions that the class of the content decides. Its standard error is that of a sum of
 * differences; the 1 keeps it above 0 where none was seen:
 *
 *     se = (1 + sum_i (d_i - mean d)^2)^1/2 / sum_i o_i,    d_i = o_i - a_i
 *
 * A net that has learned training examples by heart may know the class of their content: followed is rather too large
 * than too small. */
#ifndef R4_MEASURE_FOLLOW_H
#define R4_MEASURE_FOLLOW_H

#include "data/data.h"

struct follow {
  size_t n, draws; /* examples, and how often each gets content of either sort                     */
  r4_data *data;   /* [2 * draws * n]: all with content of their own class, then of others; or NULL */
};

/* d: the data with all parts; train: its training part. n is 0 where fewer than least examples can be asked. */
r4_status follow_make(struct follow *f, const r4_data *d, const r4_data *train, size_t least, uint64_t seed,
                      r4_error *e);
void follow_clear(struct follow *f);

/* predicted: of the rows of data. NaN where none is correct with content of its own class. */
void follow_count(const struct follow *f, const int32_t *predicted, double *followed, double *error);

#endif
