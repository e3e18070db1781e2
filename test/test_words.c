/* Methods that replace words: what they draw, what they find, and that their penalties move the weights. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "objective/words.h"

enum { ROWS = 4, TOKENS = 6, SAMPLES = 3, IDS = 12, PARAMS = 8 };

static const char layers[] = "embedding 12 3, leaf, dense 5, relu, mean, dense 2";

/* Texts of 6, 5, 4 and 6 tokens; the second token is masked, of the first also the third, of the last none. */
static const float
  ids[ROWS * TOKENS] = {1, 3, 4, 5, 6, 2, 1, 7, 8, 9, 2, 0, 1, 10, 4, 2, 0, 0, 1, 5, 6, 7, 8, 2},
             masks[ROWS * TOKENS] = {[1] = 1, [2] = 1, [TOKENS + 1] = 1, [2 * TOKENS + 1] = 1},
             lengths[ROWS] = {6, 5, 4, 6};

static const r4_batch batch = {
  .count = ROWS, .masked = 3, .x = ids, .m = masks, .length = lengths, .features = TOKENS};

static const r4_random key = {5, 1, 2};

/* ---- Drawing ---- */

static void test_words_are_of_the_batch(void **state)
{
  (void)state;
  float drawn[1000];
  bool seen[IDS] = {false};
  draw_words(key, &batch, 1000, drawn);
  for (size_t k = 0; k < 1000; k++) seen[(int)drawn[k]] = true;
  for (int id = 0; id < IDS; id++)
    assert_int_equal(seen[id], id >= 3 && id <= 10); /* not the first, the last, padding */
}

static void test_masked_words_are_masked(void **state)
{
  (void)state;
  float drawn[50 * TOKENS];
  bool seen[IDS] = {false};
  draw_masked_words(key, &batch, 50 * TOKENS, drawn);
  for (size_t k = 0; k < 50 * TOKENS; k++) seen[(int)drawn[k]] = true;
  for (int id = 0; id < IDS; id++) assert_int_equal(seen[id], id == 3 || id == 4 || id == 7 || id == 10);
  r4_batch none = batch;
  static const float zeros[ROWS * TOKENS];
  none.m = zeros;
  draw_masked_words(key, &none, TOKENS, drawn);
  for (size_t k = 0; k < TOKENS; k++) assert_true(drawn[k] == ids[0]);
  draw_words(key, NULL, TOKENS, drawn);
  draw_masked_words(key, NULL, TOKENS, drawn);
}

/* ---- Quantities ---- */

struct told {
  double each[ROWS], slope; /* slope: how much the penalty moves the weights */
};

/* What is asked for, beside the batch; NULL: as the batch has it, or nothing. */
struct ask {
  const double *x, *m, *words, *chance;
  double alpha;
  const float *list;
  size_t listed;
  int candidates, steps, places;
  bool element_max;
};

static r4_objective_options options_of(const char *method, const struct ask *a)
{
  return (r4_objective_options){.method = method,
                                .batch = ROWS,
                                .lambda = {1},
                                .samples = SAMPLES,
                                .steps = a->steps ? a->steps : SAMPLES,
                                .places = a->places,
                                .alpha = a->alpha,
                                .lengths = true,
                                .words = a->list,
                                .word_count = a->listed,
                                .candidates = a->candidates,
                                .element_max = a->element_max,
                                .norm = R4_NORM_L2};
}

