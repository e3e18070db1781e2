/* The masks of a listing: images of them, or outlines that are drawn. */
#ifndef R4_DATA_FORMAT_FOLDER_MASKS_H
#define R4_DATA_FORMAT_FOLDER_MASKS_H

#include "data/format/folder_list.h"
#include "data/mask/mask_image.h"

/* How masks are read, and what is found out about them. */
struct mask_reader {
  const struct listing *l;
  size_t height, width; /* what masks are resized to */
  struct mask_rule rule;
  bool flip; /* what is marked is what may matter */
  struct mask_values marked;
  struct mask_report report;
  struct tally outside, scaled, nothing; /* of outlines: see outline.h */
};

r4_status mask_reader_start(struct mask_reader *r, const struct listing *l, const r4_data_options *options,
                            r4_shape shape, r4_error *e);
/* The mask of example i, whose image is that, in the size and meaning of the data set. Threads may call it. */
r4_status mask_reader_read(struct mask_reader *r, size_t i, const struct image *image, uint8_t *to,
                           r4_error *e);
/* After the last: an error if masks make no sense, notes if some of them are odd. */
r4_status mask_reader_settle(const struct mask_reader *r, const r4_data_options *options, r4_data *d,
                             r4_error *e);

/* "white must not matter", for the description of a data set. */
void mask_reader_describe(const struct listing *l, const r4_data *d, const r4_data_options *options,
                          char *text, size_t size);

/* A file of the folder, in new memory. */
r4_status listing_read_file(const struct listing *l, const char *file, uint8_t **data, size_t *size,
                            r4_error *e);

#endif
