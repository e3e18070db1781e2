/* Ablations: lines with bands of a standard deviation, or heat maps, a figure for each panel, with its numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "report/ablation.h"
#include "report/page/page.h"

enum { MOST_NAMES = 256 };

/* ---- Axes ---- */

/* The values of a setting. Numbers stand at their places, names beside each other. */
struct axis {
  size_t n;
  const char *name[MOST_NAMES];
  bool numbers, more; /* more: than there is room for */
  struct scale scale; /* of numbers */
};

static size_t place_of(const struct axis *a, const char *name)
{
  size_t k = 0;
  while (k < a->n && strcmp(a->name[k], name)) k++;
  return k;
}

static void add_name(struct axis *a, const char *name)
{
  if (place_of(a, name) < a->n) return;
  a->more |= a->n == MOST_NAMES;
  if (!a->more) a->name[a->n++] = name;
}

static bool is_number(const char *text, double *v)
{
  char *end;
  *v = plain_real(text, &end);
  return end != text && !*end && isfinite(*v);
}

/* Many powers of ten: a logarithm if all are above 0, and beside each other if not. */
static void choose_scale(struct axis *a, bool labelled)
{
  double v, least = INFINITY, low = INFINITY, high = -INFINITY;
  a->numbers = a->n && !labelled;
  for (size_t k = 0; k < a->n && a->numbers; k++) {
    a->numbers = is_number(a->name[k], &v);
    low = fmin(low, v);
    high = fmax(high, v);
    if (v > 0) least = fmin(least, v);
  }
  bool wide = high >= 100 * least;
  a->numbers = a->numbers && !(wide && low <= 0);
  a->scale = (struct scale){.log = wide, .low = low, .high = high};
  scale_round(&a->scale);
}

static double x_of(const struct axis *a, const char *name)
{
  double v = (double)place_of(a, name);
  if (a->numbers) is_number(name, &v);
  return v;
}

/* ---- What is shown ---- */

enum quantity { WORST, KAPPA, QUANTITIES };
static const char *const quantity_name[] = {"worst group, in per cent", "kappa"};

struct shown {
  const struct page *p;
  const r4_ablation *a;
  size_t names; /* of lines: each has its colour in all panels */
  const char *name[64];
  struct scale kappa; /* of all panels */
};

static size_t number_of(const struct shown *s, const char *name)
{
  size_t k = 0;
  while (k < s->names && strcmp(s->name[k], name)) k++;
  return k;
}

static r4_mean_sd value_of(const struct ablation_point *p, enum quantity q)
{
  return q == WORST ? (r4_mean_sd){100 * p->worst.mean, 100 * p->worst.sd} : p->kappa;
}

/* "94.4 ± 0.2"; a star stands at nets that give one answer to everything. */
static void add_cell(const struct shown *s, const struct ablation_point *p, enum quantity q)
{
  char text[64] = "";
  if (p && q == WORST) {
    snprintf(text, sizeof text, "%s%s", figure_share_sd(p->worst, (size_t)s->a->seeds).s, p->dead ? " *" : "");
  } else if (p) {
    snprintf(text, sizeof text, "%s%s", figure_real_sd(p->kappa, (size_t)s->a->seeds, 3).s,
             p->dead ? " *" : "");
  }
  page_cell(s->p->h, text);
}

static const struct ablation_point *find_point(const struct ablation_line *l, const char *x, const char *y)
{
  for (size_t k = 0; k < l->points; k++)
    if (!strcmp(l->point[k].x, x) && (!y || !strcmp(l->point[k].y, y))) return &l->point[k];
  return NULL;
}

static void begin_figure(const struct shown *s, const char *panel, const char *what, char title[300])
{
  char file[300];
  snprintf(title, 300, "%.120s%s%s", panel, *panel ? ": " : "", what);
  if (!*panel && *title == 'w') *title = 'W';
  snprintf(file, sizeof file, "ablation-%.60s-%.120s%s%.20s", s->a->name, panel, *panel ? "-" : "", what);
  page_figure_begin(s->p->h, file, title);
}

/* ---- Lines ---- */

static bool is_of_panel(const struct ablation_line *l, const struct ablation_line *first)
{
  return !l->y && !strcmp(l->panel, first->panel) && !strcmp(l->x, first->x);
}

static struct axis axis_of_panel(const r4_ablation *a, const struct ablation_line *first)
{
  struct axis x = {0};
  for (const struct ablation_line *l = a->line; l < a->line + a->lines; l++)
    for (size_t k = 0; k < l->points && is_of_panel(l, first); k++) add_name(&x, l->point[k].x);
  choose_scale(&x, first->labelled);
  return x;
}

