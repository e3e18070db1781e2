#include "train/run.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "module/net.h"
#include "objective/objective.h"
#include "optim/clip.h"
#include "train/rates.h"
#include "train/task.h"

/* Above this share of the features, masks are kept whole: the list of features would save too little. */
static const double LISTED_SHARE = 0.5;

/* Above this share of a conv net's work, it is done on whole images: windows would save too little. */
static const double WINDOWS_SHARE = 0.75;

/* From this many values of a batch on, it is made ahead on a thread of its own. A small one takes some 30 us to make,
 * and waking a thread on a busy machine takes longer. */
static const double VALUES_WORTH_A_THREAD = 1e6;

/* ---- Making ---- */

/* Validation examples with other masked content, so that they do not praise the shortcut. */
static r4_status break_validation(struct run *r, r4_error *e)
{
  r4_fill kind = task_val_fill(r->s, r->train);
  if (kind == R4_FILL_NONE) return R4_OK;
  r4_data *broken = r4_data_fill(r->val, kind, (uint64_t)r->s->data.seed, 0, e);
  r4_data_free(r->val);
  r->val = broken;
  return broken ? R4_OK : e->status;
}

/* given: the caller's, or NULL for those that the settings name. */
static r4_status open_data(struct run *r, const r4_data *given, r4_error *e)
{
  r4_data *own = given ? NULL : task_data(r->s, e);
  const r4_data *d = given ? given : own;
  if (!d) return e->status;
  r4_data_hash(d, r->data_hash);
  r->train = r4_data_part(d, R4_TRAIN, e);
  r->val = r->train ? r4_data_part(d, R4_VAL, e) : NULL;
  r->net = r->val ? task_net(r->s, d, e) : NULL;
  r4_data_free(own);
  if (!r->net || task_prepare(r->s, &r->net, e)) return e->status;
  if (*r->s->guide && r4_net_guide_at(r->net, r->s->guide, e)) return e->status;
  if (!r4_data_count(r->train))
    return r4_fail(e, R4_E_ARGUMENT, "%s: has no training examples", given ? "data" : r->s->data.name);
  if (!r4_data_count(r->val)) {
    r4_data_free(r->val);
    r->val = NULL;
  }
  if (r->val && break_validation(r, e)) return e->status;
  if (!r->val && r->s->searched)
    return r4_fail(e, R4_E_ARGUMENT,
                   "lambda is auto, but there is no validation part to choose it by: set data.val");
  if (!r->val && strcmp(r->s->select, "last"))
    return r4_fail(e, R4_E_ARGUMENT, "select is %s, but there is no validation part: set data.val",
                   r->s->select);
  return R4_OK;
}

static void *allocate(size_t count, size_t size, r4_status *s, r4_error *e)
{
  void *p = *s ? NULL : r4_mem_new_aligned(count * size);
  if (!p && !*s) *s = r4_fail(e, R4_E_MEMORY, "out of memory for %zu elements", count);
  return p;
}

/* The same for what may never be written to: such memory takes no room in the machine. */
static void *reserve(size_t count, size_t size, r4_status *s, r4_error *e)
{
  void *p = *s ? NULL : r4_mem_new(count, size);
  if (!p && !*s) *s = r4_fail(e, R4_E_MEMORY, "out of memory for %zu elements", count);
  return p;
}

static r4_status open_head_rates(struct run *r, r4_error *e)
{
  r->head_rates = r4_mem_new(r4_net_params(r->net), sizeof *r->head_rates);
  if (!r->head_rates) return r4_fail(e, R4_E_MEMORY, "out of memory for the rates of parameters");
  return rates_of_head(r->settings, r->net, r->head_rates, e);
}

