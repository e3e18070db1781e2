/* What an operation offers: all of its rules in one struct. The instances are in src/op/. */
#ifndef R4_GRAPH_OP_H
#define R4_GRAPH_OP_H

#include "graph/graph.h"

enum op_kind {
  OP_LEAF,    /* input, const, iota                                              */
  OP_ELEMENT, /* every element of the result from the same element of each argument */
  OP_SHAPE,   /* moves elements: reshape, broadcast, transpose, slice, ...        */
  OP_REDUCE,  /* sum, reduce_max                                                 */
  OP_DENSE,   /* everything with a kernel of its own                             */
};

/* A shape rule reads op, n, in, attr and want, and sets out; or calls infer_fail. */
struct infer {
  const struct op *op;
  size_t n;
  r4_shape in[MAX_ARITY];
  const struct attr *attr;
  const r4_shape *want; /* NULL if not given */
  r4_shape out;
  r4_graph *g;
};
bool infer_fail(struct infer *s, const char *format, ...) R4_PRINTF(2, 3);

/* A set of values, in one or both of two forms: lo <= x <= hi, and |x - centre| <= radius.
 * Missing parts are R4_NONE. A single point has lo = hi = centre = x and no radius. */
struct interval {
  r4_id lo, hi, centre, radius;
};

struct functional; /* a call of a linear rule: op/functional.h */

/* A call of a reference kernel: plain loops in double. */
struct call {
  size_t n;
  const double *in[MAX_ARITY];
  r4_shape in_shape[MAX_ARITY];
  const struct attr *attr;
  double *out;
  r4_shape shape;
  r4_error *error;
};

/* A call of a sound rule (op/sound.h): a set of values for each element of the arguments, lo <= x <= hi, and the same
 * for the result. lo and hi are one array for single values, which are exact. Infinite ends: nothing is known. */
struct enclosing {
  size_t n;
  const double *lo[MAX_ARITY], *hi[MAX_ARITY];
  r4_shape in_shape[MAX_ARITY];
  const struct op *op;
  const struct attr *attr;
  double *out_lo, *out_hi; /* never one array */
  r4_shape shape;
  bool any_float; /* of every float evaluation, not of real arithmetic */
  r4_error *error;
};

/* What float arithmetic adds to a sound rule of real arithmetic. */
enum float_error {
  FLOAT_UNKNOWN, /* no bound that holds for every evaluation: refused          */
  FLOAT_EXACT,   /* nothing: floats are moved or compared                      */
  FLOAT_ROUNDED, /* one rounding of each element                               */
  FLOAT_OWN,     /* the rule knows, by any_float                               */
};

/* One name for attr.i[first .. first + count), for the text form; count -1: as many as the rank; FIELD_MOSTLY_1: one
 * number, kept less 1 and written only if it is not 1. */
enum { FIELD_MOSTLY_1 = 0 };
struct attr_field {
  const char *name;
  int first, count;
};

/* A test case: shapes and attributes, and either the values and the expected result, or nothing,
 * then values are drawn from [low, high] (from [-2, 2] if both are zero). */
enum { SAMPLE_ARGS = 3, SAMPLE_VALUES = 16 };
struct sample {
  r4_shape in[SAMPLE_ARGS];
  struct attr attr;
  r4_shape shape; /* "want" */
  double low, high;
  int64_t whole[SAMPLE_ARGS]; /* n > 0: this argument holds whole numbers below n */
  const double *x[SAMPLE_ARGS], *y;
};

typedef void element_f32(size_t n, const float *a, const float *b, const float *c, float *y);
typedef void element_f64(size_t n, const double *a, const double *b, const double *c, double *y);

struct op {
  const char *name;
  int arity; /* -1: one or more */
  enum op_kind kind;
  uint64_t index_args;        /* bit k: argument k is an index: no derivative, no box */
  int cost;                   /* of an element, in units of an addition; 0 means 1 */
  bool needs_shape;           /* the shape is an attribute, not determined by the arguments */
  bool has_value;             /* attr.f is an attribute */
  bool nonneg;                /* the result is never negative */
  uint64_t keeps_sign;        /* nor is it if none of these arguments is, bit k: argument k; 0: may be */
  bool takes_bias, takes_sum; /* a float kernel adds a bias (and rectifies); adds onto what is there */
  const struct op *through;   /* f with op(f(x)) = op(x): where f(x) is computed anyway, x need not be kept */
  const struct attr_field *fields; /* ends with name NULL; NULL: none */

  bool (*shape)(struct infer *s);
  /* dx[k] = the derivative of (y . dy) by argument k; entries left R4_NONE are zero. */
  void (*vjp)(r4_graph *g, r4_id y, r4_id dy, r4_id *dx);
  const char *no_vjp; /* else why not */
  struct interval (*bound)(r4_graph *g, r4_id y, struct interval *x);
  const char *no_bound;
  bool (*linear)(struct functional *f); /* affine bounds by the arguments; NULL: its interval is taken */
  /* An equal, simpler node, or R4_NONE. Arguments of y are simplified already. */
  r4_id (*simplify)(r4_graph *g, r4_id y);
  double (*flops)(const r4_shape *in, r4_shape out, const struct attr *attr);

  element_f32 *f32; /* of OP_ELEMENT */
  element_f64 *f64;
  r4_status (*kernel)(const struct call *c); /* of all others */
  r4_status (*enclose)(const struct enclosing *c); /* sound numbers; NULL: it has no sound rule */
  enum float_error float_error;
  double (*terms)(const r4_shape *in, r4_shape out, const struct attr *attr); /* added up in an element, at most */

  const struct sample *samples;
  size_t sample_count;
};

#define EVERY_ARG UINT64_MAX
_Static_assert(MAX_ARITY <= 64, "index_args and keeps_sign have a bit for each argument");
static inline bool op_is_index(const struct op *op, size_t k)
{
  return op->index_args >> k & 1;
}

/* From src/op/table.c. */
const struct op *op_by_name(const char *name);
const struct op *op_by_index(size_t k);
size_t op_count(void);

#endif
