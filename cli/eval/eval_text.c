/* The tables of "r4 eval". */
#include <math.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

enum { NAME_WIDTH = 15, CELL_WIDTH = 11 };

/* Wide enough for the names of all groups: the tables of a run stand below each other. */
static int name_width(const struct evaluation *v)
{
  int width = NAME_WIDTH;
  for (size_t g = 0; g < v->summary.groups; g++) {
    int n = 0;
    struct shown name = shown(r4_data_group_name(v->data, g));
    for (const char *s = name.text; *s; s++)
      n += ((unsigned char)*s & 0xc0) != 0x80;
    if (n > width) width = n;
  }
  return width;
}

/* A column of names, and others to the left. */
static r4_table *table_of(const struct evaluation *v, int others, int width)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, NULL, 'l', name_width(v));
  for (int k = 0; k < others; k++) r4_table_column(t, NULL, 'l', width);
  return t;
}

/* ---- What must be said about the figures ---- */

/* eps is a distance between vectors of words, which each net scales as it likes: kappas of two nets at the same eps
 * say nothing about which of them the words matter to more. */
bool eval_has_no_scale(const struct evaluation *v)
{
  return r4_data_vocabulary(v->data) > 0 && !v->kappa_asked;
}

static bool has_no_kappa(const struct evaluation *v)
{
  return !v->measured->metrics.masked_examples || eval_has_no_scale(v);
}

static void print_why_no_kappa(const struct evaluation *v)
{
  r4_counts c = r4_data_counts(v->data, -1, -1);
  bool masks = false;
  for (int k = 0; k < R4_SPLITS; k++) masks |= c.masked[k] > 0;
  if (masks && eval_has_no_scale(v))
    printf("kappa: not shown: nets differ in the scale of their word vectors, so eps %g is large for one and small "
           "for another (--eps E shows it)\n",
           v->measured->metrics.eps);
  else if (masks)
    printf("kappa: none, as the setting eval.kappa_examples (--kappa) is 0\n");
  else
    printf("kappa: none, as no example of %s has a mask\n", v->split);
}

static void print_infinite(const struct evaluation *v, const char *prefix)
{
  if (isinf(v->summary.kappa_masked_max.mean))
    printf("%skappa is infinite: the interval bounds overflow, and prove nothing about this net\n", prefix);
}

/* A line for each seed that gives one answer to all, after a prefix for the run, and then what to try. */
static void print_constant(const struct evaluation *v, const char *prefix)
{
  char text[300];
  if (!v->summary.constant) return;
  for (size_t k = 0; k < v->run->seeds; k++)
    if (v->measured[k].metrics.answers.constant)
      printf("%sseed %lld %s; its kappa means nothing\n", prefix, (long long)v->run->seed[k],
             constant_text(&v->measured[k].metrics.answers, v->data, text, sizeof text));
  printf("%s%s\n", prefix, constant_advice(v->run->settings));
}

static void print_unpenalised(const struct evaluation *v, const char *prefix)
{
  if (v->outcomes.unpenalised) printf("%s%s\n", prefix, v->outcomes.says);
}

/* ---- One run ---- */

static void add_percent(r4_table *t, const char *name, r4_mean_sd v, const char *note)
{
  char text[FIGURE_SIZE];
  r4_table_cell(t, name);
  cell(t, "%s %%", percent_text(v, 6, text));
  r4_table_cell(t, note);
}

/* Classes hide where a net is wrong: on those examples on which the shortcut misleads. */
static void add_by_mask(r4_table *t, const struct evaluation *v)
{
  char note[40];
  if (by_rows(v)) cells_empty(t, 3);
  for (size_t k = 0; k < by_rows(v); k++) {
    if (!v->by.count[k]) continue;
    snprintf(note, sizeof note, "%zu example%s", v->by.count[k], v->by.count[k] == 1 ? "" : "s");
    add_percent(t, v->by.value[k], by_accuracy(v, k), note);
  }
}

static int print_groups(const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  char note[140], interval[FIGURE_SIZE];
  r4_table *t = table_of(v, 2, 0);
  for (size_t g = 0; g < s->groups; g++)
    if (!isnan(s->group[g].mean))
      add_percent(t, r4_data_group_name(v->data, g), s->group[g],
                  g == s->worst_mean_group ? "lowest mean" : "");
  add_by_mask(t, v);
  cells_empty(t, 3);
  add_percent(t, "group average", s->avg, rows_interval(v, "avg_group_accuracy", interval));
  rows_interval(v, "worst_group_accuracy", interval);
  snprintf(note, sizeof note, "%s%s(mean over seeds; lowest mean of a group %.2f %%)", interval, *interval ? " " : "",
           100 * s->group[s->worst_mean_group].mean);
  add_percent(t, "worst group", s->worst, note);
  rows_list(t, v);
  return table_end(stdout, "eval", t, R4_TABLE_PLAIN);
}

