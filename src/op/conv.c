/* conv2d and its two transposes. With x [n,h,w,i], W [o,p,q,i], and the window's positions
 *     at(u, p) = u stride - pad + p dilation:
 *
 *     conv2d     y[n,u,v,o]  = sum_pqi  x[n, at(u,p), at(v,q), i] W[o,p,q,i]
 *     conv2d_dx  x[n,h,w,i]  = sum over all (u,v,p,q,o) with at = (h,w) of  y[n,u,v,o] W[o,p,q,i]
 *     conv2d_dw  W[o,p,q,i]  = sum_nuv  x[n, at(u,p), at(v,q), i] y[n,u,v,o]
 *
 * All three are the trilinear form sum x y W with one factor left out, hence closed under
 * derivatives: each derivative of one is another one. With G groups output o sees the channels of its own part of
 * x only, [o G / O] I / G and the next ones, and W [o,p,q,i] has I / G of them: terms are left out, the rest stays. */
#include <string.h>

#include "op/functional.h"
#include "op/window.h"

static bool need_rank4(struct infer *s)
{
  if (s->in[0].rank != 4 || s->in[1].rank != 4) return infer_fail(s, "needs two operands of rank 4");
  return window_valid(s);
}

static bool divides(struct infer *s, const char *what, int64_t n)
{
  long long groups = window_groups(s->attr);
  return n % groups == 0 ||
         infer_fail(s, "%lld %s do not fall into %lld equal groups", (long long)n, what, groups);
}

static bool same_channels(struct infer *s, int64_t image, int64_t weights)
{
  int64_t groups = window_groups(s->attr);
  if (image == weights * groups) return true;
  if (groups == 1)
    return infer_fail(s, "the image has %lld channels, the weights %lld", (long long)image,
                      (long long)weights);
  return infer_fail(s, "the image has %lld channels, the weights %lld for each of %lld groups",
                    (long long)image, (long long)weights, (long long)groups);
}

static bool conv_shape(struct infer *s)
{
  if (!need_rank4(s)) return false;
  r4_shape x = s->in[0], w = s->in[1];
  if (!same_channels(s, x.dim[3], w.dim[3]) || !divides(s, "outputs", w.dim[0])) return false;
  int64_t h = window_out(s->attr, 0, x.dim[1], w.dim[1]), v = window_out(s->attr, 1, x.dim[2], w.dim[2]);
  if (!h || !v) return infer_fail(s, "the kernel is larger than the padded image");
  s->out = R4_SHAPE(x.dim[0], h, v, w.dim[0]);
  return true;
}

/* dy [n,u,v,o], W [o,p,q,i]; the image's height and width are attributes */
static bool conv_dx_shape(struct infer *s)
{
  if (!need_rank4(s)) return false;
  r4_shape y = s->in[0], w = s->in[1];
  int64_t h = s->attr->i[W_SIZE], v = s->attr->i[W_SIZE + 1];
  if (y.dim[3] != w.dim[0]) return infer_fail(s, "numbers of output channels differ");
  if (!divides(s, "outputs", w.dim[0])) return false;
  if (h < 1 || v < 1 || h > INT32_MAX || v > INT32_MAX || window_out(s->attr, 0, h, w.dim[1]) != y.dim[1] ||
      window_out(s->attr, 1, v, w.dim[2]) != y.dim[2])
    return infer_fail(s, "no image of %lld x %lld gives this output", (long long)h, (long long)v);
  s->out = R4_SHAPE(y.dim[0], h, v, w.dim[3] * window_groups(s->attr));
  return true;
}

/* x [n,h,w,i], dy [n,u,v,o]; the kernel's height and width are attributes */
static bool conv_dw_shape(struct infer *s)
{
  if (!need_rank4(s)) return false;
  r4_shape x = s->in[0], y = s->in[1];
  int64_t p = s->attr->i[W_SIZE], q = s->attr->i[W_SIZE + 1];
  if (x.dim[0] != y.dim[0]) return infer_fail(s, "batch sizes differ");
  if (!divides(s, "channels", x.dim[3]) || !divides(s, "outputs", y.dim[3])) return false;
  if (p < 1 || q < 1 || p > INT32_MAX || q > INT32_MAX || window_out(s->attr, 0, x.dim[1], p) != y.dim[1] ||
      window_out(s->attr, 1, x.dim[2], q) != y.dim[2])
    return infer_fail(s, "no kernel of %lld x %lld gives this output", (long long)p, (long long)q);
  s->out = R4_SHAPE(y.dim[3], p, q, x.dim[3] / window_groups(s->attr));
  return true;
}

