/* ONNX of others: what PyTorch has exported (scripts/golden_onnx.py) answers as it does there; graphs with what nets of
 * r4 do not have are refused in a sentence that names the node; files that are damaged, or mean harm, do none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "module/onnx/onnx.h"
#include "onnx_hand.h"
#include "scratch.h"

/* ---- What PyTorch has exported ---- */

static float *floats(const char *path, size_t *n)
{
  uint8_t *data;
  size_t size;
  r4_error e;
  if (file_read(path, 1 << 20, &data, &size, &e)) fail_msg("%s", e.text);
  *n = size / sizeof(float);
  return (float *)(void *)data;
}

/* log softmax, which is the same of logits and of itself */
static void to_logarithms(float *z, size_t n)
{
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += exp((double)z[k]);
  for (size_t k = 0; k < n; k++) z[k] = (float)((double)z[k] - log(sum));
}

static void check_golden(const char *name)
{
  char path[200];
  r4_error e = {0};
  snprintf(path, sizeof path, "test/golden/onnx/%s.onnx", name);
  r4_model *m = r4_model_open(path, NULL, &e);
  if (!m) fail_msg("%s", e.text);
  const r4_net *n = r4_model_net(m);
  print_message("# %s: %s\n", name, r4_net_layers(n));
  const size_t arrays = r4_net_vocabulary(n) > 0 ? 2 : 1; /* of texts, ids and which of them are there */
  struct onnx_case c = {.input = n->input, .features = (size_t)r4_shape_count(n->input)};
  snprintf(path, sizeof path, "test/golden/onnx/%s.bin", name);
  size_t all, classes = (size_t)r4_net_classes(n);
  float *golden = floats(path, &all), *x = c.x = calloc(all, sizeof *x), *got = calloc(all, sizeof *got);
  assert_int_equal(all, ONNX_BATCH * (arrays * c.features + classes));
  if (arrays > 1) c.valid = golden + ONNX_BATCH * c.features;
  for (size_t k = 0; k < ONNX_BATCH; k++)
    if (n->input.rank == 3)
      hand_channels_last(n->input, golden + k * c.features, x + k * c.features);
    else
      memcpy(x + k * c.features, golden + k * c.features, c.features * sizeof *x);
  snprintf(c.text, sizeof c.text, "%s", name);
  onnx_case_logits(&c, n, r4_model_weights(m), got);
  float *want = golden + arrays * ONNX_BATCH * c.features;
  for (size_t k = 0; k < ONNX_BATCH && strstr(name, "viewed"); k++) to_logarithms(got + k * classes, classes);
  double worst = 0, largest = 1;
  for (size_t k = 0; k < ONNX_BATCH * classes; k++) {
    worst = fmax(worst, fabs((double)got[k] - (double)want[k]));
    largest = fmax(largest, fabs((double)want[k]));
  }
  if (!(worst <= 1e-5 * largest)) fail_msg("%s differs by %g", name, worst / largest);
  free(x), free(got);
  r4_mem_free(golden);
  r4_model_free(m);
}

static void test_golden(void **state)
{
  (void)state;
  static const char *const names[] = {"dense", "conv", "resnet", "viewed", "bert", "encoder"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char name[40];
    snprintf(name, sizeof name, "%s-script", names[k]);
    check_golden(name);
    snprintf(name, sizeof name, "%s-dynamo", names[k]);
    check_golden(name);
  }
}

/* Names of weights are those of the modules, so that heads and frozen parts can be named. */
static void test_names(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_model *m = r4_model_open("test/golden/onnx/resnet-dynamo.onnx", NULL, &e);
  if (!m) fail_msg("%s", e.text);
  const r4_net *n = r4_model_net(m);
  assert_string_equal(r4_net_param_name(n, 0), "conv1.weight");
  assert_string_equal(r4_net_param_name(n, n->params - 1), "fc.bias");
  assert_non_null(strstr(r4_net_layers(n),
                         "residual(.layer1.1.conv1: conv 8 3 s2 p1, relu, .layer1.1.conv2: conv 8 3 "
                         "p1; .layer1.1.downsample.0: conv 8 1 s2), relu, globalpool, .fc: dense 5"));
  r4_model_free(m);
}

/* ---- Graphs by hand ---- */

