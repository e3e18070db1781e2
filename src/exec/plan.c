/* Compiling: simplify, cluster, make kernels, lay out memory. */
#include "exec/plan.h"

#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "exec/team.h"
#include "exec/tile.h"
#include "op/op_rules.h"
#include "pass/simplify.h"

static void free_unit(struct unit *u)
{
  r4_mem_free(u->roots);
  r4_mem_free(u->in);
  r4_mem_free(u->in_buffer);
  r4_mem_free(u->out_buffer);
  tile_free(u->tile);
  kernel_free(u->kernel);
}

void r4_plan_free(r4_plan *p)
{
  if (!p) return;
  for (uint32_t k = 0; k < p->n_units; k++) free_unit(&p->unit[k]);
  for (uint32_t k = 0; p->input_name && k < p->n_inputs; k++) r4_mem_free(p->input_name[k]);
  reference_free(p->reference);
  r4_graph_free(p->g);
  r4_mem_free(p->unit);
  r4_mem_free(p->buffer);
  r4_mem_free(p->buffer_of);
  r4_mem_free(p->in_memory);
  r4_mem_free(p->input);
  r4_mem_free(p->output);
  r4_mem_free(p->input_name);
  r4_mem_free(p->slab);
  r4_mem_free(p->block.place);
  r4_mem_free(p->block.gap);
  r4_mem_free(p->pointer);
  r4_mem_free(p->scratch);
  r4_mem_free(p);
}

/* ---- Inputs: all names of the caller's graph, and where they are in the plan's own ---- */

static r4_status list_inputs(r4_plan *p, const r4_graph *g, r4_error *e)
{
  for (uint32_t i = 1; i <= g->size; i++) p->n_inputs += g->node[i].op == &op_input;
  p->input = mem_new(p->n_inputs, sizeof *p->input, "a plan", e);
  p->input_name = mem_new(p->n_inputs, sizeof *p->input_name, "a plan", e);
  if (!p->input || !p->input_name) return R4_E_MEMORY;
  uint32_t k = 0;
  for (uint32_t i = 1; i <= g->size; i++) {
    if (g->node[i].op != &op_input) continue;
    const char *name = graph_name(g, (r4_id){i});
    p->input[k].node = graph_find_input(p->g, name);
    p->input[k].needed = p->input[k].node.i != 0;
    if (!(p->input_name[k++] = mem_copy(name, e))) return R4_E_MEMORY;
  }
  return R4_OK;
}

/* The simplified graph still holds nodes that nothing needs: an input among them is not needed. */
static r4_status drop_unneeded(r4_plan *p, size_t n, const r4_id *out, r4_error *e)
{
  bool *live = NULL;
  if (!graph_live(p->g, n, out, &live)) return r4_fail(e, R4_E_MEMORY, "out of memory for a plan");
  for (uint32_t k = 0; k < p->n_inputs; k++) p->input[k].needed &= live[p->input[k].node.i];
  r4_mem_free(live);
  return R4_OK;
}

/* ---- Kernels ---- */

double dense_flops(const r4_graph *g, r4_id head)
{
  const struct node *n = graph_node(g, head);
  r4_shape in[MAX_ARITY];
  for (uint32_t k = 0; k < n->arity; k++) in[k] = r4_node_shape(g, graph_arg(g, head, k));
  return n->op->flops ? n->op->flops(in, n->shape, &n->attr) : 0;
}

static bool bf16_node(const r4_plan *p, r4_id x)
{
  return p->type == R4_F32 && is_bf16(graph_node(p->g, plan_base(p->g, x))->op);
}

void plan_request(const r4_plan *p, r4_id head, struct kernel_request *q)
{
  const struct node *n = graph_node(p->g, head);
  *q = (struct kernel_request){.op = n->op, .type = p->type, .n = n->arity, .out = n->shape, .attr = n->attr};
  q->bf16 = n->arity > 1 && bf16_node(p, graph_arg(p->g, head, 0));
  /* weights that are all >= 0 take radii of bounds to radii, which must not come out below 0 */
  q->winograd = p->winograd && n->arity > 1 && !op_nonneg(p->g, graph_arg(p->g, head, 1));
  for (uint32_t k = 0; k < n->arity; k++) {
    r4_id in = graph_arg(p->g, head, k);
    q->in[k] = r4_node_shape(p->g, in);
    q->outside[k] = graph_node(p->g, plan_base(p->g, in))->op == &op_input;
  }
}

static r4_status make_kernel(r4_plan *p, struct unit *u, r4_error *e)
{
  struct kernel_request q;
  plan_request(p, u->fused.head, &q);
  q.bias = u->fused.bias.i;
  q.relu = u->fused.relu;
  q.accumulate = u->fused.accumulate.i;
  q.bf16_out = u->fused.bf16;
  r4_status s = kernel_new(&q, &u->kernel, e);
  double share = s ? 0 : u->kernel->flops_share;
  u->flops = dense_flops(p->g, u->fused.head) * (share > 0 ? share : 1);
  return s;
}

/* One for all: a net has many convolutions, each of which reorders its weights, and buffers of their own for all of
 * them would hold the weights several times over. */
static r4_status share_scratch(r4_plan *p, r4_error *e)
{
  size_t most = 0;
  for (uint32_t k = 0; k < p->n_units; k++)
    if (p->unit[k].kernel && p->unit[k].kernel->scratch_bytes > most) most = p->unit[k].kernel->scratch_bytes;
  r4_mem_free(p->scratch);
  p->scratch = most ? mem_new_aligned(most, 1, "a plan", e) : NULL;
  if (most && !p->scratch) return R4_E_MEMORY;
  for (uint32_t k = 0; k < p->n_units; k++)
    if (p->unit[k].kernel) p->unit[k].kernel->scratch = p->scratch;
  return R4_OK;
}