/* ---- Derivatives ---- */

static void conv_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id x = graph_arg(g, y, 0), w = graph_arg(g, y, 1);
  r4_window win = window_of(&graph_node(g, y)->attr);
  r4_shape xs = r4_node_shape(g, x), ws = r4_node_shape(g, w);
  dx[0] = r4_conv2d_dx(g, dy, w, win, xs.dim[1], xs.dim[2]);
  dx[1] = r4_conv2d_dw(g, x, dy, win, ws.dim[1], ws.dim[2]);
}

static void conv_dx_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id t = graph_arg(g, y, 0), w = graph_arg(g, y, 1);
  r4_window win = window_of(&graph_node(g, y)->attr);
  r4_shape ws = r4_node_shape(g, w);
  dx[0] = r4_conv2d(g, dy, w, win);
  dx[1] = r4_conv2d_dw(g, dy, t, win, ws.dim[1], ws.dim[2]);
}

static void conv_dw_vjp(r4_graph *g, r4_id y, r4_id dy, r4_id *dx)
{
  r4_id x = graph_arg(g, y, 0), t = graph_arg(g, y, 1);
  r4_window win = window_of(&graph_node(g, y)->attr);
  r4_shape xs = r4_node_shape(g, x);
  dx[0] = r4_conv2d_dx(g, t, dy, win, xs.dim[1], xs.dim[2]);
  dx[1] = r4_conv2d(g, x, dy, win);
}

static r4_id conv_simplify(r4_graph *g, r4_id y)
{
  bool zero = op_is_value(g, graph_arg(g, y, 0), 0) || op_is_value(g, graph_arg(g, y, 1), 0);
  return zero ? r4_const(g, 0, r4_node_shape(g, y)) : R4_NONE;
}

/* ---- Kernels: one loop over the trilinear form ---- */

struct form {
  const struct attr *attr;
  r4_shape x, w, y; /* image, weights, output */
};

static int64_t at4(r4_shape s, int64_t a, int64_t b, int64_t c)
{
  return ((a * s.dim[1] + b) * s.dim[2] + c) * s.dim[3];
}

/* Calls term() with the places of x[n,..,first channel of o's group], W[o,p,q,0] and y[n,u,v,o] for every term of
 * the form. */
typedef void conv_term(int64_t x, int64_t w, int64_t y, int64_t channels, const struct call *c);

static void for_terms(const struct form *f, conv_term *term, const struct call *c)
{
  int64_t outs = f->w.dim[0] / window_groups(f->attr), channels = f->w.dim[3]; /* of one group */
  for (int64_t n = 0; n < f->x.dim[0]; n++)
    for (int64_t u = 0; u < f->y.dim[1]; u++)
      for (int64_t v = 0; v < f->y.dim[2]; v++)
        for (int64_t p = 0; p < f->w.dim[1]; p++)
          for (int64_t q = 0; q < f->w.dim[2]; q++) {
            int64_t h = window_at(f->attr, 0, u, p), k = window_at(f->attr, 1, v, q);
            if (h < 0 || h >= f->x.dim[1] || k < 0 || k >= f->x.dim[2]) continue;
            for (int64_t o = 0; o < f->w.dim[0]; o++)
              term(at4(f->x, n, h, k) + o / outs * channels, at4(f->w, o, p, q), at4(f->y, n, u, v) + o,
                   channels, c);
          }
}

static void conv_term_y(int64_t x, int64_t w, int64_t y, int64_t channels, const struct call *c)
{
  for (int64_t i = 0; i < channels; i++) c->out[y] += c->in[0][x + i] * c->in[1][w + i];
}

