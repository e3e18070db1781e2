/* The claim box by hand: decimals and boxes, margins of nets made for the purpose, nets that fool float arithmetic and
 * fool nobody here, and certificates that say what was proved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "certify/box.h"
#include "check.h"
#include "scratch.h"
#include "small_images.h"

static void certify(const r4_model *m, const r4_data *d, const r4_certify_options *o, r4_certified *to)
{
  r4_error e = {0};
  if (r4_certify_box(r4_model_net(m), r4_model_weights(m), d, o, to, &e)) fail_msg("%s", e.text);
}

/* ---- Decimals and boxes ---- */

static void test_decimals(void **state)
{
  (void)state;
  static const char *const good[] = {"0.1", "0", "1", "-3", "0.30000000000000004", "255", "0.000", "-0.25", ".5"};
  static const char *const bad[] = {"", "-", ".", "1e3", "0x1", "1,5", "nan", "inf", " 1", "1 ", "+1", "1.2.3"};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    double low, high, near = strtod(good[k], NULL);
    assert_true(decimal_below(good[k], &low));
    assert_true(decimal_above(good[k], &high));
    bool exact = strlen(good[k]) < 4 && !strchr(good[k], '.');
    assert_true(exact ? low == near && high == near : low <= near && near <= high);
    assert_true(exact || near == 0 || low < high);
    assert_true(high - low <= 1e-14);
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    double v;
    if (decimal_above(bad[k], &v) || decimal_below(bad[k], &v)) fail_msg("\"%s\" is taken for a decimal", bad[k]);
  }
  double tiny;
  char text[402] = "0.";
  memset(text + 2, '0', 390);
  text[392] = '1';
  assert_true(decimal_above(text, &tiny) && tiny > 0); /* strtod says 0, which would be below it */
  long double exact = 0.1L;
  double above, below;
  assert_true(decimal_above("0.1", &above));
  assert_true(decimal_below("0.1", &below));
  assert_true((long double)below <= exact && exact <= (long double)above);
}

static void test_boxes(void **state)
{
  (void)state;
  struct box b;
  r4_error e = {0};
  const float x[] = {0.5f, 0.05f, 0.5f, 1.5f, -0.25f, 0.75f}, m[] = {1, 1, 0, 1, 1, 0.5f};
  double lo[6], hi[6];
  assert_int_equal(box_read(&b, "0.1", "0", "1", &e), R4_OK);
  box_ends(&b, 6, x, m, lo, hi);
  assert_true(lo[0] < 0.5 - 0.1L && lo[0] > 0.5 - 0.1000001 && hi[0] > 0.5 + 0.1L && hi[0] < 0.6000001);
  assert_true(lo[1] == 0 && lo[2] == 0.5 && hi[2] == 0.5);
  assert_true(hi[3] == 1.5 && lo[3] < 1.4 && lo[4] == -0.25 && hi[4] > -0.15); /* outside: they may stay */
  assert_true(lo[5] < 0.75 - 0.05L && lo[5] > 0.6999999 && hi[5] < 0.8000001);
  assert_int_equal(box_read(&b, NULL, "0", "1", &e), R4_OK);
  box_ends(&b, 6, x, m, lo, hi);
  assert_true(lo[0] == 0 && hi[0] == 1 && lo[2] == 0.5 && hi[3] == 1.5 && lo[3] == 0 && lo[4] == -0.25 && hi[4] == 1);
  assert_int_equal(box_read(&b, "0", NULL, NULL, &e), R4_OK);
  box_ends(&b, 6, x, m, lo, hi);
  for (size_t k = 0; k < 6; k++) assert_true(lo[k] == (double)x[k] && hi[k] == (double)x[k]);
  assert_error(&e, box_read(&b, NULL, NULL, NULL, &e), "there is no range");
  assert_error(&e, box_read(&b, "-1", NULL, NULL, &e), "eps is \"-1\"");
  assert_error(&e, box_read(&b, "0.1", "1", "0", &e), "the lower one first");
  assert_error(&e, box_read(&b, "0.1", "1", "1", &e), "the lower one first");
  assert_error(&e, box_read(&b, "0.1", "1", NULL, &e), "both of its ends");
  assert_error(&e, box_read(&b, "1.01", "0", "1", &e), "eps is 1.01, larger than the range, 0 to 1");
  assert_int_equal(box_read(&b, "0.3", "0.1", "0.4", &e), R4_OK);
  assert_int_equal(box_read(&b, "7", NULL, NULL, &e), R4_OK);
}

/* ---- Margins by hand: one linear layer, at a point, all features 1 ---- */

