/* SHA-256: of files that are fetched, of data sets, of checkpoints. */
#ifndef R4_BASE_HASH_H
#define R4_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_BYTES = 32, HASH_HEX = 2 * HASH_BYTES + 1 };

struct hash {
  _Alignas(16) unsigned char state[128];
};

void hash_start(struct hash *h);
void hash_add(struct hash *h, const void *data, size_t size);
/* A number as eight bytes, the lowest first: the same on every machine. */
void hash_add_number(struct hash *h, uint64_t value);
void hash_end(struct hash *h, uint8_t digest[HASH_BYTES]);

/* Lower-case hexadecimal digits, as sha256sum prints them. */
void hash_hex(const uint8_t digest[HASH_BYTES], char text[HASH_HEX]);

#endif
