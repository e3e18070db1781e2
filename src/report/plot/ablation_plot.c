/* An ablation as a plot: of each panel the worst group, lines with bands of a standard deviation, then of each kappa,
 * then heat maps. A file has them beside each other; a page shows each by itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "report/plot/ablation.h"

/* ---- Axes ---- */

static size_t place_of(const struct ablation_axis *a, const char *name)
{
  size_t k = 0;
  while (k < a->n && strcmp(a->name[k], name)) k++;
  return k;
}

static void add_name(struct ablation_axis *a, const char *name)
{
  if (place_of(a, name) < a->n) return;
  a->more |= a->n == ABLATION_NAMES;
  if (!a->more) a->name[a->n++] = name;
}

static bool is_number(const char *text, double *v)
{
  char *end;
  *v = c_locale_real(text, &end);
  return end != text && !*end && isfinite(*v);
}

static bool are_numbers(const struct ablation_axis *a)
{
  double v;
  bool all = a->n;
  for (size_t k = 0; k < a->n && all; k++) all = is_number(a->name[k], &v);
  return all;
}

/* Many powers of ten: a logarithm if all are above 0, and beside each other if not. */
static void choose_scale(struct ablation_axis *a)
{
  double v, least = INFINITY, low = INFINITY, high = -INFINITY;
  for (size_t k = 0; k < a->n && a->numbers; k++) {
    is_number(a->name[k], &v);
    low = fmin(low, v);
    high = fmax(high, v);
    if (v > 0) least = fmin(least, v);
  }
  bool wide = high >= 100 * least;
  a->numbers = a->numbers && !(wide && low <= 0);
  a->scale = (struct scale){.log = wide, .low = low, .high = high};
  scale_round(&a->scale);
}

bool ablation_is_of_panel(const struct ablation_line *l, const struct ablation_line *first)
{
  return !l->y && !strcmp(l->panel, first->panel) && !strcmp(l->x, first->x);
}

bool ablation_begins_panel(const r4_ablation *a, size_t k)
{
  for (size_t i = 0; i < k; i++)
    if (ablation_is_of_panel(&a->line[i], &a->line[k])) return false;
  return !a->line[k].y;
}

struct ablation_axis ablation_x_axis(const r4_ablation *a, const struct ablation_line *first)
{
  struct ablation_axis x = {0};
  for (const struct ablation_line *l = a->line; l < a->line + a->lines; l++)
    for (size_t k = 0; k < l->points && ablation_is_of_panel(l, first); k++) add_name(&x, l->point[k].x);
  x.numbers = !first->labelled && are_numbers(&x);
  return x;
}

void ablation_heat_axes(const struct ablation_line *l, struct ablation_axis *x, struct ablation_axis *y)
{
  *x = *y = (struct ablation_axis){0};
  for (size_t k = 0; k < l->points; k++) add_name(x, l->point[k].x), add_name(y, l->point[k].y);
}

const struct ablation_point *ablation_find(const struct ablation_line *l, const char *x, const char *y)
{
  for (size_t k = 0; k < l->points; k++)
    if (!strcmp(l->point[k].x, x) && (!y || !strcmp(l->point[k].y, y))) return &l->point[k];
  return NULL;
}

/* ---- Lines ---- */

static void draw_line(r4_plot *plot, const struct ablation_axis *axis, const struct ablation_line *l,
                      enum ablation_quantity q, int64_t seeds)
{
  double x[ABLATION_NAMES], y[ABLATION_NAMES], sd[ABLATION_NAMES];
  const double scale = q == ABLATION_WORST ? 100 : 1;
  size_t n = 0;
  for (size_t k = 0; k < axis->n; k++) {
    const struct ablation_point *p = ablation_find(l, axis->name[k], NULL);
    if (!p) continue;
    r4_mean_sd v = q == ABLATION_WORST ? p->worst : p->kappa;
    x[n] = (double)k;
    if (axis->numbers) is_number(axis->name[k], &x[n]);
    y[n] = scale * v.mean;
    sd[n++] = scale * v.sd;
  }
  r4_plot_line(plot, l->name, n, x, y, seeds > 1 ? sd : NULL);
}

