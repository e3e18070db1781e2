#include "decoy_text_case.h"

#include <stdlib.h>

enum { TOKENS = TEXT_TOKENS, TRAIN = TEXT_TRAIN, N = TRAIN + TEXT_TEST, CLASSES = 2 };
enum {
  DECOY = 1,
  OWN = 4,
  NEUTRAL = 12,
  EACH = 4
}; /* where words of a kind begin; words of a class: OWN + 4 class */

struct texts {
  int32_t tokens[N][TOKENS], lengths[N], labels[N];
  float masks[N][TOKENS];
  r4_split splits[N];
};

static int32_t word(size_t i, uint32_t what, size_t k, int32_t from, int32_t of)
{
  return from + (int32_t)(of * r4_random_uniform((r4_random){5, what, (uint32_t)i}, k));
}

/* flip: decoys are those of the other class. */
static struct texts *texts_new(bool flip)
{
  struct texts *t = calloc(1, sizeof *t);
  assert_non_null(t);
  for (size_t i = 0; i < N; i++) {
    bool train = i < TRAIN;
    int32_t y = t->labels[i] = (int32_t)(i % CLASSES);
    t->splits[i] = train ? R4_TRAIN : R4_TEST;
    t->lengths[i] = word(i, 1, 0, 5, 4);
    for (int32_t k = 0; k < t->lengths[i]; k++) {
      bool own = r4_random_uniform((r4_random){5, 2, (uint32_t)i}, (uint32_t)k) < .3;
      t->tokens[i][k] =
        own ? word(i, 3, (size_t)k, OWN + EACH * y, EACH) : word(i, 4, (size_t)k, NEUTRAL, EACH);
    }
    int32_t place = word(i, 5, 0, 0, t->lengths[i]), said = train ? y : word(i, 6, 0, 0, CLASSES);
    t->tokens[i][place] = DECOY + (flip ? 1 - said : said);
    t->masks[i][place] = 1;
  }
  return t;
}

r4_data *decoy_text_case(bool flip)
{
  r4_error e = {0};
  struct texts *t = texts_new(flip);
  r4_data *d = r4_data_new(&(r4_data_arrays){.n = N,
                                             .shape = R4_SHAPE(TOKENS),
                                             .tokens = t->tokens[0],
                                             .lengths = t->lengths,
                                             .labels = t->labels,
                                             .splits = t->splits,
                                             .mask_floats = t->masks[0],
                                             .mask_means = R4_MASKS_IRRELEVANT},
                           &e);
  if (!d) fail_msg("%s", e.text);
  free(t);
  return d;
}
