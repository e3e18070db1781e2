/* Certificates as files: what was proved, line by line, and the examples that it was proved of. doc/certificates.md has
 * the format, which an independent program reads. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "r4_tools.h"
#include "tensor/npz.h"

/* ---- The certificate ---- */

static void add_line(struct text *t, const char *key, const char *value)
{
  if (value) text_add(t, "%s %s\n", key, value);
}

static void add_header(struct text *t, const r4_certificate *c)
{
  text_add(t, "r4-certificate 1\nprogram r4 %s\n", R4_VERSION);
  add_line(t, "claim", c->claim);
  add_line(t, "semantics", c->semantics);
  add_line(t, "method", c->method);
  add_line(t, "model", c->model);
  add_line(t, "data", c->data);
  add_line(t, "eps", c->eps);
  if (c->low) text_add(t, "range %s %s\n", c->low, c->high);
  add_line(t, "words", c->words);
  add_line(t, "cover", c->cover);
  add_line(t, "fill", c->fill);
  text_add(t, "examples %zu\n", c->examples);
}

/* Where several methods were at work, a line says which of them proved it. */
static void add_verdict(struct text *t, const r4_certificate *c, const r4_certified *x)
{
  static const char *const by[] = {NULL, "intervals", "linear", "slopes", "branching"};
  bool known = x->by > R4_PROVED_NOT && x->by < sizeof by / sizeof *by;
  if (!x->holds)
    text_add(t, " open\n");
  else if (!known || !strcmp(c->method, "intervals"))
    text_add(t, " holds\n");
  else
    text_add(t, " holds by %s\n", by[x->by]);
}

static void add_example(struct text *t, const r4_certificate *c, size_t i)
{
  const r4_certified *x = &c->example[i];
  text_add(t, "%zu %d %d ", i, (int)x->label, (int)x->predicted);
  if (isfinite(x->margin))
    text_add(t, "%a", x->margin);
  else
    text_add(t, "-");
  add_verdict(t, c, x);
}

/* A line that claims what its margin does not is never written. */
static r4_status check_example(const r4_certified *x, size_t i, r4_error *e)
{
  if (!x->holds || (isfinite(x->margin) && x->margin > 0)) return R4_OK;
  return r4_fail(e, R4_E_INTERNAL, "certificate: example %zu holds with a margin of %g: please report", i, x->margin);
}

