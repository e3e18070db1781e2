/* Two-mask inference: that it is what it is defined to be, and that what it certifies holds, by brute force. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "certify/cover_passes.h"
#include "scratch.h"

enum { N = 60, CLASSES = 3, MOST = 64 };

static const float CONSTANT[3] = {0.5f, 0.25f, 0.75f};

struct subject {
  r4_net *n;
  float *w;
  r4_shape shape;
  size_t features;
};

/* Weights large enough for predictions that differ. */
static struct subject subject_of(const char *net, r4_shape shape, uint64_t seed)
{
  r4_error e = {0};
  struct subject s = {
    .n = r4_net_open(net, shape, &e), .shape = shape, .features = (size_t)r4_shape_count(shape)};
  if (!s.n) fail_msg("%s", e.text);
  s.w = calloc(r4_net_size(s.n), sizeof *s.w);
  r4_net_init(s.n, NULL, seed, s.w, NULL);
  return s;
}

static void subject_free(struct subject *s)
{
  r4_net_free(s->n);
  free(s->w);
}

static r4_data *data_of(const struct subject *s, size_t n, const float *x)
{
  r4_error e = {0};
  int32_t *label = calloc(n, sizeof *label);
  const r4_data_arrays a = {.n = n, .shape = s->shape, .floats = x, .labels = label, .classes = CLASSES};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  free(label);
  return d;
}

static void covered_of(const struct subject *s, const char *family, size_t n, const float *x, r4_covered *to)
{
  r4_error e = {0};
  r4_data *d = data_of(s, n, x);
  if (r4_cover_predict(s->n, s->w, d, &(r4_cover_options){family, CONSTANT}, to, &e)) fail_msg("%s", e.text);
  r4_data_free(d);
}

/* ---- The definition ---- */

/* The predictions of all pairs of masks, [masks, masks] of each example, by r4_predict. */
static void pairs_of(const struct subject *s, const r4_cover *c, size_t n, const float *x, int *to)
{
  size_t masks = r4_cover_masks(c), f = s->features;
  float *y = malloc(n * f * sizeof *y), p[N * CLASSES];
  for (size_t i = 0; i < masks; i++)
    for (size_t j = 0; j < masks; j++) {
      r4_error e = {0};
      memcpy(y, x, n * f * sizeof *y);
      for (size_t k = 0; k < n; k++) {
        r4_cover_put(c, j, 0, CONSTANT, y + k * f);
        r4_cover_put(c, i, 0, CONSTANT, y + k * f);
      }
      r4_data *d = data_of(s, n, y);
      if (r4_predict(s->n, s->w, d, 16, p, &e)) fail_msg("%s", e.text);
      for (size_t k = 0; k < n; k++) {
        int best = 0;
        for (int q = 1; q < CLASSES; q++)
          if (p[k * CLASSES + (size_t)q] > p[k * CLASSES + (size_t)best]) best = q;
        to[(k * masks + i) * masks + j] = best;
      }
      r4_data_free(d);
    }
  free(y);
}

/* By the rules as they are printed in the header. */
static int infer(const int *pair, size_t masks, int *how)
{
  int times[CLASSES] = {0}, most = 0;
  for (size_t i = 0; i < masks; i++) times[pair[i * masks + i]]++;
  for (int k = 1; k < CLASSES; k++)
    if (times[k] > times[most]) most = k;
  *how = 1;
  if (times[most] == (int)masks) return most;
  *how = 2;
  for (size_t i = 0; i < masks; i++) {
    int own = pair[i * masks + i];
    bool all = own != most;
    for (size_t j = 0; j < masks; j++) all = all && pair[i * masks + j] == own;
    if (all) return own;
  }
  *how = 3;
  return most;
}

static bool all_are(const int *pair, size_t n, int class)
{
  for (size_t k = 0; k < n; k++)
    if (pair[k] != class) return false;
  return true;
}

