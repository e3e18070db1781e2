/* The answer, first: does a net use what is masked? In numbers that need no theory: the worst group, and right answers
 * that are lost when the content of the masks changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/page/page.h"
#include "report/page/page_swap.h"

enum { MOST_NAMED = 3 };

/* Of several runs, and whether that is good. */
static const struct {
  const char *several, *sort;
} said[] = {
  [R4_VERDICT_NOT] = {"do not use the shortcut", "right"},
  [R4_VERDICT_LITTLE] = {"use the shortcut a little", "little"},
  [R4_VERDICT_UNSURE] = {"may use the shortcut", "little"},
  [R4_VERDICT_REACTS] = {"react to any change of what is masked, rather than using it as a shortcut", "little"},
  [R4_VERDICT_USES] = {"use the shortcut", "wrong"},
  [R4_VERDICT_COLLAPSED] = {"collapsed to one class", "wrong"},
  [R4_VERDICT_NONE] = {"have no correct prediction to lose", "wrong"},
};
enum { VERDICTS = sizeof said / sizeof *said };

static r4_verdict verdict_of(const struct page *p, size_t k)
{
  return p->end[k].found.verdict;
}

static const char *text_of(r4_verdict use)
{
  return use == R4_VERDICT_NONE ? "has no correct prediction to lose" : r4_verdict_text(use);
}

/* How it is coloured. Nothing is right about masks that may mean the reverse. */
static const char *sort_of(const struct page *p, size_t k, r4_verdict use)
{
  return use == R4_VERDICT_NOT && p->end[k].found.doubtful ? "little" : said[use].sort;
}

/* ---- How runs were trained ---- */

enum training { WITHOUT_MASKS, WITH_MASKS, UNPENALISED, TRAININGS };

static const char *const trained[TRAININGS] = {"Trained without masks", "Trained with masks",
                                               "Trained with masks, but its penalty never took effect"};

static enum training training_of(const struct page *p, size_t k)
{
  if (p->end[k].unpenalised == p->run[k].seeds) return UNPENALISED;
  return page_uses_masks(&p->run[k]) ? WITH_MASKS : WITHOUT_MASKS;
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
  return swap_lost(&p->run[k]).mean;
}

static struct range find_range(const struct page *p, enum training how,
                               double (*of)(const struct page *, size_t))
{
  struct range r = {0};
  for (size_t k = 0; k < p->runs; k++) {
    if (training_of(p, k) != how) continue;
    if (!r.n || of(p, k) < of(p, r.low)) r.low = k;
    if (!r.n || of(p, k) > of(p, r.high)) r.high = k;
    r.n++;
  }
  return r;
}

/* A swap that changes nothing proves nothing: whoever is shown the figure is told first why. */
static void add_hidden(const struct page *p, size_t k)
{
  html_add(p->h, "In validation, at the end of training, it lost ");
  add_percent(p, p->end[k].found.validation);
  html_add(p->h, " of its correct predictions when the masked part was swapped. The examples of this page show less, "
                 "probably because their masked content says little of the class. ");
}

static void add_one(const struct page *p, size_t k, bool tested)
{
  r4_verdict use = verdict_of(p, k);
  bool measured = tested && use != R4_VERDICT_COLLAPSED && use != R4_VERDICT_NONE;
  if (tested || use == R4_VERDICT_COLLAPSED)
    html_add(p->h, "<b class=\"%s\">%s %s</b>. ", sort_of(p, k, use), p->run[k].name, text_of(use));
  if (measured) {
    if (p->end[k].found.hidden) add_hidden(p, k);
    html_add(p->h, p->end[k].found.hidden ? "Here it loses " : "It loses ");
    add_percent(p, lost_of(p, k));
    html_add(p->h, " of its correct predictions when the masked part is swapped");
    if (!isnan(swap_removed(&p->run[k]).mean)) {
      html_add(p->h, ", and ");
      add_percent(p, swap_removed(&p->run[k]).mean);
      html_add(p->h, " where content that other classes hardly have is removed");
    }
    html_add(p->h, "; its worst group has ");
  } else {
    html_add(p->h, "The worst group of %s has ", p->run[k].name);
  }
  add_percent(p, worst_of(p, k));
  html_add(p->h, " accuracy");
  double steady = r4_value_over(p->run[k].measured, p->run[k].seeds, "steady_worst_group_accuracy").mean;
  if (!isnan(steady)) {
    html_add(p->h, ", with masked content exchanged ");
    add_percent(p, steady);
  }
  html_add(p->h, ". ");
}

