/* The claim words: margins are below those of every text that the claim is about, and not far below where there is
 * one. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "scratch.h"
#include "r4.h"

enum { TEXTS = 40, TOKENS = 7, KNOWN = 12, CLASSES = 3, WORDS = 3 };

/* What stands before the leaf may know a token's id and place. */
static const char *const nets[] = {
  "embedding 12 4, leaf, dense 6, relu, mean, dense 3",
  "embedding 12 4, dense 5, relu, leaf, dense 6, mean, dense 3",
  "sum(embedding 12 4; position 7 4), leaf, dense 6, relu, first, dense 3",
  "embedding 12 4, leaf, tokenconv 5 3, relu, first, dense 3",
  "embedding 12 4, leaf, dense 1, relu, mean, dense 1",
};
enum { NETS = sizeof nets / sizeof *nets };

static const int32_t words[WORDS] = {3, 7, 11};

static uint32_t chance(uint32_t *state, uint32_t n)
{
  *state = *state * 1664525 + 1013904223;
  return (*state >> 8) % n;
}

struct texts {
  int32_t token[TEXTS * TOKENS], length[TEXTS], label[TEXTS];
  float mask[TEXTS * TOKENS];
};

/* Up to three masked tokens; the first five texts have none. */
static void make_texts(struct texts *t, uint32_t seed)
{
  memset(t, 0, sizeof *t);
  for (size_t i = 0; i < TEXTS; i++) {
    t->length[i] = 1 + (int32_t)chance(&seed, TOKENS);
    t->label[i] = (int32_t)chance(&seed, 2);
    for (size_t k = 0; k < TOKENS; k++) t->token[i * TOKENS + k] = (int32_t)chance(&seed, KNOWN);
    for (size_t k = 0; k < 3 && i >= 5; k++) t->mask[i * TOKENS + chance(&seed, (uint32_t)t->length[i])] = 1;
  }
}

static r4_data *data_of(const struct texts *t, size_t n, bool masked)
{
  static r4_split split[4096];
  r4_error e = {0};
  for (size_t i = 0; i < n; i++) split[i] = R4_TEST;
  r4_data_arrays a = {.n = n, .tokens = t->token, .lengths = t->length, .labels = t->label, .splits = split,
                      .shape = R4_SHAPE(TOKENS), .vocabulary = KNOWN, .classes = 2};
  if (masked) a.mask_floats = t->mask, a.masks_by_feature = true, a.mask_means = R4_MASKS_IRRELEVANT;
  r4_data *d = r4_data_new(&a, &e);
  if (!d) fail_msg("%s", e.text);
  return d;
}

static r4_net *net_of(const char *text, float **weights)
{
  r4_error e = {0};
  r4_net *n = r4_net_open(text, R4_SHAPE(TOKENS), &e);
  if (!n) fail_msg("%s", e.text);
  *weights = r4_mem_new(r4_net_size(n), sizeof **weights);
  assert_int_equal(r4_net_init(n, "default", 3, *weights, &e), R4_OK);
  for (size_t k = 0; k < r4_net_size(n); k++) (*weights)[k] *= 5;
  return n;
}

/* ---- All texts that a claim is about ---- */

/* The least of log p_class - log p_j over one text. */
static double margin_of(const float *p, size_t classes, int32_t class)
{
  double least = INFINITY;
  for (size_t j = 0; j < classes; j++)
    if ((int32_t)j != class) least = fmin(least, log((double)p[class]) - log((double)p[j]));
  return least;
}

/* Puts combination k of what may stand at the masked tokens; false behind the last. */
static bool combine(const struct texts *t, size_t i, size_t k, int32_t *to)
{
  memcpy(to, t->token + i * TOKENS, TOKENS * sizeof *to);
  for (size_t q = 0; q < TOKENS; q++) {
    if (!(t->mask[i * TOKENS + q] > 0)) continue;
    size_t word = k % (WORDS + 1);
    if (word) to[q] = words[word - 1];
    k /= WORDS + 1;
  }
  return !k;
}

