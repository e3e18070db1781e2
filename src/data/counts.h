#ifndef R4_DATA_COUNTS_H
#define R4_DATA_COUNTS_H

#include "data/data.h"

/* The share of an example that a mask covers; grey counts in part. */
double data_mask_area(const r4_data *d, uint32_t number);

#endif