static struct slice flat_end(struct by_hand *h, struct slice y, int64_t features)
{
  struct slice f = ONNX_OP(&h->w, "Flatten", y);
  return ONNX_OP(&h->w, "Gemm", f, hand_numbers(h, R4_SHAPE(features, 2)));
}

static void test_accepted(void **state)
{
  (void)state;
  struct by_hand h;
  struct slice y;
  hand_begin(&h, ROW); /* product, then bias, in either order of operands */
  y = ONNX_OP(&h.w, "MatMul", h.x, hand_numbers(&h, R4_SHAPE(4, 3)));
  y = ONNX_OP(&h.w, "Add", hand_numbers(&h, R4_SHAPE(3)), y);
  y = ONNX_OP(&h.w, "Softmax", y);
  onnx_whole(&h.w, "axis", -1);
  hand_accepts(&h, y, ".node1: dense 3");
  hand_begin(&h, ROW);
  hand_accepts(&h, ONNX_OP(&h.w, "Gelu", h.x), "gelu");
  hand_begin(&h, IMAGE); /* a bias of a convolution, behind it; means and deviations */
  y = ONNX_OP(&h.w, "Sub", h.x, hand_numbers(&h, R4_SHAPE(1, 2, 1, 1)));
  y = ONNX_OP(&h.w, "Div", y, hand_numbers(&h, R4_SCALAR));
  y = ONNX_OP(&h.w, "Conv", y, hand_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  y = ONNX_OP(&h.w, "Add", y, hand_numbers(&h, R4_SHAPE(3, 1, 1)));
  hand_accepts(
    &h, flat_end(&h, ONNX_OP(&h.w, "GlobalAveragePool", y), 3),
    "normalize mean 0.25/0.26, normalize std 0.25, .node3: conv 3 3, globalpool, .node7: dense 2 nobias");
  hand_begin(&h, R4_SHAPE(1, 6, 6, 2)); /* channels last, as TensorFlow has them */
  y = ONNX_OP(&h.w, "Transpose", h.x);
  ONNX_LIST(&h.w, "perm", 0, 3, 1, 2);
  y = ONNX_OP(&h.w, "Conv", y, hand_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  onnx_list(&h.w, "strides", 2, (int64_t[]){2, 2});
  ONNX_LIST(&h.w, "pads", 0, 0, 1, 1);
  hand_accepts(&h, flat_end(&h, y, 27), ".node2: conv 3 3 s2 p0/1 nobias, flatten, .node4: dense 2 nobias");
  hand_begin(&h,
        R4_SHAPE(1, 2, 5, 6)); /* pads that are not the same for rows and columns, but are those of "same" */
  y = ONNX_OP(&h.w, "MaxPool", h.x);
  ONNX_LIST(&h.w, "kernel_shape", 2, 2);
  ONNX_LIST(&h.w, "strides", 2, 2);
  ONNX_LIST(&h.w, "pads", 0, 0, 1, 0);
  hand_accepts(&h, flat_end(&h, y, 18), "maxpool 2 same, flatten, .node3: dense 2 nobias");
}

static void test_shared_ways(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, ROW); /* a sum in a sum, and a way past both */
  struct slice a = ONNX_OP(&h.w, "Relu", h.x), b = ONNX_OP(&h.w, "Tanh", a), c = ONNX_OP(&h.w, "Add", b, a);
  struct slice d = ONNX_OP(&h.w, "Add", c, h.x);
  hand_accepts(&h, ONNX_OP(&h.w, "Relu", d), "residual(relu, residual(tanh)), relu");
  hand_begin(&h, ROW); /* ways that cross */
  a = ONNX_OP(&h.w, "Relu", h.x), b = ONNX_OP(&h.w, "Tanh", h.x);
  c = ONNX_OP(&h.w, "Add", a, b), d = ONNX_OP(&h.w, "Add", c, a);
  hand_refuses(&h, d, "is used twice in a way that r4 cannot express");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Add", h.x, h.x), "node \"n/Add_0\", operator Add: adds something to itself");
  hand_begin(&h, ROW);
  a = h.x;
  for (int k = 0; k < 40; k++) { /* each sum inside the next one */
    b = ONNX_OP(&h.w, "Relu", a);
    a = ONNX_OP(&h.w, "Add", b, h.x);
  }
  hand_refuses(&h, a, "sums in more than 24 sums");
}