static void check_definition(const char *net, r4_shape shape, const char *family, size_t hows[4],
                             size_t *recovered)
{
  for (uint64_t seed = 0; seed < 4; seed++) {
    struct subject s = subject_of(net, shape, seed);
    r4_cover *c = r4_cover_new(family, shape, NULL);
    size_t masks = r4_cover_masks(c);
    float *x = malloc(N * s.features * sizeof *x);
    int *pair = malloc(N * masks * masks * sizeof *pair), how;
    r4_covered got[N];
    r4_random_fill((r4_random){seed, 1, 0}, N * s.features, -1, 2, x);
    covered_of(&s, family, N, x, got);
    pairs_of(&s, c, N, x, pair);
    for (size_t k = 0; k < N; k++) {
      const int *own = pair + k * masks * masks;
      assert_int_equal(got[k].predicted, infer(own, masks, &how));
      assert_int_equal(got[k].agreed, how == 1);
      assert_int_equal(got[k].detected, how == 1);
      assert_int_equal(got[k].recovered, all_are(own, masks * masks, own[0]));
      assert_true(got[k].recovered ? got[k].margin > 0 && got[k].margin <= got[k].one_margin
                                   : got[k].margin == 0);
      hows[how]++;
      *recovered += got[k].recovered;
    }
    free(pair);
    free(x);
    r4_cover_free(c);
    subject_free(&s);
  }
}

static void it_is_what_it_is_defined_to_be(void **state)
{
  (void)state;
  size_t hows[4] = {0}, recovered = 0;
  check_definition("dense 8, relu, dense 3", R4_SHAPE(6, 6, 1), "edges:0.3", hows, &recovered);
  check_definition("conv 4 3, relu, flatten, dense 3", R4_SHAPE(7, 5, 3), "square:2,3", hows, &recovered);
  check_definition("dense 8, relu, dense 3", R4_SHAPE(6, 6, 1), "frame:0.3", hows, &recovered);
  assert_true(hows[1] > 100 && hows[2] > 10 && hows[3] > 10 && recovered > 50);
}

/* ---- The theorem ---- */

/* Every content of 0 and 1 in every strip of a pixel of an image of 4 x 4: 16 of each of 4. */
static void make_all(const float *x, float *to)
{
  for (int edge = 0; edge < 4; edge++)
    for (int content = 0; content < 16; content++, to += 16) {
      memcpy(to, x, 16 * sizeof *to);
      for (int k = 0; k < 4; k++) {
        int at = edge == 0 ? k : edge == 1 ? 12 + k : edge == 2 ? 4 * k : 4 * k + 3;
        to[at] = (float)(content >> k & 1);
      }
    }
}

static void no_content_changes_what_is_certified(void **state)
{
  (void)state;
  enum { ALL = 64 };
  static const char *const nets[] = {"dense 6, relu, dense 3", "conv 3 2, relu, flatten, dense 3"};
  static float x[N][16], other[N][ALL * 16];
  static r4_covered clean[N], got[N][ALL];
  size_t recovered = 0, detected = 0, changed = 0;
  for (uint64_t seed = 0; seed < 6; seed++) {
    struct subject s = subject_of(nets[seed % 2], R4_SHAPE(4, 4, 1), seed);
    r4_random_fill((r4_random){seed, 3, 0}, N * 16, 0, 1, *x);
    for (size_t k = 0; k < N * 16; k++) x[k / 16][k % 16] = roundf(x[k / 16][k % 16]);
    for (size_t k = 0; k < N; k++) make_all(x[k], other[k]);
    covered_of(&s, "edges:0.25", N, *x, clean);
    covered_of(&s, "edges:0.25", N * ALL, *other, *got);
    for (size_t k = 0; k < N; k++) {
      for (size_t j = 0; j < ALL; j++) {
        bool same = got[k][j].predicted == clean[k].predicted;
        assert_true(!clean[k].recovered || same);
        assert_true(!clean[k].detected || !got[k][j].agreed || same);
        changed += !same;
      }
      recovered += clean[k].recovered;
      detected += clean[k].detected;
    }
    subject_free(&s);
  }
  assert_true(recovered > 60 && detected > recovered && changed > 100);
}

enum { HEIGHT = 9, WIDTH = 8, PIXELS = HEIGHT * WIDTH, SQUARE = 3, STRIP = 2 };

