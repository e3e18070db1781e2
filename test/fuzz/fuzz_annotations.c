/* Annotations: what is accepted has outlines of images that there are, and can be drawn. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/annotation/mask_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
  if (!holds) abort();
}

/* Drawn on a few pixels; large grids of runs are sound, but slow. */
static void draw(const struct annotations *a, size_t image)
{
  enum { FEW = 1 << 20 };
  for (size_t k = 0; k < a->image[image].n; k++) {
    const struct outline *o = a->outline + a->image[image].first + k;
    require(o->image == image);
    if (o->is_runs && (uint64_t)o->height * o->width > FEW) return;
  }
  uint8_t mask[6 * 7 + 1] = {0};
  struct outline_report report = {0};
  r4_error e = {0};
  if (annotations_draw(a, image, 6, 7, mask, &report, &e)) require(e.status && e.text[0]);
  for (size_t k = 0; k < 6 * 7; k++) require(mask[k] == 0 || mask[k] == 255);
  require(!mask[6 * 7]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  r4_error e = {0};
  uint8_t *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  struct annotations *a = mask_source_parse("fuzz", text, size, size % 2 ? NULL : "tag", &e);
  if (!a) require(e.status && e.text[0]);
  for (size_t k = 0; a && k < a->images; k++) {
    size_t image = 0;
    require(a->image[k].first + a->image[k].n <= a->outlines);
    if (!annotations_find(a, a->image[k].name, &image, &e)) require(image >= 1 && image <= a->images);
    draw(a, k);
  }
  annotations_free(a);
  free(text);
  return 0;
}
