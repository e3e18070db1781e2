/* Nets by name: architectures with the names and counts of others, what may be chosen of them, files, and what happens
 * when memory runs out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net_case.h"
#include "scratch.h"

static const r4_shape own = {0}; /* the net's own example */

static r4_net *open_net(const char *name, r4_shape example)
{
  r4_error e;
  r4_net *n = r4_net_open(name, example, &e);
  if (!n) fail_msg("%s: %s", name, e.text);
  return n;
}

static void refuse(const char *name, r4_shape example, r4_status status, const char *message)
{
  r4_error e;
  r4_net *n = r4_net_open(name, example, &e);
  if (n) fail_msg("%s is accepted, expected: %s", name, message);
  if (e.status != status || !strstr(e.text, message))
    fail_msg("%s: %s: %s\nexpected %s", name, r4_status_name(e.status), e.text, message);
}

/* NULL if there is none. */
static const struct param *find_param(const r4_net *n, const char *name)
{
  for (size_t k = 0; k < n->params; k++)
    if (!strcmp(n->param[k].name, name)) return &n->param[k];
  return NULL;
}

/* As others count: without buffers. */
static size_t weights_of(const r4_net *n)
{
  size_t sum = 0;
  for (size_t k = 0; k < n->params; k++)
    if (!n->param[k].buffer) sum += (size_t)r4_shape_count(n->param[k].shape);
  return sum;
}

