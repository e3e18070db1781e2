/* Accuracy that does not rest on masked content: where examples carry the shortcut, accuracy praises the net that uses
 * it. Of a group g, with P_g the share of correct predictions of all its examples, and of those tested L_g the share of
 * correct predictions that are lost by the swap test, and R_g by removal (r4_swapped; 0 where none was tested),
 *
 *     steady_g = P_g (1 - max(L_g, R_g))
 *
 * is the share of predictions that are correct, and stay so when masked content is another's. A net that uses nothing
 * masked has its accuracy here. */
#include <math.h>

#include "measure/figure/figure.h"

static double share_lost(double lost, size_t found)
{
  return found ? lost / (double)found : 0;
}

static double steady(const r4_measured *m, size_t g)
{
  const r4_swapped *s = m->swapped;
  double lost = share_lost(s->lost[g], s->found[g]), removed = share_lost(s->removed_lost[g], s->removed_found[g]);
  return m->metrics.group_accuracy[g] * (1 - fmax(lost, removed));
}

/* Of no swap test, or of one that puts something else into masks, there is none. */
static size_t is_known(const struct figure_source *s)
{
  const r4_swapped *w = s->m->swapped;
  return s->m->swaps && !w->none && w->content == R4_FILL_SWAP;
}

static double steady_average(const struct figure_source *s, size_t variant)
{
  const r4_metrics *m = &s->m->metrics;
  double sum = 0, groups = 0;
  (void)variant;
  for (size_t g = 0; g < m->groups; g++)
    if (m->group_count[g]) sum += steady(s->m, g), groups++;
  return sum / groups;
}

static double steady_worst(const struct figure_source *s, size_t variant)
{
  const r4_metrics *m = &s->m->metrics;
  double worst = INFINITY;
  (void)variant;
  for (size_t g = 0; g < m->groups; g++)
    if (m->group_count[g]) worst = fmin(worst, steady(s->m, g));
  return worst;
}

const struct figure figure_steady_avg_group_accuracy = {
  .info = {.key = "steady_avg_group_accuracy",
           .label = "average, exchanged",
           .about = "mean over groups of predictions that are correct and stay so when masked content is exchanged",
           .better = 1,
           .topic = R4_TOPIC_SWAP,
           .shown = R4_SHOWN_ROW},
  .variants = is_known,
  .of = steady_average};

const struct figure figure_steady_worst_group_accuracy = {
  .info = {.key = "steady_worst_group_accuracy",
           .label = "worst group, exchanged",
           .about = "predictions of the worst group that are correct and stay so when masked content is exchanged",
           .better = 1,
           .topic = R4_TOPIC_SWAP,
           .shown = R4_SHOWN_ROW},
  .variants = is_known,
  .of = steady_worst};
