/* The line of layers: a network that is accepted has sane sizes and builds a graph. The first byte chooses
 * the shape of the input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "r4.h"

enum { FEW = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
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
    require(r4_graph_check(g, &e) == R4_OK);
  }
  require(r4_graph_status(g, &message) == R4_OK || message[0]);
  r4_graph_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!size) return 0;
  r4_error e;
  char *text = malloc(size);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  r4_shape shape = input_shape(data[0]);
  r4_net *net = r4_net_new(text, shape, &e);
  require((net == NULL) == (e.status != R4_OK));
  if (net) {
    size_t total = 0;
    for (size_t k = 0; k < r4_net_params(net); k++) {
      require(r4_net_param_offset(net, k) == total && r4_net_param_name(net, k)[0]);
      total += (size_t)r4_shape_count(r4_net_param_shape(net, k));
    }
    require(total == r4_net_size(net) && r4_net_classes(net) > 0);
    build(net, shape);
  }
  r4_net_free(net);
  free(text);
  return 0;
}