static void test_refused(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "LSTM", h.x),
          "operator LSTM: r4 has no such part; it has Add, AveragePool");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", slice_of("nobody")), "uses \"nobody\", which no node outputs");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", slice_of("n/Relu_0")), "uses \"n/Relu_0\" before it is computed");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "MatMul", h.x, h.x), "its input 2 is computed, expected weights");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "MatMul", h.x, hand_numbers(&h, R4_SHAPE(3, 4))),
          "gets 4 features, its weights are for 3");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Gemm", h.x, hand_numbers(&h, R4_SHAPE(4, 3)), hand_numbers(&h, R4_SHAPE(4))),
          "its bias has 4 numbers for 3 outputs");
  hand_begin(&h, ROW);
  struct slice y = ONNX_OP(&h.w, "Gemm", h.x, hand_numbers(&h, R4_SHAPE(4, 3)));
  onnx_whole(&h.w, "transA", 1);
  hand_refuses(&h, y, "has transA, expected a product of examples with weights");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Gemm", h.x, hand_numbers(&h, R4_SHAPE(4, 3)));
  onnx_real(&h.w, "alpha", 0);
  hand_refuses(&h, y, "its alpha is 0 and its beta 1, expected numbers that are not 0");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", ONNX_OP(&h.w, "Softmax", h.x)), "is not the last operation");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Clip", h.x, onnx_number_of(&h.w, -1), onnx_number_of(&h.w, 1)),
          "clips to -1 and 1");
}

/* The truth values that the writer has no function for. */
static struct slice flag(struct by_hand *h, int64_t v)
{
  struct slice name = onnx_wholes(&h->w, 1, &v);
  struct onnx_tensor *t = &h->m.tensor[h->m.tensors - 1];
  *t = (struct onnx_tensor){.name = t->name, .type = ONNX_BOOL, .data = {t->data.s, 1}};
  return name;
}

/* What a net does while it learns is not what it does afterwards. */
static void test_learning_nets(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, ROW);
  hand_accepts(&h, ONNX_OP(&h.w, "Relu", ONNX_OP(&h.w, "Dropout", h.x)), "relu");
  hand_begin(&h, ROW);
  struct slice y = ONNX_OP(&h.w, "Dropout", h.x, onnx_number_of(&h.w, .5), flag(&h, 0));
  hand_accepts(&h, ONNX_OP(&h.w, "Relu", y), "relu");
  hand_begin(&h, ROW);
  y = ONNX_OP(&h.w, "Dropout", h.x, onnx_number_of(&h.w, .5), flag(&h, 1));
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", y),
          "node \"n/Dropout_0\", operator Dropout: is in training mode; export the net in evaluation mode");
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Dropout", h.x, onnx_number_of(&h.w, .5), h.x), "its input 3 is computed");
}

/* A norm with the variances 1 and v. */
static struct slice norm_with(struct by_hand *h, double v)
{
  hand_begin(h, R4_SHAPE(1, 2));
  struct slice two = hand_numbers(h, R4_SHAPE(2)), variance = onnx_numbers(&h->w, R4_SHAPE(2), (double[]){1, v});
  return ONNX_OP(&h->w, "BatchNormalization", h->x, two, two, two, variance);
}

static void test_negative_variance(void **state)
{
  (void)state;
  struct by_hand h;
  hand_accepts(&h, norm_with(&h, 0), ".node1: batchnorm eps 1e-05");
  hand_refuses(&h, norm_with(&h, -1e-9),
          "operator BatchNormalization: its running_var is -1e-09 for channel 1, expected 0 or more");
}

/* A shape of heads whose product is beyond all numbers. */
static void test_large_shapes(void **state)
{
  (void)state;
  static const int64_t sizes[][2] = {{2, INT64_MAX}, {4, (int64_t)1 << 62}, {INT64_MAX, 2}, {INT64_MIN, -1}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    struct by_hand h;
    hand_begin(&h, R4_SHAPE(1, 6));
    h.input.type = ONNX_INT64;
    struct slice x = ONNX_OP(&h.w, "Gather", hand_numbers(&h, R4_SHAPE(5, 4)), h.x);
    struct slice shape = ONNX_WHOLES(&h.w, 0, 6, sizes[k][0], sizes[k][1]);
    hand_refuses(&h, ONNX_OP(&h.w, "Reshape", x, shape), "its result is not [batch, features]");
  }
}

