/* A training loop of its own: net, objective, gradient, plan and optimizer, without settings or files. The first of four
 * features is the label, with noise; the last gives it away. With a mask on the last, Cert-R4 keeps the gradient of
 * the loss there small for all of its values in [-1, 3].
 *
 *     cc -std=c11 own_steps.c $(pkg-config --cflags --libs r4) -o own_steps && ./own_steps */
#include <r4.h>
#include <stdio.h>

enum { BATCH = 64, FEATURES = 4, STEPS = 400, MOST = 16 };
static float x[BATCH][FEATURES], y[BATCH], m[BATCH][FEATURES], weights[256], gradient[256], loss, penalty;

static void draw(uint32_t step)
{
  for (uint32_t i = 0; i < BATCH; i++) {
    y[i] = (float)(i % 2);
    for (uint32_t k = 0; k < FEATURES; k++) {
      x[i][k] = (float)r4_random_normal((r4_random){1, 0, step}, i * FEATURES + k) * 0.5f + (k == 0) * y[i];
      if (k == FEATURES - 1) x[i][k] = y[i];
      m[i][k] = k == FEATURES - 1;
    }
  }
}

static r4_status train(const char *method, r4_error *e)
{
  r4_net *net = r4_net_open("dense 16, relu, dense 2", R4_SHAPE(FEATURES), e);
  r4_graph *g = r4_graph_new();
  r4_id param[MOST], out[MOST];
  if (!net) return e->status;
  size_t n = r4_net_params(net);
  r4_net_init(net, NULL, 0, weights, NULL);
  r4_net_inputs(net, g, param);
  r4_objective_options options = {.method = method, .batch = BATCH, .lambda = {1}, .eps = 2};
  r4_objective o = r4_objective_build(g, net, param, &options);
  r4_grad(g, o.loss, n, param, out);
  out[n] = o.data, out[n + 1] = o.penalty[0];
  r4_plan *p = r4_plan_new(g, n + 2, out, NULL, e);
  r4_optimizer_options adam = r4_optimizer_defaults(R4_ADAM);
  r4_optimizer *optimizer = r4_optimizer_new(r4_net_size(net), &adam, e);
  for (size_t k = 0; k < n && !e->status; k++)
    if (!r4_plan_input(p, r4_net_param_name(net, k), weights + r4_net_param_offset(net, k), e))
      r4_plan_output(p, k, gradient + r4_net_param_offset(net, k), e);
  if (!e->status && !r4_plan_input(p, "x", x, e) && !r4_plan_input(p, "y", y, e) && !r4_plan_output(p, n, &loss, e))
    r4_plan_output(p, n + 1, &penalty, e);
  if (!e->status) r4_plan_input(p, "m", m, e);
  for (uint32_t step = 0; step < STEPS && !e->status; step++) {
    draw(step);
    if (!r4_plan_run(p, e)) r4_optimizer_step(optimizer, weights, gradient);
  }
  if (!e->status) printf("%-8s loss %.2f", method, loss);
  if (!e->status && r4_method_describe(method).guided) printf(", masked gradient at most %.2g", penalty);
  printf("\n");
  r4_optimizer_free(optimizer), r4_plan_free(p), r4_graph_free(g), r4_net_free(net);
  return e->status;
}

int main(void)
{
  r4_error e = {0};
  if (train("erm", &e) || train("cert-r4", &e)) return fprintf(stderr, "%s\n", e.text), 1;
  return 0;
}