/* Something else in a region of an image: a square, or a strip at an edge. Some of it makes logits overflow. */
static void paste(bool square, float *x)
{
  bool across = draw_below(2);
  size_t height = square ? SQUARE : across ? STRIP : HEIGHT, width = square ? SQUARE : across ? WIDTH : STRIP;
  size_t top = square ? draw_below(HEIGHT - SQUARE + 1) : across ? draw_below(2) * (HEIGHT - STRIP) : 0;
  size_t left = square ? draw_below(WIDTH - SQUARE + 1) : across ? 0 : draw_below(2) * (WIDTH - STRIP);
  double size = draw_below(4) == 0 ? 3e38 : draw_below(2) ? 100 : 1;
  for (size_t p = 0; p < height * width; p++)
    x[(top + p / width) * WIDTH + left + p % width] = (float)draw(-size, size);
}

/* R4_PASTES: how many. */
static void pasted_contents_change_nothing(void **state)
{
  (void)state;
  static const char *const family[] = {"edges:0.2", "square:3,3"};
  static float x[N][PIXELS], other[N][MOST][PIXELS];
  static r4_covered clean[N], got[N][MOST];
  size_t pastes = (size_t)check_setting("R4_PASTES", 10000), done = 0, alerts = 0, changed = 0;
  for (uint64_t seed = 0; done < pastes; seed++) {
    struct subject s =
      subject_of("conv 4 3, relu, flatten, dense 8, relu, dense 3", R4_SHAPE(HEIGHT, WIDTH, 1), seed);
    size_t certified = 0;
    draw_start(7, (uint32_t)seed);
    r4_random_fill((r4_random){seed, 5, 0}, N * PIXELS, 0, 1, *x);
    covered_of(&s, family[seed % 2], N, *x, clean);
    for (size_t k = 0; k < N; k++) {
      if (!clean[k].recovered) continue;
      clean[certified].predicted = clean[k].predicted;
      for (size_t j = 0; j < MOST; j++) paste(seed % 2, memcpy(other[certified][j], x[k], sizeof x[k]));
      certified++;
    }
    if (certified) covered_of(&s, family[seed % 2], certified * MOST, **other, *got);
    for (size_t k = 0; k < certified * MOST; k++) {
      const r4_covered *own = &got[k / MOST][k % MOST];
      if (own->predicted != clean[k / MOST].predicted) fail_msg("paste %zu, seed %d", k, (int)seed);
      alerts += !own->agreed;
      changed += own->alone != clean[k / MOST].predicted;
    }
    done += certified * MOST;
    subject_free(&s);
  }
  assert_true(alerts > done / 20 && changed > done / 20);
}

/* A pass without a finite logit has predicted nothing, and nothing is certified by it. */
static void no_prediction_is_none(void **state)
{
  (void)state;
  struct subject s = subject_of("dense 3", R4_SHAPE(4, 4, 1), 1);
  float x[16];
  r4_covered got;
  for (size_t k = 0; k < 16; k++) x[k] = k % 2 ? 3e38f : -3e38f;
  for (size_t k = 0; k < r4_net_size(s.n); k++) s.w[k] = k % 2 ? 2 : -2;
  covered_of(&s, "edges:0.25", 1, x, &got);
  assert_int_equal(got.alone, -1);
  assert_int_equal(got.predicted, -1);
  assert_true(got.agreed && !got.detected && !got.recovered);
  subject_free(&s);
}

/* A net that cannot tell classes apart predicts one, and certifies nothing. */
static void ties_are_not_certified(void **state)
{
  (void)state;
  struct subject s = subject_of("dense 3", R4_SHAPE(4, 4, 1), 1);
  static const float x[16];
  r4_covered got;
  memset(s.w, 0, r4_net_size(s.n) * sizeof *s.w);
  covered_of(&s, "edges:0.25", 1, x, &got);
  assert_true(got.predicted == 0 && got.agreed && !got.detected && !got.recovered);
  subject_free(&s);
}

/* ---- Bits ---- */

static bool same_pass(const struct pass *a, const struct pass *b)
{
  return a->predicted == b->predicted && !memcmp(&a->lead, &b->lead, sizeof a->lead);
}

