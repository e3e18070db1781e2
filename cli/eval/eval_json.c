/* "r4 eval --json". Accuracies are shares, from 0 to 1. A figure that does not exist is null: kappa without masks, the
 * accuracy of a group without examples. An infinite one is the text "inf". */
#include "eval/eval.h"
#include "experiment/figures.h"

static void add_group(r4_json *w, const struct evaluation *v, size_t g, double share)
{
  json_real(w, r4_data_group_name(v->data, g), share);
}

/* As training left it; null for runs without one. */
static void add_outcome(r4_json *w, const struct evaluation *v, size_t k)
{
  const r4_outcome *o = &v->outcomes.of[k];
  if (!v->outcomes.known[k]) {
    json_text(w, "outcome", NULL);
    return;
  }
  json_open(w, "outcome", '{');
  json_text(w, "verdict", r4_verdict_name(o->verdict));
  json_real(w, "lost", o->lost);
  json_real(w, "lost_error", o->lost_error);
  json_whole(w, "exchanged", o->exchanged);
  json_whole(w, "steps", o->steps);
  json_whole(w, "penalised_steps", o->penalised);
  json_flag(w, "unpenalised", o->unpenalised);
  r4_json_close(w, '}');
}

static void add_seed(r4_json *w, const struct evaluation *v, size_t k)
{
  const r4_metrics *m = &v->measured[k].metrics;
  r4_json_open(w, '{');
  json_whole(w, "seed", v->run->seed[k]);
  json_open(w, "group_accuracy", '{');
  for (size_t g = 0; g < m->groups; g++) add_group(w, v, g, m->group_accuracy[g]);
  r4_json_close(w, '}');
  json_real(w, "loss", m->loss);
  json_real(w, "accuracy", m->accuracy);
  json_real(w, "avg_group_accuracy", m->avg_group_accuracy);
  json_real(w, "worst_group_accuracy", m->worst_group_accuracy);
  json_answers(w, &m->answers, v->data);
  json_real(w, "kappa_masked_max", m->kappa_masked_max);
  json_real(w, "kappa_masked_mean", m->kappa_masked_mean);
  json_real(w, "kappa_core_max", m->kappa_core_max);
  json_real(w, "kappa_core_mean", m->kappa_core_mean);
  swap_add_seed_json(w, v, k);
  add_outcome(w, v, k);
  r4_json_close(w, '}');
}

static void add_summary(r4_json *w, const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  json_mean_sd(w, "accuracy", s->accuracy);
  json_mean_sd(w, "avg_group_accuracy", s->avg);
  json_mean_sd(w, "worst_group_accuracy", s->worst);
  json_real(w, "worst_group_of_means_accuracy", s->group[s->worst_mean_group].mean);
  json_whole(w, "masked_examples", (int64_t)v->measured->metrics.masked_examples);
  json_whole(w, "core_examples", (int64_t)v->measured->metrics.core_examples);
  json_fragility(w, s);
  json_whole(w, "unpenalised_seeds", (int64_t)v->outcomes.unpenalised);
  swap_add_json(w, v);
  words_add_json(w, v);
  noise_add_json(w, v);
  pointing_add_json(w, v);
  by_add_json(w, v);
  json_open(w, "group_accuracy", '{');
  for (size_t g = 0; g < s->groups; g++) add_group(w, v, g, s->group[g].mean);
  r4_json_close(w, '}');
}

int eval_print_json(const struct evaluation *v)
{
  r4_json *w = r4_json_new();
  r4_setting_value method = {0};
  r4_settings_get(v->run->settings, "method", &method, NULL);
  r4_json_open(w, '{');
  json_text(w, "run", v->path);
  json_text(w, "method", method.text);
  json_text(w, "split", v->split);
  json_whole(w, "examples", (int64_t)r4_data_count(v->data));
  json_text(w, "data_sha256", v->hash);
  json_real(w, "eps", v->measured->metrics.eps);
  add_summary(w, v);
  json_open(w, "seeds_without_model", '[');
  for (size_t k = 0; k < v->run->missing; k++) r4_json_whole(w, v->run->missing_seed[k]);
  r4_json_close(w, ']');
  json_open(w, "seeds", '[');
  for (size_t k = 0; k < v->run->seeds; k++) add_seed(w, v, k);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(stdout, "eval", w);
}
