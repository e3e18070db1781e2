/* Operators of features by themselves, norms and sums; and the table of all of them. */
#include <float.h>
#include <math.h>

#include "module/onnx/onnx_import.h"

const struct onnx_rule onnx_rules[] = {
#define RULE(op, name) {#op, rule_##name},
#include "module/onnx/onnx_rules.def"
#undef RULE
};
const size_t onnx_rules_count = sizeof onnx_rules / sizeof *onnx_rules;

/* ---- Features by themselves ---- */

static r4_status point(struct importer *im, const struct onnx_node *n, struct step *s, const char *part)
{
  s->part = slice_of(part);
  return import_from(im, n, s);
}

r4_status rule_relu(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return point(im, n, s, "relu");
}

r4_status rule_gelu(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_attribute *how = onnx_attribute(n, "approximate");
  if (how && !slice_is(how->text, "none")) return import_fail(im, "is an approximation, r4's gelu is exact");
  return point(im, n, s, "gelu");
}

r4_status rule_hyperbolic(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return point(im, n, s, "tanh");
}

r4_status rule_sigmoid(struct importer *im, const struct onnx_node *n, struct step *s)
{
  return point(im, n, s, "sigmoid");
}

/* An end of the range: input k, an attribute in old files, or none. */
static r4_status clip_end(struct importer *im, const struct onnx_node *n, size_t k, const char *name,
                          double none, double *to)
{
  const struct onnx_tensor *t;
  size_t count;
  *to = import_real(n, name, none);
  r4_status s = import_constant(im, n, k, &t, &count);
  if (!s && count) *to = onnx_number(t, 0);
  return s;
}

r4_status rule_clip(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double low, high;
  r4_status status = clip_end(im, n, 1, "min", -INFINITY, &low);
  if (!status) status = clip_end(im, n, 2, "max", INFINITY, &high);
  if (status) return status;
  if (import_has_role(im, n)) return role_floor(im, n, s, low, high);
  bool from_zero = low >= 0 && low <= 0, to_six = high >= 6 && high <= 6, open = high >= (double)FLT_MAX;
  if (!from_zero || !(to_six || open))
    return import_fail(im, "clips to %g and %g, expected 0 and 6 (relu6), or 0 and nothing (relu)", low,
                       high);
  return point(im, n, s, open ? "relu" : "relu6");
}

/* Nothing is done, also to constants. */
r4_status rule_identity(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  r4_status status = import_input(im, n, 0, &from, &s->constant);
  return status || s->constant ? status : import_from(im, n, s);
}

/* Nothing, unless its third input says that the net learns: a truth value, or what was left of one. */
r4_status rule_dropout(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *computed = NULL;
  const struct onnx_tensor *learns = NULL;
  r4_status status = n->inputs > 2 ? import_input(im, n, 2, &computed, &learns) : R4_OK;
  if (status) return status;
  if (computed) return import_fail(im, "its input 3 is computed, expected whether the net learns");
  bool is = learns && !learns->data.n;
  for (size_t k = 0; learns && k < learns->data.n; k++) is = is || learns->data.s[k];
  return is ? import_fail(im, "is in training mode; export the net in evaluation mode") : rule_identity(im, n, s);
}

r4_status rule_constant(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_attribute *a = onnx_attribute(n, "value");
  s->constant = a ? a->tensor : NULL;
  return s->constant ? R4_OK : import_fail(im, "has no tensor as its value");
}

/* r4 makes probabilities of the last layer by itself, and softmax of what softmax or its logarithm was taken of last is
 * the same as of the logits. */
r4_status rule_softmax(struct importer *im, const struct onnx_node *n, struct step *s)
{
  int64_t axis = import_whole(n, "axis", im->m->opset < 13 ? 1 : -1);
  if (import_has_role(im, n)) return role_softmax(im, n, s);
  r4_status status = import_from(im, n, s);
  if (status) return status;
  bool last = n->outputs && slice_equal(n->output[0], im->m->output[0].name);
  im->softmax = last;
  if (last && s->shape.rank == 1 && !s->pooled && (axis == 1 || axis == -1)) return R4_OK;
  return import_fail(im, "is not the last operation on the classes");
}

/* ---- Norms ---- */

