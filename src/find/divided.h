/* Places that tell two classes apart, and which side of them has something.
 *
 * Of a cue v of one cell and classes a and b,
 *
 *     J = max_t |P(v >= t | a) - P(v >= t | b)|                    (Youden, 1950)
 *
 * is how far the best threshold t is on the way from guessing, 0, to always, 1. With J >= 1/2 either side is mostly of
 * one class, three quarters of it if classes are of one size, and the cell divides them. A cue that is pure on a few
 * photos and says nothing about the others has a small J. More than two classes are not divided by one threshold.
 *
 * One side has something, a stamp, and the other is photos as they are without it. Purity cannot say which: a stamp on
 * most of one class leaves the extremes of the other side just as pure, or purer. But what is planted looks alike each
 * time, and photos do not. With V_s(g) the variance of feature g of the cell over the photos of a side, and V(g) the
 * median over all cells of that over all photos (what photos are like where nothing is planted: over this cell alone V
 * would be made of the stamp),
 *
 *     U_s = mean of V_s(g) / V(g) over the features g of the other kind than the cue:
 *
 * of colours if the cue is a texture, of textures if it is a colour, as a cut through v makes what goes with v narrow
 * on both sides, whatever is there. The side with the smaller U has something. The other is an absence if its U is
 * above 1/2; otherwise it has something of its own (white on one class, black on the other). */
#ifndef R4_FIND_DIVIDED_H
#define R4_FIND_DIVIDED_H

#include "find/image_cues.h"

enum side { ABOVE, BELOW, SIDES };

struct division {
  bool tried;
  double apart;         /* J                                                        */
  int32_t label[SIDES]; /* of which class most of a side is: the one that prefers it */
  double varied[SIDES]; /* U                                                        */
};

/* V of each feature, of n photos; NaN does not count. */
void division_usual(size_t n, size_t places, const float *cells, double usual[CELL_FEATURES]);
/* r: ranked by feature f of a cell; cells: of all photos. */
struct division division_of(const struct ranking *r, enum cell_feature f, size_t cell, const float *cells,
                            const double usual[CELL_FEATURES]);
bool division_divides(const struct division *d);
enum side division_content(const struct division *d);
/* The class of the side that is an absence; -1: none is. */
int32_t division_absent(const struct division *d);

#endif
