/* What "r4 eval" and "r4 reproduce" measure of a run. */
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "eval/eval.h"

const r4_swapped *eval_swapped(const struct evaluation *v, size_t k)
{
  return v->swapped + k * v->run->seeds;
}

static r4_setting_value setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v;
}

static double eps_of(const struct eval_how *o, const struct evaluation *v)
{
  return o->eps >= 0 ? o->eps : setting(v->run->settings, "eval.eps").real;
}

/* ---- What is kept ---- */

/* Figures with the swap test as it is by itself are worth keeping; those of other data are not. */
static bool may_keep(const struct eval_how *o, const struct evaluation *v)
{
  bool changed = o->set && o->set->n; /* of fewer examples, perhaps */
  return !changed && !o->other_data && v->contents.n && v->contents.kind[0] == R4_FILL_SWAP;
}

/* The most examples whose kappa is asked for. */
static size_t kappa_most(const struct evaluation *v)
{
  int64_t most = setting(v->run->settings, "eval.kappa").whole;
  return most < 0 ? SIZE_MAX : (size_t)most;
}

static r4_swap_options swap_options(const struct evaluation *v)
{
  r4_swap_options o = r4_swap_defaults();
  o.draws = (int)setting(v->run->settings, "eval.draws").whole;
  o.batch = setting(v->run->settings, "eval.batch").whole;
  return o;
}

/* Of all examples and all draws that are asked for: a page keeps figures of fewer. */
static bool is_whole(const struct evaluation *v, const r4_measured *m, r4_split split)
{
  size_t masked = r4_data_mask_count(v->data, split, -1), most = kappa_most(v);
  return m->metrics.masked_examples == (masked < most ? masked : most) &&
         (m->swapped.none || m->swapped.draws == swap_options(v).draws);
}

/* True if seed k need not be measured. What is kept and cannot be taken is named. */
static bool take_kept(const struct eval_how *o, struct evaluation *v, r4_split split, size_t k)
{
  r4_error e = {0};
  r4_measured *m = malloc(sizeof *m);
  r4_status s = m ? r4_measured_load(m, v->run->folder[k], split, v->hash, eps_of(o, v), &e) : R4_E_MEMORY;
  bool whole = !s && is_whole(v, m, split);
  if (s && s != R4_E_IO && s != R4_E_MEMORY) fprintf(stderr, "r4 eval: %s; it is measured again\n", e.text);
  if (whole) v->metrics[k] = m->metrics, v->swapped[k] = m->swapped;
  free(m);
  return whole;
}

/* Where the folder cannot be written, nothing is lost but time. */
static void keep(const struct evaluation *v, r4_split split, size_t k)
{
  r4_measured *m = malloc(sizeof *m);
  if (m) *m = (r4_measured){.metrics = v->metrics[k], .swapped = v->swapped[k]};
  if (m) r4_measured_save(m, v->run->folder[k], split, v->hash, NULL);
  free(m);
}

/* ---- Measuring ---- */

/* What keeps words from being replaced keeps nobody from the other figures. */
static r4_status substitute(struct evaluation *v, const r4_net *net, const r4_model *m, size_t k, r4_error *e)
{
  r4_status s =
    r4_substitution_test(net, r4_model_weights(m), v->data, v->run->settings, &v->substituted[k], e);
  if (!s || s == R4_E_MEMORY) return s;
  if (!k) fprintf(stderr, "r4 eval: %s: no substitution test: %s\n", shown(v->path).text, e->text);
  v->substituted[k].none = "it failed";
  return R4_OK;
}

static size_t asked_for_kappa(const struct evaluation *v)
{
  size_t masked = 0, most = kappa_most(v);
  for (int part = 0; part < R4_SPLITS; part++) masked += r4_data_mask_count(v->data, (r4_split)part, -1);
  return 2 * (masked < most ? masked : most); /* boxes of masks, and of cores */
}

static r4_status measure_model(const struct eval_how *o, struct evaluation *v, const r4_net *net,
                               const r4_model *m, size_t k, r4_error *e)
{
  struct eval_progress *p = v->progress;
  r4_swap_options swap = swap_options(v);
  p->seed = k;
  eval_progress_stage(p, "accuracy and kappa", r4_data_count(v->data) + asked_for_kappa(v));
  r4_status status = r4_evaluate_some(net, r4_model_weights(m), v->data, eps_of(o, v), swap.batch,
                                      kappa_most(v), &v->metrics[k], e);
  for (size_t c = 0; c < v->contents.n && !status; c++) {
    swap.content = v->contents.kind[c];
    swap.donors = v->train;
    eval_progress_stage(p, "swap test", 0);
    status = r4_swap_test(net, r4_model_weights(m), v->data, &swap, v->swapped + c * v->run->seeds + k, e);
  }
  eval_progress_stage(p, "substitution test", 0);
  if (!status && v->words_asked) status = substitute(v, net, m, k, e);
  eval_progress_stage(p, "core sensitivity", 0);
  if (!status && v->noise.asked)
    status = r4_core_sensitivity(net, r4_model_weights(m), v->data, &v->noise.options, &v->sensitivity[k], e);
  eval_progress_stage(p, "pointing games", 0);
  if (!status) status = pointing_measure(v, net, r4_model_weights(m), k, e);
  if (!status) status = by_measure(v, net, r4_model_weights(m), k, e);
  return status;
}

