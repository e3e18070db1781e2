/* Specifications of VNN-LIB (vnnlib.org), the part of it that says what is to hold in boxes: constants X_0 .. are what
 * goes into a net, Y_0 .. what comes out, and assertions are what a counter-example has to fulfil, all of them:
 *
 *     (<= X_3 0.5)  (>= X_3 0.25)                 ends of the box
 *     (>= Y_2 Y_7)  (<= (+ Y_1 (* 2 Y_2)) 3.5)    linear constraints on what comes out
 *     (and ..) (or ..)                            of these, and of each other
 *
 * They become cases: a box, and constraints that hold together. The specification is proved if no case has a point. */
#ifndef R4_CERTIFY_VNNLIB_H
#define R4_CERTIFY_VNNLIB_H

#include "base/error.h"

/* A number of the file is between both, and is both where a double holds it. */
struct vnn_number {
  double lo, hi;
};

struct vnn_part {
  bool input;
  size_t index;
  struct vnn_number factor;
};

/* Of input: x >= rest, or x <= rest (upper), x the one part. Else: sum_k factor_k Y_index_k + rest >= 0. */
struct vnn_atom {
  bool input, upper;
  struct vnn_number rest;
  size_t parts;
  struct vnn_part *part;
};

struct vnn_case {
  size_t atoms, room, *atom;
};

struct vnn_spec {
  size_t inputs, outputs, atoms, cases, room;
  struct vnn_atom *atom;
  struct vnn_case *kase; /* at least one; without atoms if there is nothing but ends that are common to all */
  struct vnn_case common; /* atoms of all cases */
};

/* R4_E_PARSE names the line and what is not understood; so do relations that are not <= and >=. */
r4_status vnnlib_read(struct vnn_spec *to, const char *path, r4_error *e);
/* The same of the bytes of a file. */
r4_status vnnlib_parse(struct vnn_spec *to, const char *path, const char *data, size_t size, r4_error *e);
void vnnlib_free(struct vnn_spec *s);

#endif
