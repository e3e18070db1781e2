/* Kernels of convolutions by themselves, beside their definition. */
#ifndef R4_TEST_CONV_CASE_H
#define R4_TEST_CONV_CASE_H

#include "check.h"
#include "exec/kernel/kernel.h"

struct conv_shapes {
  r4_shape x, w, y;
  r4_window window;
};

/* op is conv2d, conv2d_dx or conv2d_dw. */
struct kernel_request conv_request(const struct op *op, const struct conv_shapes *s);

/* Does its name begin so? */
bool conv_is(const struct kernel *k, const char *name);

/* Operands of exactly their size, so that a sanitizer sees what is read beyond. */
struct conv_data {
  float *f[4]; /* operands, bias, result */
  double *d[4];
  size_t n[4];
};

void conv_data_make(const struct kernel_request *q, struct conv_data *x);
void conv_data_free(struct conv_data *x);

/* NULL and the error if there is none. */
struct kernel *conv_make(const struct kernel_request *q, r4_error *e);

/* The kernel must be one of this name, give what the definition does, and keep to its scratch; also with one thread
 * (which stay set) unless it is oneDNN's, which would leave out the part of the others. */
void conv_compare(const struct kernel_request *q, const char *name);
/* The same; tolerance: of the largest value. */
void conv_compare_to(const struct kernel_request *q, const char *name, double tolerance);

/* Bias and relu behind conv2d: a bias that is not a number stays so, as with oneDNN. */
void conv_keeps_nan(struct kernel_request q);

#endif
