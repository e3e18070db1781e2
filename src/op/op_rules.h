/* What the files of operations share: the table, and rules that many operations have in common. */
#ifndef R4_OP_OP_RULES_H
#define R4_OP_OP_RULES_H

#include "graph/op.h"

#define OP(name) extern const struct op op_##name;
#include "op/ops.def"
#undef OP

/* ---- Kernels of element-wise operations: one expression in a, b, c for float and double ---- */

/* clang-format off */

#define ELEMENT_LOOP(REAL, LOAD, EXPR) \
  _Pragma("omp simd") for (size_t k = 0; k < n; k++)  \
  {                                                   \
    LOAD(REAL)                                        \
    y[k] = (REAL)(EXPR);                              \
  }
#define LOAD_A(REAL) const REAL a = pa[k];
#define LOAD_AB(REAL) LOAD_A(REAL) const REAL b = pb[k];
#define LOAD_ABC(REAL) LOAD_AB(REAL) const REAL c = pc[k];
#define ELEMENT_KERNELS(NAME, LOAD, EXPR)                                                               \
  static void NAME##_f32(size_t n, const float *pa, const float *pb, const float *pc, float *y)         \
  {                                                                                                     \
    (void)pb, (void)pc;                                                                                 \
    ELEMENT_LOOP(float, LOAD, EXPR)                                                                     \
  }                                                                                                     \
  static void NAME##_f64(size_t n, const double *pa, const double *pb, const double *pc, double *y)     \
  {                                                                                                     \
    (void)pb, (void)pc;                                                                                 \
    ELEMENT_LOOP(double, LOAD, EXPR)                                                                    \
  }
#define ELEMENT1(NAME, EXPR) ELEMENT_KERNELS(NAME, LOAD_A, EXPR)
#define ELEMENT2(NAME, EXPR) ELEMENT_KERNELS(NAME, LOAD_AB, EXPR)
#define ELEMENT3(NAME, EXPR) ELEMENT_KERNELS(NAME, LOAD_ABC, EXPR)

#define ELEMENT_OP(NAME, ARITY)                                                                   \
  .name = #NAME, .arity = ARITY, .kind = OP_ELEMENT, .shape = op_same_shape, .f32 = NAME##_f32, \
  .f64 = NAME##_f64

/* ---- Samples ---- */

#define VALUES(...) ((const double[]){__VA_ARGS__})
#define SAMPLES(...)                                  \
  .samples = (const struct sample[]){__VA_ARGS__},    \
  .sample_count = sizeof((const struct sample[]){__VA_ARGS__}) / sizeof(struct sample)

/* clang-format on */

/* ---- Shape rules ---- */

bool op_same_shape(struct infer *s); /* all arguments and the result have one shape */
bool op_want_shape(struct infer *s); /* the shape is the attribute */

/* ---- Derivative rules ---- */

void op_flat(r4_graph *g, r4_id y, r4_id dy, r4_id *dx); /* zero almost everywhere */

/* ---- Interval rules ---- */

struct interval op_monotone(r4_graph *g, r4_id y, struct interval *x); /* increasing in each argument */
/* Linear with coefficients >= 0 in the perturbed arguments (sum, reshape, slice, ...): both forms pass. */
struct interval op_linear(r4_graph *g, r4_id y, struct interval *x);
struct interval op_bilinear(r4_graph *g, r4_id y, struct interval *x);

/* ---- Sound rules: see op/sound.h ---- */

/* Fields of an operation: its sound rule, and what floats add to it (graph/op.h). */
#define SOUND(RULE, ERROR) .enclose = enclose_##RULE, .float_error = FLOAT_##ERROR

typedef r4_status sound_rule(const struct enclosing *c);
sound_rule enclose_increasing;  /* exact, and increasing in each argument: the operation at both ends */
sound_rule enclose_sum;         /* adds up elements of the first argument, at most terms of them      */
sound_rule enclose_add, enclose_sub, enclose_mul, enclose_div, enclose_neg;
sound_rule enclose_less, enclose_equal, enclose_select, enclose_abs, enclose_sign, enclose_step;
sound_rule enclose_square, enclose_sqrt, enclose_rsqrt;
sound_rule enclose_exp, enclose_log, enclose_log1p, enclose_tanh, enclose_sigmoid, enclose_erf, enclose_gelu;
sound_rule enclose_softmax, enclose_logsumexp;
sound_rule enclose_const, enclose_check;
sound_rule enclose_matmul, enclose_conv2d, enclose_conv2d_dx, enclose_unpool_max;

/* ---- Intervals ---- */

bool iv_point(struct interval x);
struct interval iv_of(r4_id x); /* the single point x */
struct interval iv_ends(r4_id lo, r4_id hi);
struct interval iv_ball(r4_id centre, r4_id radius);
r4_id iv_lo(r4_graph *g, struct interval x);
r4_id iv_hi(r4_graph *g, struct interval x);
r4_id iv_centre(r4_graph *g, struct interval x);
r4_id iv_radius(r4_graph *g, struct interval x); /* not for points */
struct interval iv_mul(r4_graph *g, struct interval a, struct interval b);

/* ---- Facts and small builders ---- */

bool op_nonneg(const r4_graph *g, r4_id x);               /* known to be >= 0 everywhere */
bool op_value(const r4_graph *g, r4_id x, double *value); /* a constant, then its value  */
bool op_is_value(const r4_graph *g, r4_id x, double value);
r4_id op_like(r4_graph *g, r4_id x, double value);                      /* a constant of the shape of x */
r4_id op_unreduce(r4_graph *g, r4_id y, r4_shape shape, unsigned axes); /* repeats y along reduced axes */
/* If all arguments are constants: the element-wise operation on them, as a constant. */
r4_id op_fold(r4_graph *g, r4_id y);

/* Row-major strides. */
void op_strides(r4_shape s, int64_t *stride);

#endif
