#include "onnx_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

struct run {
  const struct onnx_model *m;
  const struct onnx_node *n; /* that runs now */
  struct slice name[MOST];
  struct onnx_array value[MOST];
  size_t values;
};

/* ---- Arrays ---- */

static size_t count(r4_shape s)
{
  return (size_t)r4_shape_count(s);
}

static struct onnx_array new_array(r4_shape s)
{
  return (struct onnx_array){s, calloc(count(s) + 1, sizeof(double))};
}

/* The place of each axis in the element with number k. */
static void unravel(r4_shape s, size_t k, int64_t *at)
{
  for (int i = s.rank; i--; k /= (size_t)s.dim[i]) at[i] = (int64_t)(k % (size_t)s.dim[i]);
}

static size_t ravel(r4_shape s, const int64_t *at)
{
  size_t k = 0;
  for (int i = 0; i < s.rank; i++) k = k * (size_t)s.dim[i] + (size_t)at[i];
  return k;
}

/* ---- Inputs and attributes ---- */

static const struct onnx_array *in(const struct run *r, size_t k)
{
  if (k >= r->n->inputs || !r->n->input[k].n) return NULL;
  for (size_t i = r->values; i--;)
    if (slice_equal(r->name[i], r->n->input[k])) return &r->value[i];
  fail_msg("%.*s takes something that is not there", (int)r->n->name.n, r->n->name.s);
  return NULL;
}

static int64_t whole(const struct run *r, const char *name, int64_t otherwise)
{
  const struct onnx_attribute *a = onnx_attribute(r->n, name);
  return a ? a->whole : otherwise;
}

static double real(const struct run *r, const char *name, double otherwise)
{
  const struct onnx_attribute *a = onnx_attribute(r->n, name);
  return a ? (double)a->real : otherwise;
}

static int64_t listed(const struct run *r, const char *name, size_t k, int64_t otherwise)
{
  const struct onnx_attribute *a = onnx_attribute(r->n, name);
  return a && k < a->n ? a->list[k] : otherwise;
}

/* ---- Elements ---- */

static double of_broadcast(const struct onnx_array *x, r4_shape to, const int64_t *at)
{
  int64_t here[R4_MAX_RANK] = {0};
  int skip = to.rank - x->shape.rank;
  for (int i = 0; i < x->shape.rank; i++) here[i] = x->shape.dim[i] == 1 ? 0 : at[i + skip];
  return x->v[ravel(x->shape, here)];
}

static struct onnx_array binary(const struct run *r, double (*f)(double a, double b))
{
  const struct onnx_array *a = in(r, 0), *b = in(r, 1);
  r4_shape to = {.rank = a->shape.rank > b->shape.rank ? a->shape.rank : b->shape.rank};
  for (int i = 1; i <= to.rank; i++) {
    int64_t p = i <= a->shape.rank ? a->shape.dim[a->shape.rank - i] : 1,
            q = i <= b->shape.rank ? b->shape.dim[b->shape.rank - i] : 1;
    assert_true(p == q || p == 1 || q == 1);
    to.dim[to.rank - i] = p > q ? p : q;
  }
  struct onnx_array y = new_array(to);
  for (size_t k = 0; k < count(to); k++) {
    int64_t at[R4_MAX_RANK];
    unravel(to, k, at);
    y.v[k] = f(of_broadcast(a, to, at), of_broadcast(b, to, at));
  }
  return y;
}

static double plus(double a, double b)
{
  return a + b;
}

static double minus(double a, double b)
{
  return a - b;
}

static double times(double a, double b)
{
  return a * b;
}

static double by(double a, double b)
{
  return a / b;
}

static struct onnx_array unary(const struct run *r, double (*f)(double x))
{
  const struct onnx_array *x = in(r, 0);
  struct onnx_array y = new_array(x->shape);
  for (size_t k = 0; k < count(x->shape); k++) y.v[k] = f(x->v[k]);
  return y;
}

static double positive(double x)
{
  return x > 0 ? x : 0;
}

static double itself(double x)
{
  return x;
}

#define BINARY(NAME, F)                                \
  static struct onnx_array NAME(const struct run *r) { \
    return binary(r, F);                               \
  }
static double logistic(double v)
{
  return 1 / (1 + exp(-v));
}

#define UNARY(NAME, F)                                 \
  static struct onnx_array NAME(const struct run *r) { \
    return unary(r, F);                                \
  }
