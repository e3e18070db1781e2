/* What EXIF says about how a photo is to be shown. */
#ifndef R4_PICTURE_EXIF_H
#define R4_PICTURE_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* The orientation, 1 to 8, of a block of EXIF: a TIFF header and its first directory. 1, as it is stored, if it says
 * nothing or is not sound. */
int exif_orientation(const uint8_t *data, size_t size);

#endif
