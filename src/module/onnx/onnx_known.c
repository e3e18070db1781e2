/* Numbers that are known before a net runs: sizes, as in "x.view(x.size(0), -1)", and tables by places. They are
 * constants here. A batch that the file does not fix is 0: to reshape, that is "as it was". */
#include <math.h>
#include <string.h>

#include "module/onnx/onnx_import.h"

enum { MOST = 1 << 24 };

static bool is_whole(const struct onnx_tensor *t)
{
  return t && (t->type == ONNX_INT64 || t->type == ONNX_INT32);
}

bool import_all_known(struct importer *im, const struct onnx_node *n)
{
  bool any = false;
  for (size_t k = 0; k < n->inputs; k++) {
    struct step *step;
    const struct onnx_tensor *t;
    if (import_input(im, n, k, &step, &t) || step) return false;
    any |= t != NULL;
  }
  return any;
}

/* A new tensor, and room for its elements; NULL: out of memory. */
static void *make_named(struct importer *im, struct step *s, enum onnx_type type, r4_shape shape, struct slice name)
{
  size_t n = (size_t)r4_shape_count(shape), size = type == ONNX_FLOAT ? sizeof(float) : sizeof(int64_t);
  struct onnx_tensor *t = onnx_new(im->m, 1, sizeof *t);
  void *room = onnx_new(im->m, n + 1, size);
  s->constant = t;
  if (t) *t = (struct onnx_tensor){.type = type, .shape = shape, .data = {room, n * size}, .name = name};
  if (t && room) return room;
  r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  return NULL;
}

static void *make(struct importer *im, struct step *s, enum onnx_type type, r4_shape shape)
{
  return make_named(im, s, type, shape, (struct slice){NULL, 0});
}

static int64_t *known(struct importer *im, struct step *s, size_t n)
{
  return make(im, s, ONNX_INT64, R4_SHAPE((int64_t)n));
}

/* The same constant. */
r4_status import_same(struct importer *im, const struct onnx_node *n, struct step *s)
{
  size_t count;
  return import_constant(im, n, 0, &s->constant, &count);
}

/* ---- Lists ---- */

static r4_status shape_of_known(struct importer *im, struct step *s, const struct onnx_tensor *t)
{
  int64_t *list = known(im, s, (size_t)t->shape.rank);
  if (list) memcpy(list, t->shape.dim, (size_t)t->shape.rank * sizeof *list);
  return list ? R4_OK : R4_E_MEMORY;
}

r4_status rule_shape(struct importer *im, const struct onnx_node *n, struct step *s)
{
  int64_t *list, all[R4_MAX_RANK];
  struct step *given;
  const struct onnx_tensor *t;
  r4_status status = import_input(im, n, 0, &given, &t);
  if (!status && t) return shape_of_known(im, s, t);
  bool mask = given && given->role.is == STEP_MASK && given->role.rank == 2; /* shaped as the ids */
  if (!status && mask) s->shape = im->step[0].shape;
  if (!status && !mask) status = import_from(im, n, s);
  if (status) return status;
  int rank = 1 + s->shape.rank;
  if (s->pooled) return import_fail(im, "expected the shape of an image, or of tokens");
  all[0] = im->batch;
  memcpy(all + 1, s->shape.dim, (size_t)s->shape.rank * sizeof *all);
  if (rank == 4) all[1] = s->shape.dim[2], all[2] = s->shape.dim[0], all[3] = s->shape.dim[1];
  int64_t from = import_whole(n, "start", 0), to = import_whole(n, "end", rank);
  if (from < 0) from += rank;
  if (to < 0) to += rank;
  if (from < 0 || to > rank || from >= to) return import_fail(im, "expected some of its %d sizes", rank);
  list = known(im, s, (size_t)(to - from));
  if (list) memcpy(list, all + from, (size_t)(to - from) * sizeof *list);
  return list ? R4_OK : R4_E_MEMORY;
}

