/* The order of what is found: what is on most of a class is not hidden by what is pure, each class is among the first,
 * and what a net leans on comes first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/data.h"
#include "find/find.h"
#include "find/giveaway.h"

/* ---- By hand ---- */

static bool near(double a, double b)
{
  return fabs(a - b) < 1e-12;
}

/* 60 of 80 are of a class of 100 among 400: .6 (.75 - .25) / .75. */
static void what_is_given_away(void **state)
{
  (void)state;
  assert_true(near(giveaway_share((struct giveaway){80, 60, 400, 100}), .4));
  assert_true(near(giveaway_share((struct giveaway){20, 20, 400, 100}), .2));
  assert_true(near(giveaway_share((struct giveaway){40, 10, 400, 100}), 0));
  assert_true(giveaway_share((struct giveaway){400, 400, 400, 400}) == 0);
  assert_true(giveaway_is_pure((struct giveaway){50, 49, 400, 100}));
  assert_false(giveaway_is_pure((struct giveaway){50, 48, 400, 100}));
  assert_true(giveaway_leads((struct giveaway){80, 60, 400, 100}));
  assert_false(giveaway_leads((struct giveaway){200, 60, 400, 100})); /* .6 (.3 - .25) / .75 = .04 */
  assert_true(giveaway_order((struct giveaway){20, 20, 400, 100}, -8) == -8);
  assert_true(giveaway_order((struct giveaway){80, 60, 400, 100}, -8) == -4);
}

/* Of a class of 100, sets of 70 and 50 share 35 by chance: more than 42 is half of what is left. */
static void chance_says_nothing(void **state)
{
  (void)state;
  assert_false(giveaway_is_told(70, 50, 35, 100));
  assert_false(giveaway_is_told(70, 50, 42, 100));
  assert_true(giveaway_is_told(70, 50, 43, 100));
  assert_false(giveaway_is_told(50, 70, 42, 100));
  assert_true(giveaway_is_told(50, 70, 43, 100));
  assert_true(giveaway_is_told(10, 10, 6, 100));
  assert_false(giveaway_is_told(10, 10, 5, 100));
}

/* ---- A list of labels ---- */

static void assert_order(const char *labels, const char *expected)
{
  r4_found *f = found_new(&(r4_find_options){.level = .05}, NULL);
  char is[40] = "";
  for (size_t k = 0; labels[k]; k++) {
    struct clue *c = found_add(f, NULL);
    c->is.label = labels[k] - 'a';
    c->is.shown_on = k;
  }
  assert_int_equal(found_spread(f, NULL), R4_OK);
  for (size_t k = 0; k < f->n; k++) is[k] = (char)('0' + f->at[k].is.shown_on);
  if (strcmp(is, expected)) fail_msg("%s: %s, expected %s", labels, is, expected);
  r4_found_free(f);
}

static void each_class_is_among_the_first(void **state)
{
  (void)state;
  assert_order("", "");
  assert_order("aaa", "012");
  assert_order("aaaaab", "012354");
  assert_order("aaaaaabac", "012683457");
  assert_order("abcdefg", "0123456");
}

/* ---- What a net leans on ---- */

static void put(r4_found *f, r4_clue_kind kind, bool leads, bool local, double lean, double se)
{
  struct clue *c = found_add(f, NULL);
  c->is.kind = kind;
  c->leads = leads;
  c->is.local = local;
  c->is.lean = lean;
  c->is.lean_se = se;
  c->is.shown_on = f->n - 1;
}

