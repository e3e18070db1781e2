/* The text form of a graph and its form for Graphviz. One line per node:
 *
 *     %1 = input "x" : [256,784]
 *     %3 = matmul %1 %2 transpose=0,1 : [256,512]
 *     output %3                                                                                  */
#include "base/text.h"

#include "base/mem.h"
#include "graph/op.h"

static void add_shape(struct text *t, r4_shape s)
{
  char buffer[SHAPE_TEXT];
  text_add(t, "%s", shape_text(s, buffer));
}

static int field_count(const struct attr_field *f, const r4_graph *g, uint32_t i)
{
  if (f->count == FIELD_MOSTLY_1) return 1;
  if (f->count > 0) return f->count;
  return g->node[i].arity ? g->node[g->arg[g->node[i].first].i].shape.rank : g->node[i].shape.rank;
}

static void add_attributes(struct text *t, const r4_graph *g, uint32_t i)
{
  const struct node *n = &g->node[i];
  for (const struct attr_field *f = n->op->fields; f && f->name; f++) {
    bool mostly_1 = f->count == FIELD_MOSTLY_1;
    if (mostly_1 && !n->attr.i[f->first]) continue;
    text_add(t, " %s=", f->name);
    int count = field_count(f, g, i);
    for (int k = 0; k < count; k++)
      text_add(t, "%s%lld", k ? "," : "", (long long)(n->attr.i[f->first + k] + mostly_1));
  }
  if (n->op->has_value) text_add(t, " value=%.17g", n->attr.f);
}

/* number[i] = position of node i among the live ones; NULL when out of memory or if an output is not a node */
static uint32_t *numbering(const r4_graph *g, size_t n, const r4_id *out)
{
  for (size_t k = 0; k < n; k++)
    if (!out[k].i || out[k].i > g->size) return NULL;
  bool *live = NULL;
  uint32_t *number = r4_mem_new(g->size + 1, sizeof *number), next = 0;
  if (number && graph_live(g, n, out, &live)) {
    for (uint32_t i = 1; i <= g->size; i++) number[i] = live[i] ? ++next : 0;
  } else {
    r4_mem_free(number);
    number = NULL;
  }
  r4_mem_free(live);
  return number;
}

static void add_node(struct text *t, const r4_graph *g, uint32_t i, const uint32_t *number)
{
  const struct node *n = &g->node[i];
  text_add(t, "%%%u = %s", number[i], n->op->name);
  if (n->name) text_add(t, " \"%s\"", g->names + n->name);
  for (uint32_t k = 0; k < n->arity; k++) text_add(t, " %%%u", number[g->arg[n->first + k].i]);
  add_attributes(t, g, i);
  text_add(t, " : ");
  add_shape(t, n->shape);
  text_add(t, "\n");
}

char *r4_graph_text(const r4_graph *g, size_t n, const r4_id *out)
{
  struct text t = {0};
  uint32_t *number = r4_graph_status(g, NULL) || !out ? NULL : numbering(g, n, out);
  if (!number) return NULL;
  for (uint32_t i = 1; i <= g->size; i++)
    if (number[i]) add_node(&t, g, i, number);
  for (size_t k = 0; k < n; k++) text_add(&t, "output %%%u\n", number[out[k].i]);
  r4_mem_free(number);
  return text_take(&t);
}

static void add_dot_node(struct text *t, const r4_graph *g, uint32_t i, const uint32_t *number)
{
  const struct node *n = &g->node[i];
  text_add(t, "  n%u [label=\"%s%s%s", number[i], n->op->name, n->name ? " " : "",
           n->name ? g->names + n->name : "");
  add_attributes(t, g, i);
  text_add(t, "\\n");
  add_shape(t, n->shape);
  text_add(t, "\"%s];\n", n->arity ? "" : ", style=filled, fillcolor=lightgrey");
  for (uint32_t k = 0; k < n->arity; k++)
    text_add(t, "  n%u -> n%u;\n", number[g->arg[n->first + k].i], number[i]);
}

char *r4_graph_dot(const r4_graph *g, size_t n, const r4_id *out)
{
  struct text t = {0};
  uint32_t *number = r4_graph_status(g, NULL) || !out ? NULL : numbering(g, n, out);
  if (!number) return NULL;
  text_add(&t, "digraph r4 {\n  node [shape=box, fontname=monospace];\n");
  for (uint32_t i = 1; i <= g->size; i++)
    if (number[i]) add_dot_node(&t, g, i, number);
  for (size_t k = 0; k < n; k++)
    text_add(&t, "  out%zu [shape=plaintext, label=\"output %zu\"];\n  n%u -> out%zu;\n", k, k,
             number[out[k].i], k);
  text_add(&t, "}\n");
  r4_mem_free(number);
  return text_take(&t);
}
