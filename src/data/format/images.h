/* Image files as rows of a data set: the one way from a file to what a net sees. */
#ifndef R4_DATA_FORMAT_IMAGES_H
#define R4_DATA_FORMAT_IMAGES_H

#include "picture/image.h"

/* The image of the file in memory with the channels of shape, [height, width, channels], resized to it, in to. *was
 * gets the size that it had, and no pixels. */
r4_status image_row(const uint8_t *data, size_t size, const char *name, r4_shape shape, uint8_t *to,
                    struct image *was, r4_error *e);

/* For readers of such files: whether so many of this shape can be read; and the names of the files, without those that
 * info says could not be. */
r4_status images_check(size_t n, r4_shape shape, r4_error *e);
r4_status images_finish(r4_data *d, const char *const *file, const r4_image_info *info, bool some_may_fail,
                        r4_error *e);

#endif
