/* npz archives: every member can be asked for, and is an array or an error. */
#include <stdlib.h>

#include "tensor/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  r4_error e = {0};
  struct npz *z = npz_open_bytes(data, size, "fuzz", &e);
  require(z || (e.status != R4_OK && e.text[0]));
  for (size_t k = 0; z && k < npz_count(z) && k < 16; k++) {
    const char *name = npz_name(z, k);
    struct array a;
    if (!name || !npz_has(z, name)) continue;
    e = (r4_error){0};
    r4_status s = npz_read(z, name, &a, &e);
    require(s == e.status && (s == R4_OK) == (a.data != NULL));
    array_free(&a);
  }
  npz_close(z);
  return 0;
}
