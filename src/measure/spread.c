#include "measure/spread.h"

/* Between which two cells, and how far from the first. */
struct between {
  int64_t first, second;
  double part;
};

static struct between place(int64_t pixel, int64_t pixels, int64_t cells)
{
  double at = ((double)pixel + 0.5) * (double)cells / (double)pixels - 0.5;
  if (at < 0) at = 0;
  int64_t first = (int64_t)at;
  if (first > cells - 1) first = cells - 1;
  return (struct between){first, first + 1 < cells ? first + 1 : first, at - (double)first};
}

static double mix(double a, double b, double part)
{
  return a + part * (b - a);
}

void spread_cells(const float *cells, const int64_t size[2], r4_shape image, float *to)
{
  const int64_t channels = image.dim[2], width = size[1];
  for (int64_t i = 0; i < image.dim[0]; i++) {
    struct between y = place(i, image.dim[0], size[0]);
    for (int64_t j = 0; j < image.dim[1]; j++) {
      struct between x = place(j, image.dim[1], width);
      const float *up = cells + y.first * width, *down = cells + y.second * width;
      double v = mix(mix((double)up[x.first], (double)up[x.second], x.part),
                     mix((double)down[x.first], (double)down[x.second], x.part), y.part);
      for (int64_t c = 0; c < channels; c++) *to++ = (float)(v / (double)channels);
    }
  }
}