/* "6 of 7 runs do not use the shortcut, 1 uses the shortcut a little", or that none does. */
static void add_counts(const struct page *p, enum training how, size_t n)
{
  size_t count[VERDICTS] = {0}, begun = 0;
  for (size_t k = 0; k < p->runs; k++)
    if (training_of(p, k) == how) count[verdict_of(p, k)]++;
  if (count[R4_VERDICT_NOT] == n) {
    html_add(p->h, "<b class=\"right\">none of the %zu runs uses the shortcut</b>. ", n);
    return;
  }
  for (size_t use = VERDICTS; use-- > 0;) {
    if (!count[use]) continue;
    html_add(p->h, "%s<b class=\"%s\">%zu ", begun ? ", " : "", said[use].sort, count[use]);
    if (!begun++) html_add(p->h, "of %zu runs ", n);
    html_add(p->h, "%s</b>", count[use] > 1 ? said[use].several : text_of((r4_verdict)use));
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
static void add_kind(const struct page *p, enum training how, bool tested)
{
  struct range worst = find_range(p, how, worst_of);
  if (!worst.n) return;
  html_add(p->h, "<p class=\"verdict\">%s: ", trained[how]);
  for (size_t k = 0; k < p->runs && worst.n <= MOST_NAMED; k++)
    if (training_of(p, k) == how) add_one(p, k, tested);
  if (worst.n > MOST_NAMED && tested) {
    add_counts(p, how, worst.n);
    add_range(p, "They lose ", " of their correct predictions when the masked part is swapped. ",
              find_range(p, how, lost_of), lost_of);
  }
  if (worst.n > MOST_NAMED) add_range(p, "Their worst groups have ", " accuracy.", worst, worst_of);
  html_add(p->h, "</p>\n");
}

/* ---- What is proved ---- */

static double mean_of(const struct page *p, size_t k, const char *figure, const char *variant)
{
  char key[R4_KEY_SIZE];
  snprintf(key, sizeof key, "%s.%s", figure, variant);
  return r4_value_over(p->run[k].measured, p->run[k].seeds, key).mean;
}

/* "Proved for r4: 97.4 % of its worst group stays correct whatever is in the mask; 97.4 % is correct as it is, ..." */
static void add_proved(const struct page *p, size_t k, const char *box)
{
  double certified = mean_of(p, k, "certified_worst_group_accuracy", box),
         attacked = mean_of(p, k, "attacked_worst_group_accuracy", box);
  bool whole = !strcmp(box, "range");
  if (isnan(certified)) return; /* not of all of its seeds */
  html_add(p->h, "<p class=\"verdict\">Proved for %s: ", p->run[k].name);
  add_percent(p, certified);
  html_add(p->h, " of its worst group stays correct ");
  if (whole)
    html_add(p->h, "whatever is in the mask");
  else
    html_add(p->h, "if what is in the mask changes by up to %s", box);
  html_add(p->h, "; ");
  add_percent(p, worst_of(p, k));
  html_add(p->h, " is correct as it is");
  if (!isnan(attacked)) html_add(p->h, ", and ");
  if (!isnan(attacked)) add_percent(p, attacked);
  html_add(p->h, "%s.</p>\n", isnan(attacked) ? "" : " withstands every attack tried");
}

static void add_all_proved(const struct page *p)
{
  static const char key[] = "certified_worst_group_accuracy.";
  for (size_t k = 0; k < p->runs; k++)
    for (size_t i = 0; i < p->run[k].measured->values; i++) {
      const char *of = p->run[k].measured->value[i].key;
      if (!strncmp(of, key, sizeof key - 1)) add_proved(p, k, of + sizeof key - 1);
    }
}

/* ---- What that rests on ---- */

static void add_row(const struct page *p, size_t k)
{
  r4_verdict use = verdict_of(p, k);
  const r4_summary *s = &p->summary[k];
  page_row(p->h, p->run[k].name);
  html_add(p->h, "<td class=\"%s\">%s</td>", sort_of(p, k, use), text_of(use));
  page_cell(p->h, use == R4_VERDICT_NONE ? "-" : figure_share_sd(swap_lost(&p->run[k]), p->run[k].seeds).s);
  page_cell(p->h, figure_share_sd(s->worst, s->seeds).s);
  page_cell(p->h, figure_share_sd(s->avg, s->seeds).s);
}

/* All runs at a glance, if they are more than the sentences name well. */
static void add_table(const struct page *p)
{
  if (p->runs <= 2) return;
  page_table_begin(p->h, "All runs, in per cent");
  page_head(p->h, "run", false);
  page_head(p->h, "verdict", false);
  page_head(p->h, "correct predictions lost", true);
  page_head(p->h, "worst group", true);
  page_head(p->h, "mean over groups", true);
  page_body(p->h);
  for (size_t k = 0; k < p->runs; k++) add_row(p, k);
  page_table_end(p->h);
}

static bool some_reacts(const struct page *p)
{
  for (size_t k = 0; k < p->runs; k++)
    if (verdict_of(p, k) == R4_VERDICT_REACTS) return true;
  return false;
}

static void add_uses(const struct page *p)
{
  html_add(p->h,
           "<p>The shortcut is what the masks mark: it must not matter. <a href=\"#swap\">The swap test</a> replaces "
           "the masked part by that of an example of another class. A net uses the shortcut if it then loses at least "
           "%.0f\u00a0%% of its correct predictions, and uses it a little from %.0f\u00a0%%. The test can show that "
           "the shortcut is used; how much it could matter at most is under <a href=\"#fragility\">fragility</a>. "
           "The worst group is the group of %s examples with the lowest accuracy. Where examples carry the shortcut, a "
           "net that no longer uses it has a lower accuracy than before: it is correct less often for the wrong "
           "reason. Figures are means over seeds.</p>\n",
           100 * R4_USES, 100 * R4_USES_LITTLE, page_split(p));
  if (some_reacts(p))
    html_add(p->h,
             "<p>A net <i>reacts to any change</i> if content of an example's own class costs it nearly as much as "
             "that of another: then the class of the content is not the cause. This was tried in validation, at "
                   "the end of training.</p>\n");
}

static void add_untested(const struct page *p, const char *why)
{
  html_add(
    p->h,
    "<p class=\"missing\">Whether a net uses the shortcut is not tested, as %s: the worst group, the group of %s "
    "examples with the lowest accuracy, is the only evidence. Figures are means over seeds.</p>\n",
    why, page_split(p));
}

/* ---- What else must be known ---- */

static void add_unpenalised(const struct page *p, size_t k)
{
  const struct page_end *end = &p->end[k];
  if (!end->unpenalised) return;
  html_add(p->h, "<p class=\"warn\">The penalty took effect in none of %lld steps of ", (long long)end->steps);
  if (end->unpenalised < p->run[k].seeds)
    html_add(p->h, "%zu of %zu seeds of ", end->unpenalised, p->run[k].seeds);
  html_add(p->h, "%s: the net was not trained with %s.</p>\n", p->run[k].name,
           page_method(&p->run[k]));
}

static void add_doubtful(const struct page *p, size_t k)
{
  if (p->end[k].found.doubtful)
    html_add(p->h,
             "<p class=\"warn\">The masks of %s may mean the reverse: most of them mark the middle or more than half "
             "of the example as what must not matter. If they do, its figures are those of a net that was trained to "
             "use nothing but the shortcut.</p>\n",
             p->run[k].name);
}

static void add_notes(const struct page *p)
{
  for (size_t k = 0; k < p->runs; k++) add_unpenalised(p, k), add_doubtful(p, k);
  for (size_t k = 0; k < p->runs; k++)
    if (p->summary[k].constant)
      html_add(p->h, "<p class=\"warn\">%zu of %zu seeds of %s collapsed to one class.</p>\n",
               p->summary[k].constant, p->summary[k].seeds, p->run[k].name);
  for (size_t k = 0; k < p->o->notes; k++) {
    char *note = page_line(p, p->o->note[k]);
    if (note) html_add(p->h, "<p class=\"warn\">%s</p>\n", note);
    r4_mem_free(note);
  }
}

static void add_others(const struct page *p)
{
  if (!p->others) return;
  page_table_begin(p->h,
                   "Measured on other data, not comparable with the rest of the page; in per cent");
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
  for (enum training how = 0; how < TRAININGS; how++) add_kind(p, how, !none);
  add_all_proved(p);
  if (none)
    add_untested(p, none);
  else
    add_table(p), add_uses(p);
  add_notes(p);
  add_others(p);
  return R4_OK;
}
