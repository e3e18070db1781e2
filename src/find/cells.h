/* Images as a grid of cells, and what each cell looks like in a few numbers. */
#ifndef R4_FIND_CELLS_H
#define R4_FIND_CELLS_H

#include "data/data.h"

enum cell_feature {
  CELL_LIGHT,
  CELL_RED_GREEN, /* red minus green, and so on */
  CELL_GREEN_BLUE,
  CELL_RED_BLUE,
  CELL_SATURATION, /* largest minus smallest channel */
  CELL_SPREAD,     /* standard deviation of the lightness */
  CELL_DOWN,       /* mean |difference| of lightness to the pixel below */
  CELL_ACROSS,     /* and to the right */
  CELL_FEATURES
};

enum { GRID = 8, CELLS_MOST = GRID * GRID, CELL_FLOATS = CELLS_MOST * CELL_FEATURES };

/* At most GRID rows and columns: an image with fewer pixels has as many cells. Cell i covers the pixels
 * floor(i H / rows) to floor((i + 1) H / rows) - 1. */
struct grid {
  size_t height, width, channels, rows, columns;
};

struct grid grid_of(const r4_data *d);
/* Of example i: to[cell * CELL_FEATURES + feature]. Pixels that are masked do not count, unless
 * "masked" is set; a cell that is masked by half
 * or more is NaN. Images of one channel have no colours: NaN. pixel: room for the image. */
void cells_of(const r4_data *d, size_t i, const struct grid *g, bool masked, float *pixel, float *to);
/* Where a cell is: left, top, width, height as shares of the image. */
void cell_box(const struct grid *g, size_t cell, double box[4]);
/* Which ninth of the image the middle of a box is in, in words: "at the bottom right". */
enum { BOX_PLACES = 9 };
size_t box_ninth(const double box[4]);
const char *ninth_words(size_t ninth);
const char *box_place(const double box[4]);

#endif
