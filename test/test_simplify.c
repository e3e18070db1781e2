/* Every rule of simplification on an expression that it applies to: the value stays, by plain loops on the
 * simplified graph and by fast plans. What the rules are for: where nodes should have gone, they are gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "op/op_rules.h"
#include "pass/simplify.h"

/* ---- Expressions ---- */

/* x, y, z are [3,4]; s, t square [4,4]; i, j indices [2] and many [6] below 3. */
struct inputs {
  r4_id x, y, z, s, t, i, j, many, row, image, weights;
};

static struct inputs make_inputs(r4_graph *g)
{
  return (struct inputs){
    .x = r4_input(g, "x", R4_SHAPE(3, 4)),
    .y = r4_input(g, "y", R4_SHAPE(3, 4)),
    .z = r4_input(g, "z", R4_SHAPE(3, 4)),
    .s = r4_input(g, "s", R4_SHAPE(4, 4)),
    .t = r4_input(g, "t", R4_SHAPE(4, 4)),
    .i = r4_input(g, "index_i", R4_SHAPE(2)),
    .j = r4_input(g, "index_j", R4_SHAPE(2)),
    .many = r4_input(g, "index_many", R4_SHAPE(6)),
    .row = r4_input(g, "row", R4_SHAPE(1, 4)),
    .image = r4_input(g, "image", R4_SHAPE(1, 4, 4, 2)),
    .weights = r4_input(g, "weights", R4_SHAPE(3, 2, 2, 2)),
  };
}

static r4_id c34(r4_graph *g, double v)
{
  return r4_const(g, v, R4_SHAPE(3, 4));
}

static r4_id slice2(r4_graph *g, r4_id x, int axis)
{
  int64_t start[2] = {0}, size[2] = {r4_node_shape(g, x).dim[0], r4_node_shape(g, x).dim[1]};
  size[axis] = 2;
  return r4_slice(g, x, start, size, NULL);
}

static r4_id swap(r4_graph *g, r4_id x)
{
  return r4_transpose(g, x, (const int[]){1, 0});
}

static r4_id turn(r4_graph *g, r4_id x, int a, int b, int c)
{
  return r4_transpose(g, x, (const int[]){a, b, c});
}

static r4_id cube(r4_graph *g, r4_id x)
{
  return r4_reshape(g, x, R4_SHAPE(3, 2, 2));
}

/* scatter of part of x along an axis, back to the shape of x */
static r4_id spread(r4_graph *g, r4_id x, r4_id index, int axis)
{
  return r4_scatter_add(g, slice2(g, x, axis), index, axis, r4_node_shape(g, x).dim[axis]);
}

