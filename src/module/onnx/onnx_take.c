/* What rules of operators share: inputs, attributes and parameters of a node. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "module/onnx/onnx_import.h"

/* ---- Inputs and attributes ---- */

static bool is_one_of(const struct onnx_node *n, const char *a, const char *b)
{
  return slice_is(n->op, a) || slice_is(n->op, b);
}

static bool is_padded(const struct step *s)
{
  return s->pad[0] || s->pad[1] || s->pad[2] || s->pad[3];
}

bool import_waits(const struct step *s)
{
  return s->last || s->row_of.rank || is_padded(s);
}

static r4_status check_order(struct importer *im, const struct onnx_node *n, const struct step *from)
{
  if (from->last && !is_one_of(n, "Flatten", "Reshape"))
    return import_fail(im, "gets channels last, as a Transpose has made them; expected Flatten or Reshape behind it");
  if (from->row_of.rank && !is_one_of(n, "MatMul", "Gemm"))
    return import_fail(im, "gets features in the order of channels last; expected a product behind it");
  if (is_padded(from) && !slice_is(n->op, "Conv"))
    return import_fail(im, "gets what Pad has made; expected a convolution behind it");
  return R4_OK;
}

/* The first input, which must be something that is computed. */
r4_status import_from(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *tensor;
  r4_status status = import_input(im, n, 0, &from, &tensor);
  if (status) return status;
  if (!from)
    return import_fail(im, "its first input is a constant, expected one computed from the net's input");
  if (from->role.is != STEP_PART)
    return import_fail(im, "is applied to a part of attention, of gelu or to a mask of tokens, which is not "
                           "supported");
  s->from = (size_t)(from - im->step);
  s->shape = from->shape;
  s->pooled = from->pooled;
  return check_order(im, n, from);
}

/* Input k, which must be numbers that are known; NULL if it is left out. */
r4_status import_constant(struct importer *im, const struct onnx_node *n, size_t k,
                          const struct onnx_tensor **to, size_t *count)
{
  struct step *from;
  *count = 0;
  r4_status s = import_input(im, n, k, &from, to);
  if (s) return s;
  if (from) return import_fail(im, "its input %zu is computed, expected weights", k + 1);
  if (*to && !onnx_count(*to, count))
    return import_fail(im, "its input %zu has other data than its shape says, or numbers of type %lld", k + 1,
                       (long long)(*to)->type);
  return R4_OK;
}

struct slice import_number(struct importer *im, double v)
{
  char text[40];
  for (int digits = 6; digits < 10; digits++) {
    c_locale_print(text, sizeof text, "%.*g", digits, v);
    double again = c_locale_real(text, NULL);
    if (fabs((double)(float)again - (double)(float)v) <= 0) break;
  }
  return onnx_text(im->m, "%s", text);
}

int64_t import_whole(const struct onnx_node *n, const char *name, int64_t otherwise)
{
  const struct onnx_attribute *a = onnx_attribute(n, name);
  return a ? a->whole : otherwise;
}

double import_real(const struct onnx_node *n, const char *name, double otherwise)
{
  const struct onnx_attribute *a = onnx_attribute(n, name);
  return a ? (double)a->real : otherwise;
}

r4_status import_need_image(struct importer *im, const struct step *s)
{
  if (s->shape.rank == 3) return R4_OK;
  return import_fail(im, "gets a vector, or an image of one pixel that globalpool has made; needs an image");
}

r4_status import_need_vector(struct importer *im, const struct step *s)
{
  if (s->shape.rank == 1 && !s->pooled) return R4_OK;
  return import_fail(im, "gets an image, needs a vector");
}

/* Of each token, too. */
r4_status import_need_features(struct importer *im, const struct step *s)
{
  return s->shape.rank == 2 ? R4_OK : import_need_vector(im, s);
}

int64_t import_channels(const struct step *s)
{
  return s->shape.dim[s->shape.rank - 1];
}

/* ---- Parameters ---- */

void import_source(struct step *s, const char *what, r4_shape shape, const struct onnx_tensor *from,
                   bool transposed)
{
  s->source[s->sources++] = (struct onnx_source){slice_of(what), shape, from, transposed, 1};
}

/* "layer1.0.conv1.weight" belongs to a part "layer1.0.conv1". */
void import_name(struct step *s, struct slice weight)
{
  static const char end[] = ".weight";
  size_t n = sizeof end - 1;
  if (weight.n > n && !memcmp(weight.s + weight.n - n, end, n))
    s->name = (struct slice){weight.s, weight.n - n};
}

r4_status import_bias(struct importer *im, const struct onnx_node *n, size_t k, int64_t units, struct step *s)
{
  const struct onnx_tensor *bias;
  size_t count;
  r4_status status = import_constant(im, n, k, &bias, &count);
  s->may_have_bias = true;
  s->bias = !status && bias;
  if (!s->bias) return status;
  if (count != (size_t)units)
    return import_fail(im, "its bias has %zu numbers for %lld outputs", count, (long long)units);
  import_source(s, "bias", R4_SHAPE(units), bias, false);
  return R4_OK;
}