static void draw_line(const struct shown *s, r4_plot *plot, const struct axis *axis,
                      const struct ablation_line *l, enum quantity q)
{
  double x[MOST_NAMES], y[MOST_NAMES], sd[MOST_NAMES];
  size_t n = 0;
  for (size_t k = 0; k < axis->n; k++) {
    const struct ablation_point *p = find_point(l, axis->name[k], NULL);
    if (!p) continue;
    r4_mean_sd v = value_of(p, q);
    x[n] = x_of(axis, axis->name[k]);
    y[n] = v.mean;
    sd[n++] = isnan(v.sd) ? 0 : v.sd;
  }
  plot_numbered_line(plot, number_of(s, l->name), n, x, y, s->a->seeds > 1 ? sd : NULL);
}

static r4_plot *plot_of_panel(const struct shown *s, const struct ablation_line *first, const struct axis *x,
                              enum quantity q)
{
  r4_plot *plot = r4_plot_new(NULL, 1);
  struct scale y = q == WORST ? (struct scale){.high = 100} : s->kappa;
  r4_plot_panel(plot, NULL, first->x, NULL);
  r4_plot_range(plot, 'y', y.low, y.high);
  if (y.log) r4_plot_log(plot, 'y');
  if (x->numbers) r4_plot_range(plot, 'x', x->scale.low, x->scale.high);
  if (x->numbers && x->scale.log) r4_plot_log(plot, 'x');
  if (!x->numbers) r4_plot_names(plot, 'x', x->n, x->name);
  for (const struct ablation_line *l = first; l < s->a->line + s->a->lines; l++)
    if (is_of_panel(l, first)) draw_line(s, plot, x, l, q);
  return plot;
}

static void add_line_numbers(const struct shown *s, const char *title, const struct axis *x,
                             const struct ablation_line *first, enum quantity q)
{
  struct html *h = s->p->h;
  page_table_begin(h, title);
  page_head(h, first->x, false);
  for (const struct ablation_line *l = first; l < s->a->line + s->a->lines; l++)
    if (is_of_panel(l, first)) page_head(h, l->name, true);
  page_body(h);
  for (size_t k = 0; k < x->n; k++) {
    page_row(h, x->name[k]);
    for (const struct ablation_line *l = first; l < s->a->line + s->a->lines; l++)
      if (is_of_panel(l, first)) add_cell(s, find_point(l, x->name[k], NULL), q);
  }
  page_table_end(h);
}

static void add_panel(const struct shown *s, const struct ablation_line *first, enum quantity q)
{
  struct axis x = axis_of_panel(s->a, first);
  char title[300];
  r4_plot *plot = plot_of_panel(s, first, &x, q);
  begin_figure(s, first->panel, quantity_name[q], title);
  plot_panel_in_page(s->p->h, plot, 0, title);
  r4_plot_free(plot);
  page_figure_numbers(s->p->h);
  add_line_numbers(s, title, &x, first, q);
  page_figure_end(s->p->h);
  if (x.more && q == WORST)
    html_add(s->p->h, "<p class=\"missing\">Of %s the first %d values are shown.</p>\n", first->x,
             MOST_NAMES);
}

/* ---- Heat maps ---- */

static void add_heat_numbers(const struct shown *s, const char *title, const struct ablation_line *l,
                             const struct axis *x, const struct axis *y)
{
  char corner[200];
  struct html *h = s->p->h;
  snprintf(corner, sizeof corner, "%.90s by %.90s", l->y, l->x);
  page_table_begin(h, title);
  page_head(h, corner, false);
  for (size_t k = 0; k < x->n; k++) page_head(h, x->name[k], true);
  page_body(h);
  for (size_t i = 0; i < y->n; i++) {
    page_row(h, y->name[i]);
    for (size_t k = 0; k < x->n; k++) add_cell(s, find_point(l, x->name[k], y->name[i]), WORST);
  }
  page_table_end(h);
}

static r4_plot *plot_of_heat(const struct ablation_line *l, const struct axis *x, const struct axis *y)
{
  r4_plot *plot = r4_plot_new(NULL, 1);
  double *value = r4_mem_new(x->n * y->n + 1, sizeof *value);
  for (size_t k = 0; k < x->n * y->n && value; k++) {
    const struct ablation_point *p = find_point(l, x->name[k % x->n], y->name[k / x->n]);
    value[k] = p ? 100 * p->worst.mean : NAN;
  }
  r4_plot_panel(plot, NULL, l->x, l->y);
  r4_plot_names(plot, 'x', x->n, x->name);
  r4_plot_names(plot, 'y', y->n, y->name);
  r4_plot_range(plot, 'y', 0, 100);
  r4_plot_heat(plot, value);
  if (plot) plot->failed |= !value;
  r4_mem_free(value);
  return plot;
}

