/* Mask sources: files with annotations of other tools. A source is one file with one struct, and one line in the table
 * of mask_source.c. */
#ifndef R4_DATA_ANNOTATION_MASK_SOURCE_H
#define R4_DATA_ANNOTATION_MASK_SOURCE_H

#include "base/json.h"
#include "data/annotation/annotation.h"
#include "data/annotation/categories.h"

/* A file in memory. */
struct mask_text {
  const char *file;
  uint8_t *bytes; /* ends with a zero; may be changed */
  size_t size;
  const struct js *json; /* what it holds, if it is JSON; else NULL */
};

struct mask_source {
  const char *name, *about;
  const char *place; /* its name in a folder of images, if nothing else is said */
  bool (*matches)(const struct mask_text *t);
  /* Adds images and outlines; the caller finishes. Errors name the file and the record. */
  r4_status (*read)(const struct mask_text *t, struct categories *wanted, struct annotations *to,
                    r4_error *e);
};

extern const struct mask_source boxes_source, coco_source, label_studio_source;

/* From text in memory, whose bytes may be changed. categories: as in r4_data_options. NULL on failure. */
struct annotations *mask_source_parse(const char *file, uint8_t *bytes, size_t size, const char *categories,
                                      r4_error *e);
/* What a folder has by itself: the place of a source, "none", or NULL if that cannot be said. */
const char *mask_source_place(const char *folder);
/* The annotations of a folder: in the file that is named (in the folder, or else from here), or in the place of a
 * source; *to is NULL if there are none, or "none" is named. */
r4_status mask_source_open(const char *folder, const char *named, const char *categories,
                           struct annotations **to, r4_error *e);

#endif
