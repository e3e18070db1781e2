/* What a plan promises beyond values: less work where masks are few, and less memory where it is asked for. */
#include <string.h>

#include "check.h"
#include "module/net.h"
#include "op/op_rules.h"
#include "r4.h"

enum { MAX_PARAMS = 256 };

static r4_plan *training_plan(const char *name, r4_objective_options o, r4_plan_options options)
{
  r4_error e;
  r4_id param[MAX_PARAMS], out[MAX_PARAMS + 1];
  r4_net *net = r4_net_open(name, R4_SCALAR, &e);
  r4_graph *g = r4_graph_new();
  assert_non_null(net);
  assert_non_null(g);
  assert_true(r4_net_params(net) <= MAX_PARAMS);
  r4_net_inputs(net, g, param);
  out[0] = r4_objective_build(g, net, param, &o).loss;
  r4_grad(g, out[0], r4_net_params(net), param, out + 1);
  r4_plan *p = r4_plan_new(g, 1 + r4_net_params(net), out, &options, &e);
  if (!p) fail_msg("%s", e.text);
  r4_graph_free(g);
  r4_net_free(net);
  return p;
}

static double flops(const char *method, int64_t masked)
{
  r4_objective_options o = {
    .method = method, .batch = 32, .masked = masked, .lambda = {1}, .eps = .1, .steps = 3};
  r4_plan *p = training_plan("mlp784-512-10", o, (r4_plan_options){0});
  double n = r4_plan_flops(p);
  r4_plan_free(p);
  return n;
}

/* In units of the first layer's product x W, whose small relatives of the second layer and of 64 columns
 * stay below a unit together: ERM needs 2 of them, R3 5, Cert-R4 10; with 64 masked columns 2 are left. */
static void test_work(void **state)
{
  (void)state;
  double unit = 2. * 32 * 784 * 512;
  assert_in_range((uintmax_t)(10 * flops("erm", 0) / unit), 20, 24);
  assert_in_range((uintmax_t)(10 * flops("r3", 0) / unit), 50, 55);
  assert_in_range((uintmax_t)(10 * flops("cert-r4", 0) / unit), 100, 106);
  assert_in_range((uintmax_t)(10 * flops("r3", 64) / unit), 20, 28);
  assert_in_range((uintmax_t)(10 * flops("cert-r4", 64) / unit), 20, 32);
  assert_in_range((uintmax_t)(10 * flops("ibp-ex", 64) / unit), 20, 28);
  assert_true(flops("adv-r4", 64) < flops("adv-r4", 0) / 3);
}

/* 2 m n k for a product, and one kernel call for a product with its bias and relu. */
static void test_facts(void **state)
{
  (void)state;
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(6, 5)), w = r4_input(g, "w", R4_SHAPE(5, 4)),
        b = r4_input(g, "b", R4_SHAPE(4));
  r4_id y = r4_relu(g, r4_add(g, r4_matmul(g, x, w, false, false), b));
  r4_plan *p = r4_plan_new(g, 1, &y, &(r4_plan_options){.profile = true}, &e);
  assert_non_null(p);
  assert_true(r4_plan_flops(p) == 2. * 6 * 5 * 4);
  assert_int_equal(r4_plan_kernels(p), 1);
  assert_int_equal(r4_plan_slab_bytes(p), 0);
  char *text = r4_plan_text(p);
  assert_non_null(strstr(text, "matmul [6,5] [5,4] -> [6,4] + bias relu"));
  r4_string_free(text);
  r4_plan_free(p);
  r4_graph_free(g);
}

/* What a plan that keeps little needs of what another does, with few more products. */
static double share_with_little_kept(const char *net, r4_objective_options o)
{
  r4_plan *fast = training_plan(net, o, (r4_plan_options){0});
  r4_plan *small = training_plan(net, o, (r4_plan_options){.keep_bytes = 1});
  double share = (double)r4_plan_slab_bytes(small) / (double)r4_plan_slab_bytes(fast);
  print_message("# %s: slab %zu bytes, %zu with little kept\n", net, r4_plan_slab_bytes(fast),
                r4_plan_slab_bytes(small));
  assert_true(r4_plan_kernels(small) > r4_plan_kernels(fast));
  assert_true(r4_plan_flops(small) < 1.25 * r4_plan_flops(fast));
  r4_plan_free(fast);
  r4_plan_free(small);
  return share;
}

