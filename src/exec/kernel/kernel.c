#include "exec/kernel/kernel.h"

#include "base/mem.h"
#include "op/op_rules.h"

/* First fit. */
static const struct {
  const struct op *op;
  const char *name; /* for "r4 ops" */
  kernel_maker *make;
} makers[] = {
  {&op_matmul, "sparse", sparse_matmul},
  {&op_matmul, "thin", thin_matmul},
  {&op_matmul, "gemm", gradient_matmul},
  {&op_matmul, "oneDNN", dnn_matmul},
  {&op_conv2d, "winograd", winograd_conv},
  {&op_conv2d, "direct", direct_conv},
  {&op_conv2d, "depthwise", depthwise_conv},
  {&op_conv2d, "oneDNN", dnn_conv},
  {&op_conv2d_dx, "winograd", winograd_conv_dx},
  {&op_conv2d_dx, "few channels", narrow_conv_dx},
  {&op_conv2d_dx, "direct", direct_conv_dx},
  {&op_conv2d_dx, "depthwise", depthwise_conv_dx},
  {&op_conv2d_dx, "oneDNN", dnn_conv_dx},
  {&op_conv2d_dw, "winograd", winograd_conv_dw},
  {&op_conv2d_dw, "direct", direct_conv_dw},
  {&op_conv2d_dw, "depthwise", depthwise_conv_dw},
  {&op_conv2d_dw, "oneDNN", dnn_conv_dw},
  {&op_pool_sum, "oneDNN", dnn_pool},
  {&op_pool_max, "pool", pool_kernel},
  {&op_softmax, "rows", rows_kernel},
  {&op_logsumexp, "rows", rows_kernel},
  {&op_sum, "middle", middle_kernel},
  {&op_transpose, "move", move_kernel},
  {&op_slice, "move", move_kernel},
  {&op_pad, "move", move_kernel},
  {&op_concat, "move", move_kernel},
  {&op_gather, "index", index_kernel},
  {&op_scatter_add, "index", index_kernel},
  {&op_unpool_sum, "pool", pool_kernel},
  {&op_unpool_max, "pool", pool_kernel},
  {&op_pick_max, "pool", pool_kernel},
  {&op_unpool_may, "pool", pool_may_kernel},
  {&op_pick_may, "pool", pool_may_kernel},
  {&op_crop, "crop", crop_kernel},
  {&op_place, "crop", crop_kernel},
};

static bool takes_bf16(kernel_maker *m)
{
  return m == dnn_matmul || m == dnn_conv || m == dnn_conv_dx || m == dnn_conv_dw;
}

const char *kernel_maker_name(const struct op *op, size_t k)
{
  for (size_t j = 0; j < sizeof makers / sizeof *makers; j++)
    if (makers[j].op == op && !k--) return makers[j].name;
  return NULL;
}

/* ---- Whose kernels ---- */

static int preferred = -1;

void kernel_prefer_own(int choice)
{
  preferred = choice;
}

bool kernel_prefers_own(void)
{
  if (preferred >= 0) return preferred;
#if defined(__AVX2__) && defined(__FMA__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         !__builtin_cpu_supports("avx512f");
#else
  return false; /* compiled for lesser machines */
#endif
}

/* ---- The operation's own loops, in double; float operands are converted ---- */

struct plain {
  struct kernel base;
  struct kernel_request q;
  double *converted[MAX_ARITY + 1]; /* float only: operands, then the result */
};

static void plain_destroy(struct kernel *k)
{
  struct plain *p = (struct plain *)k;
  for (size_t j = 0; j <= p->q.n; j++) r4_mem_free(p->converted[j]);
  r4_mem_free(p);
}

static r4_status plain_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct plain *p = (struct plain *)k;
  bool convert = p->q.type == R4_F32;
  struct call c = {.n = p->q.n, .attr = &p->q.attr, .shape = p->q.out, .error = e};
  for (size_t j = 0; j < c.n; j++) {
    int64_t count = r4_shape_count(p->q.in[j]);
    c.in_shape[j] = p->q.in[j];
    c.in[j] = convert ? p->converted[j] : in[j];
    const float *from = in[j];
    for (int64_t i = 0; convert && i < count; i++) p->converted[j][i] = (double)from[i];
  }
  c.out = convert ? p->converted[c.n] : out;
  r4_status s = p->q.op->kernel(&c);
  int64_t count = r4_shape_count(c.shape);
  float *to = out;
  for (int64_t i = 0; convert && !s && i < count; i++) to[i] = (float)c.out[i];
  return s;
}

static r4_status plain_new(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct plain *p = mem_new(1, sizeof *p, q->op->name, e);
  bool ok = p != NULL;
  if (p) {
    p->base = (struct kernel){.name = "plain", .run = plain_run, .destroy = plain_destroy};
    p->q = *q;
  }
  for (size_t j = 0; ok && q->type == R4_F32 && j <= q->n; j++) {
    int64_t count = r4_shape_count(j < q->n ? q->in[j] : q->out);
    p->converted[j] = mem_new((size_t)count, sizeof(double), q->op->name, e);
    ok = p->converted[j] != NULL;
  }
  if (ok) {
    *k = &p->base;
    return R4_OK;
  }
  if (p) plain_destroy(&p->base);
  return R4_E_MEMORY;
}

r4_status kernel_new(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  *k = NULL;
  for (size_t j = 0; j < sizeof makers / sizeof *makers && q->type == R4_F32; j++) {
    if (makers[j].op != q->op || (q->bf16 && !takes_bf16(makers[j].make))) continue;
    r4_status s = makers[j].make(q, k, e);
    if (s || *k) return s;
  }
  if (q->bias || q->relu || q->accumulate || q->bf16)
    return r4_fail(e, R4_E_INTERNAL, "plan: no kernel for %s with a following operation", q->op->name);
  return plain_new(q, k, e);
}

void kernel_free(struct kernel *k)
{
  if (k) k->destroy(k);
}
