#include "train/run/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/batch/mask_fill.h"
#include "train/run/manifest.h"
#include "train/task.h"

static const char *const words[] = {
  [R4_VERDICT_NONE] = "unknown",   [R4_VERDICT_COLLAPSED] = "collapsed",  [R4_VERDICT_USES] = "uses",
  [R4_VERDICT_UNSURE] = "may use", [R4_VERDICT_REACTS] = "reacts",        [R4_VERDICT_LITTLE] = "uses a little",
  [R4_VERDICT_NOT] = "does not use"};

const char *r4_verdict_name(r4_verdict v)
{
  return (unsigned)v < sizeof words / sizeof *words ? words[v] : NULL;
}

const char *r4_verdict_text(r4_verdict v)
{
  static const char *const text[] = {
    [R4_VERDICT_NONE] = "may use the shortcut or not",
    [R4_VERDICT_COLLAPSED] = "collapsed to one class",
    [R4_VERDICT_USES] = "uses the shortcut",
    [R4_VERDICT_UNSURE] = "may use the shortcut",
    [R4_VERDICT_REACTS] = "reacts to any change of what is masked, rather than using it as a shortcut",
    [R4_VERDICT_LITTLE] = "uses the shortcut a little",
    [R4_VERDICT_NOT] = "does not use the shortcut"};
  return (unsigned)v < sizeof text / sizeof *text ? text[v] : NULL;
}

r4_verdict r4_verdict_of(double lost, double error)
{
  if (isnan(lost)) return R4_VERDICT_NONE;
  if (fabs(lost - R4_USES) < error) return R4_VERDICT_UNSURE;
  return lost >= R4_USES ? R4_VERDICT_USES : lost >= R4_USES_LITTLE ? R4_VERDICT_LITTLE : R4_VERDICT_NOT;
}

/* What is lost is not lost to the class of the content: less than half of it, and less than a shortcut costs. */
static bool only_reacts(double lost, double followed, double error)
{
  bool known = error > 0; /* also false for NaN */
  return known && followed + error < R4_USES && followed + error < lost / 2;
}

/* A loss that would be a shortcut's, by what is known of its cause. */
static r4_verdict with_cause(r4_verdict v, double lost, double followed, double error)
{
  bool high = v == R4_VERDICT_USES || v == R4_VERDICT_UNSURE;
  return high && only_reacts(lost, followed, error) ? R4_VERDICT_REACTS : v;
}

r4_judgement r4_judge(const r4_outcome *outcome, size_t seeds, double lost)
{
  r4_judgement j = {0};
  double error = 0, followed_error = 0;
  size_t known = 0;
  for (size_t k = 0; k < seeds; k++) {
    j.doubtful |= outcome[k].doubtful;
    if (isnan(outcome[k].lost) || outcome[k].verdict == R4_VERDICT_COLLAPSED) continue;
    j.validation += outcome[k].lost, error += outcome[k].lost_error;
    j.followed += outcome[k].followed, followed_error += outcome[k].followed_error;
    known++;
  }
  double n = (double)known; /* 0 / 0 is NaN */
  j.validation /= n, j.followed /= n, followed_error /= n;
  j.by_validation =
    with_cause(r4_verdict_of(j.validation, error / n), j.validation, j.followed, followed_error);
  j.verdict = with_cause(r4_verdict_of(lost, 0), lost, j.followed, followed_error);
  j.hidden = j.by_validation == R4_VERDICT_USES && lost < R4_USES;
  if (j.hidden) j.verdict = R4_VERDICT_USES;
  return j;
}

/* ---- Finding out ---- */

/* A penalty is wanted, and some step may have one. */
static bool wants_penalty(const struct run *r)
{
  bool weighs = task_has_weight(r->s) || r->s->delta > 0;
  return r4_method_describe(r->s->method).guided && weighs && r->touched && r->state.step;
}