static void test_memory(void **state)
{
  (void)state;
  r4_objective_options o = {.method = "cert-r4", .batch = 32, .lambda = {1}, .eps = .1};
  assert_true(share_with_little_kept("derm28", o) < .7);
}

/* With batch norm, data term and penalty have a pass each: one is done before the other begins. */
static void test_passes(void **state)
{
  (void)state;
  r4_objective_options o = {.method = "r3", .batch = 4, .lambda = {1}};
  assert_true(share_with_little_kept("resnet20-cifar", o) < .7);
}

/* A size that was asked for is kept whatever it costs; the usual one only as long as it costs little. */
static void test_share(void **state)
{
  (void)state;
  r4_objective_options o = {.method = "erm", .batch = 8};
  const char *net = "efficientnet-lite0";
  r4_plan *usual = training_plan(net, o, (r4_plan_options){0});
  r4_plan *asked = training_plan(net, o, (r4_plan_options){.keep_bytes = (size_t)192 << 20});
  assert_true(r4_plan_slab_bytes(asked) < r4_plan_slab_bytes(usual));
  assert_true(r4_plan_flops(asked) > r4_plan_flops(usual));
  char *text = r4_plan_text(usual);
  assert_non_null(strstr(text, " again"));
  r4_string_free(text);
  r4_plan_free(usual);
  r4_plan_free(asked);
}

/* The answers of a small net, and their gradient at the leaf. */
static char *plan_with_norm(const char *guide)
{
  r4_error e;
  r4_id param[8], out[2];
  r4_net *net = r4_net_open("c: conv 8 3 nobias, batchnorm, relu, globalpool, dense 2", R4_SHAPE(6, 6, 3), &e);
  r4_graph *g = r4_graph_new();
  if (guide) assert_int_equal(r4_net_guide_at(net, guide, &e), R4_OK);
  r4_net_inputs(net, g, param);
  r4_id leaf = net_to_leaf(net, g, param, NULL, r4_input(g, "x", R4_SHAPE(2, 6, 6, 3)));
  out[0] = net_from_leaf(net, g, param, NULL, leaf);
  r4_grad(g, r4_sum(g, out[0], R4_ALL), 1, &leaf, &out[1]);
  assert_false(op_is_value(g, out[1], 0));
  r4_plan *p = r4_plan_new(g, 2, out, NULL, &e);
  if (!p) fail_msg("%s", e.text);
  char *text = r4_plan_text(p);
  r4_plan_free(p);
  r4_graph_free(g);
  r4_net_free(net);
  return text;
}

/* Batch norm with its running statistics is in the weights of the convolution before it, and all is one kernel; not if
 * the result of the convolution is asked for. */
static void test_norm_is_in_the_weights(void **state)
{
  (void)state;
  char *folded = plan_with_norm(NULL), *asked = plan_with_norm("c");
  assert_non_null(strstr(folded, "conv2d [2,6,6,3] [8,3,3,3] -> [2,4,4,8] + bias relu"));
  assert_non_null(strstr(asked, "conv2d [2,6,6,3] [8,3,3,3] -> [2,4,4,8]"));
  assert_null(strstr(asked, "-> [2,4,4,8] + bias"));
  r4_string_free(folded);
  r4_string_free(asked);
}

/* What a sum was made of is not computed once more by those who read the sum, and need not be there any more. */
static void test_sums_are_read(void **state)
{
  (void)state;
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(64, 8)), b = r4_input(g, "b", R4_SHAPE(8));
  r4_id y = r4_add(g, r4_sum(g, r4_mul(g, x, x), R4_AXIS(0)), b);
  r4_plan *p = r4_plan_new(g, 1, &y, NULL, &e);
  assert_non_null(p);
  char *text = r4_plan_text(p);
  assert_non_null(strstr(text, "tile 1 instructions sum[8]"));
  assert_non_null(strstr(text, "tile 1 instructions add[8]"));
  r4_string_free(text);
  r4_plan_free(p);
  r4_graph_free(g);
}

/* Two element-wise operations are one instruction where the second alone reads the first, and their bits stay. Operands
 * that tell a - b from b - a. */
