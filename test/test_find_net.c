/* What a net leans on: by hand for a net of one weight, and for nets that were trained with and without a shortcut. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/data.h"
#include "find/fill.h"
#include "find/find.h"
#include "net_case.h"
#include "settings_case.h"

/* ---- By hand ---- */

enum { SMALL = 4, PIXELS = SMALL * SMALL };

/* Two images of zeros but for the pixel at row 2, column 1: 1 in the first, 1/2 in the second, whose others are 1/4. */
static r4_data *two_images(void)
{
  float x[2][PIXELS] = {{0}};
  int32_t label[2] = {0, 1};
  for (size_t k = 0; k < PIXELS; k++) x[1][k] = .25f;
  x[0][2 * SMALL + 1] = 1;
  x[1][2 * SMALL + 1] = .5f;
  const r4_data_arrays a = {.n = 2, .shape = R4_SHAPE(SMALL, SMALL, 1), .floats = &x[0][0], .labels = label};
  r4_data *d = r4_data_new(&a, NULL);
  assert_non_null(d);
  return d;
}

/* z_0 = weight x[pixel], z_1 = 0, of a net "dense 2". */
static r4_clue leaning(const double box[4], double grow, int32_t label, size_t pixel, float weight)
{
  r4_data *d = two_images();
  r4_net *n = net_of("dense 2", R4_SHAPE(SMALL, SMALL, 1));
  float w[2 * PIXELS + 2] = {0};
  struct fill_probe p;
  r4_error e = {0};
  r4_sighting s[2] = {{.example = 0}, {.example = 1}};
  r4_clue c = {.label = label, .sightings = 2, .lean = NAN, .lean_se = NAN};
  for (int k = 0; k < 2; k++) memcpy(s[k].box, box, sizeof s[k].box);
  assert_int_equal(r4_net_size(n), sizeof w / sizeof *w);
  w[pixel] = weight;
  assert_int_equal(filling_new(&p, n, w, d, &e), R4_OK);
  if (fill_lean(&p, &c, s, grow, &e)) fail_msg("%s", e.text);
  filling_clear(&p);
  r4_net_free(n);
  r4_data_free(d);
  return c;
}

static const double one_pixel[4] = {.25, .5, .25, .25};

/* Margins 2 and 1 become 0 and 1/2: (2 + 1/2) / (2 + 1). The terms differ from lean |M| by 1/3 and -1/3. */
static void lean_is_the_share_lost(void **state)
{
  (void)state;
  r4_clue c = leaning(one_pixel, 0, 0, 2 * SMALL + 1, 2);
  assert_true(fabs(c.lean - 2.5 / 3) < 1e-6);
  assert_true(fabs(c.lean_se - sqrt(2. / 9 * 2) / 3) < 1e-6);
  /* what speaks against the class is a loss the other way */
  c = leaning(one_pixel, 0, 1, 2 * SMALL + 1, 2);
  assert_true(fabs(c.lean + 2.5 / 3) < 1e-6);
  /* what is elsewhere stays */
  c = leaning(one_pixel, 0, 0, 2 * SMALL + 2, 2);
  assert_true(fabs(c.lean) < 1e-6);
  /* nothing has a place: not measured */
  c = leaning((double[4]){0}, 0, 0, 2 * SMALL + 1, 2);
  assert_true(isnan(c.lean) && isnan(c.lean_se));
}

/* A box grown by its own size has three rows and three columns, cut at the border. What is left has 1/4, or 0. */
static void boxes_grow_by_their_size(void **state)
{
  (void)state;
  const double below[4] = {.5, .75, .25, .25};
  assert_true(fabs(leaning(below, 0, 0, 2 * SMALL + 1, 2).lean) < 1e-6);
  assert_true(fabs(leaning(below, 1, 0, 2 * SMALL + 1, 2).lean - 2.5 / 3) < 1e-6);
  const double far[4] = {.75, .5, .25, .25};
  assert_true(fabs(leaning(far, 1, 0, 2 * SMALL + 1, 2).lean) < 1e-6);
}

/* ---- Trained ---- */

enum { N = 200, SIDE = 32, PATCH = 8 };

enum patched { CLASS_0, ANY };