static r4_status find_out(struct run *r, r4_outcome *to, r4_error *e)
{
  struct score score = {0};
  *to = (r4_outcome){.only = PULSE_SEVERAL,
                     .steps = r->state.step,
                     .penalised = r->state.penalised,
                     .unpenalised = wants_penalty(r) && !r->state.penalised,
                     .val_kind = r->val.kind,
                     .one_sided = fill_for(r->train) == R4_FILL_PASTE,
                     .doubtful = r->doubtful,
                     .lost = NAN,
                     .changed = NAN,
                     .followed = NAN,
                     .followed_error = NAN};
  if (!r->val.data) {
    to->only = run_is_dead(r) ? r->state.pulse.answer : PULSE_SEVERAL;
    if (to->only >= 0) to->verdict = R4_VERDICT_COLLAPSED;
    return R4_OK;
  }
  r4_status s = validation_run(&r->val, r->team, r->best, &score, e);
  if (s) return s;
  to->only = pulse_of(r->val.predicted, r4_data_count(r->val.data));
  to->exchanged = (int64_t)score.exchanged;
  if (score.exchanged) to->lost = score.lost, to->lost_error = score.lost_se, to->changed = score.changed;
  s = validation_follow(&r->val, r->team, r->best, &to->followed, &to->followed_error, e);
  r4_verdict by_loss = r4_verdict_of(to->lost, to->lost_error);
  to->verdict =
    to->only >= 0 ? R4_VERDICT_COLLAPSED : with_cause(by_loss, to->lost, to->followed, to->followed_error);
  return s;
}

/* ---- Telling ---- */

static const char *next_try(const struct run *r)
{
  r4_method_info m = r4_method_describe(r->s->method);
  if (!r->touched) return "no training example has a mask that a method could use";
  if (!m.guided && !m.fills) return "method: auto uses the masks";
  if (!m.pairs) return strstr(r->s->method, "cert-r4") ? "try method: cert-r4+pairing" : "try method: pairing";
  return r->s->searched ? "try more epochs, or more masks" : "try more epochs, lambda: auto, or more masks";
}

/* What keeps a good verdict from being good news. Where masks are on some classes only, their content was put on the
 * others, which may have something else of their own. */
static const char *not_measured(const r4_outcome *o)
{
  if (o->doubtful) return "but the masks may mean the reverse, as said above";
  if (!o->one_sided) return "";
  return "in some classes few examples or none have masks; shortcuts of theirs, if any, were not measured";
}

/* "uses the shortcut: it loses 59 +- 4 % ..." */
static void tell_loss(struct run *r, const r4_outcome *o, const char *then)
{
  run_tell(
    r,
    "%s: it loses %.1f +- %.1f %% of its correct predictions when masked content is exchanged on %lld validation "
    "examples%s%s",
    r4_verdict_text(o->verdict), 100 * o->lost, 100 * o->lost_error, (long long)o->exchanged, *then ? "; " : "", then);
}

static void tell_reaction(struct run *r, const r4_outcome *o)
{
  char cause[200];
  c_locale_print(cause, sizeof cause,
           "content of another class than its own costs %.1f +- %.1f %%, so its class is not the cause; %s",
           100 * o->followed, 100 * o->followed_error, next_try(r));
  tell_loss(r, o, cause);
}

/* Without masks there is no shortcut to speak of, and without validation nobody expects to hear of one. */
static void tell_why_not_known(struct run *r, const r4_outcome *o)
{
  const char unknown[] = "whether it uses the shortcut is unknown";
  if (r->val.kind == R4_VAL_CARRIES && !r->val.as_it_is)
    run_tell(r, "%s: the masked content of %zu validation examples can be exchanged, and %d are needed",
             unknown, r->val.could, (int)VALIDATION_NEEDED);
  else if (r->val.kind == R4_VAL_CARRIES || r->val.kind == R4_VAL_FILLED)
    run_tell(r, "%s: data.val_fill is %s; auto would measure it", unknown, r->s->data.val_fill);
  else if (r->val.kind == R4_VAL_EXCHANGED)
    run_tell(r, "%s: none of its predictions on %lld exchanged validation examples is correct", unknown,
             (long long)o->exchanged);
}

static void tell_verdict(struct run *r, const r4_outcome *o)
{
  switch (o->verdict) {
  case R4_VERDICT_USES:
    tell_loss(r, o, next_try(r));
    break;
  case R4_VERDICT_REACTS:
    tell_reaction(r, o);
    break;
  case R4_VERDICT_UNSURE:
    tell_loss(r, o, "more validation examples with masks are needed");
    break;
  case R4_VERDICT_LITTLE:
  case R4_VERDICT_NOT:
    tell_loss(r, o, not_measured(o));
    break;
  case R4_VERDICT_NONE:
    tell_why_not_known(r, o);
    break;
  case R4_VERDICT_COLLAPSED:
    break; /* is said by whoever knows what the advice is */
  }
}

