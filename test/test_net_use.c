/* How nets are used: statistics of the batch and dropout while a net learns, and padding of texts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net_case.h"
#include "scratch.h"

enum { PARAMS = 24 };

/* A net in a graph. */
struct used {
  r4_net *net;
  r4_graph *g;
  r4_id x, y, param[PARAMS], updated[PARAMS];
  size_t drawn;
  char draws[4][64];
};

static r4_id draw_input(void *user, const char *name, r4_shape shape)
{
  struct used *u = user;
  assert_true(u->drawn < 4);
  snprintf(u->draws[u->drawn++], sizeof u->draws[0], "%s", name);
  return r4_input(u->g, name, shape);
}

static r4_shape batch_of(int64_t n, r4_shape one)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {n}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return s;
}

static void use_net(struct used *u, const char *text, r4_shape input, int64_t batch, struct net_use use)
{
  u->net = net_of(text, input);
  u->g = r4_graph_new();
  assert_true(r4_net_params(u->net) <= PARAMS);
  r4_net_inputs(u->net, u->g, u->param);
  u->x = r4_input(u->g, "x", batch_of(batch, input));
  if (use.valid.i) use.valid = r4_input(u->g, "valid", R4_SHAPE(batch, input.dim[0]));
  use.user = u;
  u->y = net_from_leaf(u->net, u->g, u->param, &use, net_to_leaf(u->net, u->g, u->param, &use, u->x));
}

static void unuse(struct used *u)
{
  r4_graph_free(u->g);
  r4_net_free(u->net);
}

static void set(struct runner *r, const char *name, size_t n, const double *v)
{
  double *to = runner_input(r, name);
  assert_non_null(to);
  memcpy(to, v, n * sizeof *v);
}
#define SET(r, name, ...) \
  set(r, name, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})

/* ---- Batch norm ---- */

static const char norm[] = "batchnorm eps 1 momentum 0.25";

/* Channel 0 has mean 3 and variance 14/3, channel 1 is constant. */
static void set_batch(struct runner *r)
{
  SET(r, "x", 1, 5, 2, 5, 6, 5);
  SET(r, "0.weight", 2, 3);
  SET(r, "0.bias", 10, 20);
  SET(r, "0.running_mean", 1, 1);
  SET(r, "0.running_var", 4, 2);
}

static void test_batch_statistics(void **state)
{
  (void)state;
  struct used u = {0};
  use_net(&u, norm, R4_SHAPE(2), 3, (struct net_use){.learning = true, .updated = u.updated});
  assert_false(u.updated[0].i || u.updated[1].i);
  assert_true(u.updated[2].i && u.updated[3].i);
  r4_id out[] = {u.y, u.updated[2], u.updated[3]};
  struct runner *r = runner_new(u.g, 3, out, REFERENCE);
  set_batch(r);
  runner_run(r);
  double s = 2 / sqrt(14. / 3 + 1);
  assert_close("y", r->out[0], (double[]){10 - 2 * s, 20, 10 - s, 20, 10 + 3 * s, 20}, 6, 1e-14, 0);
  assert_close("mean", r->out[1], (double[]){1.5, 2}, 2, 1e-15, 0);
  assert_close("var", r->out[2], (double[]){0.75 * 4 + 0.25 * 14. / 3 * 3 / 2, 1.5}, 2, 1e-15, 0);
  assert_plans_agree(u.g, 3, out, r);
  runner_free(r);
  unuse(&u);
}

/* An image counts all pixels: n = batch x height x width. */
static void test_batch_of_pixels(void **state)
{
  (void)state;
  struct used u = {0};
  use_net(&u, "batchnorm, flatten", R4_SHAPE(2, 1, 1), 2,
          (struct net_use){.learning = true, .updated = u.updated});
  struct runner *r = runner_new(u.g, 3, (r4_id[]){u.y, u.updated[2], u.updated[3]}, REFERENCE);
  SET(r, "x", 0, 2, 4, 6);
  SET(r, "0.weight", 1);
  SET(r, "0.running_var", 1);
  runner_run(r);
  double s = sqrt(5 + 1e-5);
  assert_close("y", r->out[0], (double[]){-3 / s, -1 / s, 1 / s, 3 / s}, 4, 1e-14, 0);
  assert_close("mean", r->out[1], (double[]){0.3}, 1, 1e-15, 0);
  assert_close("var", r->out[2], (double[]){0.9 + 0.1 * 20 / 3}, 1, 1e-15, 0);
  runner_free(r);
  unuse(&u);
}

