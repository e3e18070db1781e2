/* Where a net is cut for guidance: the node at which explanations are taken and perturbations act, by its name. */
#ifndef R4_MODULE_GUIDE_CELLS_H
#define R4_MODULE_GUIDE_CELLS_H

#include "module/net.h"

/* The leaf is an image behind the net's input: cells, each of which stands for a part of the input's pixels. */
bool net_leaf_has_cells(const r4_net *n);

/* A cell of the leaf is masked if any of its pixels is, or if half of them are. */
enum cell_rule { CELL_ANY, CELL_HALF };
extern const char *const cell_words[]; /* the words of each; NULL ends them */

/* Masks [rows, height, width, channels] of the input as masks [rows, height, width] of the cells. Cell i of h covers
 * the pixels floor(i H / h) to ceil((i + 1) H / h) - 1 of H. A pixel has the largest value of its channels; a cell the
 * largest of its pixels, or 1 if their mean is 1/2 or more, else 0. */
void cut_masks(const r4_net *n, enum cell_rule rule, size_t rows, const float *m, float *cells);

#endif
