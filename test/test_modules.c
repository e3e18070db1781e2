/* The table of modules is the test: each sample of each kind passes through shapes, values by hand, plans, differences,
 * bounds, the printer and files. At the end of the table stands a kind that this file adds, and no other file knows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/reader.h"
#include "net_case.h"
#include "scratch.h"

enum { BATCH = 2, PARAMS = 24, POINTS = 8 };

/* ---- A kind of this file's own: y = gate * branch(x) / (1 + leak) + x, with a gate for each feature ---- */

enum { TIMES, SOFT, LEAK, KEEP };
enum { GATE, COUNT };

static r4_status gated_shape(struct module *m, struct maker *maker, r4_error *why)
{
  const struct row *row = &m->branch[0];
  m->out = row->part[row->n - 1].out;
  if (!r4_shape_equal(m->in, m->out)) return r4_fail(why, R4_E_SHAPE, "changes the shape of what it gates");
  r4_shape features = R4_SHAPE(m->in.dim[m->in.rank - 1]);
  struct param_wish count = param_wish("count", R4_SHAPE(1), 1, INIT_ZERO);
  count.buffer = true;
  r4_status s = module_param(m, maker, param_wish("gate", features, 1, INIT_ONE), why);
  return s ? s : module_param(m, maker, count, why);
}

static r4_id gated(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  r4_id y = x, gate = r4_add(g, module_param_node(m, w, GATE), module_param_node(m, w, COUNT));
  for (int64_t k = 0; k < module_whole(m, TIMES); k++) y = row_apply(&m->branch[0], w, y);
  y = r4_scale(g, r4_mul(g, y, gate), (double)module_whole(m, SOFT) / (1 + m->value[LEAK]));
  return module_flag(m, KEEP) ? r4_add(g, y, x) : y;
}

static const struct module_kind module_gated = {
  .name = "gated",
  .usage = "gated N [tT] [leak L] [keep] (PARTS)",
  .about = "the parts N times, T times as large, with a gate for each feature",
  .least_branches = 1,
  .most_branches = 1,
  .shape = gated_shape,
  .apply = gated,
  ARGUMENTS({"N", ARGUMENT_WHOLE, 0, 1}, {"t", ARGUMENT_LETTER, 1, 1}, {"leak", ARGUMENT_REAL, 1, 0},
            {"keep", ARGUMENT_FLAG, 0, 0}),
  MODULE_SAMPLES(
    {.text = "gated 1 t3 leak 0.5 keep(dense 2 nobias)",
     .in = {1, {2}},
     .out = {1, {2}},
     .x = (const double[]){1, 2},
     .w = (const double[]){1, 1, 0, 2, 3, 0, 1},
     .y = (const double[]){3 * 4 * 2 + 1, 4 * 1 * 2 + 2}},
    {.text = "gated 2(inner: dense 3, relu)", .in = {1, {3}}, .out = {1, {3}}},
    {.text = "own: gated 2 keep(inner: dense 3, dense 3)", .in = {1, {3}}, .out = {1, {3}}},
    {.text = "own: gated 1(residual(inner: dense 3))", .in = {1, {3}}, .out = {1, {3}}},
    {.text = "gated 1(gated 2 keep(conv 2 3 p1), relu)", .in = {3, {4, 3, 2}}, .out = {3, {4, 3, 2}}})};

/* ---- A sample as a graph ---- */

struct part_case {
  const struct module_kind *kind;
  const struct module_sample *sample;
  char what[160];
  struct maker maker;
  struct row row;
};

struct built {
  r4_graph *g;
  r4_id x, param[PARAMS], y, sum; /* sum: of y, weighted by the input "u" */
};

static void part_open(struct part_case *c)
{
  struct reader r;
  r4_error e;
  c->row = (struct row){0};
  c->maker = (struct maker){0};
  reader_open(&r, NULL, c->sample->text, strlen(c->sample->text));
  if (build_row(&r, &c->maker, c->sample->in, &c->row, &e)) fail_msg("%s: %s", c->what, e.text);
  assert_true(c->maker.params <= PARAMS);
}

static void part_close(struct part_case *c)
{
  row_free(&c->row);
  free(c->maker.param);
}

static r4_shape batch_of(int64_t n, r4_shape one)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {n}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return s;
}

static void check_status(const struct part_case *c, const r4_graph *g)
{
  const char *message;
  if (r4_graph_status(g, &message)) fail_msg("%s: %s", c->what, message);
}

static struct built part_build(const struct part_case *c, int64_t batch)
{
  static const struct net_use as_it_is = {0};
  struct built b = {.g = r4_graph_new()};
  for (size_t k = 0; k < c->maker.params; k++)
    b.param[k] = r4_input(b.g, c->maker.param[k].name, c->maker.param[k].shape);
  b.x = r4_input(b.g, "x", batch_of(batch, c->sample->in));
  const struct wiring w = {.g = b.g, .param = b.param, .use = &as_it_is, .from = b.x};
  b.y = row_apply(&c->row, &w, b.x);
  check_status(c, b.g);
  if (!r4_shape_equal(r4_node_shape(b.g, b.y), batch_of(batch, c->sample->out)))
    fail_msg("%s: gives another shape than the sample says", c->what);
  b.sum = r4_sum(b.g, r4_mul(b.g, b.y, r4_input(b.g, "u", r4_node_shape(b.g, b.y))), R4_ALL);
  return b;
}