/* A norm with so many parameters for each channel. */
static r4_status norm(struct importer *im, const struct onnx_node *n, struct step *s, const char *kind,
                      size_t params)
{
  static const char *const what[] = {"weight", "bias", "running_mean", "running_var"};
  r4_status status = import_from(im, n, s);
  for (size_t k = 0; k < params && !status; k++) {
    const struct onnx_tensor *t;
    size_t count;
    status = import_constant(im, n, k + 1, &t, &count);
    if (!status && count != (size_t)import_channels(s))
      return import_fail(im, "gets %lld channels, its %s has %zu numbers", (long long)import_channels(s),
                         what[k], count);
    if (!status) import_source(s, what[k], R4_SHAPE(import_channels(s)), t, false);
    if (!status && !k) import_name(s, t->name);
  }
  if (status) return status;
  double eps = import_real(n, "epsilon", 1e-5);
  if (!(eps > 0 && eps < 1e30)) return import_fail(im, "its epsilon is %g, expected a number above 0", eps);
  struct slice number = import_number(im, eps);
  s->part = onnx_text(im->m, "%s eps %.*s", kind, (int)number.n, number.s);
  return R4_OK;
}

/* Of what norm has made of a node. */
static r4_status check_variance(struct importer *im, const struct step *s)
{
  const struct onnx_tensor *t = s->source[s->sources - 1].from;
  for (size_t k = 0; k < (size_t)import_channels(s); k++)
    if (onnx_number(t, k) < 0)
      return import_fail(im, "its running_var is %g for channel %zu, expected 0 or more", onnx_number(t, k), k);
  return R4_OK;
}

r4_status rule_batch_norm(struct importer *im, const struct onnx_node *n, struct step *s)
{
  if (import_whole(n, "training_mode", 0))
    return import_fail(im, "is in training mode; export the net in evaluation mode");
  r4_status status = norm(im, n, s, "batchnorm", 4);
  if (!status) status = check_variance(im, s);
  return status || s->shape.rank != 2 ? status : import_fail(im, "gets tokens, expected images or vectors");
}

/* Over all features of a vector, or of each token. */
r4_status rule_layer_norm(struct importer *im, const struct onnx_node *n, struct step *s)
{
  int64_t axis = import_whole(n, "axis", -1);
  r4_status status = norm(im, n, s, "layernorm", 2);
  if (!status) status = import_need_features(im, s);
  return status || axis == -1 || axis == s->shape.rank ? status
                                                       : import_fail(im, "its axis is not that of the features");
}

/* A constant for all of x, or one for each channel of an image, as the numbers of "normalize". */
static r4_status normalize(struct importer *im, const struct onnx_node *n, struct step *s, const char *what,
                           double (*number)(double v))
{
  const struct onnx_tensor *t;
  size_t count;
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &t, &count);
  if (status) return status;
  int axis = t ? t->shape.rank - 3 : -1;
  bool by_channel = axis >= 0 && s->shape.rank == 3 && t->shape.dim[axis] == import_channels(s) &&
                    count == (size_t)import_channels(s) && count <= MODULE_LIST;
  if (count != 1 && !by_channel)
    return import_fail(im, "with %zu numbers; expected one, or one for each of up to %d channels of an image",
                       count, MODULE_LIST);
  struct slice text = onnx_text(im->m, "normalize %s ", what);
  for (size_t k = 0; k < count; k++) {
    double v = number(onnx_number(t, k));
    if (!(fabs(v) < 1e30)) return import_fail(im, "with a number that is not finite");
    if (count == 1 && *what == 's') s->times = 1 / v;
    struct slice next = import_number(im, v);
    text = onnx_text(im->m, "%.*s%s%.*s", (int)text.n, text.s, k ? "/" : "", (int)next.n, next.s);
  }
  s->part = text;
  return R4_OK;
}

/* y = x + c, a number for each feature of a vector; times: -1 for x - c. */
static r4_status shift(struct importer *im, const struct onnx_node *n, struct step *s, double times)
{
  const struct onnx_tensor *t;
  size_t count;
  r4_status status = import_from(im, n, s);
  if (!status) status = import_constant(im, n, 1, &t, &count);
  if (status) return status;
  import_source(s, "bias", R4_SHAPE((int64_t)count), t, false);
  s->source[0].times = times;
  s->part = slice_of("shift");
  return R4_OK;
}

