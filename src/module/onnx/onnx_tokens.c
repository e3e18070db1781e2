/* What others compute around tokens in several nodes: masks of padding, the mean of the tokens that are there, the
 * first token, positions, and gelu by its formula,
 *
 *     gelu(x) = 1/2 x (1 + erf(x / sqrt 2)). */
#include <math.h>

#include "module/onnx/onnx_import.h"

/* ---- Inputs ---- */

bool import_has_role(struct importer *im, const struct onnx_node *n)
{
  for (size_t k = 0; k < n->inputs; k++) {
    struct step *step;
    const struct onnx_tensor *t;
    if (!import_input(im, n, k, &step, &t) && step && step->role.is != STEP_PART) return true;
  }
  return false;
}

bool import_scalar(struct importer *im, const struct onnx_node *n, size_t k, double *to)
{
  struct step *step;
  const struct onnx_tensor *t;
  size_t count;
  if (import_input(im, n, k, &step, &t) || !t || !onnx_count(t, &count) || count != 1) return false;
  *to = onnx_number(t, 0);
  return true;
}

bool import_axis(struct importer *im, const struct onnx_node *n, size_t k, double *to)
{
  const struct onnx_attribute *a = onnx_attribute(n, "axes");
  if (a && a->n == 1) *to = (double)a->list[0];
  return a ? a->n == 1 : import_scalar(im, n, k, to);
}

static bool near(double a, double b)
{
  return fabs(a - b) <= 1e-5 * fabs(b);
}

r4_status import_lost(struct importer *im)
{
  return import_fail(
    im, "uses a part of attention, of a mask of tokens or of gelu in an unknown way");
}

/* ---- Masks ---- */

/* The same numbers, in other places. */
static r4_status mask_of(struct step *s, const struct step *from)
{
  s->role = from->role;
  return R4_OK;
}

/* a OP v, or v OP a with the number first */
static double apply(char op, double a, double v, bool number_first)
{
  if (op == '+') return a + v;
  if (op == '*') return a * v;
  if (op == '-') return number_first ? v - a : a - v;
  return number_first ? v / a : a / v;
}

static r4_status mask_arithmetic(struct step *s, const struct step *mask, char op, double v, bool number_first)
{
  s->role = mask->role;
  s->role.there = apply(op, mask->role.there, v, number_first);
  s->role.padding = apply(op, mask->role.padding, v, number_first);
  return R4_OK;
}

/* Axes of one more; expand and cast change nothing but sizes and types. */
static r4_status add_axes(struct importer *im, const struct onnx_node *n, struct step *s)
{
  const struct onnx_attribute *a = onnx_attribute(n, "axes");
  const struct onnx_tensor *t = NULL;
  size_t count = a ? a->n : 0;
  r4_status status = a ? R4_OK : import_constant(im, n, 1, &t, &count);
  if (status) return status;
  int rank = s->role.rank + (int)count;
  bool taken[R4_MAX_RANK] = {false};
  if (!count || rank > R4_MAX_RANK) return import_lost(im);
  for (size_t k = 0; k < count; k++) {
    double at = a ? (double)a->list[k] : onnx_number(t, k);
    if (at < 0) at += rank;
    if (!(at >= 0 && at < rank) || taken[(int)at]) return import_lost(im);
    taken[(int)at] = true;
  }
  int left = s->role.tokens, place = 0;
  for (; taken[place] || left; place++) left -= !taken[place];
  s->role.rank = rank;
  s->role.tokens = place;
  return R4_OK;
}

r4_status role_unsqueeze(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_MASK) return import_lost(im);
  status = mask_of(s, from);
  return status || !slice_is(n->op, "Unsqueeze") ? status : add_axes(im, n, s);
}

r4_status rule_negation(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_MASK) return import_lost(im);
  return mask_arithmetic(s, from, '-', 1, true);
}

/* One number where the mask is not 0, another where it is. */
r4_status rule_where(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  double yes, no;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_MASK || !import_scalar(im, n, 1, &yes) || !import_scalar(im, n, 2, &no))
    return import_fail(im, "expected one of two numbers, by the mask of tokens");
  s->role = from->role;
  s->role.there = from->role.there != 0 ? yes : no;
  s->role.padding = from->role.padding != 0 ? yes : no;
  return R4_OK;
}

/* ---- The mean of the tokens that are there: sum_t m_t x_t / max(sum_t m_t, ..) ---- */