static double least_margin(const r4_net *n, const float *weights, const struct texts *t, size_t i, int32_t class)
{
  enum { MOST = 64 };
  static struct texts all;
  float p[TEXTS * CLASSES];
  double least = INFINITY;
  size_t classes = r4_net_classes(n) > 1 ? (size_t)r4_net_classes(n) : 2, count = 0;
  for (size_t k = 0; k < MOST; k += count) {
    for (count = 0; count < TEXTS && k + count < MOST; count++) {
      if (!combine(t, i, k + count, all.token + count * TOKENS)) break;
      all.length[count] = t->length[i];
    }
    if (!count) break;
    r4_data *d = data_of(&all, count, false);
    r4_error e = {0};
    if (r4_predict(n, weights, d, 32, p, &e)) fail_msg("%s", e.text);
    for (size_t row = 0; row < count; row++) least = fmin(least, margin_of(p + row * classes, classes, class));
    r4_data_free(d);
  }
  return least;
}

static void certify(const r4_net *n, const float *weights, const r4_data *d, const r4_certify_options *o,
                    r4_certified *x)
{
  r4_error e = {0};
  if (r4_certify_words(n, weights, d, words, WORDS, o, x, &e)) fail_msg("%s", e.text);
}

static void all_texts(void **state)
{
  (void)state;
  size_t held = 0, open = 0;
  for (size_t k = 0; k < NETS; k++) {
    static struct texts t;
    r4_certified x[TEXTS], any[TEXTS];
    float *weights;
    r4_net *n = net_of(nets[k], &weights);
    make_texts(&t, (uint32_t)k + 1);
    r4_data *d = data_of(&t, TEXTS, true);
    certify(n, weights, d, &(r4_certify_options){.batch = 2 + 3 * (int64_t)k}, x);
    certify(n, weights, d, &(r4_certify_options){.semantics = R4_SEMANTICS_ANY_FLOAT}, any);
    for (size_t i = 0; i < TEXTS; i++) {
      double least = least_margin(n, weights, &t, i, x[i].predicted);
      if (!(x[i].margin <= least + 1e-4))
        fail_msg("%s, text %zu: %g is proved, %g is true", nets[k], i, x[i].margin, least);
      if (i < 5 && !(x[i].margin >= least - 1e-4))
        fail_msg("%s, text %zu has one text: %g of %g", nets[k], i, x[i].margin, least);
      assert_true(any[i].margin <= x[i].margin && any[i].predicted == x[i].predicted);
      assert_true(x[i].holds == (x[i].margin > 0) && x[i].label == t.label[i]);
      held += x[i].holds && i >= 5, open += !x[i].holds;
    }
    r4_data_free(d);
    r4_net_free(n);
    r4_mem_free(weights);
  }
  if (held < 10 || open < 10) fail_msg("%zu hold, %zu are open: this tests little", held, open);
}

/* What hides nothing but the hull: one masked token of a net that is linear behind its leaf is exact. */
static void exact(const char *net)
{
  static struct texts t;
  float *weights;
  r4_net *n = net_of(net, &weights);
  make_texts(&t, 9);
  memset(t.mask, 0, sizeof t.mask);
  for (size_t i = 0; i < TEXTS; i++) t.mask[i * TOKENS + (size_t)t.length[i] - 1] = 1;
  r4_data *d = data_of(&t, TEXTS, true);
  r4_certified x[TEXTS];
  for (size_t k = 0; k < WORDS; k++) { /* whichever is the last, in a batch of its own */
    const int32_t list[] = {words[k], words[(k + 1) % WORDS], words[(k + 2) % WORDS]};
    r4_error e = {0};
    assert_int_equal(
      r4_certify_words(n, weights, d, list, WORDS, &(r4_certify_options){.batch = 2}, x, &e), R4_OK);
    for (size_t i = 0; i < TEXTS; i++)
      assert_true(fabs(x[i].margin - least_margin(n, weights, &t, i, x[i].predicted)) < 1e-4);
  }
  r4_data_free(d);
  r4_net_free(n);
  r4_mem_free(weights);
}

static void one_token_is_exact(void **state)
{
  (void)state;
  exact("embedding 12 1, leaf, mean, dense 2");
  exact("sum(embedding 12 1; position 7 1), leaf, mean, dense 2");
}

static bool stop(size_t done, size_t of, void *user)
{
  (void)of;
  return done < *(size_t *)user;
}

