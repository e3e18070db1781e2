/* Combinations of settings that contradict each other, whatever the data are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/settings.h"
#include "objective/objective.h"
#include "optim/auto.h"

struct setting_label setting_label(const r4_settings *s, const char *key)
{
  struct setting_label l;
  const char *origin = s->origin[setting_number(setting_find(key))];
  snprintf(l.text, sizeof l.text, "%s (%s)", key, origin ? origin : "default");
  return l;
}

#define LABEL(key) setting_label(s, key).text

/* ---- Weights ---- */

/* The keys that the weight of term k goes by: its place, NULL from the third on, and its name. */
struct weight_keys {
  const char *place;
  char name[64];
};

static struct weight_keys keys_of(const struct settings *v, size_t k)
{
  struct weight_keys to = {.place = k == 0 ? "lambda" : k == 1 ? "lambda_r3" : NULL};
  snprintf(to.name, sizeof to.name, "lambda.%s", r4_method_describe(v->method).term[k]);
  return to;
}

static double weight_by_place(const struct settings *v, size_t k)
{
  return k == 0 ? v->lambda : k == 1 ? v->lambda_r3 : NAN;
}

static double weight_by_name(const struct settings *v, size_t k)
{
  r4_method_info m = r4_method_describe(v->method);
  size_t term = k < m.terms ? term_number(m.term[k]) : TERM_COUNT;
  return term < TERM_COUNT ? v->lambda_of[term] : NAN;
}

double settings_weight(const struct settings *v, size_t k)
{
  double named = weight_by_name(v, k);
  return isnan(named) ? weight_by_place(v, k) : named;
}

/* Both were given, and are not the same. */
static r4_status check_names(const r4_settings *s, size_t k, r4_error *e)
{
  const struct settings *v = &s->values;
  double place = weight_by_place(v, k), name = weight_by_name(v, k);
  struct weight_keys key = keys_of(v, k);
  if (isnan(place) || isnan(name) || place == name) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s and %s differ, but both are the weight of %s: set one of them, and the other to default",
                 LABEL(key.place), LABEL(key.name), r4_method_describe(v->method).term[k]);
}

static r4_status check_weight(const r4_settings *s, size_t k, r4_error *e)
{
  const struct settings *v = &s->values;
  struct weight_keys key = keys_of(v, k);
  r4_status status = check_names(s, k, e);
  if (status || settings_weight(v, k) != 0 || v->delta > 0) return status;
  const char *given = isnan(weight_by_name(v, k)) ? key.place : key.name;
  if (r4_method_describe(v->method).terms == 1)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is %s, but %s and %s are 0: nothing would be penalised, set one of them",
                   LABEL("method"), v->method, LABEL(given), LABEL("delta"));
  return r4_fail(e, R4_E_ARGUMENT, "%s is %s, but %s is 0: one of its parts, %s, would not be penalised",
                 LABEL("method"), v->method, LABEL(given), r4_method_describe(v->method).term[k]);
}

/* ---- Methods ---- */

static r4_status check_method(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  r4_method_info method = r4_method_describe(v->method);
  bool unfilled = !strcmp(v->fill, "none");
  if (!method.guided && method.fills && unfilled)
    return r4_fail(e, R4_E_ARGUMENT, "%s is %s, but %s is none: it would be %s", LABEL("method"), v->method,
                   LABEL("fill"), r4_method_name(0));
  if (method.pairs && unfilled)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is %s, which compares with filled examples, but %s is none: expected auto, or a content",
                   LABEL("method"), v->method, LABEL("fill"));
  if (!method.guided) return R4_OK;
  for (size_t k = 0; k < method.terms; k++)
    if (check_weight(s, k, e)) return R4_E_ARGUMENT;
  if (v->delta > 0 && !(v->delta_rate > 0))
    return r4_fail(e, R4_E_ARGUMENT, "%s is 0, so lambda never changes: delta would not be reached",
                   LABEL("delta.rate"));
  return R4_OK;
}

bool settings_lambda_is_open(const struct settings *v)
{
  return isinf(v->lambda) && (settings_method_is_open(v) || r4_method_describe(v->method).guided);
}

bool settings_method_is_open(const struct settings *v)
{
  return !strcmp(v->method, method_choices[0]);
}

static r4_status check_search(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  if (!settings_lambda_is_open(v)) return R4_OK;
  if (v->delta > 0)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is auto, but %s is %g, which controls lambda as well: set one of them",
                   LABEL("lambda"), LABEL("delta"), v->delta);
  if (v->data.keep_masks == 0)
    return r4_fail(e, R4_E_ARGUMENT, "%s is auto, but %s is 0: without masks there is no penalty to weigh",
                   LABEL("lambda"), LABEL("data.keep_masks"));
  if (v->epochs < AUTO_EPOCHS)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is auto, but %s is %lld: runs of a quarter of that are too short, expected at least %d",
                   LABEL("lambda"), LABEL("epochs"), (long long)v->epochs, AUTO_EPOCHS);
  return R4_OK;
}

static r4_status check_norm(const r4_settings *s, r4_error *e)
{
  const char *method = s->values.method;
  bool chooses = r4_method_uses(method, "penalty.norm");
  if (strcmp(s->values.norm, "sum") || !chooses || r4_method_uses(method, "penalty.norm=sum")) return R4_OK;
  char *those = method_list("penalty.norm=sum");
  r4_fail(e, R4_E_ARGUMENT, "%s is sum, which is for %s alone, but %s is %s", LABEL("penalty.norm"),
          those ? those : "", LABEL("method"), method);
  r4_string_free(those);
  return R4_E_ARGUMENT;
}

