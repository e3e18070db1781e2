/* Filling: examples whose masked content is replaced, so that whoever learns from them is not paid for a shortcut.
 *
 *     filled_j = (1 - m_j) x_j + m_j c_j
 *
 *     colour   c is one colour for all of the mask, each channel uniform between its least and largest value
 *     noise    each c_j for itself, likewise
 *     mean     c is the mean of the data set
 *     blank    c is 0, which is black in images
 *     blur     c is the surroundings: sum_k w_jk (1 - m_k) x_k / sum_k w_jk (1 - m_k), where w falls with the distance
 *     swap     c is the masked content of another example, drawn uniformly, stretched from its box to this one, and
 *              mirrored into holes of its mask (content.h)
 *     paste    with probability 1/2 the masked content of another example, drawn uniformly, is put on this one,
 *              at the same place and whatever its own mask: m is the other's
 *
 *     exchange  swap for an example with a mask, paste for one without
 *
 * Ids of tokens cannot be mixed, and are replaced where m is 1/2 or more:
 *
 *     colour   one token, drawn from the unmasked ones of all texts, in place of all
 *     noise    another one for each, likewise
 *     swap     the masked tokens of another text, in their order, again from the first if they are too few: the text
 *              keeps its length, nothing of its own content is left, and of longer content the beginning stands there
 *     paste    a text without a mask: as above, as far as it goes. One with a mask: noise, with probability 1/2, so
 *              that half of all texts have masked content, whatever their class
 *     exchange as above
 *
 * Values of bytes lie between those of 0 and 255; channels of a vector are its features. What is drawn depends on seed,
 * epoch and example alone. */
#ifndef R4_DATA_BATCH_MASK_FILL_H
#define R4_DATA_BATCH_MASK_FILL_H

#include "data/batch/augment.h"
#include "data/data.h"

/* "auto", then a word for each r4_fill; NULL ends them. */
extern const char *const fill_words[];

/* The kind that can hide the shortcut of the training examples: none without masks, paste if masks are so much more
 * frequent in one class that a filled region would still give the label away, otherwise colour. For tokens: swap if the
 * classes have masks alike and masked tokens differ, otherwise noise. */
r4_fill fill_for(const r4_data *d);

struct fill {
  const r4_data *data; /* of the caller */
  r4_fill kind;
  uint64_t seed;
  size_t height, width, channels; /* 1 x 1, and the features as channels, without a mask per pixel */
  float *low, *high;              /* [channels]                                         */
  float *mean;                    /* [features], for mean                               */
  size_t *donor, donors;          /* the examples with a mask, for swap and paste       */
  const struct augment *augment;  /* of the donors; NULL after fill_init: as in the data */
};

/* R4_E_ARGUMENT if the data cannot be filled so. */
r4_status fill_init(struct fill *f, const r4_data *d, r4_fill kind, uint64_t seed, r4_error *e);
void fill_clear(struct fill *f);

/* Floats of scratch memory that fill_row needs. */
size_t fill_scratch(const struct fill *f);

/* Writes example i, whose values are x and whose mask is mask or NULL, as it is seen in this epoch. Both may have been
 * moved; what is drawn from others is augmented likewise, if augment is given. */
void fill_row(const struct fill *f, uint32_t epoch, size_t i, const float *x, const uint8_t *mask,
              float *scratch, float *to);

/* What becomes of an example: what of the fill's kind there is at its own mask or, if it has none, at that of another
 * example, place. The content of swap is the donor's: what it has masked, stretched into the example's own mask; or as
 * it lies, on an example without a mask, or if the donor has none. The draw is in place of the epoch. */
struct fill_job {
  const struct fill *fill;
  uint32_t draw;
  size_t example, donor, place;
};
void fill_from(const struct fill_job *job, const float *x, float *scratch, float *to);
/* As many examples of d, as data. */
r4_data *fill_jobs(const r4_data *d, size_t n, const struct fill_job *job, r4_error *e);
/* Writes an example of other data, of as many features, whose values are x and which ends behind so many of them: with
 * the masked content of the donor put on it as it lies. The kind is paste. */
void fill_paste(const struct fill *f, size_t donor, const float *x, size_t end, float *to);
/* n examples of d by fill_paste, as data. */
r4_data *fill_pasted(const struct fill *f, const r4_data *d, size_t n, const size_t *example,
                     const size_t *donor, r4_error *e);
/* Masks of training examples cover more than half of an example, on average. */
bool data_masks_are_wide(const r4_data *d);
/* n examples by fill_from, as data. */
r4_data *fill_tested(const struct fill *f, uint32_t epoch, size_t n, const size_t *example,
                     const size_t *donor, r4_error *e);

#endif
