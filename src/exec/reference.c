/* The oracle: every node of the graph as it is, one after the other, by plain loops in double. */
#include <string.h>

#include "base/mem.h"
#include "exec/plan.h"
#include "op/op_rules.h"

struct reference {
  const r4_graph *g; /* the plan's own, not simplified */
  bool *live;
  double **value; /* by node */
  r4_id *out;
  size_t n_out, bytes;
};

void reference_free(struct reference *r)
{
  if (!r) return;
  for (uint32_t i = 1; r->value && i <= r->g->size; i++) r4_mem_free(r->value[i]);
  r4_mem_free(r->value);
  r4_mem_free(r->live);
  r4_mem_free(r->out);
  r4_mem_free(r);
}

size_t reference_bytes(const struct reference *r)
{
  return r->bytes;
}

struct reference *reference_new(const r4_graph *g, size_t n, const r4_id *out, r4_error *e)
{
  struct reference *r = r4_mem_new(1, sizeof *r);
  bool ok = r != NULL;
  if (ok) {
    r->g = g;
    r->n_out = n;
    r->value = r4_mem_new(g->size + 1, sizeof *r->value);
    r->out = r4_mem_new(n, sizeof *r->out);
    ok = r->value && r->out && graph_live(g, n, out, &r->live);
  }
  if (ok) memcpy(r->out, out, n * sizeof *out);
  for (uint32_t i = 1; ok && i <= g->size; i++) {
    size_t count = (size_t)r4_shape_count(g->node[i].shape);
    if (!r->live[i]) continue;
    r->value[i] = r4_mem_new(count, sizeof(double));
    r->bytes += count * sizeof(double);
    ok = r->value[i] != NULL;
  }
  if (ok) return r;
  r4_fail(e, R4_E_MEMORY, "plan: out of memory for the reference");
  reference_free(r);
  return NULL;
}

static void convert(r4_type type, double *inside, void *outside, int64_t n, bool in)
{
  float *f = outside;
  if (type == R4_F64 && in)
    memcpy(inside, outside, (size_t)n * sizeof *inside);
  else if (type == R4_F64)
    memcpy(outside, inside, (size_t)n * sizeof *inside);
  else
    for (int64_t k = 0; k < n; k++) {
      if (in)
        inside[k] = (double)f[k];
      else
        f[k] = (float)inside[k];
    }
}

static r4_status run_node(struct reference *r, uint32_t i, r4_error *e)
{
  const struct node *n = &r->g->node[i];
  struct call c = {.n = n->arity, .attr = &n->attr, .out = r->value[i], .shape = n->shape, .error = e};
  for (uint32_t k = 0; k < n->arity; k++) {
    r4_id a = r->g->arg[n->first + k];
    c.in[k] = r->value[a.i];
    c.in_shape[k] = r->g->node[a.i].shape;
  }
  if (n->op->kind != OP_ELEMENT) return n->op->kernel(&c);
  n->op->f64((size_t)r4_shape_count(n->shape), c.in[0], c.in[1], c.in[2], c.out);
  return R4_OK;
}

r4_status reference_run(struct reference *r, r4_plan *p, r4_error *e)
{
  for (uint32_t k = 0; k < p->n_inputs; k++) {
    uint32_t i = p->input[k].node.i;
    if (p->input[k].needed)
      convert(p->type, r->value[i], p->input[k].data, r4_shape_count(r->g->node[i].shape), true);
  }
  for (uint32_t i = 1; i <= r->g->size; i++) {
    if (!r->live[i] || r->g->node[i].op == &op_input) continue;
    r4_status s = run_node(r, i, e);
    if (s) return s;
  }
  for (size_t k = 0; k < r->n_out; k++) {
    uint32_t i = r->out[k].i;
    convert(p->type, r->value[i], p->output[k].data, r4_shape_count(r->g->node[i].shape), false);
  }
  return R4_OK;
}
