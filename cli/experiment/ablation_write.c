/* What an ablation has found: results.csv and results.json with every figure, results.md to read, plot.svg to look at.
 * Written after every run, so that what is done is never lost; points that are not done are left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "experiment/ablation_jobs.h"
#include "experiment/figures.h"
#include "table_out.h"

struct results {
  const struct ablation *a;
  const struct ablation_about *o;
  const struct listed_run *run;
};

static size_t rows_of(const struct ablation_line *l)
{
  return l->ys.n ? l->ys.n : 1;
}

/* NULL if it is not done. */
static const struct listed_figures *figures_of(const struct results *r, const struct ablation_line *l,
                                              size_t ix, size_t iy)
{
  const struct listed_run *run = &r->run[l->run[iy * l->xs.n + ix]];
  return run->done ? &run->figures : NULL;
}

/* Of all runs that are done. */
static struct columns columns_of(const struct results *r)
{
  struct columns c = {0};
  for (const struct ablation_line *l = r->a->line; l < r->a->line + r->a->lines; l++)
    for (size_t k = 0; k < rows_of(l) * l->xs.n; k++) {
      const struct listed_run *run = &r->run[l->run[k]];
      if (run->done) columns_add_list(&c, &run->figures.list);
    }
  return c;
}

/* ---- CSV and JSON ---- */

static void add_csv_row(const struct results *r, const struct columns *c, r4_table *t, const struct ablation_line *l,
                        size_t ix, size_t iy)
{
  const struct listed_figures *f = figures_of(r, l, ix, iy);
  if (!f) return;
  const char *const text[] = {l->name, l->panel, l->preset, l->x, l->xs.text[ix], l->y, l->ys.n ? l->ys.text[iy] : ""};
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) r4_table_cell(t, text[k]);
  cell(t, "%lld", (long long)f->seeds);
  cell(t, "%lld", (long long)f->dead);
  columns_cells(c, &f->list, t);
  cell(t, "%lld", (long long)f->unpenalised);
}

static int print_csv(FILE *f, const void *user)
{
  const struct results *r = user;
  const struct columns c = columns_of(r);
  static const char *const column[] = {"name",      "panel", "preset", "x_setting", "x",
                                       "y_setting", "y",     "seeds",  "constant_seeds"};
  r4_table *t = r4_table_new();
  for (size_t k = 0; k < sizeof column / sizeof *column; k++) r4_table_column(t, column[k], 'l', 0);
  columns_head(&c, "", t);
  r4_table_column(t, "unpenalised_seeds", 'l', 0);
  for (size_t k = 0; k < r->a->lines; k++)
    for (size_t iy = 0; iy < rows_of(&r->a->line[k]); iy++)
      for (size_t ix = 0; ix < r->a->line[k].xs.n; ix++) add_csv_row(r, &c, t, &r->a->line[k], ix, iy);
  return table_end(f, "ablate", t, R4_TABLE_CSV);
}

static void add_json_point(r4_json *w, const struct results *r, const struct ablation_line *l, size_t ix,
                           size_t iy)
{
  const struct listed_figures *f = figures_of(r, l, ix, iy);
  struct columns c = {0};
  if (!f) return;
  columns_add_list(&c, &f->list);
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "x", l->xs.text[ix]);
  if (strcmp(l->xs.label[ix], l->xs.text[ix])) r4_json_text(w, "label", l->xs.label[ix]);
  if (l->ys.n) r4_json_text(w, "y", l->ys.text[iy]);
  columns_json(&c, &f->list, w);
  r4_json_whole(w, "constant_seeds", f->dead);
  r4_json_whole(w, "unpenalised_seeds", f->unpenalised);
  r4_json_close(w, '}');
}

static void add_json_line(r4_json *w, const struct results *r, const struct ablation_line *l)
{
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", l->name);
  r4_json_text(w, "panel", l->panel);
  r4_json_text(w, "preset", l->preset);
  r4_json_text(w, "settings", l->settings);
  r4_json_text(w, "x", l->x);
  if (l->ys.n) r4_json_text(w, "y", l->y);
  r4_json_open(w, "points", '[');
  for (size_t iy = 0; iy < rows_of(l); iy++)
    for (size_t ix = 0; ix < l->xs.n; ix++) add_json_point(w, r, l, ix, iy);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}