/* eps is a number or "range", of boxes of values. */
static r4_status check_eps(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  const struct reals *range = &v->range;
  if (!isnan(v->eps)) {
    bool limited = range->n == 2 && r4_method_uses(v->method, "eps=range");
    if (!limited || v->eps <= range->v[1] - range->v[0]) return R4_OK;
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is %g, but %s is %g to %g: expected at most %g, or range for any of these values", LABEL("eps"),
                   v->eps, LABEL("range"), range->v[0], range->v[1], range->v[1] - range->v[0]);
  }
  if (!r4_method_uses(v->method, "eps")) return R4_OK;
  if (!settings_method_is_open(v) && !r4_method_uses(v->method, "eps=range"))
    return r4_fail(e, R4_E_ARGUMENT, "%s is range, but %s is %s, which has noise of that size: expected a number",
                   LABEL("eps"), LABEL("method"), v->method);
  if (!strcmp(v->box, "words"))
    return r4_fail(e, R4_E_ARGUMENT, "%s is range, but %s is words: expected a share from 0 to 1", LABEL("eps"),
                   LABEL("box"));
  if (*v->guide)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s is range, but %s is %s, where no values are known to be valid: expected a number",
                   LABEL("eps"), LABEL("guide"), v->guide);
  return R4_OK;
}

static r4_status check_lists(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  const struct reals *range = &v->range, *at = &v->decay_at;
  if (range->n && !(range->n == 2 && range->v[0] < range->v[1]))
    return r4_fail(e, R4_E_ARGUMENT, "%s: expected two numbers, the lower one first, or none",
                   LABEL("range"));
  for (size_t k = 1; k < at->n; k++)
    if (!(at->v[k - 1] < at->v[k]))
      return r4_fail(e, R4_E_ARGUMENT, "%s: %g comes after %g, expected ascending epochs", LABEL("decay_at"),
                     at->v[k], at->v[k - 1]);
  return R4_OK;
}

/* ---- Against the length of the run ---- */

static r4_status check_ramp(const r4_settings *s, const char *key, const char *what, double length,
                            r4_error *e)
{
  if (length <= (double)s->values.epochs) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s is %g, but %s is %lld: the run would end before %s is reached",
                 LABEL(key), length, LABEL("epochs"), (long long)s->values.epochs, what);
}

static r4_status check_beginning(const r4_settings *s, r4_error *e)
{
  double after = s->values.penalty_after;
  if (isnan(after) || after < (double)s->values.epochs) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s is %g, but %s is %lld: the run would end before the penalty begins",
                 LABEL("penalty.after"), after, LABEL("epochs"), (long long)s->values.epochs);
}

static r4_status check_length(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  bool penalised = r4_method_describe(v->method).guided, box = r4_method_uses(v->method, "eps");
  if (!v->epochs && !*v->from)
    return r4_fail(e, R4_E_ARGUMENT, "%s is 0, which is for trained nets: set from to the weights of one",
                   LABEL("epochs"));
  r4_status status = check_ramp(s, "warmup", "rate", v->warmup, e);
  if (!status && v->head_epochs >= v->epochs && v->head_epochs)
    status =
      r4_fail(e, R4_E_ARGUMENT,
              "%s is %lld, but %s is %lld: the run would end before the rest of the net is trained; use freeze for "
              "what is never trained",
              LABEL("from.head_epochs"), (long long)v->head_epochs, LABEL("epochs"), (long long)v->epochs);
  if (!status && penalised) status = check_beginning(s, e);
  if (!status && penalised && !(v->delta > 0))
    status = check_ramp(s, "penalty.ramp", "lambda", v->lambda_ramp, e);
  if (!status && penalised && v->delta > 0) status = check_ramp(s, "delta.ramp", "delta", v->delta_ramp, e);
  if (!status && box) status = check_ramp(s, "eps.ramp", "eps", v->eps_ramp, e);
  if (status || strcmp(v->schedule, "steps")) return status;
  if (!v->decay_at.n)
    return r4_fail(e, R4_E_ARGUMENT, "%s is steps, but %s is empty: the rate would never fall",
                   LABEL("schedule"), LABEL("decay_at"));
  if (v->decay_at.v[0] >= (double)v->epochs)
    return r4_fail(e, R4_E_ARGUMENT, "%s begins at %g, but %s is %lld: the rate would never fall",
                   LABEL("decay_at"), v->decay_at.v[0], LABEL("epochs"), (long long)v->epochs);
  return R4_OK;
}

/* Shards are summed; what is no sum over examples cannot be cut. */
static r4_status check_shards(const r4_settings *s, r4_error *e)
{
  const struct settings *v = &s->values;
  if (v->shards == 1) return R4_OK;
  if (v->shards > v->batch)
    return r4_fail(e, R4_E_ARGUMENT, "%s is %lld, but %s is %lld: a shard would have no example", LABEL("shards"),
                   (long long)v->shards, LABEL("batch"), (long long)v->batch);
  if (v->delta > 0)
    return r4_fail(e, R4_E_ARGUMENT, "%s is %lld, but %s is %g, which looks at a whole batch: set lambda instead",
                   LABEL("shards"), (long long)v->shards, LABEL("delta"), v->delta);
  if (*v->guide)
    return r4_fail(e, R4_E_ARGUMENT, "%s is %lld, but %s is \"%s\": penalties inside the net need a whole batch",
                   LABEL("shards"), (long long)v->shards, LABEL("guide"), v->guide);
  return R4_OK;
}

r4_status r4_settings_check(const r4_settings *s, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  r4_error_clear(e);
  r4_status status = check_method(s, e);
  if (!status) status = check_search(s, e);
  if (!status) status = check_norm(s, e);
  if (!status) status = check_lists(s, e);
  if (!status) status = check_eps(s, e);
  if (!status) status = check_length(s, e);
  if (!status) status = check_shards(s, e);
  return status ? status : settings_check_effects(s, e);
}
