#ifndef R4_DATA_COUNTS_H
#define R4_DATA_COUNTS_H

#include "data/data.h"

/* The share of an example that its mask covers; grey counts in part, padding not at all. */
double data_mask_area(const r4_data *d, size_t i);

#endif