static void test_joined_instructions(void **state)
{
  (void)state;
  enum { N = 5000, OUTS = 9 };
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id x[3], y[OUTS];
  for (int k = 0; k < 3; k++) x[k] = r4_input(g, (const char *[]){"a", "b", "c"}[k], R4_SHAPE(N));
  r4_id add = r4_add(g, x[0], x[1]), sub = r4_sub(g, x[0], x[1]), mul = r4_mul(g, x[0], x[1]), c = x[2];
  y[0] = r4_mul(g, r4_step(g, x[0]), c);
  y[1] = r4_sub(g, add, c), y[2] = r4_mul(g, c, r4_add(g, x[1], c));
  y[3] = r4_add(g, c, sub), y[4] = r4_sub(g, c, r4_sub(g, x[1], c)),
  y[5] = r4_mul(g, r4_sub(g, c, x[0]), x[1]);
  y[6] = r4_add(g, mul, c), y[7] = r4_sub(g, r4_mul(g, x[1], c), x[0]);
  y[8] = r4_sub(g, c, r4_mul(g, c, x[0]));
  static float in[3][N], out[OUTS][N];
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < N; i++) in[k][i] = (float)((i * (k + 7) + 3 * k) % 101) * 0.173f - 7;
  r4_plan *p = r4_plan_new(g, OUTS, y, NULL, &e);
  assert_non_null(p);
  for (size_t k = 0; k < 3; k++)
    assert_int_equal(r4_plan_input(p, (const char *[]){"a", "b", "c"}[k], in[k], &e), R4_OK);
  for (size_t k = 0; k < OUTS; k++) assert_int_equal(r4_plan_output(p, k, out[k], &e), R4_OK);
  assert_int_equal(r4_plan_run(p, &e), R4_OK);
  char *text = r4_plan_text(p);
  assert_non_null(strstr(text, "tile 9 instructions"));
  r4_string_free(text);
  for (size_t i = 0; i < N; i++) {
    volatile float a = in[0][i], b = in[1][i], d = in[2][i], t;
    t = a > 0 ? 1 : 0, assert_true(out[0][i] == t * d);
    t = a + b, assert_true(out[1][i] == t - d);
    t = b + d, assert_true(out[2][i] == t * d);
    t = a - b, assert_true(out[3][i] == t + d);
    t = b - d, assert_true(out[4][i] == d - t);
    t = d - a, assert_true(out[5][i] == t * b);
    t = a * b, assert_true(out[6][i] == t + d);
    t = b * d, assert_true(out[7][i] == t - a);
    t = d * a, assert_true(out[8][i] == d - t);
  }
  r4_plan_free(p);
  r4_graph_free(g);
}

/* The softmax of an attention costs a product over the few elements of a head. */
static void test_attention(void **state)
{
  (void)state;
  r4_objective_options o = {.method = "erm", .batch = 4};
  const char *net = "bert(layers=4,width=32,heads=4,inner=32,words=50,positions=64,drop=0)";
  r4_plan *p = training_plan(net, o, (r4_plan_options){.keep_bytes = 1});
  char *text = r4_plan_text(p);
  assert_non_null(strstr(text, "softmax [4,4,64,64] -> [4,4,64,64] again"));
  assert_non_null(strstr(text, "gelu[4,64,32] again"));
  r4_string_free(text);
  r4_plan_free(p);
  assert_true(share_with_little_kept(net, o) < .6);
}

/* x^T y + scatter(d) is the product with few numbers added, whichever term comes first. */
static void test_scattered_comes_last(void **state)
{
  (void)state;
  r4_error e;
  enum { B = 3, M = 2, N = 5, FEW = 2 };
  const float x[B * M] = {1, 2, 0, -1, 3, 1}, y[B * N] = {1, 0, 2, -1, 3, 2, 1, 0, 1, -2, 0, 1, 1, 2, -1};
  const float d[M * FEW] = {10, 20, 30, 40}, at[FEW] = {4, 1};
  const float wanted[M * N] = {1, 3 + 20, 5, 5, 0 + 10, 0, 0 + 40, 5, -1, 7 + 30};
  for (int swapped = 0; swapped < 2; swapped++) {
    r4_graph *g = r4_graph_new();
    r4_id product =
      r4_matmul(g, r4_input(g, "x", R4_SHAPE(B, M)), r4_input(g, "y", R4_SHAPE(B, N)), true, false);
    r4_id few = r4_scatter_add(g, r4_input(g, "d", R4_SHAPE(M, FEW)), r4_input(g, "at", R4_SHAPE(FEW)), 1, N);
    r4_id sum = swapped ? r4_add(g, few, product) : r4_add(g, product, few);
    r4_plan *p = r4_plan_new(g, 1, &sum, NULL, &e);
    assert_non_null(p);
    char *text = r4_plan_text(p);
    assert_non_null(strstr(text, "scatter_add [2,2] [2] -> [2,5] in place"));
    r4_string_free(text);
    float out[M * N];
    r4_plan_input(p, "x", x, &e), r4_plan_input(p, "y", y, &e), r4_plan_input(p, "d", d, &e);
    r4_plan_input(p, "at", at, &e), r4_plan_output(p, 0, out, &e);
    assert_int_equal(r4_plan_run(p, &e), R4_OK);
    for (int i = 0; i < M * N; i++) assert_true(out[i] == wanted[i]);
    r4_plan_free(p);
    r4_graph_free(g);
  }
}

