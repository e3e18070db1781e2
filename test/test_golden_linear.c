/* Linear bounds of logits against those of another program: test/golden/linear.txt, by scripts/golden_linear.py. */
#include <stdio.h>
#include <string.h>

#include "golden_case.h"

enum { CASES = 3, WAYS = 3 };

static const struct {
  const char *name;
  r4_bound_options options;
} ways[WAYS] = {{"intervals", {.method = R4_BOUND_INTERVALS}},
                {"inner", {.method = R4_BOUND_LINEAR, .inner_intervals = true}},
                {"linear", {.method = R4_BOUND_LINEAR}}};

static const char *key(int k, const char *name)
{
  static char text[100];
  snprintf(text, sizeof text, "%d.%s", k, name);
  return text;
}

static r4_net *net_of(const golden *g, int k)
{
  double dim[GOLDEN_MAX_RANK];
  r4_error e;
  r4_shape shape = {.rank = (int)golden_numbers(g, key(k, "input"), GOLDEN_MAX_RANK, dim)};
  for (int a = 0; a < shape.rank; a++) shape.dim[a] = (int64_t)dim[a];
  r4_net *n = r4_net_open(golden_text(g, key(k, "layers")), shape, &e);
  if (!n) fail_msg("%s", e.text);
  return n;
}

static void give(struct runner *r, const golden_tensor *t, const char *name)
{
  double *to = runner_input(r, name);
  assert_int_equal(runner_count(r, name), t->count);
  memcpy(to, t->value, t->count * sizeof *to);
}

static void check_case(const golden *gold, int k, size_t way)
{
  r4_net *n = net_of(gold, k);
  r4_graph *g = r4_graph_new();
  r4_id param[16];
  r4_net_inputs(n, g, param);
  r4_shape shape = golden_shape(golden_get(gold, "%d.x", k));
  r4_id x = r4_input(g, "x", shape), z = r4_net_apply(n, g, param, x);
  r4_box box = r4_box_around(x, x, r4_const(g, golden_number(gold, key(k, "eps")), shape));
  r4_pair p = r4_bound_by(g, z, 1, &box, &ways[way].options);
  struct runner *r = runner_new(g, 2, (r4_id[]){p.lo, p.hi}, FAST64);
  give(r, golden_get(gold, "%d.x", k), "x");
  for (size_t j = 0; j < r4_net_params(n); j++)
    give(r, golden_get(gold, "%d.%s", k, r4_net_param_name(n, j)), r4_net_param_name(n, j));
  runner_run(r);
  for (size_t end = 0; end < 2; end++) {
    const golden_tensor *want = golden_get(gold, "%d.%s.%s", k, ways[way].name, end ? "hi" : "lo");
    assert_int_equal(want->count, r->out_count[end]);
    assert_close(key(k, ways[way].name), r->out[end], want->value, want->count, 1e-10, 0);
  }
  runner_free(r);
  r4_graph_free(g);
  r4_net_free(n);
}

static void test_golden_linear(void **state)
{
  (void)state;
  golden *g = golden_open("linear");
  for (int k = 0; k < CASES; k++)
    for (size_t way = 0; way < WAYS; way++) check_case(g, k, way);
  golden_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden_linear)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("golden linear bounds", tests, NULL, NULL);
}
