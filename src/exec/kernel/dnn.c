/* oneDNN: products, convolutions, pooling. The only file that sees its header; written for version 3.
 *
 * A kernel is the operation, and for convolutions reorders between our layouts (weights are [out, height, width, in])
 * and those that oneDNN likes. */
#include "exec/kernel/dnn_v2.h"

#include <stdio.h>

#include "base/mem.h"
#include "exec/kernel/bf16.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"
#include "op/window.h"

enum { MAX_STEP_ARGS = 4, MAX_STEPS = 4, MAX_LAYOUTS = 8, FROM_OUT = -1, FROM_SCRATCH = -2 };

struct place {
  int from;  /* operand number, FROM_OUT or FROM_SCRATCH */
  size_t at; /* bytes into the scratch */
};

struct step {
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t arg[MAX_STEP_ARGS];
  struct place place[MAX_STEP_ARGS];
  int n;
};

struct dnn {
  struct kernel base;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  struct step step[MAX_STEPS];
  int n_steps;
  int64_t relu;  /* elements of the result to rectify, or 0 */
  bool bf16_out; /* they are of 2 bytes */
  /* While it is made: */
  dnnl_memory_desc_t layout[MAX_LAYOUTS];
  int n_layouts;
  dnnl_primitive_attr_t attr;
  dnnl_primitive_desc_t forward, pd; /* forward: which a gradient asks for */
};

static void forget_parts(struct dnn *d)
{
  while (d->n_layouts) dnnl_memory_desc_destroy(d->layout[--d->n_layouts]);
  if (d->attr) dnnl_primitive_attr_destroy(d->attr);
  if (d->forward) dnnl_primitive_desc_destroy(d->forward);
  if (d->pd) dnnl_primitive_desc_destroy(d->pd);
  d->attr = NULL;
  d->forward = d->pd = NULL;
}

static void dnn_destroy(struct kernel *k)
{
  struct dnn *d = (struct dnn *)k;
  forget_parts(d);
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

static void *data_of(const struct kernel *k, struct place p, void *const *in, void *out)
{
  if (p.from == FROM_SCRATCH) return (unsigned char *)k->scratch + p.at;
  return p.from == FROM_OUT ? out : in[p.from];
}

static r4_status dnn_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct dnn *d = (struct dnn *)k;
  dnnl_status_t s = dnnl_success;
  for (int j = 0; j < d->n_steps && !s; j++) {
    struct step *step = &d->step[j];
    for (int a = 0; a < step->n; a++)
      dnnl_memory_set_data_handle(step->arg[a].memory, data_of(k, step->place[a], in, out));
    s = dnnl_primitive_execute(step->primitive, d->stream, step->n, step->arg);
  }
  if (!s) s = dnnl_stream_wait(d->stream);
  if (!s && d->relu && d->bf16_out) bf16_rectify(out, d->relu);
  if (!s && d->relu && !d->bf16_out) rectify(out, d->relu);
  return s ? dnn_fail(e, s) : R4_OK;
}

static struct dnn *dnn_new(const char *name, r4_error *e)
{
  struct dnn *d = mem_new(1, sizeof *d, name, e);
  if (!d) return NULL;
  d->base = (struct kernel){.name = name, .run = dnn_run, .destroy = dnn_destroy};
  if (!dnnl_engine_create(&d->engine, dnnl_cpu, 0) &&
      !dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags))
    return d;
  dnn_destroy(&d->base);
  return NULL;
}

static struct dnn *dnn_for(const struct kernel_request *q, const char *name, r4_error *e)
{
  struct dnn *d = dnn_new(name, e);
  if (d && q->relu) d->relu = r4_shape_count(q->out);
  if (d) d->bf16_out = q->bf16_out;
  return d;
}

/* ---- Steps ---- */

static dnnl_status_t add_arg(struct dnn *d, struct step *s, int arg, const_dnnl_memory_desc_t md,
                             struct place place)
{
  dnnl_status_t status = dnnl_memory_create(&s->arg[s->n].memory, md, d->engine, DNNL_MEMORY_NONE);
  if (status) return status;
  s->arg[s->n].arg = arg;
  s->place[s->n++] = place;
  return dnnl_success;
}

static struct place operand(int k)
{
  return (struct place){.from = k};
}

static struct step *add_step(struct dnn *d, const_dnnl_primitive_desc_t pd, dnnl_status_t *status)
{
  struct step *s = &d->step[d->n_steps++];
  *status = dnnl_primitive_create(&s->primitive, pd);
  return s;
}

