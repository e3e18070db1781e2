/* Graph builders keep the error in the graph: an array that is missing is named there, and without a graph there is
 * no node. The table has a line for each builder of r4.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"

static r4_net *net;
static const r4_window window = {.stride = {1, 1}, .dilation = {1, 1}};
static const r4_objective_options plain = {.method = "erm", .batch = 2};

/* Builders that have another result than a node. */
static r4_id grad(r4_graph *g, r4_id y, const r4_id *x, bool to)
{
  r4_id dx = {1};
  r4_grad(g, y, 1, x, to ? &dx : NULL);
  return to ? dx : R4_NONE;
}

static r4_id bound(r4_pair p)
{
  return p.lo.i ? p.lo : p.hi;
}

static r4_id inputs(const r4_net *n, r4_graph *g, bool to)
{
  r4_id param[2] = {{1}, {1}};
  r4_net_inputs(n, g, to ? param : NULL);
  return to && n ? param[0] : R4_NONE;
}

/* A line: the builder; what is missing, NULL if it is the graph alone; and the call, with a graph g and a node x of it,
 * [2, 2] (none without a graph). */
#define CALLS(X)                                                                                  \
  X(r4_input, NULL, r4_input(g, "z", R4_SHAPE(2)))                                                \
  X(r4_input, "=input: the name is empty", r4_input(g, NULL, R4_SHAPE(2)))                        \
  X(r4_const, NULL, r4_const(g, 1, R4_SCALAR))                                                    \
  X(r4_iota, NULL, r4_iota(g, 0, R4_SHAPE(2)))                                                    \
  X(r4_add, NULL, r4_add(g, x, x))                                                                \
  X(r4_sub, NULL, r4_sub(g, x, x))                                                                \
  X(r4_mul, NULL, r4_mul(g, x, x))                                                                \
  X(r4_div, NULL, r4_div(g, x, x))                                                                \
  X(r4_min, NULL, r4_min(g, x, x))                                                                \
  X(r4_max, NULL, r4_max(g, x, x))                                                                \
  X(r4_less, NULL, r4_less(g, x, x))                                                              \
  X(r4_equal, NULL, r4_equal(g, x, x))                                                            \
  X(r4_select, NULL, r4_select(g, x, x, x))                                                       \
  X(r4_neg, NULL, r4_neg(g, x))                                                                   \
  X(r4_abs, NULL, r4_abs(g, x))                                                                   \
  X(r4_sign, NULL, r4_sign(g, x))                                                                 \
  X(r4_square, NULL, r4_square(g, x))                                                             \
  X(r4_sqrt, NULL, r4_sqrt(g, x))                                                                 \
  X(r4_rsqrt, NULL, r4_rsqrt(g, x))                                                               \
  X(r4_exp, NULL, r4_exp(g, x))                                                                   \
  X(r4_log, NULL, r4_log(g, x))                                                                   \
  X(r4_log1p, NULL, r4_log1p(g, x))                                                               \
  X(r4_tanh, NULL, r4_tanh(g, x))                                                                 \
  X(r4_sigmoid, NULL, r4_sigmoid(g, x))                                                           \
  X(r4_erf, NULL, r4_erf(g, x))                                                                   \
  X(r4_gelu, NULL, r4_gelu(g, x))                                                                 \
  X(r4_relu, NULL, r4_relu(g, x))                                                                 \
  X(r4_step, NULL, r4_step(g, x))                                                                 \
  X(r4_detach, NULL, r4_detach(g, x))                                                             \
  X(r4_scale, NULL, r4_scale(g, x, 2))                                                            \
  X(r4_check, NULL, r4_check(g, x, x))                                                            \
  X(r4_sum, NULL, r4_sum(g, x, R4_ALL))                                                           \
  X(r4_mean, NULL, r4_mean(g, x, R4_ALL))                                                         \
  X(r4_reduce_max, NULL, r4_reduce_max(g, x, R4_ALL))                                             \
  X(r4_softmax, NULL, r4_softmax(g, x))                                                           \
  X(r4_logsumexp, NULL, r4_logsumexp(g, x))                                                       \
  X(r4_broadcast, NULL, r4_broadcast(g, x, R4_SHAPE(3, 2, 2)))                                    \
  X(r4_reshape, NULL, r4_reshape(g, x, R4_SHAPE(4)))                                              \
  X(r4_transpose, NULL, r4_transpose(g, x, (int[]){1, 0}))                                        \
  X(r4_transpose, "a permutation", r4_transpose(g, x, NULL))                                      \
  X(r4_slice, NULL, r4_slice(g, x, (int64_t[]){0, 0}, (int64_t[]){1, 1}, NULL))                   \
  X(r4_slice, "a start", r4_slice(g, x, NULL, (int64_t[]){1, 1}, NULL))                           \
  X(r4_slice, "a size", r4_slice(g, x, (int64_t[]){0, 0}, NULL, NULL))                            \
  X(r4_pad, NULL, r4_pad(g, x, (int64_t[]){0, 0}, NULL, R4_SHAPE(4, 4)))                          \
  X(r4_pad, "a start", r4_pad(g, x, NULL, NULL, R4_SHAPE(4, 4)))                                  \
  X(r4_concat, NULL, r4_concat(g, 1, &x, 0))                                                      \
  X(r4_concat, "nodes", r4_concat(g, 2, NULL, 0))                                                 \
  X(r4_gather, NULL, r4_gather(g, x, r4_iota(g, 0, R4_SHAPE(2)), 0))                              \
  X(r4_scatter_add, NULL, r4_scatter_add(g, x, r4_iota(g, 0, R4_SHAPE(2)), 0, 4))                 \
  X(r4_crop, NULL, r4_crop(g, x, x, (int64_t[]){1, 1}))                                           \
  X(r4_crop, "a size", r4_crop(g, x, x, NULL))                                                    \
  X(r4_place, NULL, r4_place(g, x, x, (int64_t[]){1, 4, 4}))                                      \
  X(r4_place, "a size", r4_place(g, x, x, NULL))                                                  \
  X(r4_one_hot, NULL, r4_one_hot(g, x, 3))                                                        \
  X(r4_matmul, NULL, r4_matmul(g, x, x, false, false))                                            \
  X(r4_conv2d, NULL, r4_conv2d(g, x, x, window))                                                  \
  X(r4_conv2d_dx, NULL, r4_conv2d_dx(g, x, x, window, 4, 4))                                      \
  X(r4_conv2d_dw, NULL, r4_conv2d_dw(g, x, x, window, 1, 1))                                      \
  X(r4_pool_max, NULL, r4_pool_max(g, x, (int64_t[]){2, 2}, window))                              \
  X(r4_pool_max, "a kernel", r4_pool_max(g, x, NULL, window))                                     \
  X(r4_pool_sum, NULL, r4_pool_sum(g, x, (int64_t[]){2, 2}, window))                              \
  X(r4_pool_sum, "a kernel", r4_pool_sum(g, x, NULL, window))                                     \
  X(r4_pool_mean, NULL, r4_pool_mean(g, x, (int64_t[]){2, 2}, window))                            \
  X(r4_pool_mean, "a kernel", r4_pool_mean(g, x, NULL, window))                                   \
  X(r4_cross_entropy, NULL, r4_cross_entropy(g, x, x))                                            \
  X(r4_grad, NULL, grad(g, x, &x, true))                                                          \
  X(r4_grad, "nodes", grad(g, r4_sum(g, x, R4_ALL), NULL, true))                                  \
  X(r4_grad, "room for the result", grad(g, r4_sum(g, x, R4_ALL), &x, false))                     \
  X(r4_bound, NULL, bound(r4_bound(g, x, 0, NULL)))                                               \
  X(r4_bound, "boxes", bound(r4_bound(g, x, 1, NULL)))                                            \
  X(r4_bound_by, NULL, bound(r4_bound_by(g, x, 0, NULL, NULL)))                                   \
  X(r4_bound_by, "boxes", bound(r4_bound_by(g, x, 1, NULL, NULL)))                                \
  X(r4_net_inputs, NULL, inputs(net, g, true))                                                    \
  X(r4_net_inputs, "a net", inputs(NULL, g, true))                                                \
  X(r4_net_inputs, "room for the inputs", inputs(net, g, false))                                  \
  X(r4_net_apply, NULL, r4_net_apply(net, g, (r4_id[]){x, x}, x))                                 \
  X(r4_net_apply, "a net", r4_net_apply(NULL, g, (r4_id[]){x, x}, x))                             \
  X(r4_net_apply, "parameters", r4_net_apply(net, g, NULL, x))                                    \
  X(r4_objective_build, NULL, r4_objective_build(g, net, (r4_id[]){x, x}, &plain).loss)           \
  X(r4_objective_build, "a net", r4_objective_build(g, NULL, (r4_id[]){x, x}, &plain).loss)       \
  X(r4_objective_build, "parameters", r4_objective_build(g, net, NULL, &plain).loss)              \
  X(r4_objective_build, "options", r4_objective_build(g, net, (r4_id[]){x, x}, NULL).loss)

