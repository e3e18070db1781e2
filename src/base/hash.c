#include "base/hash.h"

#include <nettle/sha2.h>
#include <stdio.h>

#include "r4_tools.h"

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct hash), "struct hash is too small");

static struct sha256_ctx *context(struct hash *h)
{
  return (struct sha256_ctx *)(void *)h->state;
}

void hash_start(struct hash *h)
{
  sha256_init(context(h));
}

void hash_add(struct hash *h, const void *data, size_t size)
{
  if (size) sha256_update(context(h), size, data);
}

void hash_add_number(struct hash *h, uint64_t value)
{
  uint8_t bytes[8];
  for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(value >> 8 * k);
  hash_add(h, bytes, sizeof bytes);
}

void hash_end(struct hash *h, uint8_t digest[HASH_BYTES])
{
  sha256_digest(context(h), HASH_BYTES, digest);
}

void hash_hex(const uint8_t digest[HASH_BYTES], char text[HASH_HEX])
{
  for (int k = 0; k < HASH_BYTES; k++) snprintf(text + 2 * k, 3, "%02x", digest[k]);
}

void r4_hash(const void *bytes, size_t size, char hex[R4_HASH_SIZE])
{
  uint8_t digest[HASH_BYTES];
  struct hash h;
  hash_start(&h);
  hash_add(&h, bytes, size);
  hash_end(&h, digest);
  hash_hex(digest, hex);
}