/* All masks of some examples, in another order in each run, with one and two threads. */
static void check_bits(const char *net, int64_t side, int64_t channels, int runs)
{
  enum { EXAMPLES = 4, PAIRS = 10, PASSES = EXAMPLES * PAIRS };
  struct subject s = subject_of(net, R4_SHAPE(side, side, channels), 1);
  float *x = malloc(EXAMPLES * s.features * sizeof *x);
  r4_random_fill((r4_random){1, 2, 0}, EXAMPLES * s.features, 0, 1, x);
  r4_data *d = data_of(&s, EXAMPLES, x);
  r4_cover *c = r4_cover_new("edges:0.25", s.shape, NULL);
  struct pass first[PASSES] = {{0}}, again[PASSES];
  for (int run = 0; run < runs; run++) {
    r4_error e = {0};
    r4_threads(2 - run % 2, false);
    struct passes *p = passes_new(s.n, s.w, d, c, CONSTANT, &e);
    if (!p) fail_msg("%s", e.text);
    for (size_t k = 0; k < PASSES; k++) {
      size_t own = (k * 7 + (size_t)run * 13) % PASSES, i = 0, j = own % PAIRS;
      while (j >= 4 - i) j -= 4 - i, i++;
      again[k] = (struct pass){.example = own / PAIRS, .i = i, .j = i + j};
    }
    if (passes_run(p, PASSES, again, &e)) fail_msg("%s", e.text);
    for (size_t k = 0; k < PASSES; k++) {
      size_t own = (k * 7 + (size_t)run * 13) % PASSES;
      if (!run) first[own] = again[k];
      if (!same_pass(&again[k], &first[own])) fail_msg("%s: pass %zu, run %d", net, own, run);
    }
    passes_free(p);
  }
  r4_threads(1, false);
  r4_cover_free(c);
  r4_data_free(d);
  free(x);
  subject_free(&s);
}

static void bits_do_not_depend_on_the_place(void **state)
{
  (void)state;
  check_bits("dense 64, relu, dense 3", 28, 1, 4);
  check_bits("conv 16 3 p1, relu, conv 32 3 p1 s2, relu, flatten, dense 16, relu, dense 3", 20, 3, 4);
  check_bits("normalize mean 0.5 std 0.25, conv 8 3, relu, globalpool, dense 1", 20, 3, 4);
  check_bits("efficientnet-lite0(classes=3)", 32, 3, 2);
}

/* The net that the field uses, with its weights: in R4_DATA_DIR. */
static void bits_of_a_pretrained_net(void **state)
{
  (void)state;
  CHECK_NEEDS_DATA("efficientnet-lite0");
  r4_error e = {0};
  char path[600];
  snprintf(path, sizeof path, "%s", check_data("efficientnet-lite0"));
  struct subject s = subject_of("efficientnet-lite0", R4_SHAPE(128, 128, 3), 0);
  if (r4_net_load(s.n, path, NULL, s.w, NULL, &e)) fail_msg("%s", e.text);
  float *x = malloc(9 * s.features * sizeof *x);
  r4_random_fill((r4_random){1, 2, 0}, 9 * s.features, 0, 1, x);
  r4_covered all[9], one;
  covered_of(&s, "edges:0.25", 9, x, all);
  for (int k = 8; k >= 0; k -= 4) {
    r4_threads(k % 3 ? 2 : 1, false);
    covered_of(&s, "edges:0.25", 1, x + (size_t)k * s.features, &one);
    assert_memory_equal(&one, &all[k], sizeof one);
  }
  r4_threads(1, false);
  free(x);
  subject_free(&s);
}

/* ---- Texts ---- */

enum { TOKENS = 24, WORDS = 12, TEXTS = 40, MASK_ID = 11 };