/* Afterwards the result is multiplied by a factor, or added to what is there (sum). */
static dnnl_status_t make_attr(float factor, bool sum, dnnl_primitive_attr_t *attr)
{
  dnnl_post_ops_t ops = NULL;
  dnnl_status_t s = dnnl_primitive_attr_create(attr);
  if (!s) s = dnnl_post_ops_create(&ops);
  if (!s && factor != 1) s = dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_linear, factor, 0);
  if (!s && sum) s = dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
  if (!s) s = dnnl_primitive_attr_set_post_ops(*attr, ops);
  if (ops) dnnl_post_ops_destroy(ops);
  return s;
}

/* A reorder between memory of the caller and the scratch. */
static dnnl_status_t add_reorder(struct dnn *d, const_dnnl_memory_desc_t from_md, struct place from,
                                 const_dnnl_memory_desc_t to_md, struct place to)
{
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s = dnnl_reorder_primitive_desc_create(&pd, from_md, d->engine, to_md, d->engine, NULL);
  struct step *step = s ? NULL : add_step(d, pd, &s);
  if (!s) s = add_arg(d, step, DNNL_ARG_FROM, from_md, from);
  if (!s) s = add_arg(d, step, DNNL_ARG_TO, to_md, to);
  if (pd) dnnl_primitive_desc_destroy(pd);
  return s;
}

/* Room in the scratch, which the kernels of a plan share. */
static struct place reserve(struct dnn *d, const_dnnl_memory_desc_t md)
{
  enum { LINE = 64 };
  struct place p = {FROM_SCRATCH, d->base.scratch_bytes};
  d->base.scratch_bytes += (dnnl_memory_desc_get_size(md) + LINE - 1) / LINE * LINE;
  return p;
}

/* Hands the kernel over, or frees it. An operation that oneDNN does not know is "not this one". */
static r4_status finish(struct dnn *d, dnnl_status_t s, struct kernel **k, r4_error *e)
{
  if (!s) {
    forget_parts(d);
    *k = &d->base;
    return R4_OK;
  }
  dnn_destroy(&d->base);
  return s == dnnl_unimplemented ? R4_OK : dnn_fail(e, s);
}

/* ---- Layouts ---- */

static dnnl_status_t keep(struct dnn *d, dnnl_status_t s, const dnnl_memory_desc_t *md)
{
  if (!s) d->layout[d->n_layouts++] = *md;
  return s;
}

static dnnl_data_type_t type_of(bool bf16)
{
  return bf16 ? dnnl_bf16 : dnnl_f32;
}

static dnnl_status_t tagged(struct dnn *d, dnnl_memory_desc_t *md, int rank, const int64_t *dims,
                            dnnl_data_type_t type, dnnl_format_tag_t tag)
{
  return keep(d, dnnl_memory_desc_create_with_tag(md, rank, dims, type, tag), md);
}

/* One operand [batch, rows, columns]; stored transposed if asked. Rank 2, without a batch, is the well-trodden path. */
static dnnl_status_t matrix(struct dnn *d, dnnl_memory_desc_t *md, dnnl_data_type_t type, int rank,
                            int64_t batch, int64_t rows, int64_t columns, bool transposed)
{
  dnnl_dims_t dims = {batch, rows, columns};
  dnnl_dims_t strides = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
  int skip = 3 - rank;
  return keep(d, dnnl_memory_desc_create_with_strides(md, rank, dims + skip, type, strides + skip), md);
}

/* Logical order is n, c, h, w and o, i, h, w; memory is n, h, w, c and o, h, w, i. */
static dnnl_status_t image(struct dnn *d, dnnl_memory_desc_t *md, r4_shape s, dnnl_data_type_t type)
{
  dnnl_dims_t dims = {s.dim[0], s.dim[3], s.dim[1], s.dim[2]};
  return tagged(d, md, 4, dims, type, dnnl_nhwc);
}

/* Weights of several groups are g, o, i, h, w in logical order and g, o, h, w, i in memory. */
static dnnl_status_t weights(struct dnn *d, dnnl_memory_desc_t *md, r4_shape w, int64_t groups,
                             dnnl_data_type_t type, bool any)
{
  dnnl_dims_t dims = {groups, w.dim[0] / groups, w.dim[3], w.dim[1], w.dim[2]};
  bool one = groups == 1;
  return tagged(d, md, 5 - one, dims + one, type, any ? dnnl_format_tag_any : one ? dnnl_acdb : dnnl_abdec);
}