static bool is_plain_mask(const struct step *a, int rank)
{
  return a->role.is == STEP_MASK && near(a->role.there, 1) && a->role.padding == 0 && a->role.rank == rank &&
         a->role.tokens == 1;
}

static struct step_roles role_of(enum step_role is, const struct importer *im, const struct step *x)
{
  return (struct step_roles){.is = is, .of = {(size_t)(x - im->step)}, .factor = 1};
}

r4_status rule_reduce_sum(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  double axis = 0;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  bool tokens = from && import_axis(im, n, 1, &axis) && (axis == 1 || axis == (from->role.is == STEP_MASK ? -1 : -2));
  if (tokens && (is_plain_mask(from, 2) || is_plain_mask(from, 3)))
    s->role = role_of(STEP_COUNT, im, from);
  else if (tokens && from->role.is == STEP_MASKED && !import_whole(n, "keepdims", 1))
    s->role = (struct step_roles){.is = STEP_TOTAL, .of = {from->role.of[0]}};
  else
    return import_fail(im, "expected the sum of the tokens that are there, or of the mask of tokens");
  return R4_OK;
}

r4_status rule_equal(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  double v;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_MASK || !import_scalar(im, n, 1, &v))
    return import_fail(im, "expected the mask of tokens, and a number");
  s->role = from->role;
  s->role.there = fabs(from->role.there - v) <= 0;
  s->role.padding = fabs(from->role.padding - v) <= 0;
  return R4_OK;
}

/* A count is at least 1 wherever there is a text, so that a floor of at most 1 does not matter. */
r4_status role_floor(struct importer *im, const struct onnx_node *n, struct step *s, double low, double high)
{
  struct step *from;
  const struct onnx_tensor *t;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_COUNT || !(low <= 1) || high < 1e30)
    return import_fail(im, "expected the number of tokens, and a floor that is at most 1");
  s->role = from->role;
  return R4_OK;
}

r4_status rule_maximum(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double low;
  if (n->inputs != 2 || !import_scalar(im, n, 1, &low))
    return import_fail(im, "expected the number of tokens, and a floor that is at most 1");
  return role_floor(im, n, s, low, INFINITY);
}

/* ---- The first token: x[:, 0:1] without its axis ---- */

r4_status rule_slice(struct importer *im, const struct onnx_node *n, struct step *s)
{
  double from, to, axis, by = 1;
  if (import_all_known(im, n)) return import_cut(im, n, s);
  r4_status status = import_from(im, n, s);
  if (status) return status;
  bool one = import_scalar(im, n, 1, &from) && import_scalar(im, n, 2, &to) && import_scalar(im, n, 3, &axis) &&
             (n->inputs < 5 || import_scalar(im, n, 4, &by));
  if (!one || s->shape.rank != 2 || from != 0 || to != 1 || axis != 1 || by != 1)
    return import_fail(im, "expected the first token, [:, 0:1]");
  s->role = role_of(STEP_FIRST, im, &im->step[s->from]);
  return R4_OK;
}

r4_status role_squeeze(struct importer *im, const struct onnx_node *n, struct step *s)
{
  struct step *from;
  const struct onnx_tensor *t;
  double axis;
  r4_status status = import_input(im, n, 0, &from, &t);
  if (status) return status;
  if (!from || from->role.is != STEP_FIRST || !import_axis(im, n, 1, &axis) || axis != 1) return import_lost(im);
  s->from = from->role.of[0];
  s->part = slice_of("first");
  s->shape = R4_SHAPE(import_channels(&im->step[s->from]));
  return R4_OK;
}

/* ---- Positions ---- */

/* A constant [tokens, width] is added: that is a part beside, which takes the input. */
r4_status tokens_add(struct importer *im, const struct onnx_node *n, struct step *s, const struct step *from,
                     const struct onnx_tensor *t, size_t count)
{
  (void)n;
  int64_t tokens = from->shape.dim[0], width = from->shape.dim[1];
  if (count != (size_t)(tokens * width) || t->shape.dim[t->shape.rank - 1] != width)
    return import_fail(im, "adds %zu numbers, expected those of %lld tokens of width %lld", count,
                       (long long)tokens, (long long)width);
  struct onnx_tensor *table = onnx_new(im->m, 1, sizeof *table);
  if (!table) return r4_fail(im->e, R4_E_MEMORY, "%s: out of memory", im->path);
  *table = *t;
  table->shape = R4_SHAPE(tokens, width);
  import_source(s, "weight", table->shape, table, false);
  s->sum = true;
  s->beside = onnx_text(im->m, "position %lld %lld", (long long)tokens, (long long)width);
  return R4_OK;
}

