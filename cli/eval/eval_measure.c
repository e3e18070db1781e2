/* What "r4 eval" and "r4 reproduce" measure of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "eval/eval.h"

const r4_swapped *eval_swapped(const struct evaluation *v, size_t k)
{
  return &v->measured->swapped[k];
}

/* Figures with the swap test as it is by itself are worth keeping; those of other data are not. */
static bool may_keep(const struct eval_how *o, const struct evaluation *v)
{
  bool changed = o->set && o->set->n; /* of fewer examples, perhaps */
  return !changed && !o->other_data && v->contents.n && v->contents.kind[0] == R4_FILL_SWAP;
}

/* ---- How it is measured ---- */

static void stage(const char *what, size_t examples, void *user)
{
  eval_progress_stage(user, what, examples);
}

static r4_measure_options options_of(const struct eval_how *o, const struct evaluation *v)
{
  r4_measure_options m = r4_settings_measure(v->run->settings);
  if (o->eps >= 0) m.eps = o->eps;
  if (v->specificity > 0) m.specificity = v->specificity;
  m.swaps = v->contents.n;
  memcpy(m.swap, v->contents.kind, sizeof m.swap);
  m.donors = v->train;
  m.words = v->words_asked ? v->run->settings : NULL;
  m.noise = v->noise.asked ? &v->noise.options : NULL;
  m.pointings = v->pointing ? v->pointing->n : 0;
  for (size_t k = 0; k < m.pointings; k++) m.pointing[k] = v->pointing->method[k];
  m.cover = v->cover;
  m.certify = v->certify;
  m.low = v->valid.there ? v->valid.low : NULL;
  m.high = v->valid.there ? v->valid.high : NULL;
  m.attack = (size_t)v->attack;
  m.predicted = v->predicted;
  m.probabilities = v->said.probability;
  m.stage = stage;
  m.user = v->progress;
  return m;
}

/* ---- What is kept ---- */

/* Of all examples and all draws that are asked for: a page keeps figures of fewer. */
static bool is_whole(const struct evaluation *v, const r4_measure_options *o, const r4_measured *m, r4_split split)
{
  size_t masked = r4_data_mask_count(v->data, split, -1);
  return m->metrics.masked_examples == (masked < o->kappa ? masked : o->kappa) &&
         (m->swapped->none || m->swapped->draws == o->draws);
}

/* True if seed k need not be measured. What is kept and cannot be taken is named. */
static bool take_kept(struct evaluation *v, const r4_measure_options *o, r4_split split, size_t k)
{
  r4_error e = {0};
  r4_status s = r4_measured_load(&v->measured[k], v->run->folder[k], split, v->hash, o->eps, &e);
  if (s && s != R4_E_IO && s != R4_E_MEMORY) fprintf(stderr, "r4 eval: %s; measuring again\n", e.text);
  if (!s) run_add_proved("eval", &v->measured[k], v->run->folder[k], split, v->hash);
  return !s && is_whole(v, o, &v->measured[k], split);
}

/* ---- Measuring ---- */

static int measure_seed(const struct eval_how *o, struct evaluation *v, const r4_net *net, size_t k)
{
  const char *path = v->run->model[k];
  char text[R4_ERROR_SIZE + PATH_SIZE];
  r4_error e = {0};
  r4_model *m = run_model(path, net, &e);
  if (!m) return cli_fail("eval", e.status, e.text);
  r4_status status = R4_OK;
  r4_measure_options how = options_of(o, v);
  bool agree = o->other_data || run_classes_agree("eval", path, m, v->data);
  v->progress->seed = k;
  float *constant = calloc(r4_model_constants(m) + 1, sizeof *constant);
  if (constant && r4_model_constant(m, r4_model_constants(m), constant)) {
    how.constant = constant;
    how.constants = r4_model_constants(m);
  }
  if (agree) status = r4_measure(r4_model_net(m), r4_model_weights(m), v->data, &how, &v->measured[k], &e);
  free(constant);
  r4_model_free(m);
  if (agree && !status) by_count(v, v->predicted, k);
  if (agree && !status) predicted_add(v, k);
  if (!k && *v->measured->no_words)
    fprintf(stderr, "r4 eval: %s: no substitution test: %s\n", shown(v->path).text, v->measured->no_words);
  snprintf(text, sizeof text, "%s: %s", path, e.text);
  return status ? cli_fail("eval", status, text) : agree ? EXIT_DONE : EXIT_USAGE;
}

