/* The swap test against plain loops that share nothing with it but the random numbers: images with masks of different
 * sizes on some examples, soft at the edge, of three classes and other groups. */
#include <math.h>
#include <string.h>

#include "base/purpose.h"
#include "data/data.h"
#include "scratch.h"

enum {
  SIDE = 7,
  CHANNELS = 2,
  PIXELS = SIDE * SIDE,
  FEATURES = PIXELS * CHANNELS,
  CLASSES = 3,
  GROUPS = 4,
  N = 60
};

/* What is known of the examples, as plain arrays. */
static float x[N][FEATURES], mask[N][PIXELS], weights[CLASSES * FEATURES + CLASSES];
static int label[N], group[N];
static bool masked[N];

static double uniform(uint64_t k)
{
  return r4_random_uniform((r4_random){77, 0, 0}, k);
}

/* Class 0 has no masks; of the others three of four examples have one. */
static void draw_examples(void)
{
  uint64_t k = 0;
  for (int i = 0; i < N; i++) {
    label[i] = i % CLASSES;
    group[i] = (int)(uniform(k++) * GROUPS);
    masked[i] = label[i] > 0 && i % 4 != 0;
    for (int j = 0; j < FEATURES; j++) x[i][j] = (float)(uniform(k++) - .3);
    int top = (int)(uniform(k++) * 4), left = (int)(uniform(k++) * 4);
    int height = 1 + (int)(uniform(k++) * 3), width = 1 + (int)(uniform(k++) * 3);
    for (int r = top; masked[i] && r < top + height; r++)
      for (int c = left; c < left + width; c++) mask[i][r * SIDE + c] = (r + c) % 5 ? 1 : 153 / 255.f;
  }
  for (int i = 0; i < N; i++) /* masked content speaks louder */
    for (int j = 0; j < FEATURES; j++)
      if (mask[i][j / CHANNELS] > 0) x[i][j] *= 9;
  for (size_t j = 0; j < sizeof weights / sizeof *weights; j++) weights[j] = (float)(uniform(k++) - .5);
}

static r4_data *make_data(void)
{
  static const char *const names[] = {"a", "b", "c", "d"};
  struct column *v = column_new(&floats_column, R4_SHAPE(SIDE, SIDE, CHANNELS), N, NULL);
  r4_data *d = v ? data_new(N, v, NULL) : NULL;
  assert_non_null(d);
  data_set_masks(d, masks_new(PIXELS, NULL));
  memcpy(v->data, x, sizeof x);
  for (int i = 0; i < N; i++) {
    uint8_t bytes[PIXELS];
    for (int k = 0; k < PIXELS; k++) bytes[k] = (uint8_t)lrintf(mask[i][k] * 255);
    d->record[i].label = label[i];
    d->record[i].group = group[i];
    assert_int_equal(masks_add(data_masks(d), bytes, &d->record[i].mask, NULL), R4_OK);
  }
  for (int k = 0; k < CLASSES; k++) names_add(d->classes, names[k], NULL, NULL);
  for (int k = 0; k < GROUPS; k++) names_add(d->groups, names[k], NULL, NULL);
  assert_int_equal(data_finish(d, "test", NULL), R4_OK);
  return d;
}

/* ---- Plain ---- */

static int answer(const float *v)
{
  int best = 0;
  double most = -INFINITY;
  for (int c = 0; c < CLASSES; c++) {
    double z = weights[CLASSES * FEATURES + c];
    for (int j = 0; j < FEATURES; j++) z += (double)weights[c * FEATURES + j] * v[j];
    if (z > most) most = z, best = c;
  }
  return best;
}

struct box {
  int top, left, height, width;
};

static struct box box_of(const float *m)
{
  struct box b = {SIDE, SIDE, 0, 0};
  int bottom = 0, right = 0;
  for (int k = 0; k < PIXELS; k++) {
    if (!(m[k] > 0)) continue;
    int r = k / SIDE, c = k % SIDE;
    b.top = r < b.top ? r : b.top;
    b.left = c < b.left ? c : b.left;
    bottom = r > bottom ? r : bottom;
    right = c > right ? c : right;
  }
  b.height = bottom - b.top + 1;
  b.width = right - b.left + 1;
  return b;
}

/* Donors of other classes, by class and then by number. */
static int donors_of(int own, int list[N])
{
  int n = 0;
  for (int c = 0; c < CLASSES; c++)
    for (int i = 0; i < N; i++)
      if (c != own && label[i] == c && masked[i]) list[n++] = i;
  return n;
}

