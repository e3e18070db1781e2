/* oneDNN: products, convolutions, pooling. The only file that includes its header (version 2 API).
 *
 * A kernel is one or two primitives: the operation, and for convolutions a reorder of the weights
 * between our layout [out, height, width, in] and the one oneDNN likes. */
#include <dnnl.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel.h"
#include "op/op.h"
#include "op/window.h"

enum { MAX_STEP_ARGS = 4, MAX_STEPS = 2, FROM_OUT = -1, FROM_SCRATCH = -2 };

struct step {
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t arg[MAX_STEP_ARGS];
  int from[MAX_STEP_ARGS]; /* operand number, FROM_OUT or FROM_SCRATCH: reordered weights */
  int n;
};

struct dnn {
  struct kernel base;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  struct step step[MAX_STEPS];
  int n_steps;
  int64_t relu; /* elements of the result to rectify, or 0 */
};

static void dnn_destroy(struct kernel *k)
{
  struct dnn *d = (struct dnn *)k;
  for (int s = 0; s < d->n_steps; s++) {
    for (int a = 0; a < d->step[s].n; a++) dnnl_memory_destroy(d->step[s].arg[a].memory);
    if (d->step[s].primitive) dnnl_primitive_destroy(d->step[s].primitive);
  }
  if (d->stream) dnnl_stream_destroy(d->stream);
  if (d->engine) dnnl_engine_destroy(d->engine);
  r4_mem_free(d);
}

static r4_status dnn_fail(r4_error *e, dnnl_status_t s)
{
  return r4_fail(e, s == dnnl_out_of_memory ? R4_E_MEMORY : R4_E_INTERNAL, "oneDNN: status %d", (int)s);
}

/* Not by oneDNN, whose relu turns what is not a number into 0 and hides a run that has gone wrong. */
static void rectify(float *x, int64_t n)
{
#pragma omp parallel for simd schedule(static) if (n > 16384)
  for (int64_t k = 0; k < n; k++) x[k] = x[k] < 0 ? 0 : x[k];
}

static void *data_of(const struct kernel *k, int from, void *const *in, void *out)
{
  if (from == FROM_SCRATCH) return k->scratch;
  return from == FROM_OUT ? out : in[from];
}

static r4_status dnn_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct dnn *d = (struct dnn *)k;
  dnnl_status_t s = dnnl_success;
  for (int j = 0; j < d->n_steps && !s; j++) {
    struct step *step = &d->step[j];
    for (int a = 0; a < step->n; a++) {
      void *data = data_of(k, step->from[a], in, out);
      dnnl_memory_set_data_handle_v2(step->arg[a].memory, data, d->stream);
    }
    s = dnnl_primitive_execute(step->primitive, d->stream, step->n, step->arg);
  }
  if (!s) s = dnnl_stream_wait(d->stream);
  if (!s && d->relu) rectify(out, d->relu);
  return s ? dnn_fail(e, s) : R4_OK;
}

static struct dnn *dnn_new(const char *name)
{
  struct dnn *d = r4_mem_new(1, sizeof *d);
  if (!d) return NULL;
  d->base = (struct kernel){.name = name, .run = dnn_run, .destroy = dnn_destroy};
  if (!dnnl_engine_create(&d->engine, dnnl_cpu, 0) &&
      !dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags))
    return d;
  dnn_destroy(&d->base);
  return NULL;
}

/* ---- Steps ---- */

static dnnl_status_t add_arg(struct dnn *d, struct step *s, int arg, const dnnl_memory_desc_t *md, int from)
{
  dnnl_status_t status = dnnl_memory_create(&s->arg[s->n].memory, md, d->engine, DNNL_MEMORY_NONE);
  if (status) return status;
  s->arg[s->n].arg = arg;
  s->from[s->n++] = from;
  return dnnl_success;
}

static struct step *add_step(struct dnn *d, const_dnnl_primitive_desc_t pd, dnnl_status_t *status)
{
  struct step *s = &d->step[d->n_steps++];
  *status = dnnl_primitive_create(&s->primitive, pd);
  return s;
}

/* A reorder between memory of the caller and the scratch. */
static dnnl_status_t add_reorder(struct dnn *d, const dnnl_memory_desc_t *from_md, int from,
                                 const dnnl_memory_desc_t *to_md, int to)
{
  dnnl_primitive_desc_t pd;
  dnnl_status_t s = dnnl_reorder_primitive_desc_create(&pd, from_md, d->engine, to_md, d->engine, NULL);
  if (s) return s;
  struct step *step = add_step(d, pd, &s);
  dnnl_primitive_desc_destroy(pd);
  if (!s) s = add_arg(d, step, DNNL_ARG_FROM, from_md, from);
  return s ? s : add_arg(d, step, DNNL_ARG_TO, to_md, to);
}

