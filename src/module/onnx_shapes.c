/* Operators that change shapes: global pools, flatten, and numbers that are computed from shapes. */
#include <math.h>
#include <string.h>

#include "module/onnx_import.h"

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

r4_status rule_reduce_mean(struct importer *im, const struct onnx_node *n, struct step *s)
{
  bool pixels = false;
  r4_status status = import_from(im, n, s);
  if (!status) status = are_pixels(im, n, 1, &pixels);
  if (status) return status;
  if (!pixels)
    return import_fail(im, "its axes are not height and width, which globalpool takes the mean over");
  return to_global(im, s, import_whole(n, "keepdims", 1));
}

/* ---- Shapes ---- */

static void to_row(struct step *s)
{
  if (s->shape.rank == 3) s->part = slice_of("flatten");
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
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &t, &count);
  if (status) return status;
  int64_t all = r4_shape_count(s->shape), batch = count == 2 ? (int64_t)onnx_number(t, 0) : 0,
          features = count == 2 ? (int64_t)onnx_number(t, 1) : 0;
  bool by_batch = features == -1 && (!batch || batch == im->batch);
  if (features != all && !by_batch)
    return import_fail(im, "its result is not [batch, features], which is what flatten makes of an image");
  to_row(s);
  return R4_OK;
}

r4_status rule_squeeze(struct importer *im, const struct onnx_node *n, struct step *s)
{
  bool pixels = false;
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
  r4_status status = import_from(im, n, s);
  if (status) return status;
  if (s->from || im->raw.rank != 3 || !a || a->n != 4 || memcmp(a->list, to_front, sizeof to_front))
    return import_fail(im, "expected of the input alone, and from channels last to channels first");
  s->shape = im->raw;
  im->channels_last = true;
  return R4_OK;
}

/* ---- Numbers that are computed from shapes ---- */

/* Sizes in "x.view(x.size(0), -1)" are constants here. A batch that the file does not fix is 0: to reshape, that is "as
 * it was". */
static r4_status known(struct importer *im, struct step *s, size_t n, int64_t **list)
{
  struct onnx_tensor *t = onnx_new(im->m, 1, sizeof *t);
  *list = onnx_new(im->m, n + 1, sizeof **list);
  if (!t || !*list) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  *t = (struct onnx_tensor){
    .type = ONNX_INT64, .shape = R4_SHAPE((int64_t)n), .data = {(const char *)*list, n * sizeof **list}};
  s->constant = t;
  return R4_OK;
}

r4_status rule_shape(struct importer *im, const struct onnx_node *n, struct step *s)
{
  int64_t *list;
  r4_status status = import_from(im, n, s);
  if (status) return status;
  if (s->shape.rank != 3 || s->pooled || n->attributes)
    return import_fail(im, "expected the whole shape of an image");
  status = known(im, s, 4, &list);
  if (status) return status;
  list[0] = im->batch;
  list[1] = s->shape.dim[2];
  list[2] = s->shape.dim[0];
  list[3] = s->shape.dim[1];
  return R4_OK;
}

/* Lists of whole numbers one behind the other; with at, elements of the first by the numbers of the second. */
static r4_status collect(struct importer *im, const struct onnx_node *n, struct step *s, bool at)
{
  enum { MOST = 16 };
  int64_t found[MOST], *list;
  size_t count = 0;
  for (size_t k = at; k < n->inputs; k++) {
    const struct onnx_tensor *t, *from = NULL;
    size_t more, all = 0;
    r4_status status = import_constant(im, n, k, &t, &more);
    if (!status && at) status = import_constant(im, n, 0, &from, &all);
    if (status) return status;
    bool whole = t && (t->type == ONNX_INT64 || t->type == ONNX_INT32) &&
                 (!at || (from && (from->type == ONNX_INT64 || from->type == ONNX_INT32)));
    if (!whole || more > MOST - count) return import_fail(im, "expected a few whole numbers that are known");
    for (size_t i = 0; i < more; i++) {
      double v = onnx_number(t, i);
      if (at && v < 0) v += (double)all;
      if (at && !(v >= 0 && v < (double)all)) return import_fail(im, "its index is outside of the list");
      found[count++] = (int64_t)(at ? onnx_number(from, (size_t)v) : v);
    }
  }
  r4_status status = known(im, s, count, &list);
  if (!status) memcpy(list, found, count * sizeof *list);
  return status;
}

r4_status rule_concat(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return collect(im, n, s, false);
}

r4_status rule_gather(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return collect(im, n, s, true);
}

r4_status rule_unsqueeze(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct onnx_node first = *n;
  first.inputs = n->inputs ? 1 : 0;
  return collect(im, &first, s, false);
}
