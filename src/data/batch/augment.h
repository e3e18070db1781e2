/* Augmentation: training examples that are moved, mirrored, recoloured and made brighter or darker, in each epoch
 * anew.
 *
 *     crop         down and right each uniform in -N .. N: pixel (r, c) comes from (r - down, c - right), or where
 * that lies outside, from the nearest pixel of the edge flip         then left and right are exchanged, with
 * probability 1/2 colour       first saturation and contrast are multiplied, each by a factor uniform in [1 - c, 1 +
 * c] brightness   then all values are multiplied by one factor, uniform in [1 - b, 1 + b]; bytes stay in [0, 1]
 *
 *     cutout       last of all, squares of the side ceil(c s), s the shorter side of the image, with their centres
 *                  uniform over its pixels, cut at its edges, become a constant
 *     strips       and so do two strips, each at an edge, all alike, and of 0 .. ceil(f s) pixels, all alike, where
 *                  s is the side across which it lies
 *
 * Cutout and strips show a net what it will see under the masks of a cover (src/certify/cover.h), with the same
 * constant. They come behind filling: an example and its filled one are hidden at the same places, so that whoever
 * compares them compares what can still be seen, and donors are whole. Masks stay as they are. A masked place that is
 * hidden stays masked: its content must not matter, be it the constant, and all that was worked out from masks before
 * (which examples have one, lists of features, windows) stays true. A hidden place does not become masked: it is not
 * a shortcut, and nothing should be exchanged there.
 *
 * A mask moves with its image, and is repeated at the edge as the pixels are. What is drawn depends on seed, epoch
 * and example alone, each by a number of its own: to switch one on leaves the others as they are. */
#ifndef R4_DATA_BATCH_AUGMENT_H
#define R4_DATA_BATCH_AUGMENT_H

#include "data/data.h"
#include "data/mask/mask_shape.h"

struct augment {
  r4_augment by;
  uint64_t seed;
  struct shape_size size; /* of images; 0 x 0 if nothing is augmented */
  size_t channels;
  float low, high; /* between which values stay */
  float *constant; /* [channels], of what is hidden; NULL: nothing is */
};

enum { AUGMENT_HOLES = 64 };

/* Whether masks can move, and whether there is anything to do at all. */
bool augment_moves(const r4_augment *by);
bool augment_is_on(const r4_augment *by);
/* Whether parts of images are hidden. */
bool augment_hides(const r4_augment *by);

/* R4_E_ARGUMENT if the data cannot be augmented so. */
r4_status augment_init(struct augment *a, const r4_data *d, r4_augment by, uint64_t seed, r4_error *e);
void augment_clear(struct augment *a);

/* Bytes of memory for a mask that moves; 0 if none does. */
size_t augment_scratch(const struct augment *a);

/* Changes x, the values of example i, to what is seen of it in this epoch. Returns its mask likewise, in moved if masks
 * move; NULL: it has none, or none of it is left. */
const uint8_t *augment_row(const struct augment *a, uint32_t epoch, size_t i, const uint8_t *mask, float *x,
                           uint8_t *moved);

/* Hides parts of x, example i as it is seen in this epoch: the same ones whatever x is. */
void augment_hide(const struct augment *a, uint32_t epoch, size_t i, float *x);

#endif