/* The expressions. The number is the most nodes that may be left, without inputs; 0: any. */
#define EXPRESSIONS(X)                                                                                 \
  X(r4_add(g, n.x, c34(g, 0)), 1)                                                                      \
  X(r4_add(g, c34(g, 0), n.x), 1)                                                                      \
  X(r4_add(g, n.x, r4_neg(g, n.y)), 1)                                                                 \
  X(r4_add(g, r4_neg(g, n.x), n.y), 0)                                                                 \
  X(r4_sub(g, n.x, c34(g, 0)), 1)                                                                      \
  X(r4_sub(g, c34(g, 0), n.x), 1)                                                                      \
  X(r4_sub(g, n.x, r4_neg(g, n.y)), 1)                                                                 \
  X(r4_mul(g, n.x, c34(g, 1)), 1)                                                                      \
  X(r4_mul(g, c34(g, -1), n.x), 1)                                                                     \
  X(r4_mul(g, n.x, c34(g, 0)), 1)                                                                      \
  X(r4_mul(g, c34(g, 2), n.x), 2)                                                                      \
  X(r4_div(g, n.x, c34(g, 1)), 1)                                                                      \
  X(r4_div(g, n.x, c34(g, -1)), 0)                                                                     \
  X(r4_div(g, c34(g, 0), r4_exp(g, n.x)), 1)                                                           \
  X(r4_neg(g, r4_neg(g, n.x)), 1)                                                                      \
  X(r4_neg(g, r4_sub(g, n.x, n.y)), 1)                                                                 \
  X(r4_relu(g, r4_square(g, n.x)), 1)                                                                  \
  X(r4_relu(g, r4_relu(g, n.x)), 1)                                                                    \
  X(r4_abs(g, r4_neg(g, n.x)), 1)                                                                      \
  X(r4_abs(g, r4_exp(g, n.x)), 1)                                                                      \
  X(r4_abs(g, r4_sub(g, r4_square(g, n.x), r4_square(g, n.y))), 0)                                     \
  X(r4_relu(g, r4_select(g, n.x, r4_square(g, n.y), n.z)), 0)                                          \
  X(r4_relu(g, r4_select(g, n.x, n.z, r4_square(g, n.y))), 0)                                          \
  X(r4_relu(g, r4_mul(g, r4_square(g, n.x), n.y)), 0)                                                  \
  X(r4_abs(g, r4_add(g, r4_square(g, n.x), c34(g, -1))), 0)                                            \
  X(r4_abs(g, r4_add(g, r4_square(g, n.x), c34(g, 1))), 3)                                             \
  X(r4_abs(g, r4_gather(g, n.x, n.i, 0)), 0)                                                           \
  X(r4_abs(g, spread(g, n.x, n.i, 0)), 0)                                                              \
  X(r4_relu(g, r4_matmul(g, r4_square(g, n.x), n.y, true, false)), 0)                                  \
  X(r4_abs(g, r4_logsumexp(g, n.x)), 0)                                                                \
  X(r4_min(g, n.x, n.x), 1)                                                                            \
  X(r4_max(g, n.x, n.x), 1)                                                                            \
  X(r4_select(g, c34(g, 1), n.x, n.y), 1)                                                              \
  X(r4_select(g, c34(g, 0), n.x, n.y), 1)                                                              \
  X(r4_select(g, c34(g, -1), n.x, n.y), 1)                                                             \
  X(r4_select(g, n.z, n.x, n.x), 1)                                                                    \
  X(r4_add(g, r4_relu(g, n.x), r4_step(g, n.x)), 3)                                                    \
  X(r4_add(g, r4_relu(g, n.x), r4_sign(g, n.x)), 3)                                                    \
  X(r4_detach(g, n.x), 1)                                                                              \
  X(r4_exp(g, c34(g, 1000)), 2)                                                                        \
  X(r4_exp(g, c34(g, .5)), 1)                                                                          \
  X(r4_tanh(g, r4_add(g, c34(g, .5), c34(g, .25))), 1)                                                 \
  X(r4_less(g, c34(g, 1), c34(g, 2)), 1)                                                               \
  X(r4_broadcast(g, r4_broadcast(g, n.row, R4_SHAPE(3, 4)), R4_SHAPE(2, 3, 4)), 1)                     \
  X(r4_broadcast(g, n.row, R4_SHAPE(1, 1, 4)), 1)                                                      \
  X(r4_broadcast(g, r4_const(g, 7, R4_SHAPE(4)), R4_SHAPE(3, 4)), 1)                                   \
  X(r4_reshape(g, r4_reshape(g, n.x, R4_SHAPE(12)), R4_SHAPE(6, 2)), 1)                                \
  X(r4_reshape(g, r4_reshape(g, n.x, R4_SHAPE(12)), R4_SHAPE(3, 4)), 1)                                \
  X(r4_reshape(g, c34(g, 3), R4_SHAPE(12)), 1)                                                         \
  X(swap(g, swap(g, n.x)), 1)                                                                          \
  X(turn(g, turn(g, cube(g, n.x), 2, 0, 1), 1, 0, 2), 2)                                               \
  X(turn(g, turn(g, cube(g, n.x), 2, 0, 1), 1, 2, 0), 1)                                               \
  X(turn(g, turn(g, cube(g, n.x), 1, 2, 0), 1, 2, 0), 2)                                               \
  X(swap(g, c34(g, 3)), 1)                                                                             \
  X(r4_sum(g, c34(g, 3), 1), 1)                                                                        \
  X(r4_reduce_max(g, c34(g, 3), 3), 1)                                                                 \
  X(r4_sum(g, n.row, 1), 1)                                                                            \
  X(r4_reduce_max(g, n.row, 1), 1)                                                                     \
  X(r4_sum(g, n.x, 0), 1)                                                                              \
  X(r4_slice(g, n.x, (int64_t[]){0, 0}, (int64_t[]){3, 4}, NULL), 1)                                   \
  X(slice2(g, c34(g, 3), 1), 1)                                                                        \
  X(r4_pad(g, n.x, (int64_t[]){0, 0}, NULL, R4_SHAPE(3, 4)), 1)                                        \
  X(r4_pad(g, c34(g, 3), (int64_t[]){1, 0}, NULL, R4_SHAPE(5, 4)), 0)                                  \
  X(r4_pad(g, c34(g, 0), (int64_t[]){1, 0}, NULL, R4_SHAPE(5, 4)), 1)                                  \
  X(r4_concat(g, 1, &n.x, 0), 1)                                                                       \
  X(r4_gather(g, c34(g, 5), n.i, 0), 1)                                                                \
  X(r4_gather(g, r4_tanh(g, r4_sub(g, n.x, n.y)), n.i, 1), 0)                                          \
  X(r4_gather(g, r4_tanh(g, n.x), n.many, 0), 0)                                                       \
  X(r4_gather(g, r4_select(g, n.x, n.y, n.z), n.i, 0), 0)                                              \
  X(r4_scatter_add(g, r4_const(g, 0, R4_SHAPE(2, 4)), n.i, 0, 9), 1)                                   \
  X(r4_add(g, spread(g, n.x, n.i, 0), spread(g, n.y, n.i, 0)), 4)                                      \
  X(r4_add(g, spread(g, n.x, n.i, 0), spread(g, n.y, n.j, 0)), 0)                                      \
  X(r4_add(g, spread(g, n.s, n.i, 0), spread(g, n.t, n.i, 1)), 0)                                      \
  X(r4_mul(g, n.x, spread(g, n.y, n.i, 0)), 0)                                                         \
  X(r4_mul(g, spread(g, n.y, n.i, 1), n.x), 0)                                                         \
  X(r4_mul(g, spread(g, n.y, n.i, 1), spread(g, n.x, n.j, 1)), 0)                                      \
  X(r4_mul(g, n.s, r4_scatter_add(g, r4_gather(g, n.s, n.many, 0), n.many, 0, 4)), 0)                  \
  X(r4_matmul(g, n.x, r4_const(g, 0, R4_SHAPE(4, 5)), false, false), 1)                                \
  X(r4_matmul(g, n.x, r4_scatter_add(g, r4_gather(g, n.s, n.many, 0), n.many, 0, 4), false, false), 0) \
  X(r4_conv2d(g, n.image, r4_const(g, 0, R4_SHAPE(3, 2, 2, 2)), r4_window_of(1, 0)), 1)                \
  X(r4_conv2d(g, r4_const(g, 0, R4_SHAPE(1, 4, 4, 2)), n.weights, r4_window_of(1, 0)), 1)              \
  X(r4_check(g, n.x, r4_exp(g, n.y)), 2)

