#include "train/run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "module/net.h"
#include "objective/objective.h"
#include "optim/clip.h"
#include "optim/optimizer.h"
#include "train/rates.h"
#include "train/run/verdict.h"
#include "train/task.h"

/* ---- Steps ---- */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Epochs done, with the part of the present one. */
static double time_of(const struct run *r)
{
  return (double)r->state.epoch + (double)r->state.batch / (double)r4_batches_count(r->batches);
}

/* The same since the penalty began. */
static double penalty_time(const struct run *r)
{
  return fmax(time_of(r) - r->penalty_after, 0);
}

/* What lambda is multiplied by, so that the net can bear it. Dual ascent would wind up without. */
static double guarded(const struct run *r, const double lambda[R4_TERMS])
{
  bool on = (r->s->guard || r->s->delta > 0) && method_dies_of_penalty(r->s->method);
  return on ? guard_factor(&r->state.guard, lambda) : 1;
}

/* Terms that do not wait beside one that does: there from the first step on, and guarded by themselves. */
static void let_some_lead(const struct run *r, struct step_weights *at)
{
  double lambda[R4_TERMS] = {0};
  r4_method_info method = r4_method_describe(r->s->method);
  for (size_t k = 0; k < method.terms; k++)
    if (method.leads[k]) lambda[k] = r->state.relief * task_lambda(r->s, k);
  double factor = guarded(r, lambda);
  for (size_t k = 0; k < method.terms; k++) {
    if (!method.leads[k]) continue;
    at->lambda[k] = lambda[k] * factor;
    at->off = false;
  }
}

static void scale(double lambda[R4_TERMS], double factor)
{
  for (size_t k = 0; k < R4_TERMS; k++) lambda[k] *= factor;
}

struct step_weights run_weights(const struct run *r)
{
  const struct settings *s = r->s;
  double t = penalty_time(r), ramp = r->state.relief * schedule_ramp(s->lambda_ramp, t);
  struct step_weights at = {.eps = schedule_ramp(s->eps_ramp, t) * task_eps(s),
                            .off = time_of(r) < r->penalty_after};
  size_t terms = r4_method_describe(s->method).terms;
  for (size_t k = 0; k < terms && !at.off; k++)
    at.lambda[k] = s->delta > 0 ? r->state.dual.lambda : ramp * task_lambda(s, k);
  scale(at.lambda, guarded(r, at.lambda));
  if (!(s->delta > 0)) let_some_lead(r, &at);
  return at;
}

/* penalty_every = N: step n minimises data + N lambda form(q) if N divides n, else data. The mean over the steps is
 * what the weights say. Known as lazy regularisation (Karras and others, 2020). */
static void make_lazy(const struct run *r, struct step_weights *at)
{
  double every = (double)r->s->penalty_every;
  if (r->state.step % r->s->penalty_every) at->off = true;
  scale(at->lambda, at->off ? 0 : every);
}

double run_sum(const double of_terms[R4_TERMS])
{
  double sum = 0;
  for (size_t k = 0; k < R4_TERMS; k++) sum += of_terms[k];
  return sum;
}

/* How much of its fall to delta the target should have done by now. */
static double fallen(const struct run *r)
{
  double ramp = r->s->delta_ramp;
  return schedule_ramp(ramp > 0 ? ramp : (double)r->s->epochs / 4, penalty_time(r));
}

static double rate_at(const struct run *r)
{
  return r->s->rate * schedule_rate(&r->schedule, time_of(r));
}

static void add_to_sums(struct run_sums *sums, const r4_batch *b, bool penalised,
                        const struct step_weights *at, const struct step_result *result)
{
  double n = (double)b->count;
  sums->steps++;
  sums->examples += n;
  sums->right += (double)result->right;
  sums->loss += n * result->loss;
  sums->data += n * result->data;
  if (!penalised) return;
  sums->masked_steps++;
  for (size_t k = 0; k < R4_TERMS; k++) {
    sums->penalty[k] += result->penalty[k];
    sums->lambda[k] += at->lambda[k];
  }
}

/* The next lambda, after a step whose batch had masks. */
static void weigh(struct run *r, const struct step_result *result)
{
  struct dual *d = &r->state.dual;
  double lambda[R4_TERMS];
  guard_step(&r->state.guard, result->data, result->form);
  if (!(r->s->delta > 0)) return;
  dual_step(d, run_sum(result->penalty), fallen(r));
  for (size_t k = 0; k < R4_TERMS; k++) lambda[k] = d->lambda; /* a term that is not there costs nothing */
  d->lambda *= guarded(r, lambda);
}

