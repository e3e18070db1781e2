/* Expected calibration error (Guo and others, 2017): is the net right as often as it says? With c_i the probability of
 * the predicted class, and B_b the examples with c_i in ((b - 1) / 15, b / 15], b = 1 .. 15,
 *
 *     ece = sum_b |B_b| / n  | mean over B_b of [f(x_i) = y_i]  -  mean over B_b of c_i | */
#include <math.h>

#include "measure/figure/figure.h"

enum { BINS = 15 };

static size_t bin_of(double confidence)
{
  double b = ceil(confidence * BINS) - 1;
  return b < 0 ? 0 : b >= BINS ? BINS - 1 : (size_t)b;
}

static double ece(const struct figure_source *s, size_t variant)
{
  size_t n = r4_data_count(s->d);
  double gap[BINS] = {0}, sum = 0; /* correct ones less confidence, of each bin */
  (void)variant;
  for (size_t i = 0; i < n; i++) {
    int32_t answer = s->p->answer[i];
    double confidence = s->p->probability[i * s->p->classes + (size_t)answer];
    gap[bin_of(confidence)] += (answer == r4_data_example(s->d, i).label) - confidence;
  }
  for (int b = 0; b < BINS; b++) sum += fabs(gap[b]);
  return n ? sum / (double)n : NAN;
}

const struct figure figure_ece = {.info = {.key = "ece",
                                           .label = "calibration error",
                                           .about = "expected calibration error, 15 bins",
                                           .better = -1,
                                           .topic = R4_TOPIC_PROBABILITY,
                                           .shown = R4_SHOWN_ROW},
                                  .predicts = true,
                                  .of = ece};
