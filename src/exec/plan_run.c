/* Running a plan, binding its memory, and telling about it. */
#include <omp.h>
#include <string.h>

#include "base/text.h"
#include "exec/kernel/kernel.h"
#include "exec/team.h"
#include "exec/tile.h"
#include "op/op_rules.h"

r4_status r4_plan_input(r4_plan *p, const char *name, const void *data, r4_error *e)
{
  NEEDS(p, "a plan", R4_E_ARGUMENT);
  r4_error_clear(e);
  if (!name) return r4_fail(e, R4_E_ARGUMENT, "plan: an input has no name");
  for (uint32_t k = 0; k < p->n_inputs; k++) {
    if (strcmp(p->input_name[k], name)) continue;
    p->input[k].data = (void *)(uintptr_t)data;
    return R4_OK;
  }
  return r4_fail(e, R4_E_ARGUMENT, "plan: the graph has no input \"%s\"", name);
}

r4_status r4_plan_output(r4_plan *p, size_t k, void *data, r4_error *e)
{
  NEEDS(p, "a plan", R4_E_ARGUMENT);
  r4_error_clear(e);
  if (k >= p->n_outputs) return r4_fail(e, R4_E_ARGUMENT, "plan: output %zu of %u", k, p->n_outputs);
  p->output[k].data = data;
  return R4_OK;
}

static r4_status check_bound(const r4_plan *p, r4_error *e)
{
  for (uint32_t k = 0; k < p->n_inputs; k++)
    if (p->input[k].needed && !p->input[k].data)
      return r4_fail(e, R4_E_ARGUMENT, "plan: input \"%s\" is not bound", p->input_name[k]);
  for (uint32_t k = 0; k < p->n_outputs; k++)
    if (!p->output[k].data) return r4_fail(e, R4_E_ARGUMENT, "plan: output %u is not bound", k);
  return R4_OK;
}

static void *address(const r4_plan *p, uint32_t buffer)
{
  const struct buffer *b = &p->buffer[buffer];
  if (b->home == BUFFER_INPUT) return p->input[b->slot].data;
  if (b->home == BUFFER_OUTPUT) return p->output[b->slot].data;
  if (b->home == BUFFER_BLOCK) return p->block.memory + b->offset;
  return p->slab + b->offset;
}

static r4_status run_unit(r4_plan *p, struct unit *u, r4_error *e)
{
  void **in = p->pointer, **out = p->pointer + u->n_in;
  if (u->kind == UNIT_COPY) {
    memmove(address(p, u->out_buffer[0]), address(p, u->in_buffer[0]), plan_bytes(p, u->final));
    return R4_OK;
  }
  for (uint32_t k = 0; k < u->n_in; k++) in[k] = address(p, u->in_buffer[k]);
  if (u->kind == UNIT_DENSE) return u->kernel->run(u->kernel, in, address(p, u->out_buffer[0]), e);
  for (uint32_t k = 0; k < u->n_roots; k++) out[k] = address(p, u->out_buffer[k]);
  tile_run(u->tile, in, out);
  return R4_OK;
}

static r4_status run_units(r4_plan *p, r4_error *e)
{
  r4_status s = R4_OK;
  for (uint32_t k = 0; k < p->n_units && !s; k++) {
    double start = p->profile ? omp_get_wtime() : 0;
    s = run_unit(p, &p->unit[k], e);
    if (p->profile) p->unit[k].seconds += omp_get_wtime() - start;
    if (p->ran && !s) p->ran(k, p->ran_user);
  }
  return s;
}

r4_status r4_plan_run(r4_plan *p, r4_error *e)
{
  NEEDS(p, "a plan", R4_E_ARGUMENT);
  r4_error_clear(e);
  r4_status s = check_bound(p, e);
  if (!s) s = block_find(p, e);
  if (s) return s;
  p->runs++;
  if (p->reference) return reference_run(p->reference, p, e);
  struct team t = team_enter();
  s = fit_kernels(p, t.threads, e);
  if (!s) s = run_units(p, e);
  team_leave(t);
  return s;
}

/* ---- Facts ---- */

void r4_plan_profile(r4_plan *p)
{
  p->profile = true;
  p->runs = 0;
  for (uint32_t k = 0; k < p->n_units; k++) p->unit[k].seconds = 0;
}

size_t r4_plan_slab_bytes(const r4_plan *p)
{
  return p->reference ? reference_bytes(p->reference) : p->slab_bytes;
}

size_t r4_plan_kernels(const r4_plan *p)
{
  return p->n_units;
}

double r4_plan_flops(const r4_plan *p)
{
  double flops = 0;
  for (uint32_t k = 0; k < p->n_units; k++) flops += p->unit[k].flops;
  return flops;
}

static void describe_unit(struct text *t, const r4_plan *p, const struct unit *u)
{
  char shape[SHAPE_TEXT];
  if (u->kind == UNIT_TILE) {
    text_add(t, "tile %u instructions", tile_instructions(u->tile));
    for (uint32_t k = 0; k < u->n_roots; k++) {
      const struct node *n = graph_node(p->g, plan_node(p, u->roots[k]));
      text_add(t, " %s%s%s", n->op->name, shape_text(n->shape, shape),
               u->roots[k].i > p->g->size ? " again" : "");
    }
    return;
  }
  if (u->kind == UNIT_COPY) {
    text_add(t, "copy %s", shape_text(r4_node_shape(p->g, u->final), shape));
    return;
  }
  text_add(t, "%s: %s", u->kernel->name, graph_node(p->g, u->fused.head)->op->name);
  for (uint32_t k = 0; k < graph_node(p->g, u->fused.head)->arity; k++)
    text_add(t, " %s", shape_text(r4_node_shape(p->g, graph_arg(p->g, u->fused.head, k)), shape));
  text_add(t, " -> %s%s%s%s", shape_text(r4_node_shape(p->g, u->fused.head), shape),
           u->fused.bias.i ? " + bias" : "", u->fused.relu ? " relu" : "",
           u->fused.bf16 ? " bf16" : u->fused.accumulate.i ? " in place" : "");
  if (u->final.i > p->g->size) text_add(t, " again");
}

char *r4_plan_text(const r4_plan *p)
{
  struct text t = {0};
  for (uint32_t k = 0; k < p->n_units; k++) {
    const struct unit *u = &p->unit[k];
    double ms = p->runs ? u->seconds * 1e3 / (double)p->runs : 0;
    if (p->profile) text_add(&t, "%8.4f ms %7.1f GF/s  ", ms, ms > 0 ? u->flops / ms * 1e-6 : 0);
    describe_unit(&t, p, u);
    text_add(&t, "\n");
  }
  if (p->reference) text_add(&t, "reference: %zu nodes by plain loops\n", r4_graph_size(p->g));
  return text_take(&t);
}
