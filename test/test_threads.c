/* Plans compute the same bits as a plan made for as many threads as there really are, whatever was asked for: fewer or
 * more than at compile time, inside of a parallel region, on other threads, after fork. */
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "exec/kernel/kernel.h"

enum { OUTPUTS = 5, OWN = 2, THREADS = 2 };

/* A conv net, its loss, and the gradient of a penalty on the input gradient: all kinds of kernels. */
static r4_graph *build(r4_id out[OUTPUTS])
{
  r4_graph *g = r4_graph_new();
  const int64_t two[2] = {2, 2};
  r4_id x = r4_input(g, "x", R4_SHAPE(24, 12, 12, 16)), w1 = r4_input(g, "w1", R4_SHAPE(32, 3, 3, 16));
  r4_id w2 = r4_input(g, "w2", R4_SHAPE(64, 1152)), w3 = r4_input(g, "w3", R4_SHAPE(10, 64)),
        in[] = {x, w1, w2, w3};
  r4_id h = r4_relu(g, r4_conv2d(g, x, w1, r4_window_of(1, 1)));
  h = r4_add(g, r4_pool_max(g, h, two, r4_window_of(2, 0)), r4_pool_mean(g, h, two, r4_window_of(2, 0)));
  h = r4_relu(g, r4_matmul(g, r4_reshape(g, h, R4_SHAPE(24, 1152)), w2, false, true));
  out[0] = r4_mean(g, r4_logsumexp(g, r4_matmul(g, h, w3, false, true)), R4_ALL);
  r4_id dx;
  r4_grad(g, out[0], 1, &x, &dx);
  r4_id loss = r4_add(g, out[0], r4_sum(g, r4_square(g, dx), R4_ALL));
  r4_grad(g, loss, OUTPUTS - 1, in, out + 1);
  return g;
}

static struct runner *open_plan(void)
{
  r4_id out[OUTPUTS];
  r4_graph *g = build(out);
  struct runner *r = runner_new(g, OUTPUTS, out, FAST32);
  draw_start(1, 0);
  for (size_t k = 0; k < r->n_in; k++) {
    float *to = r->in_raw[k];
    for (size_t i = 0; i < r->in_count[k]; i++) to[i] = (float)draw(-1, 1);
  }
  r4_graph_free(g);
  return r;
}

/* ---- What is expected: by kind of kernel and number of threads ---- */

static float *wanted[OWN][THREADS + 1][OUTPUTS];

static void keep(struct runner *r, float **to)
{
  for (size_t k = 0; k < OUTPUTS; k++) {
    to[k] = malloc(r->out_count[k] * sizeof *to[k]);
    memcpy(to[k], r->out_raw[k], r->out_count[k] * sizeof *to[k]);
  }
}

static int make_wanted(void **state)
{
  (void)state;
  for (int own = 0; own < OWN; own++)
    for (int threads = 1; threads <= THREADS; threads++) {
      kernel_prefer_own(own);
      r4_threads(threads, false);
      struct runner *r = open_plan();
      if (r4_plan_run(r->plan, NULL)) return -1;
      keep(r, wanted[own][threads]);
      runner_free(r);
    }
  return 0;
}

static int free_wanted(void **state)
{
  (void)state;
  for (int own = 0; own < OWN; own++)
    for (int threads = 1; threads <= THREADS; threads++)
      for (int k = 0; k < OUTPUTS; k++) free(wanted[own][threads][k]);
  return 0;
}

/* The output that has other bits than expected, or -1. */
static int differs(const struct runner *r, int own, int threads)
{
  for (int k = 0; k < OUTPUTS; k++)
    if (memcmp(r->out_raw[k], wanted[own][threads][k], r->out_count[k] * sizeof(float))) return k;
  return -1;
}

static void forget(struct runner *r)
{
  for (int k = 0; k < OUTPUTS; k++) memset(r->out_raw[k], 0xff, r->out_count[k] * sizeof(float));
}

static void expect_run(struct runner *r, int own, int threads, const char *what)
{
  r4_error e = {0};
  forget(r);
  if (r4_plan_run(r->plan, &e)) fail_msg("%s: %s", what, e.text);
  int k = differs(r, own, threads);
  if (k >= 0)
    fail_msg("%s, %s: output %d is not that of %d threads", what, own ? "own" : "oneDNN", k, threads);
}