/* Lists of whole numbers one behind the other; with at, elements of the first by the numbers of the second. */
static r4_status collect(struct importer *im, const struct onnx_node *n, struct step *s, bool at)
{
  enum { FEW = 16 };
  int64_t found[FEW], *list;
  size_t count = 0;
  for (size_t k = at; k < n->inputs; k++) {
    const struct onnx_tensor *t, *from = NULL;
    size_t more, all = 0;
    r4_status status = import_constant(im, n, k, &t, &more);
    if (!status && at) status = import_constant(im, n, 0, &from, &all);
    if (status) return status;
    bool whole = is_whole(t) && (!at || is_whole(from));
    if (!whole || more > FEW - count) return import_fail(im, "expected a few whole numbers that are known");
    for (size_t i = 0; i < more; i++) {
      double v = onnx_number(t, i);
      if (at && v < 0) v += (double)all;
      if (at && !(v >= 0 && v < (double)all)) return import_fail(im, "its index is outside of the list");
      found[count++] = (int64_t)(at ? onnx_number(from, (size_t)v) : v);
    }
  }
  list = known(im, s, count);
  if (list) memcpy(list, found, count * sizeof *list);
  return list ? R4_OK : R4_E_MEMORY;
}

r4_status rule_concat(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return collect(im, n, s, false);
}

r4_status import_fold(struct importer *im, const struct onnx_node *n, struct step *s, char op)
{
  const struct onnx_tensor *a, *b;
  size_t x, y;
  int64_t *list;
  r4_status status = import_constant(im, n, 0, &a, &x);
  if (!status) status = import_constant(im, n, 1, &b, &y);
  if (status) return status;
  size_t most = x > y ? x : y;
  if (!is_whole(a) || !is_whole(b) || !x || !y || most > MOST || (x != y && x != 1 && y != 1))
    return import_fail(im, "of constants; expected whole numbers, as many or one");
  list = known(im, s, most);
  for (size_t k = 0; list && k < most; k++) {
    double u = onnx_number(a, x > 1 ? k : 0), v = onnx_number(b, y > 1 ? k : 0);
    if (op == '/' && v == 0) return import_fail(im, "divides by 0");
    double r = op == '+' ? u + v : op == '-' ? u - v : op == '*' ? u * v : trunc(u / v);
    if (!(fabs(r) < 1e15)) return import_fail(im, "gives a number that is too large");
    list[k] = (int64_t)r;
  }
  return list ? R4_OK : R4_E_MEMORY;
}

r4_status rule_range(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double from, to, by;
  int64_t *list;
  if (!import_scalar(im, n, 0, &from) || !import_scalar(im, n, 1, &to) || !import_scalar(im, n, 2, &by))
    return import_fail(im, "expected three numbers that are known");
  double count = by != 0 ? ceil((to - from) / by) : 0;
  if (!im->batch && from == 0 && to == 0)
    return import_fail(im, "uses the number of examples in a batch, which is open: this is not supported");
  if (!(count >= 1 && count <= MOST)) return import_fail(im, "has %g numbers, expected 1 to %d", count, MOST);
  list = known(im, s, (size_t)count);
  for (int64_t k = 0; list && k < (int64_t)count; k++) list[k] = (int64_t)(from + (double)k * by);
  return list ? R4_OK : R4_E_MEMORY;
}

/* How many numbers a list of sizes stands for; those of a batch that is open are one. 0: too many. */
static size_t elements(const struct onnx_tensor *sizes, size_t n)
{
  double all = 1;
  for (size_t k = 0; k < n; k++) all *= fmax(onnx_number(sizes, k), 1);
  return all <= MOST ? (size_t)all : 0;
}

/* Numbers for each token, the same for all examples. */
static r4_status repeat(struct importer *im, struct step *s, const struct onnx_tensor *t, size_t count,
                        size_t all)
{
  int64_t *list;
  if (!is_whole(t) || !count || !all || (count != 1 && count != all))
    return import_fail(im, "expected one whole number, or one for each token");
  list = known(im, s, all);
  for (size_t k = 0; list && k < all; k++) list[k] = onnx_integer(t, count > 1 ? k : 0);
  return list ? R4_OK : R4_E_MEMORY;
}

r4_status rule_constant_of_shape(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_attribute *a = onnx_attribute(n, "value");
  const struct onnx_tensor *sizes;
  size_t count, one = 0;
  r4_status status = import_constant(im, n, 0, &sizes, &count);
  if (status) return status;
  size_t all = is_whole(sizes) ? elements(sizes, count) : 0;
  if (a && a->tensor && onnx_count(a->tensor, &one) && is_whole(a->tensor))
    return repeat(im, s, a->tensor, one, all);
  if (a || !all) return import_fail(im, "expected whole numbers, of a shape that is known");
  return known(im, s, all) ? R4_OK : R4_E_MEMORY; /* zeros */
}

