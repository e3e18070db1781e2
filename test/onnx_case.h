/* onnx_case.h - nets with weights and examples, for the tests of ONNX. Failures end the test. */
#ifndef ONNX_CASE_H
#define ONNX_CASE_H

#include "net_case.h"

enum { ONNX_BATCH = 3 };

struct onnx_case {
  char text[4200];
  r4_shape input;
  int64_t tokens; /* > 0: the input is ids below this */
  r4_net *net;
  float *weights, *x, *valid,
    *logits;       /* valid [batch, tokens], NULL unless tokens; logits [batch, classes] */
  size_t features; /* of one example */
};

/* text, input and tokens are set; draws the rest. Some tokens are padding, but not the first. */
void onnx_case_open(struct onnx_case *c);
void onnx_case_close(struct onnx_case *c);

/* Logits of x, in double, by a net and its weights. */
void onnx_case_logits(const struct onnx_case *c, const r4_net *n, const float *weights, float *to);

/* A net and weights that were read are those of the case, to the bit. */
void assert_same_model(const struct onnx_case *c, const r4_model *m);
/* They answer as those of the case do. */
void assert_same_logits(const struct onnx_case *c, const r4_model *m);

#endif
