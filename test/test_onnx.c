/* ONNX: every kind of part, and random trees of them, are written as graphs that answer as the nets do, and read back
 * to the bit; a graph that is not what the notes say is read operator by operator; every failing allocation is an
 * error.
 *
 * With R4_ONNX_DIR each case leaves a file there, and its examples and logits beside it: scripts/check_onnx.py asks
 * others what they make of them. R4_SEED repeats a seed, R4_ROUNDS asks for more nets. */
#include "module/onnx/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "onnx_case.h"
#include "onnx_run.h"
#include "random_tree.h"
#include "scratch.h"

enum { ROUNDS = 100, FAIL_EACH = 25 };

static int cases;

/* The examples, for tokens which of them are there, and the logits: floats in a row. */
static void leave(const struct onnx_case *c)
{
  const char *folder = getenv("R4_ONNX_DIR");
  char path[600];
  r4_error e;
  if (!folder) return;
  snprintf(path, sizeof path, "%s/case-%04d.onnx", folder, cases);
  if (r4_onnx_save(c->net, c->weights, NULL, path, &e)) fail_msg("%s", e.text);
  snprintf(path, sizeof path, "%s/case-%04d.bin", folder, cases++);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  fwrite(c->x, sizeof *c->x, ONNX_BATCH * c->features, f);
  if (c->valid) fwrite(c->valid, sizeof *c->valid, ONNX_BATCH * c->features, f);
  fwrite(c->logits, sizeof *c->logits, (size_t)(ONNX_BATCH * r4_net_classes(c->net)), f);
  assert_int_equal(fclose(f), 0);
}

static r4_model *load(const struct onnx_case *c, const char *path)
{
  r4_error e = {0};
  r4_model *m = r4_model_open(path, NULL, &e);
  if (!m) fail_msg("%s: %s", c->text, e.text);
  return m;
}

static void save(const struct onnx_case *c, const char *path)
{
  r4_error e = {0};
  if (r4_onnx_save(c->net, c->weights, NULL, path, &e)) fail_msg("%s: %s", c->text, e.text);
}

/* [height, width, channels] to [channels, height, width] */
static void channels_first(r4_shape one, const float *from, double *to)
{
  int64_t h = one.dim[0], w = one.dim[1], c = one.dim[2];
  for (int64_t k = 0; k < h * w * c; k++) to[(k % c) * h * w + k / c] = (double)from[k];
}

/* The graph by itself, run by its definition, answers as the net does. */
static void check_graph(const struct onnx_case *c, const char *path)
{
  struct onnx_model m;
  r4_error e = {0};
  struct onnx_array given[2] = {{.v = NULL}, {.v = NULL}};
  size_t all = ONNX_BATCH * c->features, classes = (size_t)(ONNX_BATCH * r4_net_classes(c->net));
  assert_int_equal(onnx_read(&m, path, &e), R4_OK);
  for (size_t k = 0; k < m.inputs; k++) {
    const float *from = k ? c->valid : c->x;
    given[k] = (struct onnx_array){m.input[k].shape, calloc(all, sizeof *given[k].v)};
    given[k].shape.dim[0] = ONNX_BATCH;
    for (size_t i = 0; i < ONNX_BATCH && c->input.rank == 3; i++)
      channels_first(c->input, from + i * c->features, given[k].v + i * c->features);
    for (size_t i = 0; i < all && c->input.rank == 1; i++) given[k].v[i] = (double)from[i];
  }
  struct onnx_array y = onnx_run(&m, given);
  double *want = calloc(classes, sizeof *want);
  for (size_t i = 0; i < classes; i++) want[i] = (double)c->logits[i];
  assert_true(r4_shape_equal(y.shape, R4_SHAPE(ONNX_BATCH, r4_net_classes(c->net))));
  assert_close(c->text, y.v, want, classes, 1e-6, 1e-3);
  free(y.v), free(want), free(given[0].v), free(given[1].v);
  onnx_free(&m);
}