static int measure_seed(const struct eval_how *o, struct evaluation *v, const r4_net *net, size_t k)
{
  const char *path = v->run->model[k];
  char text[R4_ERROR_SIZE + PATH_SIZE];
  r4_error e = {0};
  r4_model *m = run_model(path, net, &e);
  if (!m) return cli_fail("eval", e.status, e.text);
  r4_status status = R4_OK;
  bool agree = o->other_data || run_classes_agree("eval", path, m, v->data);
  if (agree) status = measure_model(o, v, r4_model_net(m), m, k, &e);
  r4_model_free(m);
  snprintf(text, sizeof text, "%s: %s", path, e.text);
  return status ? cli_fail("eval", status, text) : agree ? EXIT_DONE : EXIT_USAGE;
}

static int measure(const struct eval_how *o, struct evaluation *v, r4_split split)
{
  r4_error e = {0};
  struct eval_progress progress;
  int code = EXIT_DONE;
  v->metrics = calloc(v->run->seeds, sizeof *v->metrics);
  v->swapped = calloc(v->run->seeds * v->contents.n + 1, sizeof *v->swapped);
  v->sensitivity = calloc(v->run->seeds, sizeof *v->sensitivity);
  v->substituted = calloc(v->run->seeds, sizeof *v->substituted);
  v->pointed = calloc(v->run->seeds * MOST_POINTING, sizeof *v->pointed);
  if (!v->metrics || !v->swapped || !v->sensitivity || !v->substituted || !v->pointed)
    return cli_fail("eval", R4_E_MEMORY, "");
  r4_net *net = r4_settings_net(v->run->settings, v->data, &e);
  if (!net) return cli_fail("eval", e.status, e.text);
  v->progress = &progress;
  eval_progress_begin(&progress, v);
  for (size_t k = 0; k < v->run->seeds && !code; k++) {
    if (o->kept && may_keep(o, v) && take_kept(o, v, split, k)) continue;
    code = measure_seed(o, v, net, k);
    if (!code && may_keep(o, v)) keep(v, split, k);
    v->measured++;
  }
  eval_progress_end(&progress);
  r4_net_free(net);
  if (!code) r4_summarize(v->metrics, v->run->seeds, &v->summary);
  return code;
}

static int measure_part(const struct eval_how *o, struct evaluation *v, const r4_data *all, r4_split split)
{
  r4_error e = {0};
  v->data = r4_data_part(all, split, &e);
  if (!v->data) return cli_fail("eval", e.status, e.text);
  if (!r4_data_count(v->data)) return run_no_examples("eval", v->path, v->split, all);
  v->train = r4_data_part(all, R4_TRAIN, &e);
  if (!v->train) return cli_fail("eval", e.status, e.text);
  if (!r4_data_mask_count(all, split, -1)) v->elsewhere = r4_data_mask_count(all, R4_TRAIN, -1);
  r4_data_hash(v->data, v->hash);
  int code = by_open(v);
  return code ? code : measure(o, v, split);
}

static void tell_missing(const struct evaluation *v)
{
  for (size_t k = 0; k < v->run->missing; k++)
    fprintf(stderr, "r4 eval: %s: seed %lld has no model yet and is left out\n", shown(v->path).text,
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
      fprintf(stderr, "r4 eval: --set %s: is no setting of an evaluation: expected eval.eps, eval.batch, eval.kappa, "
                      "eval.draws or data.cache\n", shown(assignment).text);
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
  r4_data *all = v->run ? run_data("eval", v->run, o->data, o->other_data, &code) : NULL;
  if (all) code = measure_part(o, v, all, split);
  r4_data_free(all);
  return !code && v->summary.constant ? EXIT_NO : code;
}

void eval_forget(struct evaluation *v)
{
  r4_data_free(v->data);
  r4_data_free(v->train);
  free(v->metrics);
  free(v->swapped);
  free(v->sensitivity);
  free(v->substituted);
  free(v->pointed);
  by_close(v);
  runs_free(v->run);
}
