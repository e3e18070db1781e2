/* Nets as graphs of ONNX (tensor/foreign/onnx_file.h), and back.
 *
 * Images are [batch, channels, height, width] there, vectors [batch, features], tokens [batch, tokens, width]. Weights
 * are as r4's own files have them, in names and layouts, so that a flattened image has its features in the order of
 * PyTorch's: only where an order is seen from outside is it r4's again. */
#ifndef R4_MODULE_ONNX_ONNX_H
#define R4_MODULE_ONNX_ONNX_H

#include "module/module.h"
#include "tensor/foreign/onnx_file.h"
#include "tensor/safetensors.h"

enum { ONNX_OPSET = 17, ONNX_VERSION = 8 };

/* ---- Writing, for kinds: onnx_write.c ---- */

struct onnx_writer {
  struct onnx_model *m;
  const r4_net *net;
  const char *part;  /* that is written now: what it adds is called by its name */
  struct slice ids;  /* the input, if it is ids of tokens: whole numbers        */
  struct slice mask; /* 1 where there is a token, 0 where there is padding      */
  r4_status status;  /* a part has no such form                                 */
};

/* A node of an operator; the name of its result. Attributes that follow are its. */
struct slice onnx_op(struct onnx_writer *w, const char *op, size_t inputs, const struct slice *input);
#define ONNX_OP(w, op, ...)                                                          \
  onnx_op(w, op, sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice), \
          (const struct slice[]){__VA_ARGS__})
void onnx_whole(struct onnx_writer *w, const char *attribute, int64_t v);
void onnx_real(struct onnx_writer *w, const char *attribute, double v);
void onnx_list(struct onnx_writer *w, const char *attribute, size_t n, const int64_t *v);
#define ONNX_LIST(w, attribute, ...)                                                \
  onnx_list(w, attribute, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
            (const int64_t[]){__VA_ARGS__})

/* Parameter k of a part, and constants: a number, or a tensor. */
struct slice onnx_param(const struct module *m, struct onnx_writer *w, size_t k);
struct slice onnx_number_of(struct onnx_writer *w, double v);
struct slice onnx_numbers(struct onnx_writer *w, r4_shape shape, const double *v);
struct slice onnx_wholes(struct onnx_writer *w, size_t n, const int64_t *v);
#define ONNX_WHOLES(w, ...) \
  onnx_wholes(w, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* What several kinds do. */
struct slice onnx_as_it_is(const struct module *m, struct onnx_writer *w, struct slice x);
struct slice onnx_row(const struct row *row, struct onnx_writer *w, struct slice x);
struct slice onnx_sum(struct onnx_writer *w, struct slice a, struct slice b);
/* x W^T + b of tokens, of parameters k and, if there is one, k + 1 */
struct slice onnx_of_tokens(const struct module *m, struct onnx_writer *w, struct slice x, size_t k,
                            bool bias);
void onnx_window(const struct module *m, struct onnx_writer *w, struct windows of);
struct slice onnx_ids(const struct module *m, struct onnx_writer *w, struct slice x); /* as whole numbers */
struct slice onnx_mask(struct onnx_writer *w);                                        /* [batch, tokens] */
struct slice onnx_turned(struct onnx_writer *w,
                         struct slice x); /* [batch, tokens, width] with width first, or back */
struct slice onnx_of_there(struct onnx_writer *w, struct slice x); /* tokens, with 0 for those of padding */

/* ---- Whole nets ---- */

/* The graph of a net, with the weights as files have them; NULL: without data. */
r4_status onnx_of_net(struct onnx_model *m, const r4_net *n, const float *file, r4_error *e);

/* ---- Reading: onnx_open.c ---- */

bool onnx_is_file(const char *path); /* its name ends with .onnx */

/* The net and the weights of a file as if it were a model of r4's: tensors in r4's names, the notes "net" and "input",
 * and "r4" and "classes" if r4 has written it, else "graph". An image whose size the file leaves open is that of an
 * example, if that has a rank. */
r4_status onnx_open(struct st_file *to, const char *path, r4_shape example, r4_error *e);
/* The same of what was read, which gets larger. */
r4_status onnx_translate(struct st_file *to, struct onnx_model *m, const char *path, r4_shape example,
                         r4_error *e);

/* ---- Graphs of others: onnx_import.c ---- */

/* A parameter, as a file of r4 has it, and where its numbers are. */
struct onnx_source {
  struct slice name;
  r4_shape shape;
  const struct onnx_tensor *from;
  bool transposed; /* there it is [in, out] */
  double times;    /* its numbers are taken times this; 0: as they are */
};

struct onnx_net {
  char *text; /* r4_string_free */
  r4_shape input;
  struct onnx_source *source; /* in the room of the model */
  size_t sources;
  bool channels_last, softmax; /* of its images; behind its logits */
};

r4_status onnx_import(struct onnx_net *to, struct onnx_model *m, const char *path, r4_shape example,
                      r4_error *e);

#endif
