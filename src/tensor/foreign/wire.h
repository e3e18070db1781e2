/* The wire format of protocol buffers, which files of ONNX and of TensorBoard are written in. A message is a row of
 * fields,
 *
 *     tag      number << 3 | type, a varint: 7 bits in a byte, lowest first, the 8th says that more follow
 *     value    type 0: a varint;  1: 8 bytes;  2: a length, and as many bytes;  5: 4 bytes; lowest byte first
 *
 * and messages, texts and packed lists in it are fields of type 2. */
#ifndef R4_TENSOR_FOREIGN_WIRE_H
#define R4_TENSOR_FOREIGN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that belongs to someone else, without a zero behind it. */
struct slice {
  const char *s;
  size_t n;
};

struct slice slice_of(const char *s);
bool slice_is(struct slice a, const char *s);
bool slice_equal(struct slice a, struct slice b);

/* ---- Writing ---- */

/* A failed allocation is kept, and shows in the end. */
struct wire {
  uint8_t *data;
  size_t size, capacity;
  bool failed;
};

void wire_whole(struct wire *w, unsigned field, int64_t v);
void wire_float(struct wire *w, unsigned field, float v);
void wire_double(struct wire *w, unsigned field, double v);
void wire_bytes(struct wire *w, unsigned field, const void *data, size_t size);
void wire_text(struct wire *w, unsigned field, struct slice s); /* nothing, if it is empty */
/* A message in a message: what is written between the two calls. */
size_t wire_open(struct wire *w, unsigned field);
void wire_close(struct wire *w, size_t opened);

/* ---- Reading ---- */

enum wire_type { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 };

struct field {
  uint32_t number;
  enum wire_type type;
  uint64_t value;     /* of those that are numbers */
  struct slice bytes; /* of WIRE_BYTES             */
};

/* The next field of what is left of *message, which moves behind it. False at the end, and if there is none: then
 * *message is not empty. */
bool wire_next(struct slice *message, struct field *f);
/* A varint in a packed list. */
bool wire_varint(struct slice *list, uint64_t *v);
/* How many fields of this number a message has, up to where it is damaged. */
size_t wire_count(struct slice message, uint32_t number);

#endif