static void write_file(const char *name, const char *text)
{
  FILE *f = fopen(scratch_path(name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

/* ---- Architectures ---- */

static const struct {
  const char *net;
  size_t weights, params;
  const char *name;
  r4_shape shape; /* as its files have it */
  bool buffer;
} known[] = {
  {"resnet18", 11689512, 102, "conv1.weight", {4, {64, 3, 7, 7}}, false},
  {"resnet18", 11689512, 102, "layer1.0.conv1.weight", {4, {64, 64, 3, 3}}, false},
  {"resnet18", 11689512, 102, "layer2.0.downsample.0.weight", {4, {128, 64, 1, 1}}, false},
  {"resnet18", 11689512, 102, "layer2.0.downsample.1.running_var", {1, {128}}, true},
  {"resnet18", 11689512, 102, "layer4.1.bn2.running_mean", {1, {512}}, true},
  {"resnet18", 11689512, 102, "fc.weight", {2, {1000, 512}}, false},
  {"resnet34", 21797672, 182, "layer1.2.conv2.weight", {4, {64, 64, 3, 3}}, false},
  {"resnet34", 21797672, 182, "layer3.5.bn2.bias", {1, {256}}, false},
  {"resnet34", 21797672, 182, "layer4.0.downsample.0.weight", {4, {512, 256, 1, 1}}, false},
  {"resnet50", 25557032, 267, "layer1.0.downsample.0.weight", {4, {256, 64, 1, 1}}, false},
  {"resnet50", 25557032, 267, "layer3.5.conv3.weight", {4, {1024, 256, 1, 1}}, false},
  {"resnet50", 25557032, 267, "layer4.2.bn3.running_var", {1, {2048}}, true},
  {"resnet50", 25557032, 267, "fc.bias", {1, {1000}}, false},
  {"resnet20-cifar", 269722, 97, "layer3.2.conv2.weight", {4, {64, 64, 3, 3}}, false},
  {"resnet20-cifar", 269722, 97, "layer2.0.bn1.running_mean", {1, {32}}, true},
  {"resnet20-cifar", 269722, 97, "linear.weight", {2, {10, 64}}, false},
  {"efficientnet-lite0", 4652008, 247, "_conv_stem.weight", {4, {32, 3, 3, 3}}, false},
  {"efficientnet-lite0", 4652008, 247, "_blocks.0._depthwise_conv.weight", {4, {32, 1, 3, 3}}, false},
  {"efficientnet-lite0", 4652008, 247, "_blocks.3._depthwise_conv.weight", {4, {144, 1, 5, 5}}, false},
  {"efficientnet-lite0", 4652008, 247, "_blocks.15._project_conv.weight", {4, {320, 1152, 1, 1}}, false},
  {"efficientnet-lite0", 4652008, 247, "_blocks.15._bn2.running_var", {1, {320}}, true},
  {"efficientnet-lite0", 4652008, 247, "_fc.bias", {1, {1000}}, false},
  {"bert", 108893186, 199, "embeddings.word_embeddings.weight", {2, {30522, 768}}, false},
  {"bert", 108893186, 199, "embeddings.position_embeddings.weight", {2, {512, 768}}, false},
  {"bert", 108893186, 199, "embeddings.token_type_embeddings.weight", {2, {2, 768}}, false},
  {"bert", 108893186, 199, "embeddings.LayerNorm.bias", {1, {768}}, false},
  {"bert", 108893186, 199, "encoder.layer.0.attention.self.query.weight", {2, {768, 768}}, false},
  {"bert", 108893186, 199, "encoder.layer.3.attention.output.dense.bias", {1, {768}}, false},
  {"bert", 108893186, 199, "encoder.layer.11.attention.output.LayerNorm.weight", {1, {768}}, false},
  {"bert", 108893186, 199, "encoder.layer.7.intermediate.dense.weight", {2, {3072, 768}}, false},
  {"bert", 108893186, 199, "encoder.layer.11.output.dense.weight", {2, {768, 3072}}, false},
  {"bert", 108893186, 199, "encoder.layer.11.output.LayerNorm.bias", {1, {768}}, false},
  {"bert", 108893186, 199, "classifier.weight", {2, {2, 768}}, false},
};

static void test_architectures(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    r4_net *n = open_net(known[k].net, own);
    const struct param *p = find_param(n, known[k].name);
    if (!p) fail_msg("%s has no parameter %s", known[k].net, known[k].name);
    if (!r4_shape_equal(p->file_shape, known[k].shape)) fail_msg("%s has another shape", known[k].name);
    assert_int_equal(p->buffer, known[k].buffer);
    assert_int_equal(weights_of(n), known[k].weights);
    assert_int_equal(n->params, known[k].params);
    r4_net_free(n);
  }
}

/* All that r4 brings along: printed, and read again. */
static void test_all_read_back(void **state)
{
  (void)state;
  assert_true(r4_architecture_count() >= 10);
  for (size_t k = 0; k < r4_architecture_count(); k++) {
    const char *name = r4_architecture_name(k);
    r4_net *n = open_net(name, own);
    assert_reads_back(n);
    assert_non_null(strstr(r4_architecture_text(name), "about "));
    r4_net_free(n);
  }
  assert_null(r4_architecture_name(r4_architecture_count()));
  assert_null(r4_architecture_text("resnet19"));
  assert_null(r4_architecture_text(NULL));
}

static void test_choices(void **state)
{
  (void)state;
  r4_net *n = open_net("resnet18(classes=6)", own);
  assert_int_equal(r4_net_classes(n), 6);
  assert_int_equal(weights_of(n), 11689512 - 513 * 994);
  r4_net_free(n);
  n = open_net("resnet20-cifar(classes=3)", R4_SHAPE(40, 36, 1)); /* any images */
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(40, 36, 1)));
  assert_true(r4_shape_equal(find_param(n, "conv1.weight")->file_shape, R4_SHAPE(16, 1, 3, 3)));
  r4_net_free(n);
  n = open_net("resnet50( first=2,second=1 , eps=1.001e-5)", R4_SHAPE(64, 64, 3));
  assert_non_null(strstr(r4_net_layers(n), "layer2.0.conv1: conv 128 1 s2 nobias"));
  assert_non_null(strstr(r4_net_layers(n), "batchnorm eps 1.001"));
  assert_reads_back(n);
  r4_net_free(n);
  n = open_net("bert(layers=1, width=8, heads=2, inner=6, words=11, positions=5, pool=mean)", own);
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(5)));
  assert_true(r4_shape_equal(net_leaf(n), R4_SHAPE(5, 8)));
  assert_reads_back(n);
  assert_saves(n);
  r4_net_free(n);
  n = open_net("bert(layers=1, width=8, heads=2, inner=6, words=11, positions=5)", R4_SHAPE(3));
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(3)));
  assert_true(r4_shape_equal(find_param(n, "embeddings.position_embeddings.weight")->shape, R4_SHAPE(5, 8)));
  r4_net_free(n);
}