/* the sum onto what is there; the bias is an operand */
static dnnl_status_t make_attr(const struct kernel_request *q, dnnl_primitive_attr_t *attr)
{
  dnnl_post_ops_t ops = NULL;
  dnnl_status_t s = dnnl_primitive_attr_create(attr);
  if (!s) s = dnnl_post_ops_create(&ops);
  if (!s && q->accumulate) s = dnnl_post_ops_append_sum(ops, 1);
  if (!s) s = dnnl_primitive_attr_set_post_ops(*attr, ops);
  if (ops) dnnl_post_ops_destroy(ops);
  return s;
}

/* Hands the kernel over, or frees it. An operation that oneDNN does not know is "not this one". */
static r4_status finish(struct dnn *d, dnnl_status_t s, struct kernel **k, r4_error *e)
{
  if (!s) {
    *k = &d->base;
    return R4_OK;
  }
  dnn_destroy(&d->base);
  return s == dnnl_unimplemented ? R4_OK : dnn_fail(e, s);
}

static r4_status out_of_memory(r4_error *e)
{
  return r4_fail(e, R4_E_MEMORY, "plan: out of memory for oneDNN");
}

/* ---- Products ---- */

/* One operand [batch, rows, columns]; stored transposed if asked. */
static dnnl_status_t matrix(dnnl_memory_desc_t *md, int64_t batch, int64_t rows, int64_t columns,
                            bool transposed)
{
  dnnl_dims_t dims = {batch, rows, columns};
  dnnl_dims_t strides = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
  int skip = batch == 1; /* rank 2 is the well-trodden path */
  return dnnl_memory_desc_init_by_strides(md, 3 - skip, dims + skip, dnnl_f32, strides + skip);
}

static dnnl_status_t build_matmul(struct dnn *d, const struct kernel_request *q)
{
  int r = q->out.rank;
  int64_t m = q->out.dim[r - 2], n = q->out.dim[r - 1], batch = r4_shape_count(q->out) / (m * n);
  int64_t inner = q->in[0].dim[q->attr.i[0] ? r - 2 : r - 1];
  dnnl_memory_desc_t a, b, bias, c;
  dnnl_matmul_desc_t desc;
  dnnl_primitive_attr_t attr = NULL;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s = matrix(&a, batch, m, inner, q->attr.i[0]);
  if (!s) s = matrix(&b, batch, inner, n, q->attr.i[1]);
  if (!s) s = matrix(&c, batch, m, n, false);
  dnnl_dims_t ones = {1, 1, n}, strides = {n, n, 1};
  int skip = batch == 1;
  if (!s) s = dnnl_memory_desc_init_by_strides(&bias, 3 - skip, ones + skip, dnnl_f32, strides + skip);
  if (!s) s = dnnl_matmul_desc_init(&desc, &a, &b, q->bias ? &bias : NULL, &c);
  if (!s) s = make_attr(q, &attr);
  if (!s) s = dnnl_primitive_desc_create(&pd, &desc, attr, d->engine, NULL);
  struct step *step = s ? NULL : add_step(d, pd, &s);
  if (!s) s = add_arg(d, step, DNNL_ARG_SRC, &a, 0);
  if (!s) s = add_arg(d, step, DNNL_ARG_WEIGHTS, &b, 1);
  if (!s && q->bias) s = add_arg(d, step, DNNL_ARG_BIAS, &bias, 2);
  if (!s) s = add_arg(d, step, DNNL_ARG_DST, &c, FROM_OUT);
  if (attr) dnnl_primitive_attr_destroy(attr);
  if (pd) dnnl_primitive_desc_destroy(pd);
  return s;
}

r4_status dnn_matmul(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_new("oneDNN matmul");
  if (d && q->relu) d->relu = r4_shape_count(q->out);
  return d ? finish(d, build_matmul(d, q), k, e) : out_of_memory(e);
}

/* ---- Convolutions ---- */

struct conv {
  dnnl_memory_desc_t x, w, w_any, bias, y; /* w: our layout; w_any: theirs to choose */
  dnnl_dims_t stride, dilation, pad_before, pad_after;
};

/* Logical order is n, c, h, w and o, i, h, w; memory is n, h, w, c and o, h, w, i. */
static dnnl_status_t image(dnnl_memory_desc_t *md, r4_shape s, dnnl_format_tag_t tag)
{
  dnnl_dims_t dims = {s.dim[0], s.dim[3], s.dim[1], s.dim[2]};
  return dnnl_memory_desc_init_by_tag(md, 4, dims, dnnl_f32, tag);
}

