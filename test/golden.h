/* golden.h - reads the files of test/golden, which scripts/golden.py writes and describes. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stddef.h>
#include <stdint.h>

enum { GOLDEN_MAX_RANK = 6, GOLDEN_ERROR_SIZE = 256 };

typedef struct {
  char *name;
  int rank;
  int64_t dim[GOLDEN_MAX_RANK];
  size_t count; /* of values: the product of the dimensions */
  double *value;
} golden_tensor;

typedef struct golden golden;

/* A file, or text as if it were the file of that name. NULL on failure; error then says "file:line: what". */
golden *golden_read(const char *path, char error[GOLDEN_ERROR_SIZE]);
golden *golden_parse(const char *path, const char *text, char error[GOLDEN_ERROR_SIZE]);
void golden_free(golden *g);

/* NULL if there is no tensor, or no text, of that name. They live as long as g. */
const golden_tensor *golden_find(const golden *g, const char *name);
const char *golden_text(const golden *g, const char *name);

/* A text as numbers: how many there are, of which max at most are stored; 0 if absent or not numbers. */
size_t golden_numbers(const golden *g, const char *name, size_t max, double *number);

#endif