static void what_a_net_leans_on_comes_first(void **state)
{
  (void)state;
  static const size_t expected[] = {2, 6, 0, 3, 1, 4, 5};
  r4_found *f = found_new(&(r4_find_options){.level = .05}, NULL);
  put(f, R4_CLUE_COLOUR, true, true, .2, .11);   /* 0: leads, and two standard errors reach 0 */
  put(f, R4_CLUE_COLOUR, false, false, .9, .01); /* 1: of the whole photo */
  put(f, R4_CLUE_COLOUR, true, true, .3, .01);
  put(f, R4_CLUE_COLOUR, false, true, .3, .01);
  put(f, R4_CLUE_COLOUR, false, true, .04, .001); /* 4: too little */
  put(f, R4_CLUE_FILE, false, false, NAN, NAN);
  put(f, R4_CLUE_CLUSTER, false, true, .1, .01);
  assert_int_equal(found_merge(f, 6, 20, NULL), R4_OK);
  for (size_t k = 0; k < f->n; k++)
    if (f->at[k].is.shown_on != expected[k]) fail_msg("%zu: %zu, expected %zu", k, f->at[k].is.shown_on, expected[k]);
  r4_found_free(f);
}

static void assert_leaning(double lean, double se, const char *expected)
{
  const r4_clue c = {.lean = lean, .lean_se = se};
  char *said = r4_clue_leaning(&c);
  if (expected)
    assert_string_equal(said, expected);
  else
    assert_null(said);
  r4_string_free(said);
}

static void lean_is_said_in_words(void **state)
{
  (void)state;
  assert_leaning(NAN, NAN, NULL);
  assert_leaning(-.39, .08, "painted over: no measurable effect on the net");
  assert_leaning(.04, .001, "painted over: no measurable effect on the net");
  assert_leaning(.3, .16, "painted over: no measurable effect on the net");
  assert_leaning(.6, .05, "painted over, the net loses 60 % of its margin");
  assert_leaning(1.16, .05, "painted over, the prediction of the net turns");
  assert_null(r4_clue_leaning(NULL));
}

static r4_found *scan(const r4_data_arrays *a, r4_data **d)
{
  r4_error e = {0};
  *d = r4_data_new(a, &e);
  r4_found *f = *d ? r4_find_scan(*d, NULL, &e) : NULL;
  if (!f) fail_msg("%s", e.text);
  return f;
}

/* ---- Texts: a pure word in half of class 0, and another one in 70 % of it and 5 % of the others ---- */

enum { CLASSES = 3, TEXTS = 900, TOKENS = 12, PURE_WORD = 60, WORD, VOCABULARY };

static void a_word_on_most_of_a_class_is_found(void **state)
{
  (void)state;
  static int32_t id[TEXTS][TOKENS], label[TEXTS], length[TEXTS];
  draw_start(4, 0);
  for (size_t i = 0; i < TEXTS; i++) {
    label[i] = (int32_t)(i % CLASSES);
    length[i] = TOKENS;
    for (size_t k = 0; k < TOKENS; k++) id[i][k] = (int32_t)draw_below(PURE_WORD);
    if (!label[i] && draw_below(2)) id[i][2] = PURE_WORD;
    if (draw_below(100) < (label[i] ? 5 : 70)) id[i][5 + draw_below(5)] = WORD;
  }
  const r4_data_arrays a = {.n = TEXTS,
                            .shape = R4_SHAPE(TOKENS),
                            .tokens = &id[0][0],
                            .lengths = length,
                            .vocabulary = VOCABULARY,
                            .labels = label};
  r4_data *d;
  r4_found *f = scan(&a, &d);
  assert_int_equal(r4_found_count(f), 2); /* nothing of the two is said twice */
  r4_clue pure = r4_found_at(f, 0), impure = r4_found_at(f, 1);
  assert_string_equal(pure.id, "word-60");
  assert_string_equal(impure.id, "word-61");
  assert_true(pure.pure && !impure.pure && impure.of_class >= 180 && !impure.label);
  for (size_t k = 0; k < impure.of_class; k++) assert_int_equal(label[impure.sighting[k].example], 0);
  r4_found_free(f);
  r4_data_free(d);
}

/* ---- Photos: noise; a blue square at the top left of half of class 0, and stripes at the bottom right of 70 % of it
 * and of 5 % of the others ---- */

enum { PHOTOS = 900, SIDE = 32, PIXELS = SIDE * SIDE, STAMP = 8 };

struct photos {
  uint8_t pixel[PHOTOS][SIDE][SIDE][3];
  int32_t label[PHOTOS];
  bool stamped[PHOTOS];
};

