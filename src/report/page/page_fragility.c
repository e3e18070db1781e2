/* Fragility: how much what is masked could matter at most, beside what is not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page/page.h"

static r4_mean_sd masked_of(const r4_report_run *r)
{
  return r4_value_over(r->measured, r->seeds, "kappa_masked_max");
}

static double ratio_of(const r4_report_run *r, const char *masked, const char *core)
{
  return r4_value_over(r->measured, r->seeds, masked).mean / r4_value_over(r->measured, r->seeds, core).mean;
}

static void add_table(const struct page *p)
{
  struct html *h = p->h;
  const struct page_values v = page_topic(p, R4_TOPIC_FRAGILITY);
  page_topic_begin(p, &v, "kappa: width of the bounds of the input gradient, the largest and the mean");
  page_head(h, "ratio", true);
  page_head(h, "ratio, mean", true);
  page_head(h, "examples", true);
  page_body(h);
  for (const r4_report_run *r = p->run; r < p->run + p->runs; r++) {
    char count[32];
    page_topic_row(p, &v, r);
    page_cell(h, figure_real(ratio_of(r, "kappa_masked_max", "kappa_core_max"), 3).s);
    page_cell(h, figure_real(ratio_of(r, "kappa_masked_mean", "kappa_core_mean"), 3).s);
    snprintf(count, sizeof count, "%zu", r->measured->metrics.masked_examples);
    page_cell(h, count);
  }
  page_table_end(h);
}

static void add_dots(const struct page *p)
{
  static const char title[] = "kappa inside the masks, largest over examples and features";
  size_t letters = 0;
  for (size_t k = 0; k < p->runs; k++) {
    size_t n = strlen(figure_real_sd(masked_of(&p->run[k]), p->run[k].seeds, 3).s);
    if (n > letters) letters = n;
  }
  struct bars bars = bars_of(p->h, BAR_DOT, letters, scale_empty(true));
  for (size_t k = 0; k < p->runs; k++) bars_fit(&bars, p->run[k].name);
  for (size_t k = 0; k < p->runs; k++) scale_cover(&bars.plane.x, masked_of(&p->run[k]).mean);
  scale_round(&bars.plane.x);
  page_figure_begin(p->h, "fragility", title);
  bars_begin(&bars, p->runs, title, "each step is ten times the one before");
  for (size_t k = 0; k < p->runs; k++) {
    r4_mean_sd v = masked_of(&p->run[k]);
    bars_row(&bars, k, p->run[k].name, v, figure_real_sd(v, p->run[k].seeds, 3).s);
  }
  bars_end(&bars);
  page_figure_numbers(p->h);
  page_table_begin(p->h, title);
  page_head(p->h, "run", false);
  page_head(p->h, "kappa", true);
  page_head(p->h, "standard deviation", true);
  page_body(p->h);
  for (size_t k = 0; k < p->runs; k++) {
    r4_mean_sd v = masked_of(&p->run[k]);
    page_row(p->h, p->run[k].name);
    page_cell(p->h, figure_real(v.mean, 4).s);
    page_cell(p->h, p->run[k].seeds > 1 ? figure_real(v.sd, 2).s : "none");
  }
  page_table_end(p->h);
  page_figure_end(p->h);
}

static void warn_constant(const struct page *p)
{
  for (size_t k = 0; k < p->runs; k++)
    if (p->summary[k].constant)
      html_add(
        p->h,
        "<p class=\"warn\">%zu of %zu seeds of %s collapsed to one class: their kappa means nothing.</p>\n",
        p->summary[k].constant, p->summary[k].seeds, p->run[k].name);
}

r4_status page_fragility(const struct page *p, r4_error *e)
{
  (void)e;
  const r4_metrics *m = &p->run[0].measured->metrics;
  if (!m->masked_examples) {
    html_add(
      p->h,
      "<p class=\"missing\">No %s example has a mask: there is no box in which masked features could move, and no "
      "kappa.</p>\n",
      page_split(p));
    return R4_OK;
  }
  html_add(p->h, "<details class=\"theory\"><summary>How much could the masked part matter at most? For whoever "
                 "compares "
                 "methods: kappa</summary>\n");
  html_add(
    p->h,
    "<p>The masked features of an example may take any values within "
    "eps (%.3g) of their own. kappa bounds how far the gradient of the loss can then change: a small kappa means that "
    "no such content matters much. <em>Core</em> is the same for all other features; a net that ignores what is masked "
    "has a small ratio of the two. A large kappa proves nothing: the bounds of a deep net can be wide although it "
    "ignores the mask, which the swap test then shows. They hold in real arithmetic: rounding is left out.</p>\n",
    m->eps);
  if (r4_data_vocabulary(p->d))
    html_add(p->h,
             "<p>Nets differ in the scale of their word vectors, so the same eps is large for one and small for "
             "another: for texts, compare nets by the swap test, not by kappa.</p>\n");
  warn_constant(p);
  add_table(p);
  page_grid_begin(p->h);
  add_dots(p);
  page_grid_end(p->h);
  html_add(p->h, "</details>\n");
  return R4_OK;
}
