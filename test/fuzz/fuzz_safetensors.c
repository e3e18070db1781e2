/* safetensors: what is accepted can be read to its last byte, and is covered by its tensors. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static void use(const struct st_file *f)
{
  uint64_t at = 0;
  for (size_t k = 0; k < f->n; k++) {
    const struct st_tensor *t = &f->tensor[k];
    require(t->begin == at && t->end >= at);
    require(st_find(f, t->name) == t);
    require((uint64_t)st_count(t) * t->width == t->end - t->begin);
    float *to = malloc(st_count(t) * sizeof *to + 1);
    require(st_floats(f, t, to, NULL) == R4_OK || strcmp(t->type, "F32"));
    free(to);
    at = t->end;
  }
  st_note(f, "net");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct st_file f;
  r4_error e = {0};
  uint8_t *copy = r4_mem_new(size, 1);
  memcpy(copy, data, size);
  r4_status s = st_parse(&f, "file", copy, size, &e);
  require(s == e.status && (!s || e.text[0]));
  if (!s) use(&f);
  st_free(&f);
  return 0;
}