static float content(r4_fill kind, int i, int donor, int k, int c, const float *mean)
{
  if (kind == R4_FILL_BLANK) return 0;
  if (kind == R4_FILL_MEAN) return mean[k * CHANNELS + c];
  if (!masked[i]) return x[donor][k * CHANNELS + c];
  struct box own = box_of(mask[i]), from = box_of(mask[donor]);
  int row = from.top + (k / SIDE - own.top) * from.height / own.height;
  int column = from.left + (k % SIDE - own.left) * from.width / own.width;
  return x[donor][(row * SIDE + column) * CHANNELS + c];
}

struct plain {
  double examples[GROUPS], found[GROUPS], flipped[GROUPS], lost[GROUPS];
};

static void test_example(r4_fill kind, int i, const int *donor, int donors, const r4_swap_options *o,
                         const float *mean, struct plain *p)
{
  int before = answer(x[i]), g = group[i];
  p->examples[g]++;
  p->found[g] += before == label[i];
  for (int draw = 0; draw < o->draws; draw++) {
    float v[FEATURES];
    r4_random key = {o->seed, PURPOSE_SWAP, (uint32_t)draw};
    int j = donors ? donor[r4_random_below(key, (uint64_t)i, (uint64_t)donors)] : i;
    const float *m = mask[masked[i] ? i : j];
    for (int k = 0; k < FEATURES; k++) {
      float mk = m[k / CHANNELS];
      v[k] =
        mk > 0 ? (1 - mk) * x[i][k] + mk * content(kind, i, j, k / CHANNELS, k % CHANNELS, mean) : x[i][k];
    }
    int now = answer(v);
    p->flipped[g] += (now != before) / (double)o->draws;
    p->lost[g] += (before == label[i] && now != label[i]) / (double)o->draws;
  }
}

static struct plain plain_test(const r4_swap_options *o)
{
  struct plain p = {0};
  float mean[FEATURES] = {0};
  for (int j = 0; j < FEATURES; j++) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += x[i][j];
    mean[j] = (float)(sum / N);
  }
  for (int i = 0; i < N; i++) {
    if (!masked[i] && label[i] > 0) continue; /* masks are rare in class 0 alone */
    int donor[N], donors = donors_of(label[i], donor);
    test_example(o->content, i, donor, donors, o, mean, &p);
  }
  return p;
}

/* ---- Both ---- */

static void agrees_with_plain_loops(void **state)
{
  (void)state;
  static const r4_fill contents[] = {R4_FILL_SWAP, R4_FILL_BLANK, R4_FILL_MEAN};
  static r4_swapped s;
  double changed = 0;
  draw_examples();
  r4_data *d = make_data();
  r4_net *net = r4_net_open("flatten, dense 3", R4_SHAPE(SIDE, SIDE, CHANNELS), NULL);
  assert_non_null(net);
  for (size_t k = 0; k < sizeof contents / sizeof *contents; k++)
    for (uint64_t seed = 0; seed < 3; seed++) {
      r4_error e = {0};
      r4_swap_options o = {.content = contents[k], .draws = 5, .seed = seed, .batch = 7};
      struct plain p = plain_test(&o);
      if (r4_swap_test(net, weights, d, &o, &s, &e)) fail_msg("%s", e.text);
      for (int g = 0; g < GROUPS; g++) {
        assert_true((double)s.examples[g] == p.examples[g]);
        assert_true((double)s.found[g] == p.found[g]);
        assert_true(fabs(s.flipped[g] - p.flipped[g]) < 1e-9);
        assert_true(fabs(s.lost[g] - p.lost[g]) < 1e-9);
        changed += s.flipped[g];
      }
    }
  assert_true(changed > 50); /* there was something to agree about */
  r4_net_free(net);
  r4_data_free(d);
}

static void threads_and_batches_do_not_show(void **state)
{
  (void)state;
  static r4_swapped s[4];
  draw_examples();
  r4_data *d = make_data();
  r4_net *net = r4_net_open("flatten, dense 3", R4_SHAPE(SIDE, SIDE, CHANNELS), NULL);
  for (int k = 0; k < 4; k++) {
    r4_swap_options o = r4_swap_defaults();
    o.content = R4_FILL_NOISE;
    o.batch = k / 2 ? 11 : 256;
    r4_threads(1 + k % 2, false);
    assert_int_equal(r4_swap_test(net, weights, d, &o, &s[k], NULL), R4_OK);
    assert_memory_equal(s[k].flipped, s[0].flipped, sizeof s[k].flipped);
    assert_memory_equal(s[k].lost, s[0].lost, sizeof s[k].lost);
  }
  r4_net_free(net);
  r4_data_free(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(agrees_with_plain_loops),
    cmocka_unit_test(threads_and_batches_do_not_show),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("swap_plain", tests, NULL, NULL);
}
