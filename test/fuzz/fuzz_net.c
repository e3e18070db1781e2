/* The language of nets: a net that is accepted has sane sizes and builds a graph, prints as text that gives the net
 * again, and keeps such a text. The first byte chooses the input, and whether the text is tokens: then each
 * byte behind it stands for a word of the language, so that brackets, names and definitions meet more often. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "module/net.h"
#include "r4.h"

enum { FEW = 64, LONGEST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static const char *const words[] = {
  "dense 3",
  "dense 4 nobias",
  "conv 3 3 p1",
  "conv 2 1 s2",
  "conv 2 3 same",
  "depthwise 3 p1",
  "relu",
  "relu6",
  "gelu",
  "tanh",
  "flatten",
  "globalpool",
  "maxpool 2",
  "avgpool 2 s1",
  "batchnorm",
  "layernorm",
  "batchnorm eps",
  "dropout 0.5",
  "residual(",
  "sum(",
  "(",
  ")",
  ")",
  ")",
  ";",
  ",",
  ",",
  ",",
  ",",
  "repeat 2",
  "repeat",
  "a:",
  "b.c:",
  "conv1:",
  ".x:",
  "0:",
  "leaf",
  "embedding 5 4",
  "position 9 4",
  "type 2 4",
  "attention 2",
  "first",
  "mean",
  "subsample 4",
  "def d(n) {",
  "def e() {",
  "}",
  "d(3)",
  "d($n)",
  "e()",
  "$n",
  "param n 3\n",
  "input 4\n",
  "about x\n",
  "dense $n",
  "conv $n*2 3",
  "# c\n",
  "\n",
  "2",
  "3",
  "same",
  "p1/0",
  "g2",
  "d2",
};

/* The text, to be freed: the bytes themselves, or a word for each. */
static char *text_of(const uint8_t *data, size_t size, int in_words)
{
  char *text = malloc(in_words ? LONGEST : size + 1);
  size_t used = 0;
  if (!in_words) {
    memcpy(text, data, size);
    used = size;
  }
  for (size_t k = 0; in_words && k < size; k++) {
    const char *w = words[data[k] % (sizeof words / sizeof *words)];
    size_t n = strlen(w);
    if (used + n + 2 > LONGEST) break;
    memcpy(text + used, w, n);
    text[used + n] = ' ';
    used += n + 1;
  }
  text[used] = 0;
  return text;
}

static r4_shape input_shape(uint8_t choice)
{
  switch (choice % 4) {
  case 0:
    return R4_SHAPE(choice % 7 + 1);
  case 1:
    return R4_SHAPE(8, 8, 3);
  case 2:
    return R4_SHAPE(choice % 5 + 1, choice % 9 + 1, choice % 3 + 1);
  default:
    return R4_SHAPE(28, 28, 1);
  }
}

static void build(const r4_net *net, r4_shape shape)
{
  r4_id param[FEW];
  r4_error e;
  const char *message;
  if (r4_net_params(net) > FEW) return;
  r4_graph *g = r4_graph_new();
  memmove(shape.dim + 1, shape.dim, (size_t)shape.rank++ * sizeof *shape.dim);
  shape.dim[0] = 2;
  r4_net_inputs(net, g, param);
  r4_id z = r4_net_apply(net, g, param, r4_input(g, "x", shape));
  if (!r4_graph_status(g, &message)) { /* a batch of two may be too large where one is not */
    require(r4_shape_equal(r4_node_shape(g, z), R4_SHAPE(2, r4_net_classes(net))));
    require(graph_check(g, &e) == R4_OK);
  }
  require(r4_graph_status(g, &message) == R4_OK || message[0]);
  r4_graph_free(g);
}

static void require_same(const r4_net *a, const r4_net *b)
{
  require(r4_net_params(a) == r4_net_params(b) && r4_net_size(a) == r4_net_size(b) && a->leaf == b->leaf);
  require(r4_net_classes(a) == r4_net_classes(b));
  for (size_t k = 0; k < r4_net_params(a); k++) {
    require(!strcmp(a->param[k].name, b->param[k].name) && a->param[k].buffer == b->param[k].buffer);
    require(r4_shape_equal(a->param[k].shape, b->param[k].shape));
    require(!memcmp(&a->param[k].layout, &b->param[k].layout, sizeof a->param[k].layout));
  }
}

static void read_again(const r4_net *net, const char *text, int is_printed)
{
  r4_error e;
  r4_net *again = r4_net_open(text, net->input, &e);
  require(again != NULL);
  require_same(again, net);
  char *printed = net_print(again);
  if (is_printed) require(!strcmp(printed, text));
  r4_string_free(printed);
  r4_net_free(again);
}

static void check(const r4_net *net)
{
  size_t total = 0;
  for (size_t k = 0; k < r4_net_params(net); k++) {
    require(r4_net_param_offset(net, k) == total && r4_net_param_name(net, k)[0]);
    total += (size_t)r4_shape_count(r4_net_param_shape(net, k));
  }
  require(total == r4_net_size(net) && r4_net_classes(net) > 0);
  char *printed = net_print(net);
  read_again(net, printed, 1);
  read_again(net, r4_net_layers(net), 0);
  r4_string_free(printed);
  build(net, net->input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!size) return 0;
  r4_error e;
  char *text = text_of(data + 1, size - 1, data[0] >= 128);
  r4_net *net = r4_net_open(text, input_shape(data[0]), &e);
  require((net == NULL) == (e.status != R4_OK));
  if (net) check(net);
  r4_net_free(net);
  free(text);
  return 0;
}
