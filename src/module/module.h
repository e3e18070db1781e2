/* Modules: what nets are made of.
 *
 * A net is a row of parts. A part is of a kind (dense, conv, residual, ...) and has numbers, parameters and, in
 * brackets, branches: rows of parts again. A kind is one struct in one file, with its arguments, its shape rule, what
 * it does as a graph, and its samples, and one line in kinds.def. Nothing else has to change: the language, the help,
 * the reader and writer of models and the tests are driven by the table. */
#ifndef R4_MODULE_MODULE_H
#define R4_MODULE_MODULE_H

#include "base/error.h"
#include "graph/graph.h"
#include "module/net.h"

enum { MODULE_ARGUMENTS = 8, MODULE_BRANCHES = 8, MODULE_LISTS = 2, MODULE_LIST = 16 };

/* ---- Arguments: what stands behind the name of a kind ---- */

enum argument_type {
  ARGUMENT_WHOLE,  /* a whole number, in its place: "dense 10"                           */
  ARGUMENT_SHARE,  /* a number below 1, in its place: "dropout 0.1"                       */
  ARGUMENT_LETTER, /* a letter and a whole number: "s2"                                  */
  ARGUMENT_PAD,    /* "p1", "p0/1" (before and behind the image), or "same", as TensorFlow */
  ARGUMENT_REAL,   /* a word and a number above 0: "eps 0.001"                            */
  ARGUMENT_FLAG,   /* a word: "nobias"                                                   */
  ARGUMENT_LIST,   /* a word and numbers: "mean 0.5/0.4/0.3"; one of the first MODULE_LISTS arguments */
};

/* Those in their place must be given, and come first; others may be left out, and stand in any order. */
struct argument {
  const char *name;
  enum argument_type type;
  double
    initial; /* the value if it is not given; for a letter also the least that it may be, if that is not 1 */
  int64_t least;
};

enum { PAD_SAME = -1 };

/* ---- Parts ---- */

/* What names are made of. */
#define MODULE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

struct row {
  struct module *part;
  size_t n;
};

struct module {
  const struct module_kind *kind;
  char name[PARAM_NAME];          /* as parameters are called by, "layer1.0.conv1" */
  double value[MODULE_ARGUMENTS]; /* of a list, how many numbers it has */
  double list[MODULE_LISTS][MODULE_LIST];
  int64_t pad[2];     /* before and behind, or PAD_SAME; of an ARGUMENT_PAD */
  r4_shape in, out;   /* of one example */
  r4_shape image;     /* in is a vector that was an image of this shape, flattened; else rank 0 */
  r4_shape out_image; /* the same of out; kinds with branches set it if they keep the order of features */
  size_t first_param, params;
  bool follows; /* another part of its row, whose result nobody else reads */
  struct row branch[MODULE_BRANCHES];
  size_t branches;
};

/* What a module works with when it becomes part of a graph. */
struct wiring {
  r4_graph *g;
  const r4_id *param;        /* of the whole net */
  const struct net_use *use; /* never NULL */
  r4_id from;                /* what the first part got: explanations and boxes ask for it */
};

/* ---- Kinds ---- */

struct onnx_writer; /* onnx.h */
struct slice;

struct windows {
  int64_t kernel, stride, dilation;
};

/* How a part treats images, for those who follow a change of some pixels through a net (reach.h). */
enum module_reach {
  REACH_OTHER, /* cannot be followed                                                      */
  REACH_POINT, /* each pixel by itself, also if values are of one window                    */
  REACH_CONV,  /* linear in windows, with a bias                                          */
  REACH_POOL,  /* a function of windows                                                   */
};

struct module_sample {
  const char *text; /* a part, as it is written */
  r4_shape in, out;
  int64_t tokens; /* > 0: in is token ids below this */
  const double *x, *w,
    *y; /* by hand: input of a batch of one, all parameters in a row, and the result; or NULL */
};