/* ---- Products ---- */

static dnnl_status_t build_matmul(struct dnn *d, const struct kernel_request *q)
{
  int r = q->out.rank;
  int64_t m = q->out.dim[r - 2], n = q->out.dim[r - 1], batch = r4_shape_count(q->out) / (m * n);
  int64_t inner = q->in[0].dim[q->attr.i[0] ? r - 2 : r - 1];
  int rank = batch == 1 ? 2 : 3;
  dnnl_memory_desc_t a, b, bias = NULL, c;
  dnnl_data_type_t in = type_of(q->bf16);
  dnnl_status_t s = matrix(d, &a, in, rank, batch, m, inner, q->attr.i[0]);
  if (!s) s = matrix(d, &b, in, rank, batch, inner, n, q->attr.i[1]);
  if (!s) s = matrix(d, &c, type_of(q->bf16_out), rank, batch, m, n, false);
  if (!s && q->bias) s = matrix(d, &bias, dnnl_f32, rank, 1, 1, n, false);
  if (!s) s = make_attr(1, q->accumulate, &d->attr);
  if (!s) s = dnnl_matmul_primitive_desc_create(&d->pd, d->engine, a, b, bias, c, d->attr);
  struct step *step = s ? NULL : add_step(d, d->pd, &s);
  if (!s) s = add_arg(d, step, DNNL_ARG_SRC, a, operand(0));
  if (!s) s = add_arg(d, step, DNNL_ARG_WEIGHTS, b, operand(1));
  if (!s && q->bias) s = add_arg(d, step, DNNL_ARG_BIAS, bias, operand(2));
  if (!s) s = add_arg(d, step, DNNL_ARG_DST, c, operand(FROM_OUT));
  return s;
}

r4_status dnn_matmul(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_for(q, q->bf16 ? "oneDNN matmul bf16" : "oneDNN matmul", e);
  return d ? finish(d, build_matmul(d, q), k, e) : R4_E_MEMORY;
}

bool dnn_gemm(const struct gemm *g, const float *a, const float *b, float *c)
{
  return !dnnl_sgemm('T', 'N', g->rows, g->columns, g->terms, 1, a, g->rows, b, g->columns, g->add, c,
                     g->columns);
}

/* ---- Convolutions ---- */

struct conv {
  dnnl_memory_desc_t x, w, bias, y; /* our layouts; no bias is NULL */
  dnnl_memory_desc_t w_wanted;      /* oneDNN's to choose */
  dnnl_dims_t stride, dilation, pad_before, pad_after;
};

static struct conv conv_of(const struct attr *attr)
{
  struct conv c = {.x = NULL};
  for (int k = 0; k < 2; k++) {
    c.stride[k] = attr->i[W_STRIDE + k];
    c.dilation[k] = attr->i[W_DILATION + k] - 1;
    c.pad_before[k] = attr->i[W_PAD + 2 * k];
    c.pad_after[k] = attr->i[W_PAD + 2 * k + 1];
  }
  return c;
}

/* An image, the weights or the result: its shape and type. */
struct side {
  r4_shape shape;
  dnnl_data_type_t type;
};

static struct side side_of(const struct kernel_request *q, int operand)
{
  bool out = operand == FROM_OUT;
  return (struct side){out ? q->out : q->in[operand], type_of(out ? q->bf16_out : q->bf16)};
}

/* Images stay as they are: it takes little longer than with oneDNN's own layout. */
static dnnl_status_t describe(struct dnn *d, struct conv *c, const struct kernel_request *q, struct side x,
                              struct side w, struct side y)
{
  dnnl_dims_t channels = {y.shape.dim[3]};
  dnnl_status_t s = image(d, &c->x, x.shape, x.type);
  if (!s) s = weights(d, &c->w, w.shape, window_groups(&q->attr), w.type, false);
  if (!s) s = weights(d, &c->w_wanted, w.shape, window_groups(&q->attr), w.type, true);
  if (!s) s = image(d, &c->y, y.shape, y.type);
  if (!s && q->bias) s = tagged(d, &c->bias, 1, channels, dnnl_f32, dnnl_a);
  if (!s) s = make_attr(1, q->accumulate, &d->attr);
  return s;
}

/* An operand, or the result: which argument it is, where its layout is asked for, ours, and where it comes from. */
struct role {
  int arg;
  dnnl_query_t layout;
  const_dnnl_memory_desc_t ours;
  int from;
};

