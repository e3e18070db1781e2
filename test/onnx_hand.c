#include "onnx_hand.h"

#include <stdlib.h>
#include <string.h>

#include "scratch.h"

void hand_channels_last(r4_shape one, const float *from, float *to)
{
  int64_t h = one.dim[0], w = one.dim[1], c = one.dim[2];
  for (int64_t k = 0; k < h * w * c; k++) to[k] = from[(k % c) * h * w + k / c];
}

void hand_begin(struct by_hand *h, r4_shape input)
{
  *h = (struct by_hand){.m = {.version = 8, .opset = 17},
                        .input = {.name = slice_of("x"), .type = ONNX_FLOAT, .shape = input}};
  h->w = (struct onnx_writer){.m = &h->m, .part = "n"};
  h->x = h->input.name;
}

struct slice hand_numbers(struct by_hand *h, r4_shape shape)
{
  double v[4000];
  for (size_t k = 0; k < (size_t)r4_shape_count(shape); k++) v[k] = 0.25 + 0.01 * (double)(k % 7);
  return onnx_numbers(&h->w, shape, v);
}

r4_model *hand_end(struct by_hand *h, struct slice y, r4_error *e)
{
  const char *path = scratch_path("hand.onnx");
  h->output = (struct onnx_value){.name = y, .type = ONNX_FLOAT};
  h->m.input = &h->input;
  h->m.output = &h->output;
  h->m.inputs = h->m.outputs = 1;
  assert_int_equal(onnx_write(path, &h->m, e), R4_OK);
  onnx_free(&h->m);
  return r4_model_open(path, NULL, e);
}

void hand_accepts(struct by_hand *h, struct slice y, const char *net)
{
  r4_error e = {0};
  r4_model *m = hand_end(h, y, &e);
  if (!m) fail_msg("%s: %s", net, e.text);
  assert_string_equal(r4_net_layers(r4_model_net(m)), net);
  r4_model_free(m);
}

void hand_refuses(struct by_hand *h, struct slice y, const char *expected)
{
  r4_error e = {0};
  r4_model *m = hand_end(h, y, &e);
  if (m) fail_msg("read as %s, expected: %s", r4_net_layers(r4_model_net(m)), expected);
  assert_error(&e, e.status, expected);
}
