/* What a sweep has found. Figures are those of validation, where the shortcut says nothing if examples were exchanged:
 * whoever picks by these has not seen the test part. */
#include <math.h>
#include <string.h>

#include "experiment/figures.h"
#include "experiment/sweep.h"
#include "table_out.h"

const char *sweep_value(const struct sweep *s, size_t trial, size_t over)
{
  size_t rest = s->trial[trial];
  for (size_t k = s->overs - 1; k > over; k--) rest /= s->over[k].n;
  return s->over[over].value[rest % s->over[over].n];
}

/* ---- Choosing ---- */

static double accuracy(const struct sweep *s, size_t k)
{
  const struct listed_figures *f = &s->run[k].figures;
  return s->by_average ? f->val_avg.mean : f->val_worst.mean;
}

static bool is_alive(const struct sweep *s, size_t k)
{
  return s->run[k].done && !s->run[k].figures.dead && !isnan(accuracy(s, k));
}

static bool none_is_penalised(const struct sweep *s)
{
  bool none = true;
  for (size_t k = 0; k < s->trials && none; k++) none = !is_alive(s, k) || s->run[k].figures.unpenalised;
  return none;
}

/* A net that gives one answer to everything has the best kappa of all, and counts for nothing. One whose penalty
 * counted in no step is not a net of its method, and counts only if there is no other. */
static bool counts(const struct sweep *s, size_t k)
{
  return is_alive(s, k) && (!s->run[k].figures.unpenalised || none_is_penalised(s));
}

static double score(const struct sweep *s, size_t k)
{
  const struct listed_figures *f = &s->run[k].figures;
  return s->by_average ? f->val_avg.mean : f->score;
}

static size_t highest_score(const struct sweep *s)
{
  size_t top = s->trials;
  for (size_t k = 0; k < s->trials; k++)
    if (counts(s, k) && (top == s->trials || score(s, k) > score(s, top))) top = k;
  return top;
}

/* It cannot be told apart from the one with the highest score. */
static bool is_tied(const struct sweep *s, size_t k, size_t top)
{
  return counts(s, k) && score(s, k) >= score(s, top) - s->run[top].figures.se;
}

/* Of two that are tied: fewer predictions change with the masked content; where that is not known, the higher score; at
 * equal ones the smaller kappa. */
static bool is_better(const struct sweep *s, size_t k, size_t than)
{
  const struct listed_figures *a = &s->run[k].figures, *b = &s->run[than].figures;
  double less = isnan(a->changed) || isnan(b->changed) ? 0 : b->changed - a->changed;
  if (less != 0) return less > 0;
  double more = score(s, k) - score(s, than);
  return more > 0 || (more == 0 && a->kappa < b->kappa);
}

size_t sweep_best(const struct sweep *s)
{
  size_t top = highest_score(s), best = top;
  for (size_t k = 0; k < s->trials && top < s->trials; k++)
    if (is_tied(s, k, top) && is_better(s, k, best)) best = k;
  return best;
}

/* How many cannot be told apart by their scores. */
static size_t count_tied(const struct sweep *s)
{
  size_t top = highest_score(s), n = 0;
  for (size_t k = 0; k < s->trials && top < s->trials; k++) n += is_tied(s, k, top);
  return n;
}

/* No other is as accurate with a smaller kappa, or more accurate with one as small. */
static bool is_on_front(const struct sweep *s, size_t k)
{
  double a = accuracy(s, k), kappa = s->run[k].figures.kappa;
  if (!counts(s, k) || !isfinite(kappa)) return false;
  for (size_t i = 0; i < s->trials; i++) {
    double b = i == k || !counts(s, i) ? NAN : accuracy(s, i), other = s->run[i].figures.kappa;
    if ((b >= a && other < kappa) || (b > a && other <= kappa)) return false;
  }
  return true;
}

/* The front by growing kappa. Returns how many. */
static size_t sort_front(const struct sweep *s, size_t front[MAX_TRIALS])
{
  size_t n = 0;
  for (size_t k = 0; k < s->trials; k++) {
    if (!is_on_front(s, k)) continue;
    size_t at = n++;
    for (; at && s->run[front[at - 1]].figures.kappa > s->run[k].figures.kappa; at--)
      front[at] = front[at - 1];
    front[at] = k;
  }
  return n;
}

