/* Pointing games, by attribution, see r4_pointing. */
#include <stdio.h>

#include "measure/figure/figure.h"

static size_t games(const struct figure_source *s)
{
  return s->m->pointings;
}

static void attribution(const struct figure_source *s, size_t k, char text[VARIANT_TEXT])
{
  snprintf(text, VARIANT_TEXT, "%s", s->m->pointed_by[k]);
}

static double energy(const struct figure_source *s, size_t k)
{
  return s->m->pointing[k].energy;
}

static double share(const struct figure_source *s, size_t k)
{
  return s->m->pointing[k].share;
}

static double hit(const struct figure_source *s, size_t k)
{
  return s->m->pointing[k].hit;
}

const struct figure figure_pointing_energy = {.info = {.key = "pointing_energy",
                                                       .label = "%s, energy on the core",
                                                       .about = "share of the positive attribution on the core",
                                                       .better = 1,
                                                       .topic = R4_TOPIC_POINTING,
                                                       .shown = R4_SHOWN_APART},
                                              .variants = games,
                                              .variant = attribution,
                                              .of = energy};

const struct figure figure_pointing_share = {.info = {.key = "pointing_share",
                                                      .label = "%s, share on the core",
                                                      .about = "share of the absolute attribution on the core",
                                                      .better = 1,
                                                      .topic = R4_TOPIC_POINTING,
                                                      .shown = R4_SHOWN_TOPIC},
                                             .variants = games,
                                             .variant = attribution,
                                             .of = share};

const struct figure figure_pointing_hit = {.info = {.key = "pointing_hit",
                                                    .label = "%s, hits the core",
                                                    .about = "examples whose largest attribution is on the core",
                                                    .better = 1,
                                                    .topic = R4_TOPIC_POINTING,
                                                    .shown = R4_SHOWN_TOPIC},
                                           .variants = games,
                                           .variant = attribution,
                                           .of = hit};
