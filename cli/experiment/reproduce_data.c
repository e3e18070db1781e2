/* The results of "r4 reproduce" for programs: all figures, with all digits. CSV, a table, has per cent, JSON
 * shares. */
#include <math.h>

#include "experiment/figures.h"
#include "experiment/reproduce.h"
#include "table_out.h"

/* ---- CSV ---- */

/* Empty where there is none. */
static void add_number(r4_table *t, double v)
{
  if (isnan(v))
    cells_empty(t, 1);
  else
    cell(t, "%.10g", v);
}

static void add_columns(r4_table *to)
{
  static const char *const first[] = {"name", "preset", "settings", "nets"};
  static const char *const last[] = {"paper_avg", "paper_avg_sd", "paper_worst", "paper_worst_sd",
                                     "paper_kappa"};
  char name[64];
  for (size_t k = 0; k < sizeof first / sizeof *first; k++) r4_table_column(to, first[k], 'l', 0);
  for (int f = 0; f < ALL_FIGURES; f++) {
    static const char *const part[] = {"", "_sd", "_mark", "_p"};
    for (int k = 0; k < (figure_info[f].better ? 4 : 2); k++) {
      snprintf(name, sizeof name, "%s%s", figure_info[f].key, part[k]);
      r4_table_column(to, name, 'l', 0);
    }
  }
  for (size_t k = 0; k < sizeof last / sizeof *last; k++) r4_table_column(to, last[k], 'l', 0);
}

static void add_figure(r4_table *to, const struct row *r, enum figure f, struct mark m)
{
  r4_mean_sd v = row_figure(r, f);
  add_number(to, figure_info[f].scale * v.mean);
  add_number(to, figure_info[f].scale * v.sd);
  if (!figure_info[f].better) return;
  r4_table_cell(to, mark_word(m) ? mark_word(m) : "");
  add_number(to, m.p);
}

int csv_print(FILE *f, const void *table)
{
  const struct table *t = table;
  struct mark mark[ALL_FIGURES][MAX_ROWS];
  r4_table *to = r4_table_new();
  for (int k = 0; k < ALL_FIGURES; k++) marks_find(t, (enum figure)k, mark[k]);
  add_columns(to);
  for (size_t k = 0; k < t->rows; k++) {
    const struct row *r = &t->row[k];
    if (!r->done) continue;
    const char *const paper[] = {r->avg, r->avg_sd, r->worst, r->worst_sd, r->kappa};
    r4_table_cell(to, r->name);
    r4_table_cell(to, r->preset);
    r4_table_cell(to, r->settings);
    cell(to, "%zu", r->ours.nets);
    for (int i = 0; i < ALL_FIGURES; i++) add_figure(to, r, (enum figure)i, mark[i][k]);
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) r4_table_cell(to, paper[i]);
  }
  return table_end(f, "reproduce", to, R4_TABLE_CSV);
}

int costs_print_csv(FILE *f, const void *table)
{
  const struct table *t = table;
  static const char *const heading[] = {"name", "preset", "settings", "nets", "epochs", "seconds"};
  r4_table *to = r4_table_new();
  for (size_t k = 0; k < sizeof heading / sizeof *heading; k++) r4_table_column(to, heading[k], 'l', 0);
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (!r->done) continue;
    r4_table_cell(to, r->name);
    r4_table_cell(to, r->preset);
    r4_table_cell(to, r->settings);
    cell(to, "%zu", r->ours.nets);
    cell(to, "%lld", (long long)r->ours.cost.epochs);
    add_number(to, r->ours.cost.seconds);
  }
  return table_end(f, "reproduce", to, R4_TABLE_CSV);
}

/* ---- JSON ---- */

static void add_values(r4_json *w, const struct row *r, enum figure f)
{
  r4_json_open(w, figure_info[f].key, '[');
  for (size_t k = 0; k < r->ours.nets; k++) r4_json_real(w, NULL, r->ours.value[f][k]);
  r4_json_close(w, ']');
}

static void add_marks(r4_json *w, size_t row, struct mark mark[ALL_FIGURES][MAX_ROWS])
{
  r4_json_open(w, "marks", '{');
  for (int f = 0; f < ALL_FIGURES; f++)
    if (mark_word(mark[f][row])) r4_json_text(w, figure_info[f].key, mark_word(mark[f][row]));
  r4_json_close(w, '}');
  r4_json_open(w, "p", '{');
  for (int f = 0; f < ALL_FIGURES; f++)
    if (!isnan(mark[f][row].p)) r4_json_real(w, figure_info[f].key, mark[f][row].p);
  r4_json_close(w, '}');
}

static bool is_shown(const struct row *r, int f)
{
  return !figure_info[f].swap || r->ours.swapped;
}

static void add_row(r4_json *w, const struct table *t, size_t k, struct mark mark[ALL_FIGURES][MAX_ROWS])
{
  const struct row *r = &t->row[k];
  const r4_summary *s = &r->ours.summary;
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "name", r->name);
  r4_json_text(w, "preset", r->preset);
  r4_json_text(w, "settings", r->settings);
  for (int f = 0; f < ALL_FIGURES; f++)
    if (is_shown(r, f))
      json_mean_sd(w, figure_info[f].key, row_figure(r, (enum figure)f));
  r4_json_real(w, "worst_group_of_means_accuracy", s->group[s->worst_mean_group].mean);
  r4_json_flag(w, "constant", s->constant > 0);
  r4_json_whole(w, "constant_seeds", (int64_t)s->constant);
  if (*r->ours.constant) r4_json_text(w, "notice", r->ours.constant);
  if (r->ours.unpenalised) r4_json_whole(w, "unpenalised_seeds", (int64_t)r->ours.unpenalised);
  if (r->ours.unpenalised) r4_json_text(w, "unpenalised", r->ours.unpenalised_says);
  add_marks(w, k, mark);
  r4_json_open(w, "of_nets", '{');
  for (int f = 0; f < ALL_FIGURES; f++) {
    if (!is_shown(r, f)) continue;
    add_values(w, r, (enum figure)f);
  }
  r4_json_close(w, '}');
  r4_json_open(w, "group_accuracy", '[');
  for (size_t g = 0; g < s->groups; g++) r4_json_real(w, NULL, s->group[g].mean);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}

int rows_print_json(FILE *f, const void *table)
{
  const struct table *t = table;
  struct mark mark[ALL_FIGURES][MAX_ROWS];
  r4_json *w = r4_json_new();
  for (int k = 0; k < ALL_FIGURES; k++) marks_find(t, (enum figure)k, mark[k]);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "experiment", t->o->name);
  r4_json_text(w, "r4", R4_VERSION);
  r4_json_whole(w, "seeds", t->o->seeds);
  if (t->o->splits > 1) r4_json_whole(w, "splits", t->o->splits);
  r4_json_open(w, "rows", '[');
  for (size_t k = 0; k < t->rows; k++)
    if (t->row[k].done) add_row(w, t, k, mark);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(f, "reproduce", w);
}
