/* Bad input: every misuse gives a status and a message that says what, where and what was expected, and
 * nothing else: no crash, no printing, no plan. Bad lines of networks: test_net.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "graph/graph.h"

/* ---- Builders ---- */

struct nodes {
  r4_id scalar, v3, v4, m23, m34, image, weights, six, index;
};

static struct nodes make_nodes(r4_graph *g)
{
  return (struct nodes){
    .scalar = r4_input(g, "scalar", R4_SCALAR),
    .v3 = r4_input(g, "v3", R4_SHAPE(3)),
    .v4 = r4_input(g, "v4", R4_SHAPE(4)),
    .m23 = r4_input(g, "m23", R4_SHAPE(2, 3)),
    .m34 = r4_input(g, "m34", R4_SHAPE(3, 4)),
    .image = r4_input(g, "image", R4_SHAPE(2, 5, 6, 3)),
    .weights = r4_input(g, "weights", R4_SHAPE(4, 3, 3, 3)),
    .six = r4_input(g, "six", R4_SHAPE(1, 1, 1, 1, 1, 2)),
    .index = r4_input(g, "index", R4_SHAPE(2)),
  };
}

static const r4_id beyond = {123456};

static r4_window window(int64_t stride, int64_t pad, int64_t dilation)
{
  r4_window w = r4_window_of(stride, pad);
  w.dilation[0] = w.dilation[1] = dilation;
  return w;
}

static r4_window window_grouped(int64_t groups)
{
  r4_window w = r4_window_of(1, 0);
  w.groups = groups;
  return w;
}

static r4_window window_padded(int64_t top, int64_t right)
{
  r4_window w = r4_window_of(1, 0);
  w.pad[0] = top;
  w.pad[3] = right;
  return w;
}

static r4_id concat_many(r4_graph *g, r4_id x, size_t n)
{
  r4_id parts[100];
  for (size_t k = 0; k < n; k++) parts[k] = x;
  return r4_concat(g, n, parts, 0);
}

static r4_id grad_of(r4_graph *g, r4_id y, r4_id x)
{
  r4_id dx = {7};
  r4_grad(g, y, 1, &x, &dx);
  return dx;
}

static r4_id bound_of(r4_graph *g, r4_id y, r4_box box)
{
  return r4_bound(g, y, 1, &box).lo;
}

#define I64(...) ((const int64_t[]){__VA_ARGS__})
#define PERM(...) ((const int[]){__VA_ARGS__})
#define HUGE_DIM ((int64_t)1 << 40)

