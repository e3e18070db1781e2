/* Operators that are dense, conv and pool parts. */
#include <math.h>
#include <string.h>

#include "module/onnx/onnx_import.h"

static const int64_t LARGEST = 1000000000; /* as in the language of nets */

/* ---- Dense ---- */

static r4_status dense(struct importer *im, const struct onnx_node *n, struct step *s, bool transposed)
{
  const struct onnx_tensor *w;
  size_t count;
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &w, &count);
  if (!status) status = import_need_features(im, s);
  if (status) return status;
  if (!w || w->shape.rank != 2 || !count) return import_fail(im, "its weights are not a matrix");
  int64_t units = w->shape.dim[transposed], features = w->shape.dim[!transposed];
  if (features != import_channels(s))
    return import_fail(im, "gets %lld features, its weights are for %lld", (long long)import_channels(s),
                       (long long)features);
  status = import_channels_first(im, im->step[s->from].row_of, transposed ? 0 : 1, &w);
  if (status) return status;
  import_source(s, "weight", R4_SHAPE(units, features), w, transposed);
  import_name(s, w->name);
  s->shape.dim[s->shape.rank - 1] = units;
  s->part = onnx_text(im->m, "dense %lld", (long long)units);
  return import_bias(im, n, 2, units, s);
}

/* y = alpha A' B' + beta C */
r4_status rule_gemm(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double alpha = import_real(n, "alpha", 1), beta = import_real(n, "beta", 1);
  if (import_whole(n, "transA", 0)) return import_fail(im, "has transA, expected a product of examples with weights");
  if (!(fabs(alpha) > 0 && fabs(alpha) < 1e30) || !(fabs(beta) > 0 && fabs(beta) < 1e30))
    return import_fail(im, "its alpha is %g and its beta %g, expected numbers that are not 0", alpha, beta);
  struct step *from;
  const struct onnx_tensor *t;
  if (!import_input(im, n, 0, &from, &t) && from && from->shape.rank == 2)
    return import_fail(im, "gets tokens, expected a vector");
  r4_status status = dense(im, n, s, !import_whole(n, "transB", 0));
  for (size_t k = 0; k < s->sources; k++) s->source[k].times = k ? beta : alpha;
  return status;
}

r4_status rule_matmul(struct importer *im, const struct onnx_node *n, struct step *s)
{
  if (import_has_role(im, n)) return role_product(im, n, s);
  return dense(im, n, s, true);
}

/* ---- Windows ---- */

/* The same number for both axes. */
static r4_status square(struct importer *im, const struct onnx_node *n, const char *name, int64_t otherwise,
                        int64_t *to)
{
  const struct onnx_attribute *a = onnx_attribute(n, name);
  *to = a && a->n ? a->list[0] : otherwise;
  if (a && (a->n != 2 || a->list[0] != a->list[1]))
    return import_fail(
      im, "%s are not two equal numbers: windows and strides must be square", name);
  if (*to < 1 || *to > LARGEST)
    return import_fail(im, "%s is %lld, expected a number from 1 to 10^9", name, (long long)*to);
  return R4_OK;
}

static void same_pads(const struct step *s, struct windows of, int64_t pad[4])
{
  for (int k = 0; k < 2; k++) {
    int64_t both[2];
    module_same_pad(s->shape.dim[k], of, both);
    pad[k] = both[0];
    pad[k + 2] = both[1];
  }
}

/* pad: top, left, bottom, right */
static r4_status read_pads(struct importer *im, const struct onnx_node *n, const struct step *s,
                           struct windows of, int64_t pad[4])
{
  const struct onnx_attribute *how = onnx_attribute(n, "auto_pad"), *a = onnx_attribute(n, "pads");
  memset(pad, 0, 4 * sizeof *pad);
  if (how && slice_is(how->text, "SAME_UPPER") && memcmp(im->step[s->from].pad, pad, 4 * sizeof *pad))
    return import_fail(im, "auto_pad is SAME_UPPER behind Pad, expected one of both");
  if (how && slice_is(how->text, "SAME_UPPER")) {
    same_pads(s, of, pad);
    return R4_OK;
  }
  if (how && !slice_is(how->text, "NOTSET") && !slice_is(how->text, "VALID"))
    return import_fail(im, "auto_pad is \"%.*s\", expected NOTSET, VALID or SAME_UPPER",
                       how->text.n < 40 ? (int)how->text.n : 40, how->text.s);
  if (a && a->n != 4) return import_fail(im, "has %zu pads, expected 4", a->n);
  for (size_t k = 0; k < 4; k++) {
    pad[k] = im->step[s->from].pad[k] + (a ? a->list[k] : 0);
    if (pad[k] < 0 || pad[k] > LARGEST)
      return import_fail(im, "a pad is %lld, expected 0 to 10^9", (long long)pad[k]);
  }
  return R4_OK;
}

