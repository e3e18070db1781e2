/* The search for what gives the label away: what is planted is found, by its place and on its photos; labels dealt out
 * at random give nothing; masks that are proposed lie on what was planted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hypergeometric.h"
#include "base/mem.h"
#include "check.h"
#include "data/data.h"
#include "find/proposed.h"
#include "find/ranking.h"
#include "scratch.h"

enum { N = 600, SIDE = 32, PIXELS = SIDE * SIDE, PATCHED = 120, PATCH = 8, DEALT = 20 };

/* ---- Photos: of noise, every fifth of class 1; the first PATCHED of class 0 have a green patch at the border ---- */

struct photos {
  uint8_t pixel[N][SIDE][SIDE][3];
  int32_t label[N];
  size_t left[N]; /* of the patch; SIDE: there is none */
};

static struct photos *photos_new(void)
{
  struct photos *p = calloc(1, sizeof *p);
  size_t patched = 0;
  draw_start(3, 0);
  assert_non_null(p);
  for (size_t i = 0; i < N; i++) {
    p->label[i] = i % 5 == 4;
    p->left[i] = SIDE;
    for (size_t k = 0; k < PIXELS; k++)
      for (size_t c = 0; c < 3; c++) p->pixel[i][k / SIDE][k % SIDE][c] = (uint8_t)(100 + draw_below(60));
    if (p->label[i] || patched++ >= PATCHED) continue;
    p->left[i] = draw_below(SIDE - PATCH + 1);
    for (size_t y = 0; y < PATCH; y++)
      for (size_t x = 0; x < PATCH; x++)
        memcpy(p->pixel[i][y][p->left[i] + x], (uint8_t[]){20, (uint8_t)(180 + draw_below(40)), 60}, 3);
  }
  return p;
}

