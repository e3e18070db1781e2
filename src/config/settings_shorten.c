/* The schedule of a run in fewer epochs. */
#include <math.h>

#include "config/settings.h"

/* All that is counted in epochs, and is no length of its own. What is not a number, a default, stays so. */
void settings_shorten(struct settings *v, int64_t epochs)
{
  double share = (double)epochs / (double)v->epochs;
  double *const counted[] = {&v->warmup, &v->penalty_after, &v->lambda_ramp, &v->eps_ramp, &v->delta_ramp};
  for (size_t k = 0; k < sizeof counted / sizeof *counted; k++) *counted[k] *= share;
  for (size_t k = 0; k < v->decay_at.n; k++) v->decay_at.v[k] *= share;
  v->head_epochs = (int64_t)ceil(share * (double)v->head_epochs - 1e-9);
  if (v->head_epochs >= epochs) v->head_epochs = epochs - 1;
  v->epochs = epochs;
}

r4_status r4_settings_shorten(r4_settings *s, double share, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  if (!(share > 0 && share <= 1))
    return r4_fail(e, R4_E_ARGUMENT, "%g of the epochs, expected more than 0, and 1 at most", share);
  if (s->values.epochs > 0)
    settings_shorten(&s->values, (int64_t)ceil(share * (double)s->values.epochs - 1e-9));
  return r4_settings_check(s, e);
}
