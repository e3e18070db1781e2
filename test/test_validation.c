/* Validation: what its figures are of, which training examples join it, and when it may choose. */
#include "train/validation.h"

#include <math.h>

#include "base/mem.h"
#include "patch_case.h"
#include "scratch.h"

/* The part that was opened of a list of examples of two classes, and what is left for training. */
struct opened {
  r4_data *d, *train;
  struct validation v;
};

static struct opened open_list(const struct patch_list *l, const char *fill)
{
  struct opened o = {.d = patch_list_data(l, 2)};
  struct settings s = {0};
  r4_error e = {0};
  s.data.val_fill = fill;
  if (validation_open(&o.v, &s, o.d, &o.train, &e)) fail_msg("%s", e.text);
  return o;
}

static void close_list(struct opened *o)
{
  validation_close(&o->v);
  r4_data_free(o->train);
  r4_data_free(o->d);
}

static size_t count(const r4_data *d, int32_t class, bool masked)
{
  r4_counts c = r4_data_counts(d, class, -1);
  size_t n = 0;
  for (int k = 0; k < R4_SPLITS; k++) n += masked ? c.masked[k] : c.examples[k];
  return n;
}

static void assert_chooses(const struct opened *o)
{
  r4_error e = {0};
  assert_int_equal(validation_may_choose(&o->v, "select is worst", &e), R4_OK);
}

static void assert_refuses(const struct opened *o, const char *expected)
{
  r4_error e = {0};
  assert_error(&e, validation_may_choose(&o->v, "select is worst", &e), expected);
}

/* Examples of both classes: for training and for validation, and how many of them have masks. */
static struct patch_list alike(size_t train, size_t masked, size_t val, size_t val_masked)
{
  struct patch_list l = {.n = 0};
  for (int class = 0; class < 2; class ++) {
    patch_add(&l, R4_TRAIN, class, train, masked);
    patch_add(&l, R4_VAL, class, val, val_masked);
  }
  return l;
}

/* ---- Kinds ---- */

static void kinds_are_told_apart(void **state)
{
  (void)state;
  static const struct {
    size_t masked, val, val_masked;
    const char *fill;
    r4_val_kind kind;
  } want[] = {{50, 0, 0, "auto", R4_VAL_NONE},       {0, 30, 0, "auto", R4_VAL_PLAIN},
              {0, 30, 0, "swap", R4_VAL_PLAIN},      {50, 30, 10, "auto", R4_VAL_EXCHANGED},
              {0, 30, 10, "auto", R4_VAL_EXCHANGED}, {0, 30, 9, "auto", R4_VAL_CARRIES},
              {1, 30, 0, "auto", R4_VAL_CARRIES},    {50, 30, 10, "swap", R4_VAL_FILLED},
              {50, 30, 10, "none", R4_VAL_CARRIES}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    struct patch_list l = alike(50, want[k].masked, want[k].val, want[k].val_masked);
    struct opened o = open_list(&l, want[k].fill);
    bool chooses = want[k].kind != R4_VAL_NONE && want[k].kind != R4_VAL_CARRIES;
    r4_error e = {0};
    if (o.v.kind != want[k].kind) fail_msg("case %zu: kind %d", k, (int)o.v.kind);
    assert_int_equal(o.v.moved, 0);
    assert_int_equal(r4_data_count(o.train), 100);
    assert_int_equal(!o.v.data, want[k].kind == R4_VAL_NONE);
    assert_int_equal(o.v.exchange.n > 0, want[k].kind == R4_VAL_EXCHANGED);
    assert_int_equal(validation_may_choose(&o.v, "x", &e), chooses ? R4_OK : R4_E_ARGUMENT);
    close_list(&o);
  }
}

static void refusals_say_why(void **state)
{
  (void)state;
  struct patch_list none = alike(50, 50, 0, 0), few = alike(50, 5, 30, 3);
  struct opened o = open_list(&none, "auto"), p = open_list(&few, "auto"), q = open_list(&few, "none");
  assert_refuses(&o, "select is worst, but there is no validation part: set data.val");
  assert_refuses(&p, "the masked content of 6 validation examples can be exchanged, and 20 are needed; draw "
                     "more masks");
  assert_refuses(
    &q, "select is worst, but data.val_fill is none: validation contains the shortcut and would select a "
        "net that uses it");
  close_list(&o);
  close_list(&p);
  close_list(&q);
}

