/* Of two classes, with the second one positive: the largest sensitivity (share of the positive examples that are called
 * positive) at a specificity (share of the negative ones that are not) of at least s, over all thresholds t at which an
 * example with a probability of t or more is called positive,
 *
 *     max over t of  |{i : y_i = 1, p_i >= t}| / n1    with    |{i : y_i = 0, p_i >= t}| <= (1 - s) n0 */
#include <math.h>

#include "base/c_locale.h"
#include "measure/figure/rank.h"

static size_t is_binary(const struct figure_source *s)
{
  return s->p && s->p->classes == 2;
}

static void specificity(const struct figure_source *s, size_t k, char text[VARIANT_TEXT])
{
  (void)k;
  c_locale_print(text, VARIANT_TEXT, "%g", s->m->specificity);
}

static double sensitivity(const struct figure_source *s, size_t variant)
{
  size_t ones, n = rank_by_class(s, 1, &ones), zeros = n - ones, found = 0, wrong = 0, best = 0;
  double allowed = (1 - s->m->specificity) * (double)zeros + 1e-9; /* 0.05 of 20 is 1, whatever rounding says */
  (void)variant;
  for (size_t end = n, first; end > 0; end = first) {
    for (first = end; first > 0 && s->room[first - 1].score == s->room[end - 1].score; first--) {
      found += s->room[first - 1].positive;
      wrong += !s->room[first - 1].positive;
    }
    if ((double)wrong <= allowed) best = found;
  }
  return ones && zeros ? (double)best / (double)ones : NAN;
}

const struct figure figure_sensitivity_at_specificity = {
  .info = {.key = "sensitivity_at_specificity",
           .label = "sensitivity at specificity %s",
           .about = "share of the second of two classes that is detected, at a stated specificity",
           .better = 1,
           .topic = R4_TOPIC_PROBABILITY,
           .shown = R4_SHOWN_ROW},
  .predicts = true,
  .variants = is_binary,
  .variant = specificity,
  .of = sensitivity};
