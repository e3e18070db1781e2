/* Heat maps: colours, scales, drawing, and pictures read back pixel by pixel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "data/data.h"
#include "picture/image.h"
#include "report/picture/heat.h"

enum { SIDE = 4, PIXELS = SIDE * SIDE, EXAMPLES = 5, GAP = 24, CELL = 196, FACTOR = CELL / SIDE };

/* ---- Colours ---- */

static double linear(uint8_t byte)
{
  double v = byte / 255.0;
  return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* The lightness of Oklab: 0.2104542553 l^(1/3) + 0.7936177850 m^(1/3) - 0.0040720468 s^(1/3). */
static double lightness(struct colour c)
{
  double r = linear(c.rgb[0]), g = linear(c.rgb[1]), b = linear(c.rgb[2]);
  return 0.2104542553 * cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) +
         0.7936177850 * cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) -
         0.0040720468 * cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
}

static void assert_colour(struct colour c, int r, int g, int b)
{
  if (c.rgb[0] != r || c.rgb[1] != g || c.rgb[2] != b)
    fail_msg("%d %d %d, not %d %d %d", c.rgb[0], c.rgb[1], c.rgb[2], r, g, b);
}

static void assert_same(struct colour c, struct colour want)
{
  assert_colour(c, want.rgb[0], want.rgb[1], want.rgb[2]);
}

static void colours_by_hand(void **state)
{
  (void)state;
  assert_colour(heat_signed(0), 255, 255, 255);
  assert_colour(heat_width(0), 255, 255, 255);
  assert_colour(heat_signed(1), 156, 29, 29);
  assert_colour(heat_signed(-1), 16, 79, 173);
  assert_colour(heat_width(1), 74, 10, 106);
  assert_colour(heat_signed(INFINITY), 156, 29, 29);
  assert_colour(heat_signed(-7), 16, 79, 173);
  assert_colour(heat_width(INFINITY), 74, 10, 106);
  assert_colour(heat_signed(NAN), 128, 128, 128);
}

/* Equal steps look equal, and both halves are equally dark. */
static void colours_are_even(void **state)
{
  (void)state;
  for (int k = 1; k <= 20; k++) {
    double v = k / 20.0;
    struct colour red = heat_signed(v), blue = heat_signed(-v);
    assert_true(fabs(lightness(red) - (1 - 0.55 * v)) < 0.006);
    assert_true(fabs(lightness(blue) - lightness(red)) < 0.006);
    assert_true(fabs(lightness(heat_width(v)) - (1 - 0.68 * v)) < 0.006);
    assert_true(red.rgb[0] > red.rgb[1] && red.rgb[0] > red.rgb[2]);
    assert_true(blue.rgb[2] > blue.rgb[1] && blue.rgb[1] > blue.rgb[0]);
  }
}

static void scales_by_hand(void **state)
{
  (void)state;
  static float v[1000], work[1000];
  for (int k = 0; k < 1000; k++) v[k] = (float)((k * 7) % 1000 + 1) * (k % 2 ? 1 : -1);
  assert_true(heat_scale(1000, v, work) == 995);
  v[0] = INFINITY, v[500] = NAN;                 /* these were 1 and 501 */
  assert_true(heat_scale(1000, v, work) == 996); /* 993 of 998 are at most 995, and 99.5 % are 993.01 */
  memset(v, 0, sizeof v);
  assert_true(heat_scale(1000, v, work) == 0);
  v[3] = -2;
  assert_true(heat_scale(1000, v, work) == 2);
  assert_true(heat_scale(1, &(float){INFINITY}, work) == 0);
  heat_pixels(2, 3, (const float[]){1, -2, 4, 0.5f, 0, -1}, work);
  assert_true(work[0] == 3 && work[1] == -0.5f);
}

/* ---- Pictures ---- */