static void test_refused_images(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, ROW);
  hand_refuses(&h, ONNX_OP(&h.w, "Conv", h.x, hand_numbers(&h, R4_SHAPE(1, 1, 1, 1))), "gets a vector");
  hand_begin(&h, IMAGE);
  hand_refuses(&h, ONNX_OP(&h.w, "Conv", h.x, hand_numbers(&h, R4_SHAPE(3, 2, 3, 1))),
          "filters must be square");
  hand_begin(&h, IMAGE);
  hand_refuses(&h, ONNX_OP(&h.w, "Conv", h.x, hand_numbers(&h, R4_SHAPE(3, 1, 3, 3))),
          "gets 2 channels, its weights are for 1");
  hand_begin(&h, IMAGE);
  struct slice y = ONNX_OP(&h.w, "Conv", h.x, hand_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  ONNX_LIST(&h.w, "strides", 1, 2);
  hand_refuses(&h, y, "strides are not two equal numbers");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "Conv", h.x, hand_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  ONNX_LIST(&h.w, "pads", 0, 1, 2, 3);
  hand_refuses(&h, y, "pads are 0, 1, 2, 3, expected the same for rows and columns");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "AveragePool", h.x);
  ONNX_LIST(&h.w, "kernel_shape", 3, 3);
  ONNX_LIST(&h.w, "pads", 1, 1, 1, 1);
  hand_refuses(&h, y, "its mean leaves out the padding");
  hand_begin(&h, IMAGE);
  y = ONNX_OP(&h.w, "MaxPool", h.x);
  ONNX_LIST(&h.w, "kernel_shape", 3, 3);
  ONNX_LIST(&h.w, "strides", 2, 2);
  onnx_whole(&h.w, "ceil_mode", 1);
  hand_refuses(&h, y, "ceil_mode counts windows that are cut off");
  hand_begin(&h, IMAGE);
  hand_refuses(&h, ONNX_OP(&h.w, "MaxPool", h.x), "kernel_shape is 0");
  hand_begin(&h, IMAGE);
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", h.x), "the last layer gives an image");
}

static void test_refused_files(void **state)
{
  (void)state;
  struct by_hand h;
  hand_begin(&h, R4_SHAPE(1, 2, 0, 0));
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", h.x), "only a run, which has examples, can open such a file");
  hand_begin(&h, R4_SHAPE(1, 2, 3));
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", h.x), "its input \"x\" has 3 dimensions and type 1");
  hand_begin(&h, ROW);
  h.m.opset = 6;
  hand_refuses(&h, ONNX_OP(&h.w, "Relu", h.x), "its operators are of version 6, r4 reads those from 7 on");
  hand_begin(&h, ROW);
  hand_refuses(&h, hand_numbers(&h, R4_SHAPE(4)), "does not come from its input");
}

/* The size of images is that of the examples, if the file leaves it open. */
static void test_open_size(void **state)
{
  (void)state;
  struct by_hand h;
  r4_error e = {0};
  hand_begin(&h, R4_SHAPE(1, 2, 0, 0));
  struct slice y = ONNX_OP(&h.w, "Conv", h.x, hand_numbers(&h, R4_SHAPE(3, 2, 3, 3)));
  y = ONNX_OP(&h.w, "Flatten", ONNX_OP(&h.w, "GlobalAveragePool", y));
  assert_null(hand_end(&h, y, &e));
  r4_net *n = r4_net_open(scratch_path("hand.onnx"), R4_SHAPE(7, 9, 2), &e);
  if (!n) fail_msg("%s", e.text);
  assert_true(r4_shape_equal(n->input, R4_SHAPE(7, 9, 2)));
  r4_net_free(n);
}

/* ---- Damage ---- */

static r4_status translate(const uint8_t *data, size_t size, r4_error *e)
{
  struct onnx_model m;
  struct st_file f = {0};
  uint8_t *copy = malloc(size + 1); /* a reader that goes too far is seen by sanitizers */
  memcpy(copy, data, size);
  r4_status s = onnx_parse(&m, "f.onnx", copy, size, e);
  if (!s) s = onnx_translate(&f, &m, "f.onnx", (r4_shape){0}, e);
  if (s && !e->text[0]) fail_msg("an error without a sentence");
  st_free(&f);
  onnx_free(&m);
  free(copy);
  return s;
}