static void conv_term_x(int64_t x, int64_t w, int64_t y, int64_t channels, const struct call *c)
{
  for (int64_t i = 0; i < channels; i++) c->out[x + i] += c->in[0][y] * c->in[1][w + i];
}

static void conv_term_w(int64_t x, int64_t w, int64_t y, int64_t channels, const struct call *c)
{
  for (int64_t i = 0; i < channels; i++) c->out[w + i] += c->in[0][x + i] * c->in[1][y];
}

static r4_status run_form(const struct call *c, struct form f, conv_term *term)
{
  f.attr = c->attr;
  memset(c->out, 0, (size_t)r4_shape_count(c->shape) * sizeof *c->out);
  for_terms(&f, term, c);
  return R4_OK;
}

static r4_status conv_kernel(const struct call *c)
{
  return run_form(c, (struct form){.x = c->in_shape[0], .w = c->in_shape[1], .y = c->shape}, conv_term_y);
}

static r4_status conv_dx_kernel(const struct call *c)
{
  return run_form(c, (struct form){.y = c->in_shape[0], .w = c->in_shape[1], .x = c->shape}, conv_term_x);
}

static r4_status conv_dw_kernel(const struct call *c)
{
  return run_form(c, (struct form){.x = c->in_shape[0], .y = c->in_shape[1], .w = c->shape}, conv_term_w);
}

/* A product and a sum for each output element, kernel element and channel of its group; padding counts */
static double conv_flops(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)attr;
  return 2. * (double)r4_shape_count(out) * (double)(in[1].dim[1] * in[1].dim[2] * in[1].dim[3]);
}

static double conv_dx_flops(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)out, (void)attr;
  return 2. * (double)r4_shape_count(in[0]) * (double)(in[1].dim[1] * in[1].dim[2] * in[1].dim[3]);
}

static double conv_dw_flops(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)attr;
  return 2. * (double)r4_shape_count(in[1]) * (double)(out.dim[1] * out.dim[2] * out.dim[3]);
}

static double conv_terms(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)out, (void)attr;
  return (double)(in[1].dim[1] * in[1].dim[2] * in[1].dim[3]);
}

static double conv_dx_terms(const r4_shape *in, r4_shape out, const struct attr *attr)
{
  (void)out;
  return (double)(in[1].dim[1] * in[1].dim[2]) * (double)(in[1].dim[0] / window_groups(attr));
}

/* ---- The operations ---- */
/* clang-format off */

#define PLAIN 1, 1, 0, 0, 0, 0, 1, 1
#define STRIDED 2, 2, 1, 1, 1, 1, 1, 1
#define UNEVEN 2, 1, 1, 0, 2, 1, 1, 2
#define SAME 1, 1, 1, 1, 1, 1, 1, 1
#define EVERY_OTHER 2, 2, 0, 0, 0, 0, 1, 1
#define IMAGE3 VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9)
#define KERNEL2 VALUES(1, 0, -1, 2)
#define CONV_FIELDS(SIZE) \
  (const struct attr_field[]){{"stride", W_STRIDE, 2}, {"pad", W_PAD, 4}, {"dilation", W_DILATION, 2}, SIZE \
                              {"groups", W_GROUPS, FIELD_MOSTLY_1}, {0}}
#define SIZE_FIELD {"size", W_SIZE, 2},
#define GROUPS(N) [W_GROUPS] = (N) - 1

