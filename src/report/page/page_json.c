/* All figures for machines, seed by seed: a script that does not run, which the page offers as a file. */
#include "base/json.h"
#include "report/ablation.h"
#include "report/page/page.h"

static void add_real(struct json_writer *w, const char *key, double v)
{
  jw_key(w, key);
  jw_real(w, v);
}

static void add_text(struct json_writer *w, const char *key, const char *text)
{
  jw_key(w, key);
  jw_text(w, text);
}

static void add_seed(struct json_writer *w, int64_t seed, const r4_metrics *m)
{
  jw_open(w, '{');
  jw_key(w, "seed");
  jw_whole(w, seed);
  add_real(w, "accuracy", m->accuracy);
  add_real(w, "avg_group_accuracy", m->avg_group_accuracy);
  add_real(w, "worst_group_accuracy", m->worst_group_accuracy);
  add_real(w, "eps", m->eps);
  add_real(w, "kappa_masked_max", m->kappa_masked_max);
  add_real(w, "kappa_masked_mean", m->kappa_masked_mean);
  add_real(w, "kappa_core_max", m->kappa_core_max);
  add_real(w, "kappa_core_mean", m->kappa_core_mean);
  jw_key(w, "kappa_examples");
  jw_whole(w, (int64_t)m->masked_examples);
  jw_key(w, "group_accuracy");
  jw_open(w, '[');
  for (size_t g = 0; g < m->groups; g++) jw_real(w, m->group_accuracy[g]);
  jw_close(w, ']');
  jw_close(w, '}');
}

static void add_run(struct json_writer *w, const r4_report_run *r, const struct page_end *end)
{
  jw_break(w);
  jw_open(w, '{');
  add_text(w, "name", r->name);
  add_text(w, "method", page_method(r));
  if (r->other_data) add_text(w, "other_data", page_about(r->other_data).text);
  jw_key(w, "unpenalised_seeds");
  jw_whole(w, (int64_t)end->unpenalised);
  jw_key(w, "seeds");
  jw_open(w, '[');
  for (size_t k = 0; k < r->seeds; k++) add_seed(w, r->seed[k], &r->measured[k].metrics);
  jw_close(w, ']');
  jw_close(w, '}');
}

static void add_point(struct json_writer *w, const struct ablation_point *p)
{
  jw_open(w, '{');
  add_text(w, "x", p->x);
  if (p->y) add_text(w, "y", p->y);
  add_real(w, "worst_group_accuracy", p->worst.mean);
  add_real(w, "worst_group_accuracy_sd", p->worst.sd);
  add_real(w, "kappa_masked_max", p->kappa.mean);
  add_real(w, "kappa_masked_max_sd", p->kappa.sd);
  jw_close(w, '}');
}

static void add_ablation(struct json_writer *w, const r4_ablation *a)
{
  jw_break(w);
  jw_open(w, '{');
  add_text(w, "experiment", a->experiment);
  add_text(w, "ablation", a->name);
  jw_key(w, "seeds");
  jw_whole(w, a->seeds);
  jw_key(w, "lines");
  jw_open(w, '[');
  for (const struct ablation_line *l = a->line; l < a->line + a->lines; l++) {
    jw_open(w, '{');
    add_text(w, "name", l->name);
    add_text(w, "panel", l->panel);
    add_text(w, "x", l->x);
    if (l->y) add_text(w, "y", l->y);
    jw_key(w, "points");
    jw_open(w, '[');
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
  jw_open(&w, '{');
  add_text(&w, "r4", R4_VERSION);
  add_text(&w, "data", page_about(r4_data_about(p->d)).text);
  add_text(&w, "data_sha256", hash);
  jw_key(&w, "groups");
  jw_open(&w, '[');
  for (size_t g = 0; g < r4_data_groups(p->d); g++) jw_text(&w, r4_data_group_name(p->d, g));
  jw_close(&w, ']');
  jw_key(&w, "runs");
  jw_open(&w, '[');
  for (size_t k = 0; k < p->runs + p->others; k++) add_run(&w, &p->run[k], &p->end[k]);
  jw_close(&w, ']');
  if (p->o->ablations) jw_key(&w, "ablations");
  if (p->o->ablations) jw_open(&w, '[');
  for (size_t k = 0; k < p->o->ablations; k++) add_ablation(&w, p->o->ablation[k]);
  if (p->o->ablations) jw_close(&w, ']');
  jw_close(&w, '}');
  char *text = text_take(&w.text);
  p->h->text.failed |= !text;
  if (text) html_json(p->h, "figures", text);
  r4_string_free(text);
}
