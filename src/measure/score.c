#include "measure/score.h"

#include <math.h>

r4_status score_of(const r4_data *d, const int32_t *predicted, double loss, struct score *s, r4_error *e)
{
  size_t n = r4_data_count(d), right = 0, seen = 0;
  *s = (struct score){.groups = r4_data_groups(d), .loss = loss, .worst = INFINITY};
  if (s->groups > SCORE_GROUPS)
    return r4_fail(e, R4_E_ARGUMENT, "%zu groups, expected at most %d", s->groups, (int)SCORE_GROUPS);
  for (size_t i = 0; i < n; i++) {
    r4_example x = r4_data_example(d, i);
    bool ok = predicted[i] == x.label;
    right += ok;
    s->group[x.group] += ok;
    s->count[x.group]++;
  }
  for (size_t k = 0; k < s->groups; k++) {
    s->group[k] /= (double)s->count[k]; /* 0 / 0 is NaN: a group without examples */
    if (!s->count[k]) continue;
    seen++;
    s->avg += s->group[k];
    if (s->group[k] < s->worst) s->worst = s->group[k], s->worst_group = k;
  }
  s->accuracy = n ? (double)right / (double)n : 0;
  s->avg = seen ? s->avg / (double)seen : 0;
  if (!seen) s->worst = 0;
  return R4_OK;
}