/* " p1", " p0/1", " same" or nothing */
static r4_status pad_text(struct importer *im, const struct step *s, struct windows of, const int64_t pad[4],
                          struct slice *text)
{
  int64_t same[4];
  same_pads(s, of, same);
  bool equal = pad[0] == pad[1] && pad[2] == pad[3];
  if (equal && pad[0] == pad[2])
    *text = pad[0] ? onnx_text(im->m, " p%lld", (long long)pad[0]) : (struct slice){"", 0};
  else if (equal)
    *text = onnx_text(im->m, " p%lld/%lld", (long long)pad[0], (long long)pad[2]);
  else if (!memcmp(pad, same, sizeof same))
    *text = slice_of(" same");
  else
    return import_fail(im, "pads are %lld, %lld, %lld, %lld, expected the same for rows and columns",
                       (long long)pad[0], (long long)pad[1], (long long)pad[2], (long long)pad[3]);
  return R4_OK;
}

/* A window that is cut off at the border counts with ceil_mode. */
static r4_status out_size(struct importer *im, const struct onnx_node *n, struct step *s, struct windows of,
                          const int64_t pad[4])
{
  for (int k = 0; k < 2; k++) {
    int64_t room = s->shape.dim[k] + pad[k] + pad[k + 2] - (of.kernel - 1) * of.dilation - 1;
    if (room < 0) return import_fail(im, "its window is larger than the image");
    if (import_whole(n, "ceil_mode", 0) && room % of.stride)
      return import_fail(im, "ceil_mode counts windows that are cut off, which r4 does not support");
    s->shape.dim[k] = room / of.stride + 1;
  }
  return R4_OK;
}

/* Window, padding and size of the result; text: " s2 p1 d2", without a stride that is the usual one */
static r4_status windows(struct importer *im, const struct onnx_node *n, struct step *s, struct windows *of,
                         int64_t usual, bool *padded, struct slice *text)
{
  int64_t pad[4];
  struct slice pads = {0};
  r4_status status = import_need_image(im, s);
  if (!status) status = square(im, n, "strides", 1, &of->stride);
  if (!status) status = square(im, n, "dilations", 1, &of->dilation);
  if (!status) status = read_pads(im, n, s, *of, pad);
  if (!status) status = pad_text(im, s, *of, pad, &pads);
  if (!status) status = out_size(im, n, s, *of, pad);
  if (status) return status;
  *padded = pad[0] || pad[1] || pad[2] || pad[3];
  struct slice dilation =
    of->dilation > 1 ? onnx_text(im->m, " d%lld", (long long)of->dilation) : (struct slice){"", 0};
  struct slice stride =
    of->stride != usual ? onnx_text(im->m, " s%lld", (long long)of->stride) : (struct slice){"", 0};
  *text = onnx_text(im->m, "%.*s%.*s%.*s", (int)stride.n, stride.s, (int)pads.n, pads.s, (int)dilation.n,
                    dilation.s);
  return R4_OK;
}

r4_status rule_conv(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_tensor *w;
  struct slice text = {0};
  size_t count;
  bool padded;
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &w, &count);
  if (!status) status = import_need_image(im, s);
  if (status) return status;
  int64_t groups = import_whole(n, "group", 1);
  if (!w || w->shape.rank != 4 || !count || w->shape.dim[2] != w->shape.dim[3])
    return import_fail(
      im, "its weights are not [outputs, inputs, size, size]: filters must be square");
  if (groups < 1 || import_channels(s) % groups || w->shape.dim[1] != import_channels(s) / groups)
    return import_fail(im, "gets %lld channels, its weights are for %lld in each of %lld groups",
                       (long long)import_channels(s), (long long)w->shape.dim[1], (long long)groups);
  struct windows of = {.kernel = w->shape.dim[2]};
  status = windows(im, n, s, &of, 1, &padded, &text);
  if (status) return status;
  s->shape.dim[2] = w->shape.dim[0];
  import_source(s, "weight", w->shape, w, false);
  import_name(s, w->name);
  struct slice group = groups > 1 ? onnx_text(im->m, " g%lld", (long long)groups) : (struct slice){"", 0};
  s->part = onnx_text(im->m, "conv %lld %lld%.*s%.*s", (long long)s->shape.dim[2], (long long)of.kernel,
                      (int)text.n, text.s, (int)group.n, group.s);
  return import_bias(im, n, 2, s->shape.dim[2], s);
}

static r4_status pool(struct importer *im, const struct onnx_node *n, struct step *s, const char *kind,
                      bool mean)
{
  struct windows of = {0};
  struct slice text = {0};
  bool padded;
  r4_status status = import_from(im, n, s);
  if (!status) status = square(im, n, "kernel_shape", 0, &of.kernel);
  if (!status) status = windows(im, n, s, &of, of.kernel, &padded, &text);
  if (status) return status;
  if (of.dilation > 1) return import_fail(im, "has dilations, which pools of r4 do not have");
  if (mean && padded && !import_whole(n, "count_include_pad", 0))
    return import_fail(im, "its mean leaves out the padding, r4's counts it (count_include_pad)");
  s->part = onnx_text(im->m, "%s %lld%.*s", kind, (long long)of.kernel, (int)text.n, text.s);
  return R4_OK;
}

r4_status rule_max_pool(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return pool(im, n, s, "maxpool", false);
}

r4_status rule_mean_pool(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return pool(im, n, s, "avgpool", true);
}