static r4_status one_step(struct run *r, r4_error *e)
{
  r4_batch b = r4_batches_next(r->batches);
  const struct step_weights stated = run_weights(r);
  struct step_weights at = stated;
  struct step_result result;
  make_lazy(r, &at);
  at.example = groups_weigh(&r->groups, r->train, &b);
  r4_status s = r4_optimizer_set_rate(r->optimizer, rate_at(r), e);
  if (!s) s = shards_run(r->step, &b, (uint32_t)r->state.step, &at, r->weights, r->gradient, &result, e);
  if (s) return s;
  clip_gradient(r->gradient, r->size, r->s->clip);
  r4_optimizer_step(r->optimizer, r->weights, r->gradient);
  shards_update_buffers(r->step, r->weights);
  groups_follow(&r->groups, r->s->group_step, r->train, &b, shards_losses(r->step));
  bool penalised = result.guided && !at.off;
  add_to_sums(&r->state.sums, &b, penalised, &stated, &result);
  r->state.penalised += penalised && run_sum(at.lambda) > 0;
  if (penalised) weigh(r, &result);
  r->state.step++;
  r->state.batch++;
  run_revive(r, result.only);
  return R4_OK;
}

/* ---- Epochs ---- */

bool run_is_over(const struct run *r)
{
  bool out_of_patience = r->s->patience > 0 && r->state.epoch - r->state.best_epoch >= r->s->patience;
  return r->state.epoch >= r->s->epochs || out_of_patience;
}

/* What begins to learn now has no memory of gradients, and Adam, which counts its steps, would take it for an old hand:
 * all begin anew. */
static r4_status next_phase(struct run *r, r4_error *e)
{
  if (r->state.epoch == r->s->head_epochs) optimizer_reset(r->optimizer);
  return run_open_phase(r, e);
}

/* The epoch is done: look at it, write it down, keep it if it is the best. */
static r4_status end_epoch(struct run *r, double seconds, r4_error *e)
{
  r->state.epoch++;
  r->state.batch = 0;
  r4_status s = validation_run(&r->val, r->team, r->weights, &r->val_score, e);
  if (!s) s = run_log(r, seconds, e);
  if (s) return s;
  run_examine(r);
  const struct score *v = &r->val_score;
  double score = run_epoch_score(r->s->select, r->state.epoch, v->loss, v->avg, v->score);
  if (score > r->state.best) {
    r->state.best = score;
    r->state.best_epoch = r->state.epoch;
    memcpy(r->best, r->weights, r->size * sizeof *r->best);
  }
  r->state.sums = (struct run_sums){0};
  r->state.finished = run_is_over(r);
  if ((s = next_phase(r, e))) return s;
  return r->folder ? run_save(r, e) : R4_OK;
}

static void add_terms(const struct run *r, const struct step_weights *at, double masked, r4_progress *to)
{
  r4_method_info method = r4_method_describe(r->s->method);
  to->terms = method.terms;
  for (size_t k = 0; k < method.terms; k++) {
    r4_term_progress *t = &to->term[k];
    snprintf(t->name, sizeof t->name, "%s", method.term[k]);
    t->penalty = r->state.sums.penalty[k] / masked;
    t->lambda = at->lambda[k];
  }
}

static r4_progress progress_of(const struct run *r, bool epoch_done, double seconds)
{
  const struct run_sums *t = &r->state.sums;
  struct step_weights at = run_weights(r);
  double n = t->examples > 0 ? t->examples : 1, masked = t->masked_steps > 0 ? t->masked_steps : 1;
  r4_progress p = {.seed = (uint64_t)r->s->seed,
                   .epoch = r->state.epoch,
                   .epochs = r->s->epochs,
                   .batch = r->state.batch,
                   .batches = (int64_t)r4_batches_count(r->batches),
                   .loss = t->loss / n,
                   .penalty = run_sum(t->penalty) / masked,
                   .accuracy = t->right / n,
                   .lambda = at.lambda[0],
                   .eps = at.eps,
                   .rate = rate_at(r),
                   .epoch_done = epoch_done,
                   .seconds = seconds};
  add_terms(r, &at, masked, &p);
  return p;
}

static void add_validation(const struct run *r, r4_progress *to)
{
  const struct score *v = &r->val_score;
  to->validated = r->val.data && r->state.epoch > 0;
  to->val_avg = v->avg;
  to->val_worst = v->worst;
  to->val_se = v->avg_se;
  to->val_plain = v->plain;
  to->val_kind = r->val.kind;
  to->val_examples = (int64_t)(v->exchanged ? v->exchanged : r->val.data ? r4_data_count(r->val.data) : 0);
}

/* Names the last state that is safe, for a person who must go on from it. */
static r4_status failed(const struct run *r, r4_status s, r4_error *e)
{
  if (s != R4_E_DOMAIN) return s;
  r4_error cause = *e;
  if (!r->folder) return s;
  if (r->state.epoch)
    return r4_fail(e, s, "%.300s; the last good checkpoint is %s/checkpoint, after epoch %lld", cause.text,
                   r->folder, (long long)r->state.epoch);
  return r4_fail(e, s, "%.300s; there is no checkpoint yet", cause.text);
}

/* A run of no epochs is done: the weights that it starts from are its model. */
static void begin_at_the_end(struct run *r)
{
  memcpy(r->best, r->weights, r->size * sizeof *r->best);
  r->state.finished = true;
}

r4_status run_seek(struct run *r, r4_error *e)
{
  r->begun = r->epoch_begun = now();
  if (!r->s->epochs) begin_at_the_end(r);
  r4_status s = run_open_phase(r, e);
  return s ? s : r4_batches_seek(r->batches, (uint32_t)r->state.epoch, (size_t)r->state.batch, e);
}