static uint8_t *sample_file(size_t *size, bool notes)
{
  r4_net *n =
    net_of("conv 2 3 p1, batchnorm, relu6, residual(conv 2 1), globalpool, dense 2", R4_SHAPE(3, 3, 1));
  float *w = calloc(n->size, sizeof *w);
  r4_net_init(n, NULL, 1, w, NULL);
  r4_error e;
  struct onnx_model m;
  uint8_t *data;
  assert_int_equal(r4_onnx_save(n, w, NULL, scratch_path("s.onnx"), &e), R4_OK);
  assert_int_equal(onnx_read(&m, scratch_path("s.onnx"), &e), R4_OK);
  if (!notes) m.notes = 0;
  assert_int_equal(onnx_write(scratch_path("t.onnx"), &m, &e), R4_OK);
  onnx_free(&m);
  assert_int_equal(file_read(scratch_path("t.onnx"), 1 << 20, &data, size, &e), R4_OK);
  free(w);
  r4_net_free(n);
  return data;
}

static void damage(bool notes)
{
  size_t size, good = 0, bad = 0;
  r4_error e;
  uint8_t *data = sample_file(&size, notes);
  assert_int_equal(translate(data, size, &e), R4_OK);
  for (size_t n = 0; n < size; n++) { /* notes at the end may be missing, nothing else */
    r4_status s = translate(data, n, &e);
    if (!s && !notes) fail_msg("%zu of %zu bytes are read", n, size);
    bad += s != R4_OK;
  }
  assert_true(bad > size / 2);
  for (size_t k = 0; k < size; k++) {
    static const uint8_t flips[] = {1, 128, 255, 8};
    for (size_t i = 0; i < sizeof flips; i++) {
      data[k] ^= flips[i];
      e = (r4_error){0};
      if (translate(data, size, &e))
        bad++;
      else
        good++;
      data[k] ^= flips[i];
    }
  }
  print_message("# %zu bytes: %zu damaged files refused, %zu read\n", size, bad, good);
  r4_mem_free(data);
}

static void test_damage(void **state)
{
  (void)state;
  damage(true);
  damage(false);
}

/* A graph with attention in it, some bits of which are others. */
static void test_damage_of_texts(void **state)
{
  (void)state;
  uint8_t *data;
  size_t size, good = 0, bad = 0;
  r4_error e = {0};
  assert_int_equal(file_read("test/golden/onnx/encoder-script.onnx", 1 << 20, &data, &size, &e), R4_OK);
  assert_int_equal(translate(data, size, &e), R4_OK);
  for (size_t k = 0; k < size; k += 2) {
    const uint8_t flip = (uint8_t)(1 << k / 2 % 8);
    data[k] ^= flip;
    e = (r4_error){0};
    bool refused = translate(data, size, &e);
    if (refused && strlen(e.text) < 20) fail_msg("byte %zu: %s", k, e.text);
    *(refused ? &bad : &good) += 1;
    data[k] ^= flip;
  }
  print_message("# %zu bytes of texts: %zu damaged files refused, %zu read\n", size, bad, good);
  assert_true(good && bad);
  r4_mem_free(data);
}

#define PARSE_FAILS(bytes, expected)                                                          \
  do {                                                                                        \
    r4_error e = {0};                                                                         \
    assert_error(&e, translate((const uint8_t *)(bytes), sizeof(bytes) - 1, &e), (expected)); \
  } while (0)

