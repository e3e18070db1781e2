/* ONNX: a net as a graph of operators, with its weights in it, as most of the ecosystem runs nets. A file is one
 * message of protocol buffers (wire.h) of less than 2 GB; larger weights lie in a file beside it.
 *
 *     model    version of the format, versions of the operators, notes ("metadata_props"), and a
 *     graph    inputs, outputs, weights ("initializers"), and in an order in which they can run its
 *     nodes    an operator, names of what it takes and gives, and attributes
 *
 * Here are the messages, as far as nets need them; module/onnx/onnx.h says what is made of them. */
#ifndef R4_TENSOR_FOREIGN_ONNX_FILE_H
#define R4_TENSOR_FOREIGN_ONNX_FILE_H

#include "base/error.h"
#include "tensor/foreign/wire.h"

enum onnx_type {
  ONNX_FLOAT = 1,
  ONNX_INT32 = 6,
  ONNX_INT64 = 7,
  ONNX_BOOL = 9,
  ONNX_FLOAT16 = 10,
  ONNX_DOUBLE = 11,
  ONNX_BFLOAT16 = 16
};
enum onnx_attribute_type {
  ONNX_A_FLOAT = 1,
  ONNX_A_INT = 2,
  ONNX_A_TEXT = 3,
  ONNX_A_TENSOR = 4,
  ONNX_A_FLOATS = 6,
  ONNX_A_INTS = 7
};

struct onnx_tensor {
  struct slice name;
  int64_t type;      /* an onnx_type, or another number  */
  r4_shape shape;    /* dimensions may be 0              */
  struct slice data; /* as memory has it; shorter or longer than the shape says in a file that is damaged */
  struct slice file; /* its data are there, beside the model; or empty */
  uint64_t offset, length;
};

struct onnx_attribute {
  struct slice name;
  int64_t type; /* an onnx_attribute_type, or another number */
  float real;
  int64_t whole;
  struct slice text;
  const int64_t *list;
  size_t n;
  const struct onnx_tensor *tensor;
};

struct onnx_node {
  struct slice op, domain, name;
  struct slice *input, *output;
  struct onnx_attribute *attribute;
  size_t inputs, outputs, attributes;
};

/* An input or an output. A dimension of 0 is not fixed: it has a name, or none. */
struct onnx_value {
  struct slice name;
  int64_t type;
  r4_shape shape;
  struct slice dim_name[R4_MAX_RANK];
};

struct onnx_note {
  struct slice key, value;
};

/* A file that was read: the model itself, or data of its tensors. */
struct onnx_file {
  struct slice name;
  uint8_t *data;
  size_t size;
};

enum { ONNX_FILES = 16 };

struct onnx_room;

struct onnx_model {
  int64_t version, opset; /* of the format, and of the operators without a domain; 0: not stated */
  struct slice producer, producer_version;
  struct onnx_node *node;
  struct onnx_tensor *tensor; /* initializers */
  struct onnx_value *input, *output;
  struct onnx_note *note;
  size_t nodes, tensors, inputs, outputs, notes;
  struct onnx_room *room; /* where all of it is, but for what lies in files as it is needed */
  struct onnx_file file[ONNX_FILES];
  size_t files;
  size_t bytes; /* that were read, in all files */
  bool failed;  /* an allocation did            */
};

/* ---- Making ---- */

/* Zeroed memory that lives as long as the model; NULL when out of memory, which is kept. */
void *onnx_new(struct onnx_model *m, size_t count, size_t size);
/* One more in a list of n that was made here. */
void *onnx_grow(struct onnx_model *m, void *list, size_t n, size_t size);
struct slice onnx_text(struct onnx_model *m, const char *format, ...) R4_PRINTF(2, 3);
void onnx_free(struct onnx_model *m);

/* ---- Files ---- */

r4_status onnx_write(const char *path, const struct onnx_model *m, r4_error *e);
/* Reads and checks the messages, not what they mean. Frees on failure. */
r4_status onnx_read(struct onnx_model *m, const char *path, r4_error *e);
/* The same from memory, which must outlive the model; data of tensors in other files stay there. */
r4_status onnx_parse(struct onnx_model *m, const char *path, const void *data, size_t size, r4_error *e);

/* ---- Asking ---- */

const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name); /* or NULL */
const struct onnx_note *onnx_note(const struct onnx_model *m, const char *key);           /* or NULL */

/* How many elements a tensor has; false if its data are not as many, or if it is not of numbers that r4 knows. */
bool onnx_count(const struct onnx_tensor *t, size_t *n);
double onnx_number(const struct onnx_tensor *t, size_t k);   /* of one that was counted */
int64_t onnx_integer(const struct onnx_tensor *t, size_t k); /* the same, without its fraction, of at most +-2^53 */

#endif
