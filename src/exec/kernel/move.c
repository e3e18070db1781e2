/* Float kernels that move elements: transpose, slice, pad, concat. All are strided copies. */
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"

/* to[sum i_k to_stride_k] = from[sum i_k from_stride_k] for all i below dim */
struct copy {
  int rank;
  int64_t dim[R4_MAX_RANK], from[R4_MAX_RANK], to[R4_MAX_RANK];
  int64_t from_offset, to_offset;
  size_t operand;
};

struct move {
  struct kernel base;
  size_t n, zero; /* copies; elements of the result to clear first */
  struct copy copy[];
};

static void move_destroy(struct kernel *k)
{
  r4_mem_free(k);
}

/* The innermost axes; the loop over it is plain, contiguous or not. */
static void copy_rows(const struct copy *c, const float *from, float *to)
{
  int64_t rows = c->dim[R4_MAX_RANK - 2], n = c->dim[R4_MAX_RANK - 1];
  int64_t fr = c->from[R4_MAX_RANK - 2], tr = c->to[R4_MAX_RANK - 2];
  int64_t fs = c->from[R4_MAX_RANK - 1], ts = c->to[R4_MAX_RANK - 1];
  for (int64_t r = 0; r < rows; r++, from += fr, to += tr) {
    if (fs == 1 && ts == 1)
      memcpy(to, from, (size_t)n * sizeof *to);
    else
      for (int64_t k = 0; k < n; k++) to[k * ts] = from[k * fs];
  }
}

static void run_copy(const struct copy *c, const float *from, float *to)
{
  int64_t outer = 1;
  for (int k = 0; k < R4_MAX_RANK - 2; k++) outer *= c->dim[k];
#pragma omp parallel for schedule(static) if (outer > 1 && outer * c->dim[4] * c->dim[5] > 16384)
  for (int64_t o = 0; o < outer; o++) {
    int64_t rest = o, f = c->from_offset, t = c->to_offset;
    for (int k = R4_MAX_RANK - 3; k >= 0; k--) {
      f += rest % c->dim[k] * c->from[k];
      t += rest % c->dim[k] * c->to[k];
      rest /= c->dim[k];
    }
    copy_rows(c, from + f, to + t);
  }
}

static r4_status move_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct move *m = (struct move *)k;
  (void)e;
  if (m->zero) memset(out, 0, m->zero * sizeof(float));
  for (size_t j = 0; j < m->n; j++) run_copy(&m->copy[j], in[m->copy[j].operand], out);
  return R4_OK;
}

/* Fills axis k of a copy whose shape has rank r: axes are aligned at the last of R4_MAX_RANK. */
static void set_axis(struct copy *c, int r, int k, int64_t dim, int64_t from, int64_t to)
{
  int at = R4_MAX_RANK - r + k;
  c->dim[at] = dim;
  c->from[at] = from;
  c->to[at] = to;
}

/* Each describes axis k of the copy of operand j; in and out are the strides of that operand and of the result. */
typedef void describe_axis(const struct kernel_request *q, size_t j, int k, const int64_t *in,
                           const int64_t *out, struct copy *c);
enum { STEP = R4_MAX_RANK };

static void transpose_axis(const struct kernel_request *q, size_t j, int k, const int64_t *in,
                           const int64_t *out, struct copy *c)
{
  (void)j;
  set_axis(c, q->out.rank, k, q->out.dim[k], in[q->attr.i[k]], out[k]);
}

static void slice_axis(const struct kernel_request *q, size_t j, int k, const int64_t *in, const int64_t *out,
                       struct copy *c)
{
  (void)j;
  set_axis(c, q->out.rank, k, q->out.dim[k], in[k] * q->attr.i[STEP + k], out[k]);
  c->from_offset += in[k] * q->attr.i[k];
}

static void pad_axis(const struct kernel_request *q, size_t j, int k, const int64_t *in, const int64_t *out,
                     struct copy *c)
{
  (void)j;
  set_axis(c, q->out.rank, k, q->in[0].dim[k], in[k], out[k] * q->attr.i[STEP + k]);
  c->to_offset += out[k] * q->attr.i[k];
}

/* Operand j begins where the ones before it end. */
static void concat_axis(const struct kernel_request *q, size_t j, int k, const int64_t *in,
                        const int64_t *out, struct copy *c)
{
  set_axis(c, q->out.rank, k, q->in[j].dim[k], in[k], out[k]);
  for (size_t before = 0; before < j && k == q->attr.i[0]; before++)
    c->to_offset += q->in[before].dim[k] * out[k];
}

static const struct {
  const struct op *op;
  describe_axis *axis;
  bool leaves_holes; /* the result is cleared first */
} moves[] = {{&op_transpose, transpose_axis, false},
             {&op_slice, slice_axis, false},
             {&op_pad, pad_axis, true},
             {&op_concat, concat_axis, false}};

static void describe(const struct kernel_request *q, size_t j, describe_axis *axis, struct copy *c)
{
  int64_t in[R4_MAX_RANK], out[R4_MAX_RANK];
  op_strides(q->in[j], in);
  op_strides(q->out, out);
  *c = (struct copy){.dim = {1, 1, 1, 1, 1, 1}, .operand = j};
  for (int k = 0; k < q->out.rank; k++) axis(q, j, k, in, out, c);
}

r4_status move_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  size_t kind = 0, kinds = sizeof moves / sizeof *moves;
  while (kind < kinds && moves[kind].op != q->op) kind++;
  if (kind == kinds) return R4_OK;
  struct move *m = mem_new(1, sizeof *m + q->n * sizeof *m->copy, q->op->name, e);
  if (!m) return R4_E_MEMORY;
  m->base = (struct kernel){.name = "move", .run = move_run, .destroy = move_destroy};
  m->n = q->n;
  m->zero = moves[kind].leaves_holes ? (size_t)r4_shape_count(q->out) : 0;
  for (size_t j = 0; j < q->n; j++) describe(q, j, moves[kind].axis, &m->copy[j]);
  *k = &m->base;
  return R4_OK;
}
