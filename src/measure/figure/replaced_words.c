/* The substitution test of texts, if it was made: certified / examples and held / tried, see r4_substituted. */
#include <math.h>

#include "measure/figure/figure.h"

static size_t is_there(const struct figure_source *s)
{
  return s->m->substituted.words && !s->m->substituted.none;
}

static double total(const r4_substituted *s, const size_t *of)
{
  size_t n = 0;
  for (size_t g = 0; g < s->groups; g++) n += of[g];
  return (double)n;
}

static double certified(const struct figure_source *s, size_t variant)
{
  const r4_substituted *w = &s->m->substituted;
  (void)variant;
  return total(w, w->certified) / total(w, w->examples);
}

static double held(const struct figure_source *s, size_t variant)
{
  const r4_substituted *w = &s->m->substituted;
  (void)variant;
  return total(w, w->held) / total(w, w->tried);
}

const struct figure figure_words_certified_accuracy = {.info = {.key = "words_certified_accuracy",
                                                                .label = "words, certified",
                                                                .about = "correct for any listed word, by bounds",
                                                                .better = 1,
                                                                .topic = R4_TOPIC_WORDS,
                                                                .shown = R4_SHOWN_APART},
                                                       .variants = is_there,
                                                       .of = certified};

const struct figure figure_words_held_accuracy = {.info = {.key = "words_held_accuracy",
                                                           .label = "words, held",
                                                           .about = "correct for every replacement tried",
                                                           .better = 1,
                                                           .topic = R4_TOPIC_WORDS,
                                                           .shown = R4_SHOWN_APART},
                                                  .variants = is_there,
                                                  .of = held};