/* Images of 4 x 4 pixels, labels 0 0 1 0 1; the first has no mask, the others one on the upper row. */
static r4_data *data_of(int64_t channels)
{
  r4_error e;
  struct column *v = column_new(&floats_column, R4_SHAPE(SIDE, SIDE, channels), EXAMPLES, &e);
  r4_random_fill((r4_random){1, 1, 1}, EXAMPLES * PIXELS * (size_t)channels, 0, 1, v->data);
  r4_data *d = data_new(EXAMPLES, v, &e);
  assert_non_null(d);
  uint32_t number = 0;
  const uint8_t mask[PIXELS] = {255, 255, 255, 255};
  assert_int_equal(names_add(d->classes, "cat", &number, &e), R4_OK);
  assert_int_equal(names_add(d->classes, "a much longer name than fits", &number, &e), R4_OK);
  data_set_masks(d, masks_new(PIXELS, &e));
  assert_int_equal(masks_add(data_masks(d), mask, &number, &e), R4_OK);
  for (uint32_t i = 0; i < EXAMPLES; i++) {
    d->record[i].label = i == 2 || i == 4;
    d->record[i].mask = i ? number : 0;
    d->record[i].file = d->record[i].id = DATA_NO_ID;
  }
  assert_int_equal(data_finish(d, "test", &e), R4_OK);
  return d;
}

/* z_0 = w x with weights 0.1, -0.2, 0.3, ...; z_1 = 0, or much more for those who always say 1. */
static void weights_of(size_t features, float *w)
{
  memset(w, 0, (2 * features + 2) * sizeof *w);
  for (size_t j = 0; j < features; j++) w[j] = (float)(j + 1) * (j % 2 ? -0.1f : 0.1f);
}

struct rig {
  r4_data *d;
  r4_net *net;
  float w[2][2 * PIXELS * 3 + 2];
  r4_subject subject[2];
  char file[64];
};

static struct rig *rig_new(int64_t channels)
{
  struct rig *r = calloc(1, sizeof *r);
  size_t features = PIXELS * (size_t)channels;
  r->d = data_of(channels);
  r->net = r4_net_open("dense 2", R4_SHAPE((int64_t)features), NULL);
  for (int k = 0; k < 2; k++) {
    weights_of(features, r->w[k]);
    r->subject[k] = (r4_subject){k ? "second" : "first", r->net, r->w[k]};
  }
  r->w[1][2 * features + 1] = 100; /* always says 1 */
  for (size_t j = 0; j < features; j++) r->w[1][j] *= 2;
  snprintf(r->file, sizeof r->file, "/tmp/r4-heat-XXXXXX");
  close(mkstemp(r->file));
  return r;
}

static void rig_free(struct rig *r)
{
  remove(r->file);
  r4_net_free(r->net);
  r4_data_free(r->d);
  free(r);
}

static r4_heat_options options_of(size_t methods, const char *const *method)
{
  r4_heat_options o = {.method = method, .methods = methods, .attribution = r4_attribution_defaults()};
  o.attribution.explain = R4_EXPLAIN_LOGIT;
  return o;
}

static void draw_to(struct rig *r, size_t subjects, const r4_heat_options *o, double *share,
                    struct image *picture)
{
  r4_error e = {0};
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (r4_heat_picture(r->subject, subjects, r->d, o, r->file, share, &e)) fail_msg("%s", e.text);
  assert_int_equal(file_read(r->file, 1 << 26, &bytes, &size, &e), R4_OK);
  assert_int_equal(image_decode(bytes, size, r->file, 3, picture, &e), R4_OK);
  r4_mem_free(bytes);
}

/* The colour in the middle of a pixel of the cell of a column, 0 for the image, in row i. */
static struct colour at(const struct image *p, size_t top, size_t column, size_t i, size_t pixel)
{
  size_t y = top + i * (CELL + 62) + pixel / SIDE * FACTOR + FACTOR / 2;
  size_t x = GAP + column * (CELL + GAP) + pixel % SIDE * FACTOR + FACTOR / 2;
  const uint8_t *c = p->pixel + (y * p->width + x) * 3;
  return (struct colour){{c[0], c[1], c[2]}};
}

