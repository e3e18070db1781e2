/* A network: layers in a row, parsed from one line of text. This layer knows shapes and graph
 * builders; it does not know losses or training. A new kind of layer is one line in layer.c. */
#ifndef R4_MODULE_NET_H
#define R4_MODULE_NET_H

#include "base/error.h"
#include "r4.h"

struct layer {
  const struct layer_kind *kind;
  int64_t units, kernel, stride, pad;
  r4_shape in, out;   /* of one example: a vector [features] or an image [height, width, channels] */
  r4_shape weight;    /* rank 0: the layer has no parameters; else the bias is [units]             */
  size_t first_param; /* its weight, and its bias after it                                         */
};

struct layer_kind {
  const char *name, *usage;
  /* The numbers after the name: u units and k kernel in this order, then s stride and p padding,
   * which are written "s2" and "p1", in any order, and may be left out. */
  const char *arguments;
  /* From l->in and the numbers: l->out and l->weight; or fills why: what it gets and needs. */
  r4_status (*shape)(struct layer *l, r4_error *why);
  r4_id (*apply)(const struct layer *l, r4_graph *g, const r4_id *param, r4_id x);
};

/* The k-th kind of layer, NULL after the last. */
const struct layer_kind *layer_kind(size_t k);

/* Reads one layer from text[0..length); fills kind and numbers. */
r4_status layer_parse(const char *text, size_t length, struct layer *l, r4_error *why);

/* Reads a whole number from lowest to 10^9 at *s, before end, and moves *s behind it. */
bool number_parse(const char **s, const char *end, int64_t lowest, int64_t *value);

struct param {
  char name[32];
  r4_shape shape;
  size_t offset;
  int64_t fan_in;
};

struct r4_net {
  char *text;
  r4_shape input;
  struct layer *layer;
  struct param *param;
  size_t layers, params, size;
};

/* How a net is used. Learning is for the data term alone: batch norm then takes the statistics of the batch, dropout
 * drops. Penalties, attacks, bounds, explanations and answers look at the net as it will be used: running statistics,
 * nothing dropped, so that examples do not see each other. */
struct net_use {
  bool learning;
  r4_id valid;    /* tokens: [batch, tokens], 1 where there is one, 0 where there is padding; R4_NONE: all are there */
  r4_id *updated; /* [params], or NULL: with learning, entry k becomes the new value of buffer k */
  /* With learning: an input of this name and shape, of numbers uniform in [0, 1) and drawn anew for each step. */
  r4_id (*draw)(void *user, const char *name, r4_shape shape);
  void *user;
};

/* The leaf is the place where explanations are taken and perturbations act: the examples themselves, or a node that the
 * net names. A net is the way to its leaf, and from there to the logits. use may be NULL: not learning, all valid. */
r4_shape net_leaf(const r4_net *n); /* of one example */
r4_id net_to_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id x);
r4_id net_from_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id leaf);

/* The first rows of a batch. */
r4_id net_first_rows(r4_graph *g, r4_id x, int64_t rows);

/* ---- Numbers that are none: finite.c ---- */

/* R4_E_DOMAIN unless all of v are finite: names the first that is not. where begins the sentence, and may be a file. */
r4_status check_finite(const char *where, const char *name, r4_shape shape, const float *v, r4_error *e);
/* The same for all parameters of a net. */
r4_status net_check_finite(const r4_net *n, const float *weights, const char *where, r4_error *e);

#endif
