/* Random networks, from a seed: the value, its gradient, bounds of both over a box, and the gradient of
 * the bounds. All kinds of plans agree, bounds hold, gradients are those of differences, and the same
 * run gives the same bits. R4_SEED repeats a seed, R4_ROUNDS asks for more networks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op.h"
#include "pass/simplify.h"
#include "random_net.h"

enum { ROUNDS = 100, OUTPUTS = RUNNER_MAX, LARGE_EACH = 10, POINTS = 6, INNER = 4 };

static struct {
  size_t compared, skipped, slopes, kinks;
} count;

/* ---- One network and all that is asked of it ---- */

struct question {
  struct random_net net;
  r4_id x[NET_PARAMS]; /* what is differentiated by: x and the parameters that are no indices */
  size_t n_x;
  r4_id out[OUTPUTS];
  size_t n;
  size_t value, slope, bounds, total, slope_of_total; /* places in out */
};

static size_t put(struct question *q, size_t n, const r4_id *x)
{
  size_t at = q->n;
  assert_true(at + n <= OUTPUTS);
  memcpy(q->out + at, x, n * sizeof *x);
  q->n += n;
  return at;
}

static void check_graph(const struct question *q, const char *after)
{
  r4_error e;
  if (graph_check(q->net.g, &e)) fail_msg("%s: after %s: %s", q->net.story, after, e.text);
}

/* Some of the nodes between, half of them products: what is asked for must not be taken along by others. */
static void put_inner(struct question *q)
{
  const r4_graph *g = q->net.g;
  for (int k = 0; k < INNER; k++) {
    uint32_t i = 1 + (uint32_t)draw_below(g->size), tries = 0;
    while (k % 2 && !g->node[i].op->flops && tries++ < g->size) i = i % g->size + 1;
    put(q, 1, &(r4_id){i});
  }
}

/* y, loss, gradient; bounds of y and of the gradient by x; their weighted sum and its gradient */
static void ask(struct question *q)
{
  r4_graph *g = q->net.g;
  r4_id slope[NET_PARAMS], total;
  q->x[q->n_x++] = q->net.x;
  for (size_t k = 0; k < q->net.params; k++)
    if (!q->net.below[k]) q->x[q->n_x++] = q->net.param[k];
  q->value = put(q, 2, (r4_id[]){q->net.loss, q->net.y});
  r4_grad(g, q->net.loss, q->n_x, q->x, slope);
  q->slope = put(q, q->n_x, slope);
  check_graph(q, "grad");
  r4_box box = r4_box_around(q->net.x, q->net.x, r4_input(g, "radius", r4_node_shape(g, q->net.x)));
  if (draw_below(2)) {
    r4_id lo = r4_sub(g, box.centre, box.radius), hi = r4_add(g, box.centre, box.radius);
    box = r4_box_between(q->net.x, lo, hi);
  }
  r4_pair y = r4_bound(g, q->net.y, 1, &box), dx = r4_bound(g, slope[0], 1, &box);
  q->bounds = put(q, 4, (r4_id[]){y.lo, y.hi, dx.lo, dx.hi});
  check_graph(q, "bound");
  total = r4_sub(g, r4_mean(g, r4_mul(g, y.hi, r4_input(g, "u", r4_node_shape(g, y.hi))), R4_ALL),
                 r4_mean(g, r4_mul(g, y.lo, r4_input(g, "v", r4_node_shape(g, y.lo))), R4_ALL));
  total = r4_add(g, total, r4_mean(g, r4_square(g, r4_max(g, r4_abs(g, dx.lo), r4_abs(g, dx.hi))), R4_ALL));
  q->total = put(q, 1, &total);
  r4_grad(g, total, q->n_x, q->x, slope);
  q->slope_of_total = put(q, q->n_x, slope);
  check_graph(q, "grad of bound");
  put_inner(q);
}

/* ---- Plans agree ---- */

/* What a change of the inputs in their last digits does to an output tells how well it is determined: at
 * a kink a derivative jumps. */
static void add_noise(const struct question *q, const struct runner *at, r4_plan_options options, double tiny,
                      double *noise)
{
  struct runner *near = runner_new(q->net.g, q->n, q->out, options);
  for (int round = 0; round < 2; round++) {
    runner_copy_inputs(near, at);
    for (size_t k = 0; k < near->n_in; k++)
      for (size_t i = 0; i < near->in_count[k] && strncmp(near->name[k], "index", 5); i++)
        near->in[k][i] += tiny * (round ? 1 : -1) * draw(.5, 1) * near->in[k][i];
    runner_run(near);
    for (size_t k = 0; k < q->n; k++)
      for (size_t i = 0; i < at->out_count[k]; i++)
        noise[k] = fmax(noise[k], fabs(near->out[k][i] - at->out[k][i]));
  }
  runner_free(near);
}