/* The second input has a number for each feature of a vector. */
static bool is_vector(struct importer *im, const struct onnx_node *n)
{
  struct step *from, *none;
  const struct onnx_tensor *t, *u;
  size_t count = 0;
  if (import_input(im, n, 0, &from, &u) || import_input(im, n, 1, &none, &t) || !from || !t) return false;
  return onnx_count(t, &count) && count > 1 && from->shape.rank == 1 && !from->pooled &&
         count == (size_t)from->shape.dim[0] && t->shape.dim[t->shape.rank - 1] == from->shape.dim[0];
}

static double itself(double v)
{
  return v;
}

static double negative(double v)
{
  return -v;
}

static double inverse(double v)
{
  return 1 / v;
}

r4_status rule_subtract(struct importer *im, const struct onnx_node *n, struct step *s)
{
  if (import_has_role(im, n)) return role_arithmetic(im, n, s, '-');
  if (import_all_known(im, n)) return import_fold(im, n, s, '-');
  return is_vector(im, n) ? shift(im, n, s, -1) : normalize(im, n, s, "mean", itself);
}

r4_status rule_divide(struct importer *im, const struct onnx_node *n, struct step *s)
{
  if (import_has_role(im, n)) return role_arithmetic(im, n, s, '/');
  if (import_all_known(im, n)) return import_fold(im, n, s, '/');
  return normalize(im, n, s, "std", itself);
}

r4_status rule_multiply(struct importer *im, const struct onnx_node *n, struct step *s)
{
  if (import_has_role(im, n)) return role_arithmetic(im, n, s, '*');
  if (import_all_known(im, n)) return import_fold(im, n, s, '*');
  r4_status made;
  if (import_zeros(im, n, s, &made)) return made;
  return normalize(im, n, s, "std", inverse);
}

/* ---- Sums ---- */

/* A constant behind a product or a convolution that has no bias is its bias. */
static bool becomes_bias(struct step *from, const struct onnx_tensor *t, size_t count)
{
  int64_t units = import_channels(from);
  bool last = from->shape.rank == 2; /* of tokens, channels are the last axis */
  int axis = t->shape.rank - (last ? 1 : from->shape.rank);
  if (!from->may_have_bias || from->bias || from->uses != 1 || count != (size_t)units) return false;
  if (units > 1 && (axis < 0 || t->shape.dim[axis] != units)) return false;
  import_source(from, "bias", R4_SHAPE(units), t, false);
  return from->bias = true;
}

r4_status rule_add(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *a, *b;
  const struct onnx_tensor *t, *u;
  if (import_has_role(im, n)) return role_arithmetic(im, n, s, '+');
  if (import_all_known(im, n)) return import_fold(im, n, s, '+');
  r4_status status = import_input(im, n, 0, &a, &t);
  if (!status) status = import_input(im, n, 1, &b, &u);
  if (status) return status;
  if ((!a && !b) || (!b && !u) || (!a && !t)) return import_fail(im, "adds constants, or nothing");
  struct step *from = a ? a : b;
  if ((a && import_waits(a)) || (b && import_waits(b)))
    return import_fail(im, "adds to what has channels last, or is what Pad has made");
  s->from = (size_t)(from - im->step);
  s->shape = from->shape;
  s->pooled = from->pooled;
  if (!a || !b) {
    size_t count;
    const struct onnx_tensor *added = a ? u : t;
    if (onnx_count(added, &count) && becomes_bias(from, added, count)) return R4_OK;
    if (im->ids && from->shape.rank == 2 && count > 1) return tokens_add(im, n, s, from, added, count);
    if (is_vector(im, n)) return shift(im, n, s, 1);
    return a ? normalize(im, n, s, "mean", negative)
             : import_fail(im, "its first input is a constant, expected the second to be");
  }
  s->other = (size_t)(b - im->step);
  s->sum = true;
  if (r4_shape_equal(a->shape, b->shape) && a->pooled == b->pooled) return R4_OK;
  return import_fail(im, "adds things of different shapes");
}