r4_progress run_progress(const struct run *r)
{
  r4_progress p = progress_of(r, false, now() - r->begun);
  add_validation(r, &p);
  return p;
}

r4_status run_step(struct run *r, r4_progress *progress, r4_error *e)
{
  r4_status s = one_step(r, e);
  if (s) return failed(r, s, e);
  bool epoch_done = r->state.batch == (int64_t)r4_batches_count(r->batches);
  *progress = progress_of(r, epoch_done, now() - r->begun);
  if (epoch_done) s = end_epoch(r, now() - r->epoch_begun, e);
  progress->epoch = r->state.epoch;
  add_validation(r, progress);
  if (!epoch_done) return R4_OK;
  r->epoch_begun = now();
  return s;
}

/* ---- In a folder ---- */

/* After a step: who reports may end the run, and the checkpoint may be due. */
static r4_status after_step(struct run *r, const r4_train_options *o, const r4_progress *progress,
                            double *saved, r4_status s, bool *stopped, r4_error *e)
{
  if (!s && progress->epoch_done) *saved = now();
  if (!s) *stopped = o->report && !o->report(progress, o->user) && !r->state.finished;
  bool due = !s && r->folder && r->s->checkpoint > 0 && now() - *saved >= r->s->checkpoint;
  s = run_vote(r->team, s, stopped, &due, e);
  if (s || !due || progress->epoch_done) return s;
  *saved = now();
  return team_join(r->team, r->folder ? run_save(r, e) : R4_OK, e);
}

static r4_status loop(struct run *r, const r4_train_options *o, bool *stopped, r4_error *e)
{
  r4_progress progress = {0};
  r4_status s = team_join(r->team, run_seek(r, e), e);
  double saved = now();
  while (!s && !r->state.finished && !*stopped) {
    s = run_step(r, &progress, e);
    s = after_step(r, o, &progress, &saved, s, stopped, e);
  }
  return s;
}

/* Made or read by process 0, and by all others what it has. */
static r4_status begin(struct run *r, const r4_train_options *o, r4_status s, r4_error *e)
{
  s = team_join(o->team, s, e);
  if (!s) s = run_agree(r, e);
  if (!s) s = team_join(o->team, r->folder ? run_begin(r, o, e) : R4_OK, e);
  return s ? s : run_share(r, e);
}

static r4_status train_locked(const r4_settings *settings, const r4_train_options *o, r4_outcome *outcome,
                              r4_error *e)
{
  struct run r;
  bool leads = !team_rank(o->team);
  r4_status s = run_open(&r, settings, NULL, leads ? o->folder : NULL, o->team, e);
  r.notice = leads ? o->notice : NULL;
  r.user = o->user;
  if (!s && o->chosen_by) s = validation_may_choose(&r.val, o->chosen_by, e);
  s = begin(&r, o, s, e);
  if (!s) run_tell_settings(&r);
  if (!s) run_greet(&r);
  if (!s) s = loop(&r, o, &outcome->stopped, e);
  if (!s && r.state.finished) s = team_join(o->team, leads ? run_finish(&r, e) : R4_OK, e);
  if (!s && r.state.finished) s = run_judge(&r, outcome, e);
  run_close(&r);
  return s;
}

static r4_status check_team(const r4_team *t, r4_error *e)
{
  bool talks = !t || (t->send && t->receive && t->wait);
  return r4_given(talks, "r4_train", "a team that sends, receives and waits", e) ? R4_OK : R4_E_ARGUMENT;
}

static r4_status check_settings(const r4_settings *s, const r4_team *t, r4_error *e)
{
  r4_status status = r4_settings_check(s, e);
  if (!status && r4_lambda_is_open(s))
    status = r4_fail(e, R4_E_ARGUMENT, "%s is auto: r4_lambda_search must choose it first",
                     setting_label(s, "lambda").text);
  if (status || !t || t->ranks <= s->values.shards) return status;
  return r4_fail(e, R4_E_ARGUMENT, "%s is %lld, too few for %d processes: some would have nothing to do",
                 setting_label(s, "shards").text, (long long)s->values.shards, t->ranks);
}

r4_status r4_train(const r4_settings *settings, const r4_train_options *o, r4_outcome *outcome, r4_error *e)
{
  NEEDS(settings, "settings", R4_E_ARGUMENT);
  NEEDS(o, "options", R4_E_ARGUMENT);
  NEEDS(o->folder, "a folder", R4_E_ARGUMENT);
  r4_error own = {0};
  r4_outcome ignored;
  if (!e) e = &own;
  if (!outcome) outcome = &ignored;
  *outcome = (r4_outcome){.only = -1};
  if (check_team(o->team, e)) return e->status;
  bool leads = !team_rank(o->team);
  r4_status s = check_settings(settings, o->team, e);
  r4_lock *lock = leads && !s ? run_lock(o, e) : NULL;
  if (leads && !s && !lock) s = e->status;
  s = team_join(o->team, s, e);
  if (!s) s = train_locked(settings, o, outcome, e);
  r4_lock_free(lock);
  return s;
}