/* Where the folder of a seed cannot be written, nothing is lost but time. */
static int measure_seeds(const struct eval_how *o, struct evaluation *v, const r4_net *net, r4_split split)
{
  const r4_measure_options how = options_of(o, v);
  int code = EXIT_DONE;
  for (size_t k = 0; k < v->run->seeds && !code; k++) {
    if (o->kept && may_keep(o, v) && take_kept(v, &how, split, k)) continue;
    code = measure_seed(o, v, net, k);
    if (!code && may_keep(o, v)) r4_measured_save(&v->measured[k], v->run->folder[k], split, v->hash, NULL);
    if (!code && may_keep(o, v) && (v->certify || v->cover))
      r4_proved_save(&v->measured[k], v->run->folder[k], split, v->hash, NULL);
    v->new++;
  }
  return code;
}

static int measure(const struct eval_how *o, struct evaluation *v, r4_split split)
{
  r4_error e = {0};
  struct eval_progress progress;
  v->measured = calloc(v->run->seeds, sizeof *v->measured);
  v->predicted = calloc(r4_data_count(v->data), sizeof *v->predicted);
  if (!v->measured || !v->predicted) return cli_fail("eval", R4_E_MEMORY, "");
  r4_net *net = r4_settings_net(v->run->settings, v->data, &e);
  if (!net) return cli_fail("eval", e.status, e.text);
  v->progress = &progress;
  eval_progress_begin(&progress, v);
  int code = predicted_open(v, r4_net_classes(net) > 1 ? (size_t)r4_net_classes(net) : 2);
  if (!code) code = measure_seeds(o, v, net, split);
  if (!code) code = predicted_end(v);
  eval_progress_end(&progress);
  r4_net_free(net);
  if (!code) r4_measured_summary(v->measured, v->run->seeds, &v->summary);
  return code;
}

static int measure_part(const struct eval_how *o, struct evaluation *v, const r4_data *all, r4_split split)
{
  r4_error e = {0};
  int code = EXIT_DONE;
  v->data = run_part("eval", v->path, all, &v->split, &split, &code);
  if (!v->data) return code;
  v->train = r4_data_part(all, R4_TRAIN, &e);
  if (!v->train) return cli_fail("eval", e.status, e.text);
  if (!r4_data_mask_count(all, split, -1)) v->elsewhere = r4_data_mask_count(all, R4_TRAIN, -1);
  r4_data_hash(v->data, v->hash);
  if (v->certify && !box_range("eval", "", v->run->settings, v->data, &v->valid)) return EXIT_USAGE;
  code = by_open(v);
  return code ? code : measure(o, v, split);
}

static void tell_missing(const struct evaluation *v)
{
  for (size_t k = 0; k < v->run->missing; k++)
    fprintf(stderr, "r4 eval: %s: seed %lld has no model yet: left out\n", shown(v->path).text,
            (long long)v->run->missing_seed[k]);
}

/* What is trained stays as it was: only how it is measured can be another. */
static bool is_of_evaluation(const char *assignment)
{
  return !strncmp(assignment, "eval.", 5) || !strncmp(assignment, "data.cache=", 11);
}

static int change_settings(const struct eval_how *o, struct run *run)
{
  r4_error e = {0};
  r4_status s = R4_OK;
  for (size_t k = 0; o->set && k < o->set->n && !s; k++) {
    const char *assignment = o->set->word[k];
    if (!is_of_evaluation(assignment)) {
      fprintf(stderr,
              "r4 eval: --set %s: is not a setting of an evaluation: expected eval.eps, eval.batch, "
              "eval.kappa_examples, eval.draws or data.cache\n",
              shown(assignment).text);
      return EXIT_USAGE;
    }
    s = r4_settings_set(run->settings, assignment, "--set", &e);
  }
  return s ? cli_fail("eval", s, e.text) : EXIT_DONE;
}

int eval_measure(const struct eval_how *o, struct evaluation *v, r4_split split)
{
  int code = EXIT_DONE;
  v->run = runs_open("eval", v->path, &code);
  if (v->run && (code = change_settings(o, v->run))) return code;
  if (v->run && o->seeds) runs_limit(v->run, o->seeds);
  if (v->run) tell_missing(v);
  if (v->run) outcomes_read("eval", v->run, &v->outcomes);
  /* What a loss is due to was asked of the masks of training, not of those of other data. */
  for (size_t k = 0; v->run && o->other_data && k < v->run->seeds; k++)
    v->outcomes.of[k].followed = v->outcomes.of[k].followed_error = NAN;
  r4_data *all = v->run ? run_data("eval", v->run, o->data, o->other_data, &code) : NULL;
  if (all) code = measure_part(o, v, all, split);
  r4_data_free(all);
  return !code && v->summary.constant ? EXIT_NO : code;
}

void eval_forget(struct evaluation *v)
{
  r4_data_free(v->data);
  r4_data_free(v->train);
  free(v->measured);
  free(v->predicted);
  by_close(v);
  predicted_close(v);
  runs_free(v->run);
}
