/* A function, its derivative, and bounds of the derivative while the input moves, as one graph:
 *
 *     f(x) = sum relu(W x),    df/dx = W^T step(W x),    |x - centre| <= radius
 *
 * Every rule of grad and bound adds nodes, so both can be applied again: here the width of the bounds is differentiated
 * with respect to W.
 *
 *     cc -std=c11 own_graph.c $(pkg-config --cflags --libs r4) -o own_graph && ./own_graph */
#include <r4.h>
#include <stdio.h>

int main(void)
{
  static const float w[4] = {1, -2, 3, 0.5f}, x[2] = {1, 1}, radius[2] = {0, 1};
  float dx[2], lo[2], hi[2], dw[4];
  r4_error e = {0};
  r4_graph *g = r4_graph_new();
  r4_id W = r4_input(g, "W", R4_SHAPE(2, 2)), X = r4_input(g, "x", R4_SHAPE(1, 2));
  r4_id f = r4_sum(g, r4_relu(g, r4_matmul(g, X, W, false, true)), R4_ALL), df;
  r4_grad(g, f, 1, &X, &df);
  r4_box box = r4_box_around(X, X, r4_input(g, "radius", R4_SHAPE(1, 2)));
  r4_pair bounds = r4_bound(g, df, 1, &box);
  r4_id width = r4_sum(g, r4_sub(g, bounds.hi, bounds.lo), R4_ALL), dW;
  r4_grad(g, width, 1, &W, &dW);

  const r4_id out[] = {df, bounds.lo, bounds.hi, dW};
  r4_plan *p = r4_plan_new(g, 4, out, NULL, &e); /* an error of any call above shows here, also that g is NULL */
  float *const to[] = {dx, lo, hi, dw};
  for (size_t k = 0; k < 4 && !e.status; k++) r4_plan_output(p, k, to[k], &e);
  if (!e.status) r4_plan_input(p, "W", w, &e);
  if (!e.status) r4_plan_input(p, "x", x, &e);
  if (!e.status) r4_plan_input(p, "radius", radius, &e);
  if (e.status || r4_plan_run(p, &e)) return fprintf(stderr, "%s\n", e.text), 1;

  for (int k = 0; k < 2; k++) printf("df/dx%d = %g, in [%g, %g]\n", k + 1, dx[k], lo[k], hi[k]);
  printf("d width / d W = %g %g %g %g\n", dw[0], dw[1], dw[2], dw[3]);
  r4_plan_free(p);
  r4_graph_free(g);
  return 0;
}