/* Ids of tokens, or numbers around 0, with u and all parameters. */
static void part_fill(const struct part_case *c, struct runner *r)
{
  for (size_t k = 0; k < r->n_in; k++) {
    bool ids = c->sample->tokens && !strcmp(r->name[k], "x");
    for (size_t i = 0; i < r->in_count[k]; i++)
      r->in[k][i] = ids ? (double)draw_below((uint64_t)c->sample->tokens) : draw(-1.5, 1.5);
  }
  for (size_t k = 0; k < c->maker.params; k++)
    draw_param(&c->maker.param[k], runner_input(r, c->maker.param[k].name));
}

static void each_case(void (*f)(const struct part_case *c))
{
  const struct module_kind *kind;
  for (size_t k = 0; (kind = module_kind(k)); k++) {
    if (!kind->sample_count) fail_msg("%s has no sample", kind->name);
    for (size_t i = 0; i < kind->sample_count; i++) {
      struct part_case c = {.kind = kind, .sample = &kind->samples[i]};
      snprintf(c.what, sizeof c.what, "%s, sample %zu, \"%.80s\"", kind->name, i, c.sample->text);
      check_now = c.what;
      draw_start(4000 + (uint32_t)k, (uint32_t)i);
      part_open(&c);
      f(&c);
      part_close(&c);
      check_now = "";
    }
  }
}

/* ---- What holds for each ---- */

static void check_shape(const struct part_case *c)
{
  const struct module *m = &c->row.part[c->row.n - 1];
  assert_int_equal(c->row.n, 1);
  assert_ptr_equal(m->kind, c->kind);
  assert_true(r4_shape_equal(m->out, c->sample->out));
  assert_true(c->kind->usage && !strncmp(c->kind->usage, c->kind->name, strlen(c->kind->name)));
  assert_true(c->kind->about && *c->kind->about);
}

static void test_shapes(void **state)
{
  (void)state;
  each_case(check_shape);
}

static size_t by_hand;

static void check_values(const struct part_case *c)
{
  if (!c->sample->y) return;
  struct built b = part_build(c, 1);
  struct runner *r = runner_new(b.g, 1, &b.y, REFERENCE);
  const double *w = c->sample->w;
  memcpy(runner_input(r, "x"), c->sample->x, (size_t)r4_shape_count(c->sample->in) * sizeof(double));
  if (c->maker.params) assert_non_null(w);
  for (size_t k = 0; k < c->maker.params; k++) {
    const struct param *p = &c->maker.param[k];
    memcpy(runner_input(r, p->name), w + p->offset, (size_t)r4_shape_count(p->shape) * sizeof *w);
  }
  runner_run(r);
  assert_close(c->what, r->out[0], c->sample->y, r->out_count[0], 1e-14, 1);
  assert_plans_agree(b.g, 1, &b.y, r);
  by_hand++;
  runner_free(r);
  r4_graph_free(b.g);
}

/* Each kind has values by hand. */
static void test_values(void **state)
{
  (void)state;
  by_hand = 0;
  each_case(check_values);
  assert_true(by_hand >= r4_module_count());
}

/* The value, its weighted sum, and the derivative of that with respect to x, unless x are ids, and all parameters. */
static size_t slopes(const struct part_case *c, struct built *b, r4_id *with_respect_to, r4_id *out)
{
  size_t n = 0;
  if (!c->sample->tokens) with_respect_to[n++] = b->x;
  for (size_t k = 0; k < c->maker.params; k++) with_respect_to[n++] = b->param[k];
  out[0] = b->y;
  out[1] = b->sum;
  if (n) r4_grad(b->g, b->sum, n, with_respect_to, out + 2);
  check_status(c, b->g);
  return n;
}

static void check_slope(const struct part_case *c, struct runner *r, const char *name, const double *slope)
{
  double *x = runner_input(r, name), h = 1e-5;
  for (size_t k = 0; k < r->n_in; k++) {
    if (r->in[k] != x) continue;
    for (size_t i = 0; i < r->in_count[k]; i++) {
      double end[2], here = x[i];
      for (int side = 0; side < 2; side++) {
        x[i] = here + (side ? h : -h);
        runner_run(r);
        end[side] = r->out[0][0];
      }
      x[i] = here;
      double want = (end[1] - end[0]) / (2 * h);
      if (!(fabs(want - slope[i]) <= 1e-7 * (1 + fabs(want))))
        fail_msg("%s: derivative with respect to %s[%zu] is %.12g, by differences %.12g", c->what, name, i,
                 slope[i], want);
    }
  }
}