static const char *const GRADIENT[] = {"gradient"};

/* One net: every cell of the picture is the image, or the weight of its pixel over the largest. The label of the
 * examples 2 and 4 is 1, whose logit is the constant 0. */
static void a_picture_shows_the_gradient(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  struct image p;
  r4_heat_options o = options_of(1, GRADIENT);
  double share = 0;
  draw_to(r, 1, &o, &share, &p);
  size_t top = GAP + 2 * 22 + 6;
  assert_int_equal(p.width, 2 * GAP + 2 * CELL + GAP);
  assert_int_equal(p.height, top + EXAMPLES * (CELL + 62) + 5 * 22 + 6 + GAP);
  for (size_t i = 0; i < EXAMPLES; i++) {
    float x[PIXELS];
    r4_data_values(r->d, i, x);
    for (size_t k = 0; k < PIXELS; k++) {
      int grey = (int)(255 * x[k] + 0.5f);
      bool constant = i == 2 || i == 4;
      struct colour want = heat_signed(constant ? 0 : (double)r->w[0][k] / 1.6f);
      assert_colour(at(&p, top, 0, i, k), grey, grey, grey);
      assert_same(at(&p, top, 1, i, k), want);
    }
  }
  /* of 0.1 + ... + 1.6 = 13.6, 1.0 is in the upper row; the first example has no mask, the map of two is 0 */
  assert_true(fabs(share - 1.0 / 13.6) < 1e-6);
  image_clear(&p);
  rig_free(r);
}

/* The mask is the upper row of four pixels: black around it, white within. */
static void masks_are_outlined(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  struct image p;
  r4_heat_options o = options_of(1, GRADIENT);
  draw_to(r, 1, &o, NULL, &p);
  size_t y = GAP + 2 * 22 + 6 + CELL + 62, x = GAP + CELL + GAP;
  const struct {
    size_t y, x;
    uint8_t value;
  } want[] = {{y - 1, x + 9, 0},
              {y, x + 9, 255},
              {y + 1, x + 9, 255},
              {y + FACTOR, x + 9, 0},
              {y + FACTOR - 1, x + 9, 255},
              {y + 9, x - 1, 0},
              {y + 9, x, 255},
              {y + 9, x + CELL, 0}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    const uint8_t *c = p.pixel + (want[k].y * p.width + want[k].x) * 3;
    if (c[0] != want[k].value || c[1] != want[k].value || c[2] != want[k].value)
      fail_msg("place %zu: %d %d %d, not %d", k, c[0], c[1], c[2], want[k].value);
  }
  const uint8_t *unmasked =
    p.pixel + ((y - CELL - 62) * p.width + x + 9) * 3; /* the first example has no mask */
  assert_true(unmasked[0] != unmasked[2]);
  image_clear(&p);
  rig_free(r);
}

static size_t count_colour(const struct image *p, uint8_t r, uint8_t g, uint8_t b)
{
  size_t n = 0;
  for (size_t k = 0; k < p->height * p->width; k++)
    n += p->pixel[3 * k] == r && p->pixel[3 * k + 1] == g && p->pixel[3 * k + 2] == b;
  return n;
}

/* Where labels are answers nothing is right or wrong, which is green and orange. */
static void answers_are_not_judged(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  for (int k = 0; k < 2; k++) {
    struct image p;
    r4_heat_options o = options_of(1, GRADIENT);
    o.answers = k;
    draw_to(r, 1, &o, NULL, &p);
    size_t judged = count_colour(&p, 0, 110, 80) + count_colour(&p, 190, 70, 0);
    assert_true(k ? judged == 0 : judged > 0);
    image_clear(&p);
  }
  rig_free(r);
}