/* Output k of r is the derivative of the first output of "moved", which has the same inputs, with respect to one of
 * them. */
static void check_derivative(const struct runner *r, size_t k, struct runner *moved, const char *input)
{
  double *x = runner_input(moved, input), h = 1e-5;
  for (size_t i = 0; i < r->out_count[k]; i++) {
    double end[2], here = x[i];
    for (int side = 0; side < 2; side++) {
      x[i] = here + (side ? h : -h);
      runner_run(moved);
      end[side] = moved->out[0][0];
    }
    x[i] = here;
    double want = (end[1] - end[0]) / (2 * h);
    assert_close(input, &r->out[k][i], &want, 1, 1e-7, 1);
  }
}

/* sum_i u_i y_i, whose derivative with respect to x sees that the mean and the variance move as well. */
static void test_batch_gradient(void **state)
{
  (void)state;
  struct used u = {0};
  use_net(&u, norm, R4_SHAPE(2), 3, (struct net_use){.learning = true, .updated = u.updated});
  r4_id of[] = {u.x, u.param[0], u.param[1], u.param[2], u.param[3]}, out[6];
  out[0] = r4_sum(u.g, r4_mul(u.g, u.y, r4_input(u.g, "u", R4_SHAPE(3, 2))), R4_ALL);
  r4_grad(u.g, out[0], 5, of, out + 1);
  struct runner *r = runner_new(u.g, 6, out, REFERENCE), *moved = runner_new(u.g, 1, out, REFERENCE);
  set_batch(r);
  SET(r, "u", 1, -2, 0.5, 3, -1, 1);
  runner_run(r);
  runner_copy_inputs(moved, r);
  for (size_t k = 0; k < 5; k++) check_derivative(r, k + 1, moved, graph_name(u.g, of[k]));
  runner_free(r);
  runner_free(moved);
  unuse(&u);
}

/* The second derivative sees it, too: that of sum_i u_i (d sum_j u_j y_j^2 / dx_i)^2. Without these u_i it would not:
 * the derivatives of a channel add up to 0. */
static void test_batch_second_derivative(void **state)
{
  (void)state;
  struct used u = {0};
  use_net(&u, norm, R4_SHAPE(2), 3, (struct net_use){.learning = true, .updated = u.updated});
  r4_id weights = r4_input(u.g, "u", R4_SHAPE(3, 2)), dx, out[2];
  r4_grad(u.g, r4_sum(u.g, r4_mul(u.g, r4_square(u.g, u.y), weights), R4_ALL), 1, &u.x, &dx);
  out[0] = r4_sum(u.g, r4_mul(u.g, r4_square(u.g, dx), weights), R4_ALL);
  r4_grad(u.g, out[0], 1, &u.x, out + 1);
  struct runner *r = runner_new(u.g, 2, out, REFERENCE), *moved = runner_new(u.g, 1, out, REFERENCE);
  set_batch(r);
  SET(r, "x", 1, 5, 2, 4.5, 6, 5.25);
  SET(r, "0.bias", 0.5, -0.25);
  SET(r, "u", 1, -2, 0.5, 3, -1, 1);
  runner_run(r);
  runner_copy_inputs(moved, r);
  check_derivative(r, 1, moved, "x");
  runner_free(moved);
  runner_free(r);
  unuse(&u);
}

