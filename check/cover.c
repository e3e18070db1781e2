/* Masks of a family, so that every region of it is hidden by one of them:
 *
 *     edges:F         four strips, of ceil(F side) pixels at one edge each
 *     frame:F         one mask: such strips at all edges at once
 *     square:P[,K]    K masks (6) on each axis for squares of side P; stride s = ceil((n - P + 1) / K), mask side
 *                     m = min(P + s - 1, n), at 0, s, 2 s, .. below n - m, and at n - m
 *     tokens:P[,K]    the same on the one axis of texts */
#include "check.h"

#include <string.h>

enum { MOST_MASKS = 4096 };

/* ceil(share side), exactly */
static size_t part_of(struct decimal share, size_t side)
{
  __int128 ten = 1;
  for (int k = 0; k < share.k; k++) ten *= 10;
  return (size_t)((share.m * (__int128)side + ten - 1) / ten);
}

static void strips(struct job *j, const char *share, size_t h, size_t w, bool frame)
{
  struct decimal d;
  if (!decimal_read(share, &d) || d.m <= 0 || d.k < 0 || d.k > 15 || part_of(d, 1) > 1)
    refuse("the cover's share is not above 0 and at most 1");
  size_t y = part_of(d, h), x = part_of(d, w);
  const struct mask all = {y, h > y ? h - y : 0, x, w > x ? w - x : 0, true};
  const struct mask edge[] = {
    {0, y, 0, w, false}, {h - y, h, 0, w, false}, {0, h, 0, x, false}, {0, h, w - x, w, false}};
  j->masks = frame ? 1 : 4;
  memcpy(j->cover, frame ? &all : edge, j->masks * sizeof all);
}

static size_t starts(size_t n, size_t p, size_t k, size_t at[MOST_MASKS], size_t *side)
{
  if (p < 1 || p > n) refuse("the cover's regions are larger than the input, or empty");
  size_t stride = (n - p + 1 + k - 1) / k, count = 0;
  *side = p + stride - 1 < n ? p + stride - 1 : n;
  for (size_t s = 0; s < n - *side; s += stride) at[count++] = s;
  at[count++] = n - *side;
  return count;
}

static void squares(struct job *j, const char *s, size_t h, size_t w, bool tokens)
{
  static size_t row[MOST_MASKS], column[MOST_MASKS];
  int64_t p, k = 6;
  bool read = whole_read(&s, INT32_MAX, &p) && (!*s || (*s++ == ',' && whole_read(&s, 64, &k) && !*s));
  if (!read || k < 1) refuse("the cover is not understood: expected a side, and perhaps a number of masks up to 64");
  size_t height = 1, width, rows = tokens ? 1 : starts(h, (size_t)p, (size_t)k, row, &height);
  size_t columns = starts(w, (size_t)p, (size_t)k, column, &width);
  if (rows * columns > MOST_MASKS) refuse("the cover has more than %d masks", MOST_MASKS);
  for (size_t m = 0; m < rows * columns; m++) {
    size_t y = row[m / columns], x = column[m % columns];
    j->cover[j->masks++] = (struct mask){y, y + height, x, x + width, false};
  }
}

void cover_make(struct job *j)
{
  bool ids = j->net->in.rank == IDS;
  const char *family = j->c->cover, *s = j->c->fill, *numbers = strchr(family, ':');
  int64_t id = 0;
  if (!ids && j->x.rank != 4) refuse("a cover needs images [n, channels, height, width]");
  size_t channels = ids ? 1 : j->x.dim[1], h = ids ? 1 : j->x.dim[2], w = j->x.dim[ids ? 1 : 3];
  j->fill = take(channels, sizeof *j->fill);
  j->cover = take(MOST_MASKS, sizeof *j->cover);
  bool edges = !strncmp(family, "edges:", 6), frame = !strncmp(family, "frame:", 6);
  if ((edges || frame) && !ids) strips(j, numbers + 1, h, w, frame);
  else if (!strncmp(family, ids ? "tokens:" : "square:", 7)) squares(j, numbers + 1, h, w, ids);
  else refuse("the cover %.40s is not known for such a net", family);
  for (size_t k = 0; k < channels; k++) {
    bool read = ids ? whole_read(&s, INT32_MAX, &id) : hex_read(&s, &j->fill[k]) && j->fill[k] == (float)j->fill[k];
    if (!read || *s++ != (k + 1 < channels ? ',' : 0))
      refuse("the certificate's fill is not a float for each channel");
  }
  if (ids) j->fill[0] = (double)id;
}
