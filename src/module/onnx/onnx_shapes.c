/* Operators that change shapes: global pools, means, flatten, transposes. */
#include <math.h>
#include <string.h>

#include "module/onnx/onnx_import.h"

/* ---- Pixels ---- */

/* [batch, channels, 1, 1] there, or without the ones */
static r4_status to_global(struct importer *im, struct step *s, bool keeps_axes)
{
  r4_status status = import_need_image(im, s);
  if (status) return status;
  s->shape = R4_SHAPE(import_channels(s));
  s->pooled = keeps_axes;
  s->part = slice_of("globalpool");
  return R4_OK;
}

r4_status rule_global_pool(struct importer *im, const struct onnx_node *n, struct step *s)
{
  r4_status status = import_from(im, n, s);
  return status ? status : to_global(im, s, true);
}

/* Whether a list, of an attribute or of input k, is the axes of height and width. */
static r4_status are_pixels(struct importer *im, const struct onnx_node *n, size_t k, bool *they_are)
{
  const struct onnx_attribute *a = onnx_attribute(n, "axes");
  const struct onnx_tensor *t = NULL;
  size_t count;
  r4_status s = a ? R4_OK : import_constant(im, n, k, &t, &count);
  if (s) return s;
  if (a) count = a->n;
  unsigned seen = 0;
  for (size_t i = 0; i < count && i < 3; i++) {
    double axis = a ? (double)a->list[i] : onnx_number(t, i);
    for (int x = 2; x < 4; x++)
      if (fabs(axis - x) < 0.5 || fabs(axis + 4 - x) < 0.5) seen |= 1u << x;
  }
  *they_are = count == 2 && seen == 12;
  return R4_OK;
}

/* Of tokens: the mean over them. */
static r4_status mean_of_tokens(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double axis = 0;
  if (!import_axis(im, n, 1, &axis) || (axis != 1 && axis != -2) || import_whole(n, "keepdims", 1))
    return import_fail(im, "expected the mean over the tokens, [batch, width], which \"mean\" takes");
  s->part = slice_of("mean");
  s->shape = R4_SHAPE(import_channels(s));
  return R4_OK;
}

r4_status rule_reduce_mean(struct importer *im, const struct onnx_node *n, struct step *s)
{
  bool pixels = false;
  r4_status status = import_from(im, n, s);
  if (!status && s->shape.rank == 2) return mean_of_tokens(im, n, s);
  if (!status) status = are_pixels(im, n, 1, &pixels);
  if (status) return status;
  if (!pixels)
    return import_fail(im, "its axes are not height and width, which globalpool takes the mean over");
  return to_global(im, s, import_whole(n, "keepdims", 1));
}

/* ---- Shapes ---- */

static void to_row(const struct importer *im, struct step *s)
{
  if (im->step[s->from].last) s->row_of = s->shape;
  if (s->shape.rank > 1) s->part = slice_of("flatten");
  s->shape = R4_SHAPE(r4_shape_count(s->shape));
  s->pooled = false;
}

r4_status rule_flatten(struct importer *im, const struct onnx_node *n, struct step *s)
{
  r4_status status = import_from(im, n, s);
  if (status) return status;
  if (import_whole(n, "axis", 1) != 1) return import_fail(im, "its axis is not 1");
  to_row(im, s);
  return R4_OK;
}

/* The input to [batch, channels, height, width], or, before a Transpose, [batch, height, width, channels]. */
static bool input_as_image(struct importer *im, struct step *s, const struct onnx_tensor *t, size_t count)
{
  struct step *input = &im->step[0];
  if (s->from || im->ids || input->uses != 1 || count != 4) return false;
  int64_t size[3], open = 0, all = r4_shape_count(input->shape), known = 1;
  for (int k = 0; k < 3; k++) {
    size[k] = onnx_integer(t, (size_t)k + 1);
    if (size[k] == -1) open++;
    if (size[k] > 0 && size[k] <= all) known *= size[k];
    if (size[k] == 0 || size[k] < -1 || size[k] > all || known > all) return false;
  }
  if (open > 1 || all % known || (!open && known != all)) return false;
  for (int k = 0; k < 3; k++) size[k] = size[k] == -1 ? all / known : size[k];
  im->raw = R4_SHAPE(size[0], size[1], size[2]);
  s->shape = input->shape = R4_SHAPE(size[1], size[2], size[0]);
  s->viewed = true;
  return true;
}

