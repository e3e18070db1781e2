/* The swap test on nets and data whose counts are known by hand. test_swap_plain.c has plain loops beside it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/data.h"
#include "r4_tools.h"
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
/* Three of four healthy ones have masks: that none of four ill ones has is no chance, 1 / 4^4. */
static const struct example FEW[] = {{-1, 1, HEALTHY, 255}, {-1, 1, HEALTHY, 255}, {-1, 1, HEALTHY, 255},
                                     {-1, 0, HEALTHY, 0},   {.5f, 0, ILL, 0},      {.7f, 0, ILL, 0},
                                     {5, 0, ILL, 0},        {-1, 0, ILL, 0}};

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

/* The net, and its weights in w. */
static r4_net *make_net(float *w)
{
  r4_error e = {0};
  r4_net *n = r4_net_open("dense 3", R4_SHAPE(FEATURES), &e);
  assert_non_null(n);
  memcpy(w, ZEROS, sizeof ZEROS);
  w[ILL * FEATURES + SIGN] = 1;
  w[ILL * FEATURES + PATCH] = -2;
  w[CLASSES * FEATURES + ABSENT] = -9;
  return n;
}

static r4_swapped *test(const r4_data *d, const r4_swap_options *o)
{
  static r4_swapped p[2];
  static int turn;
  float w[COUNT(ZEROS)];
  r4_error e = {0};
  r4_net *n = make_net(w);
  turn = !turn;
  if (r4_swap_test(n, w, d, o, &p[turn], &e)) fail_msg("%s", e.text);
  r4_net_free(n);
  return &p[turn];
}

/* Of the ill, the patch turns the answer to the first two; to the last it was wrong, and stays. The healthy have no
 * donor of another class. */
static void lost_ones_are_counted(void **state)
{
  (void)state;
  r4_data *d = make(FEW, COUNT(FEW));
  const r4_swapped *p = test(d, NULL);
  assert_null(p->none);
  assert_int_equal(p->content, R4_FILL_SWAP);
  assert_int_equal(p->donors, 3);
  assert_int_equal(p->draws, 10);
  assert_int_equal(p->groups, CLASSES);
  assert_int_equal(p->inside, 0);
  assert_int_equal(p->pasted, 4);
  assert_int_equal(p->examples[HEALTHY], 0);
  assert_int_equal(p->examples[ILL], 4);
  assert_int_equal(p->found[ILL], 3);
  assert_true(p->flipped[ILL] == 2 && p->lost[ILL] == 2);
  assert_true(fabs(r4_swap_lost(p, 1, ILL).mean - 2. / 3) < 1e-12);
  assert_true(fabs(r4_swap_lost(p, 1, -1).mean - 2. / 3) < 1e-12);
  assert_true(r4_swap_flipped(p, 1, ILL).mean == .5 && r4_swap_flipped(p, 1, -1).mean == .5);
  assert_true(isnan(r4_swap_lost(p, 1, HEALTHY).mean));
  r4_data_free(d);
}

/* Two of three could be chance, (1 - 2/3)^4 = 0.012: examples without a mask are left alone then. */
/* Two healthy ones are found for their patch alone, which no ill one has: without it they are lost. One mark among the
 * ill, where masks are rare, gives no reason to call it exchanged. */
static void what_one_class_has_is_removed(void **state)
{
  (void)state;
  static const struct example marked[] = {
    {.5f, 1, HEALTHY, 255}, {.5f, 1, HEALTHY, 255}, {-1, 1, HEALTHY, 255}, {-1, 1, HEALTHY, 255}, {-1, 0, HEALTHY, 0},
    {5, 0, ILL, 0},         {5, 0, ILL, 0},         {5, 0, ILL, 0},        {5, 0, ILL, 0},        {5, 0, ILL, 0},
    {5, 0, ILL, 0},         {5, 0, ILL, 0},         {5, 0, ILL, 0},        {5, 0, ILL, 0},        {5, 0, ILL, 255}};
  for (size_t n = COUNT(marked) - 1; n <= COUNT(marked); n++) {
    r4_data *d = make(marked, n);
    const r4_swapped *p = test(d, NULL);
    assert_int_equal(p->removed, 4);
    assert_int_equal(p->removed_examples[HEALTHY], 4);
    assert_int_equal(p->removed_found[HEALTHY], 4);
    assert_int_equal(p->removed_examples[ILL], 0);
    assert_true(p->removed_lost[HEALTHY] == 2);
    assert_true(fabs(r4_swap_removed(p, 1, -1).mean - .5) < 1e-12);
    assert_true(r4_swap_removed(p, 1, HEALTHY).mean == .5 && isnan(r4_swap_removed(p, 1, ILL).mean));
    r4_data_free(d);
  }
}

