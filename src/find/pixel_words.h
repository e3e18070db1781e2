/* Which pixels of an image belong to what a clue has found.
 *
 * A pixel is z: the means of the channels over a small window, those over a larger one, and the spread of the lightness
 * over the larger. z is rounded to the nearest of WORDS centres w (k-means). With r_1(w, p) the share of w among the
 * pixels at place p of images that show the clue, and r_0(w, p) that of images of other classes,
 *
 *     P(w, p) = max(0, 1 - r_0(w, p) / r_1(w, p))
 *
 * is the share of these pixels that would not be there without the clue: if images that show it are otherwise like the
 * others, the probability that such a pixel is part of it. Others are the decoys of a target-decoy estimate of false
 * discoveries; nothing has to be known about what is looked for. Images that are said to show the clue and do not
 * make r_1 - r_0 smaller, and P little. Shares of one place are those of the places around it, too. A clue
 * that moves about is not at one place: P(w) is then the same everywhere, r_1 is taken around where the clue is seen,
 * and r_0 is the larger one of that of others and that of the same images elsewhere.
 *
 * The map of an image is P, blurred by a Gaussian of 1.5 % of the side. */
#ifndef R4_FIND_PIXEL_WORDS_H
#define R4_FIND_PIXEL_WORDS_H

#include "data/data.h"

enum { PIXEL_CHANNELS = 4, PIXEL_NUMBERS = 2 * PIXEL_CHANNELS + 1, WORDS = 96, PLACES = 32 };

struct pixel_words {
  size_t height, width, channels, numbers, words;
  size_t rows, columns; /* of places; 1 x 1: the clue moves about */
  float centre[WORDS][PIXEL_NUMBERS];
  float *p;            /* [rows * columns, WORDS] */
  float *clue, *other; /* counts, the same */
};

/* Room for one image. */
struct pixel_room {
  float *pixel, *z, *map, *line;
  uint8_t *word;
};

/* moves: whether the clue does. Cleared by pixel_words_clear, also after an error. */
r4_status pixel_words_new(struct pixel_words *m, const r4_data *d, bool moves, r4_error *e);
void pixel_words_clear(struct pixel_words *m);
r4_status pixel_room_new(struct pixel_room *r, const struct pixel_words *m, r4_error *e);
void pixel_room_clear(struct pixel_room *r);

/* z of all pixels of example i, to room->z [height * width, numbers]. */
void pixel_look(const struct pixel_words *m, const r4_data *d, size_t i, struct pixel_room *room);
/* The words: centres of n vectors z. */
r4_status pixel_words_learn(struct pixel_words *m, const float *z, size_t n, r4_error *e);
/* The words of what pixel_look saw, to room->word [height * width]. */
void pixel_words_of(const struct pixel_words *m, struct pixel_room *room);
/* Counts the pixels of room->word in a box (shares of the image; NULL: all), or those outside of it, with a weight. */
void pixel_words_count(const struct pixel_words *m, const struct pixel_room *room, const double box[4],
                       bool inside, float *to);
/* P from the counts; elsewhere: [WORDS] counts of the same images elsewhere, or NULL. */
r4_status pixel_words_weigh(struct pixel_words *m, const float *elsewhere, r4_error *e);
/* The map of room->word, to room->map [height, width]. */
void pixel_map(const struct pixel_words *m, struct pixel_room *room);

#endif
