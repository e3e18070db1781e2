/* Reading gzip files. */
#ifndef R4_DATA_FORMAT_GZIP_H
#define R4_DATA_FORMAT_GZIP_H

#include "base/error.h"

/* Whether the bytes begin as a gzip file does. */
bool gzip_is(const uint8_t *bytes, size_t size);
/* The content in new memory. The file must be one member, whole, of the length and with the checksum it says; it may
 * not claim more than deflate can hold in its size. file is for messages. */
r4_status gzip_read(const uint8_t *bytes, size_t size, const char *file, uint8_t **content,
                    size_t *content_size, r4_error *e);

#endif
