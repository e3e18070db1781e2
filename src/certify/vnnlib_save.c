/* Claims as specifications of VNN-LIB (certify/vnnlib.h), for other verifiers. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "certify/box.h"
#include "r4.h"

/* All digits: the last of the 53 bits of a double stands for 2^(exponent - 53) or more, which has as many decimals.
 * Without an exponent, which some readers do not know. */
static void add_end(struct text *t, const char *relation, size_t k, double v)
{
  enum { MOST = 1074 };
  char number[MOST + 400];
  int exponent = 0;
  frexp(v, &exponent);
  int digits = 53 - exponent;
  c_locale_print(number, sizeof number, "%.*f", digits < 1 ? 1 : digits > MOST ? MOST : digits, v);
  size_t n = strlen(number);
  while (number[n - 1] == '0' && number[n - 2] != '.') number[--n] = 0;
  text_add(t, "(assert (%s X_%zu %s))\n", relation, k, number);
}

static void add_declarations(struct text *t, char letter, size_t n)
{
  for (size_t k = 0; k < n; k++) text_add(t, "(declare-const %c_%zu Real)\n", letter, k);
}

/* Some other class is at least as large. Of one output: it is not above 0, or not below. */
static void add_outputs(struct text *t, size_t outputs, int32_t own)
{
  if (outputs == 1) {
    text_add(t, "(assert (%s Y_0 0.0))\n", own ? "<=" : ">=");
    return;
  }
  text_add(t, "(assert (or\n");
  for (size_t j = 0; j < outputs; j++)
    if (j != (size_t)own) text_add(t, "  (and (>= Y_%zu Y_%d))\n", j, (int)own);
  text_add(t, "))\n");
}

/* Feature k of the file, which has images channels first. */
static size_t place(r4_shape s, size_t k)
{
  size_t channels = s.rank == 3 ? (size_t)s.dim[2] : 1, pixels = (size_t)r4_shape_count(s) / channels;
  return k % pixels * channels + k / pixels;
}

r4_status r4_vnnlib_save(const r4_net *n, const r4_data *d, size_t i, int32_t predicted, const r4_certify_options *box,
                         const char *path, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(box, "options", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  struct box b;
  struct text t = {0};
  r4_shape in = r4_net_input(n);
  size_t features = (size_t)r4_shape_count(in), outputs = (size_t)r4_net_classes(n);
  r4_status s = box_read(&b, box->eps, box->low, box->high, e);
  if (s) return s;
  if (r4_data_vocabulary(d) > 0 || features != (size_t)r4_shape_count(r4_data_shape(d)) || i >= r4_data_count(d))
    return r4_fail(e, R4_E_SHAPE, "certify: the examples do not fit the net, or there is no example %zu", i);
  if (predicted < 0 || (size_t)predicted >= (outputs > 1 ? outputs : 2))
    return r4_fail(e, R4_E_ARGUMENT, "certify: the net has no class %d", (int)predicted);
  double *lo = mem_new(2 * features, sizeof *lo, "a box", e);
  float *x = lo ? mem_new(2 * features, sizeof *x, "an example", e) : NULL;
  if (!x) {
    r4_mem_free(lo);
    return R4_E_MEMORY;
  }
  r4_data_values(d, i, x);
  r4_data_mask(d, i, x + features);
  box_ends(&b, features, x, x + features, lo, lo + features);
  text_add(&t, "; example %zu: class %d whatever is in the mask (r4 %s)\n", i, (int)predicted, R4_VERSION);
  add_declarations(&t, 'X', features);
  add_declarations(&t, 'Y', outputs);
  for (size_t k = 0; k < features; k++) {
    add_end(&t, ">=", k, lo[place(in, k)]);
    add_end(&t, "<=", k, lo[features + place(in, k)]);
  }
  add_outputs(&t, outputs, predicted);
  r4_mem_free(lo);
  r4_mem_free(x);
  return file_write_text(path, &t, e);
}