/* Without the notes the graph is read operator by operator: it then answers the same, or is refused in a sentence. */
static bool check_without_notes(const struct onnx_case *c, const char *path)
{
  struct onnx_model m;
  r4_error e = {0};
  assert_int_equal(onnx_read(&m, path, &e), R4_OK);
  m.notes = 0;
  const char *plain = scratch_path("plain.onnx");
  assert_int_equal(onnx_write(plain, &m, &e), R4_OK);
  onnx_free(&m);
  r4_model *model = r4_model_open(plain, NULL, &e);
  if (model)
    assert_same_logits(c, model);
  else
    assert_true((e.status == R4_E_ARGUMENT || e.status == R4_E_PARSE) && strlen(e.text) > 40);
  r4_model_free(model);
  return model;
}

static bool check(const struct onnx_case *c)
{
  check_now = c->text;
  char path[300];
  snprintf(path, sizeof path, "%s", scratch_path("net.onnx"));
  save(c, path);
  leave(c);
  r4_model *m = load(c, path);
  assert_same_model(c, m);
  r4_model_free(m);
  check_graph(c, path);
  bool plain = check_without_notes(c, path);
  check_now = "";
  return plain;
}

/* ---- The table of kinds ---- */

static void sample_case(const struct module_sample *s, struct onnx_case *c)
{
  *c = (struct onnx_case){.input = s->in, .tokens = s->tokens};
  int used = 0;
  if (s->in.rank == 2) {
    c->input = R4_SHAPE(s->in.dim[0]);
    c->tokens = 9;
    used = snprintf(c->text, sizeof c->text, "embedding 9 %lld, ", (long long)s->in.dim[1]);
  }
  snprintf(c->text + used, sizeof c->text - (size_t)used, "%s%s", s->text,
           s->out.rank > 1 ? ", flatten" : "");
}

static void test_kinds(void **state)
{
  (void)state;
  for (size_t k = 0; module_kind(k); k++) {
    assert_true(module_kind(k)->sample_count > 0);
    if (!module_kind(k)->onnx) fail_msg("%s has no form in ONNX", module_kind(k)->name);
    for (size_t i = 0; i < module_kind(k)->sample_count; i++) {
      struct onnx_case c;
      draw_start(7000 + (uint32_t)k, (uint32_t)i);
      sample_case(&module_kind(k)->samples[i], &c);
      onnx_case_open(&c);
      check(&c);
      onnx_case_close(&c);
    }
  }
}

/* What the table has not: orders of features, ids that are computed, masks, one output, nothing at all. */
static void test_corners(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    r4_shape input;
    int64_t tokens;
    bool plain; /* can be read without the notes */
  } corners[] = {
    {"conv 4 3 p1, relu, maxpool 2, conv 6 3 p1/0 s2, flatten, dense 3", {3, {9, 7, 3}}, 0, true},
    {"conv 4 3 s2 same, flatten, batchnorm, dense 5, layernorm, dense 2", {3, {5, 8, 2}}, 0, true},
    {"conv 2 3 same s2 nobias, batchnorm, relu6, avgpool 2 s1, globalpool, dense 1", {3, {6, 7, 1}}, 0, true},
    {"normalize mean 0.5/0.25/0.125 std 0.5/2/4, residual(conv 3 3 p1, tanh; conv 3 1 nobias), flatten",
     {3, {4, 4, 3}},
     0,
     false},
    {"residual(a: conv 3 3 p1 g3, relu, residual(b: conv 3 1)), globalpool", {3, {4, 4, 3}}, 0, true},
    {"dense 4 nobias, relu, dense 4, tanh, dense 3", {1, {5}}, 0, true},
    {"leaf", {1, {3}}, 0, false},
    {"dropout 0.5, leaf, dropout 0.25", {1, {3}}, 0, false},
    {"flatten", {3, {2, 3, 2}}, 0, false},
    {"flatten, dense 4", {3, {2, 3, 2}}, 0, true},
    {"flatten, relu6, embedding 9 2, flatten, dense 2", {3, {2, 1, 2}}, 6, false},
    {"residual(relu), dense 2", {1, {4}}, 0, true},
    {"residual(dropout 0.5), dense 2", {1, {4}}, 0, false},
    {"sum(embedding 9 4; position 6 4; type 2 4), layernorm, leaf, attention 2, residual(dense 8, gelu, "
     "dense 4), "
     "mean, dense 3",
     {1, {5}},
     9,
     true},
    {"embedding 9 6, residual(attention 3), first, dense 2", {1, {4}}, 9, true},
    {"embedding 9 4, batchnorm, first, dense 2", {1, {5}}, 9, false},
    {"position 6 4, first", {1, {5}}, 9, false},
  };
  for (size_t k = 0; k < sizeof corners / sizeof *corners; k++) {
    struct onnx_case c = {.input = corners[k].input, .tokens = corners[k].tokens};
    draw_start(7100, (uint32_t)k);
    snprintf(c.text, sizeof c.text, "%s", corners[k].text);
    onnx_case_open(&c);
    if (check(&c) != corners[k].plain) fail_msg("%s: read without notes: %d", c.text, !corners[k].plain);
    onnx_case_close(&c);
  }
}

