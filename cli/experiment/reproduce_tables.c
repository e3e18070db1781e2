/* The tables of "r4 reproduce" for people, one for each topic that rows have figures of; and what training took. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/figures.h"
#include "experiment/reproduce.h"
#include "table_out.h"

static r4_table *table_of_rows(void)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', 21);
  return t;
}

/* ---- Cells ---- */

/* A star stands at a figure that means nothing, ^ at the best, ~ at one that is tied with it: "98.16 +- 0.07 ^". */
static void add_figure(r4_table *t, const struct row *r, const r4_value *of, struct mark m)
{
  char text[FIGURE_SIZE];
  r4_figure_info f = r4_figure_describe(of->figure);
  const char *star = *r->ours.constant && f.better <= 0 ? "*" : "";
  cell(t, "%s%s%s", star, value_text(row_figure(r, of->key), f.unit, *star ? 4 : 5, 3, text),
       m.kind == MARK_BEST ? " ^" : m.kind == MARK_TIED ? " ~" : "");
}

/* # stands at a row whose penalty counted in no step. */
static void add_name(r4_table *t, const struct row *r)
{
  cell(t, "%s%s", r->name, r->ours.unpenalised ? " #" : "");
}

/* ---- What stands beside the figures of a topic ---- */

/* The row of a preset as it is. */
static const struct row *find_row(const struct table *t, const char *preset)
{
  for (const struct row *r = t->row; r < t->row + t->rows; r++)
    if (r->done && !strcmp(row_preset(r), preset) && !*r->settings) return r;
  return NULL;
}

static double worst_of(const struct row *r)
{
  return row_figure(r, "worst_group_accuracy").mean;
}

/* (method - ERM) / (ceiling - ERM), of the worst group; NaN without the other two, or without a gap of a point. */
static double gap_closed(const struct table *t, const struct row *r)
{
  const struct row *erm = find_row(t, "erm"), *ceiling = find_row(t, "ceiling");
  if (!erm || !ceiling || r == erm || r == ceiling) return NAN;
  double low = worst_of(erm), gap = worst_of(ceiling) - low;
  return gap > 0.01 ? (worst_of(r) - low) / gap : NAN;
}

static void add_published(r4_table *t, const char *mean, const char *sd)
{
  cell(t, !*mean ? "-" : *sd ? "%s +- %s" : "%s", mean, sd);
}

static void add_accuracy(r4_table *to, const struct table *t, const struct row *r)
{
  const r4_summary *s = &r->ours.summary;
  double gap = gap_closed(t, r);
  cell(to, "%5.2f", 100 * s->group[s->worst_mean_group].mean);
  cell(to, isnan(gap) ? "-" : "%.0f", 100 * gap);
  add_published(to, r->avg, r->avg_sd);
  add_published(to, r->worst, r->worst_sd);
}

static void add_fragility(r4_table *to, const struct table *t, const struct row *r)
{
  static const char *const part[2][2] = {{"kappa_masked_max", "kappa_core_max"},
                                         {"kappa_masked_mean", "kappa_core_mean"}};
  (void)t;
  for (int k = 0; k < 2; k++) {
    char text[FIGURE_SIZE];
    double ratio = row_figure(r, part[k][0]).mean / row_figure(r, part[k][1]).mean;
    r4_table_cell(to, figure_text(ratio, 2, "-", text));
  }
  add_published(to, r->kappa, "");
}

static const struct beside {
  const char *heading[5]; /* NULL at the end */
  void (*add)(r4_table *to, const struct table *t, const struct row *r);
  const char *about;
} beside[R4_TOPICS] = {
  [R4_TOPIC_ACCURACY] = {{"of means", "gap", "paper: avg", "paper: worst"},
                         add_accuracy,
                         " Of means: the lowest mean of a group, as published. Gap: how much of the gap between ERM "
                         "and the ceiling is closed."},
  [R4_TOPIC_FRAGILITY] = {{"ratio", "ratio, mean", "paper"}, add_fragility, " Ratio: masked to core."},
};

/* ---- What is said around tables: in LaTeX as comments ---- */

struct notes {
  FILE *to, *f; /* f: where they are written, to itself but for LaTeX */
  char *text;
  size_t size;
};

static void notes_begin(struct notes *n, FILE *to, r4_table_form form)
{
  *n = (struct notes){.to = to, .f = to};
  if (form == R4_TABLE_LATEX) n->f = open_memstream(&n->text, &n->size);
  if (!n->f) n->f = to;
}

static void notes_end(struct notes *n)
{
  if (n->f == n->to) return;
  fclose(n->f);
  for (const char *line = n->text; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
    int length = (int)strcspn(line, "\n");
    fprintf(n->to, length ? "%% %.*s\n" : "\n", length, line);
  }
  free(n->text);
}

/* ---- A table for each topic ---- */

/* In lines of at most so many characters. */
static void print_wrapped(FILE *f, const char *s)
{
  enum { LINE = 118 };
  while (strlen(s) > LINE) {
    int n = LINE;
    while (n > 1 && s[n] != ' ') n--;
    fprintf(f, "%.*s\n", n, s);
    s += n + 1;
  }
  fprintf(f, "%s\n", s);
}

/* "Accuracy. group average: mean of the accuracies of groups; worst group: .." */
static void print_about(FILE *f, const struct columns *c, r4_topic topic)
{
  char text[R4_MAX_VALUES * 200];
  int n = snprintf(text, sizeof text, "%s. ", r4_topic_name(topic));
  for (size_t k = 0; k < c->n && n < (int)sizeof text; k++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&c->of[k], label);
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%s: %s", k ? "; " : "", label,
                  r4_figure_describe(c->of[k].figure).about);
  }
  if (n < (int)sizeof text)
    snprintf(text + n, sizeof text - (size_t)n, ".%s", beside[topic].about ? beside[topic].about : "");
  fprintf(f, "\n");
  print_wrapped(f, text);
  fprintf(f, "\n");
}