/* One misuse each, and a part of its message. */
#define MISUSES(X)                                                                                          \
  X(r4_add(g, n.v3, n.v4), SHAPE, "add: [4] does not broadcast with [3]")                                   \
  X(r4_mul(g, n.m23, n.v4), SHAPE, "mul: [4] does not broadcast with [2,3]")                                \
  X(r4_select(g, n.m23, n.v3, n.v4), SHAPE, "select: [4] does not broadcast")                               \
  X(r4_check(g, n.m23, n.v4), SHAPE, "check: [4]")                                                          \
  X(r4_div(g, R4_NONE, n.v3), ARGUMENT, "div: argument 1")                                                  \
  X(r4_max(g, n.v3, beyond), ARGUMENT, "max: argument 2")                                                   \
  X(r4_select(g, n.v3, n.v3, R4_NONE), ARGUMENT, "select: argument 3")                                      \
  X(r4_relu(g, R4_NONE), ARGUMENT, "relu: argument 1")                                                      \
  X(r4_gelu(g, beyond), ARGUMENT, "gelu: argument 1")                                                       \
  X(r4_scale(g, n.v3, NAN), ARGUMENT, "const: the value nan is not finite")                                 \
  X(r4_scale(g, R4_NONE, 2), ARGUMENT, "mul: argument 1")                                                   \
  X(r4_const(g, INFINITY, R4_SCALAR), ARGUMENT, "const: the value inf is not finite")                       \
  X(r4_const(g, 1, R4_SHAPE(3, 0)), SHAPE, "const: shape [3,0] is empty, negative or too large")            \
  X(r4_input(g, "", R4_SCALAR), ARGUMENT, "input: the name is empty")                                       \
  X(r4_input(g, NULL, R4_SCALAR), ARGUMENT, "input: the name is empty")                                     \
  X(r4_input(g, "a\"b", R4_SCALAR), ARGUMENT, "input: a quote")                                             \
  X(r4_input(g, "a\nb", R4_SCALAR), ARGUMENT, "line end in the name")                                       \
  X(r4_input(g, "v3", R4_SHAPE(4)), SHAPE, "input \"v3\" is both [3] and [4]")                              \
  X(r4_input(g, "new", R4_SHAPE(0)), SHAPE, "input: shape [0] is empty")                                    \
  X(r4_input(g, "new", R4_SHAPE(2, -3)), SHAPE, "input: shape [2,-3]")                                      \
  X(r4_input(g, "new", R4_SHAPE(HUGE_DIM, 2)), SHAPE, "too large")                                          \
  X(r4_input(g, "new", R4_SHAPE(INT64_MAX, INT64_MAX, INT64_MAX)), SHAPE, "too large")                      \
  X(r4_input(g, "new", ((r4_shape){.rank = 7})), SHAPE, "input: shape")                                     \
  X(r4_input(g, "new", ((r4_shape){.rank = -1})), SHAPE, "input: shape")                                    \
  X(r4_iota(g, 1, R4_SHAPE(3)), SHAPE, "iota: axis 1 of rank 1")                                            \
  X(r4_iota(g, -1, R4_SHAPE(3)), SHAPE, "iota: axis -1")                                                    \
  X(r4_iota(g, 0, R4_SCALAR), SHAPE, "iota: axis 0 of rank 0")                                              \
  X(r4_sum(g, n.m23, R4_AXIS(2)), SHAPE, "sum: axes 0x4 of rank 2")                                         \
  X(r4_mean(g, n.m23, R4_AXIS(5)), SHAPE, "sum: axes 0x20 of rank 2")                                       \
  X(r4_sum(g, n.m23, R4_AXIS(r4_node_shape(g, R4_NONE).rank - 1)), SHAPE, "sum: axes 0x80000000 of rank 2") \
  X(r4_reduce_max(g, n.m23, R4_AXIS(40)), SHAPE, "reduce_max: axes 0x80000000 of rank 2")                   \
  X(r4_reduce_max(g, n.scalar, 1), SHAPE, "reduce_max: axes 0x1 of rank 0")                                 \
  X(r4_mean(g, R4_NONE, R4_ALL), ARGUMENT, "sum: argument 1")                                               \
  X(r4_softmax(g, n.scalar), SHAPE, "softmax []: needs at least one axis")                                  \
  X(r4_logsumexp(g, n.scalar), SHAPE, "logsumexp []: needs at least one axis")                              \
  X(r4_broadcast(g, n.m23, R4_SHAPE(3, 3)), SHAPE, "broadcast [2,3]: does not broadcast to [3,3]")          \
  X(r4_broadcast(g, n.m23, R4_SHAPE(3)), SHAPE, "does not broadcast to [3]")                                \
  X(r4_broadcast(g, R4_NONE, R4_SHAPE(3)), ARGUMENT, "broadcast: argument 1")                               \
  X(r4_reshape(g, n.m23, R4_SHAPE(7)), SHAPE, "reshape [2,3]: cannot become [7]")                           \
  X(r4_reshape(g, n.m23, R4_SHAPE(6, 0)), SHAPE, "reshape [2,3]: shape [6,0] is empty")                     \
  X(r4_reshape(g, n.m23, R4_SHAPE(-2, -3)), SHAPE, "shape [-2,-3]")                                         \
  X(r4_reshape(g, beyond, R4_SHAPE(6)), ARGUMENT, "reshape: argument 1")                                    \
  X(r4_transpose(g, n.m23, PERM(0, 0)), SHAPE, "transpose [2,3]: the axes are not a permutation")           \
  X(r4_transpose(g, n.m23, PERM(0, 2)), SHAPE, "not a permutation")                                         \
  X(r4_transpose(g, n.m23, PERM(-1, 0)), SHAPE, "not a permutation")                                        \
  X(r4_transpose(g, R4_NONE, PERM(0)), ARGUMENT, "transpose: argument 1")                                   \
  X(r4_slice(g, n.m23, I64(0, 1), I64(2, 3), NULL), SHAPE,                                                  \
    "slice [2,3]: axis 1: 3 elements from 1 by 1 do not fit in 3")                                          \
  X(r4_slice(g, n.m23, I64(0, 0), I64(2, 0), NULL), SHAPE, "slice [2,3]: shape [2,0] is empty")             \
  X(r4_slice(g, n.m23, I64(-1, 0), I64(1, 1), NULL), SHAPE, "from -1")                                      \
  X(r4_slice(g, n.m23, I64(0, 0), I64(1, 1), I64(1, 0)), SHAPE, "by 0")                                     \
  X(r4_slice(g, n.m23, I64(0, 0), I64(2, 2), I64(1, INT64_MAX)), SHAPE, "do not fit")                       \
  X(r4_slice(g, n.m23, I64(0, INT64_MAX), I64(1, 1), NULL), SHAPE, "do not fit")                            \
  X(r4_slice(g, n.m23, I64(0, 3), I64(1, 1), I64(1, 2)), SHAPE, "do not fit")                               \
  X(r4_slice(g, R4_NONE, NULL, NULL, NULL), ARGUMENT, "slice: argument 1")                                  \
  X(r4_pad(g, n.v3, I64(2), NULL, R4_SHAPE(4)), SHAPE, "pad [3]: axis 0: 3 elements from 2")                \
  X(r4_pad(g, n.v3, I64(0), NULL, R4_SHAPE(4, 4)), SHAPE, "pad [3]: ranks 1 and 2 differ")                  \
  X(r4_pad(g, n.v3, I64(0), I64(INT64_MAX), R4_SHAPE(9)), SHAPE, "do not fit")                              \
  X(r4_concat(g, 2, ((r4_id[]){n.m23, n.m34}), 0), SHAPE, "concat [2,3] [3,4]: shapes differ")              \
  X(r4_concat(g, 2, ((r4_id[]){n.m23, n.v3}), 1), SHAPE, "concat [2,3] [3]: shapes differ")                 \
  X(r4_concat(g, 1, &n.m23, 2), SHAPE, "concat [2,3]: axis 2 of rank 2")                                    \
  X(r4_concat(g, 1, &n.m23, -1), SHAPE, "axis -1")                                                          \
  X(r4_concat(g, 0, NULL, 0), ARGUMENT, "concat: got 0 arguments")                                          \
  X(concat_many(g, n.v3, 65), ARGUMENT, "concat: got 65 arguments")                                         \
  X(r4_gather(g, n.m23, n.index, 2), SHAPE, "gather [2,3] [2]: axis 2 of rank 2")                           \
  X(r4_gather(g, n.m23, n.m23, 0), SHAPE, "the index needs rank 1")                                         \
  X(r4_gather(g, n.m23, R4_NONE, 0), ARGUMENT, "gather: argument 2")                                        \
  X(r4_scatter_add(g, n.m23, n.index, 1, 5), SHAPE, "scatter_add [2,3] [2]: axis 1 and the index differ")   \
  X(r4_scatter_add(g, n.m23, n.index, 0, 0), SHAPE, "size 0")                                               \
  X(r4_scatter_add(g, n.m23, n.index, 0, -4), SHAPE, "size -4")                                             \
  X(r4_scatter_add(g, n.m23, n.index, 0, INT64_MAX), SHAPE, "too large")                                    \
  X(r4_one_hot(g, n.six, 3), SHAPE, "one_hot: the labels have rank 6")                                      \
  X(r4_one_hot(g, n.v3, 0), SHAPE, "iota: shape [0]")                                                       \
  X(r4_one_hot(g, R4_NONE, 2), ARGUMENT, "reshape: argument 1")                                             \
  X(r4_matmul(g, n.m23, n.m23, false, false), SHAPE, "matmul [2,3] [2,3]: inner dimensions 3 and 2 differ") \
  X(r4_matmul(g, n.m23, n.m34, true, true), SHAPE, "inner dimensions 2 and 4")                              \
  X(r4_matmul(g, n.v3, n.m34, false, false), SHAPE, "matmul [3] [3,4]: needs two operands of equal rank")   \
  X(r4_matmul(g, n.image, n.weights, false, true), SHAPE, "batch axis 0 differs")                           \
  X(r4_matmul(g, n.m23, beyond, false, false), ARGUMENT, "matmul: argument 2")                              \
  X(r4_conv2d(g, n.m23, n.weights, window(1, 0, 1)), SHAPE,                                                 \
    "conv2d [2,3] [4,3,3,3]: needs two operands of rank 4")                                                 \
  X(r4_conv2d(g, n.image, n.image, window(1, 0, 3)), SHAPE, "the kernel is larger than the padded image")   \
  X(r4_conv2d(g, r4_reshape(g, n.image, R4_SHAPE(2, 5, 3, 6)), n.weights, window(1, 0, 1)), SHAPE,          \
    "the image has 6 channels, the weights 3")                                                              \
  X(r4_conv2d(g, n.image, n.weights, window(0, 0, 1)), SHAPE, "stride, padding or dilation 0")              \
  X(r4_conv2d(g, n.image, n.weights, window(1, -1, 1)), SHAPE, "stride, padding or dilation -1")            \
  X(r4_conv2d(g, n.image, n.weights, window(1, 0, 0)), SHAPE, "stride, padding or dilation 0")              \
  X(r4_conv2d(g, n.image, n.weights, window(1, INT64_MAX, 1)), SHAPE, "is out of range")                    \
  X(r4_conv2d(g, n.image, n.weights, window_grouped(3)), SHAPE,                                             \
    "the image has 3 channels, the weights 3 for each of 3 groups")                                         \
  X(r4_conv2d(g, n.image, r4_slice(g, n.weights, I64(0, 0, 0, 0), I64(4, 3, 3, 1), I64(1, 1, 1, 1)),        \
              window_grouped(3)),                                                                           \
    SHAPE, "4 outputs do not fall into 3 equal groups")                                                     \
  X(r4_conv2d(g, n.image, n.weights, window_grouped(-1)), SHAPE, "the number of groups is out of range")    \
  X(r4_conv2d(g, n.image, n.weights, window_grouped(INT64_MIN)), SHAPE, "groups is out of range")           \
  X(r4_conv2d(g, n.image, n.weights, window_grouped(INT64_MAX)), SHAPE, "groups is out of range")           \
  X(r4_conv2d_dx(g, r4_reshape(g, n.image, R4_SHAPE(3, 3, 5, 4)), n.weights, window_grouped(3), 5, 7),      \
    SHAPE, "4 outputs do not fall into 3 equal groups")                                                     \
  X(r4_conv2d_dw(g, n.image, n.image, window_grouped(2), 1, 1), SHAPE,                                      \
    "3 channels do not fall into 2 equal groups")                                                           \
  X(r4_pool_max(g, n.image, I64(2, 2), window_grouped(3)), SHAPE, "pool_max [2,5,6,3]: has no groups")      \
  X(r4_conv2d_dx(g, n.image, n.weights, window(1, 0, 1), 7, 8), SHAPE, "numbers of output channels differ") \
  X(r4_conv2d_dx(g, n.image, n.weights, window(1, 0, 1), INT64_MAX, INT64_MIN), SHAPE, "conv2d_dx")         \
  X(r4_conv2d_dw(g, n.image, n.image, window(1, 0, 1), 2, 1), SHAPE, "no kernel of 2 x 1")                  \
  X(r4_conv2d_dw(g, n.image, n.image, window(1, 0, 1), INT64_MAX, INT64_MIN), SHAPE, "conv2d_dw")           \
  X(r4_pool_max(g, n.m23, I64(2, 2), window(2, 0, 1)), SHAPE, "pool_max [2,3]: needs an image of rank 4")   \
  X(r4_pool_max(g, n.image, I64(9, 9), window(1, 0, 1)), SHAPE, "kernel is larger than the padded image")   \
  X(r4_pool_max(g, n.image, I64(2, 2), window(1, 2, 1)), SHAPE, "padding must be smaller than the kernel")  \
  X(r4_pool_max(g, n.image, I64(2, 2), window_padded(2, 0)), SHAPE, "padding must be smaller")              \
  X(r4_pool_max(g, n.image, I64(2, 2), window_padded(0, 2)), SHAPE, "padding must be smaller")              \
  X(r4_pool_max(g, n.image, I64(2, 2), window(1, 0, 2)), SHAPE, "dilation is not supported")                \
  X(r4_pool_sum(g, n.image, I64(0, 2), window(1, 0, 1)), SHAPE, "pool_sum [2,5,6,3]")                       \
  X(r4_pool_sum(g, n.image, I64(INT64_MIN, 2), window(1, 0, 1)), SHAPE, "pool_sum [2,5,6,3]")               \
  X(r4_pool_mean(g, n.image, I64(INT64_MAX, INT64_MAX), window(1, 0, 1)), SHAPE, "pool_sum [2,5,6,3]")      \
  X(r4_pool_mean(g, n.image, I64(0, 0), window(1, 0, 1)), SHAPE, "pool_sum [2,5,6,3]")                      \
  X(r4_pool_max(g, n.image, I64(INT64_MAX, INT64_MAX), window(1, 0, 1 << 20)), SHAPE, "pool_max")           \
  X(r4_cross_entropy(g, n.m23, n.m34), SHAPE, "[3,4]")                                                      \
  X(grad_of(g, n.m23, n.m23), SHAPE, "grad: needs a scalar")                                                \
  X(grad_of(g, R4_NONE, n.v3), ARGUMENT, "grad: not a node")                                                \
  X(grad_of(g, beyond, n.v3), ARGUMENT, "grad: not a node")                                                 \
  X(grad_of(g, n.scalar, beyond), ARGUMENT, "grad: not a node")                                             \
  X(grad_of(g, n.scalar, R4_NONE), ARGUMENT, "grad: not a node")                                            \
  X(bound_of(g, R4_NONE, r4_box_around(n.v3, n.v3, n.v3)), ARGUMENT, "bound: not a node")                   \
  X(bound_of(g, beyond, r4_box_around(n.v3, n.v3, n.v3)), ARGUMENT, "bound: not a node")                    \
  X(bound_of(g, n.v3, r4_box_around(n.v3, n.v3, n.v4)), SHAPE, "bound: a box does not have the shape [3]")  \
  X(bound_of(g, n.v3, r4_box_between(n.v3, n.scalar, n.v3)), SHAPE,                                         \
    "bound: a box does not have the shape [3]")                                                             \
  X(bound_of(g, n.v3, r4_box_around(n.v3, R4_NONE, n.v3)), ARGUMENT, "bound: a box is not made of nodes")   \
  X(bound_of(g, n.v3, r4_box_between(n.v3, n.v3, R4_NONE)), ARGUMENT, "bound: a box is not made of nodes")  \
  X(bound_of(g, n.v3, r4_box_between(beyond, n.v3, n.v3)), ARGUMENT, "bound: a box is not made of nodes")   \
  X(bound_of(g, n.v3, ((r4_box){.x = n.v3})), ARGUMENT, "bound: a box is not made of nodes")                \
  X(bound_of(g, n.v3, r4_box_around(n.v3, n.v3, r4_const(g, -1, R4_SHAPE(3)))), ARGUMENT,                   \
    "bound: box 0 has the radius -1, expected 0 or more")                                                   \
  X(bound_of(g, n.v3, r4_box_around(n.v3, n.v3, r4_broadcast(g, r4_const(g, -1, R4_SCALAR), R4_SHAPE(3)))), \
    ARGUMENT, "bound: box 0 has the radius -1")                                                             \
  X(bound_of(g, n.v3, r4_box_between(n.v3, r4_const(g, 2, R4_SHAPE(3)), r4_const(g, 1, R4_SHAPE(3)))),      \
    ARGUMENT, "bound: box 0 is from 2 to 1, expected lo <= hi")                                             \
  X(bound_of(g, r4_gather(g, n.v3, n.index, 0), r4_box_around(n.index, n.index, n.index)), RULE,            \
    "gather has no bounds over a moving index")                                                             \
  X(bound_of(g, r4_softmax(g, n.six), r4_box_around(n.six, n.six, n.six)), SHAPE,                           \
    "softmax: bounds need a rank below 6")

