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

static void to_row(struct step *s)
{
  if (s->shape.rank > 1) s->part = slice_of("flatten");
  s->shape = R4_SHAPE(r4_shape_count(s->shape));
  s->pooled = false;
}

r4_status rule_flatten(struct importer *im, const struct onnx_node *n, struct step *s)
{
  r4_status status = import_from(im, n, s);
  if (status) return status;
  if (import_whole(n, "axis", 1) != 1) return import_fail(im, "its axis is not 1");
  to_row(s);
  return R4_OK;
}

/* To [batch, features]. */
r4_status rule_reshape(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_tensor *t;
  size_t count;
  if (import_has_role(im, n)) return role_reshape(im, n, s);
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &t, &count);
  if (status || attention_heads(im, t, count, s)) return status;
  int64_t all = r4_shape_count(s->shape), batch = count == 2 ? onnx_integer(t, 0) : 0,
          features = count == 2 ? onnx_integer(t, 1) : 0;
  bool by_batch = features == -1 && (!batch || batch == im->batch);
  if (features != all && !by_batch)
    return import_fail(im, "its result is not [batch, features], which is what flatten makes of an image");
  to_row(s);
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

/* [batch, height, width, channels] of the input, as TensorFlow has it, to what ONNX needs. */
r4_status rule_transpose(struct importer *im, const struct onnx_node *n, struct step *s)
{
  static const int64_t to_front[] = {0, 3, 1, 2};
  const struct onnx_attribute *a = onnx_attribute(n, "perm");
  if (import_has_role(im, n)) return role_transpose(im, n, s);
  if (import_all_known(im, n)) return import_turned(im, n, s);
  r4_status status = import_from(im, n, s);
  if (status) return status;
  if (s->from || im->raw.rank != 3 || !a || a->n != 4 || memcmp(a->list, to_front, sizeof to_front))
    return import_fail(im, "expected of the input alone, and from channels last to channels first");
  s->shape = im->raw;
  im->channels_last = true;
  return R4_OK;
}