/* Sums that cancel lose digits: an output cannot be better than the last digits of the largest one of its kind. */
static double largest_of_kind(const struct question *q, const struct runner *want, size_t k)
{
  double largest = 0;
  for (size_t j = k < q->bounds ? 0 : q->bounds; j < (k < q->bounds ? q->bounds : q->n); j++)
    largest = fmax(largest, largest_abs(want->out[j], want->out_count[j]));
  return largest;
}

static void agree(const struct question *q, const struct runner *got, const struct runner *want,
                  const char *kind, double tolerance, const double *noise)
{
  for (size_t k = 0; k < q->n; k++) {
    char what[500];
    double size = largest_abs(want->out[k], want->out_count[k]);
    double digits = (got->type == R4_F64 ? 1e-14 : 1e-6) * largest_of_kind(q, want, k);
    bool determined = isfinite(size) && digits + noise[k] <= tolerance * (size + 1e-3);
    count.skipped += !determined;
    count.compared += determined;
    snprintf(what, sizeof what, "%s, %s, output %zu", q->net.story, kind, k);
    if (determined) assert_close(what, got->out[k], want->out[k], want->out_count[k], 2 * tolerance, 1e-3);
  }
}

/* The same bits: a plan run twice, and one and two threads where no kernel of oneDNN is used. */
static void same_bits(const struct question *q, const struct runner *a, const struct runner *b,
                      const char *kind)
{
  size_t size = a->type == R4_F64 ? sizeof(double) : sizeof(float);
  for (size_t k = 0; k < q->n; k++)
    if (memcmp(a->out_raw[k], b->out_raw[k], a->out_count[k] * size))
      fail_msg("%s: %s: output %zu has other bits", q->net.story, kind, k);
}

static bool uses_onednn(const struct runner *r)
{
  char *text = r4_plan_text(r->plan);
  assert_non_null(text);
  bool uses = strstr(text, "oneDNN") != NULL;
  r4_string_free(text);
  return uses;
}

static void check_fast(const struct question *q, const struct runner *want, r4_type type)
{
  bool wide = type == R4_F64;
  const char *kind = wide ? "fast double" : "fast float";
  double tolerance = wide ? 5e-10 : 1e-3, *noise = calloc(q->n, sizeof *noise);
  struct runner *run[2];
  for (int k = 0; k < 2; k++) {
    r4_threads(2 - k, false);
    run[k] = runner_new(q->net.g, q->n, q->out, (r4_plan_options){.type = type});
    runner_copy_inputs(run[k], want);
    runner_run(run[k]);
    if (k == 0) add_noise(q, want, REFERENCE, wide ? 1e-14 : 1e-6, noise);
    if (k == 0 && !wide) add_noise(q, run[0], FAST32, 1e-6, noise); /* what float does to sums that cancel */
    agree(q, run[k], want, kind, tolerance, noise);
    /* once more, and with every value computed again that can be, some of them where outputs will be */
    size_t place[OUTPUTS];
    draw_places(q->net.g, q->n, q->out, place);
    struct runner *again =
      runner_new(q->net.g, q->n, q->out, (r4_plan_options){.type = type, .keep_bytes = 1, .place = place});
    runner_copy_inputs(again, want);
    runner_run(again);
    runner_run(run[k]);
    same_bits(q, run[k], again, "run again");
    runner_free(again);
  }
  if (!uses_onednn(run[0])) same_bits(q, run[0], run[1], "one and two threads");
  assert_true(!wide || !uses_onednn(run[0]));
  r4_threads(2, false);
  runner_free(run[0]);
  runner_free(run[1]);
  free(noise);
}

/* The simplified graph, by plain loops. */
static void check_simplify(const struct question *q, const struct runner *want)
{
  r4_error e;
  r4_id out[OUTPUTS];
  r4_graph *g = simplify(q->net.g, q->n, q->out, out, &e);
  if (!g) fail_msg("%s: simplify: %s", q->net.story, e.text);
  assert_graph(q->net.story, g, q->n, out);
  double *noise = calloc(q->n, sizeof *noise);
  add_noise(q, want, REFERENCE, 1e-14, noise);
  struct runner *r = runner_new(g, q->n, out, REFERENCE);
  runner_copy_inputs(r, want);
  runner_run(r);
  agree(q, r, want, "simplified", 5e-10, noise);
  runner_free(r);
  free(noise);
  r4_graph_free(g);
}

/* ---- Bounds hold, gradients are those of differences ---- */

