#include "conv_case.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "op/window.h"

struct kernel_request conv_request(const struct op *op, const struct conv_shapes *s)
{
  struct kernel_request q = {.op = op, .type = R4_F32, .n = 2};
  q.in[0] = op == &op_conv2d_dx ? s->y : s->x;
  q.in[1] = op == &op_conv2d_dw ? s->y : s->w;
  q.out = op == &op_conv2d ? s->y : op == &op_conv2d_dx ? s->x : s->w;
  r4_shape size = op == &op_conv2d_dx ? s->x : s->w;
  q.attr = op == &op_conv2d ? window_attr(s->window, 0, 0) : window_attr(s->window, size.dim[1], size.dim[2]);
  return q;
}

bool conv_is(const struct kernel *k, const char *name)
{
  return strncmp(k->name, name, strlen(name)) == 0;
}

void conv_data_make(const struct kernel_request *q, struct conv_data *x)
{
  x->n[0] = (size_t)r4_shape_count(q->in[0]), x->n[1] = (size_t)r4_shape_count(q->in[1]);
  x->n[2] = (size_t)q->out.dim[3], x->n[3] = (size_t)r4_shape_count(q->out);
  for (int k = 0; k < 4; k++) {
    x->f[k] = malloc(x->n[k] * sizeof *x->f[k]);
    x->d[k] = malloc(x->n[k] * sizeof *x->d[k]);
    assert_true(x->f[k] && x->d[k]);
    for (size_t i = 0; i < x->n[k]; i++) {
      bool given = k < 3 || q->accumulate;
      x->d[k][i] = given ? draw(-1, 1) : 0;
      x->f[k][i] = given ? (float)x->d[k][i] : NAN; /* all of the result has to be written */
    }
  }
}

enum { GUARD = 4096, UNTOUCHED = 0xa5 };
static _Alignas(64) unsigned char scratch[(32 << 20) + GUARD];

struct kernel *conv_make(const struct kernel_request *q, r4_error *e)
{
  struct kernel *k;
  if (kernel_new(q, &k, e)) return NULL;
  assert_true(k->scratch_bytes + GUARD <= sizeof scratch);
  memset(scratch + k->scratch_bytes, UNTOUCHED, GUARD);
  k->scratch = scratch;
  return k;
}

static void assert_kept_to_scratch(const struct kernel *k)
{
  for (size_t i = 0; i < GUARD; i++) assert_int_equal(scratch[k->scratch_bytes + i], UNTOUCHED);
}

void conv_data_free(struct conv_data *x)
{
  for (int k = 0; k < 4; k++) {
    free(x->f[k]);
    free(x->d[k]);
  }
}

static void define(const struct kernel_request *q, struct conv_data *x)
{
  r4_error e;
  struct kernel_request plain = *q;
  plain.type = R4_F64, plain.bias = plain.relu = plain.accumulate = false;
  double *before = malloc(x->n[3] * sizeof *before);
  assert_non_null(before);
  memcpy(before, x->d[3], x->n[3] * sizeof *before);
  struct kernel *k = conv_make(&plain, &e);
  assert_non_null(k);
  assert_int_equal(k->run(k, (void *[]){x->d[0], x->d[1]}, x->d[3], &e), R4_OK);
  kernel_free(k);
  for (size_t i = 0; i < x->n[3]; i++) {
    if (q->accumulate) x->d[3][i] += before[i];
    if (q->bias) x->d[3][i] += x->d[2][i % x->n[2]];
    if (q->relu && x->d[3][i] < 0) x->d[3][i] = 0;
  }
  free(before);
}

void conv_compare(const struct kernel_request *q, const char *name)
{
  conv_compare_to(q, name, 2e-5);
}

void conv_compare_to(const struct kernel_request *q, const char *name, double tolerance)
{
  struct conv_data x;
  r4_error e;
  conv_data_make(q, &x);
  define(q, &x);
  struct kernel *k = conv_make(q, &e);
  assert_non_null(k);
  assert_true(conv_is(k, name));
  double *got = malloc(x.n[3] * sizeof *got);
  float *before = malloc(x.n[3] * sizeof *before);
  assert_true(got && before);
  memcpy(before, x.f[3], x.n[3] * sizeof *before);
  int runs =
    conv_is(k, "oneDNN") ? 1 : 2; /* the second one with fewer threads than the kernel was made for */
  for (int run = 0; run < runs; run++) {
    memcpy(x.f[3], before, x.n[3] * sizeof *before);
    assert_int_equal(k->run(k, (void *[]){x.f[0], x.f[1], x.f[2]}, x.f[3], &e), R4_OK);
    for (size_t i = 0; i < x.n[3]; i++) got[i] = (double)x.f[3][i];
    assert_close(q->op->name, got, x.d[3], x.n[3], tolerance, 1e-3);
    omp_set_num_threads(1);
  }
  assert_kept_to_scratch(k);
  free(got);
  free(before);
  kernel_free(k);
  conv_data_free(&x);
}

void conv_keeps_nan(struct kernel_request q)
{
  r4_error e;
  struct conv_data x;
  q.bias = q.relu = true;
  conv_data_make(&q, &x);
  x.f[2][5] = NAN;
  struct kernel *k = conv_make(&q, &e);
  assert_non_null(k);
  assert_int_equal(k->run(k, (void *[]){x.f[0], x.f[1], x.f[2]}, x.f[3], &e), R4_OK);
  for (size_t i = 0; i < x.n[3]; i++) assert_true(i % x.n[2] == 5 ? isnan(x.f[3][i]) : x.f[3][i] >= 0);
  kernel_free(k);
  conv_data_free(&x);
}