static r4_data *texts_of(size_t n, const int32_t *id, const int32_t *length)
{
  r4_error e = {0};
  static const int32_t label[TEXTS * 8];
  const r4_data_arrays a = {.n = n,
                            .shape = R4_SHAPE(TOKENS),
                            .tokens = id,
                            .lengths = length,
                            .vocabulary = WORDS,
                            .labels = label,
                            .classes = 2};
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static size_t changed_texts, certified_texts;

/* Texts of one net, and each with other words in a window of two. */
static void check_texts(uint64_t seed)
{
  enum { CHANGES = 8 };
  const float constant = MASK_ID;
  const r4_cover_options o = {"tokens:2,5", &constant};
  struct subject s =
    subject_of("embedding 12 4, leaf, tokenconv 6 3, relu, mean, dense 2", R4_SHAPE(TOKENS), 2);
  static int32_t id[TEXTS * TOKENS], length[TEXTS], other[TEXTS * CHANGES * TOKENS], same[TEXTS * CHANGES];
  static r4_covered clean[TEXTS], got[TEXTS * CHANGES];
  r4_random_fill((r4_random){seed, 4, 4}, r4_net_size(s.n), -1, 1, s.w);
  draw_start(3, (uint32_t)seed);
  for (size_t k = 0; k < TEXTS * TOKENS; k++) id[k] = (int32_t)draw_below(WORDS);
  for (size_t k = 0; k < TEXTS; k++) length[k] = (int32_t)draw_between(1, TOKENS);
  for (size_t j = 0; j < TEXTS * CHANGES; j++) {
    size_t k = j / CHANGES, from = draw_below((uint64_t)length[k]);
    memcpy(other + j * TOKENS, id + k * TOKENS, sizeof(int32_t) * TOKENS);
    same[j] = length[k];
    for (size_t p = from; p < from + 2 && p < (size_t)length[k]; p++)
      other[j * TOKENS + p] = (int32_t)draw_below(WORDS);
  }
  r4_data *d = texts_of(TEXTS, id, length), *changes = texts_of(TEXTS * CHANGES, other, same);
  assert_int_equal(r4_cover_predict(s.n, s.w, d, &o, clean, NULL), R4_OK);
  assert_int_equal(r4_cover_predict(s.n, s.w, changes, &o, got, NULL), R4_OK);
  for (size_t j = 0; j < TEXTS * CHANGES; j++) {
    bool stays = got[j].predicted == clean[j / CHANGES].predicted;
    assert_true(!clean[j / CHANGES].recovered || stays);
    changed_texts += !stays;
  }
  for (size_t k = 0; k < TEXTS; k++) certified_texts += clean[k].recovered;
  r4_data_free(changes);
  r4_data_free(d);
  subject_free(&s);
}

static void texts_are_certified(void **state)
{
  (void)state;
  enum { NETS = 8 };
  for (uint64_t seed = 0; seed < NETS; seed++) check_texts(seed);
  assert_true(certified_texts > 20 && certified_texts < NETS * TEXTS - 20 && changed_texts > 10);
}

/* ---- The constant ---- */

static void the_constant_is_the_mean(void **state)
{
  (void)state;
  static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
  static const int32_t label[2], id[6], length[2] = {3, 2};
  const r4_data_arrays a = {.n = 2, .shape = R4_SHAPE(1, 2, 2), .floats = x, .labels = label, .classes = 2},
                       t = {.n = 2,
                            .shape = R4_SHAPE(3),
                            .tokens = id,
                            .lengths = length,
                            .labels = label,
                            .classes = 2};
  r4_data *d = r4_data_new(&a, NULL), *tokens = r4_data_new(&t, NULL);
  float to[2];
  r4_error e = {0};
  assert_int_equal(r4_data_constant(d, 2, to, &e), R4_OK);
  assert_true(to[0] == 4 && to[1] == 5);
  assert_error(&e, r4_data_constant(d, 3, to, &e), "has 2 numbers, not 3");
  assert_error(&e, r4_data_constant(tokens, 1, to, &e), "the tokens have no names");
  r4_data_free(d);
  r4_data_free(tokens);
}

static void the_constant_of_texts_is_a_mask(void **state)
{
  (void)state;
  static const char *const text[] = {"a good film"};
  static const int32_t label[1];
  r4_error e = {0};
  const r4_data_arrays a = {.n = 1, .labels = label, .classes = 2};
  r4_data *d =
    r4_data_texts(text, NULL, NULL, &a, &(r4_data_options){.tokenizer = "test/tokens/vocab.txt"}, &e);
  if (!d) fail_msg("%s", e.text);
  float to = -1;
  assert_int_equal(r4_data_constant(d, 1, &to, &e), R4_OK);
  assert_string_equal(r4_data_piece(d, (int32_t)to), "[MASK]");
  r4_data_free(d);
}

static void a_model_keeps_it(void **state)
{
  (void)state;
  struct subject s = subject_of("dense 3", R4_SHAPE(2, 2, 3), 1);
  float kept[3] = {0.1f, 1.f / 3, 0.7f}, to[3] = {0};
  r4_error e = {0};
  assert_int_equal(model_save(s.n, s.w, NULL, 3, kept, scratch_path("m"), &e), R4_OK);
  r4_model *m = r4_model_open(scratch_path("m"), NULL, &e);
  if (!m) fail_msg("%s", e.text);
  assert_true(r4_model_constant(m, 3, to));
  assert_memory_equal(to, kept, sizeof kept);
  assert_false(r4_model_constant(m, 1, to));
  assert_int_equal(r4_model_constants(m), 3);
  assert_int_equal(r4_model_set_constant(m, 2, kept, &e), R4_OK);
  assert_int_equal(r4_model_write(m, scratch_path("two"), &e), R4_OK);
  assert_error(&e, r4_model_set_constant(m, 1, &(float){INFINITY}, &e), "number 0 of the constant is inf");
  r4_model_free(m);
  m = r4_model_open(scratch_path("two"), NULL, &e);
  assert_true(r4_model_constant(m, 2, to) && to[1] == kept[1]);
  r4_model_free(m);
  scratch_patch("m", "0x1.99999ap-4,", "0x1.99999ap-4;", 14);
  assert_null(r4_model_open(scratch_path("m"), NULL, &e));
  assert_error(&e, e.status, "metadata: constant is");
  assert_int_equal(r4_model_save(s.n, s.w, NULL, scratch_path("m"), &e), R4_OK);
  m = r4_model_open(scratch_path("m"), NULL, &e);
  assert_false(r4_model_constant(m, 3, to));
  r4_model_free(m);
  subject_free(&s);
}

/* ---- Bad input, and no memory ---- */

static void bad_input_is_named(void **state)
{
  (void)state;
  struct subject s = subject_of("dense 3", R4_SHAPE(6, 6, 1), 1),
                 words = subject_of("embedding 12 4, mean, dense 2", R4_SHAPE(TOKENS), 1);
  static float x[36], vector[TOKENS];
  static const int32_t id[TOKENS], label[1], length[1] = {TOKENS};
  const float wrong[] = {NAN};
  r4_covered to[1];
  r4_error e = {0};
  const r4_data_arrays v = {
    .n = 1, .shape = R4_SHAPE(TOKENS), .floats = vector, .labels = label, .classes = 2};
  r4_data *d = data_of(&s, 1, x), *text = texts_of(1, id, length), *vectors = r4_data_new(&v, NULL);
  assert_error(&e, r4_cover_predict(s.n, s.w, d, &(r4_cover_options){"edges:0.3", wrong}, to, &e),
               "the constant of channel 0");
  assert_error(&e, r4_cover_predict(words.n, words.w, d, &(r4_cover_options){"edges:0.3", CONSTANT}, to, &e),
               "the net takes 24 values, the examples have 36");
  assert_error(&e,
               r4_cover_predict(words.n, words.w, text, &(r4_cover_options){"edges:0.3", CONSTANT}, to, &e),
               "is for images, and examples are not");
  assert_error(&e,
               r4_cover_predict(words.n, words.w, vectors, &(r4_cover_options){"tokens:2", CONSTANT}, to, &e),
               "the cover is for texts, and examples are not");
  r4_data_free(vectors);
  r4_data_free(text);
  r4_data_free(d);
  subject_free(&words);
  subject_free(&s);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  struct subject s = subject_of("dense 3", R4_SHAPE(6, 6, 1), 1);
  static float x[2 * 36];
  r4_covered to[2];
  r4_data *d = data_of(&s, 2, x);
  for (long n = 1;; n++) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status status = r4_cover_predict(s.n, s.w, d, &(r4_cover_options){"edges:0.3", CONSTANT}, to, &e);
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_true(status ? status == R4_E_MEMORY && e.status == status : !reached);
    if (!reached) break;
  }
  r4_data_free(d);
  subject_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_is_what_it_is_defined_to_be),
    cmocka_unit_test(no_content_changes_what_is_certified),
    cmocka_unit_test(pasted_contents_change_nothing),
    cmocka_unit_test(no_prediction_is_none),
    cmocka_unit_test(ties_are_not_certified),
    cmocka_unit_test(bits_do_not_depend_on_the_place),
    cmocka_unit_test(bits_of_a_pretrained_net),
    cmocka_unit_test(texts_are_certified),
    cmocka_unit_test(the_constant_is_the_mean),
    cmocka_unit_test(the_constant_of_texts_is_a_mask),
    cmocka_unit_test(a_model_keeps_it),
    cmocka_unit_test(bad_input_is_named),
    cmocka_unit_test(memory_may_run_out),
  };
  r4_threads(1, false); /* nets are small, and bits the same */
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