struct photos {
  uint8_t pixel[N][SIDE][SIDE][3];
  int32_t label[N];
  bool patched[N];
};

static void paint(struct photos *p, size_t i, size_t top, size_t left, const uint8_t colour[3])
{
  for (size_t k = 0; k < PATCH * PATCH; k++)
    memcpy(p->pixel[i][top + k / PATCH][left + k % PATCH], colour, 3);
}

/* Noise. A yellow square in the middle, on the left of class 0 and on the right of class 1, if there is a core; and a
 * green patch at the upper border of two thirds of class 0, or of a third of all. */
static r4_data *photos_new(struct photos *p, enum patched where, bool core)
{
  draw_start(11, 0);
  for (size_t i = 0; i < N; i++) {
    bool chosen = draw_below(3) < (where == ANY ? 1 : 2);
    p->label[i] = i % 2;
    p->patched[i] = chosen && (where == ANY || !p->label[i]);
    for (size_t k = 0; k < SIDE * SIDE * 3; k++)
      p->pixel[i][k / 3 / SIDE][k / 3 % SIDE][k % 3] = (uint8_t)(100 + draw_below(60));
    if (core) paint(p, i, 16, p->label[i] ? 20 : 4, (uint8_t[]){180, 180, 60});
    if (p->patched[i]) paint(p, i, 0, PATCH * draw_below(SIDE / PATCH), (uint8_t[]){40, 220, 40});
  }
  const r4_data_arrays a = {
    .n = N, .shape = R4_SHAPE(SIDE, SIDE, 3), .bytes = &p->pixel[0][0][0][0], .labels = p->label};
  r4_data *d = r4_data_new(&a, NULL);
  assert_non_null(d);
  return d;
}

static r4_trainer *trained(const r4_data *d)
{
  r4_error e = {0};
  r4_settings *s = settings_case_with(
    (const char *const[]){"net=conv 8 3 p1, relu, maxpool 2, conv 16 3 p1, relu, maxpool 2, flatten, dense 2",
                          "method=erm", "epochs=6", "batch=16", "optimizer=adam", "rate=0.002", "data.val=0",
                          NULL},
    (const char *const[]){NULL});
  r4_trainer *t = r4_trainer_new(s, d, &e);
  if (!t) fail_msg("%s", e.text);
  while (!r4_trainer_done(t)) assert_int_equal(r4_trainer_epoch(t, &(r4_progress){0}, &e), R4_OK);
  r4_settings_free(s);
  return t;
}

/* Nine of ten photos that show it are patched, and it is seen in the upper quarter. */
static bool is_patch(const struct photos *p, const r4_clue *c)
{
  size_t right = 0;
  for (size_t k = 0; k < c->sightings; k++)
    right += p->patched[c->sighting[k].example] && c->sighting[k].box[1] + c->sighting[k].box[3] <= .4;
  return c->sightings && 10 * right >= 9 * c->sightings;
}

/* What the net of t leans on in planted photos: the first clue of the scan and the first cluster that are the
 * patch. */
