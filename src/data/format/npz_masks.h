/* The masks of an npz file. */
#ifndef R4_DATA_FORMAT_NPZ_MASKS_H
#define R4_DATA_FORMAT_NPZ_MASKS_H

#include "data/data.h"
#include "data/format/npz_source.h"

/* Gives the records of d, which are in the order of the file, their masks: 1 = must not matter, whatever the file
 * means. A file without masks is fine; one that does not say what they mean is not, unless the options do. */
r4_status npz_read_masks(struct npz_source *s, r4_data *d, const r4_data_options *options);

#endif
