/* Relative core sensitivity at each level of noise, see r4_sensitivity. */
#include "base/c_locale.h"
#include "measure/figure/figure.h"

static size_t levels(const struct figure_source *s)
{
  return s->m->sensitivity.n;
}

static void level(const struct figure_source *s, size_t k, char text[VARIANT_TEXT])
{
  c_locale_print(text, VARIANT_TEXT, "%g", s->m->sensitivity.at[k].sigma);
}

static double rcs(const struct figure_source *s, size_t k)
{
  return s->m->sensitivity.at[k].rcs;
}

const struct figure figure_core_sensitivity = {.info = {.key = "core_sensitivity",
                                                        .label = "core sensitivity, noise %s",
                                                        .about = "1: only the core matters; -1: only the mask",
                                                        .unit = R4_UNIT_NUMBER,
                                                        .better = 1,
                                                        .topic = R4_TOPIC_NOISE,
                                                        .shown = R4_SHOWN_APART},
                                               .variants = levels,
                                               .variant = level,
                                               .of = rcs};
