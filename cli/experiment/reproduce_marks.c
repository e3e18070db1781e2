/* Which rows of a column are the best.
 *
 * Best is the largest mean over seeds, or the least, as the figure wants it. Every other row is compared with it by
 * Welch's t test, and Holm's correction is for all of these comparisons; where p > 0.05 then, the seeds do not tell the
 * two apart: tied. */
#include <math.h>
#include <string.h>

#include "experiment/reproduce.h"

static const double ALPHA = 0.05;

const struct figure_info figure_info[ALL_FIGURES] = {
  [FIGURE_ACCURACY] = {"accuracy", 100, 1, false},
  [FIGURE_AVERAGE] = {"avg_group_accuracy", 100, 1, false},
  [FIGURE_WORST] = {"worst_group_accuracy", 100, 1, false},
  [FIGURE_MASKED_MAX] = {"kappa_masked_max", 1, -1, false},
  [FIGURE_MASKED_MEAN] = {"kappa_masked_mean", 1, -1, false},
  [FIGURE_CORE_MAX] = {"kappa_core_max", 1, 0, false},
  [FIGURE_CORE_MEAN] = {"kappa_core_mean", 1, 0, false},
  [FIGURE_FLIPPED] = {"swap_flipped_share", 100, -1, true},
  [FIGURE_LOST] = {"swap_lost_share", 100, -1, true},
};

r4_mean_sd row_figure(const struct row *r, enum figure f)
{
  return r4_mean_sd_of(r->ours.nets, r->ours.value[f]);
}

/* Ceilings and controls are no methods, nor is a net whose penalty counted in no step one of its method; and a net with
 * one answer to everything has the best kappa of all. */
static bool competes(const struct row *r, enum figure f)
{
  bool method = strncmp(r->name, "Ceiling", 7) && strncmp(r->name, "Control", 7) && !r->ours.unpenalised;
  bool means = !*r->ours.constant || figure_info[f].better > 0;
  return r->done && method && means && isfinite(row_figure(r, f).mean);
}

static bool is_better(double a, double b, int better)
{
  return better > 0 ? a > b : a < b;
}

/* Returns how many compete; *best is the best of them, the first of equals. */
static size_t find_best(const struct table *t, enum figure f, size_t *best)
{
  size_t n = 0;
  for (size_t k = 0; k < t->rows; k++) {
    if (!competes(&t->row[k], f)) continue;
    if (!n++ ||
        is_better(row_figure(&t->row[k], f).mean, row_figure(&t->row[*best], f).mean, figure_info[f].better))
      *best = k;
  }
  return n;
}

void marks_find(const struct table *t, enum figure f, struct mark mark[MAX_ROWS])
{
  double p[MAX_ROWS], adjusted[MAX_ROWS];
  size_t best = 0, n = figure_info[f].better ? find_best(t, f, &best) : 0;
  for (size_t k = 0; k < t->rows; k++) mark[k] = (struct mark){MARK_NONE, NAN};
  if (n < 2) return; /* the best of one */
  const struct run_figures *top = &t->row[best].ours;
  for (size_t k = 0; k < t->rows; k++) {
    const struct run_figures *r = &t->row[k].ours;
    bool compared = k != best && competes(&t->row[k], f);
    p[k] = compared ? r4_welch_p(r->nets, r->value[f], top->nets, top->value[f]) : NAN;
  }
  r4_holm(t->rows, p, adjusted);
  for (size_t k = 0; k < t->rows; k++)
    mark[k] = (struct mark){adjusted[k] > ALPHA ? MARK_TIED : MARK_NONE, adjusted[k]};
  mark[best].kind = MARK_BEST;
}

const char *mark_word(struct mark m)
{
  return m.kind == MARK_BEST ? "best" : m.kind == MARK_TIED ? "tied" : NULL;
}
