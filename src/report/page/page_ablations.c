/* Ablations: lines with bands of a standard deviation, or heat maps, a figure for each panel, with its numbers. */
#include <stdio.h>
#include <string.h>

#include "report/page/page.h"
#include "report/plot/ablation.h"

static const char *const quantity_name[] = {"worst group, in per cent", "kappa"};

struct shown {
  const struct page *p;
  const r4_ablation *a;
  const r4_plot *plot; /* in which each name of a line has its colour; may be NULL, which a figure notices */
};

/* "94.4 ± 0.2"; a star stands at nets that give one answer to everything. */
static void add_cell(const struct shown *s, const struct ablation_point *p, enum ablation_quantity q)
{
  char text[64] = "";
  if (p && q == ABLATION_WORST) {
    snprintf(text, sizeof text, "%s%s", figure_share_sd(p->worst, (size_t)s->a->seeds).s, p->dead ? " *" : "");
  } else if (p) {
    snprintf(text, sizeof text, "%s%s", figure_real_sd(p->kappa, (size_t)s->a->seeds, 3).s,
             p->dead ? " *" : "");
  }
  page_cell(s->p->h, text);
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

static void add_line_numbers(const struct shown *s, const char *title, const struct ablation_axis *x,
                             const struct ablation_line *first, enum ablation_quantity q)
{
  struct html *h = s->p->h;
  page_table_begin(h, title);
  page_head(h, first->x, false);
  for (const struct ablation_line *l = first; l < s->a->line + s->a->lines; l++)
    if (ablation_is_of_panel(l, first)) page_head(h, l->name, true);
  page_body(h);
  for (size_t k = 0; k < x->n; k++) {
    page_row(h, x->name[k]);
    for (const struct ablation_line *l = first; l < s->a->line + s->a->lines; l++)
      if (ablation_is_of_panel(l, first)) add_cell(s, ablation_find(l, x->name[k], NULL), q);
  }
  page_table_end(h);
}

static void add_panel(const struct shown *s, const struct ablation_line *first, enum ablation_quantity q,
                      size_t panel)
{
  struct ablation_axis x = ablation_x_axis(s->a, first);
  char title[300];
  begin_figure(s, first->panel, quantity_name[q], title);
  plot_panel_in_page(s->p->h, s->plot, panel, title);
  page_figure_numbers(s->p->h);
  add_line_numbers(s, title, &x, first, q);
  page_figure_end(s->p->h);
  if (x.more && q == ABLATION_WORST)
    html_add(s->p->h, "<p class=\"missing\">%s: only the first %d values are shown.</p>\n", first->x,
             ABLATION_NAMES);
}

/* ---- Heat maps ---- */

static void add_heat_numbers(const struct shown *s, const char *title, const struct ablation_line *l,
                             const struct ablation_axis *x, const struct ablation_axis *y)
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
    for (size_t k = 0; k < x->n; k++) add_cell(s, ablation_find(l, x->name[k], y->name[i]), ABLATION_WORST);
  }
  page_table_end(h);
}

static void add_heat(const struct shown *s, const struct ablation_line *l, size_t panel)
{
  struct ablation_axis x, y;
  char title[300];
  ablation_heat_axes(l, &x, &y);
  begin_figure(s, l->name, quantity_name[ABLATION_WORST], title);
  plot_panel_in_page(s->p->h, s->plot, panel, title);
  page_figure_numbers(s->p->h);
  add_heat_numbers(s, title, l, &x, &y);
  page_figure_end(s->p->h);
}

/* ---- All of them ---- */

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
  html_add(s->p->h, "%s.", s->a->seeds == 1 ? ": the variation between seeds is unknown" : "");
  for (const struct ablation_line *l = s->a->line; l < s->a->line + s->a->lines; l++) {
    if (is_new_setting(s->a, l, l->x)) add_setting(s, l->x);
    if (l->y && is_new_setting(s->a, l, l->y)) add_setting(s, l->y);
  }
  html_add(s->p->h, "%s</p>\n", dead ? " A star marks nets that collapsed to one class." : "");
}

static void add_lines(const struct shown *s)
{
  struct html *h = s->p->h;
  size_t panels = ablation_panels(s->a), panel = 0;
  if (!panels) return;
  page_legend_begin(h);
  for (size_t k = 0; s->plot && k < s->plot->names; k++) page_legend_item(h, k, s->plot->name[k]);
  page_legend_end(h);
  page_pairs_begin(h);
  for (size_t k = 0; k < s->a->lines; k++) {
    if (!ablation_begins_panel(s->a, k)) continue;
    add_panel(s, &s->a->line[k], ABLATION_WORST, panel);
    add_panel(s, &s->a->line[k], ABLATION_KAPPA, panels + panel++);
  }
  page_grid_end(h);
}

static void add_ablation(const struct page *p, const r4_ablation *a)
{
  r4_plot *plot = ablation_plot(a, true);
  struct shown s = {.p = p, .a = a, .plot = plot};
  size_t panel = ABLATION_QUANTITIES * ablation_panels(a);
  add_words(&s);
  add_lines(&s);
  page_grid_begin(p->h);
  for (size_t k = 0; k < a->lines; k++)
    if (a->line[k].y) add_heat(&s, &a->line[k], panel++);
  page_grid_end(p->h);
  r4_plot_free(plot);
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
    "<p>How the methods change when data or masks are removed or corrupted, or weight decay is varied. Each point is "
    "a net trained and measured with one setting changed. Points are means over seeds; bands, and figures after "
    "\u00b1, are a standard deviation.</p>\n");
  for (size_t k = 0; k < p->o->ablations; k++) add_ablation(p, p->o->ablation[k]);
  return R4_OK;
}