static r4_status open_arrays(struct run *r, r4_error *e)
{
  r4_status s = R4_OK;
  size_t features = (size_t)r4_shape_count(r4_data_shape(r->train));
  r->size = r4_net_size(r->net);
  r->weights = allocate(r->size, sizeof *r->weights, &s, e);
  r->gradient = allocate(r->size, sizeof *r->gradient, &s, e);
  r->best = reserve(r->size, sizeof *r->best, &s, e);
  r->good = reserve(r->size, sizeof *r->good, &s, e);
  r->index = allocate(features, sizeof *r->index, &s, e);
  if (r->val) r->predicted = allocate(r4_data_count(r->val), sizeof *r->predicted, &s, e);
  if (s) return s;
  r->touched = r4_data_masked_features(r->train, &r->s->augment, r->index);
  bool listed = !r->net->leaf && (double)r->touched <= LISTED_SHARE * (double)features;
  r->masked = listed ? r->touched : 0;
  r->rates = r4_mem_new(r4_net_params(r->net), sizeof *r->rates);
  if (!r->rates) return r4_fail(e, R4_E_MEMORY, "out of memory for the rates of parameters");
  s = rates_of(r->settings, r->net, r->rates, e);
  if (!s && r->s->head_epochs) s = open_head_rates(r, e);
  if (!s) s = task_start(r->s, r->net, r->weights, e);
  if (!s) run_keep(r);
  return s;
}

/* Masks in small parts of images: penalties need not look at the rest. */
static r4_status open_reach(struct run *r, r4_error *e)
{
  const r4_augment *augment = &r->s->augment;
  bool images = r4_net_input(r->net).rank == 3 && !r->net->leaf;
  if (!images || !r->touched || !r4_method_describe(r->s->method).guided) return R4_OK;
  r4_rect *rect = r4_mem_new(r4_data_count(r->train), sizeof *rect);
  if (!rect) return r4_fail(e, R4_E_MEMORY, "out of memory for %zu masks", r4_data_count(r->train));
  size_t n = r4_data_mask_rects(r->train, augment, rect);
  r->reach = r4_reach_new(r->net, n, rect, augment->flip || augment->crop > 0, e);
  r4_mem_free(rect);
  if (!r->reach) return e->status;
  if (r4_reach_share(r->reach) <= WINDOWS_SHARE) {
    r->masked = 0;
  } else {
    r4_reach_free(r->reach);
    r->reach = NULL;
  }
  return R4_OK;
}

static struct step_options step_options_of(const struct run *r)
{
  const struct settings *s = r->s;
  r4_fill fill = task_fill(s, r->train);
  struct step_options step = {.net = r->net,
                              .objective = task_objective(s),
                              .masked = r->masked,
                              .index = r->index,
                              .reach = r->reach,
                              .cells = task_cells(s),
                              .seed = (uint64_t)s->seed};
  step.objective.frozen_statistics = task_frozen_statistics(s);
  step.objective.lengths = objective_leaf_is_rows(r->net) && r4_data_vocabulary(r->train) > 0;
  step.objective.explain = task_explain(s, r->train);
  step.objective.filled = fill != R4_FILL_NONE;
  step.objective.filled_within = fill != R4_FILL_PASTE;
  step.objective.class_weights = r->class_weights;
  step.objective.rates = r->head_alone ? r->head_rates : r->rates;
  return step;
}

/* Step and optimiser for what learns in this epoch: what does not is not differentiated. */
static r4_status open_phase(struct run *r, r4_error *e)
{
  bool head_alone = r->state.epoch < r->s->head_epochs;
  if (r->step && head_alone == r->head_alone) return R4_OK;
  r->head_alone = head_alone;
  step_free(r->step);
  const struct step_options options = step_options_of(r);
  r->step = step_new(&options, e);
  if (!r->step) return e->status;
  return rates_set(r->optimizer, r->net, options.objective.rates, e);
}