/* Frozen statistics, and a net that does not learn: the running ones, and nothing follows. */
static void test_running_statistics(void **state)
{
  (void)state;
  for (int learning = 0; learning < 2; learning++) {
    struct used u = {0};
    use_net(&u, norm, R4_SHAPE(2), 3,
            (struct net_use){.learning = learning, .frozen_statistics = learning, .updated = u.updated});
    for (size_t k = 0; k < PARAMS; k++) assert_false(u.updated[k].i);
    struct runner *r = runner_new(u.g, 1, &u.y, REFERENCE);
    set_batch(r);
    runner_run(r);
    double s = 2 / sqrt(5), t = 3 / sqrt(3);
    double want[] = {10, 20 + 4 * t, 10 + s, 20 + 4 * t, 10 + 5 * s, 20 + 4 * t};
    assert_close("y", r->out[0], want, 6, 1e-14, 0);
    runner_free(r);
    unuse(&u);
  }
}

/* Without a place for the new values the batch is used as well. */
static void test_no_updates(void **state)
{
  (void)state;
  struct used u = {0};
  use_net(&u, norm, R4_SHAPE(2), 3, (struct net_use){.learning = true});
  struct runner *r = runner_new(u.g, 1, &u.y, REFERENCE);
  set_batch(r);
  runner_run(r);
  assert_close("y", r->out[0] + 1, (double[]){20}, 1, 1e-14, 0);
  runner_free(r);
  unuse(&u);
}

static void test_batch_of_one(void **state)
{
  (void)state;
  const char *message;
  struct used u = {0};
  use_net(&u, "bn: batchnorm", R4_SHAPE(2), 1, (struct net_use){.learning = true});
  assert_int_equal(r4_graph_status(u.g, &message), R4_E_SHAPE);
  assert_non_null(strstr(message, "batchnorm bn: one value per channel has no variance"));
  unuse(&u);
  u = (struct used){0};
  use_net(&u, "batchnorm, flatten", R4_SHAPE(2, 1, 1), 1, (struct net_use){.learning = true});
  assert_int_equal(r4_graph_status(u.g, &message), R4_OK);
  unuse(&u);
  u = (struct used){0};
  use_net(&u, "batchnorm", R4_SHAPE(2), 1, (struct net_use){0});
  assert_int_equal(r4_graph_status(u.g, &message), R4_OK);
  unuse(&u);
}

/* ---- Dropout ---- */

static void test_dropout(void **state)
{
  (void)state;
  struct used u = {0};
  use_net(&u, "dropout 0.25, relu, part: dropout 0.5, dropout 0", R4_SHAPE(4), 1,
          (struct net_use){.learning = true, .draw = draw_input});
  assert_int_equal(u.drawn, 2);
  assert_string_equal(u.draws[0], "dropout 0");
  assert_string_equal(u.draws[1], "dropout part");
  struct runner *r = runner_new(u.g, 1, &u.y, REFERENCE);
  SET(r, "x", 3, 3, 3, 3);
  SET(r, "dropout 0", 0, 0.75, 0.5, 0.99); /* kept below 0.75 */
  SET(r, "dropout part", 0.25, 0.25, 0.5, 0);
  runner_run(r);
  assert_close("y", r->out[0], (double[]){3 / 0.75 / 0.5, 0, 0, 0}, 4, 1e-15, 0);
  assert_plans_agree(u.g, 1, &u.y, r);
  runner_free(r);
  unuse(&u);
}

/* The text that a net keeps, and that its file has, gives the same draws: their names say what is drawn. */
static void test_draws_of_text(void **state)
{
  (void)state;
  static const char net[] = "body: repeat 2 (relu, dropout 0.5), part: residual(tanh, dropout 0.25), "
                            "sum(relu; own: dropout 0.5), dense 2";
  struct net_use use = {.learning = true, .draw = draw_input};
  struct used u = {0}, again = {0};
  use_net(&u, net, R4_SHAPE(4), 1, use);
  use_net(&again, r4_net_layers(u.net), R4_SHAPE(4), 1, use);
  assert_int_equal(u.drawn, 4);
  assert_string_equal(u.draws[1], "dropout body.1.1");
  assert_string_equal(u.draws[2], "dropout part.0.1");
  assert_string_equal(u.draws[3], "dropout own");
  assert_int_equal(again.drawn, u.drawn);
  for (size_t k = 0; k < u.drawn; k++) assert_string_equal(again.draws[k], u.draws[k]);
  assert_reads_back(u.net);
  unuse(&u);
  unuse(&again);
}