#define LINE(NAME, WHAT, CALL) {#NAME, WHAT},
#define CASE(NAME, WHAT, CALL) \
  case __COUNTER__ - FIRST:    \
    return CALL;

struct line {
  const char *function, *what;
};
static const struct line lines[] = {CALLS(LINE)};
enum { LINES = sizeof lines / sizeof *lines, FIRST = __COUNTER__ + 1 };

static r4_id call(size_t k, r4_graph *g, r4_id x)
{
  switch (k) {
    CALLS(CASE)
  }
  return R4_NONE;
}

static void check_line(void **state)
{
  size_t k = (size_t)((const struct line *)*state - lines);
  assert_int_equal(call(k, NULL, R4_NONE).i, 0);
  assert_int_equal(call(k, NULL, (r4_id){1}).i, 0);
  if (!lines[k].what) return;
  char expected[200];
  const char *message;
  r4_graph *g = r4_graph_new();
  assert_int_equal(call(k, g, r4_input(g, "x", R4_SHAPE(2, 2))).i, 0);
  assert_int_equal(r4_graph_status(g, &message), R4_E_ARGUMENT);
  snprintf(expected, sizeof expected, "%s: needs %s, got NULL", lines[k].function, lines[k].what);
  assert_string_equal(message, *lines[k].what == '=' ? lines[k].what + 1 : expected);
  r4_graph_free(g);
}