/* Weights of several groups are g, o, i, h, w in logical order and g, o, h, w, i in memory. */
static dnnl_status_t weights(struct conv *c, r4_shape w, int64_t groups)
{
  dnnl_dims_t dims = {groups, w.dim[0] / groups, w.dim[3], w.dim[1], w.dim[2]};
  bool one = groups == 1;
  dnnl_status_t s =
    dnnl_memory_desc_init_by_tag(&c->w, 5 - one, dims + one, dnnl_f32, one ? dnnl_acdb : dnnl_abdec);
  return s ? s : dnnl_memory_desc_init_by_tag(&c->w_any, 5 - one, dims + one, dnnl_f32, dnnl_format_tag_any);
}

static dnnl_status_t describe(struct conv *c, r4_shape x, r4_shape w, r4_shape y, const struct attr *attr)
{
  for (int k = 0; k < 2; k++) {
    c->stride[k] = attr->i[W_STRIDE + k];
    c->dilation[k] = attr->i[W_DILATION + k] - 1;
    c->pad_before[k] = attr->i[W_PAD + 2 * k];
    c->pad_after[k] = attr->i[W_PAD + 2 * k + 1];
  }
  dnnl_dims_t channels = {y.dim[3]};
  dnnl_status_t s = image(&c->x, x, dnnl_nhwc);
  if (!s) s = weights(c, w, window_groups(attr));
  if (!s) s = image(&c->y, y, dnnl_nhwc);
  if (!s) s = dnnl_memory_desc_init_by_tag(&c->bias, 1, channels, dnnl_f32, dnnl_a);
  return s;
}

static dnnl_status_t forward_pd(struct dnn *d, struct conv *c, const struct kernel_request *q,
                                dnnl_primitive_desc_t *pd)
{
  dnnl_convolution_desc_t desc;
  dnnl_primitive_attr_t attr = NULL;
  dnnl_status_t s = dnnl_dilated_convolution_forward_desc_init(
    &desc, dnnl_forward_training, dnnl_convolution_direct, &c->x, &c->w_any, q && q->bias ? &c->bias : NULL,
    &c->y, c->stride, c->dilation, c->pad_before, c->pad_after);
  if (!s && q) s = make_attr(q, &attr);
  if (!s) s = dnnl_primitive_desc_create(pd, &desc, attr, d->engine, NULL);
  if (attr) dnnl_primitive_attr_destroy(attr);
  return s;
}

/* weights to their layout, then the operation on operand "x_from" with them */
static dnnl_status_t weights_then(struct dnn *d, struct conv *c, dnnl_primitive_desc_t pd, int arg_in,
                                  const dnnl_memory_desc_t *in, int arg_out, const dnnl_memory_desc_t *out,
                                  bool bias)
{
  const dnnl_memory_desc_t *theirs = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
  dnnl_status_t s = dnnl_success;
  bool same = dnnl_memory_desc_equal(theirs, &c->w);
  if (!same) d->base.scratch_bytes = dnnl_memory_desc_get_size(theirs);
  if (!same) s = add_reorder(d, &c->w, 1, theirs, FROM_SCRATCH);
  struct step *step = s ? NULL : add_step(d, pd, &s);
  if (!s) s = add_arg(d, step, arg_in, in, 0);
  if (!s) s = add_arg(d, step, DNNL_ARG_WEIGHTS, theirs, same ? 1 : FROM_SCRATCH);
  if (!s && bias) s = add_arg(d, step, DNNL_ARG_BIAS, &c->bias, 2);
  return s ? s : add_arg(d, step, arg_out, out, FROM_OUT);
}

static dnnl_status_t build_conv(struct dnn *d, const struct kernel_request *q)
{
  struct conv c;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s = describe(&c, q->in[0], q->in[1], q->out, &q->attr);
  if (!s) s = forward_pd(d, &c, q, &pd);
  if (!s) s = weights_then(d, &c, pd, DNNL_ARG_SRC, &c.x, DNNL_ARG_DST, &c.y, q->bias);
  if (pd) dnnl_primitive_desc_destroy(pd);
  return s;
}

static dnnl_status_t build_conv_dx(struct dnn *d, const struct kernel_request *q)
{
  struct conv c;
  dnnl_convolution_desc_t desc;
  dnnl_primitive_desc_t hint = NULL, pd = NULL;
  dnnl_status_t s = describe(&c, q->out, q->in[1], q->in[0], &q->attr);
  if (!s) s = forward_pd(d, &c, NULL, &hint);
  if (!s)
    s = dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &c.x, &c.w_any, &c.y,
                                                         c.stride, c.dilation, c.pad_before, c.pad_after);
  if (!s) s = dnnl_primitive_desc_create(&pd, &desc, NULL, d->engine, hint);
  if (!s) s = weights_then(d, &c, pd, DNNL_ARG_DIFF_DST, &c.y, DNNL_ARG_DIFF_SRC, &c.x, false);
  if (hint) dnnl_primitive_desc_destroy(hint);
  if (pd) dnnl_primitive_desc_destroy(pd);
  return s;
}

