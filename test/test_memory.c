/* Memory: whichever allocation fails, the call that needed it says so, everything can still be freed, and
 * nothing leaks ("make SAN=1 check" sees that). Running a plan allocates nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"

enum { BATCH = 2, PARAMS = 8, OUTPUTS = 2 + PARAMS, FEW = 4096 };

struct story {
  const char *layers, *method;
  r4_shape input;
  r4_plan_options options;
  bool in_text; /* by way of text */
};

/* What one telling of the story owns. */
struct owned {
  r4_net *net;
  r4_graph *g, *parsed;
  r4_plan *plan;
  r4_optimizer *optimizer;
  char *text, *dot, *plan_text;
};

static void free_all(struct owned *o)
{
  r4_plan_free(o->plan);
  r4_optimizer_free(o->optimizer);
  r4_graph_free(o->g);
  r4_graph_free(o->parsed);
  r4_net_free(o->net);
  r4_string_free(o->text);
  r4_string_free(o->dot);
  r4_string_free(o->plan_text);
}

/* The objective, its gradient, and bounds of the logits. */
static size_t build(const struct story *s, struct owned *o, r4_id *out)
{
  r4_id param[PARAMS];
  size_t n = r4_net_params(o->net);
  assert_true(n <= PARAMS);
  r4_net_inputs(o->net, o->g, param);
  const r4_objective_options options = {
    .method = s->method, .batch = BATCH, .lambda = {1}, .eps = .1, .alpha = .1, .steps = 1};
  r4_objective built = r4_objective_build(o->g, o->net, param, &options);
  r4_grad(o->g, built.loss, n, param, out);
  r4_shape shape = r4_net_input(o->net);
  memmove(shape.dim + 1, shape.dim, (size_t)shape.rank++ * sizeof *shape.dim);
  shape.dim[0] = BATCH;
  r4_id x = r4_input(o->g, "x", shape);
  r4_box box = r4_box_around(x, x, r4_const(o->g, .1, shape));
  r4_pair pair = r4_bound(o->g, r4_net_apply(o->net, o->g, param, x), 1, &box);
  out[n] = pair.lo;
  out[n + 1] = pair.hi;
  return n + 2;
}

static r4_status bind_and_run(struct owned *o, size_t n, r4_error *e)
{
  static const char *const names[] = {"x", "y", "m", "start"};
  static double zeros[FEW], result[OUTPUTS][FEW];
  r4_status status = R4_OK;
  for (size_t k = 0; k < 4; k++) r4_plan_input(o->plan, names[k], zeros, NULL);
  for (size_t k = 0; k < r4_net_params(o->net) && !status; k++)
    status = r4_plan_input(o->plan, r4_net_param_name(o->net, k), zeros, e);
  for (size_t k = 0; k < n && !status; k++) status = r4_plan_output(o->plan, k, result[k], e);
  if (status) return status;
  long before = r4_mem_count();
  status = r4_plan_run(o->plan, e);
  if (!status) status = r4_plan_run(o->plan, e);
  if (r4_mem_count() != before) fail_msg("a run allocates %ld times", r4_mem_count() - before);
  return status;
}

/* Everything from a line of text to numbers, until something fails. */
static r4_status tell(const struct story *s, struct owned *o, r4_error *e)
{
  r4_id out[OUTPUTS];
  size_t n_read;
  const char *message;
  static const r4_error memory = {.status = R4_E_MEMORY};
  if (!(o->net = r4_net_open(s->layers, s->input, e))) return e->status;
  *e = memory; /* what follows says "no memory" by NULL alone */
  if (!(o->g = r4_graph_new())) return R4_E_MEMORY;
  size_t n = build(s, o, out);
  r4_status status = r4_graph_status(o->g, &message);
  if (status) return status;
  if (s->in_text) {
    if (!(o->text = r4_graph_text(o->g, n, out)) || !(o->dot = r4_graph_dot(o->g, n, out)))
      return R4_E_MEMORY;
    if (!(o->parsed = r4_graph_parse(o->text, OUTPUTS, out, &n_read, e))) return e->status;
    assert_int_equal(n_read, n);
  }
  r4_plan_options options = s->options;
  size_t place[OUTPUTS];
  for (size_t k = 0; k < n; k++) place[k] = k * FEW * sizeof(double) / (options.type == R4_F64 ? 8 : 4);
  if (options.keep_bytes) options.place = place;
  if (!(o->plan = r4_plan_new(s->in_text ? o->parsed : o->g, n, out, &options, e))) return e->status;
  status = bind_and_run(o, n, e);
  if (status) return status;
  if (!(o->plan_text = r4_plan_text(o->plan))) return R4_E_MEMORY;
  r4_optimizer_options how = r4_optimizer_defaults(s->options.type == R4_F64 ? R4_ADAM : R4_SGD);
  o->optimizer = r4_optimizer_new(r4_net_size(o->net), &how, e);
  return o->optimizer ? R4_OK : e->status;
}

/* With the first allocation failing, then the second, and so on until none is left to fail. Few may fail without
 * harm: lists that were to be shortened. */