/* Which kernel fits, how it shares out its work and the order of its sums depend on the number of threads: making them
 * again, a plan computes what a plan that was made for this team would. */
r4_status fit_kernels(r4_plan *p, int threads, r4_error *e)
{
  if (p->threads == threads) return R4_OK;
  p->threads = 0;
  for (uint32_t k = 0; k < p->n_units; k++) {
    struct unit *u = &p->unit[k];
    r4_status s = R4_OK;
    kernel_free(u->kernel);
    u->kernel = NULL;
    if (u->kind == UNIT_DENSE) s = make_kernel(p, u, e);
    if (u->kind == UNIT_TILE && !tile_fit(u->tile, threads))
      s = r4_fail(e, R4_E_MEMORY, "out of memory for the threads of a plan");
    if (s) return s;
  }
  r4_status s = share_scratch(p, e);
  if (!s) p->threads = threads;
  return s;
}

static r4_status make_pointers(r4_plan *p, r4_error *e)
{
  uint32_t most = 1;
  for (uint32_t k = 0; k < p->n_units; k++) {
    uint32_t pointers = p->unit[k].n_in + p->unit[k].n_roots + 1;
    if (pointers > most) most = pointers;
  }
  p->pointer = mem_new(most, sizeof *p->pointer, "a plan", e);
  return p->pointer ? R4_OK : R4_E_MEMORY;
}

/* ---- A plan ---- */

static r4_status compile_for(int threads, r4_plan *p, const r4_graph *g, size_t n, const r4_id *out,
                             r4_error *e)
{
  r4_id *mine = mem_new(n, sizeof *mine, "a plan", e);
  r4_status s = mine ? R4_OK : R4_E_MEMORY;
  if (!s && !(p->g = simplify(g, n, out, mine, e))) s = e->status;
  if (!s && p->bf16) s = narrow_operands(p, n, mine, e);
  if (!s) s = list_inputs(p, g, e);
  if (!s) s = drop_unneeded(p, n, mine, e);
  if (!s) s = cluster(p, n, mine, e);
  if (!s) s = compute_again(p, n, mine, e);
  if (!s) s = layout(p, n, mine, e);
  if (!s) s = make_pointers(p, e);
  if (!s) s = fit_kernels(p, threads, e);
  r4_mem_free(mine);
  return s;
}

static r4_status compile_fast(r4_plan *p, const r4_graph *g, size_t n, const r4_id *out, r4_error *e)
{
  struct team t = team_enter();
  r4_status s = compile_for(t.threads, p, g, n, out, e);
  team_leave(t);
  return s;
}

/* A copy of the graph by way of its own builder: same nodes, same numbers. */
static r4_graph *copy_graph(const r4_graph *g)
{
  r4_graph *copy = r4_graph_new();
  for (uint32_t i = 1; copy && i <= g->size && !copy->error.status; i++) {
    const struct node *n = &g->node[i];
    graph_add(copy, n->op, n->arity, g->arg + n->first, &n->attr, &n->shape,
              n->name ? g->names + n->name : NULL);
  }
  if (copy && copy->error.status) {
    r4_graph_free(copy);
    copy = NULL;
  }
  return copy;
}

static r4_status compile_reference(r4_plan *p, const r4_graph *g, size_t n, const r4_id *out, r4_error *e)
{
  p->g = copy_graph(g);
  if (!p->g) return r4_fail(e, R4_E_MEMORY, "out of memory for a graph");
  r4_status s = list_inputs(p, g, e);
  if (!s) s = drop_unneeded(p, n, out, e);
  if (!s && !(p->reference = reference_new(p->g, n, out, e))) s = e->status;
  return s;
}

static r4_status check_request(const r4_graph *g, size_t n, const r4_id *out, r4_error *e)
{
  r4_error_clear(e);
  if (!g) return r4_fail(e, R4_E_ARGUMENT, "plan: no graph");
  if (g->error.status) return r4_fail(e, g->error.status, "%s", g->error.text);
  if (!n || !out) return r4_fail(e, R4_E_ARGUMENT, "plan: no outputs");
  for (size_t k = 0; k < n; k++)
    if (!out[k].i || out[k].i > g->size)
      return r4_fail(e, R4_E_ARGUMENT, "plan: output %zu is not a node of the graph", k);
  return R4_OK;
}

r4_plan *r4_plan_new(const r4_graph *g, size_t n, const r4_id *out, const r4_plan_options *options,
                     r4_error *e)
{
  r4_error local;
  if (!e) e = &local;
  if (check_request(g, n, out, e)) return NULL;
  r4_plan *p = mem_new(1, sizeof *p, "a plan", e);
  r4_status s = p ? R4_OK : R4_E_MEMORY;
  if (!s) {
    p->type = options ? options->type : R4_F32;
    p->profile = options && options->profile;
    p->winograd = options && options->winograd;
    p->bf16 = options && options->bf16 && p->type == R4_F32 && dnn_has_bf16();
    p->keep_asked = options && options->keep_bytes;
    p->keep_bytes = p->keep_asked ? options->keep_bytes : (size_t)192 << 20;
    p->n_outputs = (uint32_t)n;
    p->output = mem_new(n, sizeof *p->output, "a plan", e);
    if (!p->output) s = R4_E_MEMORY;
  }
  if (!s && options && options->place) s = block_read(p, options->place, g, out, e);
  if (!s) s = (options && options->reference ? compile_reference : compile_fast)(p, g, n, out, e);
  if (!s) return p;
  r4_plan_free(p);
  return NULL;
}
