/* Attention, as others write it: queries, keys and values are dense parts of the same tokens, cut into heads,
 *
 *     softmax(q k^T / sqrt(depth) + mask) v
 *
 * whose axes are turned, and whose factor stands anywhere on the way. Together that is a part "attention". */
#include <math.h>
#include <string.h>

#include "module/onnx/onnx_import.h"

enum { BATCH, TOKENS, HEADS, DEPTH };

static r4_status wrong(struct importer *im)
{
  return import_fail(im, "expected softmax(q k^T / sqrt(depth) + mask) v of [batch, heads, tokens, depth], as "
                         "attention computes it");
}

static bool axes_are(const struct step *s, int a, int b, int c, int d)
{
  const int *axis = s->role.axis;
  return axis[0] == a && axis[1] == b && axis[2] == c && axis[3] == d;
}

/* ---- Heads ---- */

/* [batch, tokens, heads, depth]; 0 and -1 are as ONNX has them. */
bool attention_heads(struct importer *im, const struct onnx_tensor *sizes, size_t count, struct step *s)
{
  if (s->shape.rank != 2 || count != 4) return false;
  int64_t tokens = s->shape.dim[0], width = s->shape.dim[1], said = onnx_integer(sizes, 1),
          heads = onnx_integer(sizes, 2), depth = onnx_integer(sizes, 3);
  if (heads == -1 && depth > 0) heads = width / depth;
  if (depth == -1 && heads > 0) depth = width / heads;
  if (heads < 1 || depth < 1 || heads > width || depth > width || heads * depth != width) return false;
  if (said != tokens && said != 0 && said != -1) return false;
  s->role = (struct step_roles){.is = STEP_HEADS,
                                .of = {s->from},
                                .heads = heads,
                                .depth = depth,
                                .axis = {BATCH, TOKENS, HEADS, DEPTH},
                                .factor = 1};
  for (const struct step *x = &im->step[s->from]; x != im->step && (x->times > 0 || (!x->part.n && !x->sum));
       x = &im->step[x->from]) { /* a factor, or nothing, as what adds a bias */
    if (x->times > 0) s->role.factor *= x->times;
    s->role.of[0] = x->from;
  }
  return true;
}

r4_status attention_scale(struct importer *im, struct step *s, const struct step *a, double by)
{
  if (!(by > 0 && by < 1e9)) return wrong(im);
  s->role = a->role;
  s->role.factor *= by;
  return R4_OK;
}

r4_status role_transpose(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  const struct onnx_attribute *a = onnx_attribute(n, "perm");
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || (from->role.is != STEP_HEADS && from->role.is != STEP_SEEN)) return import_lost(im);
  bool turns = a && a->n == 4;
  for (size_t k = 0; turns && k < 4; k++) turns = a->list[k] >= 0 && a->list[k] < 4;
  if (!turns) return wrong(im);
  s->role = from->role;
  for (size_t k = 0; k < 4; k++) s->role.axis[k] = from->role.axis[a->list[k]];
  return R4_OK;
}

/* ---- Products ---- */

static r4_status scores(struct importer *im, struct step *s, const struct step *q, const struct step *k)
{
  if (!axes_are(q, BATCH, HEADS, TOKENS, DEPTH) || !axes_are(k, BATCH, HEADS, DEPTH, TOKENS) ||
      q->role.heads != k->role.heads || q->role.depth != k->role.depth)
    return wrong(im);
  s->role = q->role;
  s->role.is = STEP_SCORES;
  s->role.of[1] = k->role.of[0];
  s->role.factor *= k->role.factor;
  return R4_OK;
}

static r4_status seen(struct importer *im, struct step *s, const struct step *weights, const struct step *v)
{
  if (!axes_are(v, BATCH, HEADS, TOKENS, DEPTH) || v->role.heads != weights->role.heads ||
      v->role.depth != weights->role.depth || fabs(v->role.factor - 1) > 1e-6)
    return wrong(im);
  s->role = weights->role;
  s->role.is = STEP_SEEN;
  s->role.of[2] = v->role.of[0];
  memcpy(s->role.axis, v->role.axis, sizeof v->role.axis);
  return R4_OK;
}