static r4_certified at_ones(int64_t features, const char *net, const float *w, int32_t label, r4_semantics semantics)
{
  float x[16], m[16] = {1};
  r4_certified c;
  r4_error e = {0};
  for (size_t k = 0; k < 16; k++) x[k] = 1;
  const r4_data_arrays a = {.n = 1, .shape = R4_SHAPE(features), .floats = x, .labels = &label, .classes = 3,
                            .mask_floats = m, .masks_by_feature = true, .mask_means = R4_MASKS_IRRELEVANT};
  r4_data *d = r4_data_new(&a, &e);
  r4_net *n = r4_net_open(net, R4_SHAPE(features), &e);
  r4_model *model = d && n ? r4_model_new(n, w, NULL, &e) : NULL;
  if (!model) fail_msg("%s", e.text);
  certify(model, d, &(r4_certify_options){.eps = "0", .semantics = semantics}, &c);
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
  return c;
}

static void test_margins(void **state)
{
  (void)state;
  /* The least over all classes, wherever it is: 1 - 0.5, 1 - 0.25. */
  const float near[] = {1, 0.5f, 0.25f, 0, 0, 0}, far[] = {1, 0.25f, 0.5f, 0, 0, 0};
  r4_certified a = at_ones(1, "dense 3", near, 0, R4_SEMANTICS_REAL);
  r4_certified b = at_ones(1, "dense 3", far, 0, R4_SEMANTICS_REAL);
  assert_true(a.holds && a.margin > 0.4999 && a.margin < 0.5 && b.holds && b.margin > 0.4999 && b.margin < 0.5);
  /* -1 + 2^60 - 2^60 + 1/4 is -3/4, and not even doubles see it. */
  const float lost[15] = {-1, 0x1p60f, -0x1p60f, 0.25f, 0, 0, 0, 0, -9, -9, -9, -9, 0, 0, 0};
  for (int semantics = 0; semantics < 2; semantics++)
    assert_false(at_ones(4, "dense 3", lost, 0, semantics ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL).holds);
  /* 2^30 + 1/4 - 2^30 is 1/4, and 0 in floats. */
  const float hidden[12] = {0x1p30f, 0.25f, -0x1p30f, 0, 0, 0, -9, -9, -9, 0, 0, 0};
  r4_certified real = at_ones(3, "dense 3", hidden, 0, R4_SEMANTICS_REAL);
  assert_true(real.predicted != 0 || real.holds);
  assert_false(at_ones(3, "dense 3", hidden, 0, R4_SEMANTICS_ANY_FLOAT).holds);
}

/* ---- Attacks and nets with one output ---- */

/* A net that a search must break: the masked pixel alone decides. */
static void test_attack_finds(void **state)
{
  (void)state;
  const float x[4] = {0, 0.5f, 0.5f, 0.5f}, m[4] = {1, 0, 0, 0}, w[10] = {-1, 0, 0, 0, 1, 0, 0, 0, 0.75f, 0};
  const int32_t label = 0;
  r4_certified c;
  r4_data *d = small_images(1, 2, x, &label, NULL, m);
  r4_net *n = r4_net_open("dense 2", R4_SHAPE(4), NULL);
  r4_model *model = r4_model_new(n, w, NULL, NULL);
  r4_certify_options o = {.low = "0", .high = "1"};
  certify(model, d, &o, &c);
  assert_true(c.predicted == 0 && !c.holds);
  assert_int_equal(r4_attack_box(r4_model_net(model), r4_model_weights(model), d, &o, NULL, 1, 0, &c, NULL), R4_OK);
  assert_true(c.broken);
  o.eps = "0.37"; /* the margin is 3/4 - 2 x */
  certify(model, d, &o, &c);
  assert_int_equal(r4_attack_box(r4_model_net(model), r4_model_weights(model), d, &o, NULL, 4, 0, &c, NULL), R4_OK);
  assert_true(c.holds && !c.broken && c.margin > 0.0099 && c.margin < 0.01);
  o.radius = true;
  certify(model, d, &o, &c);
  assert_true(c.radius > 0.3749 && c.radius <= 0.375);
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
}

/* Of the other label the slope is negative: -(1 - sigmoid(z)) / 2, least at z = -1. */
static void check_other_label(const r4_model *model)
{
  const float x[4] = {0, 1, 0, 0}, m[4] = {1, 0, 0, 0};
  const int32_t label = 1;
  r4_certified c;
  r4_data *d = small_images(1, 2, x, &label, NULL, m);
  certify(model, d, &(r4_certify_options){.low = "0", .high = "1", .gradient = true}, &c);
  assert_true(c.delta > 0.365 && c.delta < 0.366); /* sigmoid(1) / 2 */
  r4_data_free(d);
}