static struct told tell_of(const char *method, struct ask a)
{
  struct told told = {.slope = 0};
  r4_net *n = r4_net_open(layers, R4_SHAPE(TOKENS), NULL);
  r4_graph *g = r4_graph_new();
  r4_id param[PARAMS], slope[PARAMS], out[PARAMS + 1];
  r4_objective_options p = options_of(method, &a);
  r4_net_inputs(n, g, param);
  r4_objective o = r4_objective_build(g, n, param, &p);
  const char *why;
  if (r4_graph_status(g, &why)) fail_msg("%s", why);
  size_t params = r4_net_params(n);
  r4_grad(g, o.penalty[0], params, param, slope);
  out[0] = o.each;
  memcpy(out + 1, slope, params * sizeof *slope);
  struct runner *r = runner_new(g, params + 1, out, FAST64);
  for (size_t k = 0; k < r->n_in; k++)
    for (size_t j = 0; j < r->in_count[k]; j++)
      r->in[k][j] = r4_random_uniform((r4_random){3, 1, (uint32_t)r->in_count[k]}, j) - 0.5;
  for (size_t k = 0; k < ROWS * TOKENS; k++) {
    runner_input(r, "x")[k] = a.x ? a.x[k] : (double)ids[k];
    runner_input(r, "m")[k] = a.m ? a.m[k] : (double)masks[k];
  }
  for (size_t i = 0; i < ROWS; i++) {
    runner_input(r, "y")[i] = (double)(i % 2);
    runner_input(r, "length")[i] = (double)lengths[i];
  }
  if (a.words) memcpy(runner_input(r, "words"), a.words, SAMPLES * ROWS * TOKENS * sizeof *a.words);
  if (a.chance) memcpy(runner_input(r, "chance"), a.chance, SAMPLES * ROWS * TOKENS * sizeof *a.chance);
  runner_run(r);
  memcpy(told.each, r->out[0], sizeof told.each);
  for (size_t k = 1; k <= params; k++)
    for (size_t j = 0; j < r->out_count[k]; j++) told.slope += fabs(r->out[k][j]);
  runner_free(r);
  r4_graph_free(g);
  r4_net_free(n);
  return told;
}

static double x[ROWS * TOKENS], words[SAMPLES * ROWS * TOKENS], chance[SAMPLES * ROWS * TOKENS];

static int set_up(void **state)
{
  (void)state;
  for (size_t k = 0; k < ROWS * TOKENS; k++) x[k] = (double)ids[k];
  for (size_t k = 0; k < SAMPLES * ROWS * TOKENS; k++) {
    words[k] = (double)(3 + r4_random_below(key, k, 8));
    chance[k] = r4_random_uniform(key, k);
  }
  return 0;
}

/* sqrt of R3's q at texts x. */
static struct told at(const double *texts)
{
  struct told t = tell_of("r3", (struct ask){.x = texts});
  for (size_t i = 0; i < ROWS; i++) t.each[i] = sqrt(t.each[i]);
  return t;
}

static void put_masked(double *to, int s)
{
  memcpy(to, x, sizeof x);
  for (size_t k = 0; k < ROWS * TOKENS; k++)
    if (masks[k] > 0) to[k] = words[(size_t)s * ROWS * TOKENS + k];
}

static void test_rand_takes_the_largest(void **state)
{
  (void)state;
  struct told best = at(x), got = tell_of("word-rand-r4", (struct ask){.words = words});
  bool moved = false;
  for (int s = 0; s < SAMPLES; s++) {
    double other[ROWS * TOKENS];
    put_masked(other, s);
    struct told t = at(other);
    for (size_t i = 0; i < ROWS; i++)
      moved |= t.each[i] > best.each[i], best.each[i] = fmax(best.each[i], t.each[i]);
  }
  assert_close("q", got.each, best.each, ROWS, 1e-9, 1);
  assert_true(moved && got.slope > 0 && got.each[0] > 0 && got.each[3] == 0);
}

/* max_s |g| of each feature lies above the largest norm, and is one of the samples where there is but one. */
static void test_rand_by_element(void **state)
{
  (void)state;
  struct told norm = tell_of("word-rand-r4", (struct ask){.words = words}),
              element = tell_of("word-rand-r4", (struct ask){.words = words, .element_max = true});
  bool above = false;
  for (size_t i = 0; i < ROWS; i++) {
    assert_true(element.each[i] >= norm.each[i] * (1 - 1e-12));
    above |= element.each[i] > 1.001 * norm.each[i];
  }
  assert_true(above && element.slope > 0 && element.each[3] == 0);
  for (size_t k = 0; k < SAMPLES * ROWS * TOKENS; k++) words[k] = x[k % (ROWS * TOKENS)];
  element = tell_of("word-rand-r4", (struct ask){.words = words, .element_max = true});
  assert_close("q of the texts themselves", element.each, at(x).each, ROWS, 1e-9, 1);
}

/* ---- The greedy search ---- */

