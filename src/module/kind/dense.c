/* dense: y = x W^T + b,  W [units, features]; of tokens, each by itself. */
#include "module/onnx/onnx.h"

enum { UNITS, NOBIAS };

static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  int64_t units = module_whole(m, UNITS), features = m->in.dim[m->in.rank - 1];
  if (m->in.rank == 3) return module_need_vector(m, why);
  m->out = m->in;
  m->out.dim[m->out.rank - 1] = units;
  struct param_wish weight = param_wish("weight", R4_SHAPE(units, features), features, INIT_WEIGHT);
  weight.of_features = true;
  r4_status s = module_param(m, maker, weight, why);
  if (s || module_flag(m, NOBIAS)) return s;
  return module_param(m, maker, param_wish("bias", R4_SHAPE(units), features, INIT_BIAS), why);
}

/* Tokens are rows like any others. */
static r4_id apply(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  r4_shape to = module_batch(m, w, x);
  int64_t features = m->in.dim[m->in.rank - 1];
  if (m->in.rank == 2) x = r4_reshape(g, x, R4_SHAPE(to.dim[0] * to.dim[1], features));
  r4_id y = r4_matmul(g, x, module_param_node(m, w, 0), false, true);
  if (m->params > 1) y = r4_add(g, y, module_param_node(m, w, 1));
  return m->in.rank == 2 ? r4_reshape(g, y, to) : y;
}

static struct slice onnx(const struct module *m, struct onnx_writer *w, struct slice x)
{
  bool bias = m->params > 1;
  if (m->in.rank == 2) return onnx_of_tokens(m, w, x, 0, bias);
  struct slice in[] = {x, onnx_param(m, w, 0), bias ? onnx_param(m, w, 1) : (struct slice){0}};
  struct slice y = onnx_op(w, "Gemm", bias ? 3 : 2, in);
  onnx_whole(w, "transB", 1);
  return y;
}

const struct module_kind module_dense = {
  .name = "dense",
  .usage = "dense N [nobias]",
  .about = "N units, each a weighted sum of all features",
  .takes_vector = true,
  .shape = shape,
  .apply = apply,
  .onnx = onnx,
  ARGUMENTS({"N", ARGUMENT_WHOLE, 0, 1}, {"nobias", ARGUMENT_FLAG, 0, 0}),
  MODULE_SAMPLES({.text = "dense 2",
                  .in = {1, {3}},
                  .out = {1, {2}},
                  .x = (const double[]){1, 2, 3},
                  .w = (const double[]){1, 0, -1, 2, 1, 0, 0.5, -1},
                  .y = (const double[]){-1.5, 3}},
                 {.text = "dense 3 nobias", .in = {2, {4, 5}}, .out = {2, {4, 3}}})};