BINARY(run_add, plus)
BINARY(run_sub, minus)
BINARY(run_mul, times)
BINARY(run_div, by)
BINARY(run_max, fmax)
UNARY(run_relu, positive)
UNARY(run_tanh, tanh)
UNARY(run_erf, erf)
UNARY(run_sigmoid, logistic)
UNARY(run_identity, itself)
UNARY(run_cast, itself)

static struct onnx_array run_clip(const struct run *r)
{
  struct onnx_array y = unary(r, itself);
  for (size_t k = 0; k < count(y.shape); k++) y.v[k] = fmin(fmax(y.v[k], in(r, 1)->v[0]), in(r, 2)->v[0]);
  return y;
}

/* ---- Shapes ---- */

static struct onnx_array reshaped(const struct onnx_array *x, r4_shape to)
{
  struct onnx_array y = new_array(to);
  assert_int_equal(count(to), count(x->shape));
  memcpy(y.v, x->v, count(to) * sizeof *y.v);
  return y;
}

static struct onnx_array run_reshape(const struct run *r)
{
  const struct onnx_array *x = in(r, 0), *s = in(r, 1);
  r4_shape to = {.rank = (int)count(s->shape)};
  for (int i = 0; i < to.rank; i++)
    to.dim[i] = s->v[i] > 0 ? (int64_t)s->v[i] : x->shape.dim[i]; /* 0: as it was */
  return reshaped(x, to);
}

static struct onnx_array run_flatten(const struct run *r)
{
  const struct onnx_array *x = in(r, 0);
  assert_int_equal(whole(r, "axis", 1), 1);
  return reshaped(x, R4_SHAPE(x->shape.dim[0], r4_shape_count(x->shape) / x->shape.dim[0]));
}

static bool is_axis(const struct onnx_array *axes, int i)
{
  for (size_t k = 0; k < count(axes->shape); k++)
    if ((int)axes->v[k] == i) return true;
  return false;
}

static struct onnx_array run_squeeze(const struct run *r)
{
  const struct onnx_array *x = in(r, 0);
  r4_shape to = {0};
  for (int i = 0; i < x->shape.rank; i++)
    if (!is_axis(in(r, 1), i)) to.dim[to.rank++] = x->shape.dim[i];
  return reshaped(x, to);
}

static struct onnx_array run_unsqueeze(const struct run *r)
{
  const struct onnx_array *x = in(r, 0);
  r4_shape to = {.rank = x->shape.rank + (int)count(in(r, 1)->shape)};
  for (int i = 0, from = 0; i < to.rank; i++) to.dim[i] = is_axis(in(r, 1), i) ? 1 : x->shape.dim[from++];
  return reshaped(x, to);
}

static struct onnx_array run_transpose(const struct run *r)
{
  const struct onnx_array *x = in(r, 0);
  r4_shape to = {.rank = x->shape.rank};
  for (int i = 0; i < to.rank; i++) to.dim[i] = x->shape.dim[listed(r, "perm", (size_t)i, 0)];
  struct onnx_array y = new_array(to);
  for (size_t k = 0; k < count(to); k++) {
    int64_t at[R4_MAX_RANK], from[R4_MAX_RANK];
    unravel(to, k, at);
    for (int i = 0; i < to.rank; i++) from[listed(r, "perm", (size_t)i, 0)] = at[i];
    y.v[k] = x->v[ravel(x->shape, from)];
  }
  return y;
}