static int print_json(FILE *f, const void *user)
{
  const struct results *r = user;
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "experiment", r->o->experiment);
  r4_json_text(w, "ablation", r->a->name);
  r4_json_text(w, "r4", R4_VERSION);
  r4_json_whole(w, "form", 2); /* accuracies are shares */
  r4_json_flag(w, "quick", r->o->quick);
  r4_json_real(w, "epochs", r->o->epochs);
  r4_json_whole(w, "seeds", r->o->seeds);
  r4_json_open(w, "lines", '[');
  for (size_t k = 0; k < r->a->lines; k++) add_json_line(w, r, &r->a->line[k]);
  r4_json_close(w, ']');
  r4_json_checksum(w);
  return json_print(f, "ablate", w);
}

/* ---- Markdown ---- */

static bool same_axis(const struct ablation_line *a, const struct ablation_line *b)
{
  bool same =
    !strcmp(a->panel, b->panel) && !strcmp(a->x, b->x) && a->xs.n == b->xs.n && !a->ys.n && !b->ys.n;
  for (size_t k = 0; k < a->xs.n && same; k++) same = !strcmp(a->xs.label[k], b->xs.label[k]);
  return same;
}

/* A star stands at a net that gives one answer to everything, # at one whose penalty counted in no step. */
static const char *sign_of(const struct listed_figures *f)
{
  return f->dead ? "\\*" : f->unpenalised ? "\\#" : "";
}

/* "97.1 / 95.0 +- 0.3": the figures of a block; the deviation is that of the last. */
static void add_cell(r4_table *t, const struct listed_figures *f, const struct columns *c)
{
  char text[CELL_SIZE] = "";
  size_t n = 0;
  for (size_t k = 0; f && k < c->n; k++) {
    char number[FIGURE_SIZE];
    bool share = r4_figure_describe(c->of[k].figure).unit == R4_UNIT_SHARE, last = k + 1 == c->n;
    r4_mean_sd v = figures_over(&f->list, c->of[k].key);
    figure_text(v.mean, 2, "none", number);
    if (share && !isnan(v.mean)) snprintf(number, sizeof number, "%.1f", 100 * v.mean);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? " / " : sign_of(f), number);
    if (share && last && !isnan(v.sd)) snprintf(text + n, sizeof text - n, " +- %.1f", 100 * v.sd);
  }
  r4_table_cell(t, text);
}

/* "group average / worst group, rate by net" */
static void name_block(const struct ablation_line *l, const struct columns *c, char *to, size_t size)
{
  size_t n = 0;
  for (size_t k = 0; k < c->n && n < size; k++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&c->of[k], label);
    n += (size_t)snprintf(to + n, size - n, "%s%s", k ? " / " : "", label);
  }
  if (l->ys.n && n < size) snprintf(to + n, size - n, ", %s by %s", l->y, l->x);
}

/* Lines with the same axis below each other, or the rows of one heat map. */
static int print_block(FILE *f, const struct results *r, const struct ablation_line *l, size_t n,
                       const struct columns *c)
{
  char corner[VALUE_SIZE];
  r4_table *t = r4_table_new();
  name_block(l, c, corner, sizeof corner);
  r4_table_column(t, corner, 'l', 0);
  for (size_t k = 0; k < l->xs.n; k++) r4_table_column(t, l->xs.label[k], 'r', 0);
  for (size_t k = 0; k < n; k++)
    for (size_t iy = 0; iy < rows_of(l + k); iy++) {
      r4_table_cell(t, l->ys.n ? l->ys.label[iy] : l[k].name);
      for (size_t ix = 0; ix < l->xs.n; ix++) add_cell(t, figures_of(r, l + k, ix, iy), c);
    }
  int code = table_end(f, "ablate", t, R4_TABLE_MARKDOWN);
  fprintf(f, "\n");
  return code;
}

