/* onnx_hand.h - graphs of ONNX, written node by node as other programs might, and read as models. Failures end the
 * test. Needs scratch_make. */
#ifndef ONNX_HAND_H
#define ONNX_HAND_H

#include "module/onnx/onnx.h"
#include "onnx_case.h"

struct by_hand {
  struct onnx_model m;
  struct onnx_writer w;
  struct onnx_value input, output;
  struct slice x;
};

void hand_begin(struct by_hand *h, r4_shape input);
/* A constant: about 0.25. */
struct slice hand_numbers(struct by_hand *h, r4_shape shape);
/* The graph with the output y, written and opened. */
r4_model *hand_end(struct by_hand *h, struct slice y, r4_error *e);
void hand_accepts(struct by_hand *h, struct slice y, const char *net);
void hand_refuses(struct by_hand *h, struct slice y, const char *expected);
/* [channels, height, width] to [height, width, channels] */
void hand_channels_last(r4_shape one, const float *from, float *to);

#define IMAGE R4_SHAPE(1, 2, 6, 6)
#define ROW R4_SHAPE(1, 4)

#endif
