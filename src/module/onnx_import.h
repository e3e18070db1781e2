/* Graphs of others while they are read: each node becomes a step, and steps become the text of a net. */
#ifndef R4_MODULE_ONNX_IMPORT_H
#define R4_MODULE_ONNX_IMPORT_H

#include "module/onnx.h"

enum { STEP_SOURCES = 4 };

/* What a node does to what reaches it. Step 0 is the input. */
struct step {
  const struct onnx_tensor *constant; /* it gives the same always                                        */
  size_t from, other;                 /* the steps before it; other of a sum alone                       */
  bool sum;
  bool pooled;       /* [batch, channels, 1, 1] there, a vector here                     */
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
  struct step *step;  /* [nodes + 1] */
  size_t at;          /* the node that is read now */
  int64_t batch;      /* if the file fixes it, else 0 */
  r4_shape raw;       /* the input as the file has it, without the batch */
  bool channels_last; /* in the file */
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
/* Input k, which must be numbers that are known; NULL and 0 if it is left out. */
r4_status import_constant(struct importer *im, const struct onnx_node *n, size_t k,
                          const struct onnx_tensor **to, size_t *count);
/* A number of a file as text: as few digits as give the same float. */
struct slice import_number(struct importer *im, double v);
int64_t import_whole(const struct onnx_node *n, const char *attribute, int64_t otherwise);
double import_real(const struct onnx_node *n, const char *attribute, double otherwise);
r4_status import_need_image(struct importer *im, const struct step *s);
r4_status import_need_vector(struct importer *im, const struct step *s);
int64_t import_channels(const struct step *s);

/* A parameter of the part that the step becomes; its name, by that of its weight; and a bias, if input k is there. */
void import_source(struct step *s, const char *what, r4_shape shape, const struct onnx_tensor *from,
                   bool transposed);
void import_name(struct step *s, struct slice weight);
r4_status import_bias(struct importer *im, const struct onnx_node *n, size_t k, int64_t units,
                      struct step *s);

/* ---- The table of operators: onnx_rules.def ---- */

/* Fills in the step of a node, or refuses it. */
#define RULE(op, name) r4_status rule_##name(struct importer *im, const struct onnx_node *n, struct step *s);
#include "module/onnx_rules.def"
#undef RULE

struct onnx_rule {
  const char *op;
  r4_status (*read)(struct importer *im, const struct onnx_node *n, struct step *s);
};
extern const struct onnx_rule onnx_rules[];
extern const size_t onnx_rules_count;

#endif