static void test_no_dropout(void **state)
{
  (void)state;
  for (int draws = 0; draws < 2; draws++) {
    struct used u = {0};
    use_net(&u, "dropout 0.25", R4_SHAPE(4), 1,
            draws ? (struct net_use){.draw = draw_input} : (struct net_use){.learning = true});
    assert_int_equal(u.drawn, 0);
    assert_int_equal(u.y.i, u.x.i);
    unuse(&u);
  }
}

/* ---- Padding ---- */

enum { TOKENS = 4, LONG = 6, WORDS = 9, CLASSES = 3 };
static const char text_net[] =
  "sum(e: embedding 9 4; p: position 6 4), leaf, n1: layernorm, "
  "residual(a: attention 2, o: dense 4), n2: layernorm, residual(b: attention 1), ";

static void fill_params(const struct used *u, struct runner *r)
{
  draw_start(5000, 0);
  for (size_t k = 0; k < u->net->params; k++)
    draw_param(&u->net->param[k], runner_input(r, u->net->param[k].name));
}

/* Logits of a text of four tokens in a net for so many, with junk behind them. */
static void padded_logits(const char *head, int64_t tokens, double junk, bool mask, r4_plan_options options,
                          double logits[CLASSES])
{
  char text[400];
  struct used u = {0};
  snprintf(text, sizeof text, "%s%s, c: dense 3", text_net, head);
  use_net(&u, text, R4_SHAPE(tokens), 2, (struct net_use){.valid = {mask}});
  struct runner *r = runner_new(u.g, 1, &u.y, options);
  fill_params(&u, r);
  for (int64_t i = 0; i < 2 * tokens; i++) {
    bool there = i % tokens < TOKENS && i < tokens; /* the second example is padding only */
    runner_input(r, "x")[i] = there ? (double)(3 * i % WORDS) : junk;
    if (mask) runner_input(r, "valid")[i] = there;
  }
  runner_run(r);
  for (int k = 0; k < 2 * CLASSES; k++) assert_true(isfinite(r->out[0][k]));
  memcpy(logits, r->out[0], CLASSES * sizeof *logits);
  runner_free(r);
  unuse(&u);
}

static void test_padding(void **state)
{
  (void)state;
  static const char *const heads[] = {"first", "mean"};
  for (size_t k = 0; k < 4; k++) {
    r4_plan_options options = k < 2 ? FAST64 : FAST32;
    double want[CLASSES], some[CLASSES], other[CLASSES], open[CLASSES], tolerance = k < 2 ? 1e-13 : 1e-5;
    padded_logits(heads[k % 2], TOKENS, 0, false, options, want);
    padded_logits(heads[k % 2], LONG, 1, true, options, some);
    padded_logits(heads[k % 2], LONG, 8, true, options, other);
    padded_logits(heads[k % 2], LONG, 8, false, options, open);
    assert_memory_equal(some, other, sizeof some);
    assert_close("a longer net", some, want, CLASSES, tolerance, 0);
    assert_true(fabs(open[0] - want[0]) > 1e-3); /* without the mask, padding counts */
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_batch_statistics),
    cmocka_unit_test(test_batch_of_pixels),
    cmocka_unit_test(test_batch_gradient),
    cmocka_unit_test(test_batch_second_derivative),
    cmocka_unit_test(test_running_statistics),
    cmocka_unit_test(test_no_updates),
    cmocka_unit_test(test_batch_of_one),
    cmocka_unit_test(test_dropout),
    cmocka_unit_test(test_draws_of_text),
    cmocka_unit_test(test_no_dropout),
    cmocka_unit_test(test_padding),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("uses of nets", tests, NULL, NULL);
}