enum misuse {
#define COUNT(...) +1
  MISUSE_COUNT = 0 MISUSES(COUNT)
#undef COUNT
};

/* Runs misuse number k; each is a case of its own line in the list above. */
static r4_id misuse(int k, r4_graph *g, struct nodes n, r4_status *status, const char **text)
{
  int at = 0;
#define TRY(CALL, STATUS, TEXT) \
  if (at++ == k) {              \
    *status = R4_E_##STATUS;    \
    *text = TEXT;               \
    return CALL;                \
  }
  MISUSES(TRY)
#undef TRY
  return R4_NONE;
}

static void test_builders(void **state)
{
  (void)state;
  for (int k = 0; k < MISUSE_COUNT; k++) {
    r4_graph *g = r4_graph_new();
    struct nodes n = make_nodes(g);
    r4_status want = R4_OK;
    const char *part = "", *message;
    r4_id y = misuse(k, g, n, &want, &part);
    r4_status got = r4_graph_status(g, &message);
    if (got != want || !strstr(message, part))
      fail_msg("misuse %d: %s: \"%s\", expected %s: \"%s\"", k, r4_status_name(got), message,
               r4_status_name(want), part);
    if (y.i) fail_msg("misuse %d (%s) returns a node", k, part);
    r4_error e;
    assert_int_equal(graph_check(g, &e), want);
    assert_string_equal(e.text, message);
    assert_null(r4_plan_new(g, 1, &n.v3, NULL, &e));
    assert_int_equal(e.status, want);
    assert_null(r4_graph_text(g, 1, &n.v3));
    assert_null(r4_graph_dot(g, 1, &n.v3));
    r4_graph_free(g);
  }
}