r4_status role_product(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *a, *b;
  const struct onnx_tensor *t;
  r4_status status = import_input(im, n, 0, &a, &t);
  if (!status) status = import_input(im, n, 1, &b, &t);
  if (status) return status;
  if (a && b && a->role.is == STEP_HEADS && b->role.is == STEP_HEADS) return scores(im, s, a, b);
  if (a && b && a->role.is == STEP_WEIGHTS && b->role.is == STEP_HEADS) return seen(im, s, a, b);
  return wrong(im);
}

/* Nothing for tokens that are there, much less for those that are not: exp of it is 0. */
r4_status attention_mask(struct importer *im, struct step *s, const struct step *scores, const struct step *mask)
{
  static const double much = 1000;
  const struct step_roles *m = &mask->role;
  if (m->tokens != m->rank - 1 || !(fabs(m->there) < 1e-6) || !(m->padding <= -much))
    return import_fail(im, "adds %g where there is a token and %g where there is padding; expected 0 and at most "
                           "-1000",
                       m->there, m->padding);
  s->role = scores->role;
  return R4_OK;
}

r4_status role_softmax(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  int64_t axis = import_whole(n, "axis", im->m->opset < 13 ? 1 : -1);
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_SCORES || (axis != -1 && axis != 3) || slice_is(n->op, "LogSoftmax"))
    return wrong(im);
  s->role = from->role;
  s->role.is = STEP_WEIGHTS;
  return R4_OK;
}

/* ---- All of it ---- */

/* Zeros, for a projection without a bias. */
static const struct onnx_tensor *zeros(struct importer *im, int64_t n)
{
  struct onnx_tensor *t = onnx_new(im->m, 1, sizeof *t);
  float *v = onnx_new(im->m, (size_t)n, sizeof *v);
  if (!t || !v) return NULL;
  *t = (struct onnx_tensor){
    .type = ONNX_FLOAT, .shape = R4_SHAPE(n), .data = {(const char *)v, (size_t)n * sizeof *v}};
  return t;
}

/* Weight and bias of a dense part, as those of a projection. */
static r4_status take_projection(struct importer *im, struct step *s, const struct step *dense, int which)
{
  static const char *const name[][2] = {
    {"query.weight", "query.bias"}, {"key.weight", "key.bias"}, {"value.weight", "value.bias"}};
  int64_t width = s->shape.dim[1];
  if (dense->role.is != STEP_PART || !dense->may_have_bias || dense->shape.rank != 2 ||
      import_channels(dense) != width || dense->source[0].shape.dim[1] != width)
    return import_fail(im, "expected queries, keys and values that are dense parts of the same tokens");
  import_source(s, name[which][0], dense->source[0].shape, dense->source[0].from, dense->source[0].transposed);
  const struct onnx_tensor *bias = dense->bias ? dense->source[1].from : zeros(im, width);
  if (!bias) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  import_source(s, name[which][1], R4_SHAPE(width), bias, false);
  return R4_OK;
}

/* "encoder.layer.0.attention.self.query" belongs to a part without its last word. */
static void name_attention(struct step *s, struct slice query)
{
  static const char end[] = ".query";
  size_t n = sizeof end - 1;
  if (query.n > n && !memcmp(query.s + query.n - n, end, n)) s->name = (struct slice){query.s, query.n - n};
}

r4_status role_reshape(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  size_t count;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (!status) status = import_constant(im, n, 1, &t, &count);
  if (status) return status;
  if (!from || from->role.is != STEP_SEEN || !axes_are(from, BATCH, TOKENS, HEADS, DEPTH)) return wrong(im);
  const struct step_roles *r = &from->role;
  const struct step *q = &im->step[r->of[0]];
  int64_t width = r->heads * r->depth;
  if (count != 3 || (onnx_integer(t, 2) != width && onnx_integer(t, 2) != -1)) return wrong(im);
  if (fabs(r->factor * sqrt((double)r->depth) - 1) > 1e-4)
    return import_fail(im, "its products are multiplied by %g, expected 1 / sqrt(%lld)", r->factor,
                       (long long)r->depth);
  s->from = q->from;
  s->shape = q->shape;
  for (int k = 0; k < 3 && !status; k++) {
    const struct step *dense = &im->step[r->of[k]];
    if (dense->from != q->from)
      return import_fail(im, "expected queries, keys and values that are dense parts of the same tokens");
    status = take_projection(im, s, dense, k);
  }
  name_attention(s, q->name);
  s->part = onnx_text(im->m, "attention %lld", (long long)r->heads);
  return status;
}
