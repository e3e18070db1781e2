/* Checkpoints: named parts of memory in one file, which is whole or refused.
 *
 *     8 bytes    "r4check" and a line feed
 *     8 bytes    version of the format
 *     32 bytes   SHA-256 of everything that follows
 *     8 bytes    size of what follows
 *     parts      size of the name (8), size of the data (8), name, data
 *
 * Numbers have the lowest byte first; the data is as memory has it. A new checkpoint takes the place of the old one
 * when it is whole and on the disk, never before. */
#ifndef R4_TRAIN_RUN_CHECKPOINT_H
#define R4_TRAIN_RUN_CHECKPOINT_H

#include "base/error.h"

enum { CHECKPOINT_VERSION = 3 };

struct checkpoint_part {
  const char *name; /* at most 63 letters */
  const void *data;
  size_t size;
};

r4_status checkpoint_write(const char *path, size_t n, const struct checkpoint_part *part, r4_error *e);

struct checkpoint {
  char *path; /* for messages */
  uint8_t *bytes;
  struct checkpoint_part *part; /* data not aligned */
  char (*name)[64];
  size_t n;
};

/* Frees on failure. */
r4_status checkpoint_read(struct checkpoint *c, const char *path, r4_error *e);
/* From memory that r4_mem_free frees, and which belongs to c from now on, even on failure. */
r4_status checkpoint_parse(struct checkpoint *c, const char *path, uint8_t *bytes, size_t size, r4_error *e);
void checkpoint_free(struct checkpoint *c);

const struct checkpoint_part *checkpoint_find(const struct checkpoint *c, const char *name); /* or NULL */
/* Copies a part of exactly this size; anything else is of another run. */
r4_status checkpoint_take(const struct checkpoint *c, const char *name, void *to, size_t size, r4_error *e);

#endif