static void test_one_output(void **state)
{
  (void)state;
  const float x[8] = {0, 1, 0, 0, 1, 1, 0, 0}, m[8] = {1, 0, 0, 0, 0, 0, 0, 0}, w[5] = {0.5f, 1, 0, 0, -2};
  const int32_t label[2] = {0, 0};
  r4_certified c[2];
  r4_data *d = small_images(2, 2, x, label, NULL, m);
  r4_net *n = r4_net_open("dense 1", R4_SHAPE(4), NULL);
  r4_model *model = r4_model_new(n, w, NULL, NULL);
  certify(model, d, &(r4_certify_options){.low = "0", .high = "1", .gradient = true}, c);
  assert_true(c[0].predicted == 0 && c[0].holds && c[0].margin > 0.4999 && c[0].margin < 0.5 - 5e-7); /* z = x/2 - 1 */
  assert_true(c[1].holds && c[1].margin > 0.4999 && c[1].delta == 0); /* without a mask: a point */
  assert_true(c[0].delta > 0.18 && c[0].delta < 0.19); /* sigmoid(-1/2) / 2 */
  check_other_label(model);
  certify(model, d, &(r4_certify_options){.low = "0", .high = "1", .method = R4_BOUND_LINEAR}, c);
  assert_true(c[0].holds && c[0].margin > 0.4999 && c[0].margin < 0.5 && c[1].holds);
  assert_true(r4_certified_shares(d, c, R4_SHARE_CERTIFIED, true).examples == 1);
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
}

/* ---- Nets that fool float arithmetic ---- */

/* One masked feature of two, and weights; the true margin of class 0 is not positive somewhere in the box. */
static void assert_open(const char *net, const float *w, float x0, const char *eps, const char *what)
{
  const float x[2] = {x0, 0.5f}, m[2] = {1, 0};
  const int32_t label = 0;
  r4_error e = {0};
  const r4_data_arrays a = {.n = 1, .shape = R4_SHAPE(2), .floats = x, .labels = &label, .classes = 2,
                            .mask_floats = m, .masks_by_feature = true, .mask_means = R4_MASKS_IRRELEVANT};
  r4_data *d = r4_data_new(&a, &e);
  r4_net *n = r4_net_open(net, R4_SHAPE(2), &e);
  if (!d || !n) fail_msg("%s", e.text);
  r4_model *model = r4_model_new(n, w, NULL, &e);
  r4_certified c;
  for (int way = 0; way < 4; way++) {
    r4_certify_options o = {.eps = eps, .semantics = way == 3 ? R4_SEMANTICS_ANY_FLOAT : R4_SEMANTICS_REAL};
    if (way < 3) o.method = (r4_bound_method)way;
    certify(model, d, &o, &c);
    if (c.predicted == 0 && (c.holds || c.margin > 0)) fail_msg("%s: certified with margin %a", what, c.margin);
  }
  r4_model_free(model);
  r4_net_free(n);
  r4_data_free(d);
}

static void test_fooling(void **state)
{
  (void)state;
  const float above_1 = 1 + 0x1p-23f, least = 0x1p-149f;
  /* z0 - z1 = relu(1e8 x + 1) - relu(1e8 x) - w, w just above 1: -2^-23 for every x > 0; floats say what they like */
  const float cancel[] = {1e8f, 0, 1e8f, 0, 1, 0, 1, -1, 0, 0, 0, above_1};
  for (int k = 0; k < 20; k++)
    assert_open("dense 2, relu, dense 2", cancel, (float)k * 0.37f + 0.1f, "0.05", "cancelling weights");
  /* the same with 2^60: no double can tell */
  const float huge[] = {0x1p60f, 0, 0x1p60f, 0, 1, 0, 1, -1, 0, 0, 0, above_1};
  for (int k = 0; k < 20; k++)
    assert_open("dense 2, relu, dense 2", huge, (float)k * 0.37f + 0.1f, "0.05", "huge cancelling weights");
  /* a tie is not a margin: equal rows, at a kink */
  const float tie[] = {1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0};
  assert_open("dense 2, relu, dense 2", tie, 0, "0", "a tie at a kink");
  assert_open("dense 2, relu, dense 2", tie, 0.5f, "0.5", "a tie");
  /* subnormal weights: z0 - z1 = least (1/2 - x), negative within the box */
  const float subnormal[] = {-least, least, 0, 0, 0, 0};
  assert_open("dense 2", subnormal, 0, "1", "subnormal weights");
  /* overflow: 3e38 * 3e38 in floats, and inf - inf */
  const float overflow[] = {3e38f, 3e38f, 3e38f, 3e38f, 0, 0, 3e38f, 3e38f, -3e38f, 3e38f, 0, 0};
  assert_open("dense 2, relu, dense 2", overflow, 3e38f, "1", "overflow");
  /* a backdoor that opens in a corner of the box alone: relu(x - 0.99999994) 2^24 */
  const float door[] = {1, 0, 0, 0, -(1 - 0x1p-24f), 0, -0x1p24f, 0, 0, 0, 0.5f, 0};
  assert_open("dense 2, relu, dense 2", door, 0.5f, "0.5", "a backdoor");
}