/* ---- Tables ---- */

/* What was measured of the validation part as it is, with the shortcut in it. */
static struct columns columns_of(const struct sweep *s)
{
  struct columns c = {0};
  for (size_t k = 0; k < s->trials; k++)
    if (s->run[k].done) columns_add_list(&c, &s->run[k].figures.list);
  return c;
}

/* What stands for itself: those of validation, in which the shortcut says nothing, and kappa. */
static const char AVG[] = "val_avg_group_accuracy", WORST[] = "val_worst_group_accuracy",
                  KAPPA[] = "val_kappa_masked_max";
enum { NUMBERS = 3 };
static const char *const number_key[NUMBERS] = {"val_score", "val_error", "val_changed"};

static r4_mean_sd kappa_of(const struct listed_figures *f)
{
  return figures_over(&f->list, "kappa_masked_max");
}

static void add_columns(const struct sweep *s, r4_table *t, const struct columns *c)
{
  for (size_t k = 0; k < s->overs; k++) r4_table_column(t, s->over[k].key, 'l', 0);
  column_mean_sd(t, AVG);
  column_mean_sd(t, WORST);
  column_mean_sd(t, KAPPA);
  for (size_t k = 0; k < NUMBERS; k++) r4_table_column(t, number_key[k], 'l', 0);
  columns_head(c, "as_is_", t);
}

static void add_values(const struct sweep *s, r4_table *t, size_t k)
{
  for (size_t i = 0; i < s->overs; i++) r4_table_cell(t, sweep_value(s, k, i));
}

static void add_cells(const struct sweep *s, r4_table *t, size_t k, const struct columns *c)
{
  const struct listed_figures *f = &s->run[k].figures;
  const double number[NUMBERS] = {f->score, f->se, f->changed};
  add_values(s, t, k);
  cell_mean_sd(t, f->val_avg);
  cell_mean_sd(t, f->val_worst);
  cell_mean_sd(t, kappa_of(f));
  for (size_t i = 0; i < NUMBERS; i++) cell_number(t, "%.10g", number[i]);
  columns_cells(c, &f->list, t);
}

static int print_csv(FILE *f, const void *user)
{
  const struct sweep *s = user;
  static const char *const last[] = {"constant_seeds", "unpenalised_seeds", "pareto", "picked"};
  const struct columns c = columns_of(s);
  r4_table *t = r4_table_new();
  size_t best = sweep_best(s);
  add_columns(s, t, &c);
  for (size_t k = 0; k < sizeof last / sizeof *last; k++) r4_table_column(t, last[k], 'l', 0);
  for (size_t k = 0; k < s->trials; k++) {
    if (!s->run[k].done) continue;
    add_cells(s, t, k, &c);
    cell(t, "%lld", (long long)s->run[k].figures.dead);
    cell(t, "%lld", (long long)s->run[k].figures.unpenalised);
    cell(t, "%d", is_on_front(s, k));
    cell(t, "%d", k == best);
  }
  return table_end(f, "sweep", t, R4_TABLE_CSV);
}

static int print_front(FILE *f, const void *user)
{
  const struct sweep *s = user;
  static size_t front[MAX_TRIALS];
  const struct columns c = columns_of(s);
  r4_table *t = r4_table_new();
  size_t n = sort_front(s, front);
  add_columns(s, t, &c);
  for (size_t k = 0; k < n; k++) add_cells(s, t, front[k], &c);
  return table_end(f, "sweep", t, R4_TABLE_CSV);
}

/* What a person should know of a trial first. */
static const char *remark(const struct sweep *s, size_t k, size_t best)
{
  const struct listed_figures *f = &s->run[k].figures;
  if (f->dead) return "dead";
  if (f->unpenalised) return k == best ? "picked, not penalised" : "not penalised";
  return k == best ? "picked" : is_on_front(s, k) ? "front" : "";
}

/* Accuracies of validation as it is are those of the shortcut: they stand in files alone. */
static bool is_shown(const r4_value *of)
{
  r4_figure_info info = r4_figure_describe(of->figure);
  return info.first && info.topic != R4_TOPIC_ACCURACY;
}