static dnnl_status_t build_conv_dw(struct dnn *d, const struct kernel_request *q)
{
  struct conv c;
  dnnl_convolution_desc_t desc;
  dnnl_primitive_desc_t hint = NULL, pd = NULL;
  dnnl_status_t s = describe(&c, q->in[0], q->out, q->in[1], &q->attr);
  if (!s) s = forward_pd(d, &c, NULL, &hint);
  if (!s)
    s = dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &c.x, &c.w_any,
                                                            NULL, &c.y, c.stride, c.dilation, c.pad_before,
                                                            c.pad_after);
  if (!s) s = dnnl_primitive_desc_create(&pd, &desc, NULL, d->engine, hint);
  const dnnl_memory_desc_t *theirs =
    s ? NULL : dnnl_primitive_desc_query_md(pd, dnnl_query_diff_weights_md, 0);
  bool same = !s && dnnl_memory_desc_equal(theirs, &c.w);
  if (!s && !same) d->base.scratch_bytes = dnnl_memory_desc_get_size(theirs);
  struct step *step = s ? NULL : add_step(d, pd, &s);
  if (!s) s = add_arg(d, step, DNNL_ARG_SRC, &c.x, 0);
  if (!s) s = add_arg(d, step, DNNL_ARG_DIFF_DST, &c.y, 1);
  if (!s) s = add_arg(d, step, DNNL_ARG_DIFF_WEIGHTS, theirs, same ? FROM_OUT : FROM_SCRATCH);
  if (!s && !same) s = add_reorder(d, theirs, FROM_SCRATCH, &c.w, FROM_OUT);
  if (hint) dnnl_primitive_desc_destroy(hint);
  if (pd) dnnl_primitive_desc_destroy(pd);
  return s;
}

r4_status dnn_conv(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_new("oneDNN conv");
  if (d && q->relu) d->relu = r4_shape_count(q->out);
  return d ? finish(d, build_conv(d, q), k, e) : out_of_memory(e);
}

r4_status dnn_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_new("oneDNN conv dx");
  return d ? finish(d, build_conv_dx(d, q), k, e) : out_of_memory(e);
}

/* For a strided 1 x 1 kernel on few channels oneDNN 2.6 (jit_1x1) writes behind its scratch memory. */
static bool dw_overruns(const struct kernel_request *q)
{
  bool strided = q->attr.i[W_STRIDE] > 1 || q->attr.i[W_STRIDE + 1] > 1;
  return strided && q->out.dim[1] == 1 && q->out.dim[2] == 1 && q->out.dim[3] % 8;
}

r4_status dnn_conv_dw(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  if (dw_overruns(q)) return R4_OK;
  struct dnn *d = dnn_new("oneDNN conv dw");
  return d ? finish(d, build_conv_dw(d, q), k, e) : out_of_memory(e);
}

/* ---- Sum pooling: the mean with padding counted, times the size of the window ---- */

static dnnl_status_t build_pool(struct dnn *d, const struct kernel_request *q)
{
  struct conv c;
  dnnl_pooling_desc_t desc;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_primitive_attr_t attr = NULL;
  dnnl_post_ops_t ops = NULL;
  dnnl_dims_t kernel = {q->attr.i[W_SIZE], q->attr.i[W_SIZE + 1]};
  dnnl_status_t s = describe(&c, q->in[0], q->in[0], q->out, &q->attr);
  if (!s)
    s = dnnl_pooling_forward_desc_init(&desc, dnnl_forward_inference, dnnl_pooling_avg_include_padding, &c.x,
                                       &c.y, c.stride, kernel, c.pad_before, c.pad_after);
  if (!s) s = dnnl_primitive_attr_create(&attr);
  if (!s) s = dnnl_post_ops_create(&ops);
  if (!s) s = dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_linear, (float)(kernel[0] * kernel[1]), 0);
  if (!s) s = dnnl_primitive_attr_set_post_ops(attr, ops);
  if (!s) s = dnnl_primitive_desc_create(&pd, &desc, attr, d->engine, NULL);
  struct step *step = s ? NULL : add_step(d, pd, &s);
  if (!s) s = add_arg(d, step, DNNL_ARG_SRC, &c.x, 0);
  if (!s) s = add_arg(d, step, DNNL_ARG_DST, &c.y, FROM_OUT);
  if (ops) dnnl_post_ops_destroy(ops);
  if (attr) dnnl_primitive_attr_destroy(attr);
  if (pd) dnnl_primitive_desc_destroy(pd);
  return s;
}

r4_status dnn_pool(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_new("oneDNN pool");
  return d ? finish(d, build_pool(d, q), k, e) : out_of_memory(e);
}
