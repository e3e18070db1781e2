/* The tables of "r4 reproduce" for people: accuracy, fragility, the swap test; and what training took. */
#include <math.h>
#include <string.h>

#include "experiment/figures.h"
#include "experiment/reproduce.h"
#include "table_out.h"

struct column {
  const char *heading;
  char side;
  int width;
};

static r4_table *table_with(const struct column *column, size_t n)
{
  r4_table *t = r4_table_new();
  for (size_t k = 0; k < n; k++) r4_table_column(t, column[k].heading, column[k].side, column[k].width);
  return t;
}
#define TABLE(list) table_with(list, sizeof(list) / sizeof *(list))

/* ---- Cells ---- */

/* A star stands at a figure that means nothing. */
static const char *star(const struct row *r, enum figure f)
{
  return *r->ours.constant && figure_info[f].better <= 0 ? "*" : "";
}

static const char *sign_of(struct mark m)
{
  return m.kind == MARK_BEST ? " ^" : m.kind == MARK_TIED ? " ~" : "";
}

/* # stands at a row whose penalty counted in no step. */
static void add_name(r4_table *t, const struct row *r)
{
  cell(t, "%s%s", r->name, r->ours.unpenalised ? " #" : "");
}

/* "98.16 +- 0.07 ^" */
static void add_percent(r4_table *t, const struct row *r, enum figure f, struct mark m)
{
  char text[FIGURE_SIZE];
  r4_mean_sd v = row_figure(r, f);
  const char *before = star(r, f);
  cell(t, isnan(v.mean) ? "-" : "%s%s%s", before, percent_text(v, *before ? 4 : 5, text), sign_of(m));
}

static void add_kappa(r4_table *t, const struct row *r, enum figure f, struct mark m)
{
  char text[FIGURE_SIZE];
  cell(t, "%s%s%s", star(r, f), figure_text(row_figure(r, f).mean, 3, "none", text), sign_of(m));
}

static void add_ratio(r4_table *t, const struct row *r, enum figure masked, enum figure core)
{
  char text[FIGURE_SIZE];
  r4_table_cell(t, figure_text(row_figure(r, masked).mean / row_figure(r, core).mean, 2, "-", text));
}

static void add_published(r4_table *t, const char *mean, const char *sd)
{
  cell(t, !*mean ? "-" : *sd ? "%s +- %s" : "%s", mean, sd);
}

/* ---- Accuracy ---- */

/* The row of a preset as it is. */
static const struct row *find_row(const struct table *t, const char *preset)
{
  for (const struct row *r = t->row; r < t->row + t->rows; r++)
    if (r->done && !strcmp(row_preset(r), preset) && !*r->settings) return r;
  return NULL;
}

/* (method - ERM) / (ceiling - ERM), of the worst group; NaN without the other two, or without a gap of a point. */
static double gap_closed(const struct table *t, const struct row *r)
{
  const struct row *erm = find_row(t, "erm"), *ceiling = find_row(t, "ceiling");
  if (!erm || !ceiling || r == erm || r == ceiling) return NAN;
  double low = erm->ours.summary.worst.mean, gap = ceiling->ours.summary.worst.mean - low;
  return gap > 0.01 ? (r->ours.summary.worst.mean - low) / gap : NAN;
}

static int print_accuracy(FILE *f, const struct table *t, r4_table_form form)
{
  static const struct column column[] = {
    {"", 'l', 21},   {"average", 'l', 15},  {"worst group", 'l', 15}, {"of means", 'l', 8},
    {"gap", 'r', 4}, {"accuracy", 'l', 15}, {"paper: avg", 'l', 13},  {"paper: worst", 'l', 13}};
  struct mark average[MAX_ROWS], worst[MAX_ROWS], accuracy[MAX_ROWS];
  r4_table *to = TABLE(column);
  marks_find(t, FIGURE_AVERAGE, average);
  marks_find(t, FIGURE_WORST, worst);
  marks_find(t, FIGURE_ACCURACY, accuracy);
  for (size_t k = 0; k < t->rows; k++) {
    const struct row *r = &t->row[k];
    if (!r->done) continue;
    double gap = gap_closed(t, r);
    add_name(to, r);
    add_percent(to, r, FIGURE_AVERAGE, average[k]);
    add_percent(to, r, FIGURE_WORST, worst[k]);
    cell(to, "%5.2f", 100 * r->ours.summary.group[r->ours.summary.worst_mean_group].mean);
    cell(to, isnan(gap) ? "-" : "%.0f", 100 * gap);
    add_percent(to, r, FIGURE_ACCURACY, accuracy[k]);
    add_published(to, r->avg, r->avg_sd);
    add_published(to, r->worst, r->worst_sd);
  }
  fprintf(
    f,
    "Accuracy in per cent. Average: over groups. Worst group: the least of each seed; of means: the least of "
    "the groups'\nmeans, the published way. Gap: the share of the way from ERM to the ceiling.\n\n");
  return table_end(f, "reproduce", to, form);
}

/* ---- Fragility ---- */

