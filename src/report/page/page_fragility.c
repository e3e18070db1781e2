/* Fragility: how much what is masked could matter at most, beside what is not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page/page.h"

struct measure {
  const char *name;
  size_t offset; /* in a summary */
};

static r4_mean_sd value(const r4_summary *s, const struct measure *m)
{
  return *(const r4_mean_sd *)((const char *)s + m->offset);
}

static const struct measure MASKED_MAX = {"masked, largest", offsetof(r4_summary, kappa_masked_max)},
                            MASKED_MEAN = {"masked, mean", offsetof(r4_summary, kappa_masked_mean)},
                            CORE_MAX = {"core, largest", offsetof(r4_summary, kappa_core_max)},
                            CORE_MEAN = {"core, mean", offsetof(r4_summary, kappa_core_mean)};

static void add_table(const struct page *p)
{
  struct html *h = p->h;
  const struct measure *const list[] = {&MASKED_MAX, &MASKED_MEAN, &CORE_MAX, &CORE_MEAN};
  page_table_begin(h, "kappa: width of the bounds of the input gradient");
  page_head(h, "run", false);
  for (size_t k = 0; k < 4; k++) page_head(h, list[k]->name, true);
  page_head(h, "ratio, largest", true);
  page_head(h, "ratio, mean", true);
  page_head(h, "examples", true);
  page_body(h);
  for (size_t r = 0; r < p->runs; r++) {
    const r4_summary *s = &p->summary[r];
    char count[32];
    page_row(h, p->run[r].name);
    for (size_t k = 0; k < 4; k++) page_cell(h, figure_real_sd(value(s, list[k]), p->run[r].seeds, 3).s);
    page_cell(h, figure_real(s->kappa_masked_max.mean / s->kappa_core_max.mean, 3).s);
    page_cell(h, figure_real(s->kappa_masked_mean.mean / s->kappa_core_mean.mean, 3).s);
    snprintf(count, sizeof count, "%zu", p->run[r].measured->metrics.masked_examples);
    page_cell(h, count);
  }
  page_table_end(h);
}

static void add_dots(const struct page *p)
{
  static const char title[] = "kappa inside the masks, largest over examples and features";
  size_t letters = 0;
  for (size_t k = 0; k < p->runs; k++) {
    size_t n = strlen(figure_real_sd(value(&p->summary[k], &MASKED_MAX), p->run[k].seeds, 3).s);
    if (n > letters) letters = n;
  }
  struct bars bars = bars_of(p->h, BAR_DOT, letters, scale_empty(true));
  for (size_t k = 0; k < p->runs; k++) bars_fit(&bars, p->run[k].name);
  for (size_t k = 0; k < p->runs; k++) scale_cover(&bars.plane.x, value(&p->summary[k], &MASKED_MAX).mean);
  scale_round(&bars.plane.x);
  page_figure_begin(p->h, "fragility", title);
  bars_begin(&bars, p->runs, title, "steps are powers of ten");
  for (size_t k = 0; k < p->runs; k++) {
    r4_mean_sd v = value(&p->summary[k], &MASKED_MAX);
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
    r4_mean_sd v = value(&p->summary[k], &MASKED_MAX);
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
        "<p class=\"warn\">%zu of %zu seeds of %s give one answer to everything: their kappa, the best of "
        "all, means nothing.</p>\n",
        p->summary[k].constant, p->summary[k].seeds, p->run[k].name);
}

r4_status page_fragility(const struct page *p, r4_error *e)
{
  (void)e;
  const r4_metrics *m = &p->run[0].measured->metrics;
  if (!m->masked_examples) {
    html_add(
      p->h, "<p class=\"missing\">No test example has a mask: there is no box in which masked features could "
            "move, and no kappa.</p>\n");
    return R4_OK;
  }
  html_add(
    p->h,
    "<p>kappa is the width of the bounds of the gradient of the loss while the masked features of an example "
    "move by up to eps (%.3g): how much they could matter at most, for any content nearby. <em>Core</em> is "
    "the same for all other features. A net that does not look at the masks has a small ratio of the two. "
    "The bounds hold in real arithmetic: rounding is left out.</p>\n",
    m->eps);
  if (r4_data_vocabulary(p->d))
    html_add(p->h,
             "<p>Each net has its own scale of vectors of words, and eps is far in one and near in another: "
             "kappas of texts do not tell which net the words matter to more; the swap test does.</p>\n");
  warn_constant(p);
  add_table(p);
  page_grid_begin(p->h);
  add_dots(p);
  page_grid_end(p->h);
  return R4_OK;
}