enum { RESULT = 2, ROLES };

/* The primitive, and the bias if there is one; what it wants in another layout goes through the scratch. */
static dnnl_status_t add_conv(struct dnn *d, const struct role *role, const_dnnl_memory_desc_t bias)
{
  const_dnnl_memory_desc_t theirs[ROLES];
  struct place place[ROLES];
  dnnl_status_t s = dnnl_success;
  for (int k = 0; k < ROLES; k++) {
    theirs[k] = dnnl_primitive_desc_query_md(d->pd, role[k].layout, 0);
    bool same = dnnl_memory_desc_equal(theirs[k], role[k].ours);
    place[k] = same ? operand(role[k].from) : reserve(d, theirs[k]);
    if (!s && !same && k != RESULT)
      s = add_reorder(d, role[k].ours, operand(role[k].from), theirs[k], place[k]);
  }
  struct step *step = s ? NULL : add_step(d, d->pd, &s);
  for (int k = 0; k < ROLES && !s; k++) s = add_arg(d, step, role[k].arg, theirs[k], place[k]);
  if (!s && bias) s = add_arg(d, step, DNNL_ARG_BIAS, bias, operand(2));
  if (s || place[RESULT].from == FROM_OUT) return s;
  return add_reorder(d, theirs[RESULT], place[RESULT], role[RESULT].ours, operand(FROM_OUT));
}

static dnnl_status_t make_forward(struct dnn *d, const struct conv *c, dnnl_primitive_desc_t *pd)
{
  return dnnl_convolution_forward_primitive_desc_create(
    pd, d->engine, dnnl_forward_training, dnnl_convolution_direct, c->x, c->w_wanted, c->bias, c->y,
    c->stride, c->dilation, c->pad_before, c->pad_after, d->attr);
}

/* The forward convolution that a gradient asks for: all three are of the type of its operands. */
static dnnl_status_t make_hint(struct dnn *d, const struct conv *of, const struct kernel_request *q,
                               r4_shape x, r4_shape w, r4_shape y)
{
  struct conv c = *of;
  dnnl_status_t s = dnnl_success;
  if (q->bf16) s = image(d, &c.x, x, dnnl_bf16);
  if (q->bf16 && !s) s = weights(d, &c.w_wanted, w, window_groups(&q->attr), dnnl_bf16, true);
  if (q->bf16 && !s) s = image(d, &c.y, y, dnnl_bf16);
  return s ? s : make_forward(d, &c, &d->forward);
}

static dnnl_status_t make_dx(struct dnn *d, const struct conv *c)
{
  return dnnl_convolution_backward_data_primitive_desc_create(
    &d->pd, d->engine, dnnl_convolution_direct, c->x, c->w_wanted, c->y, c->stride, c->dilation,
    c->pad_before, c->pad_after, d->forward, d->attr);
}

static dnnl_status_t make_dw(struct dnn *d, const struct conv *c)
{
  return dnnl_convolution_backward_weights_primitive_desc_create(
    &d->pd, d->engine, dnnl_convolution_direct, c->x, c->w_wanted, NULL, c->y, c->stride, c->dilation,
    c->pad_before, c->pad_after, d->forward, d->attr);
}

typedef dnnl_status_t conv_builder(struct dnn *d, const struct kernel_request *q);

static dnnl_status_t build_conv(struct dnn *d, const struct kernel_request *q)
{
  struct conv c = conv_of(&q->attr);
  dnnl_status_t s = describe(d, &c, q, side_of(q, 0), side_of(q, 1), side_of(q, FROM_OUT));
  if (!s) s = make_forward(d, &c, &d->pd);
  const struct role role[ROLES] = {{DNNL_ARG_SRC, dnnl_query_src_md, c.x, 0},
                                   {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, c.w, 1},
                                   {DNNL_ARG_DST, dnnl_query_dst_md, c.y, FROM_OUT}};
  return s ? s : add_conv(d, role, c.bias);
}

static dnnl_status_t build_conv_dx(struct dnn *d, const struct kernel_request *q)
{
  struct conv c = conv_of(&q->attr);
  dnnl_status_t s = describe(d, &c, q, side_of(q, FROM_OUT), side_of(q, 1), side_of(q, 0));
  if (!s) s = make_hint(d, &c, q, q->out, q->in[1], q->in[0]);
  if (!s) s = make_dx(d, &c);
  const struct role role[ROLES] = {{DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, c.y, 0},
                                   {DNNL_ARG_WEIGHTS, dnnl_query_weights_md, c.w, 1},
                                   {DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, c.x, FROM_OUT}};
  return s ? s : add_conv(d, role, NULL);
}

