/* Operands of products in bfloat16: before each product that gains by it, both operands are rounded,
 *
 *     f(a, b)  becomes  f(bf16(a), bf16(b))
 *
 * A product of two such numbers is exact in float, and sums are floats: of K terms, the result is off by at most
 *
 *     (2 u + u^2 + K 2^-24) sum |a b|,    u = 2^-8
 *
 * An operand of several products is rounded once, by the tile kernel that computes it if there is one. Where a product
 * is read by nothing else but products, it is stored in bfloat16. All else stays float: sums, element-wise operations,
 * norms, the weights and what the optimiser keeps.
 *
 * Bounds. The radius of L(x) + b is |L| r (op_bilinear), and products with |L|, or what is made of it, round both
 * operands away from zero instead: with r >= 0 each term |L| r is above the exact one, so a radius never comes out
 * below what float sums make of it. In derivatives of a radius |L| then has the same value, with signed operands, whose
 * error is at most twice as large. Centres are rounded to the nearest like any product: the ends c -+ r are those of
 * what the step computes, not of the float network; see doc/engine.md.
 *
 * What is rounded to the nearest has the sign it had, so step(relu(z)) is computed as step(bf16(relu(z))), and relu(z)
 * itself is not kept. */
#include "base/mem.h"
#include "exec/kernel/bf16.h"
#include "exec/kernel/kernel.h"
#include "exec/plan.h"
#include "op/op_rules.h"
#include "op/window.h"

enum {
  MADE = 5, /* nodes of one at most: itself, and two of each operand of a product */
  DEPTH = 6 /* of what is made of |x| */
};

struct copier {
  const r4_plan *plan;
  const r4_graph *from;
  r4_graph *to;
  r4_id *copy;    /* by node of from */
  r4_id *rounded; /* by node of to: bf16 of it, or none */
  r4_error *error;
};

/* ---- Which products ---- */

static bool forced;

void narrow_force(bool always)
{
  forced = always;
}

static bool is_product(const struct op *op)
{
  return op == &op_matmul || op == &op_conv2d || op == &op_conv2d_dx || op == &op_conv2d_dw;
}

/* Rounding moves bytes: it pays where a product computes much for each number that it reads or writes. Measured on a
 * Zen 5 machine, one thread, both operands rounded for the product and its two derivatives: dense layers of 128 x 32 ->
 * 32 (0.26 MFLOP, 28 for each number) take 1.04 times less, of 128 x 64 -> 64 1.3 times, of 4096 x 16 -> 16 (2.1 MFLOP,
 * 16) 1.09 times, of 256 x 784 -> 512 1.84 times. Of convolutions of single channels, which oneDNN does badly, 0.7
 * times; of 3 channels 1.04 to 1.10, of 4 and more 1.1 to 1.85. */
static const double MIN_FLOPS = 5e5, MIN_RATE = 16;
enum { MIN_CHANNELS = 3 };

static int64_t channels_of(const struct kernel_request *q)
{
  const r4_shape *w = q->op == &op_conv2d_dw ? &q->out : &q->in[1];
  return w->dim[3];
}

static bool gains(const struct kernel_request *q)
{
  bool conv = q->op != &op_matmul;
  if (conv && window_groups(&q->attr) > 1) return false; /* single channels have kernels of their own */
  if (forced) return true;
  if (conv && channels_of(q) < MIN_CHANNELS + (q->op == &op_conv2d_dx))
    return false; /* a derivative by an image, too */
  double flops = q->op->flops(q->in, q->out, &q->attr), numbers = (double)r4_shape_count(q->out);
  for (size_t k = 0; k < q->n; k++) numbers += (double)r4_shape_count(q->in[k]);
  return flops >= MIN_FLOPS && flops >= MIN_RATE * numbers;
}

