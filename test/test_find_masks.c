/* What proposed masks are made of: the probability of words, parts of a map, templates that are moved; and stamps at
 * one place, which are found whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "data/data.h"
#include "find/mask_draw.h"
#include "find/pixel_words.h"
#include "find/proposed.h"
#include "find/template.h"

enum { SIDE = 32, PIXELS = SIDE * SIDE };

/* ---- Words ---- */

static r4_data *grey(size_t side)
{
  static uint8_t pixel[2][64 * 64];
  const r4_data_arrays a = {.n = 2,
                            .shape = R4_SHAPE((int64_t)side, (int64_t)side, 1),
                            .bytes = &pixel[0][0],
                            .labels = (int32_t[]){0, 1}};
  r4_data *d = r4_data_new(&a, NULL);
  assert_non_null(d);
  return d;
}

/* Of what moves: word 1 is 30 % of the clue's pixels and 3 % of the others', P = 1 - .031 / .301; word 2 is as frequent
 * in the same images elsewhere as it is near, and word 3 in others. */
static void a_word_counts_as_much_as_it_is_in_excess(void **state)
{
  (void)state;
  r4_data *d = grey(SIDE);
  struct pixel_words m;
  assert_int_equal(pixel_words_new(&m, d, true, NULL), R4_OK);
  assert_true(m.rows == 1 && m.columns == 1);
  const float clue[] = {10, 30, 30, 30}, other[] = {64, 3, 3, 30}, elsewhere[] = {67, 3, 30, 0};
  memcpy(m.clue, clue, sizeof clue);
  memcpy(m.other, other, sizeof other);
  float same[WORDS] = {0};
  memcpy(same, elsewhere, sizeof elsewhere);
  assert_int_equal(pixel_words_weigh(&m, same, NULL), R4_OK);
  assert_true(m.p[0] == 0 && fabs((double)m.p[1] - (1 - .031 / .301)) < 1e-6);
  assert_true(fabs((double)m.p[2]) < 1e-6 && fabs((double)m.p[3]) < 1e-6);
  pixel_words_clear(&m);
  r4_data_free(d);
}

/* At a place: word 1 is twice as frequent everywhere, which is the class; where it is eight times as frequent, P is
 * 1 - 2 / 8. Word 2 is in excess at one place only, whose neighbours share it. */
static void what_is_everywhere_is_the_class(void **state)
{
  (void)state;
  r4_data *d = grey(SIDE);
  struct pixel_words m;
  assert_int_equal(pixel_words_new(&m, d, false, NULL), R4_OK);
  assert_int_equal(m.rows * m.columns, PLACES * PLACES);
  for (size_t k = 0; k < PLACES * PLACES; k++) {
    bool in = k / PLACES < 9 && k % PLACES < 9;
    m.other[k * WORDS] = 90000, m.other[k * WORDS + 1] = 10000;
    m.clue[k * WORDS] = in ? 20000 : 80000, m.clue[k * WORDS + 1] = in ? 80000 : 20000;
  }
  assert_int_equal(pixel_words_weigh(&m, NULL, NULL), R4_OK);
  const float *in = m.p + (4 * PLACES + 4) * WORDS, *out = m.p + (20 * PLACES + 20) * WORDS;
  assert_true(fabs((double)in[1] - (1 - 2. / 8)) < .02 && out[1] == 0 && in[0] == 0);
  const float *edge = m.p + (4 * PLACES + 9) * WORDS; /* two of five columns are in */
  assert_true(fabs((double)edge[1] - (1 - 2 / 4.4)) < .02);
  pixel_words_clear(&m);
  r4_data_free(d);
}

/* ---- Parts ---- */

static void paint(float *map, size_t top, size_t left, size_t height, size_t width, float v)
{
  for (size_t y = top; y < top + height; y++)
    for (size_t x = left; x < left + width; x++) map[y * SIDE + x] = v;
}

static void parts_are_likely_large_and_touch(void **state)
{
  (void)state;
  float map[PIXELS] = {0};
  uint8_t mask[PIXELS];
  uint32_t room[2 * PIXELS];
  const double touch[] = {0, 0, 1, .5};
  paint(map, 2, 2, 8, 8, .5f);
  paint(map, 2, 20, 4, 4, .9f); /* a quarter of the largest */
  paint(map, 8, 20, 3, 5, .9f); /* less */
  paint(map, 20, 2, 8, 8, .9f); /* does not touch */
  paint(map, 2, 12, 8, 6, .49f);
  const struct mask_draw m = {SIDE, SIDE, map, touch, room};
  assert_int_equal(mask_parts(&m, mask), 64 + 16);
  assert_true(mask[2 * SIDE + 2] && mask[2 * SIDE + 20] && !mask[8 * SIDE + 20] && !mask[20 * SIDE + 2]);
  /* the root of 80 is less than half of 24: it does not grow; that of 256 more, by a pixel on each side */
  assert_true(fabs(mask_draw(&m, mask) - 80. / PIXELS) < 1e-12);
  memset(map, 0, sizeof map);
  paint(map, 2, 2, 16, 16, .9f);
  assert_true(fabs(mask_draw(&m, mask) - (256 + 4 * 16) / (double)PIXELS) < 1e-12);
}

/* ---- Templates ---- */

