/* A network: a row of parts, made from text. This layer knows shapes and graph builders; it does not know losses or
 * training. */
#ifndef R4_MODULE_NET_H
#define R4_MODULE_NET_H

#include "base/error.h"
#include "base/pattern.h"
#include "r4.h"

enum { PARAM_NAME = 128 };

/* How the numbers of a parameter begin (init.c). */
enum param_init { INIT_WEIGHT, INIT_BIAS, INIT_ZERO, INIT_ONE, INIT_NORMAL };

/* A parameter as files have it, channels first: out x in x height x width. height and width 0: as it is. */
struct param_layout {
  size_t out, height, width, in;
};

struct param {
  char name[PARAM_NAME];
  r4_shape shape, file_shape;
  struct param_layout layout;
  size_t offset;
  int64_t fan_in;
  enum param_init init;
  bool buffer;
};

struct module;
struct row;

/* A net while it is made. */
struct maker {
  struct param *param;
  size_t params, size, parts;
};

struct r4_net {
  char *text;
  r4_shape input;
  struct row *row;
  size_t leaf; /* parts before the leaf; 0: it is the examples themselves */
  char
    expects[PARAM_NAME]; /* what inputs of pretrained weights usually are, a word of preprocess.c; or empty */
  struct param *param;
  size_t params, size;
};

/* How a net is used. Learning is for the data term alone: batch norm then takes the statistics of the batch, dropout
 * drops. Penalties, attacks, bounds, explanations and answers look at the net as it will be used: running statistics,
 * nothing dropped, so that examples do not see each other. */
struct net_use {
  bool learning,
    frozen_statistics; /* the second: batch norm keeps its running statistics, also while learning */
  const double
    *rates; /* [params], factors of the learning rate, or NULL; a batch norm whose running mean has 0 keeps
                          its statistics, too */
  r4_id
    valid; /* tokens: [batch, tokens], 1 where there is one, 0 where there is padding; R4_NONE: all are there */
  r4_id *updated; /* [params], or NULL: with learning, entry k becomes the new value of buffer k */
  /* With learning: an input of this name and shape, of numbers uniform in [0, 1) and drawn anew for each step. */
  r4_id (*draw)(void *user, const char *name, r4_shape shape);
  void *user;
};

/* A net from its text alone, on examples of exactly this shape; r4_net_open adapts them, and knows names. */
r4_net *net_new(const char *text, r4_shape input, r4_error *e);

/* The leaf is the place where explanations are taken and perturbations act: the examples themselves, or a node that the
 * net names. A net is the way to its leaf, and from there to the logits. use may be NULL: not learning, all valid. */
r4_shape net_leaf(const r4_net *n);      /* of one example */
bool net_leaf_by_token(const r4_net *n); /* up to it, no token sees another */
r4_id net_to_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id x);
r4_id net_from_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id leaf);

/* ---- What a file of ONNX says besides: model.c ---- */

bool model_channels_last(const r4_model *m); /* its images are [height, width, channels] */
bool model_has_softmax(const r4_model *m);   /* what it outputs are probabilities, or their logarithms */

/* ---- Texts of another length: length.c ---- */

/* The same net for so many tokens, with the same parameters; NULL if it has others then, or out of memory. */
r4_net *net_of_length(const r4_net *n, int64_t tokens);

/* The net as text, with all names and numbers in it, that makes it again. r4_string_free; NULL when out of memory. */
char *net_print(const r4_net *n);
/* The same with one more part before all others, which keep their names; an empty part is none. */
char *net_print_behind(const r4_net *n, const char *part);

/* r4_model_save, with the constant that hidden content is replaced by, for r4_model_constant; 0: there is none. */
r4_status model_save(const r4_net *n, const float *weights, const char *const *class_names, size_t constants,
                     const float *constant, const char *path, r4_error *e);

/* Whether no name is NULL, if there are names; if not, the error says which. */
bool net_classes_given(const r4_net *n, const char *const *class_names, const char *function, r4_error *e);
/* Names of the classes as a list of JSON, an empty one of NULL. r4_string_free; NULL when out of memory. */
char *net_classes_text(const r4_net *n, const char *const *class_names);

/* Moves all parameters from the engine's order to that of files, or back. */
void net_reorder(const r4_net *n, bool to_file, const float *from, float *to);

/* The first rows of a batch. */
r4_id net_first_rows(r4_graph *g, r4_id x, int64_t rows);

/* ---- Parameters by patterns of their names: names.c ---- */

/* R4_E_ARGUMENT if a pattern, or one of a list, fits no parameter: says which there are. where begins the sentence. */
r4_status net_check_pattern(const r4_net *n, const char *where, struct pattern p, r4_error *e);
r4_status net_check_patterns(const r4_net *n, const char *where, const char *list, r4_error *e);

/* ---- Numbers that are none: finite.c ---- */

/* R4_E_DOMAIN unless all of v are finite: names the first that is not. where begins the sentence, and may be a file. */
r4_status check_finite(const char *where, const char *name, r4_shape shape, const float *v, r4_error *e);
/* The same for all parameters of a net. */
r4_status net_check_finite(const r4_net *n, const float *weights, const char *where, r4_error *e);

#endif
