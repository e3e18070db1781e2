/* Indexes of shards: what is accepted names files beside it, and nothing else. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tensor/shards.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct js *root = NULL;
  const struct js *map = NULL;
  r4_error e = {0};
  r4_status s = st_parse_index("file", data, size, &root, &map, &e);
  require(s == e.status && (!s || e.text[0]));
  for (const struct js *v = NULL; !s && (v = js_next(map, v));)
    require(js_text(v) && *js_text(v) && !strchr(js_text(v), '/') && strcmp(js_text(v), ".."));
  js_free(root);
  return 0;
}