static void check_plans(const struct part_case *c)
{
  struct built b = part_build(c, BATCH);
  r4_id of[PARAMS + 1], out[PARAMS + 3];
  size_t n = slopes(c, &b, of, out);
  struct runner *all = runner_new(b.g, n + 2, out, REFERENCE), *sum = runner_new(b.g, 1, &b.sum, REFERENCE);
  part_fill(c, all);
  runner_copy_inputs(sum, all);
  runner_run(all);
  assert_plans_agree(b.g, n + 2, out, all);
  for (size_t k = 0; k < n; k++) check_slope(c, sum, graph_name(b.g, of[k]), all->out[k + 2]);
  runner_free(all);
  runner_free(sum);
  r4_graph_free(b.g);
}

static void test_plans(void **state)
{
  (void)state;
  each_case(check_plans);
}

/* y and d(sum)/dx at random points and corners of a box, half the time as ends and else as a ball. */
static void check_bounds(const struct part_case *c)
{
  if (c->sample->tokens) {
    print_message("# %s: no bounds, for ids of tokens have no box\n", c->what);
    return;
  }
  struct built b = part_build(c, BATCH);
  r4_id slope, radius = r4_input(b.g, "radius", r4_node_shape(b.g, b.x));
  r4_grad(b.g, b.sum, 1, &b.x, &slope);
  r4_box box = r4_box_around(b.x, b.x, radius);
  r4_pair y = r4_bound(b.g, b.y, 1, &box), dx = r4_bound(b.g, slope, 1, &box);
  check_status(c, b.g);
  struct runner *bounds = runner_new(b.g, 4, (r4_id[]){y.lo, y.hi, dx.lo, dx.hi}, REFERENCE);
  struct runner *at = runner_new(b.g, 2, (r4_id[]){b.y, slope}, REFERENCE);
  part_fill(c, bounds);
  double *x = runner_input(bounds, "x"), *r = runner_input(bounds, "radius"), *to = runner_input(at, "x");
  size_t count = at->out_count[1];
  for (size_t i = 0; i < count; i++) r[i] = draw(0, 0.2);
  runner_run(bounds);
  runner_copy_inputs(at, bounds);
  for (int point = 0; point < POINTS; point++) {
    for (size_t i = 0; i < count; i++)
      to[i] = x[i] + r[i] * (point % 2 ? draw(-1, 1) : 2 * (double)draw_below(2) - 1);
    runner_run(at);
    assert_inside(c->what, bounds->out[0], at->out[0], bounds->out[1], at->out_count[0], 1e-12);
    assert_inside(c->what, bounds->out[2], at->out[1], bounds->out[3], count, 1e-12);
  }
  runner_free(bounds);
  runner_free(at);
  r4_graph_free(b.g);
}

static void test_bounds(void **state)
{
  (void)state;
  each_case(check_bounds);
}

/* As a net of its own: tokens come from a table, and what is not a vector is flattened. */
static void check_texts(const struct part_case *c)
{
  char text[400], before[40] = "";
  r4_shape in = c->sample->in;
  if (in.rank == 2) {
    snprintf(before, sizeof before, "table: embedding 5 %lld, ", (long long)in.dim[1]);
    in = R4_SHAPE(in.dim[0]);
  }
  snprintf(text, sizeof text, "%s%s%s, last: dense 2", before, c->sample->text,
           c->sample->out.rank == 1 ? "" : ", flatten");
  r4_net *n = net_of(text, in);
  assert_reads_back(n);
  assert_saves(n);
  r4_net_free(n);
  snprintf(text, sizeof text, "%s(deep: (%s))%s", before, c->sample->text,
           c->sample->out.rank == 1 ? "" : ", flatten");
  n = net_of(text, in);
  assert_reads_back(n);
  assert_saves(n);
  r4_net_free(n);
}

static void test_texts(void **state)
{
  (void)state;
  each_case(check_texts);
}

/* A kind that is there cannot be added again, nor another of its name. */
static void test_add(void **state)
{
  (void)state;
  static const struct module_kind other = {.name = "dense"};
  size_t n = r4_module_count();
  assert_false(module_kind_add(&module_gated));
  assert_false(module_kind_add(&other));
  assert_int_equal(r4_module_count(), n);
  assert_string_equal(r4_module_describe(n - 1).name, "gated");
  assert_null(r4_module_describe(n).name);
  r4_error e;
  assert_null(r4_net_open("dense 2, gated 1(dense 3)", R4_SHAPE(3), &e));
  assert_error(&e, R4_E_SHAPE, "layer 2 \"gated 1(dense 3)\": changes the shape of what it gates");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_plans),  cmocka_unit_test(test_bounds),
                                     cmocka_unit_test(test_texts),  cmocka_unit_test(test_add)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  if (!module_kind_add(&module_gated)) return 1;
  return cmocka_run_group_tests_name("modules", tests, scratch_make, scratch_remove);
}
