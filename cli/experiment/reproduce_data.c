/* The results of "r4 reproduce" for programs: all figures, with all digits. Shares are from 0 to 1. */
#include <math.h>
#include <stdlib.h>

#include "experiment/figures.h"
#include "experiment/reproduce.h"
#include "table_out.h"

/* The columns of all figures, and the marks of each. */
struct marked {
  struct columns c;
  struct mark mark[R4_MAX_VALUES][MAX_ROWS];
};

static struct marked *marked_new(const struct table *t)
{
  struct marked *m = malloc(sizeof *m);
  if (!m) return NULL;
  m->c = table_columns(t);
  for (size_t k = 0; k < m->c.n; k++) marks_find(t, &m->c.of[k], m->mark[k]);
  return m;
}

/* ---- CSV ---- */

static void add_headings(r4_table *to, size_t n, const char *const *heading)
{
  for (size_t k = 0; k < n; k++) r4_table_column(to, heading[k], 'l', 0);
}
#define HEADINGS(to, list) add_headings(to, sizeof(list) / sizeof *(list), list)

static void add_figure_headings(r4_table *to, const r4_value *of)
{
  char mark[R4_KEY_SIZE + 8], p[R4_KEY_SIZE + 8];
  column_mean_sd(to, of->key);
  if (!marks_are_for(of)) return;
  snprintf(mark, sizeof mark, "%s_mark", of->key);
  snprintf(p, sizeof p, "%s_p", of->key);
  r4_table_column(to, mark, 'l', 0);
  r4_table_column(to, p, 'l', 0);
}

static void add_figure(r4_table *to, const struct row *r, const r4_value *of, struct mark m)
{
  cell_mean_sd(to, row_figure(r, of->key));
  if (!marks_are_for(of)) return;
  r4_table_cell(to, mark_word(m) ? mark_word(m) : "");
  cell_number(to, "%.10g", m.p);
}

/* Published shares are in per cent in table.csv; empty where there is none. */
static void add_published(r4_table *to, const char *percent)
{
  cell_number(to, "%.10g", *percent ? strtod(percent, NULL) / 100 : NAN);
}

/* What rows of all files begin with. */
static const char *const row_heading[] = {"name", "preset", "settings", "nets"};

static void add_row_cells(r4_table *to, const struct table *t, const struct row *r)
{
  r4_table_cell(to, r->name);
  r4_table_cell(to, r->preset);
  r4_table_cell(to, row_changes(t, r).text);
  cell(to, "%zu", r->ours.list.nets);
}

int csv_print(FILE *f, const void *table)
{
  static const char *const paper_heading[] = {"paper_avg", "paper_avg_sd", "paper_worst", "paper_worst_sd",
                                              "paper_kappa"};
  const struct table *t = table;
  struct marked *m = marked_new(t);
  if (!m) return cli_fail("reproduce", R4_E_MEMORY, "");
  r4_table *to = r4_table_new();
  HEADINGS(to, row_heading);
  for (size_t k = 0; k < m->c.n; k++) add_figure_headings(to, &m->c.of[k]);
  HEADINGS(to, paper_heading);
  for (size_t k = 0; k < t->rows; k++) {
    const struct row *r = &t->row[k];
    if (!r->done) continue;
    const char *const paper[] = {r->avg, r->avg_sd, r->worst, r->worst_sd};
    add_row_cells(to, t, r);
    for (size_t i = 0; i < m->c.n; i++) add_figure(to, r, &m->c.of[i], m->mark[i][k]);
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) add_published(to, paper[i]);
    r4_table_cell(to, r->kappa);
  }
  free(m);
  return table_end(f, "reproduce", to, R4_TABLE_CSV);
}

int costs_print_csv(FILE *f, const void *table)
{
  static const char *const heading[] = {"epochs", "seconds"};
  const struct table *t = table;
  r4_table *to = r4_table_new();
  HEADINGS(to, row_heading);
  HEADINGS(to, heading);
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (!r->done) continue;
    add_row_cells(to, t, r);
    cell(to, "%lld", (long long)r->ours.cost.epochs);
    cell_number(to, "%.10g", r->ours.cost.seconds);
  }
  return table_end(f, "reproduce", to, R4_TABLE_CSV);
}

/* ---- JSON ---- */

static void add_marks(r4_json *w, size_t row, const struct marked *m)
{
  r4_json_open(w, "marks", '{');
  for (size_t k = 0; k < m->c.n; k++)
    if (mark_word(m->mark[k][row])) r4_json_text(w, m->c.of[k].key, mark_word(m->mark[k][row]));
  r4_json_close(w, '}');
  r4_json_open(w, "p", '{');
  for (size_t k = 0; k < m->c.n; k++)
    if (!isnan(m->mark[k][row].p)) r4_json_real(w, m->c.of[k].key, m->mark[k][row].p);
  r4_json_close(w, '}');
}

static void add_of_nets(r4_json *w, const struct figure_list *f, const struct columns *c)
{
  static double value[MAX_NETS];
  r4_json_open(w, "of_nets", '{');
  for (size_t k = 0; k < c->n; k++) {
    figures_of_nets(f, c->of[k].key, value);
    r4_json_open(w, c->of[k].key, '[');
    for (size_t i = 0; i < f->nets; i++) r4_json_real(w, NULL, value[i]);
    r4_json_close(w, ']');
  }
  r4_json_close(w, '}');
}

static void add_row(r4_json *w, const struct table *t, size_t k, const struct marked *m)
{
  const struct row *r = &t->row[k];
  const r4_summary *s = &r->ours.summary;
  struct columns own = {0};
  columns_add_list(&own, &r->ours.list);
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", r->name);
  r4_json_text(w, "preset", r->preset);
  r4_json_text(w, "settings", row_changes(t, r).text);
  columns_json(&own, &r->ours.list, w);
  r4_json_real(w, "worst_group_of_means_accuracy", s->group[s->worst_mean_group].mean);
  r4_json_flag(w, "constant", s->constant > 0);
  r4_json_whole(w, "constant_seeds", (int64_t)s->constant);
  if (*r->ours.constant) r4_json_text(w, "notice", r->ours.constant);
  if (r->ours.unpenalised) r4_json_whole(w, "unpenalised_seeds", (int64_t)r->ours.unpenalised);
  if (r->ours.unpenalised) r4_json_text(w, "unpenalised", r->ours.unpenalised_says);
  add_marks(w, k, m);
  add_of_nets(w, &r->ours.list, &own);
  r4_json_open(w, "group_accuracy", '[');
  for (size_t g = 0; g < s->groups; g++) r4_json_real(w, NULL, s->group[g].mean);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}

int rows_print_json(FILE *f, const void *table)
{
  const struct table *t = table;
  struct marked *m = marked_new(t);
  if (!m) return cli_fail("reproduce", R4_E_MEMORY, "");
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "experiment", t->o->name);
  r4_json_text(w, "r4", R4_VERSION);
  r4_json_whole(w, "seeds", t->o->seeds);
  if (t->o->splits > 1) r4_json_whole(w, "splits", t->o->splits);
  r4_json_open(w, "rows", '[');
  for (size_t k = 0; k < t->rows; k++)
    if (t->row[k].done) add_row(w, t, k, m);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  free(m);
  return json_print(f, "reproduce", w);
}