/* ---- Gelu ---- */

r4_status rule_error_function(struct importer *im, const struct onnx_node *n, struct step *s)
{
  r4_status status = import_from(im, n, s);
  if (status) return status;
  const struct step *x = &im->step[s->from];
  if (!near(x->times, sqrt(0.5)))
    return import_fail(im, "expected erf(x / sqrt 2), as in gelu");
  s->role = role_of(STEP_ERF, im, &im->step[x->from]);
  return R4_OK;
}

static r4_status gelu_of(struct importer *im, struct step *s, size_t x)
{
  s->from = x;
  s->shape = im->step[x].shape;
  s->pooled = im->step[x].pooled;
  s->part = slice_of("gelu");
  return R4_OK;
}

/* x (1 + erf), or half of x times that, which is gelu */
static r4_status gelu_product(struct importer *im, struct step *s, const struct step *erf, const struct step *x)
{
  size_t of = erf->role.of[0], at = (size_t)(x - im->step);
  double factor = erf->role.factor;
  if (x->role.is != STEP_PART) return import_lost(im);
  if (at != of && x->from == of) factor *= x->times, at = of;
  if (at != of) return import_lost(im);
  if (near(factor, 0.5)) return gelu_of(im, s, of);
  if (!near(factor, 1)) return import_lost(im);
  s->role = role_of(STEP_GELUS, im, &im->step[of]);
  return R4_OK;
}

/* ---- Sums, differences, products and quotients ---- */

static r4_status with_number(struct importer *im, struct step *s, const struct step *a, char op, double v,
                             bool number_first)
{
  switch (a->role.is) {
  case STEP_MASK:
    return mask_arithmetic(s, a, op, v, number_first);
  case STEP_ERF:
    if (op != '+' || !near(v, 1)) return import_lost(im);
    s->role = a->role;
    s->role.is = STEP_ERF_ONE;
    return R4_OK;
  case STEP_ERF_ONE:
    if (op != '*') return import_lost(im);
    s->role = a->role;
    s->role.factor *= v;
    return R4_OK;
  case STEP_GELUS:
    if (op == '/' && !number_first) v = 1 / v;
    return (op == '*' || op == '/') && near(v, 0.5) ? gelu_of(im, s, a->role.of[0]) : import_lost(im);
  case STEP_HEADS:
  case STEP_SCORES:
    if (op == '/' && !number_first) v = 1 / v;
    return op == '*' || (op == '/' && !number_first) ? attention_scale(im, s, a, v) : import_lost(im);
  default:
    return import_lost(im);
  }
}

/* Two results, of which one at least has a role. */
static r4_status of_two(struct importer *im, struct step *s, char op, const struct step *a, const struct step *b)
{
  enum step_role x = a->role.is, y = b->role.is;
  if (op == '+' && x == STEP_SCORES && y == STEP_MASK) return attention_mask(im, s, a, b);
  if (op == '+' && y == STEP_SCORES && x == STEP_MASK) return attention_mask(im, s, b, a);
  if (op == '*' && x == STEP_ERF_ONE) return gelu_product(im, s, a, b);
  if (op == '*' && y == STEP_ERF_ONE) return gelu_product(im, s, b, a);
  const struct step *tokens = x == STEP_PART ? a : b, *mask = x == STEP_PART ? b : a;
  if (op == '*' && tokens->role.is == STEP_PART && tokens->shape.rank == 2 && is_plain_mask(mask, 3)) {
    s->role = role_of(STEP_MASKED, im, tokens);
    return R4_OK;
  }
  if (op == '/' && x == STEP_TOTAL && y == STEP_COUNT) {
    s->from = a->role.of[0];
    s->part = slice_of("mean");
    s->shape = R4_SHAPE(import_channels(&im->step[s->from]));
    return R4_OK;
  }
  return import_lost(im);
}

r4_status role_arithmetic(struct importer *im, const struct onnx_node *n, struct step *s, char op)
{
  struct step *a, *b;
  const struct onnx_tensor *t, *u;
  double v;
  r4_status status = import_input(im, n, 0, &a, &t);
  if (!status) status = import_input(im, n, 1, &b, &u);
  if (status) return status;
  if (a && b) return of_two(im, s, op, a, b);
  if (!import_scalar(im, n, a ? 1 : 0, &v)) return import_lost(im);
  return with_number(im, s, a ? a : b, op, v, !a);
}
