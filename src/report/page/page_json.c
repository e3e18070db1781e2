/* All figures for machines, seed by seed: a script that does not run, which the page offers as a file. */
#include "base/json.h"
#include "report/page/page.h"
#include "report/plot/ablation.h"

static void add_seed(struct json_writer *w, int64_t seed, const r4_measured *all)
{
  const r4_metrics *m = &all->metrics;
  jw_open(w, NULL, '{');
  jw_whole(w, "seed", seed);
  for (size_t k = 0; k < all->values; k++) jw_real(w, all->value[k].key, all->value[k].value);
  jw_real(w, "eps", m->eps);
  jw_whole(w, "kappa_examples", (int64_t)m->masked_examples);
  jw_open(w, "group_accuracy", '[');
  for (size_t g = 0; g < m->groups; g++) jw_real(w, NULL, m->group_accuracy[g]);
  jw_close(w, ']');
  jw_close(w, '}');
}

static void add_run(struct json_writer *w, const r4_report_run *r, const struct page_end *end)
{
  jw_break(w);
  jw_open(w, NULL, '{');
  jw_text(w, "name", r->name);
  jw_text(w, "method", page_method(r));
  if (r->other_data) jw_text(w, "other_data", page_about(r->other_data).text);
  jw_whole(w, "unpenalised_seeds", (int64_t)end->unpenalised);
  jw_real(w, "validation_lost_share", end->found.validation);
  jw_text(w, "verdict", r4_verdict_name(end->found.verdict));
  jw_flag(w, "swap_hides", end->found.hidden);
  jw_flag(w, "masks_doubtful", end->found.doubtful);
  jw_open(w, "seeds", '[');
  for (size_t k = 0; k < r->seeds; k++) add_seed(w, r->seed[k], &r->measured[k]);
  jw_close(w, ']');
  jw_close(w, '}');
}

static void add_point(struct json_writer *w, const struct ablation_point *p)
{
  jw_open(w, NULL, '{');
  jw_text(w, "x", p->x);
  if (p->y) jw_text(w, "y", p->y);
  jw_real(w, "worst_group_accuracy", p->worst.mean);
  jw_real(w, "worst_group_accuracy_sd", p->worst.sd);
  jw_real(w, "kappa_masked_max", p->kappa.mean);
  jw_real(w, "kappa_masked_max_sd", p->kappa.sd);
  jw_close(w, '}');
}

static void add_ablation(struct json_writer *w, const r4_ablation *a)
{
  jw_break(w);
  jw_open(w, NULL, '{');
  jw_text(w, "experiment", a->experiment);
  jw_text(w, "ablation", a->name);
  jw_whole(w, "seeds", a->seeds);
  jw_open(w, "lines", '[');
  for (const struct ablation_line *l = a->line; l < a->line + a->lines; l++) {
    jw_open(w, NULL, '{');
    jw_text(w, "name", l->name);
    jw_text(w, "panel", l->panel);
    jw_text(w, "x", l->x);
    if (l->y) jw_text(w, "y", l->y);
    jw_open(w, "points", '[');
    for (size_t k = 0; k < l->points; k++) add_point(w, &l->point[k]);
    jw_close(w, ']');
    jw_close(w, '}');
  }
  jw_close(w, ']');
  jw_close(w, '}');
}

void page_json(const struct page *p)
{
  struct json_writer w = {0};
  char hash[R4_HASH_SIZE];
  r4_data_hash(p->d, hash);
  jw_open(&w, NULL, '{');
  jw_text(&w, "r4", R4_VERSION);
  jw_text(&w, "data", page_about(r4_data_about(p->d)).text);
  jw_text(&w, "data_sha256", hash);
  jw_open(&w, "groups", '[');
  for (size_t g = 0; g < r4_data_groups(p->d); g++) jw_text(&w, NULL, r4_data_group_name(p->d, g));
  jw_close(&w, ']');
  jw_open(&w, "runs", '[');
  for (size_t k = 0; k < p->runs + p->others; k++) add_run(&w, &p->run[k], &p->end[k]);
  jw_close(&w, ']');
  if (p->o->ablations) jw_open(&w, "ablations", '[');
  for (size_t k = 0; k < p->o->ablations; k++) add_ablation(&w, p->o->ablation[k]);
  if (p->o->ablations) jw_close(&w, ']');
  jw_close(&w, '}');
  char *text = text_take(&w.text);
  p->h->text.failed |= !text;
  if (text) html_json(p->h, "figures", text);
  r4_string_free(text);
}