static void goes_on(void **state)
{
  (void)state;
  static struct texts t;
  float *weights;
  r4_net *n = net_of(nets[0], &weights);
  make_texts(&t, 5);
  r4_data *d = data_of(&t, TEXTS, true);
  r4_certified whole[TEXTS], x[TEXTS];
  r4_error e = {0};
  certify(n, weights, d, &(r4_certify_options){.batch = 8}, whole);
  for (size_t done = 0; done < TEXTS; done += 5) {
    r4_certify_options o = {.batch = 8, .progress = stop, .user = &done};
    r4_status s = r4_certify_words(n, weights, d, words, WORDS, &o, x, &e);
    assert_true(s == R4_E_ARGUMENT && strstr(e.text, "stopped after"));
    for (size_t i = done; i < TEXTS; i++) x[i] = (r4_certified){.predicted = 99};
    certify(n, weights, d, &(r4_certify_options){.batch = 8, .done = done}, x);
    for (size_t i = 0; i < TEXTS; i++) {
      assert_true(x[i].margin == whole[i].margin);
      assert_int_equal(x[i].predicted, whole[i].predicted);
    }
  }
  r4_data_free(d);
  r4_net_free(n);
  r4_mem_free(weights);
}

static void refused_with(r4_certify_options o, const char *net, size_t count, const int32_t *word, const char *says)
{
  static struct texts t;
  float *weights;
  r4_certified x[TEXTS];
  r4_net *n = net_of(net, &weights);
  make_texts(&t, 5);
  r4_data *d = data_of(&t, TEXTS, true);
  r4_error e = {0};
  assert_error(&e, r4_certify_words(n, weights, d, word, count, &o, x, &e), says);
  r4_data_free(d);
  r4_net_free(n);
  r4_mem_free(weights);
}

static void refused(const char *net, size_t count, const int32_t *word, const char *says)
{
  refused_with((r4_certify_options){.batch = 8}, net, count, word, says);
}

static void bad_input(void **state)
{
  (void)state;
  refused(nets[0], 0, words, "the list of words is empty");
  refused(nets[0], 1, (int32_t[]){12}, "the vocabulary has no token 12");
  refused(nets[0], 1, (int32_t[]){-1}, "the vocabulary has no token -1");
  refused_with((r4_certify_options){.method = R4_BOUND_BEST}, nets[0], 1, words, "words are certified by intervals");
  refused_with((r4_certify_options){.slopes = 1}, nets[0], 1, words, "words are certified by intervals");
  refused("embedding 12 4, dense 6, mean, dense 3", 1, words, "needs a net with a leaf behind its embedding");
  refused("embedding 12 4, tokenconv 4 3, leaf, mean, dense 3", 1, words, "before tokens see each other");
  float numbers[2] = {0};
  int32_t label[1] = {0};
  r4_split split[1] = {R4_TEST};
  r4_error e = {0};
  r4_certified x[1];
  float *weights;
  r4_net *n = net_of(nets[0], &weights);
  const r4_certify_options o = {.batch = 8};
  const r4_data_arrays a = {
    .n = 1, .floats = numbers, .labels = label, .splits = split, .shape = R4_SHAPE(2), .classes = 2};
  r4_data *d = r4_data_new(&a, &e);
  assert_error(&e, r4_certify_words(n, weights, d, words, 1, &o, x, &e), "is about texts");
  r4_data_free(d);
  r4_net_free(n);
  r4_mem_free(weights);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  static struct texts t;
  float *weights;
  r4_certified x[TEXTS];
  r4_net *n = net_of(nets[1], &weights);
  make_texts(&t, 5);
  r4_data *d = data_of(&t, 3, true);
  for (long k = 1;; k++) {
    r4_error e = {0};
    r4_mem_fail_at(k);
    r4_status s = r4_certify_words(n, weights, d, words, WORDS, &(r4_certify_options){.batch = 2}, x, &e);
    bool reached = r4_mem_count() >= k;
    r4_mem_fail_at(0);
    if (s && s != R4_E_MEMORY) fail_msg("allocation %ld: %s", k, e.text);
    assert_int_equal(e.status, s);
    if (!reached) break;
  }
  r4_data_free(d);
  r4_net_free(n);
  r4_mem_free(weights);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_texts), cmocka_unit_test(one_token_is_exact),
                                     cmocka_unit_test(goes_on), cmocka_unit_test(bad_input),
                                     cmocka_unit_test(memory_may_run_out)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("certify_words", tests, NULL, NULL);
}
