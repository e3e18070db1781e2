/* Graphs of others while they are read: each node becomes a step, and steps become the text of a net. */
#ifndef R4_MODULE_ONNX_ONNX_IMPORT_H
#define R4_MODULE_ONNX_ONNX_IMPORT_H

#include "module/onnx/onnx.h"

enum { STEP_SOURCES = 6 };

/* What a node gives: the result of a part, or something that becomes one together with what follows. Attention is many
 * nodes, gelu and the mean of tokens a few: onnx_attention.c, onnx_tokens.c. */
enum step_role {
  STEP_PART,
  STEP_MASK,    /* a number where there is a token, another where there is padding                     */
  STEP_COUNT,   /* how many tokens there are, [batch, 1]                                               */
  STEP_MASKED,  /* tokens, with 0 for padding                                                          */
  STEP_TOTAL,   /* the sum of these                                                                    */
  STEP_FIRST,   /* the first token, [batch, 1, width]                                                  */
  STEP_ERF,     /* erf(x / sqrt 2)                                                                     */
  STEP_ERF_ONE, /* 1 + that                                                                            */
  STEP_GELUS,   /* x times that: twice gelu                                                            */
  STEP_HEADS,   /* [batch, tokens, heads, depth] of a dense part, its axes in some order, times factor */
  STEP_SCORES,  /* products of two of these, [batch, heads, tokens, tokens], times factor              */
  STEP_WEIGHTS, /* their softmax                                                                       */
  STEP_SEEN,    /* products of that and heads                                                          */
};

struct step_roles {
  enum step_role is;
  size_t of[3];          /* the steps that it is made of: x; or queries, keys and values */
  int64_t heads, depth;
  int axis[4];           /* of heads: which of batch, tokens, heads, depth it is         */
  double factor;
  double there, padding; /* of a mask                                                    */
  int rank, tokens;      /* of a mask: its dimensions, and which is that of tokens       */
};

/* What a node does to what reaches it. Step 0 is the input. */
struct step {
  const struct onnx_tensor *constant; /* it gives the same always                                        */
  struct step_roles role;
  size_t from, other;                 /* the steps before it; other of a sum alone                       */
  bool sum;
  struct slice beside; /* of a sum: a part that takes the input, in place of other        */
  double times;        /* it is what it takes, times this number; 0: it is not            */
  bool pooled;       /* [batch, channels, 1, 1] there, a vector here                     */
  bool viewed;       /* the input as an image                                            */
  bool last;         /* of an image: channels are last there, by a Transpose             */
  r4_shape row_of;   /* a vector that was made of such an image, in its order; rank 0: not */
  int64_t pad[4];    /* zeros around an image that are still to be added: top, left, bottom, right */
  r4_shape shape;    /* of one example, as r4 has it                                     */
  struct slice part; /* its text, but for name and bias; empty: nothing is done          */
  struct slice name; /* of a part with parameters                                        */
  bool may_have_bias, bias;
  struct onnx_source source[STEP_SOURCES];
  size_t sources;
  size_t before, depth; /* the last step through which all ways from the input to it pass   */
  size_t uses;
  bool written;
};

struct arguments; /* of all nodes, looked up by name */

struct importer {
  const char *path;
  struct onnx_model *m;
  r4_error *e;
  struct step *step;  /* [nodes + 2]: the input, the nodes, and the mask of tokens */
  size_t at;          /* the node that is read now */
  int64_t batch;      /* if the file fixes it, else 0 */
  r4_shape raw;       /* the input as the file has it, without the batch */
  bool channels_last; /* in the file */
  bool softmax;       /* is its last operator */
  bool ids;           /* the input is ids of tokens, [batch, tokens] */
  bool leaf;          /* and where they are explained is written     */
  const struct arguments *arguments;
};

/* Refuses the node that is read now: "FILE: node NAME, operator OP: ..." */
r4_status import_fail(struct importer *im, const char *format, ...) R4_PRINTF(2, 3);

/* What input k of the node is: a step, or a tensor; the other is NULL. Neither: it is left out. */
r4_status import_input(struct importer *im, const struct onnx_node *n, size_t k, struct step **step,
                       const struct onnx_tensor **tensor);

/* ---- For rules: onnx_take.c ---- */

/* The first input, which must be something that is computed: sets from, shape and pooled of the step. */
r4_status import_from(struct importer *im, const struct onnx_node *n, struct step *s);
/* It waits for the one operator that takes it as it is: its channels are last, or zeros are to be added to it. */
bool import_waits(const struct step *s);
/* Input k, which must be numbers that are known; NULL and 0 if it is left out. */
r4_status import_constant(struct importer *im, const struct onnx_node *n, size_t k,
                          const struct onnx_tensor **to, size_t *count);
