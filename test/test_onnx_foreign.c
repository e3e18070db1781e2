/* Graphs as Keras and benchmarks of verifiers have them: the net that is read gives the values of the graph, run by the
 * definitions of its operators. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_hand.h"
#include "onnx_run.h"
#include "scratch.h"

static struct slice any_numbers(struct by_hand *h, r4_shape shape)
{
  double v[600];
  for (size_t k = 0; k < (size_t)r4_shape_count(shape); k++) v[k] = draw(-1, 1);
  return onnx_numbers(&h->w, shape, v);
}

/* x of the file [ONNX_BATCH, ..]; what the net takes has channels last, unless the file has. */
static void same_values(struct by_hand *h, struct slice y, bool channels_last_there, const char *net)
{
  float x[600], ours[600], got[60];
  double given[600];
  r4_error e = {0};
  h->output = (struct onnx_value){.name = y, .type = ONNX_FLOAT};
  h->m.input = &h->input, h->m.output = &h->output, h->m.inputs = h->m.outputs = 1;
  r4_shape shape = h->input.shape;
  shape.dim[0] = ONNX_BATCH;
  size_t all = (size_t)r4_shape_count(shape);
  for (size_t k = 0; k < all; k++) given[k] = draw(-1, 1), x[k] = (float)given[k];
  struct onnx_array want = onnx_run(&h->m, &(struct onnx_array){shape, given});
  r4_model *m = hand_end(h, y, &e);
  if (!m) fail_msg("%s: %s", net, e.text);
  assert_string_equal(r4_net_layers(r4_model_net(m)), net);
  r4_shape one = r4_net_input(r4_model_net(m));
  size_t features = (size_t)r4_shape_count(one);
  for (size_t k = 0; k < ONNX_BATCH; k++)
    if (one.rank == 3 && !channels_last_there)
      hand_channels_last(one, x + k * features, ours + k * features);
    else
      memcpy(ours + k * features, x + k * features, features * sizeof *x);
  struct onnx_case c = {.input = one, .features = features, .x = ours};
  snprintf(c.text, sizeof c.text, "%s", net);
  onnx_case_logits(&c, r4_model_net(m), r4_model_weights(m), got);
  for (size_t k = 0; k < (size_t)r4_shape_count(want.shape); k++)
    if (!(fabs((double)got[k] - want.v[k]) < 1e-5)) fail_msg("%s: %g, expected %g", net, (double)got[k], want.v[k]);
  free(want.v);
  r4_model_free(m);
}