static int print_fragility(FILE *f, const struct table *t, r4_table_form form)
{
  static const struct column column[] = {{"", 'l', 21},        {"masked max", 'l', 10}, {"mean", 'l', 10},
                                         {"core max", 'l', 8}, {"mean", 'l', 8},        {"ratio max", 'l', 9},
                                         {"mean", 'l', 8},     {"paper", 'r', 7}};
  struct mark max[MAX_ROWS], mean[MAX_ROWS];
  r4_table *to = TABLE(column);
  marks_find(t, FIGURE_MASKED_MAX, max);
  marks_find(t, FIGURE_MASKED_MEAN, mean);
  for (size_t k = 0; k < t->rows; k++) {
    const struct row *r = &t->row[k];
    if (!r->done) continue;
    add_name(to, r);
    add_kappa(to, r, FIGURE_MASKED_MAX, max[k]);
    add_kappa(to, r, FIGURE_MASKED_MEAN, mean[k]);
    add_kappa(to, r, FIGURE_CORE_MAX, (struct mark){MARK_NONE, NAN});
    add_kappa(to, r, FIGURE_CORE_MEAN, (struct mark){MARK_NONE, NAN});
    add_ratio(to, r, FIGURE_MASKED_MAX, FIGURE_CORE_MAX);
    add_ratio(to, r, FIGURE_MASKED_MEAN, FIGURE_CORE_MEAN);
    add_published(to, r->kappa, "");
  }
  fprintf(
    f, "\nFragility, kappa: the width of the bounds of the input gradient over the masked and over the core "
       "box, the largest\nand the mean; ratio: masked to core.\n\n");
  return table_end(f, "reproduce", to, form);
}

/* ---- The swap test ---- */

static int print_swap(FILE *f, const struct table *t, r4_table_form form)
{
  static const struct column column[] = {{"", 'l', 21}, {"flipped", 'l', 15}, {"lost", 'l', 15}};
  struct mark flipped[MAX_ROWS], lost[MAX_ROWS];
  r4_table *to = TABLE(column);
  marks_find(t, FIGURE_FLIPPED, flipped);
  marks_find(t, FIGURE_LOST, lost);
  for (size_t k = 0; k < t->rows; k++) {
    if (!t->row[k].done) continue;
    add_name(to, &t->row[k]);
    add_percent(to, &t->row[k], FIGURE_FLIPPED, flipped[k]);
    add_percent(to, &t->row[k], FIGURE_LOST, lost[k]);
  }
  fprintf(
    f,
    "\nSwap test, in per cent. Flipped: answers that change when the masked content is that of an example of "
    "another class;\nlost: of the right answers, those that are wrong then.\n\n");
  return table_end(f, "reproduce", to, form);
}

/* ---- All of them ---- */

bool table_has_swap(const struct table *t)
{
  bool any = false;
  for (const struct row *r = t->row; r < t->row + t->rows; r++) any |= r->done && r->ours.swapped;
  return any;
}

/* What must be known about the figures above. */
static void print_notes(FILE *f, const struct table *t)
{
  bool none = false;
  fprintf(
    f,
    "\n^ is the best of its column, ~ is tied with it: Welch's t test over the nets of the two rows has p > "
    "0.05, two-sided,\nwith Holm's correction for all rows that are compared with the best. Of one net each "
    "there is no test. Ceilings and\ncontrols do not compete, nor do figures with a star.\n");
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (r->done && *r->ours.constant) fprintf(f, "\n\\* %s: %s.\n", r->name, r->ours.constant);
    if (r->done && r->ours.unpenalised)
      fprintf(f, "\n\\# %s: %s, and it does not compete.\n", r->name, r->ours.unpenalised_says);
    none |= r->done && isnan(row_figure(r, FIGURE_MASKED_MAX).mean);
  }
  if (none)
    fprintf(f,
            "\nkappa is none where no test example has a mask, or the setting eval.kappa_examples is 0.\n");
}

int tables_print(FILE *f, const struct table *t, r4_table_form form)
{
  fprintf(f, "%s: %lld seed%s", t->o->name, (long long)t->o->seeds, t->o->seeds == 1 ? "" : "s");
  if (t->o->splits > 1) fprintf(f, " of each of %lld splits of the data", (long long)t->o->splits);
  fprintf(f, ", mean +- standard deviation, by r4 %s.\n\n", R4_VERSION);
  int code = print_accuracy(f, t, form);
  if (!code) code = print_fragility(f, t, form);
  if (!code && table_has_swap(t)) code = print_swap(f, t, form);
  if (!code) print_notes(f, t);
  return code;
}

/* ---- What it took ---- */

int costs_print(FILE *f, const struct table *t, r4_table_form form)
{
  static const struct column column[] = {
    {"", 'l', 21}, {"epochs", 'r', 6}, {"s/epoch", 'r', 8}, {"s/net", 'r', 8}, {"to ERM", 'r', 6}};
  const struct row *erm = find_row(t, "erm");
  r4_table *to = TABLE(column);
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (!r->done) continue;
    const r4_run_cost *c = &r->ours.cost;
    double nets = (double)r->ours.nets,
           base = erm ? erm->ours.cost.seconds / (double)erm->ours.cost.epochs : NAN;
    double epoch = c->seconds / (double)c->epochs;
    r4_table_cell(to, r->name);
    cell(to, "%.4g", (double)c->epochs / nets);
    cell(to, "%.3g", epoch);
    cell(to, "%.4g", c->seconds / nets);
    cell(to, isfinite(epoch / base) ? "%.2f" : "-", epoch / base);
  }
  fprintf(f,
          "What training took, in seconds by the logs of the runs, with as many nets side by side as there "
          "were. No "
          "two runs take\nthe same time: results.* do not depend on it, and are the same to the byte.\n\n");
  return table_end(f, "reproduce", to, form);
}
