/* Brush strokes as Label Studio stores them. */
#ifndef R4_DATA_ANNOTATION_LABEL_STUDIO_BRUSH_H
#define R4_DATA_ANNOTATION_LABEL_STUDIO_BRUSH_H

#include "base/json.h"
#include "data/annotation/annotation.h"

/* rle: a list of bytes, the packed pixels of an image of four channels, of which the last one marks. */
r4_status label_studio_read_brush(const struct js *rle, size_t image, size_t height, size_t width,
                                  const char *where, struct annotations *to, r4_error *e);

#endif
