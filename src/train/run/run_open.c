/* Making a run: its data, arrays, windows, steps and identity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/batch/length.h"
#include "module/net.h"
#include "objective/objective.h"
#include "train/rates.h"
#include "train/run/run.h"
#include "train/task.h"

/* Above this share of the features, masks are kept whole: the list of features would save too little. */
static const double LISTED_SHARE = 0.5;

/* Above this share of a conv net's work, it is done on whole images: windows would save too little. */
static const double WINDOWS_SHARE = 0.75;

/* From this many values of a batch on, it is made ahead on a thread of its own. A small one takes some 30 us to make,
 * and waking a thread on a busy machine takes longer. */
static const double VALUES_WORTH_A_THREAD = 1e6;

/* The method, where it is auto: from here on the settings are those of the choice. */
static r4_status choose(struct run *r, const r4_data *d, r4_error *e)
{
  if (!r4_method_is_open(r->settings)) return R4_OK;
  r->chosen = settings_copy(r->settings);
  if (!r->chosen) return r4_fail(e, R4_E_MEMORY, "out of memory for the settings");
  if (r4_method_choose(r->chosen, d, r->why, e)) return e->status;
  r->settings = r->chosen;
  r->s = &r->chosen->values;
  return r4_settings_check(r->chosen, e);
}

/* What is asked to choose must be able to. */
static r4_status check_choice(const struct run *r, r4_error *e)
{
  char what[80];
  if (r->s->searched) return validation_may_choose(&r->val, "lambda is auto", e);
  if (!strcmp(r->s->select, "last")) return R4_OK;
  snprintf(what, sizeof what, "select is %s", r->s->select);
  return validation_may_choose(&r->val, what, e);
}

/* given: the caller's, or NULL for those that the settings name. */
static r4_status open_data(struct run *r, const r4_data *given, r4_error *e)
{
  r4_data *own = given ? NULL : task_data(r->s, e);
  const r4_data *d = given ? given : own;
  if (!d) return e->status;
  const char *name = given ? "the data" : r->s->data.name;
  r->given = given != NULL;
  if (run_check_classes(d, name, e)) {
    r4_data_free(own);
    return e->status;
  }
  r4_data_hash(d, r->data_hash);
  r4_data_hash_unmasked(d, r->data_hash_unmasked);
  if (choose(r, d, e)) {
    r4_data_free(own);
    return e->status;
  }
  r->net = validation_open(&r->val, r->s, d, &r->train, e) ? NULL : task_net(r->s, d, e);
  r4_data_free(own);
  if (!r->net || task_prepare(r->s, &r->net, e)) return e->status;
  if (*r->s->guide && r4_net_guide_at(r->net, r->s->guide, e)) return e->status;
  if (!r4_data_count(r->train))
    return r4_fail(e, R4_E_ARGUMENT, "%s: has no training examples", name);
  return check_choice(r, e);
}

static void *allocate(size_t count, size_t size, r4_status *s, r4_error *e)
{
  void *p = *s ? NULL : mem_new_aligned(count, size, "a run", e);
  if (!p && !*s) *s = R4_E_MEMORY;
  return p;
}

/* The same for what may never be written to: such memory takes no room in the machine. */
static void *reserve(size_t count, size_t size, r4_status *s, r4_error *e)
{
  void *p = *s ? NULL : mem_new(count, size, "a run", e);
  if (!p && !*s) *s = R4_E_MEMORY;
  return p;
}

