/* The answer, first: does a net use what is masked? In numbers that need no theory: the worst group, and right answers
 * that are lost when the content of the masks changes. */
#include <math.h>

#include "report/page.h"
#include "report/page_swap.h"

enum { MOST_NAMED = 3 };

/* Where a share of lost answers begins to mean something. */
static const double USES = 0.1, A_LITTLE = 0.02;

enum use { NOT, LITTLE, USE, DEAD, KINDS };

/* Of one run, of several, and whether that is good. */
static const struct {
  const char *one, *several, *sort;
} said[KINDS] = {
  [NOT] = {"does not use the shortcut", "do not use the shortcut", "right"},
  [LITTLE] = {"uses the shortcut a little", "use the shortcut a little", "wrong"},
  [USE] = {"uses the shortcut", "use the shortcut", "wrong"},
  [DEAD] = {"gives one answer to everything", "give one answer to everything", "wrong"},
};

static enum use use_of(const struct page *p, size_t k)
{
  double lost = swap_lost(&p->run[k], -1).mean;
  if (p->summary[k].constant == p->summary[k].seeds) return DEAD;
  return lost >= USES ? USE : lost >= A_LITTLE ? LITTLE : NOT;
}

/* ---- Without masks, and with them ---- */

static void add_percent(const struct page *p, double share)
{
  html_add(p->h, "<b>%s\u00a0%%</b>", figure_share(share).s);
}

struct range {
  size_t n, low, high; /* runs, and those with the least and the largest */
};

static double worst_of(const struct page *p, size_t k)
{
  return p->summary[k].worst.mean;
}

static double lost_of(const struct page *p, size_t k)
{
  return swap_lost(&p->run[k], -1).mean;
}

static struct range find_range(const struct page *p, bool masks, double (*of)(const struct page *, size_t))
{
  struct range r = {0};
  for (size_t k = 0; k < p->runs; k++) {
    if (page_uses_masks(&p->run[k]) != masks) continue;
    if (!r.n || of(p, k) < of(p, r.low)) r.low = k;
    if (!r.n || of(p, k) > of(p, r.high)) r.high = k;
    r.n++;
  }
  return r;
}

static void add_one(const struct page *p, size_t k, bool tested)
{
  enum use use = use_of(p, k);
  if (tested || use == DEAD)
    html_add(p->h, "<b class=\"%s\">%s %s</b>. ", said[use].sort, p->run[k].name, said[use].one);
  if (tested && use != DEAD) {
    html_add(p->h, "It loses ");
    add_percent(p, lost_of(p, k));
    html_add(p->h, " of its right answers when the masked part is swapped, and is right in ");
  } else {
    html_add(p->h, "%s is right in ", p->run[k].name);
  }
  add_percent(p, worst_of(p, k));
  html_add(p->h, " of its worst group. ");
}

/* "6 of 7 runs do not use the shortcut, 1 uses the shortcut a little", or that none does. */
static void add_counts(const struct page *p, bool masks, size_t n)
{
  size_t count[KINDS] = {0}, begun = 0;
  for (size_t k = 0; k < p->runs; k++)
    if (page_uses_masks(&p->run[k]) == masks) count[use_of(p, k)]++;
  if (count[NOT] == n) {
    html_add(p->h, "<b class=\"right\">none of the %zu runs uses the shortcut</b>. ", n);
    return;
  }
  for (enum use use = 0; use < KINDS; use++) {
    if (!count[use]) continue;
    html_add(p->h, "%s<b class=\"%s\">%zu ", begun ? ", " : "", said[use].sort, count[use]);
    if (!begun++) html_add(p->h, "of %zu runs ", n);
    html_add(p->h, "%s</b>", count[use] > 1 ? said[use].several : said[use].one);
  }
  html_add(p->h, ". ");
}

static void add_range(const struct page *p, const char *before, const char *after, struct range r,
                      double (*of)(const struct page *, size_t))
{
  html_add(p->h, "%s", before);
  add_percent(p, of(p, r.low));
  html_add(p->h, " (%s) to ", p->run[r.low].name);
  add_percent(p, of(p, r.high));
  html_add(p->h, " (%s)%s", p->run[r.high].name, after);
}

/* Each by name if they are few, otherwise how many, and from where to where they reach. */
static void add_kind(const struct page *p, bool masks, bool tested)
{
  struct range worst = find_range(p, masks, worst_of);
  if (!worst.n) return;
  html_add(p->h, "<p class=\"verdict\">%s masks: ", masks ? "Trained with" : "Trained without");
  for (size_t k = 0; k < p->runs && worst.n <= MOST_NAMED; k++)
    if (page_uses_masks(&p->run[k]) == masks) add_one(p, k, tested);
  if (worst.n > MOST_NAMED && tested) {
    add_counts(p, masks, worst.n);
    add_range(p, "They lose ", " of their right answers when the masked part is swapped. ",
              find_range(p, masks, lost_of), lost_of);
  }
  if (worst.n > MOST_NAMED) add_range(p, "In their worst group ", " are right.", worst, worst_of);
  html_add(p->h, "</p>\n");
}

/* ---- What that rests on ---- */

static void add_use(const struct page *p, size_t k)
{
  enum use use = use_of(p, k);
  html_add(p->h, "<li><b class=\"%s\">%s %s</b>: ", said[use].sort, p->run[k].name, said[use].one);
  html_add(p->h, "%s\u00a0%% of its right answers are lost</li>\n",
           figure_share_sd(swap_lost(&p->run[k], -1), p->run[k].seeds).s);
}

static void add_uses(const struct page *p)
{
  html_add(
    p->h,
    "<p>The shortcut is what the masks mark: it must not matter. <a href=\"#swap\">The swap test</a> puts "
    "the "
    "masked part of an example of another class in its place. A net is said here to use the shortcut if that "
    "costs it at least %.0f\u00a0%% of its right answers, and to use it a little from %.0f\u00a0%% on. The "
    "test "
    "can show that the shortcut is used; how much it could matter at most stands under "
    "<a href=\"#fragility\">fragility</a>. The worst group is the group of test examples that fares worst. "
    "Figures are means over seeds.</p>\n",
    100 * USES, 100 * A_LITTLE);
  if (find_range(p, false, lost_of).n <= MOST_NAMED && find_range(p, true, lost_of).n <= MOST_NAMED) return;
  html_add(p->h, "<ul class=\"uses\">\n"); /* of those that were only counted */
  for (size_t k = 0; k < p->runs; k++) add_use(p, k);
  html_add(p->h, "</ul>\n");
}

static void add_untested(const struct page *p, const char *why)
{
  html_add(
    p->h,
    "<p class=\"missing\">Whether a net uses the shortcut is not tested, as %s: the worst group, the group "
    "of test examples that fares worst, is all that speaks for or against it. Figures are means over "
    "seeds.</p>\n",
    why);
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
    html_add(p->h, "<td>%s</td>", page_about(p->other[k].other_data).text);
    page_cell(p->h, figure_share_sd(s->avg, s->seeds).s);
    page_cell(p->h, figure_share_sd(s->worst, s->seeds).s);
  }
  page_table_end(p->h);
}

r4_status page_answer(const struct page *p, r4_error *e)
{
  (void)e;
  const char *none = swap_none(&p->run[0]);
  add_kind(p, false, !none);
  add_kind(p, true, !none);
  if (none)
    add_untested(p, none);
  else
    add_uses(p);
  add_notes(p);
  add_others(p);
  return R4_OK;
}
