/* Convolutions with groups against the values of PyTorch in test/golden/groups.txt: values, the input gradient, its
 * derivative with respect to the weights, and bounds of both, in double and in float. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "golden_case.h"

enum { OUTPUTS = 8 };
static const char *const outputs[OUTPUTS] = {"y", "g", "dv", "dw", "lo", "hi", "glo", "ghi"};
static const char *const inputs[] = {"x", "v", "w", "t"};

struct example {
  const char *name; /* in the file */
  golden *gold;
  r4_graph *g;
  r4_id out[OUTPUTS];
};

static r4_id input(struct example *c, const char *what)
{
  return r4_input(c->g, what, golden_shape(golden_get(c->gold, "%s.%s", c->name, what)));
}

/* y = conv(relu(conv(x, v)), w), g = d(sum(t y^2) / 2)/dx, the derivative of sum(g^2), and the bounds in the box */
static void build(struct example *c)
{
  double n[8];
  assert_int_equal(golden_numbers(c->gold, c->name, 8, n), 8);
  r4_window win = r4_window_of((int64_t)n[1], 0);
  win.groups = (int64_t)n[0], win.dilation[0] = win.dilation[1] = (int64_t)n[2];
  for (int k = 0; k < 4; k++) win.pad[k] = (int64_t)n[3 + k];
  r4_graph *g = c->g;
  r4_id x = input(c, "x"), v = input(c, "v"), w = input(c, "w"), t = input(c, "t"), gx;
  r4_id y = r4_conv2d(g, r4_relu(g, r4_conv2d(g, x, v, win)), w, win);
  r4_grad(g, r4_scale(g, r4_sum(g, r4_mul(g, t, r4_square(g, y)), R4_ALL), .5), 1, &x, &gx);
  r4_grad(g, r4_sum(g, r4_square(g, gx), R4_ALL), 2, (r4_id[]){v, w}, &c->out[2]);
  r4_box box = r4_box_around(x, x, r4_const(g, n[7], r4_node_shape(g, x)));
  r4_pair by = r4_bound(g, y, 1, &box), bg = r4_bound(g, gx, 1, &box);
  c->out[0] = y, c->out[1] = gx, c->out[4] = by.lo, c->out[5] = by.hi, c->out[6] = bg.lo, c->out[7] = bg.hi;
  const char *message;
  if (r4_graph_status(g, &message)) fail_msg("%s: %s", c->name, message);
}

static void run(const struct example *c, r4_plan_options options, double tolerance)
{
  struct runner *r = runner_new(c->g, OUTPUTS, c->out, options);
  for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
    const golden_tensor *t = golden_get(c->gold, "%s.%s", c->name, inputs[k]);
    memcpy(runner_input(r, inputs[k]), t->value, t->count * sizeof *t->value);
  }
  runner_run(r);
  for (size_t k = 0; k < OUTPUTS; k++) {
    const golden_tensor *want = golden_get(c->gold, "%s.%s", c->name, outputs[k]);
    assert_int_equal(r->out_count[k], want->count);
    assert_close(want->name, r->out[k], want->value, want->count, tolerance, 0);
  }
  runner_free(r);
}

static void one(const char *name)
{
  struct example c = {.name = name, .g = r4_graph_new(), .gold = golden_open("groups")};
  build(&c);
  run(&c, REFERENCE, 1e-12);
  run(&c, FAST64, 1e-12);
  run(&c, FAST32, 2e-5);
  golden_free(c.gold);
  r4_graph_free(c.g);
}

static void test_two_groups(void **state)
{
  (void)state;
  one("two");
}

static void test_depthwise(void **state)
{
  (void)state;
  one("depthwise");
}

static void test_depthwise_with_multiplier(void **state)
{
  (void)state;
  one("multiplied");
}

/* One group is what a graph means that says nothing of groups, in the text and in r4_window. */
static void test_one_group(void **state)
{
  (void)state;
  r4_graph *g = r4_graph_new();
  r4_window none = r4_window_of(1, 0), two = none;
  none.groups = 0, two.groups = 2;
  r4_id x = r4_input(g, "x", R4_SHAPE(1, 4, 4, 2)), w = r4_input(g, "w", R4_SHAPE(2, 3, 3, 2));
  r4_id u = r4_input(g, "u", R4_SHAPE(2, 3, 3, 1));
  r4_id out[2] = {r4_conv2d(g, x, w, none), r4_conv2d(g, x, u, two)};
  assert_int_equal(out[0].i, r4_conv2d(g, x, w, r4_window_of(1, 0)).i);
  char *text = r4_graph_text(g, 2, out);
  assert_non_null(strstr(text, "conv2d %1 %2 stride=1,1 pad=0,0,0,0 dilation=1,1 : [1,2,2,2]\n"));
  assert_non_null(strstr(text, "conv2d %1 %3 stride=1,1 pad=0,0,0,0 dilation=1,1 groups=2 : [1,2,2,2]\n"));
  r4_string_free(text);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_two_groups),
    cmocka_unit_test(test_depthwise),
    cmocka_unit_test(test_depthwise_with_multiplier),
    cmocka_unit_test(test_one_group),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
