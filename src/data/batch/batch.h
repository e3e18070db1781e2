/* From records to the floats that a plan reads. */
#ifndef R4_DATA_BATCH_BATCH_H
#define R4_DATA_BATCH_BATCH_H

#include "data/batch/augment.h"
#include "data/batch/mask_fill.h"
#include "data/data.h"

/* How examples become rows; nothing of it changes once it is made. */
struct batch_rows {
  r4_data *data;   /* a reference of our own */
  size_t features; /* of a row of x */
  size_t masked;   /* of a row of m; 0: no masks */
  struct augment augment;
  struct fill fill;
  uint8_t
    *listed; /* [masks, masked] bytes of the listed features; NULL: all features, from the masks themselves */
  size_t *element; /* in place of listed if masks move: [masked], where a mask has a listed feature */
  bool repeats;    /* an example may come several times in an epoch, and looks different each time */
  uint64_t seed;
};

r4_status batch_rows_init(struct batch_rows *r, const r4_data *d, const r4_batch_options *options,
                          r4_error *e);
void batch_rows_clear(struct batch_rows *r);

/* Memory for rows: of examples as they are and filled, labels, masks, lengths, and what filling needs. NULL: not
 * made. */
struct batch_memory {
  float *x, *filled, *y, *m, *length, *scratch;
  uint8_t *moved; /* masks as bytes, for augmentation */
};

/* Rows of n examples in an epoch, with first others before them; on all threads of the caller, or on its own one only.
 * Returns how many are masked. */
size_t batch_rows_make(const struct batch_rows *r, uint32_t epoch, size_t first, size_t n,
                       const size_t *example, bool alone, const struct batch_memory *to);

#endif
