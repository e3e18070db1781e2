/* Networks: made from text, asked about, and used in graphs. */
#include "module/net.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph/op.h"
#include "module/net_open.h"
#include "module/reader.h"

/* ---- Making ---- */

static bool has_leaf(const struct row *row)
{
  for (size_t k = 0; k < row->n; k++) {
    if (row->part[k].kind == &module_leaf) return true;
    for (size_t i = 0; i < row->part[k].branches; i++)
      if (has_leaf(&row->part[k].branch[i])) return true;
  }
  return false;
}

/* The net is cut at its leaf, which therefore stands in its own row. */
static r4_status find_leaf(r4_net *n, r4_error *e)
{
  size_t found = 0;
  for (size_t k = 0; k < n->row->n; k++) {
    const struct module *m = &n->row->part[k];
    for (size_t i = 0; i < m->branches; i++)
      if (has_leaf(&m->branch[i]))
        return r4_fail(e, R4_E_ARGUMENT,
                       "net: the leaf is in a branch, expected it in the main row");
    if (m->kind != &module_leaf) continue;
    if (found++) return r4_fail(e, R4_E_ARGUMENT, "net: has more than one leaf");
    n->leaf = k + 1;
  }
  return R4_OK;
}

static r4_status check_input(r4_shape input, r4_error *e)
{
  if ((input.rank == 1 || input.rank == 3) && shape_valid(input)) return R4_OK;
  char got[SHAPE_TEXT];
  return r4_fail(e, R4_E_SHAPE,
                 "net: input is %s, needs a vector [features] or an image [height,width,channels]",
                 shape_text(input, got));
}

static r4_status check_output(const r4_net *n, r4_error *e)
{
  char got[SHAPE_TEXT];
  r4_shape out = n->row->part[n->row->n - 1].out;
  if (out.rank == 1) return R4_OK;
  return r4_fail(e, R4_E_SHAPE, "net: the last layer gives %s %s, needs a vector of classes",
                 out.rank == 3 ? "an image" : "tokens", shape_text(out, got));
}

/* What is more than a row of parts is kept as the row that it stands for, so that it can be read again by itself. */
static r4_status keep_text(r4_net *n, const struct reader *r, r4_error *e)
{
  n->text = r->expands ? net_print(n) : mem_copy(r->text, NULL);
  return n->text ? R4_OK : r4_fail(e, R4_E_MEMORY, "net: out of memory");
}

r4_net *net_make(struct reader *r, r4_shape input, r4_error *e)
{
  r4_net *n = mem_new(1, sizeof *n, "a net", e);
  if (n) n->row = mem_new(1, sizeof *n->row, "a net", e);
  if (!n || !n->row) {
    r4_net_free(n);
    return NULL;
  }
  n->input = input;
  struct maker maker = {0};
  r4_status s = check_input(input, e);
  if (!s) s = build_row(r, &maker, input, n->row, e);
  n->param = maker.param;
  n->params = maker.params;
  n->size = maker.size;
  if (!s) s = check_output(n, e);
  if (!s) s = find_leaf(n, e);
  if (!s) s = keep_text(n, r, e);
  snprintf(n->expects, sizeof n->expects, "%s", r->preprocess.s);
  if (!s) return n;
  r4_net_free(n);
  return NULL;
}

r4_net *net_new(const char *layers, r4_shape input, r4_error *e)
{
  struct reader r;
  r4_error_clear(e);
  reader_open(&r, NULL, layers, strlen(layers));
  return reader_head(&r, e) ? NULL : net_make(&r, input, e);
}

void r4_net_free(r4_net *n)
{
  if (!n) return;
  r4_string_free(n->text);
  if (n->row) row_free(n->row);
  r4_mem_free(n->row);
  r4_mem_free(n->param);
  r4_mem_free(n);
}

/* ---- Asking ---- */

const char *r4_net_layers(const r4_net *n)
{
  return n->text;
}

r4_shape r4_net_input(const r4_net *n)
{
  return n->input;
}

int64_t r4_net_classes(const r4_net *n)
{
  return n->row->part[n->row->n - 1].out.dim[0];
}

static void find_vocabulary(const struct row *row, int64_t *least)
{
  for (size_t k = 0; k < row->n; k++) {
    const struct module *m = &row->part[k];
    int64_t ids = m->kind == &module_embedding ? module_whole(m, 0) : 0;
    if (ids && (!*least || ids < *least)) *least = ids;
    for (size_t i = 0; i < m->branches; i++) find_vocabulary(&m->branch[i], least);
  }
}

int64_t r4_net_vocabulary(const r4_net *n)
{
  int64_t least = 0;
  find_vocabulary(n->row, &least);
  return least;
}

