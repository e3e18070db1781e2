/* The swap test, for each content that was put into masks: flipped / examples and lost / found, see r4_swapped. */
#include <math.h>
#include <stdio.h>

#include "measure/figure/figure.h"

static size_t contents(const struct figure_source *s)
{
  return s->m->swaps;
}

static void content(const struct figure_source *s, size_t k, char text[VARIANT_TEXT])
{
  snprintf(text, VARIANT_TEXT, "%s", r4_fill_name(s->m->swapped[k].content));
}

static double flipped(const struct figure_source *s, size_t k)
{
  return s->m->swapped[k].none ? NAN : r4_swap_flipped(&s->m->swapped[k], 1, -1).mean;
}

static double lost(const struct figure_source *s, size_t k)
{
  return s->m->swapped[k].none ? NAN : r4_swap_lost(&s->m->swapped[k], 1, -1).mean;
}

/* Some content is on one class alone, and was taken away: with the first content. */
static size_t is_removed(const struct figure_source *s)
{
  return s->m->swaps && !s->m->swapped->none && s->m->swapped->removed;
}

static double removed(const struct figure_source *s, size_t k)
{
  (void)k;
  return r4_swap_removed(s->m->swapped, 1, -1).mean;
}

static double removed_of_group(const r4_measured *m, size_t g)
{
  return !m->swaps || m->swapped->none ? NAN : r4_swap_removed(m->swapped, 1, (int32_t)g).mean;
}

/* With the first content. */
static double flipped_of_group(const r4_measured *m, size_t g)
{
  return !m->swaps || m->swapped->none ? NAN : r4_swap_flipped(m->swapped, 1, (int32_t)g).mean;
}

static double lost_of_group(const r4_measured *m, size_t g)
{
  return !m->swaps || m->swapped->none ? NAN : r4_swap_lost(m->swapped, 1, (int32_t)g).mean;
}

const struct figure figure_swap_flipped_share = {.info = {.key = "swap_flipped_share",
                                                          .label = "changed by %s",
                                                          .about = "share of predictions that the swap test changes",
                                                          .usual = "swap",
                                                          .better = -1,
                                                          .topic = R4_TOPIC_SWAP,
                                                          .shown = R4_SHOWN_APART},
                                                 .variants = contents,
                                                 .variant = content,
                                                 .of = flipped,
                                                 .of_group = flipped_of_group};

const struct figure figure_swap_lost_share = {.info = {.key = "swap_lost_share",
                                                       .label = "lost by %s",
                                                       .about = "share of correct predictions that the swap test loses",
                                                       .usual = "swap",
                                                       .better = -1,
                                                       .topic = R4_TOPIC_SWAP,
                                                       .shown = R4_SHOWN_APART,
                                                       .first = true},
                                              .variants = contents,
                                              .variant = content,
                                              .of = lost,
                                              .of_group = lost_of_group};

const struct figure figure_removed_lost_share = {
  .info = {.key = "removed_lost_share",
           .label = "lost by removal",
           .about = "share of correct predictions lost when content that other classes hardly have is removed",
           .better = -1,
           .topic = R4_TOPIC_SWAP,
           .shown = R4_SHOWN_APART},
  .variants = is_removed,
  .of = removed,
  .of_group = removed_of_group};