static void add_row(const struct sweep *s, r4_table *t, size_t k, size_t best, const struct columns *c)
{
  const struct listed_figures *f = &s->run[k].figures;
  char text[FIGURE_SIZE];
  add_values(s, t, k);
  r4_table_cell(t, percent_text(f->val_avg, 0, text));
  cell(t, "%.2f", 100 * f->se);
  r4_table_cell(t, percent_text(f->val_worst, 0, text));
  cell(t, "%.2f", 100 * f->score);
  cell_number(t, "%.2f", 100 * f->changed);
  for (size_t i = 0; i < c->n; i++) {
    r4_unit unit = r4_figure_describe(c->of[i].figure).unit;
    if (is_shown(&c->of[i])) r4_table_cell(t, value_text(figures_over(&f->list, c->of[i].key), unit, 0, 3, text));
  }
  r4_table_cell(t, remark(s, k, best));
}

static void add_headings(const struct sweep *s, r4_table *t, const struct columns *c)
{
  static const char *const first[] = {"average", "error", "worst group", "score", "changed"};
  for (size_t k = 0; k < s->overs; k++) r4_table_column(t, s->over[k].key, 'l', 0);
  for (size_t k = 0; k < sizeof first / sizeof *first; k++) r4_table_column(t, first[k], 'r', 0);
  for (size_t k = 0; k < c->n; k++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&c->of[k], label);
    if (is_shown(&c->of[k])) r4_table_column(t, label, 'r', 0);
  }
  r4_table_column(t, " ", 'r', 0);
}

/* What the figures are of, and no more than that. */
static void print_head(FILE *f, const struct sweep *s)
{
  int64_t exchanged = 0;
  bool filled = false, one_sided = false;
  for (size_t k = 0; k < s->trials; k++) {
    if (!s->run[k].done) continue;
    exchanged = s->run[k].figures.exchanged;
    filled = s->run[k].figures.val_kind == R4_VAL_FILLED;
    one_sided = s->run[k].figures.one_sided;
  }
  fprintf(
    f, "%s: %lld seed%s each, in per cent. Figures are of the validation part; the test part was not used.\n",
    s->file, (long long)s->seeds, s->seeds > 1 ? "s" : "");
  if (exchanged)
    fprintf(
      f,
      "They are measured on %lld validation examples whose masked content was exchanged with that of another class.\n",
      (long long)exchanged);
  else if (filled)
    fprintf(f, "Masked content of validation examples is replaced, as set by data.val_fill.\n");
  else
    fprintf(f,
            "Validation examples are unchanged: there are no masks, and a shortcut in them goes unnoticed.\n");
  if (exchanged && one_sided)
    fprintf(f,
            "Masks are on some classes only. If the others have a shortcut of their own, it is still in validation, "
            "and the\nbest may be the one that uses it: check the pick on examples without it.\n");
  fprintf(
    f,
    "Error: standard error of the average. Score: the mean of the average and of the worst group, as far as it "
    "exceeds\n"
    "noise. Changed: predictions that change with the masked content. Front: no other is as accurate with a smaller\n"
    "kappa.\n"
    "\n");
}

static void print_unpenalised(FILE *f, const struct sweep *s)
{
  size_t n = 0;
  for (size_t k = 0; k < s->trials; k++) n += s->run[k].done && s->run[k].figures.unpenalised;
  if (!n) return;
  if (none_is_penalised(s))
    fprintf(
      f,
      "\nThe penalty never took effect in any of them: try more epochs, smaller batches, or penalty.cap: false\n");
  else
    fprintf(f,
            "\n"
            "Not penalised: the penalty never took effect, so the net was not trained by its method, and is not "
            "picked.\n");
}

static void print_pick(FILE *f, const struct sweep *s, size_t best)
{
  size_t tied = count_tied(s);
  fprintf(f, "\nPicked by validation alone, by %s", s->by_average ? "the average" : "the score");
  if (tied > 1)
    fprintf(
      f,
      " (%zu are within one standard error of the highest, and the one with the fewest changed predictions "
      "is taken)",
      tied);
  fprintf(f, ":");
  for (size_t i = 0; i < s->overs; i++) fprintf(f, " %s=%s", s->over[i].key, sweep_value(s, best, i));
  fprintf(f, "\nIts test figures: r4 eval ");
  cli_print_word(f, s->run[best].folder);
  fprintf(f, "\n");
}

