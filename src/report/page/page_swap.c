/* The swap test: of the answers that are right, how many are lost when masked content comes from another class? */
#include "report/page/page_swap.h"

#include <math.h>
#include <stdio.h>

/* ---- Over seeds ---- */

const char *swap_none(const r4_report_run *r)
{
  return r->measured->swapped->none;
}

static double found_of(const r4_swapped *s, int32_t group)
{
  double sum = 0;
  for (size_t g = 0; g < s->groups; g++)
    if (group < 0 || g == (size_t)group) sum += (double)s->found[g];
  return sum;
}

static double lost_of(const r4_swapped *s, int32_t group)
{
  double sum = 0;
  for (size_t g = 0; g < s->groups; g++)
    if (group < 0 || g == (size_t)group) sum += s->lost[g];
  return sum;
}

r4_mean_sd swap_lost(const r4_report_run *r)
{
  return r4_value_over(r->measured, r->seeds, "swap_lost_share");
}

r4_mean_sd swap_removed(const r4_report_run *r)
{
  return r4_value_over(r->measured, r->seeds, "removed_lost_share");
}

static double mean_over_seeds(const r4_report_run *r, double (*of)(const r4_swapped *, int32_t),
                              int32_t group)
{
  double sum = 0;
  for (size_t k = 0; k < r->seeds; k++) sum += of(r->measured[k].swapped, group);
  return sum / (double)r->seeds;
}

/* ---- The section ---- */

/* What was done, to how many. */
static void add_words(const struct page *p)
{
  const r4_swapped *s = p->run[0].measured->swapped;
  html_add(
    p->h,
    "<p>The masked content of each %s example is replaced by that of an example of another class, drawn at random; "
    "figures are means over %d draws. Only what must not matter changes, so a net that ignores it predicts the same. "
    "%zu of %zu examples were tested",
    page_split(p), s->draws, s->inside + s->pasted, r4_data_count(p->d));
  if (s->pasted)
    html_add(p->h, ", of which %zu have no mask and get the content where the donor has it", s->pasted);
  html_add(p->h, ".</p>\n");
}

static double removed_found_of(const r4_swapped *s, int32_t group)
{
  double sum = 0;
  for (size_t g = 0; g < s->groups; g++)
    if (group < 0 || g == (size_t)group) sum += (double)s->removed_found[g];
  return sum;
}

/* "Removal: ...", of classes whose masked content no other has. */
static void add_removal(const struct page *p)
{
  const r4_swapped *s = p->run[0].measured->swapped;
  if (!s->removed) return;
  html_add(p->h,
           "<p>An exchange cannot show whether a net needs content that other classes hardly have. On %zu examples "
           "with a mask it is replaced by what an example of another class has in that place. Of correct predictions "
           "are then lost:</p>\n<ul>\n",
           s->removed);
  for (size_t k = 0; k < p->runs; k++)
    html_add(p->h, "<li>%s: <b>%s\u00a0%%</b> of %s</li>\n", p->run[k].name,
             figure_share_sd(swap_removed(&p->run[k]), p->run[k].seeds).s,
             figure_real(mean_over_seeds(&p->run[k], removed_found_of, -1), 7).s);
  html_add(p->h, "</ul>\n");
}

static void add_sentence(const struct page *p, const r4_report_run *r)
{
  html_add(p->h, "<li>Of %s examples that %s classifies correctly, <b>%s are lost</b> (%s\u00a0%%).</li>\n",
           figure_real(mean_over_seeds(r, found_of, -1), 7).s, r->name,
           figure_real(mean_over_seeds(r, lost_of, -1), 4).s,
           figure_share_sd(swap_lost(r), r->seeds).s);
}

/* "89 of 95", mean over seeds. */
static void add_group(const struct page *p, const r4_report_run *r, int32_t group)
{
  double found = mean_over_seeds(r, found_of, group);
  char text[64];
  snprintf(text, sizeof text, "%.20s of %.20s", figure_real(mean_over_seeds(r, lost_of, group), 4).s,
           figure_real(found, 7).s);
  page_cell(p->h, found > 0 ? text : "none");
}

static void add_table(const struct page *p, const struct shown_groups *shown)
{
  page_table_begin(p->h, "Correct predictions lost, by group");
  page_head(p->h, "group", false);
  for (size_t k = 0; k < p->runs; k++) page_head(p->h, p->run[k].name, true);
  page_body(p->h);
  for (size_t i = 0; i < shown->n; i++) {
    page_row(p->h, page_group_name(p, shown->list[i]));
    for (size_t k = 0; k < p->runs; k++) add_group(p, &p->run[k], (int32_t)shown->list[i]);
  }
  page_table_end(p->h);
}

static void add_bars(const struct page *p)
{
  static const char title[] = "Correct predictions lost, in per cent";
  struct bars bars = bars_of(p->h, BAR_WHOLE, 11, (struct scale){.high = 100});
  for (size_t k = 0; k < p->runs; k++) bars_fit(&bars, p->run[k].name);
  page_figure_begin(p->h, "swap", title);
  bars_begin(&bars, p->runs, title, "");
  for (size_t k = 0; k < p->runs; k++) {
    r4_mean_sd v = swap_lost(&p->run[k]), percent = {100 * v.mean, 100 * v.sd};
    bars_row(&bars, k, p->run[k].name, percent, figure_share_sd(v, p->run[k].seeds).s);
  }
  bars_end(&bars);
  page_figure_numbers(p->h);
  page_table_begin(p->h, title);
  page_head(p->h, "run", false);
  page_head(p->h, "correct before", true);
  page_head(p->h, "lost", true);
  page_head(p->h, "lost, per cent", true);
  page_body(p->h);
  for (size_t k = 0; k < p->runs; k++) {
    page_row(p->h, p->run[k].name);
    page_cell(p->h, figure_real(mean_over_seeds(&p->run[k], found_of, -1), 7).s);
    page_cell(p->h, figure_real(mean_over_seeds(&p->run[k], lost_of, -1), 4).s);
    page_cell(p->h, figure_share_sd(swap_lost(&p->run[k]), p->run[k].seeds).s);
  }
  page_table_end(p->h);
  page_figure_end(p->h);
}

r4_status page_swap(const struct page *p, r4_error *e)
{
  struct shown_groups shown = {0};
  const char *none = swap_none(&p->run[0]);
  if (none) {
    html_add(p->h, "<p class=\"missing\">Nothing can be swapped, as %s.</p>\n", none);
    return R4_OK;
  }
  r4_status s = page_choose_groups(p, &shown, e);
  if (s) return s;
  add_words(p);
  html_add(p->h, "<ul>\n");
  for (size_t k = 0; k < p->runs; k++) add_sentence(p, &p->run[k]);
  html_add(p->h, "</ul>\n");
  add_table(p, &shown);
  add_removal(p);
  page_grid_begin(p->h);
  add_bars(p);
  page_grid_end(p->h);
  return R4_OK;
}