/* Masks in one class: validation examples of the other count, as content can be pasted on them. */
static void pasted_ones_count(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_TRAIN, 0, 50, 50);
  patch_add(&l, R4_TRAIN, 1, 50, 0);
  patch_add(&l, R4_VAL, 0, 8, 8);
  patch_add(&l, R4_VAL, 1, 40, 0);
  struct opened o = open_list(&l, "auto");
  assert_int_equal(o.v.kind, R4_VAL_EXCHANGED);
  assert_int_equal(o.v.exchange.n, 48);
  assert_int_equal(o.v.moved, 0);
  close_list(&o);
}

/* ---- Holding out ---- */

/* With 5 masks of the 20 that are needed, 25 more make 30; a third of 100 would be 33. They are spread over the
 * classes, have masks, and are training examples no more. */
static void training_examples_join(void **state)
{
  (void)state;
  struct patch_list l = {.n = 0};
  patch_add(&l, R4_TRAIN, 0, 80, 60);
  patch_add(&l, R4_TRAIN, 1, 80, 40);
  patch_add(&l, R4_VAL, 0, 20, 5);
  patch_add(&l, R4_VAL, 1, 20, 0);
  struct opened o = open_list(&l, "auto");
  assert_int_equal(o.v.kind, R4_VAL_EXCHANGED);
  assert_int_equal(o.v.moved, 25);
  assert_chooses(&o);
  assert_int_equal(r4_data_count(o.train), 135);
  assert_int_equal(r4_data_count(o.v.data), 65);
  assert_int_equal(o.v.exchange.n, 30);
  assert_int_equal(o.v.follow.n, 30); /* their donors are training examples, which those who joined no longer are */
  assert_int_equal(count(o.train, 0, true), 60 - 15);
  assert_int_equal(count(o.train, 1, true), 40 - 10);
  assert_int_equal(count(o.v.data, 0, true), 5 + 15);
  assert_int_equal(count(o.v.data, 1, true), 10);
  assert_int_equal(count(o.train, -1, false) - count(o.train, -1, true), 60); /* those without stay */
  close_list(&o);
}

/* A third of 45 is 15, which makes 20 with the 5 that are there; a third of 44 is 14, and nobody is moved. */
static void no_more_than_a_third_joins(void **state)
{
  (void)state;
  for (size_t masked = 44; masked < 46; masked++) {
    struct patch_list l = {.n = 0};
    patch_add(&l, R4_TRAIN, 0, 30, 24);
    patch_add(&l, R4_TRAIN, 1, 30, masked - 24);
    patch_add(&l, R4_VAL, 0, 20, 5);
    patch_add(&l, R4_VAL, 1, 20, 0);
    struct opened o = open_list(&l, "auto");
    bool enough = masked == 45;
    assert_int_equal(o.v.kind, enough ? R4_VAL_EXCHANGED : R4_VAL_CARRIES);
    assert_int_equal(o.v.moved, enough ? 15 : 0);
    assert_int_equal(o.v.could, enough ? 20 : 5);
    assert_int_equal(r4_data_count(o.train), enough ? 45 : 60);
    close_list(&o);
  }
}

/* No id is in both parts, and examples without a mask go where those of their id go. */
static void what_belongs_together_stays_together(void **state)
{
  (void)state;
  struct patch_list l = alike(90, 60, 20, 0);
  for (size_t i = 0; i < l.n; i++)
    if (l.x[i].split == R4_TRAIN) l.x[i].id = 1 + (int)(i % 110 % 30) + 30 * l.x[i].label; /* three of each */
  struct opened o = open_list(&l, "auto");
  bool trained[60] = {false};
  size_t held = 0;
  assert_int_equal(o.v.kind, R4_VAL_EXCHANGED);
  for (size_t i = 0; i < r4_data_count(o.train); i++) trained[o.train->record[i].id] = true;
  for (size_t i = 0; i < r4_data_count(o.v.data); i++) {
    uint32_t id = o.v.data->record[i].id;
    if (id == DATA_NO_ID) continue;
    assert_false(trained[id]);
    held++;
  }
  assert_int_equal(held, o.v.moved);
  assert_in_range(count(o.v.data, -1, true), 20, 30);
  assert_int_equal(held % 3, 0);
  assert_true(count(o.v.data, 0, true) >= 8 && count(o.v.data, 1, true) >= 8);
  close_list(&o);
}