static r4_status open_steps(struct run *r, r4_error *e)
{
  const struct settings *s = r->s;
  r4_optimizer_options optimizer = task_optimizer(s);
  double values = (double)s->batch * (double)r4_shape_count(r4_data_shape(r->train));
  r4_batch_options batches = {.size = (size_t)s->batch,
                              .masked_first = true,
                              .drop_last = s->drop_last,
                              .shuffle = true,
                              .seed = (uint64_t)s->seed,
                              .no_masks = !r4_method_describe(s->method).guided,
                              .masked = r->masked,
                              .index = r->index,
                              .augment = s->augment,
                              .fill = task_fill(s, r->train),
                              .prefetch = values >= VALUES_WORTH_A_THREAD};
  r->optimizer = r4_optimizer_new(r->size, &optimizer, e);
  r->batches = r->optimizer ? r4_batches_new(r->train, &batches, e) : NULL;
  if (!r->batches || open_phase(r, e)) return e->status;
  if (r->val && !(r->predictor = predictor_new(r->net, s->eval.batch, e))) return e->status;
  r->schedule = task_schedule(s);
  r->penalty_after = task_penalty_after(s, r->train);
  r->chance = pulse_chance(r->train, r->class_weights);
  r->state.dual = dual_begin(s->delta, s->delta_rate, task_lambda(s));
  r->state.guard = guard_begin(r->chance);
  r->state.best = -INFINITY;
  r->state.relief = 1;
  return R4_OK;
}

/* What decides the result: all settings, the data, and the program's version. */
static r4_status identify(struct run *r, const r4_settings *settings, r4_error *e)
{
  r->text = r4_settings_text(settings);
  if (!r->text) return r4_fail(e, R4_E_MEMORY, "out of memory for the settings");
  struct hash h;
  hash_start(&h);
  hash_add(&h, R4_VERSION, sizeof R4_VERSION);
  hash_add(&h, r->data_hash, sizeof r->data_hash);
  hash_add(&h, r->text, strlen(r->text));
  hash_end(&h, r->identity);
  return R4_OK;
}

r4_status run_open(struct run *r, const r4_settings *settings, const r4_data *data, const char *folder,
                   r4_error *e)
{
  *r = (struct run){.s = &settings->values,
                    .settings = settings,
                    .folder = folder,
                    .log.file = -1,
                    .curves = {.csv.file = -1, .events.file = -1}};
  r4_status s = open_data(r, data, e);
  if (!s) s = open_arrays(r, e);
  if (!s) s = run_check(r, e);
  if (!s) s = open_reach(r, e);
  if (!s) s = open_steps(r, e);
  if (!s) s = identify(r, settings, e);
  return s;
}

void run_close(struct run *r)
{
  log_close(&r->log);
  curves_close(&r->curves);
  probe_free(r->predictor);
  step_free(r->step);
  r4_batches_free(r->batches);
  r4_optimizer_free(r->optimizer);
  r4_reach_free(r->reach);
  r4_net_free(r->net);
  r4_data_free(r->train);
  r4_data_free(r->val);
  r4_mem_free(r->weights);
  r4_mem_free(r->gradient);
  r4_mem_free(r->best);
  r4_mem_free(r->good);
  r4_mem_free(r->index);
  r4_mem_free(r->predicted);
  r4_mem_free(r->class_weights);
  r4_mem_free(r->rates);
  r4_mem_free(r->head_rates);
  r4_string_free(r->text);
}

/* ---- Training ---- */

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
static double guarded(const struct run *r, double lambda, double lambda_r3)
{
  bool on = (r->s->guard || r->s->delta > 0) && method_dies_of_penalty(r->s->method);
  return on ? guard_factor(&r->state.guard, lambda, lambda_r3) : 1;
}