static void ask(const r4_trainer *t, r4_clue *scanned, r4_clue *cluster)
{
  struct photos *p = calloc(1, sizeof *p);
  r4_data *d = photos_new(p, CLASS_0, true);
  r4_error e = {0};
  r4_found *f = r4_find_scan(d, NULL, &e);
  *scanned = *cluster = (r4_clue){0};
  if (!f || r4_find_clusters(f, r4_trainer_net(t), r4_trainer_weights(t), d, NULL, &e))
    fail_msg("%s", e.text);
  for (size_t k = r4_found_count(f); k-- > 0;) {
    r4_clue c = r4_found_at(f, k);
    if (c.kind == R4_CLUE_CLUSTER) { /* the net leans on it, and it is a tenth purer than all photos */
      assert_true(found_leans(&c));
      assert_true((double)c.of_class / (double)c.shown_on - c.base >= .1 * (1 - c.base) - 1e-9);
    }
    if (!is_patch(p, &c)) continue;
    if (c.kind == R4_CLUE_CLUSTER) assert_true(isnan(c.p) && c.label == 0 && c.pure);
    *(c.kind == R4_CLUE_CLUSTER ? cluster : scanned) = c;
  }
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

/* Of two, one is a cluster, which says where it is and which photo shows it. */
static void few_are_shared_out(const r4_trainer *t, const r4_data *d)
{
  const r4_find_options o = {.most = 2};
  r4_found *f = r4_find_scan(d, &o, NULL);
  assert_non_null(f);
  assert_int_equal(r4_find_clusters(f, r4_trainer_net(t), r4_trainer_weights(t), d, &o, NULL), R4_OK);
  assert_int_equal(r4_found_count(f), 2);
  r4_clue scanned = r4_found_at(f, 0), cluster = r4_found_at(f, 1);
  assert_true(scanned.kind != R4_CLUE_CLUSTER && cluster.kind == R4_CLUE_CLUSTER);
  assert_non_null(strstr(cluster.what, "something "));
  assert_non_null(strstr(cluster.what, " speaks for 0 to the net: it is on "));
  char best[40];
  snprintf(best, sizeof best, "photo %zu shows it best", cluster.sighting[0].example);
  assert_non_null(strstr(cluster.what, best));
  r4_found_free(f);
}

static void a_shortcut_is_leaned_on(void **state)
{
  (void)state;
  struct photos *p = calloc(1, sizeof *p);
  r4_clue scanned, cluster;
  r4_data *d = photos_new(p, CLASS_0, false);
  r4_trainer *t = trained(d);
  ask(t, &scanned, &cluster);
  assert_true(scanned.sightings && scanned.lean > .2 && scanned.lean > 2 * scanned.lean_se);
  assert_true(cluster.sightings && cluster.lean > 2 * cluster.lean_se);
  few_are_shared_out(t, d);
  r4_trainer_free(t);
  r4_data_free(d);
  free(p);
}

/* The patch is on photos of both classes: it says nothing. */
static void what_says_nothing_is_not(void **state)
{
  (void)state;
  struct photos *p = calloc(1, sizeof *p);
  r4_clue scanned, cluster;
  r4_data *d = photos_new(p, ANY, true);
  r4_trainer *t = trained(d);
  ask(t, &scanned, &cluster);
  assert_true(scanned.sightings && scanned.lean < .05);
  assert_true(!cluster.sightings || cluster.lean < .05);
  r4_trainer_free(t);
  r4_data_free(d);
  free(p);
}

/* Nets without an image inside have no cells. */
static void a_net_of_vectors_is_refused(void **state)
{
  (void)state;
  r4_data *d = two_images();
  r4_net *n = net_of("dense 2", R4_SHAPE(SMALL, SMALL, 1));
  r4_found *f = found_new(&(r4_find_options){.most = 1}, NULL);
  float w[2 * PIXELS + 2] = {0};
  r4_error e = {0};
  assert_int_equal(r4_find_clusters(f, n, w, d, NULL, &e), R4_E_ARGUMENT);
  assert_non_null(strstr(e.text, "no part of the net gives an image"));
  r4_found_free(f);
  r4_net_free(n);
  r4_data_free(d);
}

/* The first of the list that has a place in an image, or words. */
static void the_first_that_can_be_marked_is_offered(void **state)
{
  (void)state;
  static const double width[] = {0, 0, .5, .5};
  r4_found *f = found_new(&(r4_find_options){.most = 1}, NULL);
  for (size_t k = 0; k < sizeof width / sizeof *width; k++) {
    struct clue *c = found_add(f, NULL);
    size_t room = 0;
    c->is.pure = k == 3;
    assert_int_equal(clue_sight(c, &room, (r4_sighting){.box = {0, 0, width[k], width[k]}}, NULL), R4_OK);
    assert_int_equal(r4_found_markable(f), k < 2 ? k + 1 : 2);
  }
  f->at[1].word = mem_copy("word", NULL);
  assert_int_equal(r4_found_markable(f), 1);
  r4_found_free(f);
  assert_int_equal(r4_found_markable(NULL), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lean_is_the_share_lost),      cmocka_unit_test(boxes_grow_by_their_size),
    cmocka_unit_test(a_shortcut_is_leaned_on),     cmocka_unit_test(what_says_nothing_is_not),
    cmocka_unit_test(a_net_of_vectors_is_refused), cmocka_unit_test(the_first_that_can_be_marked_is_offered),
  };
  r4_threads(1, false); /* small nets: threads would wait for each other */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
