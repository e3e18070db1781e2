/* The answer, first: does a net use what is masked? In numbers that need no theory: the worst group, and right answers
 * that are lost when the content of the masks changes. */
#include <math.h>

#include "report/page.h"
#include "report/page_swap.h"

enum { MOST_NAMED = 3 };

/* ---- The worst group ---- */

static void add_percent(const struct page *p, double share)
{
  html_add(p->h, "<b>%s\u00a0%%</b>", figure_share(share).s);
}

static void add_worst(const struct page *p, size_t k)
{
  html_add(p->h, "%s\u2019s worst group is ", p->run[k].name);
  add_percent(p, p->summary[k].worst.mean);
}

struct range {
  size_t n, low, high; /* runs, and those with the least and the largest */
};

static struct range find_range(const struct page *p, bool masks)
{
  struct range r = {0};
  for (size_t k = 0; k < p->runs; k++) {
    if (page_uses_masks(&p->run[k]) != masks) continue;
    double v = p->summary[k].worst.mean;
    if (!r.n || v < p->summary[r.low].worst.mean) r.low = k;
    if (!r.n || v > p->summary[r.high].worst.mean) r.high = k;
    r.n++;
  }
  return r;
}

/* Each by name if they are few, otherwise from where to where they reach. */
static void add_kind(const struct page *p, bool masks)
{
  struct range r = find_range(p, masks);
  size_t said = 0;
  if (!r.n) return;
  html_add(p->h, "<p class=\"verdict\">%s masks: ", masks ? "Trained with" : "Trained without");
  if (r.n > MOST_NAMED) {
    html_add(p->h, "the worst group is between ");
    add_percent(p, p->summary[r.low].worst.mean);
    html_add(p->h, " (%s) and ", p->run[r.low].name);
    add_percent(p, p->summary[r.high].worst.mean);
    html_add(p->h, " (%s)", p->run[r.high].name);
  }
  for (size_t k = 0; k < p->runs && r.n <= MOST_NAMED; k++) {
    if (page_uses_masks(&p->run[k]) != masks) continue;
    html_add(p->h, "%s", !said++ ? "" : said == r.n ? " and " : ", ");
    add_worst(p, k);
  }
  html_add(p->h, ".</p>\n");
}

/* ---- The shortcut ---- */

/* Where a share of lost answers begins to mean something. */
static const double USES = 0.1, A_LITTLE = 0.02;

static void add_use(const struct page *p, size_t k)
{
  r4_mean_sd lost = swap_lost(&p->run[k], -1);
  html_add(p->h, "<li><b class=\"%s\">%s %s</b>: ", lost.mean >= A_LITTLE ? "wrong" : "right", p->run[k].name,
           lost.mean >= USES       ? "uses what is masked"
           : lost.mean >= A_LITTLE ? "uses what is masked a little"
                                   : "does not use what is masked, as far as this test sees");
  html_add(p->h, "%s\u00a0%% of its right answers are lost</li>\n", figure_share_sd(lost, p->run[k].seeds).s);
}

static void add_uses(const struct page *p)
{
  const char *none = swap_none(&p->run[0]);
  if (none) {
    html_add(p->h,
             "<p class=\"missing\">Whether a net uses what is masked is not tested, as %s: the worst group "
             "is all that "
             "speaks for or against it.</p>\n",
             none);
    return;
  }
  html_add(
    p->h,
    "<p><a href=\"#swap\">The swap test</a> replaces the masked content of each test example by that of an "
    "example of another class. Here a net is said to use what is masked if that costs it at least "
    "%.0f\u00a0%% of its right answers, and to use it a little from %.0f\u00a0%% on:</p>\n<ul "
    "class=\"uses\">\n",
    100 * USES, 100 * A_LITTLE);
  for (size_t k = 0; k < p->runs; k++) add_use(p, k);
  html_add(p->h, "</ul>\n");
}

/* ---- What else must be known ---- */

static void add_notes(const struct page *p)
{
  for (size_t k = 0; k < p->runs; k++)
    if (p->summary[k].constant)
      html_add(p->h, "<p class=\"warn\">%zu of %zu seeds of %s give one answer to everything.</p>\n",
               p->summary[k].constant, p->summary[k].seeds, p->run[k].name);
  for (size_t k = 0; k < p->o->notes; k++) html_add(p->h, "<p class=\"warn\">%s</p>\n", p->o->note[k]);
}

static void add_others(const struct page *p)
{
  if (!p->others) return;
  page_table_begin(p->h,
                   "Measured on other data, and not to be compared with the rest of the page; in per cent");
  page_head(p->h, "run", false);
  page_head(p->h, "data", false);
  page_head(p->h, "mean over groups", true);
  page_head(p->h, "worst group", true);
  page_body(p->h);
  for (size_t k = 0; k < p->others; k++) {
    const r4_summary *s = &p->summary[p->runs + k];
    page_row(p->h, p->other[k].name);
    html_add(p->h, "<td>%s</td>", p->other[k].other_data);
    page_cell(p->h, figure_share_sd(s->avg, s->seeds).s);
    page_cell(p->h, figure_share_sd(s->worst, s->seeds).s);
  }
  page_table_end(p->h);
}

r4_status page_answer(const struct page *p, r4_error *e)
{
  (void)e;
  add_kind(p, false);
  add_kind(p, true);
  html_add(
    p->h,
    "<p>That is the share of right answers in the group of test examples that fares worst, as a mean over "
    "seeds.</p>\n");
  add_uses(p);
  add_notes(p);
  add_others(p);
  return R4_OK;
}