r4_status rule_expand(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_tensor *t, *sizes;
  size_t count, n_sizes;
  if (import_has_role(im, n)) return role_unsqueeze(im, n, s);
  r4_status status = import_constant(im, n, 0, &t, &count);
  if (!status) status = import_constant(im, n, 1, &sizes, &n_sizes);
  if (status) return status;
  return repeat(im, s, t, count, is_whole(sizes) ? elements(sizes, n_sizes) : 0);
}

/* 0 times the ids of tokens: as many zeros. */
bool import_zeros(struct importer *im, const struct onnx_node *n, struct step *s, r4_status *status)
{
  struct step *from;
  const struct onnx_tensor *t;
  double v;
  if (!im->ids || import_input(im, n, 0, &from, &t) || from != im->step || !import_scalar(im, n, 1, &v) || v != 0)
    return false;
  *status = known(im, s, (size_t)im->step[0].shape.dim[0]) ? R4_OK : R4_E_MEMORY;
  return true;
}

/* A part of a list, of which other sizes are 1: [:, from:to]. */
r4_status import_cut(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_tensor *t;
  size_t count;
  double from, to, by = 1;
  int64_t *list;
  r4_status status = import_constant(im, n, 0, &t, &count);
  if (status) return status;
  if (!is_whole(t) || t->shape.dim[t->shape.rank - 1] != (int64_t)count || !import_scalar(im, n, 1, &from) ||
      !import_scalar(im, n, 2, &to) || (n->inputs > 4 && !import_scalar(im, n, 4, &by)) || by != 1)
    return import_fail(im, "of constants; expected a part of a list of whole numbers");
  if (from < 0) from += (double)count;
  if (to < 0) to += (double)count;
  if (to > (double)count) to = (double)count;
  if (!(from >= 0 && from < to)) return import_fail(im, "takes nothing of a list");
  list = known(im, s, (size_t)(to - from));
  for (size_t k = 0; list && k < (size_t)(to - from); k++) list[k] = onnx_integer(t, (size_t)from + k);
  return list ? R4_OK : R4_E_MEMORY;
}

/* ---- Tables ---- */

r4_status import_rows(struct importer *im, struct step *s, const struct onnx_tensor *table,
                      const struct onnx_tensor *index)
{
  size_t n, all;
  float *to;
  if (!onnx_count(table, &all) || !onnx_count(index, &n) || !is_whole(index) || table->shape.rank != 2)
    return import_fail(im, "expected rows of a table, by whole numbers");
  int64_t rows = table->shape.dim[0], width = table->shape.dim[1];
  if (!all || !n || n > MOST / (size_t)width) return import_fail(im, "takes %zu rows, which are too many", n);
  to = make(im, s, ONNX_FLOAT, R4_SHAPE((int64_t)n, width));
  for (size_t k = 0; to && k < n; k++) {
    double at = onnx_number(index, k);
    if (at < 0) at += (double)rows;
    if (!(at >= 0 && at < (double)rows))
      return import_fail(im, "takes row %g of a table of %lld", at, (long long)rows);
    for (int64_t j = 0; j < width; j++)
      to[(int64_t)k * width + j] = (float)onnx_number(table, (size_t)((int64_t)at * width + j));
  }
  return to ? R4_OK : R4_E_MEMORY;
}

/* Weights of a product, [in, out] for [out, in]. */
r4_status import_turned(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_attribute *a = onnx_attribute(n, "perm");
  const struct onnx_tensor *t;
  size_t count;
  r4_status status = import_constant(im, n, 0, &t, &count);
  if (status) return status;
  if (!count || t->shape.rank != 2 || (a && (a->n != 2 || a->list[0] != 1 || a->list[1] != 0)))
    return import_fail(im, "of constants; expected a matrix, turned");
  int64_t rows = t->shape.dim[0], columns = t->shape.dim[1];
  float *to = make_named(im, s, ONNX_FLOAT, R4_SHAPE(columns, rows), t->name);
  for (int64_t k = 0; to && k < rows * columns; k++)
    to[k] = (float)onnx_number(t, (size_t)(k % rows * columns + k / rows));
  return to ? R4_OK : R4_E_MEMORY;
}