static r4_data *photos_data(const struct photos *p, const int32_t *label)
{
  r4_error e = {0};
  const r4_data_arrays a = {
    .n = N, .shape = R4_SHAPE(SIDE, SIDE, 3), .bytes = &p->pixel[0][0][0][0], .labels = label};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static r4_found *scan(const r4_data *d, const r4_find_options *o)
{
  r4_error e = {0};
  r4_found *f = r4_find_scan(d, o, &e);
  if (!f) fail_msg("%s", e.text);
  return f;
}

/* ---- Tests of numbers ---- */

/* By hand: of 10, 4 are of a class; 3 are drawn. P(X >= 2) = (C(4,2) C(6,1) + C(4,3)) / C(10,3) = 40 / 120. */
static void tail_is_right(void **state)
{
  (void)state;
  assert_true(fabs(exp(hypergeometric_tail(10, 4, 3, 2)) - 1. / 3) < 1e-12);
  assert_true(fabs(exp(hypergeometric_tail(10, 4, 3, 3)) - 4. / 120) < 1e-12);
  assert_true(hypergeometric_tail(10, 4, 3, 0) == 0);
  assert_true(isinf(hypergeometric_tail(10, 4, 3, 4)));
  /* of 8 drawn of 10, at least 2 of 4 must be there */
  assert_true(hypergeometric_tail(10, 4, 8, 2) == 0);
  assert_true(fabs(exp(hypergeometric_tail(10, 4, 8, 3)) - 39. / 45) <
              1e-12); /* 1 - C(4,2) C(6,6) / C(10,8) */
}

/* 40 of 100, all of class 1, have the largest values, but for the 31st, which is of class 0. */
static void pure_sets_are_as_long_as_they_can(void **state)
{
  (void)state;
  float value[100];
  int32_t label[100];
  struct ranking r;
  struct tries t = {0};
  uint64_t tests[SET_KINDS] = {0};
  for (size_t k = 0; k < 100; k++) {
    value[k] = (float)(100 - k);
    label[k] = k < 41 && k != 30;
  }
  assert_int_equal(ranking_new(&r, 100, 2, label, NULL), R4_OK);
  ranking_make(&r, value);
  assert_int_equal(ranking_try(&r, &t, tests, NULL), R4_OK);
  assert_int_equal(tests[SET_PURE], 2 * 3);
  assert_int_equal(tests[SET_MOSTLY], 2 * 3); /* of 20, 30 and 50 */
  assert_int_equal(tests[SET_SAME], 0);
  bool found = false;
  for (size_t k = 0; k < t.n; k++) {
    if (t.at[k].kind != SET_PURE || t.at[k].label != 1) continue;
    found = true;
    assert_int_equal(t.at[k].m, 41);
    assert_int_equal(t.at[k].of_class, 40);
    assert_true(t.at[k].low == 60);
  }
  assert_true(found);
  r4_mem_free(t.at);
  ranking_clear(&r);
}

/* Equals are never told apart: 50 of 100 have the same largest value, and those of class 1 come first in the data. */
static void equals_stay_together(void **state)
{
  (void)state;
  float value[100];
  int32_t label[100];
  struct ranking r;
  struct tries t = {0};
  uint64_t tests[SET_KINDS] = {0};
  for (size_t k = 0; k < 100; k++) value[k] = k < 50 ? 1 : 0, label[k] = k < 25 || (k >= 50 && k < 75);
  assert_int_equal(ranking_new(&r, 100, 2, label, NULL), R4_OK);
  ranking_make(&r, value);
  assert_int_equal(ranking_try(&r, &t, tests, NULL), R4_OK);
  assert_int_equal(t.n, 0);
  assert_int_equal(tests[SET_SAME], 4);
  ranking_clear(&r);
}

/* ---- Photos ---- */

static void patch_is_found(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  r4_data *d = photos_data(p, p->label);
  r4_found *f = scan(d, NULL);
  assert_true(r4_found_count(f) > 0);
  r4_clue c = r4_found_at(f, 0);
  size_t right = 0;
  for (size_t k = 0; k < c.sightings; k++) {
    const r4_sighting *s = c.sighting + k;
    right += p->left[s->example] < SIDE && s->box[1] == 0 && s->box[3] == 1. / 8;
    if (k) assert_true(s->score <= s[-1].score);
  }
  assert_true(c.pure && c.local && c.p < 1e-6 && c.label == 0);
  assert_true(c.shown_on >= 100 && c.sightings == c.shown_on && right * 10 >= c.sightings * 9);
  assert_true(fabs(c.base - .8) < 1e-12);
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

static void deal(int32_t *label, size_t n)
{
  for (size_t i = n; i-- > 1;) {
    size_t j = draw_below(i + 1);
    int32_t was = label[i];
    label[i] = label[j];
    label[j] = was;
  }
}

static void dealt_labels_give_nothing(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  size_t alarms = 0;
  draw_start(7, 0);
  for (int k = 0; k < DEALT; k++) {
    deal(p->label, N);
    r4_data *d = photos_data(p, p->label);
    r4_found *f = scan(d, NULL);
    alarms += r4_found_count(f) > 0;
    r4_found_free(f);
    r4_data_free(d);
  }
  assert_true(alarms <= 1);
  free(p);
}

/* What masks cover is not looked at, unless it is asked for. */
static void masked_is_not_looked_at(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  uint8_t *mask = calloc(N, PIXELS);
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; p->left[i] < SIDE && k < PATCH * PATCH; k++)
      mask[i * PIXELS + k / PATCH * SIDE + p->left[i] + k % PATCH] = 1;
  const r4_data_arrays a = {.n = N,
                            .shape = R4_SHAPE(SIDE, SIDE, 3),
                            .bytes = &p->pixel[0][0][0][0],
                            .labels = p->label,
                            .mask_bytes = mask,
                            .mask_means = R4_MASKS_IRRELEVANT};
  r4_data *d = r4_data_new(&a, NULL);
  assert_non_null(d);
  r4_found *without = scan(d, NULL), *with = scan(d, &(r4_find_options){.masked = true});
  assert_int_equal(r4_found_count(without), 0);
  assert_true(r4_found_count(with) > 0);
  r4_found_free(without);
  r4_found_free(with);
  r4_data_free(d);
  free(mask);
  free(p);
}

static bool in_patch(const struct photos *p, size_t i, size_t k)
{
  return k / SIDE < PATCH && k % SIDE >= p->left[i] && k % SIDE < p->left[i] + PATCH;
}

/* Intersection over union of proposal and patch. */
static double overlap(const struct photos *p, const struct proposed *one)
{
  double both = 0, any = 0;
  for (size_t k = 0; k < PIXELS; k++) {
    bool here = in_patch(p, one->is.example, k), marked = one->mask[k];
    both += here && marked;
    any += here || marked;
  }
  return any > 0 ? both / any : 0;
}

/* Nine of ten overlap by 60 % at least, and what is said of how many are right is right. */
static void assert_masks_are_right(const struct photos *p, const r4_proposed *to)
{
  size_t well = 0, patched = 0, n = r4_proposed_count(to);
  for (size_t k = 0; k < n; k++) {
    bool is = p->left[r4_proposed_at(to, k).example] < SIDE;
    patched += is;
    well += is && overlap(p, to->at + k) >= .6;
    if (k) assert_true(r4_proposed_at(to, k).sure >= r4_proposed_at(to, k - 1).sure);
  }
  assert_true(patched >= PATCHED * 95 / 100 && n <= PATCHED + 25);
  assert_true(10 * well >= 9 * patched);
  assert_true(fabs(r4_proposed_right(to) - (double)patched / (double)n) < .1);
}

static void masks_lie_on_the_patch(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  r4_data *d = photos_data(p, p->label);
  r4_found *f = scan(d, NULL);
  r4_clue c = r4_found_at(f, 0);
  r4_error e = {0};
  r4_proposed *to = r4_find_propose(d, &c, NULL, &e);
  if (!to) fail_msg("%s", e.text);
  assert_masks_are_right(p, to);
  assert_null(r4_proposed_doubt(to, &c));
  assert_int_equal(r4_proposed_save(to, d, c.id, NULL, scratch_path("out"), &e), R4_OK);
  assert_true(file_exists(scratch_path("out/proposals.json")));
  r4_proposed_free(to);
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

static void assert_doubt(size_t n, size_t empty, double right, const char *expected)
{
  struct proposed at[20] = {0};
  for (size_t k = 0; k < n; k++) at[k].is.area = k < empty ? 0 : .1;
  const r4_proposed p = {.n = n, .at = at, .right = right};
  const r4_clue c = {.id = "cell-1"};
  char *doubt = r4_proposed_doubt(&p, &c);
  assert_true(r4_proposed_right(&p) == (n ? right : 0));
  if (!expected) assert_null(doubt);
  if (expected) assert_string_equal(doubt, expected);
  r4_string_free(doubt);
}

static void masks_may_be_doubted(void **state)
{
  (void)state;
  assert_doubt(20, 10, .5, NULL);
  assert_doubt(
    20, 0, .49,
    "these masks are not to be trusted: only 49 % of them are likely on photos that show it. What is at the "
    "places of cell-1 is on photos of other classes, too, or something is missing there");
  assert_doubt(
    20, 12, .3,
    "these masks are not to be trusted: only 30 % of them are likely on photos that show it, and 12 of 20 are "
    "empty. What is at the places of cell-1 is on photos of other classes, too, or something is missing there");
  assert_doubt(0, 0, .3, NULL);
  assert_null(r4_proposed_doubt(NULL, NULL));
  assert_true(r4_proposed_right(NULL) == 0);
}

static void file_reads_back(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  r4_data *d = photos_data(p, p->label);
  r4_found *f = scan(d, NULL);
  r4_error e = {0};
  char *path = strdup(scratch_path("find.json"));
  assert_int_equal(r4_found_save(f, d, "photos", NULL, path, &e), R4_OK);
  r4_found *again = r4_found_load(path, d, &e);
  if (!again) fail_msg("%s", e.text);
  char *was = r4_found_json(f, d, "photos", NULL, NULL), *is = r4_found_json(again, d, "photos", NULL, NULL);
  assert_string_equal(was, is);
  r4_data *masked = data_derive(d, &e); /* drawn since, because of what was found */
  uint32_t number = 0;
  data_set_masks(masked, masks_new(PIXELS, &e));
  assert_int_equal(masks_add(data_masks(masked), (uint8_t[PIXELS]){255}, &number, &e), R4_OK);
  masked->record[0].mask = number;
  r4_found *still = r4_found_load(path, masked, &e);
  if (!still) fail_msg("%s", e.text);
  r4_found_free(still);
  r4_data_free(masked);
  p->label[0] = 1;
  r4_data *other = photos_data(p, p->label);
  assert_null(r4_found_load(path, other, &e));
  assert_error(&e, R4_E_ARGUMENT, "is about other data");
  r4_string_free(was);
  r4_string_free(is);
  r4_found_free(f);
  r4_found_free(again);
  r4_data_free(d);
  r4_data_free(other);
  free(path);
  free(p);
}

static void threads_do_not_matter(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  r4_data *d = photos_data(p, p->label);
  char *said[2];
  for (int k = 0; k < 2; k++) {
    r4_threads(k + 1, false);
    r4_found *f = scan(d, NULL);
    said[k] = r4_found_json(f, d, NULL, NULL, NULL);
    r4_found_free(f);
  }
  r4_threads(0, false);
  assert_string_equal(said[0], said[1]);
  r4_string_free(said[0]);
  r4_string_free(said[1]);
  r4_data_free(d);
  free(p);
}

static void one_class_is_refused(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  r4_error e = {0};
  memset(p->label, 0, sizeof p->label);
  r4_data *d = photos_data(p, p->label);
  assert_null(r4_find_scan(d, NULL, &e));
  assert_error(&e, R4_E_ARGUMENT, "of one class");
  const r4_data_arrays a = {
    .n = 2, .shape = R4_SHAPE(3), .floats = (float[6]){0}, .labels = (int32_t[]){0, 1}};
  r4_data *vectors = r4_data_new(&a, NULL);
  assert_null(r4_find_scan(vectors, NULL, &e));
  assert_error(&e, R4_E_ARGUMENT, "only images and texts");
  r4_data_free(d);
  r4_data_free(vectors);
  free(p);
}

/* ---- Texts ---- */

enum { TEXTS = 300, TOKENS = 12, VOCABULARY = 60, PLANTED = 59 };

/* Random tokens; every third text of class 1 has PLANTED in it. */
static r4_data *texts_new(bool planted)
{
  static int32_t id[TEXTS][TOKENS], label[TEXTS], length[TEXTS];
  draw_start(9, 0);
  for (size_t i = 0; i < TEXTS; i++) {
    label[i] = (int32_t)draw_below(2);
    length[i] = TOKENS;
    for (size_t k = 0; k < TOKENS; k++) id[i][k] = (int32_t)draw_below(PLANTED);
    if (planted && label[i] && i % 3 == 0) id[i][1 + draw_below(TOKENS - 2)] = PLANTED;
  }
  const r4_data_arrays a = {.n = TEXTS,
                            .shape = R4_SHAPE(TOKENS),
                            .tokens = &id[0][0],
                            .lengths = length,
                            .vocabulary = VOCABULARY,
                            .labels = label};
  return r4_data_new(&a, NULL);
}

static void word_is_found(void **state)
{
  (void)state;
  r4_data *d = texts_new(true), *plain = texts_new(false);
  r4_found *f = scan(d, NULL), *nothing = scan(plain, NULL);
  assert_int_equal(r4_found_count(f), 1);
  r4_clue c = r4_found_at(f, 0);
  assert_string_equal(c.id, "word-59");
  assert_string_equal(c.words, "59");
  assert_int_equal(c.kind, R4_CLUE_WORD);
  assert_int_equal(c.label, 1);
  assert_true(c.pure && c.of_class == c.shown_on && c.sighting[0].token >= 1);
  assert_int_equal(r4_found_count(nothing), 0);
  char *sentence = r4_found_sentence(nothing);
  assert_non_null(strstr(sentence, "Nothing was found"));
  r4_string_free(sentence);
  r4_found_free(f);
  r4_found_free(nothing);
  r4_data_free(d);
  r4_data_free(plain);
}

/* ---- Memory ---- */

static r4_status all_of_it(const r4_data *photos, const r4_data *texts, r4_error *e)
{
  r4_proposed *p = NULL;
  r4_found *f = r4_find_scan(photos, NULL, e), *g = f ? r4_find_scan(texts, NULL, e) : NULL;
  if (g) {
    r4_clue c = r4_found_at(f, 0);
    p = r4_find_propose(photos, &c, NULL, e);
  }
  char *text = p ? r4_found_json(g, texts, "texts", NULL, e) : NULL;
  bool done = text;
  r4_string_free(text);
  r4_proposed_free(p);
  r4_found_free(f);
  r4_found_free(g);
  return done ? R4_OK : e->status;
}

static void each_allocation_may_fail(void **state)
{
  (void)state;
  struct photos *p = photos_new();
  r4_data *d = photos_data(p, p->label), *texts = texts_new(true);
  r4_error e = {0};
  r4_mem_fail_at(0);
  assert_int_equal(all_of_it(d, texts, &e), R4_OK);
  long all = r4_mem_count();
  for (long n = 1; n <= all; n += n < 30 ? 1 : all / 15 + 1) {
    e = (r4_error){0};
    r4_mem_fail_at(n);
    r4_status s = all_of_it(d, texts, &e);
    r4_mem_fail_at(0);
    if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
  }
  r4_data_free(d);
  r4_data_free(texts);
  free(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tail_is_right),
    cmocka_unit_test(pure_sets_are_as_long_as_they_can),
    cmocka_unit_test(equals_stay_together),
    cmocka_unit_test(patch_is_found),
    cmocka_unit_test(dealt_labels_give_nothing),
    cmocka_unit_test(masked_is_not_looked_at),
    cmocka_unit_test(masks_lie_on_the_patch),
    cmocka_unit_test(masks_may_be_doubted),
    cmocka_unit_test(file_reads_back),
    cmocka_unit_test(threads_do_not_matter),
    cmocka_unit_test(one_class_is_refused),
    cmocka_unit_test(word_is_found),
    cmocka_unit_test(each_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
