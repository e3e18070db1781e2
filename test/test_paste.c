/* The paste test on a net and data whose counts are known by hand. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "scratch.h"

/* Features: what the class really shows, and the place of the patch. The net says ill if sign - 2 patch > 0. */
enum { SIGN, PATCH, FEATURES, HEALTHY = 0, ILL, ABSENT, CLASSES };

static const float ZEROS[CLASSES * FEATURES + CLASSES] = {0};

struct example {
  float sign, patch;
  int label;
  uint8_t mask; /* of the patch */
};

/* Healthy ones with patches; ill ones that a patch hides, does not hide, and that were not found before. */
static const struct example FEW[] = {{-1, 1, HEALTHY, 255}, {-1, 1, HEALTHY, 255}, {-1, 0, HEALTHY, 0},
                                     {.5f, 0, ILL, 0},      {.7f, 0, ILL, 0},      {5, 0, ILL, 0},
                                     {-1, 0, ILL, 0}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static r4_data *make(const struct example *x, size_t n)
{
  static const char *const names[] = {"healthy", "ill", "absent"};
  struct column *v = column_new(&floats_column, R4_SHAPE(FEATURES), n, NULL);
  r4_data *d = v ? data_new(n, v, NULL) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(FEATURES, NULL));
  for (size_t i = 0; i < n; i++) {
    ((float *)v->data)[i * FEATURES + SIGN] = x[i].sign;
    ((float *)v->data)[i * FEATURES + PATCH] = x[i].patch;
    d->record[i].label = d->record[i].group = x[i].label;
    d->record[i].split = R4_TEST;
    const uint8_t bytes[FEATURES] = {[PATCH] = x[i].mask};
    assert_int_equal(masks_add(data_masks(d), bytes, &d->record[i].mask, NULL), R4_OK);
  }
  for (int k = 0; k < CLASSES; k++) {
    names_add(d->classes, names[k], NULL, NULL);
    names_add(d->groups, names[k], NULL, NULL);
  }
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

static r4_pasted *test(const r4_data *d, const r4_paste_options *o)
{
  static r4_pasted p[2];
  static int turn;
  float w[COUNT(ZEROS)] = {0};
  r4_error e = {0};
  r4_net *n = r4_net_new("dense 3", R4_SHAPE(FEATURES), &e);
  assert_non_null(n);
  w[ILL * FEATURES + SIGN] = 1;
  w[ILL * FEATURES + PATCH] = -2;
  w[CLASSES * FEATURES + ABSENT] = -9;
  turn = !turn;
  if (r4_paste_test(n, w, d, o, &p[turn], &e)) fail_msg("%s", e.text);
  r4_net_free(n);
  return &p[turn];
}

static void lost_ones_are_counted(void **state)
{
  (void)state;
  r4_data *d = make(FEW, COUNT(FEW));
  const r4_pasted *p = test(d, NULL);
  assert_null(p->none);
  assert_int_equal(p->donors, 2);
  assert_int_equal(p->draws, 10);
  assert_int_equal(p->classes, CLASSES);
  assert_true(!p->tested[HEALTHY] && p->tested[ILL] && !p->tested[ABSENT]);
  assert_int_equal(p->examples[HEALTHY], 0);
  assert_int_equal(p->examples[ILL], 4);
  assert_int_equal(p->found[ILL], 3);
  assert_true(fabs(p->lost[ILL] - 2) < 1e-12);
  assert_true(fabs(r4_paste_share(p, 1, ILL).mean - 2. / 3) < 1e-12);
  assert_true(fabs(r4_paste_share(p, 1, -1).mean - 2. / 3) < 1e-12);
  assert_true(isnan(r4_paste_share(p, 1, HEALTHY).mean));
  r4_data_free(d);
}

/* Half a mask is half a patch: 0.5 - 2 * 0.5 is negative, 1.5 - 2 * 0.5 is not, and 1.5 - 2 would be. */
static void soft_masks_blend(void **state)
{
  (void)state;
  static const struct example x[] = {{-1, 1, HEALTHY, 128}, {.5f, 0, ILL, 0}, {1.5f, 0, ILL, 0}};
  r4_data *d = make(x, COUNT(x));
  const r4_pasted *p = test(d, NULL);
  assert_int_equal(p->found[ILL], 2);
  assert_true(fabs(p->lost[ILL] - 1) < 1e-12);
  r4_data_free(d);
}

/* One donor hides every ill one, the other none: about half are lost, the same ones for the same seed. */
static void draws_depend_on_the_seed_alone(void **state)
{
  (void)state;
  struct example x[22] = {{-1, 9, HEALTHY, 255}, {-1, 0, HEALTHY, 255}};
  for (size_t i = 2; i < COUNT(x); i++) x[i] = (struct example){1, 0, ILL, 0};
  r4_data *d = make(x, COUNT(x));
  r4_paste_options o = r4_paste_defaults();
  o.draws = 100;
  double lost = test(d, &o)->lost[ILL];
  assert_true(lost > 8 && lost < 12); /* 2000 fair coins, of which 20 are one: 10 -+ 0.22 */
  o.batch = 3;
  assert_true(test(d, &o)->lost[ILL] == lost);
  o.seed = 1;
  assert_true(test(d, &o)->lost[ILL] != lost);
  r4_data_free(d);
}

/* In one of three classes alone are masks: those of the others are pasted on it, be they before or after it. */
static void all_other_classes_lend_theirs(void **state)
{
  (void)state;
  struct example x[] = {{-1, 0, HEALTHY, 255}, {1, 0, ILL, 0},   {1, 0, ILL, 0},
                        {0, 9, ABSENT, 255},   {9, 9, ILL, 255}, {1, 0, ILL, 0},
                        {1, 0, ILL, 0},        {1, 0, ILL, 0},   {1, 0, ILL, 0}};
  r4_data *d = make(x, COUNT(x));
  r4_paste_options o = r4_paste_defaults();
  o.draws = 1000;
  const r4_pasted *p = test(d, &o);
  assert_int_equal(p->donors, 3);
  assert_int_equal(p->found[ILL], 6);
  assert_true(p->lost[ILL] > 2.5 &&
              p->lost[ILL] < 3.5); /* the patch of the third class hides them, half of the time */
  r4_data_free(d);
}

/* An ill one with a patch of its own is neither tested nor lends its patch to the ill. */
static void content_of_the_own_class_is_not_pasted(void **state)
{
  (void)state;
  static const struct example x[] = {{9, 9, ILL, 255}, {-1, 0, HEALTHY, 255}, {-1, 0, HEALTHY, 255},
                                     {1, 0, ILL, 0},   {1, 0, ILL, 0},        {1, 0, ILL, 0}};
  r4_data *d = make(x, COUNT(x));
  const r4_pasted *p = test(d, NULL);
  assert_int_equal(p->examples[ILL], 3);
  assert_int_equal(p->found[ILL], 3);
  assert_true(p->lost[ILL] == 0);
  r4_data_free(d);
}

static void nothing_to_paste_is_said(void **state)
{
  (void)state;
  static const struct example none[] = {{-1, 0, HEALTHY, 0}, {1, 0, ILL, 0}};
  static const struct example alike[] = {
    {-1, 0, HEALTHY, 255}, {-1, 0, HEALTHY, 0}, {1, 0, ILL, 255}, {1, 0, ILL, 0}};
  static const struct example all[] = {{-1, 0, HEALTHY, 255}, {1, 0, ILL, 255}};
  static const struct example own[] = {{-1, 0, HEALTHY, 255}, {-1, 0, HEALTHY, 0}};
  static const struct {
    const struct example *x;
    size_t n;
    bool all;
    const char *why;
  } list[] = {{none, 2, false, "no example has a mask"},
              {none, 2, true, "no example has a mask"},
              {alike, 4, false, "every class has masks about as often as the others"},
              {all, 2, true, "no example without a mask is of another class than one with a mask"},
              {own, 2, true, "no example without a mask is of another class than one with a mask"}};
  for (size_t k = 0; k < COUNT(list); k++) {
    r4_paste_options o = r4_paste_defaults();
    o.all = list[k].all;
    r4_data *d = make(list[k].x, list[k].n);
    const r4_pasted *p = test(d, &o);
    assert_non_null(p->none);
    assert_string_equal(p->none, list[k].why);
    assert_true(isnan(r4_paste_share(p, 1, -1).mean));
    r4_data_free(d);
  }
  r4_paste_options o = r4_paste_defaults();
  o.all = true;
  r4_data *d = make(alike, COUNT(alike));
  const r4_pasted *p = test(d, &o);
  assert_null(p->none);
  assert_true(p->found[HEALTHY] == 1 && p->found[ILL] == 1);
  r4_data_free(d);
}

static void shares_over_seeds(void **state)
{
  (void)state;
  static r4_pasted p[2] = {{.classes = 2, .found = {0, 4}, .lost = {0, 1}},
                           {.classes = 2, .found = {0, 4}, .lost = {0, 3}}};
  r4_mean_sd s = r4_paste_share(p, 2, ILL);
  assert_true(s.mean == .5 && fabs(s.sd - sqrt(.125)) < 1e-12);
}

static void options_are_checked(void **state)
{
  (void)state;
  static r4_pasted p;
  r4_error e = {0};
  r4_data *d = make(FEW, COUNT(FEW));
  r4_net *n = r4_net_new("dense 3", R4_SHAPE(FEATURES), NULL);
  r4_paste_options o = r4_paste_defaults();
  o.draws = 0;
  assert_int_equal(r4_paste_test(n, ZEROS, d, &o, &p, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "0 draws, expected 1 to 1000000");
  o.draws = 1;
  o.batch = 0;
  assert_int_equal(r4_paste_test(n, ZEROS, d, &o, &p, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "a batch of 0, expected 1 or more");
  r4_net_free(n);
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  static r4_pasted p;
  r4_data *d = make(FEW, COUNT(FEW));
  r4_net *n = r4_net_new("dense 3", R4_SHAPE(FEATURES), NULL);
  float w[COUNT(ZEROS)] = {[ILL * FEATURES + SIGN] = 1};
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_status s = r4_paste_test(n, w, d, NULL, &p, &e);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    assert_true(s == R4_OK || s == R4_E_MEMORY);
    assert_int_equal(e.status, s);
    if (!reached) break;
  }
  r4_net_free(n);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lost_ones_are_counted),
    cmocka_unit_test(soft_masks_blend),
    cmocka_unit_test(draws_depend_on_the_seed_alone),
    cmocka_unit_test(all_other_classes_lend_theirs),
    cmocka_unit_test(content_of_the_own_class_is_not_pasted),
    cmocka_unit_test(nothing_to_paste_is_said),
    cmocka_unit_test(shares_over_seeds),
    cmocka_unit_test(options_are_checked),
    cmocka_unit_test(memory_may_run_out),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("paste", tests, NULL, NULL);
}