/* ---- Trees ---- */

/* Whichever allocation fails: an error and no file, or no model; or all is well. */
static void check_memory(const struct onnx_case *c, const char *path, bool saving)
{
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_model *m = NULL;
    r4_mem_fail_at(k);
    r4_status s =
      saving ? r4_onnx_save(c->net, c->weights, (const char *const[]){"a", "b", "c", "d"}, path, &e) : R4_OK;
    if (!saving) m = r4_model_open(path, NULL, &e);
    bool all = r4_mem_count() < k;
    r4_mem_fail_at(0);
    assert_true(saving ? s == e.status : (m == NULL) == (e.status != R4_OK));
    if (e.status && e.status != R4_E_MEMORY) fail_msg("%s: allocation %ld fails: %s", c->text, k, e.text);
    if (m) assert_same_logits(c, m);
    r4_model_free(m);
    if (all) break;
  }
}

static void test_trees(void **state)
{
  (void)state;
  long rounds = check_setting("R4_ROUNDS", ROUNDS), plain = 0;
  for (long k = 0; k < rounds; k++) {
    struct random_tree tree;
    draw_start(7200, (uint32_t)k);
    random_tree_draw(&tree);
    struct onnx_case c = {.input = tree.input, .tokens = tree.tokens};
    snprintf(c.text, sizeof c.text, "%s", tree.text);
    onnx_case_open(&c);
    bool is_plain = check(&c);
    plain += is_plain;
    if (k % FAIL_EACH == 0) {
      char path[300];
      snprintf(path, sizeof path, "%s", scratch_path("memory.onnx"));
      check_memory(&c, path, true);
      check_memory(&c, path, false);
      if (is_plain) check_memory(&c, scratch_path("plain.onnx"), false);
    }
    onnx_case_close(&c);
  }
  print_message("# %ld of %ld random nets can be read without their notes\n", plain, rounds);
}

/* ---- What is in a file ---- */

static void assert_note(const struct onnx_model *m, const char *key, const char *value)
{
  const struct onnx_note *n = onnx_note(m, key);
  if (!n || !slice_is(n->value, value)) fail_msg("the note %s is not \"%s\"", key, value);
}

static void test_notes(void **state)
{
  (void)state;
  struct onnx_case c = {.input = {3, {4, 5, 3}},
                        .text = "normalize mean 0.5 std 0.25, conv 2 3, flatten, dense 2"};
  draw_start(7300, 0);
  onnx_case_open(&c);
  char path[300];
  snprintf(path, sizeof path, "%s", scratch_path("notes.onnx"));
  r4_error e = {0};
  assert_int_equal(r4_onnx_save(c.net, c.weights, (const char *const[]){"cat", "dog \"rex\""}, path, &e),
                   R4_OK);
  struct onnx_model m;
  assert_int_equal(onnx_read(&m, path, &e), R4_OK);
  assert_int_equal(m.opset, 17);
  assert_note(&m, "r4", R4_VERSION);
  assert_note(&m, "net", c.text);
  assert_note(&m, "input", "[4,5,3]");
  assert_note(&m, "layout", "NCHW");
  assert_note(&m, "classes", "[\"cat\",\"dog \\\"rex\\\"\"]");
  assert_true(slice_is(m.input[0].name, "input") && slice_is(m.input[0].dim_name[0], "batch"));
  assert_true(r4_shape_equal(m.input[0].shape, (r4_shape){4, {0, 3, 4, 5}}));
  assert_true(slice_is(m.output[0].name, "logits"));
  assert_true(slice_is(m.tensor[0].name, "1.weight") && slice_is(m.node[0].op, "Sub"));
  onnx_free(&m);
  r4_model *model = load(&c, path);
  assert_string_equal(r4_model_class_name(model, 1), "dog \"rex\"");
  r4_model_free(model);
  onnx_case_close(&c);
}