static r4_id expression(int k, r4_graph *g, struct inputs n, size_t *most)
{
  int at = 0;
#define BUILD(CALL, MOST) \
  if (at++ == k) {        \
    *most = MOST;         \
    return CALL;          \
  }
  EXPRESSIONS(BUILD)
#undef BUILD
  return R4_NONE;
}

/* ---- Products: operands transposed in every way, by a flag or by a node ---- */

enum { PLAIN, SWAPPED, SPREAD_ROWS, SPREAD_COLUMNS, SUM_OF_SPREAD, OPERANDS };

static r4_id operand(r4_graph *g, r4_id x, int how, r4_id index)
{
  switch (how) {
  case SWAPPED:
    return swap(g, x);
  case SPREAD_ROWS:
    return spread(g, x, index, 0);
  case SPREAD_COLUMNS:
    return spread(g, x, index, 1);
  case SUM_OF_SPREAD:
    return r4_add(g, x, r4_add(g, r4_tanh(g, x), spread(g, x, index, 0)));
  default:
    return x;
  }
}

/* Product number k: both operands, flags, and then rows or columns gathered, or another one added. */
enum { FLAGS = 4, AFTER = 5, PRODUCTS = OPERANDS * OPERANDS * FLAGS * AFTER };

static r4_id product(int k, r4_graph *g, struct inputs n)
{
  int how_a = k % OPERANDS, how_b = k / OPERANDS % OPERANDS, flags = k / OPERANDS / OPERANDS % FLAGS;
  bool ta = flags & 1, tb = flags >> 1;
  r4_id a = operand(g, n.s, how_a, n.i), b = operand(g, n.t, how_b, n.j);
  r4_id p = r4_matmul(g, a, b, ta, tb);
  switch (k / OPERANDS / OPERANDS / FLAGS) {
  case 0:
    return p;
  case 1:
    return r4_gather(g, p, n.i, 0);
  case 2:
    return r4_gather(g, p, n.j, 1);
  case 3: /* one operand in common, which may stand on either side and be transposed */
    return r4_add(g, r4_add(g, p, r4_tanh(g, n.s)), r4_matmul(g, r4_tanh(g, n.t), b, ta, tb));
  default:
    return r4_add(g, r4_matmul(g, a, r4_tanh(g, n.s), !ta, tb), p);
  }
}

