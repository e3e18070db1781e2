/* kappa, the width hi - lo of the bounds of the input gradient of the loss while the masked features (or all others:
 * the core) move by up to eps: the largest, and the mean over examples and features. r4_evaluate has measured it. */
#include "measure/figure/figure.h"

#define KAPPA(name, words, what, how_good, more)                    \
  FIGURE_OF_METRIC(name)                                            \
  const struct figure figure_##name = {                             \
    .info = {.key = #name,                                          \
             .label = words,                                        \
             .about = what " of the gradient's bounds",             \
             .unit = R4_UNIT_NUMBER,                                \
             .better = how_good,                                    \
             .topic = R4_TOPIC_FRAGILITY,                           \
             .shown = more ? R4_SHOWN_APART : R4_SHOWN_TOPIC,       \
             .first = more},                                        \
    .of = name};

KAPPA(kappa_masked_max, "kappa, masked", "masked features: largest width", -1, true)
KAPPA(kappa_masked_mean, "kappa, masked, mean", "masked features: mean width", -1, false)
KAPPA(kappa_core_max, "kappa, core", "all other features: largest width", 0, false)
KAPPA(kappa_core_mean, "kappa, core, mean", "all other features: mean width", 0, false)