/* Building on after an error changes neither the graph nor the message. */
static void test_first_error_stays(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  struct nodes n = make_nodes(g);
  char first[R4_ERROR_SIZE];
  const char *message;
  r4_add(g, n.v3, n.v4);
  r4_graph_status(g, &message);
  snprintf(first, sizeof first, "%s", message);
  size_t size = r4_graph_size(g);
  for (int k = 0; k < MISUSE_COUNT; k++) {
    r4_status status;
    r4_id y = misuse(k, g, n, &status, &message);
    assert_int_equal(y.i, 0);
  }
  r4_id dx, good = r4_add(g, n.v3, n.v3);
  r4_grad(g, n.scalar, 1, &n.scalar, &dx);
  r4_pair pair = r4_bound(g, n.v3, 0, NULL);
  assert_int_equal(good.i + dx.i + pair.lo.i + pair.hi.i, 0);
  assert_int_equal(r4_graph_status(g, &message), R4_E_SHAPE);
  assert_string_equal(message, first);
  assert_int_equal(r4_graph_size(g), size);
  r4_graph_free(g);
}

/* ---- Text ---- */

static const struct {
  const char *text, *message;
  r4_status status;
} broken[] = {
  {"%1 = frobnicate : [2]", "line 1: unknown operation \"frobnicate\"", R4_E_PARSE},
  {"\n\n%1 = relu %1 : [2]", "line 3: a node is used before it is defined", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\n%2 = relu %0 : [2]", "line 2: a node is used before", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\n%2 = relu %-1 : [2]", "line 2: a node is used before", R4_E_PARSE},
  {"%2 = input \"x\" : [2]", "line 1: nodes must be numbered", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\n%1 = input \"y\" : [2]", "line 2: nodes must be numbered", R4_E_PARSE},
  {"%99999999999999999999 = input \"x\" : [2]", "line 1: a whole number is out of range", R4_E_PARSE},
  {"%x = input \"x\" : [2]", "line 1: expected a whole number", R4_E_PARSE},
  {"%1 = input \"x : [2]", "line 1: a name has no closing quote", R4_E_PARSE},
  {"%1 = input : [2]", "line 1: input: the name is empty", R4_E_ARGUMENT},
  {"%1 = input \"x\" : [2", "line 1: a shape has no closing bracket", R4_E_PARSE},
  {"%1 = input \"x\" : 2", "line 1: expected a shape such as [2,3]", R4_E_PARSE},
  {"%1 = input \"x\" [2]", "line 1: expected an argument, an attribute or a colon", R4_E_PARSE},
  {"%1 = input \"x\" : [2,]", "line 1: expected a whole number", R4_E_PARSE},
  {"%1 = input \"x\" : [1,1,1,1,1,1,2]", "line 1: a shape has too many dimensions", R4_E_PARSE},
  {"%1 = input \"x\" : [0]", "line 1: input: shape [0] is empty", R4_E_SHAPE},
  {"%1 = input \"x\" : [-2]", "line 1: input: shape [-2]", R4_E_SHAPE},
  {"%1 = input \"x\" : [1099511627777]", "line 1: input: shape", R4_E_SHAPE},
  {"%1 = input \"x\" : [2]\n%2 = input \"x\" : [3]", "line 2: input \"x\" is both", R4_E_SHAPE},
  {"%1 = const value=nan : []", "line 1: const: the value nan", R4_E_ARGUMENT},
  {"%1 = const value=-inf : []", "line 1: const: the value -inf", R4_E_ARGUMENT},
  {"%1 = const value=1e999 : []", "line 1: const: the value inf", R4_E_ARGUMENT},
  {"%1 = const value= : []", "line 1: expected a number", R4_E_PARSE},
  {"%1 = const value : []", "line 1: an attribute has no value", R4_E_PARSE},
  {"%1 = const worth=1 : []", "line 1: const has no attribute \"worth\"", R4_E_PARSE},
  {"%1 = iota axis=1 : [3]", "line 1: iota: axis 1 of rank 1", R4_E_SHAPE},
  {"%1 = iota axis=0,1 : [3]", "line 1: an attribute has too many numbers", R4_E_PARSE},
  {"%1 = iota axis=99999999999999999999 : [3]", "line 1: a whole number is out of range", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\n%2 = relu : [2]", "line 2: relu: got 0 arguments", R4_E_ARGUMENT},
  {"%1 = input \"x\" : [2]\n%2 = add %1 : [2]", "line 2: add: got 1 arguments", R4_E_ARGUMENT},
  {"%1 = input \"x\" : [2]\n%2 = relu %1 : [3]", "line 2: the shape is not what", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\n%2 = relu %1 : [2] x", "line 2: unexpected text at the end", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\n%2 = slice %1 start=0 : [2]", "line 2: slice [2]: axis 0", R4_E_SHAPE},
  {"%1 = input \"x\" : [2]\n%2 = sum %1 axes=-1 : []", "line 2: sum [2]: axes", R4_E_SHAPE},
  {"%1 = input \"x\" : [2]\n%2 = sum %1 axes=9223372036854775807 : []", "line 2: sum [2]: axes", R4_E_SHAPE},
  {"%1 = input \"x\" : [1,2,2,2]\n%2 = conv2d %1 %1 stride=1,1 pad=0,0,0,0 dilation=1,1 groups=0 : [1,1,1,1]",
   "line 2: an attribute is below 1", R4_E_PARSE},
  {"%1 = input \"x\" : [1,2,2,2]\n%2 = conv2d %1 %1 stride=1,1 pad=0,0,0,0 dilation=1,1 "
   "groups=-9223372036854775808 : [1]",
   "line 2: an attribute is below 1", R4_E_PARSE},
  {"output %1", "line 1: a node is used before", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\noutput 1", "line 2: expected a definition", R4_E_PARSE},
  {"%1 = input \"x\" : [2]\noutput %1\noutput %1\noutput %1", "line 4: too many outputs", R4_E_PARSE},
  {"hello", "line 1: expected a definition", R4_E_PARSE},
  {"%", "line 1: expected a whole number", R4_E_PARSE},
  {"%1", "line 1: expected \"= operation\"", R4_E_PARSE},
};

static void test_an_error_can_be_forgotten(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  struct nodes n = make_nodes(g);
  const char *message;
  size_t size = r4_graph_size(g);
  assert_int_equal(r4_matmul(g, n.m23, n.m23, false, false).i, 0);
  r4_graph_forget_error(g);
  assert_int_equal(r4_graph_status(g, &message), R4_OK);
  assert_string_equal(message, "");
  assert_int_equal(r4_graph_size(g), size);
  assert_true(r4_shape_equal(r4_node_shape(g, n.m23), R4_SHAPE(2, 3)));
  assert_int_equal(r4_add(g, n.m23, n.m23).i, size + 1);
  assert_int_equal(grad_of(g, r4_sum(g, r4_log(g, n.v3), R4_ALL), beyond).i, 0);
  r4_graph_forget_error(g);
  assert_int_equal(graph_check(g, NULL), R4_OK); /* whatever a refused transform left behind */
  assert_int_equal(r4_add(g, n.v3, n.v4).i, 0);
  assert_int_equal(r4_graph_status(g, &message), R4_E_SHAPE);
  assert_non_null(strstr(message, "add"));
  r4_graph_free(g);
}

static void test_text(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) {
    r4_error e;
    r4_id out[2];
    size_t n;
    if (r4_graph_parse(broken[k].text, 2, out, &n, &e)) fail_msg("\"%s\" is accepted", broken[k].text);
    if (e.status != broken[k].status || !strstr(e.text, broken[k].message))
      fail_msg("\"%s\": %s: \"%s\", expected \"%s\"", broken[k].text, r4_status_name(e.status), e.text,
               broken[k].message);
    assert_null(r4_graph_parse(broken[k].text, 2, out, &n, NULL));
  }
}

/* A step of training in small: most kinds of nodes. */
static char *make_text(void)
{
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(2, 4, 4, 1)), w = r4_input(g, "w", R4_SHAPE(2, 2, 2, 1)), dx, out[3];
  r4_id h = r4_pool_max(g, r4_relu(g, r4_conv2d(g, x, w, r4_window_of(1, 1))), I64(2, 2), r4_window_of(2, 0));
  r4_id rows = r4_gather(g, r4_reshape(g, h, R4_SHAPE(2, 8)), r4_iota(g, 0, R4_SHAPE(3)), 1);
  r4_id s = r4_sum(g, r4_logsumexp(g, r4_slice(g, rows, I64(0, 0), I64(2, 2), I64(1, 2))), R4_ALL);
  r4_grad(g, s, 1, &x, &dx);
  r4_box box = r4_box_around(x, x, r4_const(g, .125, R4_SHAPE(2, 4, 4, 1)));
  r4_pair pair = r4_bound(g, r4_sum(g, dx, R4_ALL), 1, &box);
  out[0] = s;
  out[1] = pair.lo;
  out[2] = pair.hi;
  char *text = r4_graph_text(g, 3, out);
  r4_graph_free(g);
  assert_non_null(text);
  return text;
}

