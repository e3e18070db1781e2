/* DermaMNIST's own split of HAM10000: a table dermamnist_split.csv in its folder, with the columns split (train, val or
 * test) and image_id, and a row for each photograph. It has photographs of one lesion on both sides; it is there to
 * compare with what others published on it. */
#ifndef R4_DATA_KNOWN_HAM_SPLIT_H
#define R4_DATA_KNOWN_HAM_SPLIT_H

#include "data/data.h"

/* The same examples, split as the table in folder says. */
r4_data *ham_own_split(const r4_data *all, const char *folder, r4_error *e);

#endif