static void a_template_is_moved_to_where_it_fits(void **state)
{
  (void)state;
  float map[PIXELS] = {0};
  uint8_t mask[PIXELS];
  uint32_t room[2 * PIXELS];
  struct template t;
  const double touch[] = {.3, .3, .2, .2};
  assert_int_equal(template_new(&t, SIDE, SIDE, NULL), R4_OK);
  paint(map, 10, 8, 4, 10, .8f);
  template_add(&t, map, (struct shift){0});
  template_cut(&t, touch, mask, room);
  assert_int_equal(t.ins, 40);
  struct shift s = template_fit(&t, map);
  assert_true(s.down == 0 && s.right == 0 && fabs(s.fit - .8) < 1e-6);
  memset(map, 0, sizeof map);
  paint(map, 12, 11, 4, 10, .8f);
  s = template_fit(&t, map);
  assert_true(s.down == 2 && s.right == 3 && fabs(s.fit - (.8 - .1 * 13 / 16)) < 1e-6);
  assert_true(fabs(template_draw(&t, s, mask) - 40. / PIXELS) < 1e-12);
  assert_true(mask[12 * SIDE + 11] && !mask[11 * SIDE + 11] && mask[15 * SIDE + 20] && !mask[15 * SIDE + 21]);
  paint(map, 0, 0, SIDE, SIDE, .8f); /* everywhere: half of it, and nothing is gained by moving */
  s = template_fit(&t, map);
  assert_true(s.down == 0 && s.right == 0 && fabs(s.fit - .4) < 1e-6);
  template_add(&t, map, (struct shift){0}); /* what was added before is forgotten */
  template_cut(&t, touch, mask, room);
  assert_int_equal(t.ins, PIXELS);
  template_clear(&t);
}

/* ---- A stamp ---- */

enum { N = 240, TOP = 24, LEFT = 18, HEIGHT = 5, WIDTH = 12, MOVED = 2 };

struct stamped {
  uint8_t pixel[N][SIDE][SIDE][3];
  int32_t label[N];
  int down[N], right[N]; /* how the stamp was moved */
  bool has[N];
};

/* Every second pixel of a stamp is white. Photos have some grey and noise; three quarters of class 1 have a stamp, and
 * more of class 0 are a little redder. */
static r4_data *stamped_new(struct stamped *p, int moved)
{
  draw_start(5, 0);
  for (size_t i = 0; i < N; i++) {
    size_t ground = 60 + draw_below(80);
    bool red = draw_below(10) < (i % 2 ? 4 : 6);
    p->label[i] = i % 2;
    p->has[i] = i % 2 && draw_below(4);
    p->down[i] = moved ? (int)draw_below(2 * MOVED + 1) - MOVED : 0;
    p->right[i] = moved ? (int)draw_below(2 * MOVED + 1) - MOVED : 0;
    for (size_t k = 0; k < PIXELS * 3; k++)
      p->pixel[i][k / 3 / SIDE][k / 3 % SIDE][k % 3] =
        (uint8_t)(ground + draw_below(30) + (k % 3 == 0 && red ? 8 : 0));
    for (int k = 0; p->has[i] && k < HEIGHT * WIDTH; k++)
      if ((k / WIDTH + k % WIDTH) % 2)
        memset(p->pixel[i][TOP + p->down[i] + k / WIDTH][LEFT + p->right[i] + k % WIDTH], 250, 3);
  }
  const r4_data_arrays a = {
    .n = N, .shape = R4_SHAPE(SIDE, SIDE, 3), .bytes = &p->pixel[0][0][0][0], .labels = p->label};
  r4_data *d = r4_data_new(&a, NULL);
  assert_non_null(d);
  return d;
}

static double overlap(const struct stamped *p, size_t i, const uint8_t *mask)
{
  double both = 0, any = 0;
  for (int k = 0; k < PIXELS; k++) {
    int y = k / SIDE - TOP - p->down[i], x = k % SIDE - LEFT - p->right[i];
    bool here = p->has[i] && y >= 0 && y < HEIGHT && x >= 0 && x < WIDTH;
    both += here && mask[k];
    any += here || mask[k];
  }
  return both / any;
}

/* Nearly all stamps are listed, nearly none else, and most masks are on their stamp. */
static void assert_stamps_are_marked(int moved, double least)
{
  struct stamped *p = calloc(1, sizeof *p);
  r4_data *d = stamped_new(p, moved);
  r4_error e = {0};
  r4_found *f = r4_find_scan(d, NULL, &e);
  if (!f) fail_msg("%s", e.text);
  r4_clue c = r4_found_at(f, 0);
  r4_proposed *to = r4_find_propose(d, &c, NULL, &e);
  if (!to) fail_msg("%s", e.text);
  size_t stamps = 0, listed = 0, well = 0;
  for (size_t i = 0; i < N; i++) stamps += p->has[i];
  for (size_t k = 0; k < to->n; k++) {
    size_t i = to->at[k].is.example;
    listed += p->has[i];
    well += overlap(p, i, to->at[k].mask) >= least;
  }
  assert_true(20 * listed >= 19 * stamps && 20 * listed >= 19 * to->n);
  assert_true(20 * well >= 17 * listed);
  assert_true(r4_proposed_right(to) > .85);
  r4_proposed_free(to);
  r4_found_free(f);
  r4_data_free(d);
  free(p);
}

static void stamps_are_marked_whole(void **state)
{
  (void)state;
  assert_stamps_are_marked(0, .6);
}

static void stamps_that_are_moved_are_followed(void **state)
{
  (void)state;
  assert_stamps_are_marked(1, .55);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_word_counts_as_much_as_it_is_in_excess),
    cmocka_unit_test(what_is_everywhere_is_the_class),
    cmocka_unit_test(parts_are_likely_large_and_touch),
    cmocka_unit_test(a_template_is_moved_to_where_it_fits),
    cmocka_unit_test(stamps_are_marked_whole),
    cmocka_unit_test(stamps_that_are_moved_are_followed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
