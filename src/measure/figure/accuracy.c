/* With y_i the label of example i, f(x_i) the class that the net gives it, and G_g the examples of group g,
 *
 *     loss                  mean_i -log p(y_i | x_i)
 *     accuracy              mean_i [f(x_i) = y_i]
 *     accuracy of group g   the same over G_g
 *     avg, worst            mean and least of the groups that have examples
 *
 * all of which r4_evaluate has counted. */
#include "measure/figure/figure.h"

FIGURE_OF_METRIC(loss)
FIGURE_OF_METRIC(accuracy)
FIGURE_OF_METRIC(avg_group_accuracy)
FIGURE_OF_METRIC(worst_group_accuracy)

static double accuracy_of_group(const r4_measured *m, size_t group)
{
  return m->metrics.group_accuracy[group];
}

const struct figure figure_loss = {
  .info = {.key = "loss", .label = "loss", .about = "mean cross entropy", .unit = R4_UNIT_NUMBER, .better = -1},
  .of = loss};

const struct figure figure_accuracy = {.info = {.key = "accuracy",
                                                .label = "all examples",
                                                .about = "share of correct predictions",
                                                .better = 1,
                                                .shown = R4_SHOWN_ROW},
                                       .of = accuracy,
                                       .of_group = accuracy_of_group};

const struct figure figure_avg_group_accuracy = {.info = {.key = "avg_group_accuracy",
                                                          .label = "group average",
                                                          .about = "mean accuracy over groups",
                                                          .better = 1,
                                                          .shown = R4_SHOWN_APART,
                                                          .first = true},
                                                 .of = avg_group_accuracy};

const struct figure figure_worst_group_accuracy = {.info = {.key = "worst_group_accuracy",
                                                            .label = "worst group",
                                                            .about = "lowest accuracy of a group, of each seed",
                                                            .better = 1,
                                                            .shown = R4_SHOWN_APART,
                                                            .first = true},
                                                   .of = worst_group_accuracy};