/* With plans made for one and for two threads, of both kinds of kernels. */
static void for_all_plans(void (*check)(struct runner *r, int own))
{
  if (r4_cpus() < THREADS) check_skip("one CPU");
  for (int own = 0; own < OWN; own++)
    for (int made_for = 1; made_for <= THREADS; made_for++) {
      kernel_prefer_own(own);
      r4_threads(made_for, false);
      struct runner *r = open_plan();
      r4_threads(THREADS, false);
      check(r, own);
      runner_free(r);
    }
  kernel_prefer_own(-1);
}

/* ---- Cases ---- */

static void two_one_two(struct runner *r, int own)
{
  expect_run(r, own, 2, "two threads");
  assert_int_equal(r4_threads(1, false), 1);
  expect_run(r, own, 1, "then one");
  assert_int_equal(r4_threads(2, false), 2);
  expect_run(r, own, 2, "then two again");
}

static void test_other_number(void **state)
{
  (void)state;
  for_all_plans(two_one_two);
}

/* Plans share nothing, so each thread of a region may have its own. */
static void in_region(struct runner *r, int own)
{
  struct runner *other = open_plan();
  int wrong[2] = {-1, -1}, threads[2] = {0, 0}, max_before = omp_get_max_threads();
  forget(r);
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    struct runner *mine = me ? other : r;
    threads[me] = r4_threads(0, false);
    wrong[me] = r4_plan_run(mine->plan, NULL) ? OUTPUTS : differs(mine, own, 1);
  }
  assert_int_equal(threads[0], 1);
  assert_int_equal(wrong[0], -1);
  assert_int_equal(wrong[1], -1);
  assert_int_equal(omp_get_max_threads(), max_before);
  expect_run(r, own, 2, "after the region");
  runner_free(other);
}

static void test_nested(void **state)
{
  (void)state;
  for_all_plans(in_region);
  omp_set_max_active_levels(2); /* oneDNN stays alone in a region, so do our kernels */
  for_all_plans(in_region);
  omp_set_max_active_levels(1);
}

/* Regions of the program have the threads that it has chosen, not ours. */
static void leaves_the_number(struct runner *r, int own)
{
  int before = omp_get_max_threads();
  omp_set_num_threads(3);
  expect_run(r, own, 2, "with 3 of the program's");
  assert_int_equal(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

static void test_number_is_left(void **state)
{
  (void)state;
  for_all_plans(leaves_the_number);
}

static void in_dynamic(struct runner *r, int own)
{
  omp_set_dynamic(1);
  expect_run(r, own, 2, "dynamic");
  assert_true(omp_get_dynamic());
  omp_set_dynamic(0);
}

static void without_levels(struct runner *r, int own)
{
  omp_set_max_active_levels(0);
  expect_run(r, own, 1, "no active levels");
  assert_int_equal(r4_threads(2, false), 1);
  assert_string_equal(r4_threads_why(), "OMP_MAX_ACTIVE_LEVELS is 0");
  omp_set_max_active_levels(1);
  assert_int_equal(r4_threads(2, false), 2);
  assert_null(r4_threads_why());
  expect_run(r, own, 2, "active levels again");
}

static void test_openmp_settings(void **state)
{
  (void)state;
  for_all_plans(in_dynamic);
  for_all_plans(without_levels);
}

static void *run_plan(void *runner)
{
  struct runner *r = runner;
  return r4_plan_run(r->plan, NULL) ? runner : NULL;
}

/* The number of threads holds in all threads of the program, and settings of OpenMP are those of a thread. */
static void on_other_thread(struct runner *r, int own)
{
  pthread_t thread;
  void *failed;
  for (int threads = 1; threads <= THREADS; threads++) {
    r4_threads(threads, false);
    forget(r);
    assert_int_equal(pthread_create(&thread, NULL, run_plan, r), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_int_equal(differs(r, own, threads), -1);
  }
}

static void side_by_side(struct runner *r, int own)
{
  pthread_t thread[2];
  struct runner *both[2] = {r, open_plan()};
  void *failed;
  for (int k = 0; k < 2; k++) forget(both[k]);
  for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&thread[k], NULL, run_plan, both[k]), 0);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(pthread_join(thread[k], &failed), 0);
    assert_null(failed);
    assert_int_equal(differs(both[k], own, 2), -1);
  }
  runner_free(both[1]);
}

static void test_other_threads(void **state)
{
  (void)state;
  for_all_plans(on_other_thread);
  for_all_plans(side_by_side);
}

