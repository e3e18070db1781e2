/* onnx_run.h - runs graphs of ONNX, as their definition says and as slowly as it reads: plain loops in double, for the
 * operators that r4 writes. It knows nothing of nets. Failures end the test. */
#ifndef ONNX_RUN_H
#define ONNX_RUN_H

#include "check.h"
#include "tensor/foreign/onnx_file.h"

struct onnx_array {
  r4_shape shape;
  double *v;
};

/* The only output, to be freed; input k of the graph is given[k]. */
struct onnx_array onnx_run(const struct onnx_model *m, const struct onnx_array *given);

#endif