r4_status import_channels_first(struct importer *im, r4_shape image, int axis, const struct onnx_tensor **w)
{
  const struct onnx_tensor *t = *w;
  int64_t rows = t->shape.dim[0], columns = t->shape.dim[1];
  struct step made = {.constant = NULL};
  if (image.rank != 3) return R4_OK;
  int64_t channels = image.dim[2], pixels = image.dim[0] * image.dim[1];
  float *to = make_named(im, &made, ONNX_FLOAT, t->shape, t->name);
  for (int64_t k = 0; to && k < rows * columns; k++) {
    int64_t row = k / columns, column = k % columns, at = axis ? column : row; /* channel by channel */
    int64_t from = at % pixels * channels + at / pixels;
    to[k] = (float)onnx_number(t, (size_t)(axis ? row * columns + from : from * columns + column));
  }
  *w = made.constant;
  return to ? R4_OK : R4_E_MEMORY;
}

/* A row of a table for each token, by its id. */
static r4_status embedding(struct importer *im, struct step *s, const struct onnx_tensor *table, size_t count)
{
  if (table->shape.rank != 2 || !count) return import_fail(im, "its table is not [ids, width]");
  import_source(s, "weight", table->shape, table, false);
  import_name(s, table->name);
  s->part = onnx_text(im->m, "embedding %lld %lld", (long long)table->shape.dim[0],
                      (long long)table->shape.dim[1]);
  s->shape = R4_SHAPE(im->step[0].shape.dim[0], table->shape.dim[1]);
  return R4_OK;
}

/* x[:, 0] of tokens */
static r4_status first_token(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double at = 0;
  r4_status status = import_from(im, n, s);
  if (status) return status;
  if (s->shape.rank != 2 || import_whole(n, "axis", 0) != 1 || !import_scalar(im, n, 1, &at) || at != 0)
    return import_fail(im, "expected the first token, [:, 0], or rows of a table by the ids of tokens");
  s->part = slice_of("first");
  s->shape = R4_SHAPE(import_channels(s));
  return R4_OK;
}

r4_status rule_gather(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from, *by;
  const struct onnx_tensor *table, *index;
  size_t count;
  r4_status status = import_input(im, n, 0, &from, &table);
  if (!status) status = import_input(im, n, 1, &by, &index);
  if (status) return status;
  if (from) return first_token(im, n, s);
  if (table && index && table->shape.rank == 2 && !is_whole(table) && !import_whole(n, "axis", 0))
    return import_rows(im, s, table, index);
  if (!by) return collect(im, n, s, true);
  if (by != im->step || !im->ids || !table || import_whole(n, "axis", 0))
    return import_fail(im, "expected rows of a table by the ids of tokens, which are the input");
  status = import_constant(im, n, 0, &table, &count);
  return status ? status : embedding(im, s, table, count);
}

/* Shapes of constants do not matter here, but for their last sizes. */
r4_status rule_unsqueeze(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return import_has_role(im, n) ? role_unsqueeze(im, n, s) : import_same(im, n, s);
}

/* Numbers that are no whole ones would be cut. */
static r4_status cast_known(struct importer *im, const struct onnx_node *n, struct step *s, int64_t to)
{
  r4_status status = import_same(im, n, s);
  if (status || is_whole(s->constant) || to == ONNX_FLOAT || to == ONNX_DOUBLE) return status;
  return import_fail(im, "makes numbers of type %lld of constants, expected floats", (long long)to);
}

/* To floats, or ids to whole numbers of another size. */
r4_status rule_cast(struct importer *im, const struct onnx_node *n, struct step *s)
{
  int64_t to = import_whole(n, "to", 0);
  if (import_has_role(im, n)) return role_unsqueeze(im, n, s);
  if (import_all_known(im, n)) return cast_known(im, n, s, to);
  r4_status status = import_from(im, n, s);
  bool whole = to == ONNX_INT64 || to == ONNX_INT32;
  if (status || to == ONNX_FLOAT || to == ONNX_DOUBLE || (whole && im->ids && !s->from)) return status;
  return import_fail(im, "makes numbers of type %lld, expected floats", (long long)to);
}