/* || g || at one token of each text, at texts now. */
static struct told at_token(const double *now, const size_t place[ROWS])
{
  double one[ROWS * TOKENS] = {0};
  for (size_t i = 0; i < ROWS; i++)
    if (place[i] < TOKENS) one[i * TOKENS + place[i]] = 1;
  struct told t = tell_of("r3", (struct ask){.x = now, .m = one});
  for (size_t i = 0; i < ROWS; i++) t.each[i] = sqrt(t.each[i]);
  return t;
}

/* The k-th masked token of a text, or TOKENS. */
static size_t masked_place(size_t i, int k)
{
  for (size_t t = 0; t < TOKENS; t++)
    if (masks[i * TOKENS + t] > 0 && !k--) return t;
  return TOKENS;
}

/* One token after the other, each replaced by the word that makes the norm there largest. word: of a choice, text and
 * place. */
static void search(double *now, size_t choices, double (*word)(size_t choice, size_t i, size_t place),
                   int places)
{
  for (int k = 0; k < places; k++) {
    double from[ROWS * TOKENS];
    size_t place[ROWS];
    memcpy(from, now, sizeof from);
    for (size_t i = 0; i < ROWS; i++) place[i] = masked_place(i, k);
    struct told best = at_token(from, place);
    for (size_t c = 0; c < choices; c++) {
      double other[ROWS * TOKENS];
      memcpy(other, from, sizeof other);
      for (size_t i = 0; i < ROWS; i++)
        if (place[i] < TOKENS) other[i * TOKENS + place[i]] = word(c, i, place[i]);
      struct told t = at_token(other, place);
      for (size_t i = 0; i < ROWS; i++) {
        if (!(t.each[i] > best.each[i])) continue;
        memcpy(now + i * TOKENS, other + i * TOKENS, TOKENS * sizeof *now);
        best.each[i] = t.each[i];
      }
    }
  }
}

static const float list[] = {5, 9, 11, 6, 8};
enum { LISTED = sizeof list / sizeof *list };

static double listed_word(size_t choice, size_t i, size_t place)
{
  (void)i, (void)place;
  return (double)list[choice];
}

static double drawn_word(size_t choice, size_t i, size_t place)
{
  return words[(choice * ROWS + i) * TOKENS + place];
}

static void assert_finds(const char *what, struct told got, const double *texts)
{
  assert_close(what, got.each, at(texts).each, ROWS, 1e-9, 1);
  assert_true(got.slope > 0 && got.each[3] == 0);
}

static void test_adv_searches_the_list(void **state)
{
  (void)state;
  double now[ROWS * TOKENS];
  struct ask ask = {.list = list, .listed = LISTED};
  memcpy(now, x, sizeof now);
  search(now, LISTED, listed_word, 2);
  assert_true(memcmp(now, x, sizeof now));
  assert_finds("all of the list", tell_of("word-adv-r4", ask), now);
  ask.candidates = LISTED; /* as many as there are: nothing to screen */
  assert_finds("all are candidates", tell_of("word-adv-r4", ask), now);
  ask.places = 2;
  assert_finds("no more places than there are", tell_of("word-adv-r4", ask), now);
}

/* With one step only the first masked token of a text is looked at. */
static void test_adv_stops_after_its_steps(void **state)
{
  (void)state;
  double now[ROWS * TOKENS];
  memcpy(now, x, sizeof now);
  search(now, LISTED, listed_word, 1);
  assert_finds("one step", tell_of("word-adv-r4", (struct ask){.list = list, .listed = LISTED, .steps = 1}),
               now);
}

static void test_adv_searches_the_batch(void **state)
{
  (void)state;
  double now[ROWS * TOKENS];
  memcpy(now, x, sizeof now);
  search(now, SAMPLES, drawn_word, 2);
  assert_finds("drawn words", tell_of("word-adv-r4", (struct ask){.words = words}), now);
}