size_t r4_net_params(const r4_net *n)
{
  return n->params;
}

const char *r4_net_param_name(const r4_net *n, size_t k)
{
  return n->param[k].name;
}

r4_shape r4_net_param_shape(const r4_net *n, size_t k)
{
  return n->param[k].shape;
}

size_t r4_net_param_offset(const r4_net *n, size_t k)
{
  return n->param[k].offset;
}

bool r4_net_param_is_buffer(const r4_net *n, size_t k)
{
  return n->param[k].buffer;
}

size_t r4_net_size(const r4_net *n)
{
  return n->size;
}

double r4_net_flops(const r4_net *n)
{
  r4_graph *g = r4_graph_new();
  r4_id *param = r4_mem_new(n->params + 1, sizeof *param);
  double sum = 0;
  if (g && param) {
    r4_shape one = {.rank = n->input.rank + 1, .dim = {1}};
    memcpy(one.dim + 1, n->input.dim, (size_t)n->input.rank * sizeof *one.dim);
    r4_net_inputs(n, g, param);
    r4_net_apply(n, g, param, r4_input(g, "x", one));
  }
  for (uint32_t i = 1; g && i <= g->size; i++) {
    const struct node *node = &g->node[i];
    r4_shape in[MAX_ARITY];
    for (uint32_t k = 0; k < node->arity; k++) in[k] = g->node[g->arg[node->first + k].i].shape;
    if (node->op->flops) sum += node->op->flops(in, node->shape, &node->attr);
  }
  r4_mem_free(param);
  r4_graph_free(g);
  return sum;
}

/* ---- Using ---- */

void r4_net_inputs(const r4_net *n, r4_graph *g, r4_id *param)
{
  if (!n || (n->params && !param)) {
    graph_given(g, false, __func__, n ? "room for the inputs" : "a net");
    return;
  }
  for (size_t k = 0; k < n->params; k++) param[k] = r4_input(g, n->param[k].name, n->param[k].shape);
}

static bool is_batch_of(r4_shape x, r4_shape one)
{
  if (x.rank != one.rank + 1) return false;
  for (int k = 0; k < one.rank; k++)
    if (x.dim[k + 1] != one.dim[k]) return false;
  return true;
}

static r4_id apply_parts(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use,
                         size_t from, size_t to, r4_id x)
{
  static const struct net_use as_it_is = {0};
  const struct wiring w = {g, param, use ? use : &as_it_is, x};
  return row_apply(&(struct row){n->row->part + from, to - from}, &w, x);
}

static bool accepts(const char *what, r4_graph *g, r4_id x, r4_shape one)
{
  char got[SHAPE_TEXT], need[SHAPE_TEXT];
  r4_shape shape = r4_node_shape(g, x);
  if (is_batch_of(shape, one)) return true;
  r4_graph_fail(g, R4_E_SHAPE, "net: %s is %s, needs a batch of examples of shape %s", what,
                shape_text(shape, got), shape_text(one, need));
  return false;
}

r4_shape net_leaf(const r4_net *n)
{
  return n->leaf ? n->row->part[n->leaf - 1].out : n->input;
}

static bool mixes(const struct module *m)
{
  bool any = m->kind->mixes;
  for (size_t i = 0; i < m->branches; i++)
    for (size_t k = 0; k < m->branch[i].n; k++) any |= mixes(&m->branch[i].part[k]);
  return any;
}

bool net_leaf_by_token(const r4_net *n)
{
  for (size_t k = 0; k < n->leaf; k++)
    if (mixes(&n->row->part[k])) return false;
  return true;
}

r4_id net_to_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id x)
{
  return accepts("x", g, x, n->input) ? apply_parts(n, g, param, use, 0, n->leaf, x) : R4_NONE;
}

r4_id net_from_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id leaf)
{
  const char *what = n->leaf ? "the leaf" : "x";
  return accepts(what, g, leaf, net_leaf(n)) ? apply_parts(n, g, param, use, n->leaf, n->row->n, leaf)
                                             : R4_NONE;
}

r4_id r4_net_apply(const r4_net *n, r4_graph *g, const r4_id *param, r4_id x)
{
  GRAPH_NEEDS(n, "a net", R4_NONE);
  GRAPH_NEEDS(param || !n->params, "parameters", R4_NONE);
  return net_from_leaf(n, g, param, NULL, net_to_leaf(n, g, param, NULL, x));
}

r4_id net_first_rows(r4_graph *g, r4_id x, int64_t rows)
{
  const int64_t start[R4_MAX_RANK] = {0};
  r4_shape s = r4_node_shape(g, x);
  if (s.dim[0] == rows) return x;
  s.dim[0] = rows;
  return r4_slice(g, x, start, s.dim, NULL);
}