/* The threads stay in the parent: libgomp would wait for them for ever. */
static void in_child(struct runner *r, int own)
{
  enum { SECONDS = 60 };
  int status = 0;
  expect_run(r, own, 2, "before the fork");
  pid_t child = fork();
  if (!child) {
    alarm(SECONDS);
    bool ok =
      r4_threads(0, false) == 1 && r4_threads_why() && !r4_plan_run(r->plan, NULL) && differs(r, own, 1) < 0;
    _exit(ok ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  expect_run(r, own, 2, "in the parent, after the fork");
}

static void test_fork(void **state)
{
  (void)state;
  for_all_plans(in_child);
}

/* A plan whose kernels could not be made anew says so, and does it when there is memory. */
static void out_of_memory(struct runner *r, int own)
{
  r4_error e = {0};
  expect_run(r, own, 2, "with memory");
  r4_threads(1, false);
  long n = 1;
  for (;; n++) {
    r4_mem_fail_at(n);
    r4_status s = r4_plan_run(r->plan, &e);
    r4_mem_fail_at(0);
    if (!s) break;
    assert_int_equal(s, R4_E_MEMORY);
    assert_true(strlen(e.text) > 0);
    if (n % 3) continue;
    r4_threads(2, false);
    expect_run(r, own, 2, "back to where there were kernels");
    r4_threads(1, false);
  }
  assert_true(n > 1);
  assert_int_equal(differs(r, own, 1), -1);
  r4_mem_fail_at(0);
  expect_run(r, own, 1, "once more");
  assert_int_equal(r4_mem_count(), 0); /* the same team: nothing is allocated */
}

static void test_memory(void **state)
{
  (void)state;
  for_all_plans(out_of_memory);
}

static void test_asking(void **state)
{
  (void)state;
  int cpus = r4_cpus();
  assert_true(cpus >= 1);
  assert_int_equal(r4_threads(cpus, false), cpus);
  assert_null(r4_threads_why());
  assert_int_equal(r4_threads(0, false), cpus);
  assert_int_equal(r4_threads(cpus + 1, false), cpus);
  assert_string_equal(r4_threads_why(), "the process may use no more CPUs");
  assert_int_equal(r4_threads(0, false), cpus);
  assert_int_equal(r4_threads(1, false), 1);
  assert_null(r4_threads_why());
  assert_int_equal(r4_threads(0, false), 1);
}

/* Rows of embeddings and their gradients: many rows fall on one, and are added in the same order by any team. */
static void test_rows(void **state)
{
  (void)state;
  enum { ROWS = 300, WIDTH = 100, TABLE = 40 };
  static float x[ROWS * WIDTH], index[ROWS], sum[THREADS + 1][TABLE * WIDTH];
  r4_error e;
  r4_graph *g = r4_graph_new();
  r4_id at = r4_input(g, "index", R4_SHAPE(ROWS)), rows = r4_input(g, "x", R4_SHAPE(ROWS, WIDTH));
  r4_id y = r4_scatter_add(g, rows, at, 0, TABLE);
  r4_random_fill((r4_random){3, 0, 0}, ROWS * WIDTH, -1, 1, x);
  for (int k = 0; k < ROWS; k++) index[k] = (float)(k * k % TABLE);
  for (int threads = 1; threads <= THREADS; threads++) {
    r4_threads(threads, false);
    r4_plan *p = r4_plan_new(g, 1, &y, NULL, &e);
    assert_non_null(p);
    assert_int_equal(r4_plan_input(p, "x", x, &e), R4_OK);
    assert_int_equal(r4_plan_input(p, "index", index, &e), R4_OK);
    assert_int_equal(r4_plan_output(p, 0, sum[threads], &e), R4_OK);
    assert_int_equal(r4_plan_run(p, &e), R4_OK);
    r4_plan_free(p);
  }
  assert_memory_equal(sum[1], sum[2], sizeof sum[1]);
  for (int k = 0; k < ROWS; k++) sum[1][(k * k % TABLE) * WIDTH + 70] -= x[k * WIDTH + 70];
  for (int k = 0; k < TABLE; k++)
    assert_true(sum[1][k * WIDTH + 70] < 1e-4f && sum[1][k * WIDTH + 70] > -1e-4f);
  r4_graph_free(g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_other_number),
    cmocka_unit_test(test_nested),
    cmocka_unit_test(test_number_is_left),
    cmocka_unit_test(test_openmp_settings),
    cmocka_unit_test(test_other_threads),
    cmocka_unit_test(test_fork),
    cmocka_unit_test(test_memory),
    cmocka_unit_test(test_asking),
    cmocka_unit_test(test_rows),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("threads", tests, make_wanted, free_wanted);
}
