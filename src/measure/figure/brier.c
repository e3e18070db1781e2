/* The Brier score (Brier, 1950): how far the probabilities are from what is the case. With p_ic the probability of
 * class c for example i and y_i its label,
 *
 *     brier = mean_i sum_c (p_ic - [y_i = c])^2
 *
 * from 0 to 2. For two classes it is twice the mean of (p_i1 - y_i)^2, which some call so. */
#include <math.h>

#include "measure/figure/figure.h"

static double brier(const struct figure_source *s, size_t variant)
{
  size_t n = r4_data_count(s->d), classes = s->p->classes;
  double sum = 0;
  (void)variant;
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < classes; c++)
      sum += pow(s->p->probability[i * classes + c] - (r4_data_example(s->d, i).label == (int32_t)c), 2);
  return n ? sum / (double)n : NAN;
}

const struct figure figure_brier = {.info = {.key = "brier",
                                             .label = "Brier score",
                                             .about = "mean squared error of the probabilities, summed over classes",
                                             .unit = R4_UNIT_NUMBER,
                                             .better = -1,
                                             .topic = R4_TOPIC_PROBABILITY,
                                             .shown = R4_SHOWN_ROW},
                                    .predicts = true,
                                    .of = brier};
