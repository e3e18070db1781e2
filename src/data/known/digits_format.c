/* The built-in digits as a source: "digits" has as many as MNIST, "digits:N" has N for training and N / 6 for test. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/format/format.h"
#include "data/known/digits.h"

static bool matches(const char *path)
{
  return !strncmp(path, "digits", 6) && (!path[6] || path[6] == ':');
}

static r4_status read_count(const char *path, size_t *train, r4_error *e)
{
  *train = 60000;
  if (!path[6]) return R4_OK;
  char *end = NULL;
  errno = 0;
  unsigned long long n = strtoull(path + 7, &end, 10);
  if (errno || *end || path[7] < '0' || path[7] > '9' || n < 6 || n > 100000000)
    return r4_fail(e, R4_E_ARGUMENT, "%s: expected digits:N, N a whole number from 6 to 100000000", path);
  *train = (size_t)n;
  return R4_OK;
}

static r4_status name_classes(r4_data *d, r4_error *e)
{
  r4_status s = R4_OK;
  for (int k = 0; !s && k < DIGITS_CLASSES; k++)
    s = names_add(d->classes, (char[]){(char)('0' + k), 0}, NULL, e);
  return s;
}

static r4_data *digits_open(const char *path, const r4_data_options *options, r4_error *e)
{
  size_t train = 0;
  if (read_count(path, &train, e)) return NULL;
  size_t n = train + train / 6;
  struct column *v = column_new(&bytes_column, R4_SHAPE(DIGITS_SIDE, DIGITS_SIDE, 1), n, e);
  r4_data *d = v ? data_new(n, v, e) : NULL;
  if (!d) return NULL;
  enum { BLOCK = 1000 };
#pragma omp parallel for schedule(dynamic)
  for (size_t first = 0; first < n; first += BLOCK) {
    uint8_t label[BLOCK];
    size_t here = n - first < BLOCK ? n - first : BLOCK;
    r4_digits(options->seed, first, here, column_row(v, first), label);
    for (size_t k = 0; k < here; k++) {
      d->record[first + k].label = label[k];
      d->record[first + k].split = first + k < train ? R4_TRAIN : R4_TEST;
    }
  }
  if (!name_classes(d, e) &&
      !data_set_about(d, e, "digits, %zu for training, seed %llu", train,
                      (unsigned long long)options->seed) &&
      !data_finish(d, path, e))
    return d;
  r4_data_free(d);
  return NULL;
}

const struct format digits_format = {"digits", "built in: digits or digits:N", matches, digits_open, 0, NULL};