static void test_wrong_choices(void **state)
{
  (void)state;
  refuse("resnet18(clases=6)", own, R4_E_ARGUMENT, "net resnet18: has no \"clases\"; there are classes");
  refuse("bert(size=6)", own, R4_E_ARGUMENT,
         "there are classes, layers, width, heads, inner, words, positions, types");
  refuse("derm28(classes=6)", own, R4_E_ARGUMENT, "net derm28: has no \"classes\"; there are no parameters");
  refuse("resnet18(classes)", own, R4_E_ARGUMENT, "\"classes\" is not understood, expected NAME=VALUE");
  refuse("resnet18(=6)", own, R4_E_ARGUMENT, "is not understood, expected NAME=VALUE");
  refuse("resnet18(classes=)", own, R4_E_ARGUMENT, "classes is \"\", expected a word");
  refuse("resnet18(classes=$x)", own, R4_E_ARGUMENT, "classes is \"$x\", expected a word");
  refuse("resnet18(classes=many)", own, R4_E_PARSE,
         "part fc \"fc: dense $classes\": \"many\" is not understood");
  refuse("resnet18(classes=0)", own, R4_E_PARSE, "\"0\" is not understood");
  refuse("resnet18(classes=2", own, R4_E_ARGUMENT, "no such name");
  refuse("resnet19", own, R4_E_ARGUMENT, "no such name; expected mlpA-B-..., bert, derm28");
  refuse("", own, R4_E_ARGUMENT, "no such name");
  refuse("mlp4", own, R4_E_ARGUMENT, "needs two or more sizes");
  refuse("bert(heads=5)", own, R4_E_SHAPE, "gets tokens of width 768, needs a multiple of its 5 heads");
  refuse("bert(act=swish)", own, R4_E_PARSE, "no such layer");
  refuse("bert(positions=8)", R4_SHAPE(9), R4_E_SHAPE, "gets 9 tokens, has 8 positions");
  refuse("resnet18", R4_SHAPE(784), R4_E_SHAPE, "gets a vector [784], needs an image");
}

/* ---- A dense first part ---- */

static void test_images_as_vectors(void **state)
{
  (void)state;
  static const char *const texts[] = {"dense 3",
                                      "  a: dense 3",
                                      "# first\n(dense 3, relu), dense 2",
                                      "repeat 2 dense 3",
                                      "repeat 2 (x: (dense 3))",
                                      "param n 3\ndense $n"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    r4_net *n = open_net(texts[k], R4_SHAPE(2, 2, 3));
    assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(12)));
    r4_net_free(n);
  }
  r4_net *n = open_net("relu, flatten, dense 3", R4_SHAPE(2, 2, 3));
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(2, 2, 3)));
  r4_net_free(n);
  write_file("rows.net", "input 784 any\ndense 3\n");
  n = open_net(scratch_path("rows.net"), R4_SHAPE(2, 2, 3));
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(12)));
  r4_net_free(n);
}

/* ---- Layouts ---- */

/* Whether the last part takes a flattened image, whose features have another order in files. */
static void test_flattened(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    size_t height;
  } nets[] = {{"flatten, dense 2", 3},
              {"flatten, batchnorm, dropout 0.1, relu, dense 2", 3},
              {"sum(flatten; relu, flatten), dense 2", 3},
              {"flatten, residual(relu, batchnorm), dense 2", 3},
              {"residual(flatten; flatten), tanh, dense 2", 3},
              {"flatten, sum(dense 4; dense 4), dense 2", 0},
              {"flatten, sum(dense 30; dense 30), dense 2", 0},
              {"globalpool, dense 2", 0},
              {"conv 1 1, flatten, dense 2", 0}, /* one channel */
              {"flatten, dense 30, relu, dense 2", 0}};
  for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
    r4_net *n = net_of(nets[k].text, R4_SHAPE(3, 2, 5));
    if (n->param[n->params - 2].layout.height != nets[k].height) fail_msg("%s", nets[k].text);
    r4_net_free(n);
  }
}

/* ---- Files ---- */

static void test_files(void **state)
{
  (void)state;
  char name[300];
  write_file("small.net", "about a small net\nparam width 4\nparam wide $width*2\ninput 6 # features\n"
                          "def row(n) { dense $n, relu } # twice\nbody: repeat 2 row($wide), dense 3\n");
  r4_net *n = open_net(scratch_path("small.net"), own);
  assert_string_equal(r4_net_layers(n),
                      "body.0.0: dense 8, body.0.1: relu, body.1.0: dense 8, body.1.1: relu, 1: dense 3");
  assert_reads_back(n);
  assert_saves(n);
  r4_net_free(n);
  snprintf(name, sizeof name, "%s(width=5)", scratch_path("small.net")); /* wide follows */
  n = open_net(name, own);
  assert_true(r4_shape_equal(n->param[0].shape, R4_SHAPE(10, 6)));
  r4_net_free(n);
  n = open_net(scratch_path("small.net"), R4_SHAPE(2, 2, 3)); /* its own input, whatever the data are */
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(6)));
  r4_net_free(n);
}

