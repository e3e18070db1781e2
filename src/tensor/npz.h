/* npz files: zip archives of npy files, as numpy.savez and savez_compressed write them. The member of key x is called
 * x.npy, or x. */
#ifndef R4_TENSOR_NPZ_H
#define R4_TENSOR_NPZ_H

#include "base/map.h"
#include "tensor/array.h"

struct npz;

/* Opens a file, or bytes, which must stay, under a name for messages. Nothing but the list of members is read. */
struct npz *npz_open(const char *path, r4_error *e);
struct npz *npz_open_bytes(const uint8_t *bytes, size_t size, const char *file, r4_error *e);
void npz_close(struct npz *z);

size_t npz_count(const struct npz *z);
/* The name of a member, as it is in the archive; NULL if it has none. */
const char *npz_name(struct npz *z, size_t k);
bool npz_has(struct npz *z, const char *key);
/* Errors name file and member. A member cannot make this allocate more than deflate can hold in its size. */
r4_status npz_read(struct npz *z, const char *key, struct array *a, r4_error *e);
/* The same in a file without a name in this folder, where the elements can be used as they are in the member: then the
 * pile is open, and the caller clears it in the place of array_free. Else in the memory. */
r4_status npz_read_in(struct npz *z, const char *key, const char *folder, struct map_pile *pile, struct array *a,
                      r4_error *e);
/* How many bytes a member has when it is unpacked, as the archive says; npz_bytes holds it to that. Nothing is read. */
r4_status npz_size(struct npz *z, const char *member, uint64_t *size, r4_error *e);
/* The bytes of a member, whatever they are, in new memory (r4_mem_free). */
r4_status npz_bytes(struct npz *z, const char *member, uint8_t **bytes, size_t *size, r4_error *e);

/* What is written under a key. level: 0 stored, 1 (fast) to 9 (small) deflated. */
struct npz_entry {
  const char *key;
  struct array array;
  int level;
};
/* The same arrays give the same bytes: there is no time in them. */
r4_status npz_write(const char *path, size_t n, const struct npz_entry *entry, r4_error *e);

#endif