/* ---- Unknown ranges ---- */

static void set(r4_settings *s, const char *key, const char *value)
{
  char text[200];
  r4_error e = {0};
  snprintf(text, sizeof text, "%s=%s", key, value);
  if (r4_settings_set(s, text, "test", &e)) fail_msg("%s", e.text);
}

static void expect_trainer(const r4_data_arrays *a, const char *range, const char *expected)
{
  r4_error e = {0};
  r4_data *d = r4_data_new(a, &e);
  if (!d) fail_msg("%s", e.text);
  r4_settings *s = r4_settings_new();
  set(s, "net", a->tokens ? "embedding 9 3, mean, dense 2" : "dense 2");
  set(s, "method", "cert-r4"), set(s, "eps", "range"), set(s, "range", range), set(s, "data.val", "0");
  r4_trainer *t = r4_trainer_new(s, d, &e);
  assert_int_equal(t == NULL, expected != NULL);
  if (expected && !strstr(e.text, expected)) fail_msg("%s", e.text);
  r4_trainer_free(t);
  r4_settings_free(s);
  r4_data_free(d);
}

/* What is valid is known of images, and of nothing else. */
static void test_unknown_range(void **state)
{
  (void)state;
  const float x[8] = {0, 3, 1, 2, 5, 1, 0, 1}, m[8] = {1, 0, 1, 0, 1, 0, 1, 0};
  const int32_t label[4] = {0, 1, 0, 1};
  const r4_data_arrays numbers = {.n = 4, .shape = R4_SHAPE(2), .floats = x, .labels = label, .classes = 2,
                                  .mask_floats = m, .masks_by_feature = true, .mask_means = R4_MASKS_IRRELEVANT};
  expect_trainer(&numbers, "", "are not images: set range to the lowest and the highest");
  expect_trainer(&numbers, "0, 5", NULL);
  const int32_t id[8] = {1, 2, 3, 4, 5, 6, 7, 8}, lengths[4] = {2, 2, 2, 2};
  r4_data_arrays texts = numbers;
  texts.floats = NULL, texts.tokens = id, texts.lengths = lengths, texts.vocabulary = 9;
  expect_trainer(&texts, "", "are texts: expected box: words, or a number");
}

/* ---- Files ---- */

static void test_files(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_certified x[3] = {
    {.label = 7, .predicted = 7, .margin = 1.5, .holds = true, .by = R4_PROVED_INTERVALS, .radius = NAN, .delta = NAN},
    {.label = 2, .predicted = 3, .margin = -INFINITY, .radius = NAN, .delta = NAN},
    {.label = 1, .predicted = 1, .margin = -0.5, .broken = true, .radius = NAN, .delta = NAN}};
  r4_certificate c = {.claim = "box", .semantics = "real", .method = "intervals", .eps = "0.1", .low = "0", .high = "1",
                      .model = "aa", .data = "bb", .examples = 3, .example = x};
  assert_int_equal(r4_certificate_save(&c, scratch_path("c.txt"), &e), R4_OK);
  uint8_t *text = NULL;
  size_t size = 0;
  assert_int_equal(file_read(scratch_path("c.txt"), 1 << 20, &text, &size, &e), R4_OK);
  static const char expected[] =
    "r4-certificate 1\nprogram r4 " R4_VERSION "\nclaim box\nsemantics real\nmethod intervals\nmodel aa\ndata bb\n"
    "eps 0.1\nrange 0 1\nexamples 3\n0 7 7 0x1.8p+0 holds\n1 2 3 - open\n2 1 1 -0x1p-1 open\nsha256 ";
  assert_memory_equal(text, expected, sizeof expected - 1);
  char sum[R4_HASH_SIZE];
  r4_hash(text, sizeof expected - 1 - strlen("sha256 "), sum);
  assert_memory_equal(text + sizeof expected - 1, sum, 64);
  assert_int_equal(size, sizeof expected - 1 + 65);
  r4_mem_free(text);
  x[2].holds = true;
  assert_error(&e, r4_certificate_save(&c, scratch_path("c.txt"), &e), "please report");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_decimals),
    cmocka_unit_test(test_boxes),
    cmocka_unit_test(test_margins),
    cmocka_unit_test(test_attack_finds),
    cmocka_unit_test(test_one_output),
    cmocka_unit_test(test_fooling),
    cmocka_unit_test(test_unknown_range),
    cmocka_unit_test(test_files),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  return cmocka_run_group_tests_name("certify rules", tests, scratch_make, scratch_remove);
}