/* With masks on both classes there is nothing that only one has, and other contents are no exchange. */
static void what_both_have_is_not_removed(void **state)
{
  (void)state;
  static const struct example both[] = {
    {-1, 1, HEALTHY, 255}, {-1, 1, HEALTHY, 255}, {5, 0, ILL, 255}, {5, 0, ILL, 255}};
  r4_data *d = make(both, COUNT(both)), *few = make(FEW, COUNT(FEW));
  r4_swap_options o = r4_swap_defaults();
  assert_int_equal(test(d, NULL)->removed, 0);
  assert_int_equal(test(few, NULL)->removed, 3);
  o.content = R4_FILL_BLANK;
  assert_int_equal(test(few, &o)->removed, 0);
  r4_data_free(few);
  r4_data_free(d);
}

static void few_masks_are_not_rare_ones(void **state)
{
  (void)state;
  r4_data *d = make(FEW + 1, COUNT(FEW) - 1);
  const r4_swapped *p = test(d, NULL);
  assert_string_equal(p->none, "only one class has masks, and so few that this may be chance");
  r4_data_free(d);
}

/* The examples that are tested, and those of them that are lost: with the patch, and its mask. */
static void changed_examples_are_given(void **state)
{
  (void)state;
  float w[COUNT(ZEROS)], x[FEATURES];
  r4_error e = {0};
  size_t which[COUNT(FEW)];
  r4_net *n = make_net(w);
  r4_data *d = make(FEW, COUNT(FEW));
  for (int lost = 0; lost < 2; lost++) {
    r4_data *changed = r4_swap_data(lost ? n : NULL, w, d, NULL, which, &e);
    assert_non_null(changed);
    assert_int_equal(r4_data_count(changed), lost ? 2 : 4);
    for (size_t k = 0; k < r4_data_count(changed); k++) {
      assert_int_equal(which[k], k + 4);
      r4_data_values(changed, k, x);
      assert_true(x[SIGN] == FEW[which[k]].sign && x[PATCH] == 1);
      assert_int_equal(data_mask_bytes(changed, k)[PATCH], 255);
      assert_int_equal(data_mask_bytes(changed, k)[SIGN], 0);
      assert_int_equal(r4_data_example(changed, k).label, ILL);
    }
    r4_data_free(changed);
  }
  assert_null(data_mask_bytes(d, 4)); /* the data themselves stay */
  r4_data *none = make(FEW + 3, 5);
  assert_null(r4_swap_data(NULL, NULL, none, NULL, NULL, &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_string_equal(e.text, "there is nothing to swap: no example has a mask");
  assert_null(r4_swap_data(n, NULL, d, NULL, NULL, &e));
  for (int k = 0; k < R4_MAX_GROUPS; k++) {
    char name[16];
    snprintf(name, sizeof name, "group %d", k);
    names_add(d->groups, name, NULL, NULL);
  }
  assert_null(r4_swap_data(n, w, d, NULL, NULL, &e));
  assert_string_equal(e.text, "there is nothing to swap: there are more than 1024 groups");
  r4_data_free(none);
  r4_data_free(d);
  r4_net_free(n);
}

/* Both classes have patches, each its own: swapped, the healthy look ill and the ill healthy. A wrong answer that
 * becomes right is flipped and not lost. */
static void masks_of_their_own_are_swapped(void **state)
{
  (void)state;
  static const struct example x[] = {{1, 2, HEALTHY, 255}, {1, 3, HEALTHY, 255}, {-9, 2, HEALTHY, 255},
                                     {1, 0, ILL, 255},     {-1, 0, ILL, 255},    {-1, -1, ILL, 255}};
  r4_data *d = make(x, COUNT(x));
  const r4_swapped *p = test(d, NULL);
  assert_int_equal(p->inside, 6);
  assert_int_equal(p->pasted, 0);
  assert_int_equal(p->examples[HEALTHY], 3);
  assert_int_equal(p->found[HEALTHY], 3);
  assert_true(p->flipped[HEALTHY] == 2 && p->lost[HEALTHY] == 2);
  assert_int_equal(p->found[ILL], 2); /* -1 + 0 is healthy */
  assert_true(p->flipped[ILL] == 2 && p->lost[ILL] == 2);
  r4_data_free(d);
}

/* In place of the patch: nothing, and the mean of the patch over all examples. */
static void other_contents(void **state)
{
  (void)state;
  static const struct example x[] = {{1, 2, HEALTHY, 255}, {3, 2, HEALTHY, 255}, {1, 0, ILL, 255}};
  r4_swap_options o = r4_swap_defaults();
  r4_data *d = make(x, COUNT(x));
  o.content = R4_FILL_BLANK;
  const r4_swapped *p = test(d, &o);
  assert_int_equal(p->draws, 1); /* further ones would be the same */
  assert_true(p->found[HEALTHY] == 2 && p->flipped[HEALTHY] == 2 && p->lost[HEALTHY] == 2);
  assert_true(p->found[ILL] == 1 && p->flipped[ILL] == 0);
  o.content = R4_FILL_MEAN; /* 4/3: 1 - 8/3 < 0, 3 - 8/3 > 0 */
  p = test(d, &o);
  assert_true(p->flipped[HEALTHY] == 1 && p->lost[HEALTHY] == 1);
  assert_true(p->flipped[ILL] == 1 && p->lost[ILL] == 1);
  o.content = R4_FILL_NOISE;
  p = test(d, &o);
  assert_int_equal(p->draws, 10);
  assert_true(p->flipped[HEALTHY] > 0 && p->flipped[HEALTHY] < 2);
  r4_data_free(d);
}

/* Without a donor of another class, only what needs none is tested. A region of a donor is blanked at its place. */
static void other_contents_of_one_class(void **state)
{
  (void)state;
  static const struct example x[] = {{1, 2, HEALTHY, 255}, {1, -9, ILL, 0}, {-1, -9, ILL, 0}};
  r4_swap_options o = r4_swap_defaults();
  r4_data *d = make(x, COUNT(x));
  o.content = R4_FILL_BLANK;
  const r4_swapped *p = test(d, &o);
  assert_true(p->inside == 1 && p->pasted == 2 && p->draws == 10);
  assert_true(p->flipped[HEALTHY] == 1 && p->lost[HEALTHY] == 1);
  assert_true(p->found[ILL] == 2 && p->flipped[ILL] == 1 && p->lost[ILL] == 1);
  r4_data_free(d);
}

/* Half a mask is half a patch: 0.5 - 2 * 0.5 is negative, 1.5 - 2 * 0.5 is not, and 1.5 - 2 would be. */
static void soft_masks_blend(void **state)
{
  (void)state;
  static const struct example x[] = {{-1, 1, HEALTHY, 128}, {.5f, 0, ILL, 0}, {1.5f, 0, ILL, 0}};
  r4_data *d = make(x, COUNT(x));
  const r4_swapped *p = test(d, NULL);
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
  r4_swap_options o = r4_swap_defaults();
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
  r4_swap_options o = r4_swap_defaults();
  o.draws = 1000;
  const r4_swapped *p = test(d, &o);
  assert_int_equal(p->donors, 3);
  assert_int_equal(p->examples[ILL], 7);
  assert_int_equal(p->found[ILL], 6);
  assert_true(p->lost[ILL] > 2.5 &&
              p->lost[ILL] < 3.5); /* the patch of the third class hides them, half of the time */
  r4_data_free(d);
}

/* An ill one with a patch of its own does not lend it to the ill. */
static void content_of_the_own_class_is_not_pasted(void **state)
{
  (void)state;
  static const struct example x[] = {{9, 9, ILL, 255}, {-1, 0, HEALTHY, 255}, {-1, 0, HEALTHY, 255},
                                     {1, 0, ILL, 0},   {1, 0, ILL, 0},        {1, 0, ILL, 0}};
  r4_data *d = make(x, COUNT(x));
  const r4_swapped *p = test(d, NULL);
  assert_int_equal(p->examples[ILL], 4);
  assert_int_equal(p->found[ILL], 3);
  assert_true(p->lost[ILL] == 0 && p->flipped[ILL] == 1);
  r4_data_free(d);
}

static void nothing_to_swap_is_said(void **state)
{
  (void)state;
  static const struct example none[] = {{-1, 0, HEALTHY, 0}, {1, 0, ILL, 0}};
  static const struct example own[] = {{-1, 0, HEALTHY, 255}, {-1, 0, HEALTHY, 0}};
  static const struct {
    const struct example *x;
    const char *why;
  } list[] = {{none, "no example has a mask"}, {own, "all examples are of the class of those with a mask"}};
  for (size_t k = 0; k < COUNT(list); k++) {
    r4_data *d = make(list[k].x, 2);
    const r4_swapped *p = test(d, NULL);
    assert_non_null(p->none);
    assert_string_equal(p->none, list[k].why);
    assert_true(isnan(r4_swap_lost(p, 1, -1).mean) && isnan(r4_swap_flipped(p, 1, -1).mean));
    r4_data_free(d);
  }
}

/* ---- Content of other data ---- */

/* Healthy ones with a patch, and an ill one without; the tested have no mask. */
static const struct example DONORS[] = {{-1, 1, HEALTHY, 255}, {-1, 0, ILL, 0}, {9, 1, HEALTHY, 255}};
static const struct example BARE[] = {
  {-1, 0, HEALTHY, 0}, {.5f, 0, ILL, 0}, {.7f, 0, ILL, 0}, {5, 0, ILL, 0}, {-1, 0, ILL, 0}};

/* The ill get a patch of a healthy one, at its place: sign - 2 patch is above 0 for the third alone. For the healthy
 * there is no donor of another class, until an ill one has a mask. */
static void content_of_others_is_pasted(void **state)
{
  (void)state;
  r4_data *d = make(BARE, COUNT(BARE)), *donors = make(DONORS, COUNT(DONORS));
  r4_swap_options o = r4_swap_defaults();
  o.content = R4_FILL_PASTE;
  o.donors = donors;
  o.batch = 2;
  const r4_swapped *p = test(d, &o);
  assert_null(p->none);
  assert_int_equal(p->content, R4_FILL_PASTE);
  assert_int_equal(p->donors, 2);
  assert_int_equal(p->draws, 10);
  assert_true(p->inside == 0 && p->pasted == 4);
  assert_true(p->examples[HEALTHY] == 0 && p->examples[ILL] == 4 && p->found[ILL] == 3);
  assert_true(p->flipped[ILL] == 2 && p->lost[ILL] == 2);
  r4_data_free(donors);
  for (int soft = 0; soft < 2; soft++) { /* sign - 2 m patch = -1 + 2 m is above 0 if m is above 1/2 */
    const struct example ill[] = {{9, 0, HEALTHY, 0}, {9, -1, ILL, soft ? 102 : 255}};
    o.donors = donors = make(ill, COUNT(ill));
    p = test(d, &o);
    assert_true(p->examples[HEALTHY] == 1 && p->examples[ILL] == 0);
    assert_true(p->flipped[HEALTHY] == !soft && p->lost[HEALTHY] == !soft);
    r4_data_free(donors);
  }
  const struct example both[] = {{9, 1, HEALTHY, 255},
                                 {9, -1, ILL, 255}}; /* for each class a donor of the other */
  o.donors = donors = make(both, COUNT(both));
  p = test(d, &o);
  assert_true(p->pasted == 5 && p->lost[HEALTHY] == 1 && p->lost[ILL] == 2);
  r4_data_free(donors);
  r4_data_free(d);
}

/* Without donors of their own these are the tested examples; masks of the tested do not matter. */
static void pasted_content_may_be_their_own(void **state)
{
  (void)state;
  r4_data *d = make(FEW, COUNT(FEW)), *bare = make(BARE, COUNT(BARE));
  r4_swap_options o = r4_swap_defaults();
  o.content = R4_FILL_PASTE;
  const r4_swapped *p = test(d, &o);
  assert_true(p->inside == 0 && p->pasted == 4 && p->lost[ILL] == 2);
  o.donors = bare;
  assert_string_equal(test(d, &o)->none, "no example to take content from has a mask");
  o.donors = NULL;
  assert_string_equal(test(bare, &o)->none, "no example has a mask");
  r4_data_free(d);
  r4_data_free(bare);
}

static void donors_must_fit(void **state)
{
  (void)state;
  static r4_swapped p;
  r4_error e = {0};
  float w[COUNT(ZEROS)];
  r4_net *n = make_net(w);
  r4_data *d = make(BARE, COUNT(BARE)), *images = r4_data_open("digits:20", NULL, &e);
  r4_data *fewer = make(DONORS, COUNT(DONORS));
  assert_non_null(images);
  fewer->classes->n--;
  r4_swap_options o = r4_swap_defaults();
  o.content = R4_FILL_PASTE;
  o.donors = images;
  assert_error(&e, r4_swap_test(n, w, d, &o, &p, &e), "swap test: donors are 784 ");
  o.donors = fewer;
  assert_error(&e, r4_swap_test(n, w, d, &o, &p, &e), "donors are of 2 classes, expected 3");
  assert_null(r4_swap_data(n, w, d, &o, NULL, &e));
  assert_non_null(strstr(e.text, "R4_FILL_PASTE is counted only"));
  fewer->classes->n++;
  r4_data_free(fewer);
  r4_data_free(images);
  r4_data_free(d);
  r4_net_free(n);
}

static void shares_over_seeds(void **state)
{
  (void)state;
  static r4_swapped p[2] = {{.groups = 2, .found = {0, 4}, .lost = {0, 1}},
                            {.groups = 2, .found = {0, 4}, .lost = {0, 3}}};
  r4_mean_sd s = r4_swap_lost(p, 2, ILL);
  assert_true(s.mean == .5 && fabs(s.sd - sqrt(.125)) < 1e-12);
}

static void options_are_checked(void **state)
{
  (void)state;
  static r4_swapped p;
  r4_error e = {0};
  r4_data *d = make(FEW, COUNT(FEW));
  r4_net *n = r4_net_open("dense 3", R4_SHAPE(FEATURES), NULL);
  r4_swap_options o = r4_swap_defaults();
  o.draws = 0;
  assert_int_equal(r4_swap_test(n, ZEROS, d, &o, &p, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "0 draws, expected 1 to 1000000");
  o.draws = 1;
  for (int bad = -1; bad <= R4_FILL_BLANK + 1; bad++) {
    if (bad != R4_FILL_NONE && bad >= 0 && bad <= R4_FILL_BLANK) continue;
    o.content = (r4_fill)bad;
    assert_int_equal(r4_swap_test(n, ZEROS, d, &o, &p, &e), R4_E_ARGUMENT);
    assert_non_null(strstr(e.text, "expected R4_FILL_SWAP"));
  }
  o.content = R4_FILL_SWAP;
  o.batch = 0;
  assert_int_equal(r4_swap_test(n, ZEROS, d, &o, &p, &e), R4_E_ARGUMENT);
  assert_error(&e, R4_E_ARGUMENT, "a batch of 0, expected 1 or more");
  r4_net_free(n);
  r4_data_free(d);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  static r4_swapped p;
  r4_data *d = make(FEW, COUNT(FEW));
  r4_net *n = r4_net_open("dense 3", R4_SHAPE(FEATURES), NULL);
  float w[COUNT(ZEROS)] = {[ILL * FEATURES + SIGN] = 1};
  r4_swap_options paste = r4_swap_defaults();
  paste.content = R4_FILL_PASTE;
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_status s = r4_swap_test(n, w, d, k % 2 ? NULL : &paste, &p, &e);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    assert_true(s == R4_OK || s == R4_E_MEMORY);
    assert_int_equal(e.status, s);
    if (!reached) break;
  }
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_data *changed = r4_swap_data(n, w, d, NULL, NULL, &e);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    assert_int_equal(e.status, changed ? R4_OK : R4_E_MEMORY);
    r4_data_free(changed);
    if (!reached) break;
  }
  r4_net_free(n);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lost_ones_are_counted),
    cmocka_unit_test(what_one_class_has_is_removed),
    cmocka_unit_test(what_both_have_is_not_removed),
    cmocka_unit_test(few_masks_are_not_rare_ones),
    cmocka_unit_test(changed_examples_are_given),
    cmocka_unit_test(masks_of_their_own_are_swapped),
    cmocka_unit_test(other_contents),
    cmocka_unit_test(other_contents_of_one_class),
    cmocka_unit_test(soft_masks_blend),
    cmocka_unit_test(draws_depend_on_the_seed_alone),
    cmocka_unit_test(all_other_classes_lend_theirs),
    cmocka_unit_test(content_of_the_own_class_is_not_pasted),
    cmocka_unit_test(nothing_to_swap_is_said),
    cmocka_unit_test(content_of_others_is_pasted),
    cmocka_unit_test(pasted_content_may_be_their_own),
    cmocka_unit_test(donors_must_fit),
    cmocka_unit_test(shares_over_seeds),
    cmocka_unit_test(options_are_checked),
    cmocka_unit_test(memory_may_run_out),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("swap", tests, NULL, NULL);
}