static void tell_penalty(struct run *r, const r4_outcome *o)
{
  if (!wants_penalty(r)) return;
  if (o->unpenalised)
    run_tell(
      r,
      "the penalty took effect in none of %lld steps: this net was not trained with %s; try more epochs, smaller "
      "batches, or penalty.cap: false",
      (long long)o->steps, r->s->method);
  else
    run_tell(r, "the penalty took effect in %lld of %lld steps%s", (long long)o->penalised, (long long)o->steps,
             o->penalised < o->steps ? "; in the rest it was not due, or was held back (penalty.after, penalty.cap)"
                                        : "");
}

/* ---- outcome.json ---- */

static char *outcome_text(const r4_outcome *o)
{
  struct json_writer w = {0};
  jw_open(&w, NULL, '{');
  jw_text(&w, "verdict", r4_verdict_name(o->verdict));
  jw_real(&w, "lost", o->lost);
  jw_real(&w, "lost_error", o->lost_error);
  jw_real(&w, "changed", o->changed);
  jw_real(&w, "followed", o->followed);
  jw_real(&w, "followed_error", o->followed_error);
  jw_whole(&w, "exchanged", o->exchanged);
  jw_whole(&w, "steps", o->steps);
  jw_whole(&w, "penalised_steps", o->penalised);
  jw_flag(&w, "unpenalised", o->unpenalised);
  jw_flag(&w, "one_sided", o->one_sided);
  jw_flag(&w, "doubtful", o->doubtful);
  jw_close(&w, '}');
  text_add(&w.text, "\n");
  return text_take(&w.text);
}

static r4_status keep(const struct run *r, const r4_outcome *o, r4_error *e)
{
  char *path = file_join(r->folder, "outcome.json", e), *text = outcome_text(o);
  r4_status s = path && text ? file_write(path, text, strlen(text), e)
                             : r4_fail(e, R4_E_MEMORY, "%s: out of memory", r->folder);
  r4_string_free(text);
  r4_mem_free(path);
  return s;
}

r4_status run_judge(struct run *r, r4_outcome *to, r4_error *e)
{
  r4_status s = find_out(r, to, e);
  if (s) return s;
  tell_penalty(r, to);
  tell_verdict(r, to);
  return r->folder ? keep(r, to, e) : R4_OK;
}

static r4_verdict verdict_named(const char *name)
{
  for (size_t k = 0; name && k < sizeof words / sizeof *words; k++)
    if (!strcmp(words[k], name)) return (r4_verdict)k;
  return R4_VERDICT_NONE;
}

r4_status r4_outcome_read(const char *folder, r4_outcome *to, r4_error *e)
{
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  *to = (r4_outcome){
    .only = PULSE_SEVERAL, .lost = NAN, .changed = NAN, .followed = NAN, .followed_error = NAN};
  char *path = file_join(folder, "outcome.json", e);
  struct js *root = NULL;
  r4_error own = {0};
  if (!e) e = &own;
  r4_status s = path ? manifest_read(path, &root, e) : R4_E_MEMORY;
  if (!s) {
    to->verdict = verdict_named(js_text(js_get(root, "verdict")));
    js_number(js_get(root, "lost"), &to->lost);
    js_number(js_get(root, "lost_error"), &to->lost_error);
    js_number(js_get(root, "changed"), &to->changed);
    js_number(js_get(root, "followed"), &to->followed);
    js_number(js_get(root, "followed_error"), &to->followed_error);
    js_whole(js_get(root, "exchanged"), &to->exchanged);
    js_whole(js_get(root, "steps"), &to->steps);
    js_whole(js_get(root, "penalised_steps"), &to->penalised);
    js_flag(js_get(root, "unpenalised"), &to->unpenalised);
    js_flag(js_get(root, "one_sided"), &to->one_sided);
    js_flag(js_get(root, "doubtful"), &to->doubtful);
  }
  js_free(root);
  r4_mem_free(path);
  return s;
}
