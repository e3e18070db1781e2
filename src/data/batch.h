/* From records to the floats that a plan reads. */
#ifndef R4_DATA_BATCH_H
#define R4_DATA_BATCH_H

#include "data/data.h"

/* How examples become rows; nothing of it changes once it is made. */
struct batch_rows {
  r4_data *data;   /* a reference of our own */
  size_t features; /* of a row of x */
  size_t masked;   /* of a row of m; 0: no masks */
  uint8_t
    *listed; /* [masks, masked] bytes of the listed features; NULL: all features, from the masks themselves */
};

r4_status batch_rows_init(struct batch_rows *r, const r4_data *d, const r4_batch_options *options,
                          r4_error *e);
void batch_rows_clear(struct batch_rows *r);

/* Rows of n examples; on all threads of the caller, or on its own one only. Returns how many have a mask. */
size_t batch_rows_fill(const struct batch_rows *r, size_t n, const size_t *example, bool alone, float *x,
                       float *y, float *m);

#endif
