/* Images: what is accepted has pixels of the size that the header tells, and survives being written and read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "picture/image.h"
#include "picture/resize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
  if (!holds) abort();
}

static void write_and_read(const struct image *image)
{
  uint8_t *data = NULL;
  size_t size = 0;
  struct image back;
  require(image_encode(image, &data, &size, NULL) == R4_OK);
  require(image_decode(data, size, "own", image->channels, &back, NULL) == R4_OK);
  require(!memcmp(back.pixel, image->pixel, image->height * image->width * image->channels));
  image_clear(&back);
  r4_mem_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  enum { FEW = 1 << 20, SIDE = 5 };
  r4_error e = {0};
  struct image as, image;
  if (image_look(data, size, "input", &as, &e)) {
    require(e.status && e.text[0]);
    return 0;
  }
  if (as.height * as.width > FEW) return 0; /* sound, but slow */
  struct image_values values;
  if (!image_read_values(data, size, "input", &values, &e))
    require(values.height == as.height && values.width == as.width && values.value);
  else
    require(e.status && e.text[0] && !values.value);
  image_values_clear(&values);
  for (size_t channels = 1; channels <= 3; channels += 2) {
    if (image_decode(data, size, "input", channels, &image, &e)) {
      require(e.status && e.text[0] && !image.pixel);
      continue;
    }
    require(image.height == as.height && image.width == as.width && image.channels == channels);
    uint8_t small[SIDE * SIDE * 3];
    require(resize(&image, SIDE, SIDE, small, &e) == R4_OK);
    write_and_read(&image);
    image_clear(&image);
  }
  return 0;
}
