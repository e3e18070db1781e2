/* The schedule of a run in fewer epochs. */
#include <math.h>

#include "config/settings.h"

/* What is not a number, a default, stays so. */
static void shorten_one(const struct setting *t, struct settings *v, double share)
{
  void *at = (char *)v + t->offset;
  struct reals *list = at;
  if (t->info.type == R4_SETTING_REAL) *(double *)at *= share;
  for (size_t k = 0; t->info.type == R4_SETTING_REALS && k < list->n; k++) list->v[k] *= share;
}

/* head_epochs is a whole number, and the rest of the net must learn, too. */
void settings_shorten(struct settings *v, int64_t epochs)
{
  double share = (double)epochs / (double)v->epochs;
  const struct setting *t;
  for (size_t k = 0; (t = setting_at(k)); k++)
    if (t->in_epochs) shorten_one(t, v, share);
  v->head_epochs = (int64_t)ceil(share * (double)v->head_epochs - 1e-9);
  if (v->head_epochs >= epochs) v->head_epochs = epochs - 1;
  v->epochs = epochs;
}

r4_status r4_settings_shorten(r4_settings *s, double share, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  if (!(share > 0 && share <= 1))
    return r4_fail(e, R4_E_ARGUMENT, "%g of the epochs, expected more than 0 and at most 1", share);
  if (s->values.epochs > 0)
    settings_shorten(&s->values, (int64_t)ceil(share * (double)s->values.epochs - 1e-9));
  return r4_settings_check(s, e);
}
