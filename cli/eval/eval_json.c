/* "r4 eval --json". Accuracies are shares, from 0 to 1. A figure that does not exist is null: kappa without masks, the
 * accuracy of a group without examples. An infinite one is the text "inf". */
#include "eval/eval.h"
#include "experiment/figures.h"

/* As training left it; null for runs without one. */
static void add_outcome(r4_json *w, const struct evaluation *v, size_t k)
{
  const r4_outcome *o = &v->outcomes.of[k];
  if (!v->outcomes.known[k]) {
    r4_json_text(w, "outcome", NULL);
    return;
  }
  r4_json_open(w, "outcome", '{');
  r4_json_text(w, "verdict", r4_verdict_name(o->verdict));
  r4_json_real(w, "lost", o->lost);
  r4_json_real(w, "lost_error", o->lost_error);
  r4_json_whole(w, "exchanged", o->exchanged);
  r4_json_whole(w, "steps", o->steps);
  r4_json_whole(w, "penalised_steps", o->penalised);
  r4_json_flag(w, "unpenalised", o->unpenalised);
  r4_json_flag(w, "doubtful", o->doubtful);
  r4_json_close(w, '}');
}

static void add_seed(r4_json *w, const struct evaluation *v, size_t k)
{
  r4_json_open(w, NULL, '{');
  r4_json_whole(w, "seed", v->run->seed[k]);
  rows_add_seed_json(w, v, k);
  json_answers(w, &v->measured[k].metrics.answers, v->data);
  swap_add_seed_json(w, v, k);
  add_outcome(w, v, k);
  r4_json_close(w, '}');
}

static void add_summary(r4_json *w, const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  rows_add_json(w, v);
  r4_json_real(w, "worst_group_of_means_accuracy", s->group[s->worst_mean_group].mean);
  r4_json_whole(w, "masked_examples", (int64_t)v->measured->metrics.masked_examples);
  r4_json_whole(w, "core_examples", (int64_t)v->measured->metrics.core_examples);
  r4_json_flag(w, "constant", s->constant > 0);
  r4_json_whole(w, "constant_seeds", (int64_t)s->constant);
  r4_json_whole(w, "unpenalised_seeds", (int64_t)v->outcomes.unpenalised);
  swap_add_json(w, v);
  words_add_json(w, v);
  noise_add_json(w, v);
  pointing_add_json(w, v);
  by_add_json(w, v);
  r4_json_open(w, "group_accuracy", '{');
  for (size_t g = 0; g < s->groups; g++) r4_json_real(w, r4_data_group_name(v->data, g), s->group[g].mean);
  r4_json_close(w, '}');
}

int eval_print_json(const struct evaluation *v, const struct evaluation *first)
{
  r4_json *w = r4_json_new();
  r4_setting_value method = {0};
  r4_settings_get(v->run->settings, "method", &method, NULL);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "run", v->path);
  r4_json_text(w, "method", method.text);
  r4_json_text(w, "split", v->split);
  r4_json_whole(w, "examples", (int64_t)r4_data_count(v->data));
  r4_json_text(w, "data_sha256", v->hash);
  r4_json_real(w, "eps", v->measured->metrics.eps);
  add_summary(w, v);
  predicted_add_json(w, v, first);
  r4_json_open(w, "seeds_without_model", '[');
  for (size_t k = 0; k < v->run->missing; k++) r4_json_whole(w, NULL, v->run->missing_seed[k]);
  r4_json_close(w, ']');
  r4_json_open(w, "seeds", '[');
  for (size_t k = 0; k < v->run->seeds; k++) add_seed(w, v, k);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(stdout, "eval", w);
}
