#include "net_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"

r4_net *net_of(const char *text, r4_shape input)
{
  r4_error e;
  r4_net *n = r4_net_open(text, input, &e);
  if (!n) fail_msg("\"%s\": %s", text, e.text);
  return n;
}

static void assert_same_param(const struct param *a, const struct param *b)
{
  assert_string_equal(a->name, b->name);
  assert_true(r4_shape_equal(a->shape, b->shape));
  assert_true(r4_shape_equal(a->file_shape, b->file_shape));
  assert_memory_equal(&a->layout, &b->layout, sizeof a->layout);
  assert_int_equal(a->offset, b->offset);
  assert_int_equal(a->fan_in, b->fan_in);
  assert_int_equal(a->init, b->init);
  assert_int_equal(a->buffer, b->buffer);
}

/* Names of all parts: draws are called by them, parameters or not. */
static void assert_same_parts(const struct row *got, const struct row *want)
{
  assert_int_equal(got->n, want->n);
  for (size_t k = 0; k < got->n; k++) {
    const struct module *a = &got->part[k], *b = &want->part[k];
    assert_ptr_equal(a->kind, b->kind);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->branches, b->branches);
    for (size_t i = 0; i < a->branches; i++) assert_same_parts(&a->branch[i], &b->branch[i]);
  }
}

void assert_same_net(const r4_net *got, const r4_net *want)
{
  assert_true(r4_shape_equal(got->input, want->input));
  assert_int_equal(r4_net_classes(got), r4_net_classes(want));
  assert_int_equal(got->size, want->size);
  assert_int_equal(got->leaf, want->leaf);
  assert_same_parts(got->row, want->row);
  assert_int_equal(got->params, want->params);
  for (size_t k = 0; k < got->params; k++) assert_same_param(&got->param[k], &want->param[k]);
}

void assert_reads_back(const r4_net *n)
{
  char *text = net_print(n);
  assert_non_null(text);
  r4_net *same = net_of(text, n->input), *kept = net_of(r4_net_layers(n), n->input);
  char *again = net_print(same);
  assert_string_equal(again, text);
  assert_same_net(same, n);
  assert_same_net(kept, n);
  r4_string_free(text);
  r4_string_free(again);
  r4_net_free(same);
  r4_net_free(kept);
}

void assert_saves(const r4_net *n)
{
  r4_error e;
  char path[200];
  float *w = calloc(n->size + 1, sizeof *w);
  for (size_t k = 0; k < n->size; k++) w[k] = (float)draw(-1, 1);
  snprintf(path, sizeof path, "%s", scratch_path("net.safetensors"));
  if (r4_model_save(n, w, NULL, path, &e)) fail_msg("%s: save: %s", n->text, e.text);
  for (int own = 0; own < 2; own++) {
    r4_model *m = r4_model_open(path, own ? NULL : n, &e);
    if (!m) fail_msg("%s: load: %s", n->text, e.text);
    assert_same_net(r4_model_net(m), n);
    assert_memory_equal(r4_model_weights(m), w, n->size * sizeof *w);
    r4_model_free(m);
  }
  free(w);
}

void draw_param(const struct param *p, double *to)
{
  bool ones = p->init == INIT_ONE;
  size_t count = (size_t)r4_shape_count(p->shape);
  double spread = p->init == INIT_WEIGHT ? 1.5 / sqrt((double)p->fan_in) : 0.5;
  for (size_t i = 0; i < count; i++) to[i] = ones ? draw(0.5, 1.5) : draw(-spread, spread);
}

static void assert_agrees(const struct runner *got, const struct runner *want, double tolerance)
{
  for (size_t k = 0; k < want->n_out; k++) {
    char what[300];
    snprintf(what, sizeof what, "%.200s, output %zu in %s", check_now, k,
             got->type == R4_F64 ? "double" : "float");
    assert_close(what, got->out[k], want->out[k], want->out_count[k], tolerance, 1e-2);
  }
}

static bool uses_onednn(const struct runner *r)
{
  char *text = r4_plan_text(r->plan);
  assert_non_null(text);
  bool uses = strstr(text, "oneDNN") != NULL;
  r4_string_free(text);
  return uses;
}

static void assert_same_bits(const struct runner *a, const struct runner *b, const char *how)
{
  size_t size = a->type == R4_F64 ? sizeof(double) : sizeof(float);
  for (size_t k = 0; k < a->n_out; k++)
    if (memcmp(a->out_raw[k], b->out_raw[k], a->out_count[k] * size))
      fail_msg("%.200s: output %zu has other bits %s", check_now, k, how);
}

/* With as much as possible computed again, and values where outputs will be. */
static void assert_same_with_little_kept(const r4_graph *g, size_t n, const r4_id *out,
                                         const struct runner *want)
{
  size_t place[RUNNER_MAX];
  draw_places(g, n, out, place);
  struct runner *r =
    runner_new(g, n, out, (r4_plan_options){.type = want->type, .keep_bytes = 1, .place = place});
  runner_copy_inputs(r, want);
  runner_run(r);
  assert_same_bits(r, want, "with little kept");
  runner_free(r);
}

void assert_plans_agree(const r4_graph *g, size_t n, const r4_id *out, const struct runner *want)
{
  for (int type = 0; type < 2; type++) {
    struct runner *r[2];
    for (int k = 0; k < 2; k++) {
      r4_threads(1 + k, false);
      r[k] = runner_new(g, n, out, type ? FAST32 : FAST64);
      runner_copy_inputs(r[k], want);
      runner_run(r[k]);
      assert_agrees(r[k], want, type ? 1e-3 : 1e-10);
      assert_same_with_little_kept(g, n, out, r[k]);
    }
    if (!uses_onednn(r[0]) && !uses_onednn(r[1])) assert_same_bits(r[0], r[1], "with one and two threads");
    runner_free(r[0]);
    runner_free(r[1]);
  }
  r4_threads(2, false);
}
