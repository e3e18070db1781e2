/* attention: tokens look at each other (Vaswani and others, 2017). With H heads of depth D = width / H, and of each
 * head h
 *
 *     q_h = x Wq_h^T + bq_h,   k_h = x Wk_h^T + bk_h,   v_h = x Wv_h^T + bv_h          [tokens, D]
 *     p_h = softmax(q_h k_h^T / sqrt(D) + b),   b = 0 where there is a token, -10^9 where there is padding
 *     y   = [p_1 v_1, .., p_H v_H]
 *
 * What is made of y (a dense part, in BERT) is a part of its own. */
#include <math.h>

#include "module/onnx/onnx.h"

enum { HEADS };
enum { QUERY_WEIGHT, QUERY_BIAS, KEY_WEIGHT, KEY_BIAS, VALUE_WEIGHT, VALUE_BIAS, PARAMS };

static const double MUCH = 1e9; /* exp of minus this is 0 */

static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  static const char *const name[PARAMS] = {"query.weight", "query.bias",   "key.weight",
                                           "key.bias",     "value.weight", "value.bias"};
  r4_status s = module_need_tokens(m, why);
  if (s) return s;
  int64_t width = m->in.dim[1];
  if (width % module_whole(m, HEADS))
    return r4_fail(why, R4_E_SHAPE, "gets tokens of width %lld, needs a multiple of its %lld heads",
                   (long long)width, (long long)module_whole(m, HEADS));
  m->out = m->in;
  for (int k = 0; k < PARAMS && !s; k++)
    s = module_param(m, maker,
                     k % 2 ? param_wish(name[k], R4_SHAPE(width), width, INIT_BIAS)
                           : param_wish(name[k], R4_SHAPE(width, width), width, INIT_WEIGHT),
                     why);
  return s;
}

/* x W^T + b as [batch, heads, tokens, depth] */
static r4_id projected(const struct module *m, const struct wiring *w, r4_id x, size_t weight)
{
  r4_graph *g = w->g;
  int64_t batch = r4_node_shape(g, x).dim[0], tokens = m->in.dim[0], width = m->in.dim[1],
          heads = module_whole(m, HEADS);
  r4_id rows = r4_reshape(g, x, R4_SHAPE(batch * tokens, width));
  r4_id y = r4_matmul(g, rows, module_param_node(m, w, weight), false, true);
  y = r4_add(g, y, module_param_node(m, w, weight + 1));
  y = r4_reshape(g, y, R4_SHAPE(batch, tokens, heads, width / heads));
  return r4_transpose(g, y, (const int[]){0, 2, 1, 3});
}

/* [batch, 1, 1, tokens], to be added to scores */
static r4_id padding(const struct module *m, const struct wiring *w)
{
  r4_graph *g = w->g;
  r4_id missing = r4_sub(g, w->use->valid, r4_const(g, 1, R4_SCALAR));
  return r4_reshape(g, r4_scale(g, missing, MUCH),
                    R4_SHAPE(r4_node_shape(g, missing).dim[0], 1, 1, m->in.dim[0]));
}

static r4_id apply(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  double depth = (double)(m->in.dim[1] / module_whole(m, HEADS));
  r4_id q = projected(m, w, x, QUERY_WEIGHT), k = projected(m, w, x, KEY_WEIGHT),
        v = projected(m, w, x, VALUE_WEIGHT);
  r4_id scores = r4_matmul(g, r4_scale(g, q, 1 / sqrt(depth)), k, false, true);
  if (w->use->valid.i) scores = r4_add(g, scores, padding(m, w));
  r4_id seen = r4_matmul(g, r4_softmax(g, scores), v, false, false);
  return r4_reshape(g, r4_transpose(g, seen, (const int[]){0, 2, 1, 3}), r4_node_shape(g, x));
}

/* ---- As operators of ONNX ---- */

/* x W^T + b, in heads, with its axes in this order */
static struct slice onnx_projected(const struct module *m, struct onnx_writer *w, struct slice x,
                                   size_t weight, const int64_t order[4])
{
  struct slice heads = ONNX_WHOLES(w, 0, 0, module_whole(m, HEADS), m->in.dim[1] / module_whole(m, HEADS));
  struct slice y = ONNX_OP(w, "Reshape", onnx_of_tokens(m, w, x, weight, true), heads);
  y = ONNX_OP(w, "Transpose", y);
  onnx_list(w, "perm", 4, order);
  return y;
}

/* (mask - 1) 10^9 as [batch, 1, 1, tokens] */
static struct slice onnx_padding(struct onnx_writer *w)
{
  struct slice y = ONNX_OP(w, "Sub", onnx_mask(w), onnx_number_of(w, 1));
  y = ONNX_OP(w, "Mul", y, onnx_number_of(w, MUCH));
  return ONNX_OP(w, "Unsqueeze", y, ONNX_WHOLES(w, 1, 2));
}

static struct slice onnx_attention(const struct module *m, struct onnx_writer *w, struct slice x)
{
  static const int64_t rows[] = {0, 2, 1, 3}, columns[] = {0, 2, 3, 1};
  double depth = (double)(m->in.dim[1] / module_whole(m, HEADS));
  struct slice q = onnx_projected(m, w, x, QUERY_WEIGHT, rows),
               k = onnx_projected(m, w, x, KEY_WEIGHT, columns),
               v = onnx_projected(m, w, x, VALUE_WEIGHT, rows);
  q = ONNX_OP(w, "Mul", q, onnx_number_of(w, 1 / sqrt(depth)));
  struct slice y = ONNX_OP(w, "MatMul", q, k);
  y = ONNX_OP(w, "Add", y, onnx_padding(w));
  y = ONNX_OP(w, "Softmax", y);
  onnx_whole(w, "axis", -1);
  y = ONNX_OP(w, "MatMul", y, v);
  y = ONNX_OP(w, "Transpose", y);
  onnx_list(w, "perm", 4, rows);
  return ONNX_OP(w, "Reshape", y, ONNX_WHOLES(w, 0, 0, m->in.dim[1]));
}

const struct module_kind module_attention = {
  .name = "attention",
  .mixes = true,
  .usage = "attention H",
  .about = "multi-head self-attention with H heads",
  .shape = shape,
  .apply = apply,
  .onnx = onnx_attention,
  ARGUMENTS({"H", ARGUMENT_WHOLE, 0, 1}),
  /* one head, Wq = 0: all tokens count the same; Wv = 1 */
  MODULE_SAMPLES({.text = "attention 1",
                  .in = {2, {2, 1}},
                  .out = {2, {2, 1}},
                  .x = (const double[]){1, 3},
                  .w = (const double[]){0, 0, 1, 0, 1, 0.5},
                  .y = (const double[]){2.5, 2.5}},
                 /* one head of depth 4 that sees the first feature alone: scores 1 / 2 and 0 */
                 {.text = "attention 1",
                  .in = {2, {2, 4}},
                  .out = {2, {2, 4}},
                  .x = (const double[]){1, 0, 0, 0, 0, 0, 0, 0},
                  .w = (const double[60]){[0] = 1, [20] = 1, [40] = 1},
                  .y = (const double[]){0.62245933120185457, 0, 0, 0, 0.5, 0, 0, 0}},
                 {.text = "attention 2", .in = {2, {3, 4}}, .out = {2, {3, 4}}})};