static struct onnx_array run_slice(const struct run *r)
{
  const struct onnx_array *x = in(r, 0), *start = in(r, 1), *end = in(r, 2), *axes = in(r, 3),
                          *steps = in(r, 4);
  int64_t first[R4_MAX_RANK] = {0}, step[R4_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  r4_shape to = x->shape;
  for (size_t k = 0; k < count(axes->shape); k++) {
    int axis = (int)axes->v[k];
    first[axis] = (int64_t)start->v[k];
    step[axis] = steps ? (int64_t)steps->v[k] : 1;
    to.dim[axis] = ((int64_t)end->v[k] - first[axis] + step[axis] - 1) / step[axis];
  }
  struct onnx_array y = new_array(to);
  for (size_t k = 0; k < count(to); k++) {
    int64_t at[R4_MAX_RANK];
    unravel(to, k, at);
    for (int i = 0; i < to.rank; i++) at[i] = first[i] + at[i] * step[i];
    y.v[k] = x->v[ravel(x->shape, at)];
  }
  return y;
}

static struct onnx_array run_pad(const struct run *r)
{
  const struct onnx_array *x = in(r, 0), *pads = in(r, 1);
  r4_shape to = x->shape;
  for (int i = 0; i < to.rank; i++) to.dim[i] += (int64_t)(pads->v[i] + pads->v[i + to.rank]);
  struct onnx_array y = new_array(to);
  for (size_t k = 0; k < count(x->shape); k++) {
    int64_t at[R4_MAX_RANK];
    unravel(x->shape, k, at);
    for (int i = 0; i < to.rank; i++) at[i] += (int64_t)pads->v[i];
    y.v[ravel(to, at)] = x->v[k];
  }
  return y;
}

/* Rows of a matrix. */
static struct onnx_array run_gather(const struct run *r)
{
  const struct onnx_array *table = in(r, 0), *ids = in(r, 1);
  int64_t width = table->shape.dim[1];
  r4_shape to = ids->shape;
  to.dim[to.rank++] = width;
  struct onnx_array y = new_array(to);
  for (size_t k = 0; k < count(to); k++)
    y.v[k] = table->v[(int64_t)ids->v[k / (size_t)width] * width + (int64_t)k % width];
  return y;
}

/* ---- Products ---- */

/* Of the last two axes; leading ones are equal, or b has none. */
static struct onnx_array run_matmul(const struct run *r)
{
  const struct onnx_array *a = in(r, 0), *b = in(r, 1);
  int64_t rows = a->shape.dim[a->shape.rank - 2], inner = a->shape.dim[a->shape.rank - 1],
          columns = b->shape.dim[b->shape.rank - 1];
  r4_shape to = a->shape;
  to.dim[to.rank - 1] = columns;
  struct onnx_array y = new_array(to);
  for (int64_t k = 0; k < (int64_t)count(to); k++) {
    int64_t one = k / (rows * columns), i = k / columns % rows, j = k % columns;
    for (int64_t l = 0; l < inner; l++)
      y.v[k] += a->v[(one * rows + i) * inner + l] *
                b->v[(b->shape.rank > 2 ? one * inner : 0) * columns + l * columns + j];
  }
  return y;
}

static struct onnx_array run_gemm(const struct run *r)
{
  const struct onnx_array *a = in(r, 0), *b = in(r, 1), *c = in(r, 2);
  bool turned = whole(r, "transB", 0);
  int64_t inner = a->shape.dim[1], columns = b->shape.dim[turned ? 0 : 1];
  struct onnx_array y = new_array(R4_SHAPE(a->shape.dim[0], columns));
  for (int64_t k = 0; k < (int64_t)count(y.shape); k++) {
    if (c) y.v[k] = real(r, "beta", 1) * c->v[k % columns];
    for (int64_t l = 0; l < inner; l++)
      y.v[k] += real(r, "alpha", 1) * a->v[k / columns * inner + l] *
                b->v[turned ? k % columns * inner + l : l * columns + k % columns];
  }
  return y;
}

/* ---- Windows: [batch, channels, height, width] ---- */

struct window {
  int64_t kernel[2], stride[2], before[2], dilation[2];
};

/* sides: the kernel where the node does not say it, as that of a convolution, whose weights do. */
static r4_shape window_of(const struct run *r, r4_shape in, int64_t channels, const int64_t *sides, struct window *w)
{
  r4_shape to = R4_SHAPE(in.dim[0], channels, 0, 0);
  for (size_t i = 0; i < 2; i++) {
    w->kernel[i] = listed(r, "kernel_shape", i, sides ? sides[i] : 0);
    w->stride[i] = listed(r, "strides", i, 1);
    w->dilation[i] = listed(r, "dilations", i, 1);
    w->before[i] = listed(r, "pads", i, 0);
    int64_t room = in.dim[2 + i] + w->before[i] + listed(r, "pads", i + 2, 0);
    to.dim[2 + i] = (room - (w->kernel[i] - 1) * w->dilation[i] - 1) / w->stride[i] + 1;
  }
  return to;
}

/* The pixel at place (i, j) of the window of at, of one channel; false: it is padding. */
static bool pixel(const struct window *w, const struct onnx_array *x, const int64_t *at, int64_t channel,
                  int64_t i, int64_t j, double *v)
{
  int64_t y = at[2] * w->stride[0] - w->before[0] + i * w->dilation[0],
          z = at[3] * w->stride[1] - w->before[1] + j * w->dilation[1];
  bool inside = y >= 0 && z >= 0 && y < x->shape.dim[2] && z < x->shape.dim[3];
  if (inside) *v = x->v[ravel(x->shape, (int64_t[]){at[0], channel, y, z})];
  return inside;
}

static struct onnx_array run_conv(const struct run *r)
{
  const struct onnx_array *x = in(r, 0), *f = in(r, 1), *bias = in(r, 2);
  struct window w;
  int64_t outputs = f->shape.dim[0], each = f->shape.dim[1], groups = whole(r, "group", 1);
  struct onnx_array y = new_array(window_of(r, x->shape, outputs, f->shape.dim + 2, &w));
  for (size_t k = 0; k < count(y.shape); k++) {
    int64_t at[R4_MAX_RANK], first = 0;
    double v;
    unravel(y.shape, k, at);
    first = at[1] / (outputs / groups) * each;
    if (bias) y.v[k] = bias->v[at[1]];
    for (int64_t c = 0; c < each; c++)
      for (int64_t i = 0; i < w.kernel[0]; i++)
        for (int64_t j = 0; j < w.kernel[1]; j++)
          if (pixel(&w, x, at, first + c, i, j, &v))
            y.v[k] += v * f->v[ravel(f->shape, (int64_t[]){at[1], c, i, j})];
  }
  return y;
}

static struct onnx_array pool(const struct run *r, bool mean)
{
  const struct onnx_array *x = in(r, 0);
  struct window w;
  struct onnx_array y = new_array(window_of(r, x->shape, x->shape.dim[1], NULL, &w));
  for (size_t k = 0; k < count(y.shape); k++) {
    int64_t at[R4_MAX_RANK], n = 0;
    double v, sum = 0, most = -INFINITY;
    unravel(y.shape, k, at);
    for (int64_t i = 0; i < w.kernel[0]; i++)
      for (int64_t j = 0; j < w.kernel[1]; j++)
        if (pixel(&w, x, at, at[1], i, j, &v)) n++, sum += v, most = fmax(most, v);
    if (whole(r, "count_include_pad", 0)) n = w.kernel[0] * w.kernel[1];
    y.v[k] = mean ? sum / (double)n : most;
  }
  return y;
}

static struct onnx_array run_maxpool(const struct run *r)
{
  return pool(r, false);
}

static struct onnx_array run_avgpool(const struct run *r)
{
  return pool(r, true);
}

static struct onnx_array run_globalpool(const struct run *r)
{
  const struct onnx_array *x = in(r, 0);
  int64_t pixels = x->shape.dim[2] * x->shape.dim[3];
  struct onnx_array y = new_array(R4_SHAPE(x->shape.dim[0], x->shape.dim[1], 1, 1));
  for (size_t k = 0; k < count(x->shape); k++) y.v[k / (size_t)pixels] += x->v[k] / (double)pixels;
  return y;
}

/* ---- Norms, sums, softmax ---- */

static double epsilon(const struct run *r)
{
  const struct onnx_attribute *a = onnx_attribute(r->n, "epsilon");
  return a ? (double)a->real : 1e-5;
}

/* Channels are the second axis. */
static struct onnx_array run_batchnorm(const struct run *r)
{
  struct onnx_array y = unary(r, itself);
  for (size_t k = 0; k < count(y.shape); k++) {
    int64_t at[R4_MAX_RANK];
    unravel(y.shape, k, at);
    int64_t c = at[1];
    y.v[k] = (y.v[k] - in(r, 3)->v[c]) / sqrt(in(r, 4)->v[c] + epsilon(r)) * in(r, 1)->v[c] + in(r, 2)->v[c];
  }
  return y;
}

static struct onnx_array run_layernorm(const struct run *r)
{
  struct onnx_array y = unary(r, itself);
  size_t n = (size_t)y.shape.dim[y.shape.rank - 1];
  assert_int_equal(whole(r, "axis", -1), -1);
  for (double *row = y.v; row < y.v + count(y.shape); row += n) {
    double mean = 0, variance = 0;
    for (size_t k = 0; k < n; k++) mean += row[k] / (double)n;
    for (size_t k = 0; k < n; k++) variance += (row[k] - mean) * (row[k] - mean) / (double)n;
    for (size_t k = 0; k < n; k++)
      row[k] = (row[k] - mean) / sqrt(variance + epsilon(r)) * in(r, 1)->v[k] + in(r, 2)->v[k];
  }
  return y;
}

static struct onnx_array run_softmax(const struct run *r)
{
  struct onnx_array y = unary(r, exp);
  size_t n = (size_t)y.shape.dim[y.shape.rank - 1];
  assert_int_equal(whole(r, "axis", -1), -1);
  for (double *row = y.v; row < y.v + count(y.shape); row += n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += row[k];
    for (size_t k = 0; k < n; k++) row[k] /= sum;
  }
  return y;
}

static struct onnx_array run_reducesum(const struct run *r)
{
  const struct onnx_array *x = in(r, 0);
  r4_shape kept = x->shape, to = {0};
  for (int i = 0; i < kept.rank; i++) {
    if (is_axis(in(r, 1), i)) kept.dim[i] = 1;
    if (!is_axis(in(r, 1), i) || whole(r, "keepdims", 1)) to.dim[to.rank++] = kept.dim[i];
  }
  struct onnx_array y = new_array(to);
  for (size_t k = 0; k < count(x->shape); k++) {
    int64_t at[R4_MAX_RANK];
    unravel(x->shape, k, at);
    for (int i = 0; i < kept.rank; i++) at[i] = kept.dim[i] == 1 ? 0 : at[i];
    y.v[ravel(kept, at)] += x->v[k];
  }
  return y;
}

/* ---- Graphs ---- */

static const struct {
  const char *op;
  struct onnx_array (*run)(const struct run *r);
} operators[] = {
  {"Add", run_add},
  {"AveragePool", run_avgpool},
  {"BatchNormalization", run_batchnorm},
  {"Cast", run_cast},
  {"Clip", run_clip},
  {"Conv", run_conv},
  {"Div", run_div},
  {"Erf", run_erf},
  {"Flatten", run_flatten},
  {"Gather", run_gather},
  {"Gemm", run_gemm},
  {"GlobalAveragePool", run_globalpool},
  {"Identity", run_identity},
  {"LayerNormalization", run_layernorm},
  {"MatMul", run_matmul},
  {"Max", run_max},
  {"MaxPool", run_maxpool},
  {"Mul", run_mul},
  {"Pad", run_pad},
  {"ReduceSum", run_reducesum},
  {"Relu", run_relu},
  {"Reshape", run_reshape},
  {"Sigmoid", run_sigmoid},
  {"Slice", run_slice},
  {"Softmax", run_softmax},
  {"Squeeze", run_squeeze},
  {"Sub", run_sub},
  {"Tanh", run_tanh},
  {"Transpose", run_transpose},
  {"Unsqueeze", run_unsqueeze},
};

static void keep(struct run *r, struct slice name, struct onnx_array a)
{
  assert_true(r->values < MOST);
  r->name[r->values] = name;
  r->value[r->values++] = a;
}

static struct onnx_array step(const struct run *r)
{
  for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
    if (slice_is(r->n->op, operators[k].op)) return operators[k].run(r);
  fail_msg("no operator %.*s", (int)r->n->op.n, r->n->op.s);
  return (struct onnx_array){0};
}

struct onnx_array onnx_run(const struct onnx_model *m, const struct onnx_array *given)
{
  struct run *r = calloc(1, sizeof *r);
  r->m = m;
  for (size_t k = 0; k < m->inputs; k++) {
    struct onnx_array copy = reshaped(&given[k], given[k].shape);
    keep(r, m->input[k].name, copy);
  }
  for (size_t k = 0; k < m->tensors; k++) {
    size_t n;
    struct onnx_array a = new_array(m->tensor[k].shape);
    assert_true(onnx_count(&m->tensor[k], &n));
    for (size_t i = 0; i < n; i++) a.v[i] = onnx_number(&m->tensor[k], i);
    keep(r, m->tensor[k].name, a);
  }
  for (size_t k = 0; k < m->nodes; k++) {
    r->n = &m->node[k];
    keep(r, m->node[k].output[0], step(r));
  }
  assert_true(slice_equal(r->name[r->values - 1], m->output[0].name));
  struct onnx_array result = r->value[--r->values];
  while (r->values--) free(r->value[r->values].v);
  free(r);
  return result;
}
