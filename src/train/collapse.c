#include "train/collapse.h"

#include <math.h>

int64_t pulse_of(const int32_t *answer, size_t n)
{
  for (size_t i = 1; i < n; i++)
    if (answer[i] != answer[0]) return PULSE_SEVERAL;
  return n && answer[0] >= 0 ? answer[0] : PULSE_SEVERAL; /* below 0: no answer */
}

void pulse_beat(struct pulse *p, int64_t answer)
{
  bool same = answer != PULSE_SEVERAL && answer == p->answer;
  p->batches = same ? p->batches + 1 : answer != PULSE_SEVERAL;
  p->answer = answer;
}

/* Weighted examples of class c. */
static double weight_of(const r4_data *d, size_t c, const double *class_weights, const double *group_weights)
{
  double n = 0;
  for (size_t i = 0; i < r4_data_count(d); i++) {
    r4_example x = r4_data_example(d, i);
    if (x.label == (int32_t)c) n += group_weights ? group_weights[x.group] : 1;
  }
  return (class_weights ? class_weights[c] : 1) * n;
}

/* With a_c = w_c n_c:  - sum_c a_c log(a_c / sum a) = sum a log(sum a) - sum_c a_c log a_c */
double pulse_chance(const r4_data *d, const double *class_weights, const double *group_weights)
{
  double all = 0, logs = 0;
  for (size_t c = 0; c < r4_data_classes(d); c++) {
    double a = weight_of(d, c, class_weights, group_weights);
    all += a;
    if (a > 0) logs += a * log(a);
  }
  return all > 0 ? (all * log(all) - logs) / (double)r4_data_count(d) : 0;
}