/* A block for each topic, with the figures that come first. */
static int print_blocks(FILE *f, const struct results *r, const struct ablation_line *l, size_t n)
{
  const struct columns all = columns_of(r);
  int code = EXIT_DONE;
  for (int topic = 0; topic < R4_TOPICS && !code; topic++) {
    struct columns own = {0};
    for (size_t k = 0; k < all.n; k++) {
      r4_figure_info info = r4_figure_describe(all.of[k].figure);
      if (info.first && (int)info.topic == topic) own.of[own.n++] = all.of[k];
    }
    if (own.n) code = print_block(f, r, l, n, &own);
  }
  return code;
}

/* ", 20 % of the epochs" */
static const char *epochs_text(const struct ablation_about *o, char text[48])
{
  *text = 0;
  if (o->epochs < 1) snprintf(text, 48, ", %g %% of the epochs", 100 * o->epochs);
  return text;
}

static void print_heading(FILE *f, const struct results *r)
{
  bool dead = false, unpenalised = false;
  char text[48];
  fprintf(
    f,
    "# %s: %s\n\n%lld seed%s%s%s; shares in per cent, the worst group is found for each seed, then averaged; "
    "kappa is the\nlargest width of the bounds of the input gradient over the masked box.",
    r->o->experiment, r->a->name, (long long)r->o->seeds, r->o->seeds > 1 ? "s" : "",
    r->o->quick ? ", --quick" : "", epochs_text(r->o, text));
  for (size_t k = 0; k < r->a->lines; k++)
    for (size_t i = 0; i < rows_of(&r->a->line[k]) * r->a->line[k].xs.n; i++) {
      const struct listed_run *run = &r->run[r->a->line[k].run[i]];
      dead = dead || (run->done && run->figures.dead);
      unpenalised = unpenalised || (run->done && run->figures.unpenalised);
    }
  if (dead) fprintf(f, " \\*: a collapsed net, which predicts a single class.");
  if (unpenalised) fprintf(f, " \\#: a net whose penalty never took effect.");
  fprintf(f, "\n\n");
}

static int print_markdown(FILE *f, const void *user)
{
  const struct results *r = user;
  int code = EXIT_DONE;
  print_heading(f, r);
  for (size_t k = 0, n; k < r->a->lines && !code; k += n) {
    const struct ablation_line *l = &r->a->line[k];
    for (n = 1; k + n < r->a->lines && same_axis(l, l + n);) n++;
    const char *title = l->ys.n ? l->name : l->panel;
    fprintf(f, "**%s%s%s**\n\n", title, *title && !l->ys.n ? ", over " : "", l->ys.n ? "" : l->x);
    code = print_blocks(f, r, l, n);
  }
  return code;
}

/* ---- The plot ---- */

/* Of what results.json has, which is written before. */
static int print_plot(FILE *f, const void *user)
{
  const struct results *r = user;
  char path[PATH_SIZE + 128];
  r4_error e = {0};
  snprintf(path, sizeof path, "%s/%s/results.json", r->o->out, r->a->name);
  r4_ablation *a = r4_ablation_read(path, &e);
  if (!a) return cli_fail("ablate", e.status, e.text);
  r4_plot *p = r4_ablation_plot(a);
  r4_ablation_free(a);
  return plot_print(f, "ablate", p);
}

/* ---- Files ---- */

int ablation_write(const struct ablation *a, const struct ablation_about *o, const struct listed_run *run)
{
  static const struct result_file file[] = {{"results.csv", print_csv},
                                            {"results.json", print_json},
                                            {"results.md", print_markdown},
                                            {"plot.svg", print_plot}};
  const struct results r = {a, o, run};
  char folder[PATH_SIZE + 64];
  snprintf(folder, sizeof folder, "%s/%s", o->out, a->name);
  int code = folder_refuse_link("ablate", folder);
  return code ? code : results_write("ablate", folder, sizeof file / sizeof *file, file, &r);
}

int ablation_print(FILE *f, const struct ablation *a, const struct ablation_about *o,
                   const struct listed_run *run)
{
  const struct results r = {a, o, run};
  return print_markdown(f, &r);
}