/* Colour images are shown in colour, and their maps are sums over channels. */
static void pictures_of_colour_images(void **state)
{
  (void)state;
  struct rig *r = rig_new(3);
  struct image p;
  r4_heat_options o = options_of(1, GRADIENT);
  draw_to(r, 1, &o, NULL, &p);
  size_t top = GAP + 2 * 22 + 6;
  float x[3 * PIXELS], v[PIXELS], work[PIXELS];
  r4_data_values(r->d, 0, x);
  heat_pixels(PIXELS, 3, r->w[0], v);
  double scale = heat_scale(PIXELS, v, work);
  for (size_t k = 0; k < PIXELS; k++) {
    struct colour want = heat_signed(v[k] / scale);
    assert_colour(at(&p, top, 0, 0, k), (int)(255 * x[3 * k] + 0.5f), (int)(255 * x[3 * k + 1] + 0.5f),
                  (int)(255 * x[3 * k + 2] + 0.5f));
    assert_same(at(&p, top, 1, 0, k), want);
  }
  image_clear(&p);
  rig_free(r);
}

/* Two nets, the second twice as steep: with a scale each they look alike, with a common one they do not. */
static void nets_side_by_side(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  for (int common = 0; common < 2; common++) {
    struct image p;
    double share[6] = {0};
    r4_heat_options o = options_of(3, (const char *const[]){"gradient", "bounds", "input-x-gradient"});
    o.title = "two nets";
    o.common_scale = common;
    draw_to(r, 2, &o, share, &p);
    size_t top = GAP + 28 + 3 * 22 + 6;
    float x[PIXELS], work[PIXELS];
    r4_data_values(r->d, 1, x);
    for (size_t k = 0; k < PIXELS; k++) x[k] *= r->w[0][k];
    double scale = heat_scale(PIXELS, x, work);
    for (size_t k = 0; k < PIXELS; k++) {
      double v = (double)r->w[0][k] / 1.6f;
      struct colour first = heat_signed(common ? v / 2 : v), second = heat_signed(v);
      assert_same(at(&p, top, 1, 1, k), first);
      assert_same(at(&p, top, 2, 1, k), second);
      assert_same(at(&p, top, 5, 1, k), heat_signed(x[k] / scale / (common ? 2 : 1)));
      assert_colour(at(&p, top, 3, 1, k), 255, 255, 255); /* the gradient of a logit does not move */
    }
    assert_true(fabs(share[0] - 1.0 / 13.6) < 1e-6 && fabs(share[1] - share[0]) < 1e-6);
    assert_true(isnan(share[2]) && isnan(share[3]));
    image_clear(&p);
  }
  rig_free(r);
}

/* The same bytes from every run, with any number of threads. */
static void pictures_are_the_same_again(void **state)
{
  (void)state;
  struct rig *r = rig_new(3);
  struct image p[3];
  const char *all[16];
  size_t n = 0;
  for (size_t k = 0; k < r4_attribution_count(); k++)
    if (strcmp(r4_attribution_describe(k).name, "gradcam")) all[n++] = r4_attribution_describe(k).name;
  r4_heat_options o = options_of(n, all); /* all but the one that needs convolutions */
  o.attribution.explain = R4_EXPLAIN_LOSS;
  int before = r4_threads(0, false);
  for (int k = 0; k < 3; k++) {
    r4_threads(k < 2 ? before : 1, false);
    draw_to(r, 2, &o, NULL, &p[k]);
    assert_memory_equal(p[0].pixel, p[k].pixel, p[0].height * p[0].width * 3);
  }
  r4_threads(before, false);
  for (int k = 0; k < 3; k++) image_clear(&p[k]);
  rig_free(r);
}

/* ---- Which examples ---- */

static void examples_in_turn(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  size_t example[EXAMPLES], found = 0;
  assert_int_equal(r4_heat_examples(r->d, 99, NULL, example, &found, NULL), R4_OK);
  assert_int_equal(found, EXAMPLES);
  assert_memory_equal(example, ((const size_t[]){0, 2, 1, 4, 3}), sizeof example); /* labels 0 1 0 1 0 */
  assert_int_equal(r4_heat_examples(r->d, 3, NULL, example, &found, NULL), R4_OK);
  assert_int_equal(found, 3);
  assert_int_equal(r4_heat_examples(r->d, EXAMPLES, &r->subject[1], example, &found, NULL), R4_OK);
  assert_int_equal(found, 3);
  assert_memory_equal(example, ((const size_t[]){0, 1, 3}), 3 * sizeof *example);
  rig_free(r);
}