static void add_kappa(r4_table *t, const char *name, r4_mean_sd masked, r4_mean_sd core)
{
  char text[FIGURE_SIZE];
  r4_table_cell(t, name);
  r4_table_cell(t, figure_text(masked.mean, 4, "none", text));
  r4_table_cell(t, figure_text(core.mean, 4, "none", text));
  r4_table_cell(t, figure_text(masked.mean / core.mean, 3, "-", text));
  cells_empty(t, 1);
}

static int print_fragility(const struct evaluation *v)
{
  const r4_metrics *m = &v->measured->metrics;
  r4_table *t = table_of(v, 2, 9);
  r4_table_column(t, NULL, 'l', 6);
  r4_table_column(t, NULL, 'l', 0);
  r4_table_cell(t, "fragility");
  r4_table_cell(t, "masked");
  r4_table_cell(t, "core");
  r4_table_cell(t, "ratio");
  cell(t, "how far the gradient can move, eps %g", m->eps);
  add_kappa(t, "largest", v->summary.kappa_masked_max, v->summary.kappa_core_max);
  add_kappa(t, "mean", v->summary.kappa_masked_mean, v->summary.kappa_core_mean);
  int code = table_end(stdout, "eval", t, R4_TABLE_PLAIN);
  print_infinite(v, "");
  if (m->masked_examples < r4_data_count(v->data))
    printf("on %zu examples with a mask\n", m->masked_examples);
  if (m->core_examples < m->masked_examples)
    printf("core: without %zu examples that are masked entirely\n", m->masked_examples - m->core_examples);
  return code;
}

int eval_print_table(const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  r4_setting_value method = {0};
  int code;
  r4_settings_get(v->run->settings, "method", &method, NULL);
  printf("%s: %s, %zu seed%s, %zu examples of %s\n", v->label, method.text, s->seeds,
         s->seeds == 1 ? "" : "s", r4_data_count(v->data), v->split);
  print_unpenalised(v, "");
  printf("\n");
  if ((code = print_groups(v))) return code;
  predicted_print_ensemble(v);
  printf("\n");
  if (has_no_kappa(v))
    print_why_no_kappa(v);
  else if ((code = print_fragility(v)))
    return code;
  if ((code = swap_print(v, name_width(v)))) return code;
  if ((code = words_print(v))) return code;
  if (s->constant) printf("\n");
  print_constant(v, "");
  return EXIT_DONE;
}

/* ---- Runs side by side ---- */

const char *eval_star(const struct evaluation *v)
{
  return v->summary.constant ? "* " : "";
}

static void add_group(r4_table *t, size_t group, const struct evaluation *const *v, size_t n)
{
  r4_table_cell(t, r4_data_group_name(v[0]->data, group));
  char text[FIGURE_SIZE];
  for (size_t k = 0; k < n; k++) cell(t, "%s %%", percent_text(v[k]->summary.group[group], 0, text));
}

static void add_comparison(r4_table *t, const struct evaluation *const *v, size_t n)
{
  const struct evaluation *first = v[0];
  cells_empty(t, n + 1);
  for (size_t g = 0; g < first->summary.groups; g++)
    if (!isnan(first->summary.group[g].mean))
      add_group(t, g, v, n);
  if (by_rows(first)) cells_empty(t, n + 1);
  for (size_t k = 0; k < by_rows(first); k++) {
    if (!first->by.count[k]) continue;
    r4_table_cell(t, first->by.value[k]);
    char value[FIGURE_SIZE];
    for (size_t i = 0; i < n; i++) cell(t, "%s %%", percent_text(by_accuracy(v[i], k), 0, value));
  }
  cells_empty(t, n + 1);
  rows_add(t, v, n);
}

int eval_print_comparison(const struct evaluation *const *v, size_t n)
{
  const struct evaluation *first = v[0];
  char text[300];
  r4_table *t = r4_table_new();
  snprintf(text, sizeof text, "accuracy of %s", first->split);
  r4_table_column(t, text, 'l', name_width(first));
  for (size_t k = 0; k < n; k++) r4_table_column(t, v[k]->name, 'r', CELL_WIDTH);
  add_comparison(t, v, n);
  int code = table_end(stdout, "eval", t, R4_TABLE_PLAIN);
  bool several = false;
  for (size_t k = 0; k < n; k++) several |= v[k]->summary.seeds > 1;
  if (several) printf("worst group: found for each seed, then averaged; it may be below all groups above\n");
  predicted_print_differences(v, n);
  swap_print_none(first, "");
  if (has_no_kappa(first)) print_why_no_kappa(first);
  for (size_t k = 0; k < n; k++) {
    snprintf(text, sizeof text, "* %.250s: ", v[k]->name);
    if (!eval_has_no_scale(v[k])) print_infinite(v[k], text);
    print_constant(v[k], text);
    print_unpenalised(v[k], text + 2); /* no figure has a star for it */
    swap_print_verdict(v[k], text + 2);
  }
  return code;
}