/* What ends with .net is a file, whatever its name is made of. */
static void test_names_of_files(void **state)
{
  (void)state;
  static const char *const names[] = {"my small.net", "a, b: c; d.net", "relu (old).net", "dense 3.net.net",
                                      "n#1.net"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char name[300];
    write_file(names[k], "param width 4\ninput 6 any\ndense $width\n");
    r4_net *n = open_net(scratch_path(names[k]), R4_SHAPE(6));
    assert_int_equal(r4_net_classes(n), 4);
    r4_net_free(n);
    snprintf(name, sizeof name, "%s( width=5)", scratch_path(names[k]));
    n = open_net(name, own);
    assert_int_equal(r4_net_classes(n), 5);
    r4_net_free(n);
  }
  r4_net *n = open_net("dense 3 # not a.net", R4_SHAPE(6));
  assert_int_equal(r4_net_classes(n), 3);
  r4_net_free(n);
  n = open_net("dense 3, relu, head.net: (dense 2)", R4_SHAPE(6));
  assert_int_equal(r4_net_classes(n), 2);
  r4_net_free(n);
  refuse("my nets/none.net", R4_SHAPE(6), R4_E_IO, "my nets/none.net: opening");
  refuse("my nets/none.net(a=1)", R4_SHAPE(6), R4_E_IO, "my nets/none.net: opening");
  refuse(".net", R4_SHAPE(6), R4_E_ARGUMENT, "no such name");
}

static void test_wrong_files(void **state)
{
  (void)state;
  refuse("/nowhere/a.net", own, R4_E_IO, "/nowhere/a.net: opening");
  write_file("bad.net", "input 6\n\n# line 3\n  dense x\n");
  refuse(scratch_path("bad.net"), own, R4_E_PARSE,
         "bad.net:4:3: layer 1 \"dense x\": \"x\" is not understood");
  write_file("none.net", "dense 3\n");
  refuse(scratch_path("none.net"), own, R4_E_ARGUMENT, "does not state its input (no \"input\")");
  write_file("empty.net", "");
  refuse(scratch_path("empty.net"), R4_SHAPE(4), R4_E_PARSE, "expected a part");
  FILE *f = fopen(scratch_path("zero.net"), "w");
  fwrite("relu\0", 1, 5, f);
  fclose(f);
  refuse(scratch_path("zero.net"), R4_SHAPE(4), R4_E_PARSE, "has a zero in it");
}

/* ---- config.json ---- */

static const char config[] =
  "{\"hidden_size\": 12, \"num_hidden_layers\": 2, \"num_attention_heads\": 3,\n"
  " \"intermediate_size\": 20, \"vocab_size\": 31, \"max_position_embeddings\": 7,\n"
  " \"type_vocab_size\": 1, \"layer_norm_eps\": 1e-06, \"hidden_act\": \"relu\",\n"
  " \"hidden_dropout_prob\": 0, \"model_type\": \"bert\", \"architectures\": [\"BertModel\"]}";

static void test_config(void **state)
{
  (void)state;
  char name[300];
  write_file("config.json", config);
  snprintf(name, sizeof name, "bert(config=%s, classes=4, layers=1)", scratch_path("config.json"));
  r4_net *n = open_net(name, own);
  assert_true(r4_shape_equal(r4_net_input(n), R4_SHAPE(7)));
  assert_int_equal(r4_net_classes(n), 4);
  assert_true(r4_shape_equal(find_param(n, "embeddings.word_embeddings.weight")->shape, R4_SHAPE(31, 12)));
  assert_true(
    r4_shape_equal(find_param(n, "embeddings.token_type_embeddings.weight")->shape, R4_SHAPE(1, 12)));
  assert_true(
    r4_shape_equal(find_param(n, "encoder.layer.0.intermediate.dense.weight")->shape, R4_SHAPE(20, 12)));
  assert_null(find_param(n, "encoder.layer.1.intermediate.dense.weight")); /* chosen after the file */
  assert_non_null(strstr(r4_net_layers(n), "attention 3"));
  assert_non_null(strstr(r4_net_layers(n), "layernorm eps 1.0e-06"));
  assert_null(strstr(r4_net_layers(n), "gelu"));
  assert_reads_back(n);
  r4_net_free(n);
}

