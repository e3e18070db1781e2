#include "find/mask_draw.h"

#include <math.h>
#include <string.h>

static const float LIKELY = .5f;

/* ---- Parts ---- */

/* Numbers the part of pixel "from" in part, through neighbours at four sides; returns its pixels. */
static size_t flood(const struct mask_draw *m, const uint8_t *mask, uint32_t *part, size_t from,
                    uint32_t number)
{
  uint32_t *stack = m->room + m->height * m->width;
  size_t n = 0, size = 0;
  stack[n++] = (uint32_t)from;
  part[from] = number;
  while (n) {
    size_t k = stack[--n], y = k / m->width, x = k % m->width;
    const size_t next[4] = {k - m->width, k + m->width, k - 1, k + 1};
    const bool there[4] = {y > 0, y + 1 < m->height, x > 0, x + 1 < m->width};
    size++;
    for (int j = 0; j < 4; j++)
      if (there[j] && mask[next[j]] && !part[next[j]]) part[next[j]] = number, stack[n++] = (uint32_t)next[j];
  }
  return size;
}

static bool is_touched(const struct mask_draw *m, const uint32_t *part, uint32_t number)
{
  const double *b = m->touch;
  if (!b) return true;
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++) {
      double v = ((double)y + .5) / (double)m->height, u = ((double)x + .5) / (double)m->width;
      bool in = u >= b[0] && u < b[0] + b[2] && v >= b[1] && v < b[1] + b[3];
      if (in && part[y * m->width + x] == number) return true;
    }
  return false;
}

static void erase(const struct mask_draw *m, uint8_t *mask, const uint32_t *part, uint32_t number)
{
  for (size_t k = 0; k < m->height * m->width; k++)
    if (part[k] == number) mask[k] = 0;
}

static void keep_largest(const struct mask_draw *m, uint8_t *mask)
{
  enum { PARTS = 64 }; /* that are told apart; what comes later is small or noise, and goes */
  uint32_t *part = m->room, n = 0;
  size_t size[PARTS + 1] = {0}, largest = 0;
  memset(part, 0, m->height * m->width * sizeof *part);
  for (size_t k = 0; k < m->height * m->width; k++) {
    if (!mask[k] || part[k]) continue;
    uint32_t number = n < PARTS - 1 ? ++n : PARTS;
    size_t here = flood(m, mask, part, k, number);
    size[number] = number < PARTS && is_touched(m, part, number) ? here : 0;
    if (size[number] > largest) largest = size[number];
  }
  for (uint32_t k = 1; k <= PARTS; k++)
    if (!size[k] || 4 * size[k] < largest) erase(m, mask, part, k);
}

/* ---- Growing ---- */

void mask_grow(const struct mask_draw *m, uint8_t *mask)
{
  for (size_t k = 0; k < m->height * m->width; k++) {
    size_t y = k / m->width, x = k % m->width;
    bool near = (y > 0 && mask[k - m->width] == 255) || (y + 1 < m->height && mask[k + m->width] == 255) ||
                (x > 0 && mask[k - 1] == 255) || (x + 1 < m->width && mask[k + 1] == 255);
    if (!mask[k] && near) mask[k] = 1;
  }
  for (size_t k = 0; k < m->height * m->width; k++) mask[k] = mask[k] ? 255 : 0;
}

size_t mask_parts(const struct mask_draw *m, uint8_t *mask)
{
  size_t marked = 0;
  for (size_t k = 0; k < m->height * m->width; k++) mask[k] = m->map[k] >= LIKELY ? 255 : 0;
  keep_largest(m, mask);
  for (size_t k = 0; k < m->height * m->width; k++) marked += mask[k] != 0;
  return marked;
}

double mask_draw(const struct mask_draw *m, uint8_t *mask)
{
  const double part = 24;
  size_t pixels = m->height * m->width, marked = mask_parts(m, mask);
  long by = lround(sqrt((double)marked) / part);
  for (long k = 0; k < by; k++) mask_grow(m, mask);
  marked = 0;
  for (size_t k = 0; k < pixels; k++) marked += mask[k] != 0;
  return (double)marked / (double)pixels;
}
