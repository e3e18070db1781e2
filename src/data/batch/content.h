/* The masked content of an image where its mask has a hole. A mask of the background has one: what may matter. Content
 * that moves to another image is all around there, and must not bring what may matter along. */
#ifndef R4_DATA_BATCH_CONTENT_H
#define R4_DATA_BATCH_CONTENT_H

#include "data/mask/mask_shape.h"

/* from[k] becomes the pixel that shows masked content in place of pixel k:
 *
 *     k                   if k is masked (from the half on)
 *     2 b - k             otherwise, if that is masked and in the image: the mirror image of k behind b
 *     b                   otherwise
 *
 * where b is the masked pixel nearest to k, or nearly (distances spread from pixel to pixel, in two passes). A mask
 * that is nowhere half gives k everywhere. */
void content_sources(const uint8_t *mask, struct shape_size size, uint32_t *from);

/* The same for a vector of n features, which has no places: from[k] becomes k if the donor has feature k masked, too;
 * else, if k is the t-th that the example has masked, the t-th that the donor has, from the first again at the end. */
void content_in_order(const uint8_t *own, const uint8_t *donor, size_t n, uint32_t *from);

/* Some pixel of the box is not masked. */
bool content_has_holes(const uint8_t *mask, struct shape_size size, struct shape_box box);

#endif