static int print_markdown(FILE *f, const void *user)
{
  const struct sweep *s = user;
  const struct columns c = columns_of(s);
  r4_table *t = r4_table_new();
  size_t best = sweep_best(s);
  print_head(f, s);
  add_headings(s, t, &c);
  for (size_t k = 0; k < s->trials; k++)
    if (s->run[k].done) add_row(s, t, k, best, &c);
  int code = table_end(f, "sweep", t, R4_TABLE_MARKDOWN);
  if (code) return code;
  print_unpenalised(f, s);
  if (*s->thin) fprintf(f, "\n%s.\n", s->thin);
  if (best == s->trials) return EXIT_DONE;
  print_pick(f, s, best);
  return EXIT_DONE;
}

/* ---- JSON ---- */

static void add_object(r4_json *w, const struct sweep *s, size_t k, size_t best)
{
  const struct listed_figures *f = &s->run[k].figures;
  const double number[NUMBERS] = {f->score, f->se, f->changed};
  struct columns c = {0};
  columns_add_list(&c, &f->list);
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  r4_json_open(w, "settings", '{');
  for (size_t i = 0; i < s->overs; i++) r4_json_text(w, s->over[i].key, sweep_value(s, k, i));
  r4_json_close(w, '}');
  json_mean_sd(w, AVG, f->val_avg);
  json_mean_sd(w, WORST, f->val_worst);
  json_mean_sd(w, KAPPA, kappa_of(f));
  for (size_t i = 0; i < NUMBERS; i++) r4_json_real(w, number_key[i], number[i]);
  r4_json_open(w, "as_is", '{');
  columns_json(&c, &f->list, w);
  r4_json_close(w, '}');
  r4_json_whole(w, "constant_seeds", f->dead);
  r4_json_whole(w, "unpenalised_seeds", f->unpenalised);
  r4_json_flag(w, "pareto", is_on_front(s, k));
  r4_json_flag(w, "picked", k == best);
  r4_json_close(w, '}');
}

static int print_json(FILE *f, const void *user)
{
  const struct sweep *s = user;
  r4_json *w = r4_json_new();
  size_t best = sweep_best(s);
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "file", s->file);
  r4_json_text(w, "r4", R4_VERSION);
  r4_json_whole(w, "seeds", s->seeds);
  r4_json_text(w, "picked_by", s->by_average ? "validation: average over groups" : "validation: score");
  r4_json_open(w, "trials", '[');
  for (size_t k = 0; k < s->trials; k++)
    if (s->run[k].done) add_object(w, s, k, best);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(f, "sweep", w);
}

/* ---- The plot ---- */

static int print_plot(FILE *f, const void *user)
{
  const struct sweep *s = user;
  static double x[MAX_TRIALS], y[MAX_TRIALS];
  static size_t front[MAX_TRIALS];
  size_t n = 0, on_front = sort_front(s, front);
  r4_plot *p = r4_plot_new("Accuracy against kappa, validation", 1);
  r4_plot_panel(p, NULL, "kappa", s->by_average ? "average, %" : "worst group, %");
  r4_plot_log(p, 'x');
  for (size_t k = 0; k < s->trials; k++)
    if (counts(s, k)) x[n] = s->run[k].figures.kappa, y[n++] = 100 * accuracy(s, k);
  r4_plot_points(p, "all", n, x, y);
  for (size_t k = 0; k < on_front; k++)
    x[k] = s->run[front[k]].figures.kappa, y[k] = 100 * accuracy(s, front[k]);
  r4_plot_line(p, "front", on_front, x, y, NULL);
  return plot_print(f, "sweep", p);
}

int sweep_write(const struct sweep *s)
{
  static const struct result_file file[] = {{"results.csv", print_csv},
                                            {"results.json", print_json},
                                            {"results.md", print_markdown},
                                            {"pareto.csv", print_front},
                                            {"pareto.svg", print_plot}};
  return results_write("sweep", s->out, sizeof file / sizeof *file, file, s);
}

int sweep_print(FILE *f, const struct sweep *s)
{
  return print_markdown(f, s);
}