static void test_rules(void **state)
{
  (void)state;
  PARSE_FAILS("", "it does not state its ONNX version");
  PARSE_FAILS("hello", "not ONNX, or damaged");
  PARSE_FAILS("\x08\x08\x3a\x7f", "it is truncated");
  PARSE_FAILS("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "it is truncated"); /* 65 bits */
  PARSE_FAILS("\x08\x08\x0b", "it is truncated");                                 /* a group */
  PARSE_FAILS("\x08\x08", "has no input and 0 outputs");
  PARSE_FAILS("\x08\x08\x3a\x02\x2a\x00\x3a\x02\x2a\x00", "more than one graph");
  PARSE_FAILS("\x08\x08\x3a\x05\x2a\x03\x08\xff\x7f", "has no input");
  PARSE_FAILS("\x08\x08\x3a\x0d\x2a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
              "a tensor of a dimension below 0");
  PARSE_FAILS("\x08\x08\x3a\x10\x2a\x0e\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01",
              "more than 6 dimensions");
}

/* ---- Weights in files beside it ---- */

static void write_external(const char *location, const char *offset)
{
  struct wire w = {0};
  wire_whole(&w, 1, 8);
  size_t graph = wire_open(&w, 7), node = wire_open(&w, 1);
  wire_text(&w, 1, slice_of("x"));
  wire_text(&w, 1, slice_of("w"));
  wire_text(&w, 2, slice_of("y"));
  wire_text(&w, 4, slice_of("MatMul"));
  wire_close(&w, node);
  size_t tensor = wire_open(&w, 5);
  wire_whole(&w, 1, 2), wire_whole(&w, 1, 2), wire_whole(&w, 2, ONNX_FLOAT);
  wire_text(&w, 8, slice_of("w"));
  const char *const pair[][2] = {{"location", location}, {"offset", offset}, {"length", "16"}};
  for (int k = 0; k < 3; k++) {
    size_t entry = wire_open(&w, 13);
    wire_text(&w, 1, slice_of(pair[k][0]));
    wire_text(&w, 2, slice_of(pair[k][1]));
    wire_close(&w, entry);
  }
  wire_whole(&w, 14, 1);
  wire_close(&w, tensor);
  for (unsigned field = 11; field < 13; field++) {
    size_t value = wire_open(&w, field);
    wire_text(&w, 1, slice_of(field == 11 ? "x" : "y"));
    size_t type = wire_open(&w, 2), t = wire_open(&w, 1);
    wire_whole(&w, 1, ONNX_FLOAT);
    size_t shape = wire_open(&w, 2);
    for (int k = 1; k < 3; k++) {
      size_t dim = wire_open(&w, 1);
      wire_whole(&w, 1, k);
      wire_close(&w, dim);
    }
    wire_close(&w, shape), wire_close(&w, t), wire_close(&w, type), wire_close(&w, value);
  }
  wire_close(&w, graph);
  size_t opset = wire_open(&w, 8);
  wire_whole(&w, 2, 17);
  wire_close(&w, opset);
  assert_false(w.failed);
  assert_int_equal(file_write(scratch_path("external.onnx"), w.data, w.size, NULL), R4_OK);
  r4_mem_free(w.data);
}

static void refuses_external(const char *location, const char *offset, const char *expected)
{
  r4_error e = {0};
  write_external(location, offset);
  r4_model *m = r4_model_open(scratch_path("external.onnx"), NULL, &e);
  assert_null(m);
  assert_error(&e, e.status, expected);
}

static void test_external(void **state)
{
  (void)state;
  static const float numbers_there[] = {9, 1, 2, 3, 4};
  r4_error e = {0};
  assert_int_equal(file_write(scratch_path("w.data"), numbers_there, sizeof numbers_there, &e), R4_OK);
  write_external("w.data", "4");
  r4_model *m = r4_model_open(scratch_path("external.onnx"), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  assert_memory_equal(r4_model_weights(m), ((const float[]){1, 3, 2, 4}),
                      16); /* [in, out] there, [out, in] here */
  r4_model_free(m);
  refuses_external("w.data", "8", "its data are outside of w.data");
  refuses_external("w.data", "99999999999999999999", "the place of a tensor's data is not a number");
  refuses_external("../w.data", "4", "expected a file next to it");
  refuses_external("/etc/passwd", "4", "expected a file next to it");
  refuses_external("sub/w.data", "4", "expected a file next to it");
  refuses_external("..", "4", "expected a file next to it");
  refuses_external("none.data", "4", "none.data");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_golden),        cmocka_unit_test(test_names),
    cmocka_unit_test(test_accepted),      cmocka_unit_test(test_shared_ways),
    cmocka_unit_test(test_refused),       cmocka_unit_test(test_refused_images),
    cmocka_unit_test(test_learning_nets), cmocka_unit_test(test_negative_variance),
    cmocka_unit_test(test_large_shapes),
    cmocka_unit_test(test_refused_files), cmocka_unit_test(test_open_size),
    cmocka_unit_test(test_damage), cmocka_unit_test(test_damage_of_texts),        cmocka_unit_test(test_rules),
    cmocka_unit_test(test_external)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("ONNX of others", tests, scratch_make, scratch_remove);
}
