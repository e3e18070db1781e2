/* Kernels of the operations that are not element-wise. */
#ifndef R4_EXEC_KERNEL_KERNEL_H
#define R4_EXEC_KERNEL_KERNEL_H

#include "graph/op.h"

/* What is asked for: the operation, and what is done with its result before it is stored. */
struct kernel_request {
  const struct op *op;
  r4_type type;
  size_t n; /* operands of the operation; the bias, if any, is operand n */
  r4_shape in[MAX_ARITY];
  bool outside[MAX_ARITY]; /* the operand is an input of the graph, as it came */
  r4_shape out;
  struct attr attr;
  bool bias, relu; /* out = relu(op(..) + bias) */
  bool accumulate; /* out += op(..) */
  bool winograd;   /* convolutions may take fewer products and larger rounding errors */
  bool bf16;       /* the first two operands are stored in bfloat16 */
  bool bf16_out;   /* so is the result */
};

struct kernel {
  const char *name;
  r4_status (*run)(struct kernel *k, void *const *in, void *out, r4_error *e);
  void (*destroy)(struct kernel *k); /* frees k itself */
  size_t scratch_bytes;              /* that a run needs, aligned; whoever runs it sets scratch */
  void *scratch;
  double flops_share; /* of the operation's that are computed; 0: all of them */
};

/* A fast kernel if one fits, else the operation's own plain loops. */
r4_status kernel_new(const struct kernel_request *q, struct kernel **k, r4_error *e);
void kernel_free(struct kernel *k);

/* Makers of fast float kernels: R4_OK and *k == NULL means "not this one". */
typedef r4_status kernel_maker(const struct kernel_request *q, struct kernel **k, r4_error *e);
/* The name of the k-th maker that is tried for an operation, or NULL. */
const char *kernel_maker_name(const struct op *op, size_t k);
kernel_maker sparse_matmul, thin_matmul, gradient_matmul, dnn_matmul, dnn_conv, dnn_conv_dx, dnn_conv_dw, dnn_pool;
kernel_maker winograd_conv, winograd_conv_dx, winograd_conv_dw;
kernel_maker narrow_conv_dx, pool_kernel, pool_may_kernel;
kernel_maker direct_conv, direct_conv_dx, direct_conv_dw;
kernel_maker depthwise_conv, depthwise_conv_dx, depthwise_conv_dw;
kernel_maker move_kernel, rows_kernel, middle_kernel, index_kernel, crop_kernel;

/* c [rows, columns] = a^T b (+ c), with sums over the terms; false: out of memory. */
struct gemm {
  int64_t rows, columns, terms;
  bool add;
};
bool dnn_gemm(const struct gemm *g, const float *a, const float *b, float *c);

/* Whether oneDNN multiplies bfloat16 by instructions of this CPU (ONEDNN_MAX_CPU_ISA can hide them). */
bool dnn_has_bf16(void);
bool dnn_has_amx(void);
/* For tests: as on a CPU without them. */
void dnn_hide_bf16(bool hidden);

/* Own kernels or oneDNN's? Own on CPUs with AVX2 but without AVX-512, where they are faster. For
 * tests: 1 own, 0 oneDNN's, -1 by CPU. */
void kernel_prefer_own(int choice);
bool kernel_prefers_own(void);

/* Whether a convolution is Winograd's, and that is faster than bfloat16: a quarter of the products in float is, unless
 * the CPU multiplies tiles of bfloat16 (AMX). */
bool winograd_wins(const struct kernel_request *q);
/* For tests: Winograd's algorithm wherever it is allowed and possible, also where it is slower. */
void winograd_force(bool always);

#endif
