/* Any small graph that is accepted: its derivative and its bounds can be built or are refused, and plans of
 * all three run or are refused. Nothing crashes, hangs, reads where it must not, or breaks an invariant. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "op/op_rules.h"

enum { OUTPUTS = 8, MOST_NODES = 60, MOST_ELEMENTS = 300, INPUTS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static bool is_small(const r4_graph *g)
{
  if (g->size > MOST_NODES) return false;
  for (uint32_t i = 1; i <= g->size; i++)
    if (r4_shape_count(g->node[i].shape) > MOST_ELEMENTS) return false;
  return true;
}

/* The derivative of the sum of y by all inputs, and bounds of those over boxes of all inputs. */
static size_t transform(r4_graph *g, r4_id y, r4_id *out)
{
  r4_id x[INPUTS];
  r4_box box[INPUTS];
  size_t n = 0;
  for (uint32_t i = 1; i <= g->size && n < INPUTS; i++)
    if (g->node[i].op == &op_input) x[n++] = (r4_id){i};
  for (size_t k = 0; k < n; k++) {
    box[k] = r4_box_around(x[k], x[k], r4_const(g, .01, r4_node_shape(g, x[k])));
  }
  r4_grad(g, r4_sum(g, y, R4_ALL), n, x, out);
  size_t n_out = n;
  for (size_t k = 0; k < n && k < 2; k++) {
    r4_pair pair = r4_bound(g, out[k], n, box);
    out[n_out++] = pair.lo;
    out[n_out++] = pair.hi;
  }
  return n_out;
}

static void run(const r4_graph *g, size_t n, const r4_id *out, r4_plan_options options)
{
  static double in[MOST_ELEMENTS], result[2 * OUTPUTS + 4][MOST_ELEMENTS];
  r4_error e;
  r4_plan *p = r4_plan_new(g, n, out, &options, &e);
  require(p || (e.status != R4_OK && e.status != R4_E_INTERNAL));
  if (!p) return;
  for (size_t i = 0; i < MOST_ELEMENTS; i++) in[i] = (double)(i % 3);
  for (uint32_t i = 1; i <= g->size; i++)
    if (g->node[i].op == &op_input) require(!r4_plan_input(p, graph_name(g, (r4_id){i}), in, NULL));
  for (size_t k = 0; k < n; k++) require(!r4_plan_output(p, k, result[k], NULL));
  r4_status s = r4_plan_run(p, &e);
  require(s == R4_OK || s == R4_E_DOMAIN);
  r4_plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  r4_error e;
  r4_id out[2 * OUTPUTS + 4];
  size_t n;
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  r4_graph *g = r4_graph_parse(text, OUTPUTS, out, &n, &e);
  free(text);
  if (g && n && is_small(g)) {
    run(g, n, out, (r4_plan_options){.type = R4_F64, .reference = true});
    run(g, n, out, (r4_plan_options){.type = R4_F64});
    n = transform(g, out[0], out);
    bool ok = r4_graph_status(g, NULL) == R4_OK && n && g->size < 2000;
    require(r4_graph_status(g, NULL) != R4_OK || graph_check(g, &e) == R4_OK);
    require(r4_graph_status(g, NULL) != R4_E_INTERNAL);
    if (ok) run(g, n, out, (r4_plan_options){.type = R4_F64});
  }
  r4_graph_free(g);
  return 0;
}