static void test_values(void **state)
{
  (void)state;
  struct by_hand h;
  struct slice y;
  draw_start(560, 0);
  hand_begin(&h, R4_SHAPE(1, 5, 1)); /* a vector with one more axis; Sub and Add of vectors; factors of Gemm */
  y = ONNX_OP(&h.w, "Flatten", h.x);
  y = ONNX_OP(&h.w, "Sub", y, any_numbers(&h, R4_SHAPE(1, 5)));
  y = ONNX_OP(&h.w, "Sigmoid", y);
  y = ONNX_OP(&h.w, "Add", y, any_numbers(&h, R4_SHAPE(5)));
  y = ONNX_OP(&h.w, "Gemm", y, any_numbers(&h, R4_SHAPE(5, 3)), any_numbers(&h, R4_SHAPE(3)));
  onnx_real(&h.w, "alpha", 0.5);
  onnx_real(&h.w, "beta", -2);
  same_values(&h, y, false, ".node2: shift, sigmoid, .node4: shift, .node5: dense 3");
  hand_begin(&h, R4_SHAPE(1, 4)); /* a product that is also used without what is added to it */
  y = ONNX_OP(&h.w, "MatMul", h.x, any_numbers(&h, R4_SHAPE(4, 3)));
  y = ONNX_OP(&h.w, "Add", ONNX_OP(&h.w, "Add", y, any_numbers(&h, R4_SHAPE(3))), y);
  same_values(&h, y, false, ".node1: dense 3 nobias, residual(.node2: shift)");
  hand_begin(&h, IMAGE); /* Pad before a convolution that pads, too */
  y = ONNX_OP(&h.w, "Pad", h.x, ONNX_WHOLES(&h.w, 0, 0, 1, 2, 0, 0, 1, 2));
  y = ONNX_OP(&h.w, "Conv", y, any_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  ONNX_LIST(&h.w, "pads", 1, 0, 1, 0);
  y = ONNX_OP(&h.w, "Gemm", ONNX_OP(&h.w, "Flatten", y), any_numbers(&h, R4_SHAPE(192, 2)));
  same_values(&h, y, false, ".node2: conv 3 3 p2 nobias, flatten, .node4: dense 2 nobias");
  hand_begin(&h, R4_SHAPE(1, 4, 5, 2)); /* Keras: channels last outside, and before the row */
  y = ONNX_OP(&h.w, "Transpose", h.x);
  ONNX_LIST(&h.w, "perm", 0, 3, 1, 2);
  y = ONNX_OP(&h.w, "Conv", y, any_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  y = ONNX_OP(&h.w, "Transpose", y);
  ONNX_LIST(&h.w, "perm", 0, 2, 3, 1);
  y = ONNX_OP(&h.w, "Reshape", y, ONNX_WHOLES(&h.w, -1, 18));
  y = ONNX_OP(&h.w, "MatMul", y, any_numbers(&h, R4_SHAPE(18, 4)));
  same_values(&h, y, true, ".node2: conv 3 3 nobias, flatten, .node5: dense 4 nobias");
  hand_begin(&h, R4_SHAPE(1, 40)); /* an image that comes as a row */
  y = ONNX_OP(&h.w, "Reshape", h.x, ONNX_WHOLES(&h.w, -1, 4, 5, 2));
  y = ONNX_OP(&h.w, "Transpose", y);
  ONNX_LIST(&h.w, "perm", 0, 3, 1, 2);
  y = ONNX_OP(&h.w, "Conv", y, any_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  y = ONNX_OP(&h.w, "Flatten", y);
  y = ONNX_OP(&h.w, "Gemm", y, any_numbers(&h, R4_SHAPE(18, 2)));
  same_values(&h, y, true, ".node3: conv 3 3 nobias, flatten, .node5: dense 2 nobias");
  hand_begin(&h, R4_SHAPE(1, 40));
  y = ONNX_OP(&h.w, "Reshape", h.x, ONNX_WHOLES(&h.w, -1, 2, 4, 5));
  y = ONNX_OP(&h.w, "Conv", y, any_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  y = ONNX_OP(&h.w, "Gemm", ONNX_OP(&h.w, "Flatten", y), any_numbers(&h, R4_SHAPE(18, 2)));
  same_values(&h, y, false, ".node2: conv 3 3 nobias, flatten, .node4: dense 2 nobias");
}

/* What waits for one operator gets no other. */
static void test_waiting(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, IMAGE);
  struct slice y = ONNX_OP(&h.w, "Pad", h.x, ONNX_WHOLES(&h.w, 0, 0, 1, 1, 0, 0, 1, 1));
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", y), "gets what Pad has made; expected a convolution behind it");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "Pad", h.x, ONNX_WHOLES(&h.w, 0, 1, 1, 1, 0, 0, 1, 1));
  hand_refuses(&h, y, "operator Pad: expected zeros around the rows and columns of an image");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "Pad", h.x, ONNX_WHOLES(&h.w, 0, 0, 1, 1, 0, 0, 1, 1), onnx_number_of(&h.w, 1));
  hand_refuses(&h, y, "operator Pad: expected zeros around the rows and columns of an image");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "Transpose", ONNX_OP(&h.w, "Relu", h.x));
  ONNX_LIST(&h.w, "perm", 0, 2, 3, 1);
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", y), "gets channels last, as a Transpose has made them");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "Transpose", ONNX_OP(&h.w, "Relu", h.x));
  ONNX_LIST(&h.w, "perm", 0, 2, 3, 1);
  y = ONNX_OP(&h.w, "Flatten", y);
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", y), "gets features in the order of channels last; expected a product");
}

/* What the rules do not look at would be read as something else. */
static void test_as_it_is(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, ROW); /* a sum behind the output that nobody takes */
  struct slice y = ONNX_OP(&h.w, "MatMul", h.x, hand_numbers(&h, R4_SHAPE(4, 3)));
  ONNX_OP(&h.w, "Add", y, hand_numbers(&h, R4_SHAPE(3)));
  hand_accepts(&h, y, ".node1: dense 3 nobias");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Clip", h.x, onnx_number_of(&h.w, (double)NAN), onnx_number_of(&h.w, 6));
  hand_refuses(&h, y, "clips to nan and 6, expected 0 and 6");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Clip", h.x, onnx_number_of(&h.w, 0), onnx_number_of(&h.w, 0x1.800002p2));
  hand_refuses(&h, y, "clips to 0 and 6, expected 0 and 6");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Clip", h.x, onnx_number_of(&h.w, 0), onnx_number_of(&h.w, 1e31));
  hand_refuses(&h, y, "clips to 0 and 1e+31");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Gather", hand_numbers(&h, R4_SHAPE(4, 4)), ONNX_WHOLES(&h.w, 3, 2, 1, 0));
  onnx_whole(&h.w, "axis", 1);
  hand_refuses(&h, ONNX_OP(&h.w, "MatMul", h.x, y), "operator Gather");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Cast", hand_numbers(&h, R4_SHAPE(4, 3)));
  onnx_whole(&h.w, "to", ONNX_INT64);
  hand_refuses(&h, ONNX_OP(&h.w, "MatMul", h.x, y), "makes numbers of type 7 of constants, expected floats");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "Pad", h.x, ONNX_WHOLES(&h.w, 0, 0, 1, 2, 0, 0, 1, 2), onnx_number_of(&h.w, 0),
              ONNX_WHOLES(&h.w, 0, 1, 3, 2));
  hand_refuses(&h, y, "operator Pad: expected zeros around the rows and columns of an image");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_waiting),
                                     cmocka_unit_test(test_as_it_is)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("onnx_foreign", tests, scratch_make, scratch_remove);
}