/* ---- Errors ---- */

static void expect(struct rig *r, r4_status status, const char *words, size_t subjects, const r4_data *d,
                   r4_heat_options o, const char *file)
{
  r4_error e = {0};
  assert_int_equal(r4_heat_picture(r->subject, subjects, d, &o, file, NULL, &e), status);
  if (!strstr(e.text, words)) fail_msg("\"%s\" does not say \"%s\"", e.text, words);
  assert_int_equal(r4_heat_picture(r->subject, subjects, d, &o, file, NULL, NULL), status);
}

static void errors_say_what_was_expected(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  r4_data *flat = data_derive(r->d, NULL);
  data_set_x(flat, column_new(&floats_column, R4_SHAPE(PIXELS), EXAMPLES, NULL));
  const char *many[65];
  for (size_t k = 0; k < 65; k++) many[k] = "gradient";
  expect(r, R4_E_SHAPE, "need images, the examples have 1 dimension", 1, flat, options_of(1, GRADIENT),
         r->file);
  expect(r, R4_E_ARGUMENT, "0 methods of 1 nets", 1, r->d, options_of(0, GRADIENT), r->file);
  expect(r, R4_E_ARGUMENT, "33 methods of 2 nets: expected 1 to 64", 2, r->d, options_of(33, many), r->file);
  expect(r, R4_E_ARGUMENT, "\"lime\"", 1, r->d, options_of(1, (const char *const[]){"lime"}), r->file);
  r4_net *other = r4_net_open("dense 2", R4_SHAPE(PIXELS + 1), NULL);
  r4_subject stranger = {"other", other, r->w[0]};
  size_t example[EXAMPLES], found;
  assert_int_equal(r4_heat_examples(r->d, 1, &stranger, example, &found, NULL), R4_E_SHAPE);
  r4_net_free(other);
  size_t *rows = calloc(20000, sizeof *rows); /* the first example, very often */
  r4_data *long_one = r4_data_subset(r->d, 20000, rows, NULL);
  free(rows);
  expect(r, R4_E_ARGUMENT, "20000 examples with 20 heat maps need more than 100 million", 1,
         long_one, options_of(20, many), r->file);
  r4_data_free(long_one);
  expect(r, R4_E_IO, "/nowhere/x.png", 1, r->d, options_of(1, GRADIENT), "/nowhere/x.png");
  r4_data_free(flat);
  rig_free(r);
}

static void memory_that_fails(void **state)
{
  (void)state;
  struct rig *r = rig_new(1);
  r4_heat_options o = options_of(2, (const char *const[]){"gradient", "smoothgrad"});
  r4_status s = R4_E_MEMORY;
  for (long n = 1; s; n++) {
    r4_error e = {0};
    size_t example[EXAMPLES], found;
    r4_mem_fail_at(n);
    s = r4_heat_picture(r->subject, 2, r->d, &o, r->file, NULL, &e);
    if (!s) s = r4_heat_examples(r->d, EXAMPLES, &r->subject[0], example, &found, &e);
    r4_mem_fail_at(0);
    if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
  }
  rig_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(colours_by_hand),    cmocka_unit_test(colours_are_even),
    cmocka_unit_test(scales_by_hand),     cmocka_unit_test(a_picture_shows_the_gradient),
    cmocka_unit_test(masks_are_outlined), cmocka_unit_test(pictures_of_colour_images),
    cmocka_unit_test(nets_side_by_side),  cmocka_unit_test(pictures_are_the_same_again),
    cmocka_unit_test(examples_in_turn),   cmocka_unit_test(errors_say_what_was_expected),
    cmocka_unit_test(memory_that_fails),  cmocka_unit_test(answers_are_not_judged),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("heat", tests, NULL, NULL);
}
