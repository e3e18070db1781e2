/* r4 graph: an objective as text or for Graphviz. */
#include <stdlib.h>

#include "cli.h"

struct graph_settings {
  const char *net, *objective;
  int64_t batch, masked, steps, samples;
  double lambda, eps;
  bool grad, dot, text;
};

static const struct option options[] = {
  {"net", OPTION_TEXT, offsetof(struct graph_settings, net), "mlp784-512-10", 0, 0,
   "mlpA-B-..., derm28 or derm64"},
  {"objective", OPTION_TEXT, offsetof(struct graph_settings, objective), "cert-r4", 0, 0,
   "the method (r4 help methods)"},
  {"batch", OPTION_WHOLE, offsetof(struct graph_settings, batch), "2", 1, 1e6, "examples"},
  {"masked", OPTION_WHOLE, offsetof(struct graph_settings, masked), "0", 0, 1e9,
   "masks on N features; 0: on all"},
  {"steps", OPTION_WHOLE, offsetof(struct graph_settings, steps), "1", 1, 1000, "steps of an attack"},
  {"samples", OPTION_WHOLE, offsetof(struct graph_settings, samples), "1", 1, 1000,
   "points per example, for methods that use several"},
  {"lambda", OPTION_REAL, offsetof(struct graph_settings, lambda), "1", 0, 1e30, "weight of the penalty"},
  {"eps", OPTION_REAL, offsetof(struct graph_settings, eps), "0.1", 0, 1e30, "radius of the box"},
  {"grad", OPTION_FLAG, offsetof(struct graph_settings, grad), NULL, 0, 0,
   "add the gradient with respect to each parameter"},
  {"dot", OPTION_FLAG, offsetof(struct graph_settings, dot), NULL, 0, 0, "for Graphviz"},
  {"text", OPTION_FLAG, offsetof(struct graph_settings, text), NULL, 0, 0, "as text (default)"},
  {0},
};

/* The loss, then (if wanted) its gradients, in out; returns their number. */
static size_t build(r4_graph *g, const r4_net *net, const struct graph_settings *s, r4_id *param, r4_id *out)
{
  r4_objective_options p = {
    .method = s->objective,
    .batch = s->batch,
    .masked = s->masked,
    .lambda = {s->lambda, s->lambda, s->lambda, s->lambda},
    .eps = s->eps,
    .steps = (int)s->steps,
    .samples = (int)s->samples,
    .random_start = true,
  };
  r4_net_inputs(net, g, param);
  out[0] = r4_objective_build(g, net, param, &p).loss;
  if (!s->grad) return 1;
  r4_grad(g, out[0], r4_net_params(net), param, out + 1);
  return 1 + r4_net_params(net);
}

static int print(const r4_graph *g, size_t n, const r4_id *out, bool dot)
{
  const char *message;
  r4_status status = r4_graph_status(g, &message);
  if (status) return cli_fail("graph", status, message);
  char *text = dot ? r4_graph_dot(g, n, out) : r4_graph_text(g, n, out);
  if (!text) return cli_fail("graph", R4_E_MEMORY, "out of memory");
  fputs(text, stdout);
  r4_string_free(text);
  return EXIT_DONE;
}

static int run(int argc, char **argv)
{
  struct graph_settings s;
  r4_error e = {0};
  if (!options_read("graph", options, &s, argc, argv)) return EXIT_USAGE;
  if (s.dot && s.text) return cli_fail("graph", R4_E_ARGUMENT, "give one of --dot and --text");
  r4_net *net = r4_net_open(s.net, R4_SCALAR, &e);
  if (!net) return cli_fail("graph", e.status, e.text);

  int code;
  size_t params = r4_net_params(net);
  r4_id *param = calloc(2 * params + 1, sizeof *param);
  r4_graph *g = r4_graph_new();
  if (param && g)
    code = print(g, build(g, net, &s, param, param + params), param + params, s.dot);
  else
    code = cli_fail("graph", R4_E_MEMORY, "out of memory");
  r4_graph_free(g);
  free(param);
  r4_net_free(net);
  return code;
}

const struct command command_graph = {
  .name = "graph",
  .summary = "print the graph of an objective",
  .details = "The loss of an objective, and with --grad its gradient with respect to each parameter of the "
             "net, as a list of\n"
             "nodes or as input of Graphviz: r4 graph --net mlp4-3-2 --dot | dot -Tsvg > graph.svg",
  .options = options,
  .run = run,
};
