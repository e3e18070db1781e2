/* Where a shortcut misleads, a class hides it: of data without groups, whose groups are the classes, with y_i the label
 * of example i, f(x_i) the class that the net gives it, m_i whether it has a mask,
 *
 *     worst_class_mask_accuracy = min over c and m of mean_{i : y_i = c, m_i = m} [f(x_i) = y_i]
 *
 * over classes of which some examples have a mask and others do not. Parts of fewer than 10 examples say little, and
 * do not count. */
#include <math.h>

#include "measure/figure/figure.h"

enum { LEAST = 10 };

struct part {
  size_t correct, examples;
};

/* The part of an example: with a mask, or without. */
static void count(const struct figure_source *s, struct part part[][2])
{
  for (size_t i = 0; i < r4_data_count(s->d); i++) {
    struct part *of = &part[r4_data_example(s->d, i).label][r4_data_has_mask(s->d, i)];
    of->examples++;
    of->correct += s->p->answer[i] == r4_data_example(s->d, i).label;
  }
}

static bool has_own_groups(const r4_data *d)
{
  if (r4_data_groups(d) != r4_data_classes(d)) return true;
  for (size_t i = 0; i < r4_data_count(d); i++)
    if (r4_data_example(d, i).group != r4_data_example(d, i).label) return true;
  return false;
}

static double worst_of(const struct figure_source *s)
{
  struct part part[R4_MAX_GROUPS][2] = {{{0}}};
  size_t classes = r4_data_classes(s->d);
  double worst = NAN;
  if (classes > R4_MAX_GROUPS || has_own_groups(s->d)) return NAN;
  count(s, part);
  for (size_t c = 0; c < classes; c++)
    for (size_t m = 0; m < 2 && part[c][0].examples && part[c][1].examples; m++)
      if (part[c][m].examples >= LEAST)
        worst = fmin(worst, (double)part[c][m].correct / (double)part[c][m].examples);
  return worst;
}

static double worst_class_mask_accuracy(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return worst_of(s);
}

/* Most data have no such parts, and no such figure. */
static size_t is_there(const struct figure_source *s)
{
  if (isnan(worst_of(s))) return 0;
  return 1;
}

const struct figure figure_worst_class_mask_accuracy = {
  .info = {.key = "worst_class_mask_accuracy",
           .label = "worst of class and mask",
           .about = "lowest accuracy of the examples of a class with a mask, or without",
           .better = 1,
           .shown = R4_SHOWN_APART},
  .predicts = true,
  .variants = is_there,
  .of = worst_class_mask_accuracy};
