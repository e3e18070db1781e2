/* ONNX: what is accepted becomes a net that can be made, with all of its weights. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "module/onnx/onnx.h"
#include "module/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

/* The text is one of ours: at most its sizes do not fit. */
static void use(struct st_file *f)
{
  r4_error e = {0};
  r4_net *n = weights_net(f, &e);
  require(n || (e.status && e.text[0]));
  struct st_set set = {.path = f->path, .file = f, .files = 1};
  if (n) require(weights_take(n, &set, NULL, NULL, NULL, &e) == R4_OK || e.text[0]);
  r4_net_free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct onnx_model m;
  struct st_file f = {0};
  r4_error e = {0};
  r4_status s = onnx_parse(&m, "file", data, size, &e);
  if (!s) s = onnx_translate(&f, &m, "file", R4_SHAPE(8, 8, 3), &e);
  require(s == R4_OK || (s == e.status && e.text[0]));
  if (!s) use(&f);
  st_free(&f);
  onnx_free(&m);
  return 0;
}