/* Questions about a graph that is not there: it has an error, and no nodes. */
static void no_graph_is_an_empty_one_with_an_error(void **state)
{
  (void)state;
  const char *message = NULL;
  r4_id x = {1};
  assert_int_equal(r4_graph_status(NULL, &message), R4_E_ARGUMENT);
  assert_string_equal(message, "r4_graph_status: needs a graph, got NULL");
  assert_int_equal(r4_graph_status(NULL, NULL), R4_E_ARGUMENT);
  r4_graph_forget_error(NULL);
  assert_int_equal(r4_graph_size(NULL), 0);
  assert_int_equal(r4_node_shape(NULL, x).rank, 0);
  assert_int_equal(r4_graph_input(NULL, 0, &message).i, 0);
  assert_null(r4_graph_text(NULL, 1, &x));
  assert_null(r4_graph_dot(NULL, 1, &x));
  r4_graph *g = r4_graph_new();
  assert_null(r4_graph_text(g, 1, NULL));
  assert_null(r4_graph_dot(g, 1, NULL));
  r4_graph_free(g);
}

static bool in_table(const char *name, size_t n)
{
  for (size_t k = 0; k < LINES; k++)
    if (strlen(lines[k].function) == n && !strncmp(lines[k].function, name, n)) return true;
  return false;
}

/* Every function of the header that takes a graph to build in is in the table. */
static void none_is_left_out(void **state)
{
  (void)state;
  uint8_t *header = NULL;
  size_t n = 0, found = 0;
  assert_int_equal(file_read("include/r4.h", 1 << 20, &header, &n, NULL), R4_OK);
  char *text = memcpy(malloc(n + 1), header, n);
  text[n] = 0;
  for (char *at = text; (at = strstr(at, "r4_graph *g")); at++) {
    char *name = at;
    while (*name != '(' && *name != ';') name--;
    if (*name == ';') continue; /* g is no parameter */
    char *end = name;
    while (isalnum((unsigned char)name[-1]) || name[-1] == '_') name--;
    bool builds = at - text < 6 || strncmp(at - 6, "const ", 6);
    if (!builds || !strncmp(name, "r4_graph_", 9)) continue;
    found++;
    if (!in_table(name, (size_t)(end - name))) fail_msg("%.*s is not in the table", (int)(end - name), name);
  }
  assert_true(found > 50);
  free(text);
  r4_mem_free(header);
}

static int start(void **state)
{
  (void)state;
  net = r4_net_open("dense 2", R4_SHAPE(2), NULL);
  return net ? 0 : -1;
}

static int end(void **state)
{
  (void)state;
  r4_net_free(net);
  return 0;
}

int main(void)
{
  static struct CMUnitTest tests[LINES + 2] = {[LINES] = cmocka_unit_test(none_is_left_out),
                                               [LINES + 1] = cmocka_unit_test(no_graph_is_an_empty_one_with_an_error)};
  static char name[LINES][100];
  for (size_t k = 0; k < LINES; k++) {
    snprintf(name[k], sizeof name[k], "%s %s", lines[k].function, lines[k].what ? lines[k].what : "a graph");
    tests[k] = (struct CMUnitTest){name[k], check_line, NULL, NULL, (void *)(uintptr_t)&lines[k]};
  }
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("null_graph", tests, start, end);
}
