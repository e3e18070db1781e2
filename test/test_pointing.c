/* Pointing games: of given maps against NumPy's (test/golden/pointing.txt), of nets that are known to look at one
 * region, and what they refuse. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_case.h"
#include "measure/pointing.h"
#include "scratch.h"
#include "small_images.h"

static void test_golden(void **state)
{
  (void)state;
  static const char *const cases[] = {"grey", "colour", "soft", "tie", "miss"};
  golden *gold = golden_open("pointing");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const golden_tensor *t = golden_get(gold, "%s.a", cases[k]), *m = golden_get(gold, "%s.mask", cases[k]);
    float a[200], mask[200], minus[200];
    assert_in_range(t->count, 1, 200);
    for (size_t i = 0; i < t->count; i++)
      a[i] = (float)t->value[i], mask[i] = (float)m->value[i], minus[i] = -a[i];
    size_t pixels = (size_t)t->dim[0], channels = (size_t)t->dim[1];
    for (int turned = 0; turned < 2; turned++) {
      struct pointed r = point(pixels, channels, turned ? -1 : 1, turned ? minus : a, mask);
      assert_true(r.somewhere);
      assert_close(cases[k], (double[]){r.energy, r.share, r.hit, r.area},
                   golden_get(gold, "%s.figures", cases[k])->value, 4, 1e-6, 0);
    }
  }
  golden_free(gold);
  const float mask[] = {1, 0}, zero[] = {0, 0}, negative[] = {-1, -2}, endless[] = {INFINITY, 1};
  assert_false(point(2, 1, 1, zero, mask).somewhere || point(2, 1, 1, negative, mask).somewhere ||
               point(2, 1, 1, endless, mask).somewhere);
}

/* ---- Nets that are known ---- */

enum { N = 10, SIDE = 4, PIXELS = SIDE * SIDE, HALF = PIXELS / 2 };

/* The upper half is masked; the last example has no mask, the one before it nothing else. */
static r4_data *halves(void)
{
  static float x[N * PIXELS], m[N * PIXELS];
  static int32_t y[N];
  for (size_t i = 0; i < N; i++) {
    y[i] = i % 3 != 0; /* of those that count, three of eight are 0 */
    for (size_t k = 0; k < PIXELS; k++) {
      x[i * PIXELS + k] = 0.25f + 0.5f * (float)((i + k) % 3) / 3;
      m[i * PIXELS + k] = i == N - 2 || (k < HALF && i < N - 1);
    }
  }
  return small_images(N, SIDE, x, y, NULL, m);
}

/* z_1 - z_0 = 2 (upper sum of the upper pixels + lower sum of the lower ones) */
static void play(const char *method, r4_explain what, double upper, double lower, r4_pointing *p)
{
  r4_error e = {0};
  float w[2 * PIXELS + 2] = {0};
  r4_net *n = r4_net_open("flatten, dense 2", R4_SHAPE(SIDE, SIDE, 1), &e);
  r4_data *d = halves();
  r4_attribution_options o = r4_attribution_defaults();
  o.explain = what;
  o.window = 2;
  assert_non_null(n);
  assert_int_equal(r4_net_size(n), 2 * PIXELS + 2);
  for (size_t k = 0; k < PIXELS; k++) {
    w[k] = -(float)(k < HALF ? upper : lower);
    w[PIXELS + k] = -w[k];
  }
  if (r4_pointing_game(method, n, w, d, &o, p, &e)) fail_msg("%s: %s", method, e.text);
  r4_data_free(d);
  r4_net_free(n);
}

static bool is(const r4_pointing *p, double energy, double share, double hit)
{
  return fabs(p->energy - energy) < 1e-6 && fabs(p->share - share) < 1e-6 && fabs(p->hit - hit) < 1e-12 &&
         fabs(p->area - 0.5) < 1e-12;
}

/* Labels 1 see positive weights, labels 0 negative ones: a map of one sign counts for one of them. */
static void test_one_region(void **state)
{
  (void)state;
  static const char *const methods[] = {"gradient", "input-x-gradient", "integrated", "occlusion"};
  static const r4_explain whats[] = {R4_EXPLAIN_MARGIN, R4_EXPLAIN_LOSS};
  r4_pointing p;
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
    for (size_t i = 0; i < 2; i++) {
      play(methods[k], whats[i], 0, 1, &p);
      assert_int_equal(p.examples + p.left_out, N - 2);
      assert_int_equal(p.examples, 5);
      bool between = !strcmp(methods[k], "occlusion"); /* windows reach over the border */
      if (!(between ? p.energy > 0.7 && p.hit > 0.99 : is(&p, 1, 1, 1)))
        fail_msg("%s: %g %g %g", methods[k], p.energy, p.share, p.hit);
      play(methods[k], whats[i], 1, 0, &p);
      if (!(between ? p.energy < 0.3 && p.hit < 0.01 : is(&p, 0, 0, 0)))
        fail_msg("%s: %g %g %g", methods[k], p.energy, p.share, p.hit);
    }
  for (size_t i = 0; i < 2; i++) {
    play("gradient", whats[i], -1, 3, &p); /* either sign has something positive */
    assert_int_equal(p.examples, N - 2);
    assert_true(is(&p, 5. / 8, 0.75, 5. / 8));
  }
  play("gradient", R4_EXPLAIN_MARGIN, 0, 0, &p);
  assert_true(!p.examples && p.left_out == N - 2 && isnan(p.energy) && isnan(p.hit));
}

static void test_refusals(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_pointing p;
  r4_net *n = r4_net_open("flatten, dense 2", R4_SHAPE(SIDE, SIDE, 1), &e);
  float w[2 * PIXELS + 2] = {0};
  r4_data *d = halves(), *bare = r4_data_keep_masks(d, 0, 0, &e);
  assert_error(&e, r4_pointing_game("lime", n, w, d, NULL, &p, &e),
               "no attribution \"lime\"; expected gradient");
  assert_error(&e, r4_pointing_game("gradcam", n, w, d, NULL, &p, &e), "no part of the net outputs an image");
  assert_error(&e, r4_pointing_game("gradient", n, w, bare, NULL, &p, &e),
               "pointing game: no example has a mask that covers only a part of it");
  assert_error(&e, r4_pointing_game(NULL, n, w, d, NULL, &p, &e), "a method");
  r4_data_free(d);
  r4_data_free(bare);
  r4_net_free(n);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_one_region),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