/* Reads text; what is accepted must hold together. */
static bool accepted(const char *text)
{
  r4_error e;
  r4_id out[4];
  size_t n;
  r4_graph *g = r4_graph_parse(text, 4, out, &n, &e);
  assert_true((g == NULL) == (e.status != R4_OK));
  if (g && graph_check(g, &e)) fail_msg("\"%s\" is accepted: %s", text, e.text);
  r4_graph_free(g);
  return g != NULL;
}

static void test_cut_text(void **state)
{
  (void)state;
  char *text = make_text();
  size_t length = strlen(text), good = 0;
  assert_true(accepted(text));
  for (size_t cut = 0; cut < length; cut++) {
    char *piece = memcpy(calloc(cut + 1, 1), text, cut); /* exactly as long, for sanitizers */
    good += accepted(piece);
    free(piece);
  }
  size_t lines = 0;
  for (const char *p = text; *p; p++) lines += *p == '\n';
  assert_true(good >= lines);
  free(text);
}

static void test_spoilt_text(void **state)
{
  (void)state;
  char *text = make_text();
  for (size_t at = 0; text[at]; at++)
    for (const char *c = "%9 \n\"-=[\xff"; *c; c++) {
      char was = text[at];
      text[at] = *c;
      accepted(text);
      text[at] = was;
    }
  free(text);
}