/* All masks are on one patient: to hold out some of them would leave none to learn from. */
static void a_large_family_is_left_alone(void **state)
{
  (void)state;
  struct patch_list l = alike(90, 60, 20, 0);
  for (size_t i = 0; i < l.n; i++)
    if (l.x[i].masked) l.x[i].id = 1;
  struct opened o = open_list(&l, "auto");
  assert_int_equal(o.v.moved, 0);
  assert_int_equal(count(o.train, -1, true), 120);
  assert_int_equal(o.v.kind, R4_VAL_CARRIES);
  close_list(&o);
}

/* ---- Figures ---- */

/* The net says what the patch says: correct as it is, wrong with the patch of the other class. */
static void figures_are_those_after_the_exchange(void **state)
{
  (void)state;
  enum { EACH = 20 };
  struct patch_example x[4 * EACH];
  for (int i = 0; i < 4 * EACH; i++)
    x[i] = (struct patch_example){
      .patch = i % 2 ? 1 : -1, .label = i % 2, .masked = true, .split = i < 2 * EACH ? R4_TRAIN : R4_VAL};
  r4_data *d = patch_data(x, 4 * EACH, 2), *train = NULL;
  r4_net *net = r4_net_open("dense 2", R4_SHAPE(PATCH_FEATURES), NULL);
  const float uses[] = {0, -1, 0, 1, 0, 0};
  struct settings s = {0};
  for (int as_is = 0; as_is < 2; as_is++) {
    struct validation v;
    struct score score;
    r4_error e = {0};
    s.data.val_fill = as_is ? "none" : "auto";
    if (validation_open(&v, &s, d, &train, &e) || validation_prepare(&v, net, 16, 1, &e) ||
        validation_run(&v, NULL, uses, &score, &e))
      fail_msg("%s", e.text);
    assert_true(fabs(score.avg - (as_is ? 1 : 0)) < 1e-12);
    assert_int_equal(score.exchanged, as_is ? 0 : 2 * EACH);
    assert_true(as_is || score.lost == 1);
    assert_true(as_is ? score.loss < 0.2 : score.loss > 1.5); /* log(1 + exp(-+ 2)) */
    validation_close(&v);
  }
  r4_data_free(train);
  r4_net_free(net);
  r4_data_free(d);
}

/* A plan may do without some of what it asks for. */
static void break_in_preparing(struct validation *v, const r4_net *net)
{
  for (long n = 1; n < 30; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status s = validation_prepare(v, net, 16, 1, &e);
    r4_mem_fail_at(0);
    assert_true(!s || (s == R4_E_MEMORY && e.status == s));
    probe_free(v->probe);
    r4_mem_free(v->predicted);
    r4_mem_free(v->after);
    v->probe = NULL;
    v->predicted = v->after = NULL;
  }
}

static void memory_may_run_out(void **state)
{
  (void)state;
  struct patch_list l = alike(50, 50, 20, 2);
  r4_data *d = patch_list_data(&l, 2);
  r4_net *net = r4_net_open("dense 2", R4_SHAPE(PATCH_FEATURES), NULL);
  static const char *const fills[] = {"auto", "swap", "none"};
  for (size_t k = 0; k < 3; k++)
    for (long n = 1;; n++) {
      struct settings s = {0};
      struct validation v;
      r4_data *train = NULL;
      r4_error e = {0};
      s.data.val_fill = fills[k];
      r4_mem_fail_at(n);
      r4_status status = validation_open(&v, &s, d, &train, &e);
      bool reached = r4_mem_count() >= n;
      if (!reached) break_in_preparing(&v, net);
      r4_mem_fail_at(0);
      validation_close(&v);
      r4_data_free(train);
      if (status ? status != R4_E_MEMORY || e.status != status : reached)
        fail_msg("allocation %ld, %s: status %d, %s", n, fills[k], (int)status, e.text);
      if (!reached) break;
    }
  r4_net_free(net);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(kinds_are_told_apart),
    cmocka_unit_test(refusals_say_why),
    cmocka_unit_test(pasted_ones_count),
    cmocka_unit_test(training_examples_join),
    cmocka_unit_test(no_more_than_a_third_joins),
    cmocka_unit_test(what_belongs_together_stays_together),
    cmocka_unit_test(a_large_family_is_left_alone),
    cmocka_unit_test(figures_are_those_after_the_exchange),
    cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