const struct op op_conv2d = {
  .name = "conv2d",
  .arity = 2,
  .kind = OP_DENSE,
  .takes_bias = true,
  .keeps_sign = EVERY_ARG,
  .fields = CONV_FIELDS(),
  .shape = conv_shape,
  .vjp = conv_vjp,
  .bound = op_bilinear,
  .linear = lin_product,
  .simplify = conv_simplify,
  .flops = conv_flops,
  .kernel = conv_kernel,
  SOUND(conv2d, OWN),
  .terms = conv_terms,
  SAMPLES({.in = {{4, {1, 3, 3, 1}}, {4, {1, 2, 2, 1}}}, .attr = {.i = {PLAIN}}, .x = {IMAGE3, KERNEL2},
           .y = VALUES(7, 9, 13, 15)},
          {.in = {{4, {2, 5, 6, 2}}, {4, {3, 4, 4, 2}}}, .attr = {.i = {STRIDED}}},
          {.in = {{4, {2, 5, 4, 3}}, {4, {4, 3, 3, 3}}}, .attr = {.i = {SAME}}},
          {.in = {{4, {4, 10, 14, 4}}, {4, {3, 1, 1, 4}}}, .attr = {.i = {EVERY_OTHER}}},
          {.in = {{4, {1, 6, 5, 3}}, {4, {2, 3, 2, 3}}}, .attr = {.i = {UNEVEN}}},
          {.in = {{4, {1, 2, 2, 2}}, {4, {2, 2, 2, 1}}}, .attr = {.i = {PLAIN, GROUPS(2)}},
           .x = {VALUES(1, 2, 3, 4, 5, 6, 7, 8), VALUES(1, 0, -1, 2, 1, 0, 0, 3)}, .y = VALUES(10, 26)},
          {.in = {{4, {2, 5, 4, 4}}, {4, {6, 3, 3, 2}}}, .attr = {.i = {SAME, GROUPS(2)}}},
          {.in = {{4, {2, 5, 6, 3}}, {4, {3, 4, 4, 1}}}, .attr = {.i = {STRIDED, GROUPS(3)}}},
          {.in = {{4, {2, 5, 7, 16}}, {4, {16, 3, 3, 1}}}, .attr = {.i = {SAME, GROUPS(16)}}},
          {.in = {{4, {1, 6, 5, 3}}, {4, {6, 3, 2, 1}}}, .attr = {.i = {UNEVEN, GROUPS(3)}}}),
};

const struct op op_conv2d_dx = {
  .name = "conv2d_dx",
  .arity = 2,
  .kind = OP_DENSE,
  .keeps_sign = EVERY_ARG,
  .fields = CONV_FIELDS(SIZE_FIELD),
  .shape = conv_dx_shape,
  .vjp = conv_dx_vjp,
  .bound = op_bilinear,
  .linear = lin_product,
  .simplify = conv_simplify,
  .flops = conv_dx_flops,
  .kernel = conv_dx_kernel,
  SOUND(conv2d_dx, OWN),
  .terms = conv_dx_terms,
  SAMPLES({.in = {{4, {1, 2, 2, 1}}, {4, {1, 2, 2, 1}}}, .attr = {.i = {PLAIN, 3, 3}},
           .x = {VALUES(1, 2, 3, 4), KERNEL2}, .y = VALUES(1, 2, 0, 2, 4, 4, -3, 2, 8)},
          {.in = {{4, {2, 2, 3, 3}}, {4, {3, 4, 4, 2}}}, .attr = {.i = {STRIDED, 5, 6}}},
          {.in = {{4, {2, 5, 18, 16}}, {4, {16, 3, 3, 3}}}, .attr = {.i = {SAME, 5, 18}}},
          {.in = {{4, {2, 4, 10, 8}}, {4, {8, 7, 7, 3}}}, .attr = {.i = {2, 2, 3, 3, 3, 3, 1, 1, 8, 20}}},
          {.in = {{4, {2, 3, 4, 8}}, {4, {8, 2, 3, 2}}}, .attr = {.i = {3, 2, 0, 0, 1, 0, 1, 1, 9, 9}}},
          {.in = {{4, {4, 5, 7, 3}}, {4, {3, 1, 1, 4}}}, .attr = {.i = {EVERY_OTHER, 10, 14}}},
          {.in = {{4, {1, 3, 6, 2}}, {4, {2, 3, 2, 3}}}, .attr = {.i = {UNEVEN, 6, 5}}},
          {.in = {{4, {1, 1, 1, 2}}, {4, {2, 2, 2, 1}}}, .attr = {.i = {PLAIN, 2, 2, GROUPS(2)}},
           .x = {VALUES(2, 3), VALUES(1, 0, -1, 2, 1, 0, 0, 3)}, .y = VALUES(2, 3, 0, 0, -2, 0, 4, 9)},
          {.in = {{4, {2, 5, 4, 6}}, {4, {6, 3, 3, 2}}}, .attr = {.i = {SAME, 5, 4, GROUPS(2)}}},
          {.in = {{4, {2, 2, 3, 3}}, {4, {3, 4, 4, 1}}}, .attr = {.i = {STRIDED, 5, 6, GROUPS(3)}}},
          {.in = {{4, {2, 5, 7, 16}}, {4, {16, 3, 3, 1}}}, .attr = {.i = {SAME, 5, 7, GROUPS(16)}}},
          {.in = {{4, {1, 3, 6, 6}}, {4, {6, 3, 2, 1}}}, .attr = {.i = {UNEVEN, 6, 5, GROUPS(3)}}}),
};