/* The kernel is made, looked at and thrown away. */
static r4_status narrows(const struct copier *c, r4_id y, bool *yes)
{
  struct kernel_request q;
  struct kernel *k = NULL;
  *yes = false;
  if (!is_product(graph_node(c->from, y)->op)) return R4_OK;
  plan_request(c->plan, y, &q);
  if (!gains(&q) || winograd_wins(&q)) return R4_OK;
  q.bf16 = true;
  r4_status s = kernel_new(&q, &k, c->error);
  bool unknown = s == R4_E_INTERNAL;
  if (unknown) r4_error_clear(c->error);
  *yes = k != NULL;
  kernel_free(k);
  return unknown ? R4_OK : s;
}

/* ---- The copy ---- */

/* A factor of a radius: |x|, |x| + s, some rows of it, its multiple, ... */
static bool is_size(const r4_graph *g, r4_id x, int depth)
{
  const struct op *op = graph_node(g, x)->op;
  bool any = op == &op_abs;
  if (!depth || !op->keeps_sign || is_product(op) || is_bf16(op)) return any;
  for (uint32_t k = 0; k < graph_node(g, x)->arity && !any; k++)
    any = is_size(g, graph_arg(g, x, k), depth - 1);
  return any;
}

/* op(x): reshapes of x become reshapes of it. */
static r4_id round_operand(struct copier *c, r4_id x, const struct op *op)
{
  r4_id base = plan_base(c->to, x), y = graph_add(c->to, op, 1, &base, NULL, NULL, NULL);
  if (op == &op_bf16) c->rounded[base.i] = y;
  return base.i == x.i ? y : r4_reshape(c->to, y, r4_node_shape(c->to, x));
}

static r4_id gate_of(const struct copier *c, r4_id x)
{
  r4_id base = plan_base(c->to, x);
  bool known = graph_is(c->to, base, &op_relu) && base.i == x.i && c->rounded[x.i].i;
  return known ? c->rounded[x.i] : x;
}

static r4_status copy_node(struct copier *c, uint32_t i)
{
  const struct node *n = &c->from->node[i];
  r4_id arg[MAX_ARITY];
  bool narrow = false;
  r4_status s = narrows(c, (r4_id){i}, &narrow);
  if (s) return s;
  for (uint32_t k = 0; k < n->arity; k++) arg[k] = c->copy[graph_arg(c->from, (r4_id){i}, k).i];
  bool outward = narrow && (is_size(c->to, arg[0], DEPTH) || is_size(c->to, arg[1], DEPTH));
  for (uint32_t k = 0; k < n->arity && narrow; k++)
    arg[k] = round_operand(c, arg[k], outward ? &op_bf16_out : &op_bf16);
  if (n->op == &op_step) arg[0] = gate_of(c, arg[0]);
  c->copy[i] =
    graph_add(c->to, n->op, n->arity, arg, &n->attr, &n->shape, n->name ? c->from->names + n->name : NULL);
  return R4_OK;
}

r4_status narrow_operands(r4_plan *p, size_t n, r4_id *out, r4_error *e)
{
  struct copier c = {.plan = p, .from = p->g, .to = r4_graph_new(), .error = e};
  bool *live = NULL;
  c.copy = r4_mem_new(p->g->size + 1, sizeof *c.copy);
  c.rounded = r4_mem_new(MADE * (p->g->size + 1), sizeof *c.rounded);
  r4_status s = R4_OK;
  if (!c.to || !c.copy || !c.rounded || !graph_live(p->g, n, out, &live))
    s = r4_fail(e, R4_E_MEMORY, "out of memory for a plan");
  for (uint32_t i = 1; !s && !c.to->error.status && i <= p->g->size; i++)
    if (live[i] || p->g->node[i].op == &op_input) s = copy_node(&c, i);
  if (!s && c.to->error.status) s = r4_fail(e, c.to->error.status, "%s", c.to->error.text);
  for (size_t k = 0; !s && k < n; k++) out[k] = c.copy[out[k].i];
  r4_graph *old = s ? c.to : p->g;
  if (!s) p->g = c.to;
  r4_graph_free(old);
  r4_mem_free(live);
  r4_mem_free(c.copy);
  r4_mem_free(c.rounded);
  return s;
}
