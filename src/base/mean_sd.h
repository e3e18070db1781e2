/* Figures over seeds. */
#ifndef R4_BASE_MEAN_SD_H
#define R4_BASE_MEAN_SD_H

#include "r4_tools.h"

/* Of n doubles, stride bytes apart: the mean, and the standard deviation with n - 1; NaN of one, which says nothing of
 * spread. What has no mean, or an infinite one, spreads by no number either. */
r4_mean_sd mean_sd_of(const void *first, size_t stride, size_t n);

#endif