struct step_weights run_weights(const struct run *r)
{
  const struct settings *s = r->s;
  double t = penalty_time(r), ramp = r->state.relief * schedule_ramp(s->lambda_ramp, t);
  struct step_weights at = {.lambda = s->delta > 0 ? r->state.dual.lambda : ramp * task_lambda(s),
                            .lambda_r3 = s->delta > 0 ? r->state.dual.lambda : ramp * task_lambda_r3(s),
                            .eps = schedule_ramp(s->eps_ramp, t) * s->eps,
                            .off = time_of(r) < r->penalty_after};
  if (at.off) at.lambda = at.lambda_r3 = 0;
  double factor = guarded(r, at.lambda, at.lambda_r3);
  at.lambda *= factor;
  at.lambda_r3 *= factor;
  return at;
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
                        const struct step_result *result)
{
  double n = (double)b->count;
  sums->steps++;
  sums->examples += n;
  sums->right += (double)result->right;
  sums->loss += n * result->loss;
  sums->data += n * result->data;
  if (!penalised) return;
  sums->masked_steps++;
  sums->penalty += result->penalty;
  sums->penalty_r3 += result->penalty_r3;
}

/* The next lambda, after a step whose batch had masks. */
static void weigh(struct run *r, const struct step_result *result)
{
  struct dual *d = &r->state.dual;
  guard_step(&r->state.guard, result->data, result->form, result->form_r3);
  if (!(r->s->delta > 0)) return;
  dual_step(d, result->penalty + result->penalty_r3, fallen(r));
  d->lambda *= guarded(r, d->lambda, d->lambda);
}

static r4_status one_step(struct run *r, r4_error *e)
{
  r4_batch b = r4_batches_next(r->batches);
  struct step_weights at = run_weights(r);
  struct step_result result;
  r4_status s = r4_optimizer_set_rate(r->optimizer, rate_at(r), e);
  if (!s) s = step_run(r->step, &b, (uint32_t)r->state.step, &at, r->weights, r->gradient, &result, e);
  if (s) return s;
  clip_gradient(r->gradient, r->size, r->s->clip);
  r4_optimizer_step(r->optimizer, r->weights, r->gradient);
  step_update_buffers(r->step, r->weights);
  bool penalised = b.masked && !at.off;
  add_to_sums(&r->state.sums, &b, penalised, &result);
  if (penalised) weigh(r, &result);
  r->state.step++;
  r->state.batch++;
  run_revive(r, result.only);
  return R4_OK;
}

/* ---- Epochs ---- */

/* Larger is better. */
static double selection_score(const struct run *r)
{
  const struct score *v = &r->val_score;
  if (!strcmp(r->s->select, "avg")) return v->avg;
  if (!strcmp(r->s->select, "worst")) return v->worst;
  if (!strcmp(r->s->select, "loss")) return -v->loss;
  return (double)r->state.epoch; /* last */
}

static r4_status validate(struct run *r, r4_error *e)
{
  double loss = 0;
  if (!r->val) return R4_OK;
  r4_status s = predictor_run(r->predictor, r->weights, r->val, r->predicted, &loss, e);
  return s ? s : score_of(r->val, r->predicted, loss, &r->val_score, e);
}

bool run_is_over(const struct run *r)
{
  bool out_of_patience = r->s->patience > 0 && r->state.epoch - r->state.best_epoch >= r->s->patience;
  return r->state.epoch >= r->s->epochs || out_of_patience;
}

/* What begins to learn now has no memory of gradients, and Adam, which counts its steps, would take it for an old hand:
 * all begin anew. */
static r4_status next_phase(struct run *r, r4_error *e)
{
  if (r->state.epoch == r->s->head_epochs) r4_optimizer_reset(r->optimizer);
  return open_phase(r, e);
}