/* Some row has it, and tables show it. */
static bool is_shown(const struct table *t, const r4_value *of, r4_topic topic)
{
  r4_figure_info f = r4_figure_describe(of->figure);
  bool any = false;
  for (const struct row *r = t->row; r < t->row + t->rows; r++)
    any |= r->done && !isnan(row_figure(r, of->key).mean);
  return any && f.topic == topic && f.shown >= R4_SHOWN_TOPIC;
}

static int print_topic(FILE *f, const struct table *t, const struct columns *c, r4_topic topic, r4_table_form form)
{
  static struct mark mark[R4_MAX_VALUES][MAX_ROWS];
  r4_table *to = table_of_rows();
  for (size_t i = 0; i < c->n; i++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&c->of[i], label);
    marks_find(t, &c->of[i], mark[i]);
    r4_table_column(to, label, 'l', 0);
  }
  for (const char *const *heading = beside[topic].heading; *heading; heading++) r4_table_column(to, *heading, 'l', 0);
  for (size_t k = 0; k < t->rows; k++) {
    if (!t->row[k].done) continue;
    add_name(to, &t->row[k]);
    for (size_t i = 0; i < c->n; i++) add_figure(to, &t->row[k], &c->of[i], mark[i][k]);
    if (beside[topic].add) beside[topic].add(to, t, &t->row[k]);
  }
  struct notes n;
  notes_begin(&n, f, form);
  print_about(n.f, c, topic);
  notes_end(&n);
  return table_end(f, "reproduce", to, form);
}

static int print_topics(FILE *f, const struct table *t, r4_table_form form)
{
  const struct columns all = table_columns(t);
  int code = EXIT_DONE;
  for (int topic = 0; topic < R4_TOPICS && !code; topic++) {
    struct columns own = {0};
    for (size_t k = 0; k < all.n; k++)
      if (is_shown(t, &all.of[k], (r4_topic)topic)) own.of[own.n++] = all.of[k];
    if (own.n) code = print_topic(f, t, &own, (r4_topic)topic, form);
  }
  return code;
}

/* What must be known about the figures above. */
static void print_notes(FILE *f, const struct table *t)
{
  bool none = false;
  fprintf(
    f,
    "\n"
    "^ is the best of its column, ~ is tied with it: Welch's t test over the nets of the two rows has p > 0.05, "
    "two-sided,\n"
    "with Holm's correction for all rows that are compared with the best. With one net each there is no test. "
    "Ceilings and\n"
    "controls are not compared, nor are figures with a star.\n");
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (r->done && *r->ours.constant) fprintf(f, "\n\\* %s: %s.\n", r->name, r->ours.constant);
    if (r->done && r->ours.unpenalised)
      fprintf(f, "\n\\# %s: %s, and it is not compared.\n", r->name, r->ours.unpenalised_says);
    none |= r->done && isnan(row_figure(r, "kappa_masked_max").mean);
  }
  if (none)
    fprintf(f,
            "\nkappa is none if no test example has a mask, or the setting eval.kappa_examples is 0.\n");
}

static void print_heading(FILE *f, const struct table *t)
{
  fprintf(f, "%s: %lld seed%s", t->o->name, (long long)t->o->seeds, t->o->seeds == 1 ? "" : "s");
  if (t->o->splits > 1) fprintf(f, " of each of %lld splits of the data", (long long)t->o->splits);
  fprintf(f, ", mean +- standard deviation, shares in per cent, by r4 %s.\n", R4_VERSION);
  if (*t->set) fprintf(f, "Changed in all rows: --set %s\n", t->set);
}

int tables_print(FILE *f, const struct table *t, r4_table_form form)
{
  struct notes n;
  notes_begin(&n, f, form);
  print_heading(n.f, t);
  notes_end(&n);
  int code = print_topics(f, t, form);
  notes_begin(&n, f, form);
  if (!code) print_notes(n.f, t);
  notes_end(&n);
  return code;
}

/* ---- What it took ---- */

int costs_print(FILE *f, const struct table *t, r4_table_form form)
{
  static const char *const heading[] = {"epochs", "s/epoch", "s/net", "to ERM"};
  const struct row *erm = find_row(t, "erm");
  r4_table *to = table_of_rows();
  for (size_t k = 0; k < sizeof heading / sizeof *heading; k++) r4_table_column(to, heading[k], 'r', 8);
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (!r->done) continue;
    const r4_run_cost *c = &r->ours.cost;
    double nets = (double)r->ours.list.nets,
           base = erm ? erm->ours.cost.seconds / (double)erm->ours.cost.epochs : NAN;
    double epoch = c->seconds / (double)c->epochs;
    r4_table_cell(to, r->name);
    cell(to, "%.4g", (double)c->epochs / nets);
    cell(to, "%.3g", epoch);
    cell(to, "%.4g", c->seconds / nets);
    cell(to, isfinite(epoch / base) ? "%.2f" : "-", epoch / base);
  }
  struct notes n;
  notes_begin(&n, f, form);
  fprintf(n.f,
          "Time of training in seconds, from the logs of the runs, with several nets trained at once. It varies from "
          "run\n"
          "to run; results.* do not depend on it, and are reproduced to the byte.\n"
          "\n");
  notes_end(&n);
  return table_end(f, "reproduce", to, form);
}
