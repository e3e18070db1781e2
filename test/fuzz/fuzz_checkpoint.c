/* Checkpoints: any bytes, and any bytes under a checksum that is right, are refused or can be used to the last byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "train/run/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 48 };

static void require(int holds)
{
  if (!holds) abort();
}

static void read(uint8_t *bytes, size_t size)
{
  struct checkpoint c;
  r4_error e = {0};
  r4_status s = checkpoint_parse(&c, "file", bytes, size, &e);
  require(s == e.status && (!s || e.text[0]));
  for (size_t k = 0; k < c.n; k++) {
    const struct checkpoint_part *p = checkpoint_find(&c, c.part[k].name);
    uint8_t *to = malloc(p->size + 1);
    require(checkpoint_take(&c, p->name, to, p->size, NULL) == R4_OK);
    free(to);
  }
  checkpoint_free(&c);
}

/* data as the parts of a checkpoint. */
static void read_sealed(const uint8_t *data, size_t size)
{
  struct hash h;
  uint8_t *bytes = r4_mem_new(HEAD + 8 + size, 1);
  memcpy(bytes, "r4check\n\1", 9);
  for (size_t k = 0; k < 8; k++) bytes[HEAD + k] = (uint8_t)((uint64_t)(8 + size) >> 8 * k);
  memcpy(bytes + HEAD + 8, data, size);
  hash_start(&h);
  hash_add(&h, bytes + HEAD, 8 + size);
  hash_end(&h, bytes + 16);
  read(bytes, HEAD + 8 + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  uint8_t *copy = r4_mem_new(size, 1);
  memcpy(copy, data, size);
  read(copy, size);
  read_sealed(data, size);
  return 0;
}
