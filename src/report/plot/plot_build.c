/* Plots: what is in them. plot_svg.c draws them. */
#include <string.h>

#include "base/mem.h"
#include "report/plot/plot.h"

/* ---- Memory ---- */

/* NULL stays NULL. */
static char *keep_text(r4_plot *p, const char *s)
{
  char *to = s ? mem_copy(s, NULL) : NULL;
  p->failed |= s && !to;
  return to;
}

static double *keep_reals(r4_plot *p, size_t n, const double *v)
{
  double *to = v ? r4_mem_new(n + 1, sizeof *to) : NULL;
  p->failed |= v && !to;
  if (to && n) memcpy(to, v, n * sizeof *to);
  return to;
}

static void free_axis(struct plot_axis *a)
{
  for (size_t k = 0; k < a->names; k++) r4_mem_free(a->name[k]);
  r4_mem_free(a->name);
  r4_mem_free(a->label);
}

static void free_panel(struct plot_panel *p)
{
  for (size_t k = 0; k < p->series; k++) {
    r4_mem_free(p->one[k].x);
    r4_mem_free(p->one[k].y);
    r4_mem_free(p->one[k].spread);
  }
  r4_mem_free(p->one);
  r4_mem_free(p->heat);
  r4_mem_free(p->title);
  free_axis(&p->x);
  free_axis(&p->y);
}

r4_plot *r4_plot_new(const char *title, int across)
{
  r4_plot *p = r4_mem_new(1, sizeof *p);
  if (!p) return NULL;
  p->across = across < 1 ? 1 : across;
  p->title = keep_text(p, title);
  return p;
}

void r4_plot_free(r4_plot *p)
{
  if (!p) return;
  for (size_t k = 0; k < p->panels; k++) free_panel(&p->panel[k]);
  for (size_t k = 0; k < p->names; k++) r4_mem_free(p->name[k]);
  r4_mem_free(p->panel);
  r4_mem_free(p->name);
  r4_mem_free(p->title);
  r4_mem_free(p);
}

/* ---- Panels ---- */

void r4_plot_panel(r4_plot *p, const char *title, const char *x_label, const char *y_label)
{
  if (!p || p->failed) return;
  struct plot_panel *grown = r4_mem_grow(p->panel, p->panels + 1, sizeof *grown);
  p->failed = !grown;
  if (!grown) return;
  p->panel = grown;
  struct plot_panel *new = &p->panel[p->panels++];
  *new = (struct plot_panel){.title = keep_text(p, title)};
  new->x.label = keep_text(p, x_label);
  new->y.label = keep_text(p, y_label);
}

/* The panel that is being filled; the first comes by itself. NULL after a failure. */
static struct plot_panel *current(r4_plot *p)
{
  if (p && !p->panels) r4_plot_panel(p, NULL, NULL, NULL);
  return !p || p->failed ? NULL : &p->panel[p->panels - 1];
}

static struct plot_axis *axis(r4_plot *p, char which)
{
  struct plot_panel *now = current(p);
  return !now ? NULL : which == 'x' ? &now->x : &now->y;
}

void r4_plot_log(r4_plot *p, char which)
{
  struct plot_axis *a = axis(p, which);
  if (a) a->log = true;
}

void plot_whole_x(r4_plot *p)
{
  struct plot_axis *a = axis(p, 'x');
  if (a) a->whole = true;
}

void r4_plot_range(r4_plot *p, char which, double low, double high)
{
  struct plot_axis *a = axis(p, which);
  if (a) a->low = low, a->high = high;
}

void r4_plot_names(r4_plot *p, char which, size_t n, const char *const *name)
{
  struct plot_axis *a = axis(p, which);
  if (!a || a->names || !n) return;
  a->name = r4_mem_new(n, sizeof *a->name);
  p->failed = !a->name;
  while (!p->failed && a->names < n) {
    a->name[a->names] = keep_text(p, name[a->names]);
    if (!p->failed) a->names++;
  }
}

/* ---- Series ---- */

static size_t number_of(r4_plot *p, const char *name)
{
  if (!p || p->failed) return 0;
  if (!name) name = "";
  for (size_t k = 0; k < p->names; k++)
    if (!strcmp(p->name[k], name)) return k;
  char **grown = r4_mem_grow(p->name, p->names + 1, sizeof *grown),
       *copy = grown ? mem_copy(name, NULL) : NULL;
  if (grown) p->name = grown;
  p->failed = !copy;
  if (copy) p->name[p->names++] = copy;
  return p->names - 1;
}

static void add_series(r4_plot *p, size_t number, bool line, size_t n, const double *x, const double *y,
                       const double *spread)
{
  struct plot_panel *now = current(p);
  if (!now) return;
  struct plot_series *grown = r4_mem_grow(now->one, now->series + 1, sizeof *grown);
  p->failed = !grown;
  if (!grown) return;
  now->one = grown;
  now->one[now->series++] = (struct plot_series){.number = number,
                                                 .n = n,
                                                 .line = line,
                                                 .x = keep_reals(p, n, x),
                                                 .y = keep_reals(p, n, y),
                                                 .spread = keep_reals(p, n, spread)};
}

void r4_plot_line(r4_plot *p, const char *name, size_t n, const double *x, const double *y,
                  const double *spread)
{
  add_series(p, number_of(p, name), true, n, x, y, spread);
}

void plot_numbered_line(r4_plot *p, size_t number, size_t n, const double *x, const double *y, const double *spread)
{
  add_series(p, number, true, n, x, y, spread);
}

void r4_plot_points(r4_plot *p, const char *name, size_t n, const double *x, const double *y)
{
  add_series(p, number_of(p, name), false, n, x, y, NULL);
}

void r4_plot_heat(r4_plot *p, const double *value)
{
  struct plot_panel *now = current(p);
  if (!now || now->heat) return;
  now->heat = keep_reals(p, now->x.names * now->y.names, value);
}