/* What is drawn with a list is of the list, and all of it. */
static void test_lists_are_drawn_from(void **state)
{
  (void)state;
  r4_net *n = r4_net_open(layers, R4_SHAPE(TOKENS), NULL);
  r4_graph *g = r4_graph_new();
  r4_id param[PARAMS];
  float drawn[SAMPLES * ROWS * TOKENS];
  bool seen[IDS] = {false};
  r4_objective_options p = options_of("word-rand-r4", &(struct ask){.list = list, .listed = LISTED});
  r4_net_inputs(n, g, param);
  r4_objective o = r4_objective_build(g, n, param, &p);
  assert_int_equal(o.draws, 1);
  for (uint32_t step = 0; step < 9; step++) {
    r4_drawn_fill(&o.drawn[0], 5, step, &batch, drawn);
    for (size_t k = 0; k < SAMPLES * ROWS * TOKENS; k++) seen[(int)drawn[k]] = true;
  }
  for (int id = 0; id < IDS; id++)
    assert_int_equal(seen[id], id == 5 || id == 9 || id == 11 || id == 6 || id == 8);
  r4_graph_free(g);
  r4_net_free(n);
}

/* A list has vectors of its own at the leaf only if no token sees another before it. */
static void test_leaf_behind_attention_is_refused(void **state)
{
  (void)state;
  r4_net *n = r4_net_open("embedding 12 4, attention 2, leaf, mean, dense 2", R4_SHAPE(TOKENS), NULL);
  r4_graph *g = r4_graph_new();
  r4_id param[16];
  const char *why = "";
  r4_objective_options p =
    options_of("word-adv-r4", &(struct ask){.list = list, .listed = LISTED, .candidates = 2});
  r4_net_inputs(n, g, param);
  r4_objective_build(g, n, param, &p);
  assert_int_equal(r4_graph_status(g, &why), R4_E_ARGUMENT);
  assert_non_null(strstr(why, "see each other"));
  r4_graph_free(g);
  r4_net_free(n);
}

/* All tokens replaced by themselves: R3. All by the same: R3 of these, where the first, the last and padding stay. */
static void test_smooth_is_r3_of_moved_texts(void **state)
{
  (void)state;
  struct told same = tell_of("r3", (struct ask){0}), got;
  for (size_t k = 0; k < SAMPLES * ROWS * TOKENS; k++) words[k] = x[k % (ROWS * TOKENS)];
  got = tell_of("word-smooth-r3", (struct ask){.words = words, .chance = chance, .alpha = 1});
  assert_close("q", got.each, same.each, ROWS, 1e-9, 1);
  assert_true(got.slope > 0);
  double other[ROWS * TOKENS];
  for (size_t k = 0; k < ROWS * TOKENS; k++) {
    size_t place = k % TOKENS;
    bool inner = place > 0 && place + 1 < (size_t)lengths[k / TOKENS];
    other[k] = inner ? 9 : x[k];
  }
  for (size_t k = 0; k < SAMPLES * ROWS * TOKENS; k++) words[k] = 9;
  same = tell_of("r3", (struct ask){.x = other});
  got = tell_of("word-smooth-r3", (struct ask){.words = words, .chance = chance, .alpha = 1});
  assert_close("q of others", got.each, same.each, ROWS, 1e-9, 1);
}

static void test_refused(void **state)
{
  (void)state;
  for (size_t k = 0; k < r4_method_count(); k++) {
    if (!r4_method_describe(r4_method_name(k)).texts) continue;
    r4_graph *g = r4_graph_new();
    r4_net *n = r4_net_open("dense 2", R4_SHAPE(3), NULL);
    r4_id param[PARAMS];
    const char *why = "";
    r4_net_inputs(n, g, param);
    r4_objective_build(g, n, param,
                       &(r4_objective_options){
                         .method = r4_method_name(k), .batch = 2, .lambda = {1}, .samples = 1, .steps = 1});
    assert_int_equal(r4_graph_status(g, &why), R4_E_ARGUMENT);
    assert_non_null(strstr(why, "is for texts"));
    r4_net_free(n);
    r4_graph_free(g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_words_are_of_the_batch),
    cmocka_unit_test(test_masked_words_are_masked),
    cmocka_unit_test_setup(test_rand_takes_the_largest, set_up),
    cmocka_unit_test_setup(test_rand_by_element, set_up),
    cmocka_unit_test_setup(test_adv_searches_the_list, set_up),
    cmocka_unit_test_setup(test_adv_stops_after_its_steps, set_up),
    cmocka_unit_test_setup(test_adv_searches_the_batch, set_up),
    cmocka_unit_test(test_lists_are_drawn_from),
    cmocka_unit_test(test_leaf_behind_attention_is_refused),
    cmocka_unit_test_setup(test_smooth_is_r3_of_moved_texts, set_up),
    cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
