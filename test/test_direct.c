/* Own convolutions against the definition, on random shapes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "conv_case.h"
#include "op/window.h"

enum { TRIALS = 150, THREADS = 3 };

/* Multiples of 16 where the kernel of the operation needs them; false if nothing of use comes out. */
static bool draw_shapes(const struct op *op, struct conv_shapes *s)
{
  int64_t in = op == &op_conv2d_dx ? 16 * draw_between(1, 3) : draw_between(16, 40);
  int64_t outs = op == &op_conv2d_dx ? draw_between(16, 40) : 16 * draw_between(1, 3);
  bool large = draw_below(20) == 0; /* more than one strip of an image */
  s->window = r4_window_of(1, 0);
  for (int a = 0; a < 2; a++) s->window.stride[a] = draw_between(1, 3);
  for (int a = 0; a < 4; a++) s->window.pad[a] = draw_between(0, 3);
  s->x = R4_SHAPE(large ? draw_between(1, 2) : draw_between(1, 9), draw_between(1, large ? 70 : 12),
                  draw_between(1, large ? 70 : 12), in);
  s->w = R4_SHAPE(outs, draw_between(1, 5), draw_between(1, 5), in);
  struct attr attr = window_attr(s->window, 0, 0);
  int64_t h = window_out(&attr, 0, s->x.dim[1], s->w.dim[1]),
          v = window_out(&attr, 1, s->x.dim[2], s->w.dim[2]);
  s->y = R4_SHAPE(s->x.dim[0], h, v, outs);
  return h > 0 && v > 0 && s->w.dim[1] * s->w.dim[2] > 1;
}

/* ---- Tests ---- */

static void compare_many(const struct op *op, uint32_t stream)
{
  char what[200];
  kernel_prefer_own(1);
  for (uint32_t t = 0; t < TRIALS; t++) {
    struct conv_shapes s;
    draw_start(stream, t);
    if (!draw_shapes(op, &s)) continue;
    struct kernel_request q = conv_request(op, &s);
    q.bias = op == &op_conv2d && draw_below(2);
    q.relu = q.bias && draw_below(2);
    snprintf(what, sizeof what, "%s trial %u", op->name, (unsigned)t);
    check_now = what;
    omp_set_num_threads((int)draw_between(1, s.x.dim[0] < THREADS ? s.x.dim[0] : THREADS));
    conv_compare(&q, "direct");
  }
  kernel_prefer_own(-1);
}

static void test_conv(void **state)
{
  (void)state;
  compare_many(&op_conv2d, 1);
}

static void test_conv_dx(void **state)
{
  (void)state;
  compare_many(&op_conv2d_dx, 2);
}

static void test_conv_dw(void **state)
{
  (void)state;
  compare_many(&op_conv2d_dw, 3);
}

static struct conv_shapes some_shapes(int64_t in, int64_t outs)
{
  return (struct conv_shapes){R4_SHAPE(2, 8, 8, in), R4_SHAPE(outs, 3, 3, in), R4_SHAPE(2, 8, 8, outs),
                              r4_window_of(1, 1)};
}

static void assert_own(const struct op *op, const struct conv_shapes *s, bool want)
{
  r4_error e;
  struct kernel_request q = conv_request(op, s);
  struct kernel *k = conv_make(&q, &e);
  assert_non_null(k);
  assert_int_equal(conv_is(k, "direct"), want);
  kernel_free(k);
}

/* What they cannot do, or should not, is left to others. */
static void test_choice(void **state)
{
  (void)state;
  const struct op *ops[] = {&op_conv2d, &op_conv2d_dx, &op_conv2d_dw};
  omp_set_num_threads(2);
  for (int k = 0; k < 3; k++) {
    struct conv_shapes good = some_shapes(32, 32), few = some_shapes(8, 8), odd = some_shapes(33, 33),
                       wide = good;
    struct conv_shapes point = good, grouped = good;
    grouped.window.groups = 2;
    grouped.w.dim[3] /= 2;
    point.window = r4_window_of(1, 0);
    point.w.dim[1] = point.w.dim[2] = 1;
    wide.window.dilation[0] = wide.window.dilation[1] = 2;
    wide.y.dim[1] = wide.y.dim[2] = 6;
    kernel_prefer_own(1);
    assert_own(ops[k], &good, true);
    assert_own(ops[k], &few, false);
    assert_own(ops[k], &odd, false);
    assert_own(ops[k], &wide, false);
    assert_own(ops[k], &point, false);
    assert_own(ops[k], &grouped, false);
    omp_set_num_threads(3); /* more than images */
    assert_own(ops[k], &good, false);
    omp_set_num_threads(2);
    kernel_prefer_own(0);
    assert_own(ops[k], &good, false);
    kernel_prefer_own(-1);
    assert_own(ops[k], &good, kernel_prefers_own());
  }
}

static void test_nan(void **state)
{
  (void)state;
  struct conv_shapes s = some_shapes(16, 16);
  kernel_prefer_own(1);
  conv_keeps_nan(conv_request(&op_conv2d, &s));
  kernel_prefer_own(-1);
}

static void test_out_of_memory(void **state)
{
  (void)state;
  const struct op *ops[] = {&op_conv2d, &op_conv2d_dx, &op_conv2d_dw};
  struct conv_shapes s = some_shapes(32, 32);
  kernel_prefer_own(1);
  for (int k = 0; k < 3; k++) {
    struct kernel_request q = conv_request(ops[k], &s);
    struct kernel *made = NULL;
    r4_error e;
    for (long n = 1; !made; n++) {
      assert_true(n < 20);
      e.status = R4_OK;
      r4_mem_fail_at(n);
      made = conv_make(&q, &e);
      r4_mem_fail_at(0);
      if (!made) assert_int_equal(e.status, R4_E_MEMORY);
    }
    kernel_free(made);
  }
  kernel_prefer_own(-1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_conv),   cmocka_unit_test(test_conv_dx), cmocka_unit_test(test_conv_dw),
    cmocka_unit_test(test_choice), cmocka_unit_test(test_nan),     cmocka_unit_test(test_out_of_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("direct", tests, NULL, NULL);
}