/* A number of a file as text: as few digits as give the same float. */
struct slice import_number(struct importer *im, double v);
int64_t import_whole(const struct onnx_node *n, const char *attribute, int64_t otherwise);
double import_real(const struct onnx_node *n, const char *attribute, double otherwise);
r4_status import_need_image(struct importer *im, const struct step *s);
r4_status import_need_vector(struct importer *im, const struct step *s);
r4_status import_need_features(struct importer *im, const struct step *s);
int64_t import_channels(const struct step *s);

/* A parameter of the part that the step becomes; its name, by that of its weight; and a bias, if input k is there. */
void import_source(struct step *s, const char *what, r4_shape shape, const struct onnx_tensor *from,
                   bool transposed);
void import_name(struct step *s, struct slice weight);
r4_status import_bias(struct importer *im, const struct onnx_node *n, size_t k, int64_t units,
                      struct step *s);

/* ---- Constants: onnx_known.c ---- */

/* Whether all inputs are constants, and there is one. */
bool import_all_known(struct importer *im, const struct onnx_node *n);
/* The first input, as it is. */
r4_status import_same(struct importer *im, const struct onnx_node *n, struct step *s);
/* a OP b of whole numbers, OP one of + - * and / */
r4_status import_fold(struct importer *im, const struct onnx_node *n, struct step *s, char op);
/* Whether the node makes zeros of the ids of tokens; and how that went. */
bool import_zeros(struct importer *im, const struct onnx_node *n, struct step *s, r4_status *status);
r4_status import_cut(struct importer *im, const struct onnx_node *n, struct step *s);
r4_status import_turned(struct importer *im, const struct onnx_node *n, struct step *s);
/* A matrix whose features, along an axis, are those of an image with channels last, as one for channels first. Shape of
 * rank 0: nothing is done. */
r4_status import_channels_first(struct importer *im, r4_shape image, int axis, const struct onnx_tensor **w);
/* Rows of a table, by numbers that are known. */
r4_status import_rows(struct importer *im, struct step *s, const struct onnx_tensor *table,
                      const struct onnx_tensor *index);

/* ---- Roles: onnx_tokens.c, onnx_attention.c ---- */

/* Some input has a role. */
bool import_has_role(struct importer *im, const struct onnx_node *n);
/* Refuses what is done to a result with a role. */
r4_status import_lost(struct importer *im);
/* The one axis that an attribute "axes", or input k, names; false: none, or several. */
bool import_axis(struct importer *im, const struct onnx_node *n, size_t k, double *to);
/* A number that the node has as input k; false: it has none, or many. */
bool import_scalar(struct importer *im, const struct onnx_node *n, size_t k, double *to);
/* a OP b where one of them has a role. */
r4_status role_arithmetic(struct importer *im, const struct onnx_node *n, struct step *s, char op);
r4_status role_product(struct importer *im, const struct onnx_node *n, struct step *s);
r4_status role_transpose(struct importer *im, const struct onnx_node *n, struct step *s);
r4_status role_softmax(struct importer *im, const struct onnx_node *n, struct step *s);
r4_status role_reshape(struct importer *im, const struct onnx_node *n, struct step *s);
r4_status role_unsqueeze(struct importer *im, const struct onnx_node *n, struct step *s); /* expand, cast, too */
r4_status role_floor(struct importer *im, const struct onnx_node *n, struct step *s, double low, double high);
r4_status role_squeeze(struct importer *im, const struct onnx_node *n, struct step *s);
/* Scores and heads times a number, and scores with a mask: onnx_attention.c */
r4_status attention_scale(struct importer *im, struct step *s, const struct step *a, double by);
r4_status attention_mask(struct importer *im, struct step *s, const struct step *scores, const struct step *mask);
/* [batch, tokens, heads, depth] of a dense part, by a list of sizes: onnx_attention.c */
bool attention_heads(struct importer *im, const struct onnx_tensor *sizes, size_t count, struct step *s);
/* A constant of tokens is added: as positions are. */
r4_status tokens_add(struct importer *im, const struct onnx_node *n, struct step *s, const struct step *from,
                     const struct onnx_tensor *t, size_t count);

/* ---- The table of operators: onnx_rules.def ---- */

/* Fills in the step of a node, or refuses it. */
#define RULE(op, name) r4_status rule_##name(struct importer *im, const struct onnx_node *n, struct step *s);
#include "module/onnx/onnx_rules.def"
#undef RULE

struct onnx_rule {
  const char *op;
  r4_status (*read)(struct importer *im, const struct onnx_node *n, struct step *s);
};
extern const struct onnx_rule onnx_rules[];
extern const size_t onnx_rules_count;

#endif