r4_status r4_certificate_save(const r4_certificate *c, const char *path, r4_error *e)
{
  NEEDS(c, "a certificate", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  NEEDS(c->claim && c->semantics && c->method, "a claim, its semantics and a method", R4_E_ARGUMENT);
  NEEDS(c->example || !c->examples, "examples", R4_E_ARGUMENT);
  struct text t = {0};
  char sum[R4_HASH_SIZE];
  add_header(&t, c);
  r4_status s = R4_OK;
  for (size_t i = 0; i < c->examples && !s; i++) {
    s = check_example(&c->example[i], i, e);
    add_example(&t, c, i);
  }
  if (!t.failed) r4_hash(t.s, t.length, sum);
  if (!t.failed) text_add(&t, "sha256 %s\n", sum);
  if (!s) return file_write_text(path, &t, e);
  r4_string_free(text_take(&t));
  return s;
}

r4_status r4_file_hash(const char *path, char hex[R4_HASH_SIZE], r4_error *e)
{
  NEEDS(path, "a path", R4_E_ARGUMENT);
  NEEDS(hex, "room for the result", R4_E_ARGUMENT);
  struct hash h;
  uint8_t block[1 << 15], digest[HASH_BYTES];
  FILE *f = file_open(path, e);
  if (!f) return R4_E_IO;
  hash_start(&h);
  for (size_t n; (n = fread(block, 1, sizeof block, f));) hash_add(&h, block, n);
  bool failed = ferror(f);
  fclose(f);
  if (failed) return r4_fail(e, R4_E_IO, "%s: cannot be read completely", path);
  hash_end(&h, digest);
  hash_hex(digest, hex);
  return R4_OK;
}

/* ---- Its examples ---- */

enum { X, Y, MASK, LENGTH, ENTRIES, FAST = 1, SMALL = 6 };

struct examples {
  const r4_data *d;
  r4_shape shape; /* of one, as the net has it */
  struct npz_entry entry[ENTRIES];
  float *row; /* of an example, as the data have it */
};

/* [height, width, channels] becomes [channels, height, width]. */
static void channels_first(r4_shape s, const float *from, float *to)
{
  if (s.rank != 3) {
    memcpy(to, from, (size_t)r4_shape_count(s) * sizeof *to);
    return;
  }
  int64_t pixels = s.dim[0] * s.dim[1], channels = s.dim[2];
  for (int64_t p = 0; p < pixels; p++)
    for (int64_t c = 0; c < channels; c++) to[c * pixels + p] = from[p * channels + c];
}

static r4_status new_arrays(struct examples *x, bool tokens, r4_error *e)
{
  r4_shape s = x->shape;
  bool image = s.rank == 3;
  int64_t n = (int64_t)r4_data_count(x->d), dim[ARRAY_RANK] = {n, image ? s.dim[2] : s.dim[0], s.dim[0], s.dim[1]};
  int rank = image ? 4 : 2;
  x->row = mem_new((size_t)r4_shape_count(s), sizeof *x->row, "an example", e);
  r4_status status = x->row ? R4_OK : R4_E_MEMORY;
  if (!status) status = array_new(&x->entry[X].array, tokens ? ARRAY_I64 : ARRAY_F32, 0, rank, dim, e);
  if (!status) status = array_new(&x->entry[MASK].array, ARRAY_F32, 0, rank, dim, e);
  if (!status) status = array_new(&x->entry[Y].array, ARRAY_I64, 0, 1, dim, e);
  if (!status) status = array_new(&x->entry[LENGTH].array, ARRAY_I64, 0, 1, dim, e);
  return status;
}

static void fill_arrays(struct examples *x, bool tokens)
{
  size_t width = (size_t)r4_shape_count(x->shape);
  for (size_t i = 0; i < r4_data_count(x->d); i++) {
    r4_data_values(x->d, i, x->row);
    int64_t *id = (int64_t *)x->entry[X].array.data + i * width;
    if (!tokens) channels_first(x->shape, x->row, (float *)x->entry[X].array.data + i * width);
    for (size_t k = 0; k < width && tokens; k++) id[k] = (int64_t)x->row[k];
    r4_data_mask(x->d, i, x->row);
    channels_first(x->shape, x->row, (float *)x->entry[MASK].array.data + i * width);
    ((int64_t *)x->entry[Y].array.data)[i] = r4_data_example(x->d, i).label;
    ((int64_t *)x->entry[LENGTH].array.data)[i] = (int64_t)r4_data_length(x->d, i);
  }
}

r4_status r4_certificate_data_save(const r4_net *n, const r4_data *d, const char *path, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  bool tokens = r4_data_vocabulary(d) > 0;
  struct examples x = {
    .d = d, .shape = r4_net_input(n), .entry = {{.key = "x", .level = FAST}, {.key = "y", .level = SMALL},
                                                {.key = "mask", .level = SMALL}, {.key = "length", .level = SMALL}}};
  if (r4_shape_count(x.shape) != r4_shape_count(r4_data_shape(d)))
    return r4_fail(e, R4_E_SHAPE, "the net takes %lld values, the examples have %lld",
                   (long long)r4_shape_count(x.shape), (long long)r4_shape_count(r4_data_shape(d)));
  r4_status s = new_arrays(&x, tokens, e);
  if (!s) fill_arrays(&x, tokens);
  if (!s) s = npz_write(path, tokens ? ENTRIES : LENGTH, x.entry, e);
  for (size_t k = 0; k < ENTRIES; k++) array_free(&x.entry[k].array);
  r4_mem_free(x.row);
  return s;
}