/* A net that the notes name, and a graph that someone has changed since: the graph counts. */
static void test_changed_graph(void **state)
{
  (void)state;
  struct onnx_case c = {.input = {1, {4}}, .text = "dense 4, relu, dense 2"},
                   other = {.input = {1, {4}}, .text = "dense 4, tanh, dense 2"};
  draw_start(7400, 0);
  onnx_case_open(&c);
  draw_start(7400, 0);
  onnx_case_open(&other);
  char path[300];
  snprintf(path, sizeof path, "%s", scratch_path("changed.onnx"));
  save(&c, path);
  scratch_patch("changed.onnx", "\x04Relu", "\x04Tanh", 5);
  r4_model *m = load(&c, path);
  assert_same_logits(&other, m);
  assert_null(r4_model_class_name(m, 0));
  r4_model_free(m);
  onnx_case_close(&c);
  onnx_case_close(&other);
}

/* A net of a run, and weights to start from, as settings name them. */
static void test_as_net_and_weights(void **state)
{
  (void)state;
  struct onnx_case c = {.input = {3, {6, 6, 2}}, .text = "a: conv 3 3, relu, flatten, fc: dense 2"};
  draw_start(7500, 0);
  onnx_case_open(&c);
  char path[300];
  snprintf(path, sizeof path, "%s", scratch_path("a net.onnx"));
  save(&c, path);
  r4_error e = {0};
  r4_net *n = r4_net_open(path, c.input, &e);
  if (!n) fail_msg("%s", e.text);
  assert_same_net(n, c.net);
  float *w = calloc(n->size, sizeof *w);
  assert_int_equal(r4_net_load(n, path, NULL, w, NULL, &e), R4_OK);
  assert_memory_equal(w, c.weights, n->size * sizeof *w);
  r4_net_free(n);
  n = net_of("a: conv 3 3, relu, flatten, fc: dense 5", c.input);
  w = realloc(w, n->size * sizeof *w);
  assert_error(&e, r4_net_load(n, path, NULL, w, NULL, &e), "fc.weight is [2,48], expected [5,48]");
  assert_int_equal(r4_net_load(n, path, &(r4_load_options){.skip = "fc.*"}, w, NULL, &e), R4_OK);
  assert_memory_equal(w, c.weights, n->param[0].offset + 27 * sizeof *w);
  r4_net_free(n);
  free(w);
  onnx_case_close(&c);
}

/* A kind that others have added need not have a form in ONNX. */
static r4_id itself(const struct module *m, const struct wiring *w, r4_id x)
{
  (void)m, (void)w;
  return x;
}

static void test_no_form(void **state)
{
  (void)state;
  static const struct module_kind odd = {
    .name = "odd", .usage = "odd", .about = "", .shape = module_same_shape, .apply = itself};
  assert_true(module_kind_add(&odd));
  r4_net *n = net_of("dense 2, strange: odd", R4_SHAPE(3));
  float w[8] = {0};
  r4_error e = {0};
  assert_error(&e, r4_onnx_save(n, w, NULL, scratch_path("odd.onnx"), &e),
               "part strange: its kind cannot be written as ONNX");
  assert_error(&e, r4_onnx_save(NULL, w, NULL, "x", &e), "needs a net");
  assert_error(&e, r4_onnx_save(n, NULL, NULL, "x", &e), "needs weights");
  assert_error(&e, r4_onnx_save(n, w, NULL, NULL, &e), "needs a path");
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_kinds),         cmocka_unit_test(test_corners),
    cmocka_unit_test(test_trees),         cmocka_unit_test(test_notes),
    cmocka_unit_test(test_changed_graph), cmocka_unit_test(test_as_net_and_weights),
    cmocka_unit_test(test_no_form)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("ONNX", tests, scratch_make, scratch_remove);
}
