/* The shapes of the digits, before any distortion. */
#ifndef R4_DATA_KNOWN_DIGITS_STROKES_H
#define R4_DATA_KNOWN_DIGITS_STROKES_H

#include "data/known/digits.h"

enum { STROKE_POINTS = 12, SHAPE_STROKES = 3, CLASS_SHAPES = 3 };

/* How the points of a stroke are joined: by lines, by a Catmull-Rom spline, by a closed one. */
enum stroke_kind { STROKE_NONE, STROKE_LINE, STROKE_CURVE, STROKE_LOOP };

/* Points in hundredths of the square around the digit: x to the right, y down. */
struct stroke {
  uint8_t kind, n, at[STROKE_POINTS][2];
};

struct shape {
  struct stroke stroke[SHAPE_STROKES]; /* up to the first of kind STROKE_NONE */
};

/* The ways to write one digit, equally likely. */
struct digit {
  size_t n;
  struct shape shape[CLASS_SHAPES];
};

extern const struct digit digits_table[DIGITS_CLASSES];

#endif