static r4_status open_head_rates(struct run *r, r4_error *e)
{
  r->head_rates = mem_new(r4_net_params(r->net), sizeof *r->head_rates, "the rates of parameters", e);
  if (!r->head_rates) return R4_E_MEMORY;
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
  if (s) return s;
  r->touched = r4_data_masked_features(r->train, &r->s->augment, r->index);
  bool listed = !r->net->leaf && (double)r->touched <= LISTED_SHARE * (double)features;
  r->masked = listed ? r->touched : 0;
  r->rates = mem_new(r4_net_params(r->net), sizeof *r->rates, "the rates of parameters", e);
  if (!r->rates) return R4_E_MEMORY;
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
  r4_rect *rect = mem_new(r4_data_count(r->train), sizeof *rect, "masks", e);
  if (!rect) return R4_E_MEMORY;
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

r4_objective_options run_objective(const struct run *r)
{
  const struct settings *s = r->s;
  r4_fill fill = task_fill(s, r->train);
  r4_objective_options o = task_objective(s);
  o.frozen_statistics = task_frozen_statistics(s);
  o.lengths = objective_leaf_is_rows(r->net) && r4_data_vocabulary(r->train) > 0;
  o.explain = task_explain(s, r->train);
  o.filled = fill != R4_FILL_NONE;
  o.filled_within = fill != R4_FILL_PASTE && fill != R4_FILL_EXCHANGE;
  o.words = r->words.id;
  o.word_count = r->words.n;
  o.class_weights = r->class_weights;
  o.weighted = r->groups.v;
  o.rates = r->head_alone ? r->head_rates : r->rates;
  return o;
}

static struct step_options step_options_of(const struct run *r)
{
  const struct settings *s = r->s;
  return (struct step_options){.net = r->net,
                              .objective = run_objective(r),
                              .masked = r->masked,
                              .index = r->index,
                              .reach = r->reach,
                              .cells = task_cells(s),
                              .seed = (uint64_t)s->seed,
                              .winograd = s->winograd,
                              .bf16 = r->bf16};
}

r4_status run_open_phase(struct run *r, r4_error *e)
{
  bool head_alone = r->state.epoch < r->s->head_epochs, bf16 = r->state.bf16;
  if (bf16 && !r->state.finished && r4_bf16_missing())
    return r4_fail(e, R4_E_ARGUMENT, "the run began with products in bfloat16, and %s: resume it where it began",
                   r4_bf16_missing());
  if (r->step && head_alone == r->head_alone && bf16 == r->bf16) return R4_OK;
  r->head_alone = head_alone;
  r->bf16 = bf16;
  shards_free(r->step);
  const struct step_options options = step_options_of(r);
  r->step = shards_new(&options, (size_t)r->s->shards, r->team, e);
  if (!r->step) return e->status;
  return rates_set(r->optimizer, r->net, options.objective.rates, e);
}

/* Texts of similar length stand together, and are cut, if the net takes them so. */
static size_t lengths_of(const struct run *r)
{
  size_t steps = (size_t)r->s->lengths, width = (size_t)r4_shape_count(r4_data_shape(r->train));
  bool padded = objective_leaf_is_rows(r->net) && r4_data_vocabulary(r->train) > 0;
  r4_net *shortest = padded ? net_of_length(r->net, (int64_t)length_rounded(1, width, steps)) : NULL;
  r4_net_free(shortest);
  return shortest ? steps : 0;
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
                              .prefetch = values >= VALUES_WORTH_A_THREAD,
                              .lengths = lengths_of(r),
                              .by_group = s->group_batches};
  r->optimizer = r4_optimizer_new(r->size, &optimizer, e);
  r->state.bf16 = task_bf16(s);
  r->batches = r->optimizer ? r4_batches_new(r->train, &batches, e) : NULL;
  if (!r->batches || run_open_phase(r, e)) return e->status;
  double steps = (double)s->epochs * (double)r4_batches_count(r->batches);
  if (s->penalty_every > 1 && (double)s->penalty_every > steps)
    return r4_fail(e, R4_E_ARGUMENT,
                   "penalty.every is %lld, but the run has %g steps: expected that many at most",
                   (long long)s->penalty_every, steps);
  if (validation_prepare(&r->val, r->net, s->eval.batch, s->shards, e)) return e->status;
  r->schedule = task_schedule(s);
  r->penalty_after = task_penalty_after(s, r->train);
  r->chance = pulse_chance(r->train, r->class_weights, r->groups.expected);
  r->state.dual = dual_begin(s->delta, s->delta_rate, task_lambda(s, 0));
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
                   const r4_team *team, r4_error *e)
{
  *r = (struct run){.s = &settings->values,
                    .settings = settings,
                    .folder = folder,
                    .team = team,
                    .log.file = -1,
                    .curves = {.csv.file = -1, .events.file = -1}};
  r4_status s = open_data(r, data, e);
  if (!s) s = open_arrays(r, e);
  if (!s) s = run_check(r, e);
  if (!s) s = open_reach(r, e);
  if (!s) s = word_list_open(&r->words, r->s, r->train, e);
  if (!s) s = open_steps(r, e);
  if (!s) s = identify(r, r->settings, e);
  return s;
}

void run_close(struct run *r)
{
  log_close(&r->log);
  r4_string_free(text_take(&r->lines));
  curves_close(&r->curves);
  validation_close(&r->val);
  shards_free(r->step);
  r4_batches_free(r->batches);
  r4_optimizer_free(r->optimizer);
  word_list_close(&r->words);
  r4_reach_free(r->reach);
  r4_net_free(r->net);
  r4_data_free(r->train);
  r4_mem_free(r->weights);
  r4_mem_free(r->gradient);
  r4_mem_free(r->best);
  r4_mem_free(r->good);
  r4_mem_free(r->index);
  r4_mem_free(r->class_weights);
  groups_close(&r->groups);
  r4_mem_free(r->rates);
  r4_mem_free(r->head_rates);
  r4_string_free(r->text);
  r4_settings_free(r->chosen);
}
