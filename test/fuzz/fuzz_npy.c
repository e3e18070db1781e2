/* The npy format: an array that is accepted has as many elements as it says, and reads back as it was written. */
#include <stdlib.h>
#include <string.h>

#include "tensor/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

/* Every element is touched. */
static void use(const struct array *a)
{
  char text[64];
  double sum = 0;
  for (int64_t i = 0; i < array_count(a); i++) {
    sum += array_number(a, i);
    require(strlen(array_text(a, i)) < a->width || a->type != ARRAY_TEXT);
  }
  array_describe(a, text, sizeof text);
  volatile double used = sum;
  (void)used;
  require(text[0]);
}

static void write_and_read(const struct array *a)
{
  struct npy n;
  struct array b;
  r4_error e;
  require(npy_encode(a, &n, &e) == R4_OK);
  uint8_t *file = malloc(n.head_size + n.body_size);
  memcpy(file, n.head, n.head_size);
  memcpy(file + n.head_size, n.body, n.body_size);
  require(npy_read(file, n.head_size + n.body_size, "again", &b, &e) == R4_OK);
  require(a->type == b.type && a->rank == b.rank && !memcmp(a->dim, b.dim, sizeof a->dim));
  for (int64_t i = 0; i < array_count(a); i++) require(!strcmp(array_text(a, i), array_text(&b, i)));
  if (a->type != ARRAY_TEXT) require(!memcmp(a->data, b.data, (size_t)array_count(a) * a->width));
  array_free(&b);
  npy_free(&n);
  free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct array a;
  r4_error e = {0};
  if (npy_read(data, size, "fuzz", &a, &e)) {
    require(e.status != R4_OK && e.text[0] && !a.data);
    return 0;
  }
  use(&a);
  write_and_read(&a);
  array_free(&a);
  return 0;
}