/* ---- Outputs in a block ---- */

enum { SIDE = 64, COUNT = SIDE * SIDE };

/* Three products in a row, the last two of which are wanted. */
static r4_plan *chain_plan(const size_t *place, r4_error *e)
{
  r4_graph *g = r4_graph_new();
  r4_id x = r4_input(g, "x", R4_SHAPE(SIDE, SIDE)), out[2];
  out[0] = r4_matmul(g, r4_matmul(g, x, x, false, false), x, false, false);
  out[1] = r4_matmul(g, out[0], x, false, false);
  r4_plan *p = r4_plan_new(g, 2, out, &(r4_plan_options){.place = place}, e);
  r4_graph_free(g);
  return p;
}

/* The first product lies where the last will be, if that is in the block. */
static void test_block(void **state)
{
  (void)state;
  r4_error e;
  static float x[COUNT], block[3 * COUNT];
  const size_t places[][3] = {{R4_ELSEWHERE, R4_ELSEWHERE, COUNT * sizeof(float)},
                              {0, R4_ELSEWHERE, COUNT * sizeof(float)},
                              {R4_ELSEWHERE, 2 * COUNT, 0},
                              {COUNT, 0, 0}};
  for (size_t i = 0; i < SIDE; i++) x[i * SIDE + i] = 2;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    r4_plan *p = chain_plan(places[k], &e);
    assert_non_null(p);
    assert_int_equal(r4_plan_slab_bytes(p), places[k][2]);
    for (size_t j = 0; j < 2; j++)
      r4_plan_output(p, j, block + (places[k][j] == R4_ELSEWHERE ? (1 - j) * COUNT : places[k][j]), &e);
    r4_plan_input(p, "x", x, &e);
    assert_int_equal(r4_plan_run(p, &e), R4_OK);
    const float *last = block + (places[k][1] == R4_ELSEWHERE ? 0 : places[k][1]);
    assert_true(last[0] == 16 && last[1] == 0 && last[COUNT - 1] == 16);
    r4_plan_free(p);
  }
}

static void test_bad_blocks(void **state)
{
  (void)state;
  r4_error e;
  static float x[COUNT], block[3 * COUNT];
  assert_null(chain_plan((size_t[]){0, COUNT - 1}, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "outputs 0 and 1 overlap"));
  assert_null(chain_plan((size_t[]){0, SIZE_MAX / 4}, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  r4_plan *p = chain_plan((size_t[]){0, COUNT}, &e);
  r4_plan_input(p, "x", x, &e);
  r4_plan_output(p, 0, block, &e);
  r4_plan_output(p, 1, block + COUNT + 1, &e);
  assert_int_equal(r4_plan_run(p, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "output 1 is not bound at its place"));
  r4_plan_output(p, 1, block + COUNT, &e);
  assert_int_equal(r4_plan_run(p, &e), R4_OK);
  r4_plan_free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_work),          cmocka_unit_test(test_facts),
    cmocka_unit_test(test_memory),        cmocka_unit_test(test_passes),
    cmocka_unit_test(test_share),         cmocka_unit_test(test_norm_is_in_the_weights),
    cmocka_unit_test(test_sums_are_read), cmocka_unit_test(test_joined_instructions),
    cmocka_unit_test(test_attention),     cmocka_unit_test(test_scattered_comes_last),
    cmocka_unit_test(test_block),         cmocka_unit_test(test_bad_blocks)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