static void set_x_axis(r4_plot *plot, struct ablation_axis *x, bool in_page)
{
  if (in_page) choose_scale(x);
  if (in_page && x->numbers) r4_plot_range(plot, 'x', x->scale.low, x->scale.high);
  if (in_page && x->numbers && x->scale.log) r4_plot_log(plot, 'x');
  if (!x->numbers) r4_plot_names(plot, 'x', x->n, x->name);
}

static void draw_panel(r4_plot *plot, const r4_ablation *a, const struct ablation_line *first,
                       enum ablation_quantity q, const struct scale *kappa)
{
  struct ablation_axis x = ablation_x_axis(a, first);
  bool worst = q == ABLATION_WORST;
  r4_plot_panel(plot, first->panel, first->x, worst ? "worst group, %" : "kappa");
  if (worst) r4_plot_range(plot, 'y', 0, 100);
  if (!worst && kappa) r4_plot_range(plot, 'y', kappa->low, kappa->high);
  if (!worst) r4_plot_log(plot, 'y');
  set_x_axis(plot, &x, kappa);
  for (const struct ablation_line *l = first; l < a->line + a->lines; l++)
    if (ablation_is_of_panel(l, first)) draw_line(plot, &x, l, q, a->seeds);
}

/* ---- Heat maps ---- */

static void draw_heat(r4_plot *plot, const struct ablation_line *l)
{
  struct ablation_axis x, y;
  char title[256];
  ablation_heat_axes(l, &x, &y);
  double *value = r4_mem_new(x.n * y.n + 1, sizeof *value);
  for (size_t k = 0; k < x.n * y.n && value; k++) {
    const struct ablation_point *p = ablation_find(l, x.name[k % x.n], y.name[k / x.n]);
    value[k] = p ? 100 * p->worst.mean : NAN;
  }
  snprintf(title, sizeof title, "%.200s: worst group, %%", l->name);
  r4_plot_panel(plot, title, l->x, l->y);
  r4_plot_names(plot, 'x', x.n, x.name);
  r4_plot_names(plot, 'y', y.n, y.name);
  r4_plot_range(plot, 'y', 0, 100);
  r4_plot_heat(plot, value);
  if (plot) plot->failed |= !value;
  r4_mem_free(value);
}

/* ---- All of it ---- */

/* Of all panels, so that they can be compared. */
static struct scale scale_of_kappa(const r4_ablation *a)
{
  struct scale s = scale_empty(true);
  for (const struct ablation_line *l = a->line; l < a->line + a->lines; l++)
    for (size_t k = 0; k < l->points; k++) scale_cover(&s, l->point[k].kappa.mean);
  scale_round(&s);
  return s;
}

size_t ablation_panels(const r4_ablation *a)
{
  size_t n = 0;
  for (size_t k = 0; k < a->lines; k++) n += ablation_begins_panel(a, k);
  return n;
}

r4_plot *ablation_plot(const r4_ablation *a, bool in_page)
{
  char title[256];
  struct scale kappa = scale_of_kappa(a);
  size_t panels = ablation_panels(a);
  snprintf(title, sizeof title, "%.100s: %.60s%s", a->experiment, a->name, a->quick ? " (quick)" : "");
  r4_plot *plot = r4_plot_new(title, panels ? (int)panels : 3);
  for (int q = 0; q < ABLATION_QUANTITIES; q++)
    for (size_t k = 0; k < a->lines; k++)
      if (ablation_begins_panel(a, k))
        draw_panel(plot, a, &a->line[k], (enum ablation_quantity)q, in_page ? &kappa : NULL);
  for (size_t k = 0; k < a->lines; k++)
    if (a->line[k].y) draw_heat(plot, &a->line[k]);
  return plot;
}

r4_plot *r4_ablation_plot(const r4_ablation *a)
{
  return a ? ablation_plot(a, false) : NULL;
}
