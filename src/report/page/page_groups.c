/* Accuracy by group: the table of all runs, and bars of each. Of very many groups, the worst and the best. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/page/page.h"

enum { WORST = 12, BEST = 6 };

struct ranked {
  size_t group;
  double accuracy;
};

static int by_accuracy(const void *a, const void *b)
{
  const struct ranked *x = a, *y = b;
  if (x->accuracy != y->accuracy) return x->accuracy < y->accuracy ? -1 : 1;
  return (x->group > y->group) - (x->group < y->group);
}

r4_status page_choose_groups(const struct page *p, struct shown_groups *to, r4_error *e)
{
  size_t groups = p->summary[0].groups;
  struct ranked *ranked = mem_new(groups + 1, sizeof *ranked, "groups", e);
  if (!ranked) return R4_E_MEMORY;
  *to = (struct shown_groups){0};
  for (size_t g = 0; g < groups; g++)
    if (!isnan(p->summary[0].group[g].mean))
      ranked[to->all++] = (struct ranked){g, p->summary[0].group[g].mean};
  if (to->all > PAGE_GROUPS) qsort(ranked, to->all, sizeof *ranked, by_accuracy);
  for (size_t k = 0; k < to->all; k++)
    if (to->all <= PAGE_GROUPS || k < WORST || k >= to->all - BEST) to->list[to->n++] = ranked[k].group;
  r4_mem_free(ranked);
  return R4_OK;
}

static r4_mean_sd at(const struct page *p, size_t run, size_t group)
{
  return p->summary[run].group[group];
}

const char *page_group_name(const struct page *p, size_t g)
{
  const char *name = r4_data_group_name(p->d, g);
  return name ? name : "?";
}

static void add_summary_rows(const struct page *p)
{
  const struct page_values v = page_topic(p, R4_TOPIC_ACCURACY);
  for (size_t k = 0; k < v.n; k++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&v.of[k], label);
    page_row(p->h, label);
    page_cell(p->h, "");
    for (size_t i = 0; i < p->runs; i++) page_cell(p->h, page_value(&p->run[i], &v.of[k]).s);
  }
}

static void add_table(const struct page *p, const struct shown_groups *shown)
{
  struct html *h = p->h;
  char title[80];
  snprintf(title, sizeof title, "Accuracy by group of the %s examples, in per cent", page_split(p));
  page_table_begin(h, title);
  page_head(h, "group", false);
  page_head(h, "examples", true);
  for (size_t k = 0; k < p->runs; k++) page_head(h, p->run[k].name, true);
  page_body(h);
  for (size_t i = 0; i < shown->n; i++) {
    char count[32];
    snprintf(count, sizeof count, "%zu", p->run[0].measured->metrics.group_count[shown->list[i]]);
    page_row(h, page_group_name(p, shown->list[i]));
    page_cell(h, count);
    for (size_t k = 0; k < p->runs; k++)
      page_cell(h, figure_share_sd(at(p, k, shown->list[i]), p->run[k].seeds).s);
  }
  add_summary_rows(p);
  page_table_end(h);
}

/* ---- Bars ---- */

static void add_bars(const struct page *p, size_t run, const struct shown_groups *shown)
{
  const r4_report_run *r = &p->run[run];
  struct bars bars = bars_of(p->h, BAR_WHOLE, r->seeds > 1 ? 11 : 5, (struct scale){.high = 100});
  char title[200], file[200];
  snprintf(title, sizeof title, "%.100s: accuracy by group, in per cent", r->name);
  snprintf(file, sizeof file, "accuracy-%.100s", r->name);
  page_figure_begin(p->h, file, r->name);
  for (size_t i = 0; i < shown->n; i++) bars_fit(&bars, page_group_name(p, shown->list[i]));
  bars_begin(&bars, shown->n, title, "");
  for (size_t i = 0; i < shown->n; i++) {
    r4_mean_sd v = at(p, run, shown->list[i]), percent = {100 * v.mean, 100 * v.sd};
    bars_row(&bars, run, page_group_name(p, shown->list[i]), percent, figure_share_sd(v, r->seeds).s);
  }
  bars_end(&bars);
  page_figure_numbers(p->h);
  page_table_begin(p->h, title);
  page_head(p->h, "group", false);
  page_head(p->h, "accuracy", true);
  page_head(p->h, "standard deviation", true);
  page_body(p->h);
  for (size_t i = 0; i < shown->n; i++) {
    r4_mean_sd v = at(p, run, shown->list[i]);
    page_row(p->h, page_group_name(p, shown->list[i]));
    page_cell(p->h, figure_share(v.mean).s);
    page_cell(p->h, r->seeds > 1 ? figure_share(v.sd).s : "none");
  }
  page_table_end(p->h);
  page_figure_end(p->h);
}

/* "Without test examples, and so without a figure: a, b, c and 4 more." */
static void add_empty(const struct page *p)
{
  enum { NAMED = 3 };
  const r4_metrics *m = &p->run[0].measured->metrics;
  size_t n = 0;
  for (size_t g = 0; g < m->groups; g++) {
    if (m->group_count[g]) continue;
    if (!n) html_add(p->h, "<p class=\"missing\">No %s examples, and so no figure: ", page_split(p));
    if (n < NAMED) html_add(p->h, "%s%s", n ? ", " : "", page_group_name(p, g));
    n++;
  }
  if (n > NAMED) html_add(p->h, " and %zu more", n - NAMED);
  if (n) html_add(p->h, ".</p>\n");
}

r4_status page_groups(const struct page *p, r4_error *e)
{
  struct shown_groups shown = {0};
  r4_status s = page_choose_groups(p, &shown, e);
  if (s) return s;
  html_add(p->h, "<p>Accuracy on the %zu %s examples", r4_data_count(p->d), page_split(p));
  html_add(p->h, ", with the standard deviation over seeds after \u00b1. The worst group is found for each seed by "
                 "itself, then averaged.");
  if (shown.n < shown.all)
    html_add(p->h, " %zu groups: shown are the %d worst and the %d best of %s.", shown.all, WORST, BEST,
             p->run[0].name);
  html_add(p->h, "</p>\n");
  add_empty(p);
  add_table(p, &shown);
  page_grid_begin(p->h);
  for (size_t k = 0; k < p->runs; k++) add_bars(p, k, &shown);
  page_grid_end(p->h);
  return R4_OK;
}
