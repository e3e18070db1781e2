/* The area under the ROC curve: the chance that an example of class c gets a larger probability of c than one that is
 * not of c, ties counting half (Mann and Whitney's rank statistic). With r_i the rank of example i among all n by that
 * probability, equal ones sharing the mean of their ranks, and n1 of the examples of class c,
 *
 *     auc_c = (sum over examples of class c of r_i  -  n1 (n1 + 1) / 2) / (n1 (n - n1))
 *
 * Of two classes it is that of the second, of more the mean over the classes that some examples are of and some are not
 * (one against the rest). */
#include <math.h>
#include <stdlib.h>

#include "measure/figure/figure.h"
#include "measure/figure/rank.h"

static int by_score(const void *a, const void *b)
{
  double x = ((const struct ranked *)a)->score, y = ((const struct ranked *)b)->score;
  return (x > y) - (x < y);
}

size_t rank_by_class(const struct figure_source *s, size_t class, size_t *positives)
{
  size_t n = r4_data_count(s->d);
  *positives = 0;
  for (size_t i = 0; i < n; i++) {
    bool positive = r4_data_example(s->d, i).label == (int32_t)class;
    s->room[i] = (struct ranked){s->p->probability[i * s->p->classes + class], positive};
    *positives += positive;
  }
  qsort(s->room, n, sizeof *s->room, by_score);
  return n;
}

/* NaN unless some examples are of the class, and some are not. */
static double auc_of_class(const struct figure_source *s, size_t class)
{
  size_t ones, n = rank_by_class(s, class, &ones);
  double sum = 0;
  for (size_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && s->room[end].score == s->room[first].score;) end++;
    double rank = (double)(first + 1 + end) / 2; /* the mean of first + 1 .. end */
    for (size_t i = first; i < end; i++) sum += s->room[i].positive ? rank : 0;
  }
  double n1 = (double)ones, n0 = (double)(n - ones);
  return n1 > 0 && n0 > 0 ? (sum - n1 * (n1 + 1) / 2) / (n1 * n0) : NAN;
}

static double auc(const struct figure_source *s, size_t variant)
{
  (void)variant;
  if (s->p->classes == 2) return auc_of_class(s, 1);
  double sum = 0;
  size_t n = 0;
  for (size_t c = 0; c < s->p->classes; c++) {
    double of_class = auc_of_class(s, c);
    if (isnan(of_class)) continue;
    sum += of_class;
    n++;
  }
  return n ? sum / (double)n : NAN;
}

const struct figure figure_auc = {.info = {.key = "auc",
                                           .label = "AUC",
                                           .about = "area under the ROC curve, for several classes their mean",
                                           .unit = R4_UNIT_NUMBER,
                                           .better = 1,
                                           .topic = R4_TOPIC_PROBABILITY,
                                           .shown = R4_SHOWN_ROW},
                                  .predicts = true,
                                  .of = auc};
