/* Own convolutions of single channels against the definition, on random shapes. */
#include <omp.h>
#include <stdio.h>

#include "base/mem.h"
#include "conv_case.h"
#include "op/window.h"

enum { TRIALS = 150, THREADS = 3 };

static const struct op *const ops[] = {&op_conv2d, &op_conv2d_dx, &op_conv2d_dw};

static struct conv_shapes shapes_of(r4_shape x, int64_t high, int64_t wide, r4_window window)
{
  window.groups = x.dim[3];
  struct conv_shapes s = {.x = x, .w = R4_SHAPE(x.dim[3], high, wide, 1), .window = window};
  struct attr attr = window_attr(window, 0, 0);
  s.y =
    R4_SHAPE(x.dim[0], window_out(&attr, 0, x.dim[1], high), window_out(&attr, 1, x.dim[2], wide), x.dim[3]);
  return s;
}

/* Numbers of vectors that fill blocks and that do not; images smaller than the window, and rows of many blocks. */
static struct conv_shapes draw_shapes(const struct op *op)
{
  r4_window w = r4_window_of(1, 0);
  for (int a = 0; a < 2; a++) w.stride[a] = draw_between(1, 4);
  for (int a = 0; a < 4; a++) w.pad[a] = draw_between(0, 7);
  int64_t most = draw_below(5) ? 12 : 40,
          wide = op == &op_conv2d_dw ? 1 + 2 * draw_between(1, 3) : draw_between(1, 7);
  r4_shape x =
    R4_SHAPE(draw_between(1, 5), draw_between(1, most), draw_between(1, most), 16 * draw_between(1, 9));
  return shapes_of(x, draw_between(1, 7), wide, w);
}

static void compare_many(const struct op *op, uint32_t stream)
{
  char what[200];
  for (uint32_t t = 0; t < TRIALS; t++) {
    draw_start(stream, t);
    struct conv_shapes s = draw_shapes(op);
    if (s.y.dim[1] < 1 || s.y.dim[2] < 1) continue;
    struct kernel_request q = conv_request(op, &s);
    q.bias = op == &op_conv2d && draw_below(2);
    q.relu = q.bias && draw_below(2);
    snprintf(what, sizeof what, "%s trial %u", op->name, (unsigned)t);
    check_now = what;
    omp_set_num_threads((int)draw_between(1, THREADS));
    conv_compare(&q, "depthwise");
  }
}

static void test_conv(void **state)
{
  (void)state;
  compare_many(&op_conv2d, 11);
}

static void test_conv_dx(void **state)
{
  (void)state;
  compare_many(&op_conv2d_dx, 12);
}

static void test_conv_dw(void **state)
{
  (void)state;
  compare_many(&op_conv2d_dw, 13);
}

static void assert_own(const struct op *op, const struct conv_shapes *s, bool want)
{
  r4_error e;
  struct kernel_request q = conv_request(op, s);
  struct kernel *k = conv_make(&q, &e);
  assert_non_null(k);
  assert_int_equal(conv_is(k, "depthwise"), want);
  kernel_free(k);
}

/* What they cannot do is left to others. */
static void test_choice(void **state)
{
  (void)state;
  r4_shape x = R4_SHAPE(2, 20, 20, 32);
  r4_window far = r4_window_of(1, 1), jump = r4_window_of(5, 1);
  far.dilation[0] = far.dilation[1] = 2;
  struct conv_shapes good = shapes_of(x, 3, 3, r4_window_of(1, 1)),
                     odd = shapes_of(R4_SHAPE(2, 20, 20, 33), 3, 3, good.window);
  struct conv_shapes large = shapes_of(x, 9, 9, good.window), dilated = shapes_of(x, 3, 3, far),
                     jumping = shapes_of(x, 3, 3, jump), even = shapes_of(x, 4, 4, good.window);
  struct conv_shapes multiplied = good, grouped = good;
  multiplied.w.dim[0] = multiplied.y.dim[3] = 64;
  grouped.window.groups = 16;
  grouped.w.dim[3] = 2;
  for (int k = 0; k < 3; k++) {
    assert_own(ops[k], &good, true);
    assert_own(ops[k], &even, ops[k] != &op_conv2d_dw);
    const struct conv_shapes *others[] = {&odd, &large, &dilated, &jumping, &multiplied, &grouped};
    for (int i = 0; i < 6; i++) assert_own(ops[k], others[i], false);
  }
}

static void test_nan(void **state)
{
  (void)state;
  struct conv_shapes s = shapes_of(R4_SHAPE(2, 6, 6, 16), 3, 3, r4_window_of(1, 1));
  conv_keeps_nan(conv_request(&op_conv2d, &s));
}

static void test_out_of_memory(void **state)
{
  (void)state;
  struct conv_shapes s = shapes_of(R4_SHAPE(2, 6, 6, 16), 3, 3, r4_window_of(1, 1));
  for (int k = 0; k < 3; k++) {
    struct kernel_request q = conv_request(ops[k], &s);
    r4_error e = {0};
    r4_mem_fail_at(1);
    assert_null(conv_make(&q, &e));
    r4_mem_fail_at(0);
    assert_int_equal(e.status, R4_E_MEMORY);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_conv),   cmocka_unit_test(test_conv_dx), cmocka_unit_test(test_conv_dw),
    cmocka_unit_test(test_choice), cmocka_unit_test(test_nan),     cmocka_unit_test(test_out_of_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("depthwise", tests, NULL, NULL);
}
