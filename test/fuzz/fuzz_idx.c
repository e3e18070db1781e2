/* idx files, gzipped or not: what is accepted ends where its elements do. */
#include <stdlib.h>

#include "base/mem.h"
#include "data/format/gzip.h"
#include "data/format/idx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static void parse(const uint8_t *data, size_t size)
{
  struct idx x;
  r4_error e = {0};
  if (idx_parse(data, size, "fuzz", &x, &e)) {
    require(e.status != R4_OK && e.text[0]);
    return;
  }
  size_t count = 1;
  for (int k = 0; k < x.rank; k++) count *= (size_t)x.dim[k];
  require(x.data + count * array_width(x.type) == data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  uint8_t *content = NULL;
  size_t content_size = 0;
  r4_error e = {0};
  if (!gzip_is(data, size)) {
    parse(data, size);
  } else if (!gzip_read(data, size, "fuzz", &content, &content_size, &e)) {
    parse(content, content_size);
    r4_mem_free(content);
  } else {
    require(e.status != R4_OK && e.text[0]);
  }
  return 0;
}
