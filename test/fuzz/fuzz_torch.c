/* Files of PyTorch: what is accepted can be read to its last byte. */
#include <stdint.h>
#include <stdlib.h>

#include "tensor/foreign/torch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct st_file f;
  r4_error e = {0};
  r4_status s = torch_parse(&f, "file", data, size, &e);
  require(s == e.status && (!s || e.text[0]));
  for (size_t k = 0; k < f.n; k++) {
    float *to = malloc(st_count(&f.tensor[k]) * sizeof *to + 1);
    require(!st_floats(&f, &f.tensor[k], to, NULL));
    free(to);
  }
  st_free(&f);
  return 0;
}
