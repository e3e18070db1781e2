/* Which rows of a column are the best.
 *
 * Best is the largest mean over seeds, or the least, as the figure wants it. Every other row is compared with it by
 * Welch's t test, and Holm's correction is for all of these comparisons; where p > 0.05 then, the seeds do not tell the
 * two apart: tied. */
#include <math.h>
#include <string.h>

#include "experiment/reproduce.h"

static const double ALPHA = 0.05;

r4_mean_sd row_figure(const struct row *r, const char *key)
{
  return figures_over(&r->ours.list, key);
}

bool marks_are_for(const r4_value *of)
{
  r4_figure_info f = r4_figure_describe(of->figure);
  return f.shown >= R4_SHOWN_TOPIC && f.better;
}

/* Ceilings and controls are no methods, nor is a net whose penalty counted in no step one of its method; and a net with
 * one answer to everything has the best kappa of all. */
static bool competes(const struct row *r, const r4_value *of)
{
  bool method = strncmp(r->name, "Ceiling", 7) && strncmp(r->name, "Control", 7) && !r->ours.unpenalised;
  bool means = !*r->ours.constant || r4_figure_describe(of->figure).better > 0;
  return r->done && method && means && isfinite(row_figure(r, of->key).mean);
}

static bool is_better(double a, double b, int better)
{
  return better > 0 ? a > b : a < b;
}

/* Returns how many compete; *best is the best of them, the first of equals. */
static size_t find_best(const struct table *t, const r4_value *of, size_t *best)
{
  size_t n = 0;
  int better = r4_figure_describe(of->figure).better;
  for (size_t k = 0; k < t->rows; k++) {
    if (!competes(&t->row[k], of)) continue;
    if (!n++ || is_better(row_figure(&t->row[k], of->key).mean, row_figure(&t->row[*best], of->key).mean, better))
      *best = k;
  }
  return n;
}

static double welch(const struct row *a, const struct row *b, const char *key)
{
  static double x[MAX_NETS], y[MAX_NETS];
  figures_of_nets(&a->ours.list, key, x);
  figures_of_nets(&b->ours.list, key, y);
  return r4_welch_p(a->ours.list.nets, x, b->ours.list.nets, y);
}

void marks_find(const struct table *t, const r4_value *of, struct mark mark[MAX_ROWS])
{
  double p[MAX_ROWS], adjusted[MAX_ROWS];
  size_t best = 0, n = marks_are_for(of) ? find_best(t, of, &best) : 0;
  for (size_t k = 0; k < t->rows; k++) mark[k] = (struct mark){MARK_NONE, NAN};
  if (n < 2) return; /* the best of one */
  for (size_t k = 0; k < t->rows; k++)
    p[k] = k != best && competes(&t->row[k], of) ? welch(&t->row[k], &t->row[best], of->key) : NAN;
  r4_holm(t->rows, p, adjusted);
  for (size_t k = 0; k < t->rows; k++)
    mark[k] = (struct mark){adjusted[k] > ALPHA ? MARK_TIED : MARK_NONE, adjusted[k]};
  mark[best].kind = MARK_BEST;
}

const char *mark_word(struct mark m)
{
  return m.kind == MARK_BEST ? "best" : m.kind == MARK_TIED ? "tied" : NULL;
}
