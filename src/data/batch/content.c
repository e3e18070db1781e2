#include "data/batch/content.h"

/* Pixels are packed as row and column while distances are compared: there is nothing to divide. */
enum { NOWHERE = UINT32_MAX, HALF = 16, LOW = (1 << HALF) - 1 };

static bool is_content(uint8_t byte)
{
  return byte >= 128;
}

bool content_has_holes(const uint8_t *mask, struct shape_size size, struct shape_box box)
{
  for (size_t row = box.top; row < box.top + box.height; row++)
    for (size_t column = box.left; column < box.left + box.width; column++)
      if (!is_content(mask[row * size.width + column])) return true;
  return false;
}

/* Squared, from a pixel to a packed one. */
static int64_t distance(size_t row, size_t column, uint32_t to)
{
  int64_t down = (int64_t)row - (to >> HALF), right = (int64_t)column - (to & LOW);
  return down * down + right * right;
}

/* The content that is nearest to a neighbour may be nearer than what was found so far. */
static void ask(uint32_t *nearest, size_t row, size_t column, uint32_t neighbours)
{
  if (neighbours == NOWHERE) return;
  if (*nearest == NOWHERE || distance(row, column, neighbours) < distance(row, column, *nearest))
    *nearest = neighbours;
}

/* One pixel of a pass: the neighbours before it in its own row, and three in the row before, are asked. On the way down
 * `before` is -1 and the row before that above, on the way up 1 and that below. */
static void visit(uint32_t *line, const uint32_t *last, size_t width, size_t row, size_t column, int before)
{
  bool first = before < 0 ? column == 0 : column + 1 == width, end = before < 0 ? column + 1 == width : column == 0;
  uint32_t *at = line + column;
  if (*at == (uint32_t)(row << HALF | column)) return; /* content itself */
  if (!first) ask(at, row, column, at[before]);
  if (!last) return;
  ask(at, row, column, last[column]);
  if (!first) ask(at, row, column, (last + column)[before]);
  if (!end) ask(at, row, column, (last + column)[-before]);
}

static void find_nearest(struct shape_size size, uint32_t *nearest)
{
  size_t height = size.height, width = size.width;
  for (size_t row = 0; row < height; row++) {
    uint32_t *line = nearest + row * width;
    for (size_t column = 0; column < width; column++) visit(line, row ? line - width : NULL, width, row, column, -1);
  }
  for (size_t row = height; row-- > 0;) {
    uint32_t *line = nearest + row * width;
    for (size_t column = width; column-- > 0;)
      visit(line, row + 1 < height ? line + width : NULL, width, row, column, 1);
  }
}

/* 2 b - k, or b where that is no content. What is before the first row or column wraps round to more than there are. */
static uint32_t mirrored(const uint8_t *mask, struct shape_size size, size_t row, size_t column, uint32_t b)
{
  size_t to_row = b >> HALF, to_column = b & LOW, over = 2 * to_row - row, beside = 2 * to_column - column;
  bool there = over < size.height && beside < size.width && is_content(mask[over * size.width + beside]);
  return (uint32_t)(there ? over * size.width + beside : to_row * size.width + to_column);
}

void content_sources(const uint8_t *mask, struct shape_size size, uint32_t *from)
{
  for (size_t row = 0, k = 0; row < size.height; row++)
    for (size_t column = 0; column < size.width; column++, k++)
      from[k] = is_content(mask[k]) ? (uint32_t)(row << HALF | column) : NOWHERE;
  find_nearest(size, from);
  for (size_t row = 0, k = 0; row < size.height; row++)
    for (size_t column = 0; column < size.width; column++, k++) {
      bool is = is_content(mask[k]) || from[k] == NOWHERE;
      from[k] = is ? (uint32_t)k : mirrored(mask, size, row, column, from[k]);
    }
}

/* The first masked feature from k on, round the end if need be: there is one. */
static size_t next_content(const uint8_t *mask, size_t n, size_t k)
{
  while (!is_content(mask[k % n])) k++;
  return k % n;
}

void content_in_order(const uint8_t *own, const uint8_t *donor, size_t n, uint32_t *from)
{
  size_t theirs = 0, any = 0;
  for (size_t k = 0; k < n; k++) any += is_content(donor[k]);
  for (size_t k = 0; k < n; k++) {
    from[k] = (uint32_t)k;
    if (!any || !is_content(own[k])) continue;
    theirs = next_content(donor, n, theirs);
    if (!is_content(donor[k])) from[k] = (uint32_t)theirs;
    theirs++;
  }
}