static void add_heat(const struct shown *s, const struct ablation_line *l)
{
  struct axis x = {0}, y = {0};
  char title[300];
  for (size_t k = 0; k < l->points; k++) add_name(&x, l->point[k].x), add_name(&y, l->point[k].y);
  r4_plot *plot = plot_of_heat(l, &x, &y);
  begin_figure(s, l->name, quantity_name[WORST], title);
  plot_panel_in_page(s->p->h, plot, 0, title);
  r4_plot_free(plot);
  page_figure_numbers(s->p->h);
  add_heat_numbers(s, title, l, &x, &y);
  page_figure_end(s->p->h);
}

/* ---- All of them ---- */

static bool is_first_of_panel(const r4_ablation *a, size_t k)
{
  for (size_t i = 0; i < k; i++)
    if (is_of_panel(&a->line[i], &a->line[k])) return false;
  return !a->line[k].y;
}

static void look_at(struct shown *s)
{
  s->kappa = scale_empty(true);
  for (const struct ablation_line *l = s->a->line; l < s->a->line + s->a->lines; l++) {
    for (size_t k = 0; k < l->points; k++) scale_cover(&s->kappa, l->point[k].kappa.mean);
    if (!l->y && number_of(s, l->name) == s->names) s->name[s->names++] = l->name;
  }
  scale_round(&s->kappa);
}

/* The last part of a path. */
static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

/* "data.keep_masks: share of the examples that keep their mask", by the table of settings. */
static void add_setting(const struct shown *s, const char *key)
{
  for (size_t k = 0; k < r4_setting_count(); k++)
    if (!strcmp(r4_setting_describe(k).key, key))
      html_add(s->p->h, " <code>%s</code>: %s.", key, r4_setting_describe(k).help);
}

static bool is_new_setting(const r4_ablation *a, const struct ablation_line *l, const char *key)
{
  for (const struct ablation_line *b = a->line; b < l; b++)
    if (!strcmp(b->x, key) || (b->y && !strcmp(b->y, key))) return false;
  return true;
}

static void add_words(const struct shown *s)
{
  bool dead = false;
  for (const struct ablation_line *l = s->a->line; l < s->a->line + s->a->lines; l++)
    for (size_t k = 0; k < l->points; k++) dead |= l->point[k].dead;
  html_add(s->p->h, "<h3>%s</h3>\n<p>%s, %lld seed%s for each point", s->a->name, last_part(s->a->experiment),
           (long long)s->a->seeds, s->a->seeds == 1 ? "" : "s");
  if (s->a->epochs < 1)
    html_add(s->p->h, ", trained for %.3g\u00a0%% of the usual epochs", 100 * s->a->epochs);
  html_add(s->p->h, "%s.", s->a->seeds == 1 ? ": nothing tells how much is chance" : "");
  for (const struct ablation_line *l = s->a->line; l < s->a->line + s->a->lines; l++) {
    if (is_new_setting(s->a, l, l->x)) add_setting(s, l->x);
    if (l->y && is_new_setting(s->a, l, l->y)) add_setting(s, l->y);
  }
  html_add(s->p->h, "%s</p>\n", dead ? " A star marks nets that give one answer to everything." : "");
}

static void add_ablation(const struct page *p, const r4_ablation *a)
{
  struct shown s = {.p = p, .a = a};
  look_at(&s);
  add_words(&s);
  if (s.names) page_legend_begin(p->h);
  for (size_t k = 0; k < s.names; k++) page_legend_item(p->h, k, s.name[k]);
  if (s.names) page_legend_end(p->h);
  if (s.names) page_pairs_begin(p->h);
  for (size_t k = 0; k < a->lines; k++)
    for (enum quantity q = 0; q < QUANTITIES && is_first_of_panel(a, k); q++) add_panel(&s, &a->line[k], q);
  if (s.names) page_grid_end(p->h);
  page_grid_begin(p->h);
  for (size_t k = 0; k < a->lines; k++)
    if (a->line[k].y) add_heat(&s, &a->line[k]);
  page_grid_end(p->h);
}

bool page_has_ablations(const struct page *p)
{
  return p->o->ablations;
}

r4_status page_ablations(const struct page *p, r4_error *e)
{
  (void)e;
  html_add(
    p->h,
    "<p>What becomes of the methods when something is taken away or made wrong: a part of the data, masks, "
    "weight decay. Each point is a net of its own, trained and measured with one setting changed. Points are "
    "means over seeds; bands, and what stands after \u00b1, are a standard deviation.</p>\n");
  for (size_t k = 0; k < p->o->ablations; k++) add_ablation(p, p->o->ablation[k]);
  return R4_OK;
}
