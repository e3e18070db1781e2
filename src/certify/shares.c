/* Certified, attacked and plain accuracy, over all examples and by group. */
#include <math.h>

#include "base/error.h"

static bool counts(const r4_certified *x, r4_certified_share which)
{
  bool correct = x->predicted == x->label;
  if (which == R4_SHARE_CERTIFIED) return correct && x->holds;
  if (which == R4_SHARE_ATTACKED) return correct && !x->broken;
  return correct;
}

/* Of one group, or of all if it is -1. */
static double share_of(const r4_data *d, const r4_certified *x, r4_certified_share which, bool masked_only,
                       int32_t group, size_t *examples)
{
  size_t n = 0, good = 0;
  for (size_t i = 0; i < r4_data_count(d); i++) {
    if (group >= 0 && r4_data_example(d, i).group != group) continue;
    if (masked_only && !r4_data_has_mask(d, i)) continue;
    n++;
    good += counts(&x[i], which);
  }
  if (examples) *examples = n;
  return n ? (double)good / (double)n : NAN;
}

r4_group_shares r4_certified_shares(const r4_data *d, const r4_certified *x, r4_certified_share which, bool masked_only)
{
  r4_group_shares s = {.all = NAN, .avg_group = NAN, .worst_group = NAN};
  if (!d || !x) return s;
  s.all = share_of(d, x, which, masked_only, -1, &s.examples);
  double sum = 0;
  size_t groups = 0;
  for (size_t g = 0; g < r4_data_groups(d); g++) {
    double share = share_of(d, x, which, masked_only, (int32_t)g, NULL);
    if (isnan(share)) continue;
    sum += share;
    groups++;
    if (isnan(s.worst_group) || share < s.worst_group) s.worst_group = share, s.worst = g;
  }
  if (groups) s.avg_group = sum / (double)groups;
  return s;
}