struct module_kind {
  const char *name, *usage, *about;
  const struct argument *argument;
  size_t arguments;
  size_t least_branches, most_branches; /* in brackets behind it */
  bool takes_vector;                    /* as the first part of a net it takes an image as a vector */
  bool flattens;                        /* its result is its input, in a row */
  bool mixes;                           /* of tokens, each sees others */
  bool takes_ids;                       /* of tokens, as whole numbers */
  enum module_reach reach;
  struct windows (*windows)(const struct module *m); /* of those that look at windows */
  /* From m->in, the arguments and the branches: sets m->out and adds parameters; or says why not. */
  r4_status (*shape)(struct module *m, struct maker *maker, r4_error *why);
  r4_id (*apply)(const struct module *m, const struct wiring *w, r4_id x);
  /* The same as operators of ONNX (onnx.h), as the net is used and not as it learns; NULL: it has no such form. */
  struct slice (*onnx)(const struct module *m, struct onnx_writer *w, struct slice x);
  const struct module_sample *samples;
  size_t sample_count;
};

#define KIND(name) extern const struct module_kind module_##name;
#include "module/kinds.def"
#undef KIND

#define ARGUMENTS(...)                                \
  .argument = (const struct argument[]){__VA_ARGS__}, \
  .arguments = sizeof((const struct argument[]){__VA_ARGS__}) / sizeof(struct argument)
#define MODULE_SAMPLES(...)                               \
  .samples = (const struct module_sample[]){__VA_ARGS__}, \
  .sample_count = sizeof((const struct module_sample[]){__VA_ARGS__}) / sizeof(struct module_sample)

/* The k-th kind, NULL after the last. */
const struct module_kind *module_kind(size_t k);
/* Adds a kind to those that nets may be made of, for as long as the process lives; not while another thread makes a
 * net. False if there is no room, or one of this name. */
bool module_kind_add(const struct module_kind *kind);

/* Room for one more in a list of n that was made here: it doubles, so that long lists are not copied for each one.
 * NULL: out of memory, and the list stays. */
void *module_grow(void *list, size_t n, size_t size, r4_error *e);

/* ---- For kinds ---- */

static inline int64_t module_whole(const struct module *m, int k)
{
  return (int64_t)m->value[k];
}

static inline bool module_flag(const struct module *m, int k)
{
  return m->value[k] > 0;
}

/* Adds a parameter of the part, called by the part's name and what. Features of a flattened image are stored in files
 * with the channels first: of_features says that the last axis is such features. */
struct param_wish {
  const char *what;
  r4_shape shape;
  int64_t fan_in;
  enum param_init init;
  bool buffer, of_features;
};
static inline struct param_wish param_wish(const char *what, r4_shape shape, int64_t fan_in,
                                           enum param_init init)
{
  return (struct param_wish){.what = what, .shape = shape, .fan_in = fan_in, .init = init};
}
r4_status module_param(struct module *m, struct maker *maker, struct param_wish wish, r4_error *why);

/* Parameter k of the part. */
r4_id module_param_node(const struct module *m, const struct wiring *w, size_t k);

r4_status module_need_vector(const struct module *m, r4_error *why);
r4_status module_need_image(const struct module *m, r4_error *why);
r4_status module_need_tokens(const struct module *m, r4_error *why); /* [tokens, width] */
r4_status module_same_shape(struct module *m, struct maker *maker, r4_error *why);

/* A batch of results of m. */
r4_shape module_batch(const struct module *m, const struct wiring *w, r4_id x);
r4_id row_apply(const struct row *row, const struct wiring *w, r4_id x);

/* TensorFlow's "same": as many windows as the stride cuts the image into, ceil(size / stride), and padding that is
 * even, or one more behind. */
void module_same_pad(int64_t size, struct windows of, int64_t pad[2]);
/* Windows of conv and pools: the padding that is meant by the arguments for an image of this size, and how many windows
 * fit. False: none does. */
r4_window module_window(const struct module *m, struct windows of);
r4_status module_window_shape(struct module *m, struct windows of, int64_t channels, r4_error *why);

#endif