/* ---- Checking ---- */

static void fill(struct runner *r)
{
  for (size_t k = 0; k < r->n_in; k++)
    for (size_t i = 0; i < r->in_count[k]; i++)
      r->in[k][i] = strncmp(r->name[k], "index", 5) ? draw(-2, 2) : (double)draw_below(3);
}

static void check_kept(const char *what, const r4_graph *g, r4_id y, size_t most)
{
  r4_error e;
  r4_id simple;
  r4_graph *h = simplify(g, 1, &y, &simple, &e);
  if (!h) fail_msg("%s: %s", what, e.text);
  assert_graph(what, h, 1, &simple);
  const r4_plan_options fast[] = {FAST64, FAST32};
  struct runner *want = runner_new(g, 1, &y, REFERENCE), *got[3] = {runner_new(h, 1, &simple, REFERENCE)};
  for (size_t k = 0; k < 2; k++) got[1 + k] = runner_new(g, 1, &y, fast[k]);
  for (int round = 0; round < 2; round++) {
    fill(want);
    runner_run(want);
    for (size_t k = 0; k < 3; k++) {
      runner_copy_inputs(got[k], want);
      runner_run(got[k]);
      assert_close(what, got[k]->out[0], want->out[0], want->out_count[0], k == 2 ? 1e-5 : 1e-12, .1);
    }
  }
  bool *live;
  size_t left = 0;
  assert_true(graph_live(h, 1, &simple, &live));
  for (uint32_t i = 1; i <= h->size; i++) left += live[i] && h->node[i].op != &op_input;
  free(live);
  if (most && left > most) fail_msg("%s: %zu nodes are left, expected at most %zu", what, left, most);
  for (size_t k = 0; k < 3; k++) runner_free(got[k]);
  runner_free(want);
  r4_graph_free(h);
}

static void test_expressions(void **state)
{
  (void)state;
  for (int k = 0;; k++) {
    char what[40];
    size_t most = 0;
    r4_graph *g = r4_graph_new();
    r4_id y = expression(k, g, make_inputs(g), &most);
    snprintf(what, sizeof what, "expression %d", k);
    draw_start(2000, (uint32_t)k);
    if (y.i) check_kept(what, g, y, most);
    assert_int_equal(r4_graph_status(g, NULL), R4_OK);
    r4_graph_free(g);
    if (!y.i) break;
  }
}

static void test_products(void **state)
{
  (void)state;
  for (int k = 0; k < PRODUCTS; k++) {
    char what[40];
    r4_graph *g = r4_graph_new();
    r4_id y = product(k, g, make_inputs(g));
    snprintf(what, sizeof what, "product %d", k);
    draw_start(2001, (uint32_t)k);
    check_kept(what, g, y, 0);
    r4_graph_free(g);
  }
}

/* step(z) is taken from relu(z) where that exists, even if it is built later, so that z need not be kept. */
static void test_through(void **state)
{
  (void)state;
  for (int rectified = 0; rectified < 2; rectified++) {
    r4_graph *g = r4_graph_new();
    r4_id z = r4_tanh(g, r4_input(g, "x", R4_SHAPE(3))), out[2] = {r4_step(g, z)}, simple[2];
    out[1] = rectified ? r4_relu(g, z) : r4_abs(g, z);
    r4_graph *h = simplify(g, 2, out, simple, NULL);
    assert_non_null(h);
    assert_int_equal(graph_arg(h, simple[0], 0).i, rectified ? simple[1].i : graph_arg(h, simple[1], 0).i);
    r4_graph_free(h);
    r4_graph_free(g);
  }
}

/* Chains that lead on and on, and sums that share their terms, take neither the stack nor forever. */
static void test_long(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  struct inputs n = make_inputs(g);
  r4_id chain = n.x, sum = n.s;
  for (int k = 0; k < 3000; k++) chain = k % 2 ? r4_tanh(g, chain) : r4_neg(g, chain);
  chain = r4_gather(g, chain, n.i, 0);
  for (int k = 0; k < 64; k++) sum = r4_add(g, r4_scale(g, sum, .5), r4_scale(g, sum, .25));
  sum = r4_matmul(g, sum, n.t, false, false);
  draw_start(2002, 0);
  check_kept("a long chain", g, chain, 0);
  check_kept("a sum of shared terms", g, sum, 0);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_expressions),
    cmocka_unit_test(test_products),
    cmocka_unit_test(test_long),
    cmocka_unit_test(test_through),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  r4_threads(1, false);
  return cmocka_run_group_tests_name("simplify", tests, NULL, NULL);
}
