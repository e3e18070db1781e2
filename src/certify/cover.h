/* Covering masks: families of regions, and masks such that every region of a family is inside of one of them.
 *
 * Along one axis of n places, for regions of at most p of them next to each other, with at most k masks:
 *
 *     s = ceil((n - p + 1) / k),   m = min(p + s - 1, n),   corners 0, s, 2 s, .. below n - m, and n - m.
 *
 * Every region [a, a + p), 0 <= a <= n - p, is inside of [c, c + m) for some corner c:
 *     a >= n - m:  c = n - m <= a, and a + p <= n = c + m.
 *     a <  n - m:  then m < n, so m = p + s - 1. c = s floor(a / s) <= a < n - m is a corner, and a <= c + s - 1 gives
 *                  a + p <= c + s - 1 + p = c + m.
 * A shorter region is inside of one of p places, as p <= n. There are at most k corners: those below n - m are the j
 * with j s < n - p + 1 - s, which are fewer than (n - p + 1) / s <= k, and one more.
 *
 *     square   both axes alike; a square is inside of a mask if it is along both axes
 *     tokens   the axis of a text, n its length; p is no more than n
 *     edges    a strip of at most F of the side touches at most ceil(F side) rows or columns of pixels, from the edge
 *              on: the mask of that edge
 *     frame    likewise at all four edges at once: one mask */
#ifndef R4_CERTIFY_COVER_H
#define R4_CERTIFY_COVER_H

#include "base/error.h"

enum { COVER_TEXT = 120, COVER_MOST = 16 };

/* The masks along one axis. */
struct cover_axis {
  size_t n, width, corners; /* places, those that a mask has, and how many masks there are */
  size_t stride;
};

struct r4_cover {
  const struct cover_kind *kind;
  size_t height, width, channels; /* tokens: height 1, 1 channel */
  /* edges, frame: as many rows and columns; square, tokens: the most that a region has, and masks along an axis. */
  size_t strip[2], side, k;
  struct cover_axis down, across; /* of squares */
  size_t masks;
  char about[COVER_TEXT];
};

/* Rows and columns that are hidden: inside of a rectangle, or (frame) outside of it. */
struct cover_hidden {
  size_t top, left, height, width;
  bool outside;
};

/* Of mask k, of an example of so many tokens. */
struct cover_hidden cover_hidden(const r4_cover *c, size_t k, size_t length);
bool cover_is_of_texts(const r4_cover *c);

#endif
