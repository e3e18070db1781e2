/* Sound rules of operations that move elements, compare them, or add them up: their own kernels, at both ends. */
#include "base/mem.h"
#include "op/sound.h"

/* The operation in plain double on these arguments. */
static r4_status at(const struct enclosing *c, const double *const *in, double *out)
{
  struct call call = {.n = c->n, .attr = c->attr, .out = out, .shape = c->shape, .error = c->error};
  for (size_t k = 0; k < c->n; k++) {
    call.in[k] = in[k];
    call.in_shape[k] = c->in_shape[k];
  }
  if (c->op->kind != OP_ELEMENT) return c->op->kernel(&call);
  c->op->f64((size_t)r4_shape_count(c->shape), in[0], in[1], in[2], out);
  return R4_OK;
}

r4_status enclose_increasing(const struct enclosing *c)
{
  r4_status s = at(c, c->lo, c->out_lo);
  return s ? s : at(c, c->hi, c->out_hi);
}

/* S = sum x: at each end the computed sum, and its error by that of the sizes |x|. */
r4_status enclose_sum(const struct enclosing *c)
{
  size_t n = (size_t)r4_shape_count(c->in_shape[0]), m = (size_t)r4_shape_count(c->shape);
  double terms = c->op->terms(c->in_shape, c->shape, c->attr);
  double *size = mem_new(n + m, sizeof *size, "sizes of terms", c->error), *sum = size + n;
  if (!size) return R4_E_MEMORY;
  for (size_t k = 0; k < n; k++) size[k] = sound_largest(c->lo[0][k], c->hi[0][k]);
  const double *in[MAX_ARITY] = {size};
  for (size_t k = 1; k < c->n; k++) in[k] = c->lo[k];
  r4_status s = at(c, in, sum);
  if (!s) s = enclose_increasing(c);
  for (size_t k = 0; k < m && !s; k++) {
    double error = sound_sum_error(terms, sum[k]);
    if (c->any_float) error += sound_float_error(terms, sum[k]);
    if (sum[k] == 0) continue; /* all terms are 0 */
    c->out_lo[k] = sound_down(c->out_lo[k] - error);
    c->out_hi[k] = sound_up(c->out_hi[k] + error);
  }
  r4_mem_free(size);
  return s;
}