static void paint(struct photos *p, size_t i, size_t top, size_t left, const uint8_t even[3], const uint8_t odd[3])
{
  for (size_t k = 0; k < STAMP * STAMP; k++)
    memcpy(p->pixel[i][top + k / STAMP][left + k % STAMP], k / STAMP % 2 ? odd : even, 3);
}

static void noise(struct photos *p, size_t i)
{
  p->label[i] = (int32_t)(i % CLASSES);
  for (size_t k = 0; k < PIXELS * 3; k++)
    p->pixel[i][k / 3 / SIDE][k / 3 % SIDE][k % 3] = (uint8_t)(100 + draw_below(60));
}

static struct photos *photos_new(void)
{
  static const uint8_t blue[3] = {20, 40, 220}, white[3] = {245, 245, 235}, red[3] = {180, 20, 30};
  struct photos *p = calloc(1, sizeof *p);
  assert_non_null(p);
  draw_start(6, 0);
  for (size_t i = 0; i < PHOTOS; i++) {
    noise(p, i);
    if (!p->label[i] && draw_below(2)) paint(p, i, 0, 0, blue, blue);
    p->stamped[i] = draw_below(100) < (p->label[i] ? 5 : 70);
    if (p->stamped[i]) paint(p, i, SIDE - STAMP, SIDE - STAMP, white, red);
  }
  return p;
}

/* It is said once: by one of the first, and on most of those that have it. */
static void a_stamp_on_most_of_a_class_is_found(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  const r4_data_arrays a = {
    .n = PHOTOS, .shape = R4_SHAPE(SIDE, SIDE, 3), .bytes = &p->pixel[0][0][0][0], .labels = p->label};
  r4_data *d;
  r4_found *f = scan(&a, &d);
  size_t stamps = 0, first = 0;
  for (size_t k = 0; k < r4_found_count(f); k++) {
    r4_clue c = r4_found_at(f, k);
    size_t right = 0;
    for (size_t j = 0; j < c.sightings; j++) right += p->stamped[c.sighting[j].example];
    bool is = !c.label && 10 * right >= 9 * c.sightings;
    stamps += is;
    first += is && k < FOUND_FIRST && c.of_class >= 150 && !c.pure && c.sighting[0].box[0] >= .75;
  }
  assert_int_equal(stamps, 1);
  assert_int_equal(first, 1);
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

/* Yellow squares on 70 % of class 0 and 5 % of the others. The few that are at the border are pure, which comes first;
 * but the others are what most of the class has. */
static void most_of_a_class_takes_the_place_of_a_few(void **state)
{
  (void)state;
  struct photos *p = calloc(1, sizeof *p);
  assert_non_null(p);
  draw_start(2, 0);
  for (size_t i = 0; i < PHOTOS; i++) {
    uint8_t yellow[3] = {(uint8_t)(200 + draw_below(50)), (uint8_t)(200 + draw_below(50)), 20};
    noise(p, i);
    p->stamped[i] = draw_below(100) < (p->label[i] ? 5 : 70);
    bool edge = !p->label[i] && i < PHOTOS / 8;
    if (p->stamped[i]) paint(p, i, edge ? 0 : 8 + draw_below(8), 8 + draw_below(8), yellow, yellow);
  }
  const r4_data_arrays a = {
    .n = PHOTOS, .shape = R4_SHAPE(SIDE, SIDE, 3), .bytes = &p->pixel[0][0][0][0], .labels = p->label};
  r4_data *d;
  r4_found *f = scan(&a, &d);
  r4_clue c = r4_found_at(f, 0);
  assert_true(!c.label && !c.pure && c.of_class >= 180);
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_given_away),
    cmocka_unit_test(chance_says_nothing),
    cmocka_unit_test(each_class_is_among_the_first),
    cmocka_unit_test(what_a_net_leans_on_comes_first),
    cmocka_unit_test(lean_is_said_in_words),
    cmocka_unit_test(a_word_on_most_of_a_class_is_found),
    cmocka_unit_test(a_stamp_on_most_of_a_class_is_found),
    cmocka_unit_test(most_of_a_class_takes_the_place_of_a_few),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