static void fail_each(const struct story *s)
{
  long n = 1, harmless = 0;
  for (bool done = false; !done; n++) {
    struct owned o = {0};
    r4_error e;
    r4_mem_fail_at(n);
    r4_status status = tell(s, &o, &e);
    done = r4_mem_count() < n;
    r4_mem_fail_at(0);
    harmless += !done && status == R4_OK;
    if (status != R4_OK && (done || status != R4_E_MEMORY))
      fail_msg("%s of %s: allocation %ld fails, and the story ends with %s: %s", s->method, s->layers, n,
               r4_status_name(status), e.text);
    free_all(&o);
  }
  print_message("# %s of \"%s\": %ld allocations, %ld without harm\n", s->method, s->layers, n - 2, harmless);
  assert_true(n > 100 && 4 * harmless < n);
}

static const struct story dense = {"dense 4, relu, dense 3", "cert-r4", {1, {5}}, {.type = R4_F32}, true};
static const struct story conv = {
  "conv 2 2 p1, relu, maxpool 2, flatten, dense 3", "cert-r4", {3, {3, 4, 1}}, {.type = R4_F32}, true};

static void tell_all(struct story s) /* to every kind of plan */
{
  fail_each(&s);
  s.in_text = false;
  s.options.type = R4_F64;
  fail_each(&s);
  s.options.reference = true;
  fail_each(&s);
}

static void test_dense(void **state)
{
  (void)state;
  tell_all(dense);
}

static void test_conv(void **state)
{
  (void)state;
  tell_all(conv);
}

static void test_methods(void **state)
{
  (void)state;
  static const char *const methods[] = {"erm", "r3", "adv-r4", "ibp-ex"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    struct story s = dense;
    s.method = methods[k];
    s.options = FAST64;
    s.in_text = false;
    fail_each(&s);
  }
}

/* Values are computed again, and lie where outputs will be. */
static void test_little_kept(void **state)
{
  (void)state;
  struct story s = dense;
  s.method = "erm";
  s.in_text = false;
  s.options.keep_bytes = 1;
  fail_each(&s);
  s.method = "r3";
  s.options.type = R4_F64;
  fail_each(&s);
}

/* The counter itself. */
static void test_injection(void **state)
{
  (void)state;
  r4_mem_fail_at(2);
  void *a = r4_mem_new(1, 1), *b = r4_mem_new(1, 1), *c = r4_mem_new_aligned(100),
       *d = r4_mem_grow(NULL, 3, 5);
  assert_true(a && !b && c && d && r4_mem_count() == 4);
  assert_true((uintptr_t)c % 64 == 0);
  r4_mem_fail_at(1);
  assert_null(r4_mem_grow(a, 10, 1));
  r4_mem_fail_at(0);
  assert_null(r4_mem_new(SIZE_MAX / 2, 4));
  assert_null(r4_mem_grow(NULL, SIZE_MAX / 2, 4));
  assert_null(r4_mem_new_aligned(SIZE_MAX));
  r4_mem_free(a);
  r4_mem_free(c);
  r4_mem_free(d);
}

/* The error says what for and how much; without an error, or with a product that no machine has, there is no crash. */
static void test_sentences(void **state)
{
  (void)state;
  r4_error e = {0};
  size_t room = 0;
  int *list = NULL;
  r4_mem_fail_at(1);
  assert_null(mem_new(3, 8, "the masks", &e));
  assert_int_equal(e.status, R4_E_MEMORY);
  assert_string_equal(e.text, "out of memory for the masks (24 bytes)");
  r4_mem_fail_at(1);
  assert_null(mem_new_aligned(3, 8, "the rows", &e));
  assert_string_equal(e.text, "out of memory for the rows (24 bytes)");
  r4_mem_fail_at(1);
  assert_null(mem_copy("word", &e));
  assert_string_equal(e.text, "out of memory for word (5 bytes)");
  r4_mem_fail_at(1);
  assert_int_equal(mem_more(&list, &room, 1, sizeof *list, "a list", &e), R4_E_MEMORY);
  assert_true(!list && !room);
  r4_mem_fail_at(0);
  assert_null(mem_new(SIZE_MAX / 2, 8, "too much", NULL));
  assert_null(mem_new_aligned(SIZE_MAX / 8 + 2, 8, "too much", &e));
  assert_non_null(strstr(e.text, "too much (2305843009213693953 times 8 bytes)"));
}

/* A list that grows: what is in it stays, and it grows seldom. */
static void test_list(void **state)
{
  (void)state;
  size_t room = 0;
  int *list = NULL;
  r4_mem_fail_at(0);
  for (int k = 0; k < 1000; k++) {
    assert_int_equal(mem_more(&list, &room, (size_t)k + 1, sizeof *list, "a list", NULL), R4_OK);
    assert_true(room > (size_t)k);
    list[k] = k;
  }
  for (int k = 0; k < 1000; k++) assert_int_equal(list[k], k);
  assert_true(r4_mem_count() < 10);
  r4_mem_fail_at(1);
  assert_int_equal(mem_more(&list, &room, room + 1, sizeof *list, "a list", NULL), R4_E_MEMORY);
  assert_int_equal(list[999], 999);
  r4_mem_fail_at(0);
  char *copy = mem_copy("as it is", NULL);
  assert_string_equal(copy, "as it is");
  r4_mem_free(copy);
  r4_mem_free(list);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_injection), cmocka_unit_test(test_dense),       cmocka_unit_test(test_conv),
    cmocka_unit_test(test_methods),   cmocka_unit_test(test_little_kept), cmocka_unit_test(test_sentences),
    cmocka_unit_test(test_list),
  };
  r4_threads(1, false); /* small plans: others would only wait */
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