static void check_inside(const struct question *q, const struct runner *want, struct runner *moved)
{
  const double *x = runner_input((struct runner *)(uintptr_t)want, "x");
  double *to = runner_input(moved, "x"), *radius = runner_input(moved, "radius");
  size_t n = want->out_count[q->slope];
  for (int point = 0; point < POINTS; point++) {
    for (size_t i = 0; i < n; i++)
      to[i] = x[i] + radius[i] * (point % 2 ? draw(-1, 1) : 2 * (double)draw_below(2) - 1);
    runner_run(moved);
    const double *const *b = (const double *const *)want->out + q->bounds;
    assert_inside(q->net.story, b[0], moved->out[q->value + 1], b[1], want->out_count[q->value + 1], 1e-10);
    assert_inside(q->net.story, b[2], moved->out[q->slope], b[3], n, 1e-10);
  }
  memcpy(to, x, n * sizeof *x);
}

/* A box of radius 0 gives the value and its derivative. */
static void check_collapse(const struct question *q, const struct runner *want, struct runner *moved)
{
  size_t n[2] = {want->out_count[q->value + 1], want->out_count[q->slope]};
  memset(runner_input(moved, "radius"), 0, n[1] * sizeof(double));
  runner_run(moved);
  for (size_t k = 0; k < 4; k++)
    assert_close("box of radius 0", moved->out[q->bounds + k], want->out[k < 2 ? q->value + 1 : q->slope],
                 n[k / 2], 1e-9, 1e-3);
  runner_copy_inputs(moved, want);
}

/* The change of output "of" along a random direction of all inputs that are differentiated by. */
static void check_slope(const struct question *q, const struct runner *want, struct runner *moved, size_t of,
                        size_t slope)
{
  double sum = 0, size = 1, h = 1e-6, end[2], here = want->out[of][0];
  for (int side = 0; side < 2; side++) {
    draw_start(77, (uint32_t)of);
    for (size_t k = 0; k < q->n_x; k++) {
      const double *from = runner_input((struct runner *)(uintptr_t)want, graph_name(q->net.g, q->x[k]));
      double *x = runner_input(moved, graph_name(q->net.g, q->x[k]));
      for (size_t i = 0; i < want->out_count[slope + k]; i++) {
        double v = draw(-1, 1), d = want->out[slope + k][i] * v;
        x[i] = from[i] + (side ? h : -h) * v;
        sum += side ? d : 0;
        size += side ? fabs(d) : 0;
      }
    }
    runner_run(moved);
    end[side] = moved->out[of][0];
  }
  runner_copy_inputs(moved, want);
  if (!isfinite(sum) || !isfinite(end[0]) || !isfinite(end[1])) return;
  double left = (here - end[0]) / h, right = (end[1] - here) / h, both = (left + right) / 2;
  double allowed = 1e-5 * size + 1e-8 * fabs(here);
  bool off = !(fabs(both - sum) <= allowed), kink = off && fabs(right - left) > allowed;
  count.kinks += kink;
  count.slopes += !kink;
  if (off && !kink)
    fail_msg("%s: derivative of output %zu is %.12g, by differences %.12g", q->net.story, of, sum, both);
}

static void check_round(uint32_t round)
{
  struct question q = {.n = 0};
  draw_start(1000, round);
  random_net_draw(&q.net, round % LARGE_EACH == LARGE_EACH - 1);
  check_now = q.net.story;
  ask(&q);
  assert_graph(q.net.story, q.net.g, q.n, q.out);
  struct runner *want = runner_new(q.net.g, q.n, q.out, REFERENCE);
  struct runner *moved = runner_new(q.net.g, q.n, q.out, REFERENCE);
  random_net_fill(&q.net, want, round % 2 ? .03 : .003);
  runner_run(want);
  runner_copy_inputs(moved, want);
  check_inside(&q, want, moved);
  check_collapse(&q, want, moved);
  check_fast(&q, want, R4_F64);
  check_fast(&q, want, R4_F32);
  check_simplify(&q, want);
  if (!q.net.detached) {
    check_slope(&q, want, moved, q.value, q.slope);
    check_slope(&q, want, moved, q.total, q.slope_of_total);
  }
  runner_free(want);
  runner_free(moved);
  r4_graph_free(q.net.g);
  check_now = "";
}

static void test_random_nets(void **state)
{
  (void)state;
  long rounds = check_setting("R4_ROUNDS", ROUNDS);
  for (long k = 0; k < rounds; k++) check_round((uint32_t)k);
  print_message("# %zu outputs compared, %zu not determined; %zu slopes compared, %zu at kinks\n",
                count.compared, count.skipped, count.slopes, count.kinks);
  assert_true(4 * count.skipped <= count.compared && 4 * count.kinks <= count.slopes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_nets)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("random nets", tests, NULL, NULL);
}
