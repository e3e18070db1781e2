/* manifest.json: what made a run, so that its numbers can be made again. */
#ifndef R4_TRAIN_MANIFEST_H
#define R4_TRAIN_MANIFEST_H

#include "train/run.h"

r4_status manifest_write(const struct run *r, const char *path, r4_error *e);

#endif