const struct op op_conv2d_dw = {
  .name = "conv2d_dw",
  .arity = 2,
  .kind = OP_DENSE,
  .keeps_sign = EVERY_ARG,
  .fields = CONV_FIELDS(SIZE_FIELD),
  .shape = conv_dw_shape,
  .vjp = conv_dw_vjp,
  .bound = op_bilinear,
  .simplify = conv_simplify,
  .flops = conv_dw_flops,
  .kernel = conv_dw_kernel,
  SAMPLES({.in = {{4, {1, 3, 3, 1}}, {4, {1, 2, 2, 1}}}, .attr = {.i = {PLAIN, 2, 2}},
           .x = {IMAGE3, VALUES(1, 0, -1, 2)}, .y = VALUES(7, 9, 13, 15)},
          {.in = {{4, {2, 5, 6, 2}}, {4, {2, 2, 3, 3}}}, .attr = {.i = {STRIDED, 4, 4}}},
          {.in = {{4, {2, 5, 4, 3}}, {4, {2, 5, 4, 4}}}, .attr = {.i = {SAME, 3, 3}}},
          {.in = {{4, {4, 10, 14, 4}}, {4, {4, 5, 7, 3}}}, .attr = {.i = {EVERY_OTHER, 1, 1}}},
          {.in = {{4, {1, 6, 5, 3}}, {4, {1, 3, 6, 2}}}, .attr = {.i = {UNEVEN, 3, 2}}},
          {.in = {{4, {1, 2, 2, 2}}, {4, {1, 1, 1, 2}}}, .attr = {.i = {PLAIN, 2, 2, GROUPS(2)}},
           .x = {VALUES(1, 2, 3, 4, 5, 6, 7, 8), VALUES(2, 3)}, .y = VALUES(2, 6, 10, 14, 6, 12, 18, 24)},
          {.in = {{4, {2, 5, 4, 4}}, {4, {2, 5, 4, 6}}}, .attr = {.i = {SAME, 3, 3, GROUPS(2)}}},
          {.in = {{4, {2, 5, 6, 3}}, {4, {2, 2, 3, 3}}}, .attr = {.i = {STRIDED, 4, 4, GROUPS(3)}}},
          {.in = {{4, {2, 5, 7, 16}}, {4, {2, 5, 7, 16}}}, .attr = {.i = {SAME, 3, 3, GROUPS(16)}}},
          {.in = {{4, {1, 6, 5, 3}}, {4, {1, 3, 6, 6}}}, .attr = {.i = {UNEVEN, 3, 2, GROUPS(3)}}}),
};
/* clang-format on */

r4_id r4_conv2d(r4_graph *g, r4_id x, r4_id w, r4_window win)
{
  struct attr attr = window_attr(win, 0, 0);
  return graph_add(g, &op_conv2d, 2, (r4_id[]){x, w}, &attr, NULL, NULL);
}

r4_id r4_conv2d_dx(r4_graph *g, r4_id dy, r4_id w, r4_window win, int64_t height, int64_t width)
{
  struct attr attr = window_attr(win, height, width);
  return graph_add(g, &op_conv2d_dx, 2, (r4_id[]){dy, w}, &attr, NULL, NULL);
}

r4_id r4_conv2d_dw(r4_graph *g, r4_id x, r4_id dy, r4_window win, int64_t kernel_h, int64_t kernel_w)
{
  struct attr attr = window_attr(win, kernel_h, kernel_w);
  return graph_add(g, &op_conv2d_dw, 2, (r4_id[]){x, dy}, &attr, NULL, NULL);
}
