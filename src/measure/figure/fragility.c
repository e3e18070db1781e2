/* kappa, the width hi - lo of the bounds of the input gradient of the loss while the masked features (or all others:
 * the core) move by up to eps: the largest, and the mean over examples and features. r4_evaluate has measured it. */
#include "measure/figure/figure.h"

static double masked_max(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return s->m->metrics.kappa_masked_max;
}

static double masked_mean(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return s->m->metrics.kappa_masked_mean;
}

static double core_max(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return s->m->metrics.kappa_core_max;
}

static double core_mean(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return s->m->metrics.kappa_core_mean;
}

const struct figure figure_kappa_masked_max = {.info = {.key = "kappa_masked_max",
                                                        .label = "kappa, masked",
                                                        .about = "largest width of the gradient's bounds, masked",
                                                        .unit = R4_UNIT_NUMBER,
                                                        .better = -1,
                                                        .shown = R4_SHOWN_APART},
                                               .of = masked_max};

const struct figure figure_kappa_masked_mean = {.info = {.key = "kappa_masked_mean",
                                                         .label = "kappa, masked, mean",
                                                         .about = "mean width of the gradient's bounds, masked",
                                                         .unit = R4_UNIT_NUMBER,
                                                         .better = -1},
                                                .of = masked_mean};

const struct figure figure_kappa_core_max = {.info = {.key = "kappa_core_max",
                                                      .label = "kappa, core",
                                                      .about = "largest width of the gradient's bounds, core",
                                                      .unit = R4_UNIT_NUMBER},
                                             .of = core_max};

const struct figure figure_kappa_core_mean = {.info = {.key = "kappa_core_mean",
                                                       .label = "kappa, core, mean",
                                                       .about = "mean width of the gradient's bounds, core",
                                                       .unit = R4_UNIT_NUMBER},
                                              .of = core_mean};