static void test_wrong_configs(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    r4_status status;
    const char *message;
  } wrong[] = {
    {"{\"hidden_size\": ", R4_E_PARSE, "config.json"},
    {"hidden_size 12", R4_E_PARSE, "config.json"},
    {"[12, 13]", R4_E_PARSE, "config.json: expected {"},
    {"{\"hidden_size\": \"wide\"}", R4_E_PARSE, "\"wide\" is not understood"},
    {"{\"hidden_size\": [1]}", R4_E_PARSE, "\"?\" is not understood"},
    {"{\"hidden_size\": true}", R4_E_PARSE, "\"?\" is not understood"},
    {"{\"hidden_size\": \"a, b\"}", R4_E_ARGUMENT, "width is \"a, b\", expected a word"},
    {"{\"hidden_size\": 12.5}", R4_E_PARSE, "\"12.5\" is not understood"},
    {"{\"num_attention_heads\": 5}", R4_E_SHAPE, "needs a multiple of its 5 heads"},
    {"{\"hidden_act\": \"gelu_new\"}", R4_E_PARSE, "no such layer"},
  };
  char name[300];
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    write_file("config.json", wrong[k].text);
    snprintf(name, sizeof name, "bert(config=%s)", scratch_path("config.json"));
    refuse(name, own, wrong[k].status, wrong[k].message);
  }
  refuse("bert(config=/nowhere/config.json)", own, R4_E_IO, "/nowhere/config.json: opening");
  write_file("config.json", config); /* a net without keys takes nothing from it */
  snprintf(name, sizeof name, "resnet20-cifar(config=%s)", scratch_path("config.json"));
  r4_net *n = open_net(name, own);
  assert_int_equal(weights_of(n), 269722);
  r4_net_free(n);
}

/* ---- Memory ---- */

static const char everything[] =
  "def block(n) { residual(c: conv $n 3 p1 nobias, b: batchnorm, relu6, depthwise 3 same m1), relu }\n"
  "stem: conv 4 3 s2 p1, leaf, dropout 0.1, layers: repeat 2 block(4), maxpool 2 s1, avgpool 2 s1 same,\n"
  "sum(conv 6 1; subsample 6; conv 6 1 g2, gelu), globalpool, residual(dense 6, tanh), layernorm, (dense 3)";

static r4_net *make_one(int kind, r4_error *e)
{
  char name[300];
  switch (kind) {
  case 0:
    return r4_net_open(everything, R4_SHAPE(9, 8, 3), e);
  case 1:
    return r4_net_open(everything, R4_SHAPE(9, 8, 3), e);
  case 2:
    return r4_net_open("bert(layers=1, width=8, heads=2, inner=6, words=11, positions=5)", own, e);
  case 3:
    return r4_net_open("resnet20-cifar(classes=3)", R4_SHAPE(8, 8, 1), e);
  case 4:
    return r4_net_open(scratch_path("memory.net"), R4_SCALAR, e);
  default:
    snprintf(name, sizeof name, "bert(layers=1, config=%s)", scratch_path("memory.json"));
    return r4_net_open(name, R4_SCALAR, e);
  }
}

/* Whichever allocation fails, making a net says so. */
static void test_memory(void **state)
{
  (void)state;
  char text[800];
  write_file("memory.json", config);
  snprintf(text, sizeof text, "input 9 8 3\n%s\n", everything);
  write_file("memory.net", text);
  for (int kind = 0; kind < 6; kind++) {
    for (long k = 1;; k++) {
      r4_error e = {0};
      r4_mem_fail_at(k);
      r4_net *n = make_one(kind, &e);
      bool all = r4_mem_count() < k;
      r4_mem_fail_at(0);
      if (!n) assert_int_equal(e.status, R4_E_MEMORY);
      r4_net_free(n);
      if (all) assert_true(n && k > 20);
      if (all) break;
      if (n) fail_msg("kind %d: allocation %ld fails without an error", kind, k);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_architectures), cmocka_unit_test(test_all_read_back),
    cmocka_unit_test(test_choices),       cmocka_unit_test(test_wrong_choices),
    cmocka_unit_test(test_files),         cmocka_unit_test(test_names_of_files),
    cmocka_unit_test(test_wrong_files),   cmocka_unit_test(test_images_as_vectors),
    cmocka_unit_test(test_config),        cmocka_unit_test(test_wrong_configs),
    cmocka_unit_test(test_flattened),     cmocka_unit_test(test_memory),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("names of nets", tests, scratch_make, scratch_remove);
}