/* The epoch is done: look at it, write it down, keep it if it is the best. */
static r4_status end_epoch(struct run *r, double seconds, r4_error *e)
{
  r->state.epoch++;
  r->state.batch = 0;
  r4_status s = validate(r, e);
  if (!s && r->folder) s = run_log(r, seconds, e);
  if (s) return s;
  run_examine(r);
  double score = selection_score(r);
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

static r4_progress progress_of(const struct run *r, bool epoch_done, double seconds)
{
  const struct run_sums *t = &r->state.sums;
  struct step_weights at = run_weights(r);
  double n = t->examples > 0 ? t->examples : 1, masked = t->masked_steps > 0 ? t->masked_steps : 1;
  return (r4_progress){.seed = (uint64_t)r->s->seed,
                       .epoch = r->state.epoch,
                       .epochs = r->s->epochs,
                       .batch = r->state.batch,
                       .batches = (int64_t)r4_batches_count(r->batches),
                       .loss = t->loss / n,
                       .penalty = (t->penalty + t->penalty_r3) / masked,
                       .accuracy = t->right / n,
                       .lambda = at.lambda,
                       .eps = at.eps,
                       .rate = rate_at(r),
                       .epoch_done = epoch_done,
                       .validated = r->val && r->state.epoch > 0,
                       .val_avg = r->val_score.avg,
                       .val_worst = r->val_score.worst,
                       .seconds = seconds};
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

r4_status run_seek(struct run *r, r4_error *e)
{
  r->begun = r->epoch_begun = now();
  r4_status s = open_phase(r, e);
  return s ? s : r4_batches_seek(r->batches, (uint32_t)r->state.epoch, (size_t)r->state.batch, e);
}

r4_progress run_progress(const struct run *r)
{
  return progress_of(r, false, now() - r->begun);
}

r4_status run_step(struct run *r, r4_progress *progress, r4_error *e)
{
  r4_status s = one_step(r, e);
  if (s) return failed(r, s, e);
  bool epoch_done = r->state.batch == (int64_t)r4_batches_count(r->batches);
  *progress = progress_of(r, epoch_done, now() - r->begun);
  if (!epoch_done) return R4_OK;
  s = end_epoch(r, now() - r->epoch_begun, e);
  progress->epoch = r->state.epoch;
  progress->validated = r->val != NULL;
  progress->val_avg = r->val_score.avg;
  progress->val_worst = r->val_score.worst;
  r->epoch_begun = now();
  return s;
}

/* ---- In a folder ---- */

static r4_status loop(struct run *r, const r4_train_options *o, bool *stopped, r4_error *e)
{
  r4_progress progress;
  r4_status s = run_seek(r, e);
  double saved = now();
  while (!s && !r->state.finished && !*stopped) {
    s = run_step(r, &progress, e);
    if (s) return s;
    if (progress.epoch_done) saved = now();
    *stopped = o->report && !o->report(&progress, o->user) && !r->state.finished;
    bool due = r->s->checkpoint > 0 && now() - saved >= r->s->checkpoint;
    if (!progress.epoch_done && (*stopped || due)) {
      s = run_save(r, e);
      saved = now();
    }
  }
  return s;
}

static r4_status train_locked(const r4_settings *settings, const r4_train_options *o, r4_outcome *outcome,
                              r4_error *e)
{
  struct run r;
  r4_status s = run_open(&r, settings, NULL, o->folder, e);
  r.notice = o->notice;
  r.user = o->user;
  if (!s) s = run_begin(&r, o, e);
  if (!s) run_tell_settings(&r);
  if (!s) run_greet(&r);
  if (!s) s = loop(&r, o, &outcome->stopped, e);
  if (!s && r.state.finished) s = run_finish(&r, e);
  if (!s && r.state.finished) s = run_autopsy(&r, &outcome->only, e);
  run_close(&r);
  return s;
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
  r4_status s = r4_settings_check(settings, e);
  if (!s && r4_lambda_is_open(settings))
    s = r4_fail(e, R4_E_ARGUMENT, "%s is auto: r4_lambda_search must choose it before",
                setting_label(settings, "lambda").text);
  if (s) return s;
  r4_lock *lock = run_lock(o, e);
  if (!lock) return e->status;
  s = train_locked(settings, o, outcome, e);
  r4_lock_free(lock);
  return s;
}
