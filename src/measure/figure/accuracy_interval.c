/* 95 % intervals of accuracies, over the examples that might have been drawn. With z = 1.96 and p the share of n
 * examples (Wilson, 1927),
 *
 *     (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
 *
 * of all examples, and of the worst group, as if it had been named before (it is the least of several, so that its true
 * accuracy is probably larger). The average of the k groups that have examples is that of independent shares p_g with
 * such ends l_g, u_g (Zou and Donner, 2008; of one group it is Wilson's interval again):
 *
 *     low = avg - sqrt(sum_g (p_g - l_g)^2) / k,    high = avg + sqrt(sum_g (u_g - p_g)^2) / k */
#include <math.h>

#include "measure/figure/figure.h"

static const double Z = 1.959963984540054;

/* side: -1 is the lower end, 1 the upper. */
static double wilson(double p, double n, int side)
{
  double z2 = Z * Z / n, end = (p + z2 / 2 + side * Z * sqrt(p * (1 - p) / n + z2 / (4 * n))) / (1 + z2);
  return n > 0 ? fmin(1, fmax(0, end)) : NAN;
}

static double examples_of(const r4_metrics *m)
{
  double n = 0;
  for (size_t g = 0; g < m->groups; g++) n += (double)m->group_count[g];
  return n;
}

static double average(const r4_metrics *m, int side)
{
  double sum = 0, k = 0;
  for (size_t g = 0; g < m->groups; g++) {
    if (!m->group_count[g]) continue;
    double p = m->group_accuracy[g];
    sum += pow(wilson(p, (double)m->group_count[g], side) - p, 2);
    k++;
  }
  return m->avg_group_accuracy + side * sqrt(sum) / k;
}

static double worst(const r4_metrics *m, int side)
{
  return wilson(m->worst_group_accuracy, (double)m->group_count[m->worst_group], side);
}

static double accuracy(const r4_metrics *m, int side)
{
  return wilson(m->accuracy, examples_of(m), side);
}

#define END(name, what, end, side, words)                                                  \
  static double name##_##end(const struct figure_source *s, size_t variant)                \
  {                                                                                        \
    (void)variant;                                                                         \
    return what(&s->m->metrics, side);                                                     \
  }                                                                                        \
  const struct figure figure_##name##_##end = {                                            \
    .info = {.key = #name "_" #end,                                                        \
             .label = words ", " #end,                                                     \
             .about = "end of the 95 % interval of " words,                                \
             .better = 1},                                                                 \
    .of = name##_##end};

END(accuracy, accuracy, low, -1, "all examples")
END(accuracy, accuracy, high, 1, "all examples")
END(avg_group_accuracy, average, low, -1, "the group average")
END(avg_group_accuracy, average, high, 1, "the group average")
END(worst_group_accuracy, worst, low, -1, "the worst group")
END(worst_group_accuracy, worst, high, 1, "the worst group")