/* Long names survive the text, or are refused when they are given. */
static void test_long_names(void **state)
{
  (void)state;
  for (size_t length = 200; length < 400; length += 5) {
    char name[400];
    memset(name, 'n', length);
    name[length] = 0;
    r4_graph *g = r4_graph_new();
    r4_id x = r4_input(g, name, R4_SCALAR);
    if (x.i) assert_graph("a long name", g, 1, &x);
    if (!x.i) assert_int_equal(r4_graph_status(g, NULL), R4_E_ARGUMENT);
    assert_true(x.i || length > 250);
    r4_graph_free(g);
  }
}

/* Outputs that are no nodes: no text. */
static void test_text_of_nothing(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_id out[2] = {r4_input(g, "x", R4_SCALAR), R4_NONE};
  for (int k = 0; k < 2; k++) {
    assert_null(r4_graph_text(g, 2, out));
    assert_null(r4_graph_dot(g, 2, out));
    out[1] = beyond;
  }
  r4_string_free(r4_graph_text(g, 0, NULL));
  r4_graph_free(g);
}

/* ---- Plans ---- */

static const r4_plan_options kinds[] = {
  {.type = R4_F32}, {.type = R4_F64}, {.type = R4_F64, .reference = true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_plans(void **state)
{
  (void)state;
  for (size_t k = 0; k < KINDS; k++) {
    r4_error e;
    r4_graph *g = r4_graph_new();
    r4_id x = r4_input(g, "x", R4_SHAPE(3)), y = r4_relu(g, x), unused = r4_input(g, "unused", R4_SHAPE(3));
    double data[3] = {1, 2, 3}, result[3];
    assert_null(r4_plan_new(NULL, 1, &y, &kinds[k], &e));
    assert_int_equal(e.status, R4_E_ARGUMENT);
    assert_null(r4_plan_new(g, 0, NULL, &kinds[k], &e));
    assert_string_equal(e.text, "plan: no outputs");
    assert_null(r4_plan_new(g, 2, ((r4_id[]){y, R4_NONE}), &kinds[k], &e));
    assert_string_equal(e.text, "plan: output 1 is not a node of the graph");
    assert_null(r4_plan_new(g, 1, &beyond, &kinds[k], NULL));
    r4_plan *p = r4_plan_new(g, 1, &y, &kinds[k], &e);
    assert_non_null(p);
    assert_int_equal(r4_plan_run(p, &e), R4_E_ARGUMENT);
    assert_string_equal(e.text, "plan: input \"x\" is not bound");
    assert_int_equal(r4_plan_run(p, NULL), R4_E_ARGUMENT);
    assert_int_equal(r4_plan_input(p, "y", data, &e), R4_E_ARGUMENT);
    assert_string_equal(e.text, "plan: the graph has no input \"y\"");
    assert_int_equal(r4_plan_input(p, "unused", NULL, &e), R4_OK);
    assert_int_equal(r4_plan_input(p, "x", data, &e), R4_OK);
    assert_int_equal(r4_plan_run(p, &e), R4_E_ARGUMENT);
    assert_string_equal(e.text, "plan: output 0 is not bound");
    assert_int_equal(r4_plan_output(p, 1, result, &e), R4_E_ARGUMENT);
    assert_non_null(strstr(e.text, "output 1"));
    assert_int_equal(r4_plan_output(p, 0, result, &e), R4_OK);
    assert_int_equal(r4_plan_run(p, &e), R4_OK);
    assert_true(unused.i);
    r4_plan_free(p);
    r4_graph_free(g);
  }
}

/* An index that is not a whole number in range fails the run, and says where. */
static void test_run_time_index(void **state)
{
  (void)state;
  static const double wrong[] = {-1, 3, 1.5, -.5, 1e30, -1e30, NAN, INFINITY, -INFINITY};
  for (size_t k = 0; k < KINDS; k++)
    for (int scatter = 0; scatter < 2; scatter++) {
      r4_graph *g = r4_graph_new();
      r4_id x = r4_input(g, "x", R4_SHAPE(2, 3)), index = r4_input(g, "index", R4_SHAPE(3));
      r4_id y = scatter ? r4_scatter_add(g, x, index, 1, 3) : r4_gather(g, x, index, 1);
      struct runner *r = runner_new(g, 1, &y, kinds[k]);
      for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
        r4_error e;
        runner_input(r, "index")[1] = wrong[j];
        if (runner_try(r, &e) != R4_E_DOMAIN) fail_msg("index %g is accepted, plan %zu", wrong[j], k);
        if (!strstr(e.text, "at position 1 is not a whole number in 0 .. 2")) fail_msg("%s", e.text);
      }
      runner_input(r, "index")[1] = 2;
      runner_run(r);
      runner_free(r);
      r4_graph_free(g);
    }
}

/* ---- The rest ---- */

static void test_free_nothing(void **state)
{
  (void)state;
  r4_graph_free(NULL);
  r4_plan_free(NULL);
  r4_optimizer_free(NULL);
  r4_net_free(NULL);
  r4_string_free(NULL);
}

static void test_questions(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  assert_int_equal(r4_node_shape(g, R4_NONE).rank, 0);
  assert_int_equal(r4_node_shape(g, beyond).rank, 0);
  assert_string_equal(r4_status_name((r4_status)99), "unknown");
  assert_string_equal(r4_status_name((r4_status)-1), "unknown");
  assert_non_null(r4_op_describe(r4_op_count() + 5).name);
  const char *name = NULL;
  assert_int_equal(r4_graph_input(g, 0, &name).i, 0);
  r4_id a = r4_input(g, "a", R4_SHAPE(2, 3)), b = r4_input(g, "b", R4_SCALAR);
  r4_mul(g, a, b);
  assert_true(r4_graph_input(g, 0, NULL).i == a.i && r4_graph_input(g, 1, &name).i == b.i);
  assert_string_equal(name, "b");
  assert_int_equal(r4_graph_input(g, 2, &name).i, 0);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_builders),
    cmocka_unit_test(test_first_error_stays),
    cmocka_unit_test(test_an_error_can_be_forgotten),
    cmocka_unit_test(test_text),
    cmocka_unit_test(test_cut_text),
    cmocka_unit_test(test_spoilt_text),
    cmocka_unit_test(test_long_names),
    cmocka_unit_test(test_text_of_nothing),
    cmocka_unit_test(test_plans),
    cmocka_unit_test(test_run_time_index),
    cmocka_unit_test(test_free_nothing),
    cmocka_unit_test(test_questions),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
