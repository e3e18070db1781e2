/* kappa, the width hi - lo of the bounds of the input gradient of the loss while the masked features (or all others:
 * the core) move by up to eps: the largest, and the mean over examples and features. r4_evaluate has measured it. */
#include "measure/figure/figure.h"

#define KAPPA(name, words, what, how_good, more)                    \
  FIGURE_OF_METRIC(name)                                            \
  const struct figure figure_##name = {                             \
    .info = {.key = #name,                                          \
             .label = words,                                        \
             .about = what,                                          \
             .unit = R4_UNIT_NUMBER,                                \
             .better = how_good,                                    \
             .topic = R4_TOPIC_FRAGILITY,                           \
             .shown = more ? R4_SHOWN_APART : R4_SHOWN_TOPIC,       \
             .first = more},                                        \
    .of = name};

KAPPA(kappa_masked_max, "kappa, masked",
      "the largest width of the bounds of the gradient of masked features", -1, true)
KAPPA(kappa_masked_mean, "kappa, masked, mean",
      "the mean width of the bounds of the gradient of masked features", -1, false)
KAPPA(kappa_core_max, "kappa, core",
      "the largest width of the bounds of the gradient of all other features", 0, false)
KAPPA(kappa_core_mean, "kappa, core, mean",
      "the mean width of the bounds of the gradient of all other features", 0, false)