/* To [batch, features]. */
r4_status rule_reshape(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_tensor *t;
  size_t count;
  if (import_has_role(im, n)) return role_reshape(im, n, s);
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &t, &count);
  if (status || attention_heads(im, t, count, s) || input_as_image(im, s, t, count)) return status;
  int64_t all = r4_shape_count(s->shape), batch = count == 2 ? onnx_integer(t, 0) : 0,
          features = count == 2 ? onnx_integer(t, 1) : 0;
  bool by_batch = features == -1 && (!batch || batch == im->batch);
  if (features != all && !by_batch)
    return import_fail(im, "its result is not [batch, features], which is what flatten makes of an image");
  to_row(im, s);
  return R4_OK;
}

r4_status rule_squeeze(struct importer *im, const struct onnx_node *n, struct step *s)
{
  bool pixels = false;
  if (import_has_role(im, n)) return role_squeeze(im, n, s);
  if (import_all_known(im, n)) return import_same(im, n, s);
  r4_status status = import_from(im, n, s);
  if (!status) status = are_pixels(im, n, 1, &pixels);
  if (status) return status;
  if (!pixels || !s->pooled) return import_fail(im, "expected it behind a global pool, of height and width");
  s->pooled = false;
  return R4_OK;
}

/* Zeros around an image: a convolution behind it adds them. */
r4_status rule_pad(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_attribute *a = onnx_attribute(n, "pads"), *mode = onnx_attribute(n, "mode");
  const struct onnx_tensor *t = NULL, *value = NULL;
  size_t count = 0, values = 0;
  r4_status status = import_from(im, n, s);
  if (!status && !a) status = import_constant(im, n, 1, &t, &count);
  if (!status) status = import_constant(im, n, 2, &value, &values);
  if (!status) status = import_need_image(im, s);
  if (status) return status;
  if (a) count = a->n;
  bool all = n->inputs < 4 || !n->input[3].n; /* axes */
  bool zeros = all && (!mode || slice_is(mode->text, "constant")) && import_real(n, "value", 0) == 0 &&
               (!values || onnx_number(value, 0) == 0) && count == 8;
  for (size_t k = 0; k < count && zeros; k++) {
    int64_t of = a ? a->list[k] : onnx_integer(t, k);
    bool pixels = k % 4 > 1;
    zeros = of >= 0 && of < 1 << 20 && (pixels || !of);
    if (pixels) s->pad[k / 4 * 2 + k % 4 - 2] = of;
  }
  return zeros ? R4_OK : import_fail(im, "expected zeros around the rows and columns of an image");
}

/* [batch, height, width, channels] of the input, as TensorFlow has it, to what ONNX needs; and back, before a row is
 * made of it. */
r4_status rule_transpose(struct importer *im, const struct onnx_node *n, struct step *s)
{
  static const int64_t to_front[] = {0, 3, 1, 2}, to_back[] = {0, 2, 3, 1};
  const struct onnx_attribute *a = onnx_attribute(n, "perm");
  if (import_has_role(im, n)) return role_transpose(im, n, s);
  if (import_all_known(im, n)) return import_turned(im, n, s);
  r4_status status = import_from(im, n, s);
  if (status) return status;
  bool back = a && a->n == 4 && !memcmp(a->list, to_back, sizeof to_back);
  bool of_input = !s->from || (im->step[s->from].from == 0 && im->step[s->from].viewed);
  if (back && s->shape.rank == 3) {
    s->last = true;
    return R4_OK;
  }
  if (!of_input || im->raw.rank != 3 || !a || a->n != 4 || memcmp(a->list, to_front, sizeof to_front))
    return import_fail(im, "expected of the input alone, and from channels last to channels first; or back, before a "
                           "row is made of an image");
  s->shape = im->raw;
  im->channels_last = true;
  return R4_OK;
}
