/* Random trees of modules: all kinds of plans agree, text and files give the same net again, and nothing crashes.
 * R4_SEED repeats a seed, R4_ROUNDS asks for more nets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net_case.h"
#include "random_tree.h"
#include "scratch.h"

enum { ROUNDS = 150, BATCH = 2, PARAMS = 256, FAIL_EACH = 30 };

struct question {
  struct random_tree tree;
  r4_net *net;
  r4_graph *g;
  r4_id x, param[PARAMS], out[4];
};

static r4_shape batch_of(r4_shape one)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {BATCH}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return s;
}

/* Logits, and of a loss the derivatives at the leaf and with respect to the first and the last parameter. */
static void ask(struct question *q)
{
  const char *message;
  q->g = r4_graph_new();
  r4_net_inputs(q->net, q->g, q->param);
  q->x = r4_input(q->g, "x", batch_of(q->tree.input));
  r4_id leaf = net_to_leaf(q->net, q->g, q->param, NULL, q->x);
  q->out[0] = net_from_leaf(q->net, q->g, q->param, NULL, leaf);
  r4_id loss = r4_mean(q->g, r4_square(q->g, q->out[0]), R4_ALL);
  r4_grad(q->g, loss, 3, (r4_id[]){leaf, q->param[0], q->param[q->net->params - 1]}, q->out + 1);
  if (r4_graph_status(q->g, &message)) fail_msg("%s: %s", q->tree.text, message);
  assert_graph(q->tree.text, q->g, 4, q->out);
}

static void fill(const struct question *q, struct runner *r)
{
  double *x = runner_input(r, "x");
  for (int64_t i = 0; i < r4_shape_count(batch_of(q->tree.input)); i++)
    x[i] = q->tree.tokens ? (double)draw_below((uint64_t)q->tree.tokens) : draw(-1, 1);
  for (size_t k = 0; k < q->net->params; k++) {
    double *to = runner_input(r, q->net->param[k].name);
    if (to) draw_param(&q->net->param[k], to);
  }
}

/* Whichever allocation fails: an error, or the same net. */
static void check_memory(const struct random_tree *t)
{
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_net *n = r4_net_open(t->text, t->input, &e);
    bool all = r4_mem_count() < k;
    r4_mem_fail_at(0);
    assert_int_equal(e.status, n ? R4_OK : R4_E_MEMORY);
    r4_net_free(n);
    if (all) break;
    assert_null(n);
  }
}

static void check_round(uint32_t round)
{
  struct question q = {0};
  draw_start(6000, round);
  random_tree_draw(&q.tree);
  check_now = q.tree.text;
  q.net = net_of(q.tree.text, q.tree.input);
  assert_reads_back(q.net);
  assert_saves(q.net);
  if (round % FAIL_EACH == 0) check_memory(&q.tree);
  if (q.net->params <= RUNNER_MAX - 2) {
    ask(&q);
    struct runner *want = runner_new(q.g, 4, q.out, REFERENCE);
    fill(&q, want);
    runner_run(want);
    assert_plans_agree(q.g, 4, q.out, want);
    runner_free(want);
    r4_graph_free(q.g);
  }
  r4_net_free(q.net);
  check_now = "";
}

static void test_trees(void **state)
{
  (void)state;
  long rounds = check_setting("R4_ROUNDS", ROUNDS);
  for (long k = 0; k < rounds; k++) check_round((uint32_t)k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_trees)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("trees of modules", tests, scratch_make, scratch_remove);
}