static dnnl_status_t build_conv_dw(struct dnn *d, const struct kernel_request *q)
{
  struct conv c = conv_of(&q->attr);
  dnnl_status_t s = describe(d, &c, q, side_of(q, 0), side_of(q, FROM_OUT), side_of(q, 1));
  if (!s) s = make_hint(d, &c, q, q->in[0], q->out, q->in[1]);
  if (!s) s = make_dw(d, &c);
  const struct role role[ROLES] = {{DNNL_ARG_SRC, dnnl_query_src_md, c.x, 0},
                                   {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, c.y, 1},
                                   {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, c.w, FROM_OUT}};
  return s ? s : add_conv(d, role, NULL);
}

static r4_status direct(const struct kernel_request *q, const char *name, conv_builder *build,
                        struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_for(q, name, e);
  return d ? finish(d, build(d, q), k, e) : R4_E_MEMORY;
}

r4_status dnn_conv(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return direct(q, q->bf16 ? "oneDNN conv bf16" : "oneDNN conv", build_conv, k, e);
}

r4_status dnn_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return direct(q, q->bf16 ? "oneDNN conv dx bf16" : "oneDNN conv dx", build_conv_dx, k, e);
}

/* For a strided 1 x 1 kernel on few channels oneDNN 2.6 (jit_1x1) writes behind its scratch memory. */
static bool dw_overruns(const struct kernel_request *q)
{
  bool strided = q->attr.i[W_STRIDE] > 1 || q->attr.i[W_STRIDE + 1] > 1;
  return strided && q->out.dim[1] == 1 && q->out.dim[2] == 1 && q->out.dim[3] % 8;
}

r4_status dnn_conv_dw(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return dw_overruns(q) ? R4_OK
                        : direct(q, q->bf16 ? "oneDNN conv dw bf16" : "oneDNN conv dw", build_conv_dw, k, e);
}

/* ---- Sum pooling: the mean with padding counted, times the size of the window ---- */

static dnnl_status_t build_pool(struct dnn *d, const struct kernel_request *q)
{
  struct conv c = conv_of(&q->attr);
  dnnl_dims_t window = {q->attr.i[W_SIZE], q->attr.i[W_SIZE + 1]};
  dnnl_status_t s = image(d, &c.x, q->in[0], dnnl_f32);
  if (!s) s = image(d, &c.y, q->out, dnnl_f32);
  if (!s) s = make_attr((float)(window[0] * window[1]), false, &d->attr);
  if (!s)
    s = dnnl_pooling_forward_primitive_desc_create(&d->pd, d->engine, dnnl_forward_inference,
                                                   dnnl_pooling_avg_include_padding, c.x, c.y, c.stride,
                                                   window, c.dilation, c.pad_before, c.pad_after, d->attr);
  struct step *step = s ? NULL : add_step(d, d->pd, &s);
  if (!s) s = add_arg(d, step, DNNL_ARG_SRC, c.x, operand(0));
  if (!s) s = add_arg(d, step, DNNL_ARG_DST, c.y, operand(FROM_OUT));
  return s;
}

r4_status dnn_pool(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct dnn *d = dnn_new("oneDNN pool", e);
  return d ? finish(d, build_pool(d, q), k, e) : R4_E_MEMORY;
}

/* ---- Which one it is ---- */

static bool has(dnnl_cpu_isa_t isa)
{
  return (dnnl_get_effective_cpu_isa() & isa) == isa;
}

static bool hidden;

void dnn_hide_bf16(bool hide)
{
  hidden = hide;
}

bool dnn_has_bf16(void)
{
  return !hidden && has(dnnl_cpu_isa_avx512_core_bf16);
}

const char *r4_bf16_missing(void)
{
  return dnn_has_bf16() ? NULL : "this CPU has no avx512_bf16 and no AMX, or ONEDNN_MAX_CPU_ISA hides them";
}

bool dnn_has_amx(void)
{
  return has(dnnl_cpu_isa_avx512_core_amx);
}

void r4_onednn_version(char to[R4_VERSION_SIZE])
{
  const dnnl_version_t *v = dnnl_version();
  snprintf(to, R4_VERSION_SIZE, "%d.%d.%d", v->major, v->minor, v->patch);
}
