/* The tables of "r4 eval". */
#include <math.h>
#include <string.h>

#include "eval.h"
#include "figures.h"

enum { NAME_WIDTH = 16, CELL_WIDTH = 12 };

/* ---- Cells ---- */

/* Characters, not bytes. */
static int width_of(const char *s)
{
  int n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

static void print_left(const char *s, int width)
{
  struct shown name = shown(s);
  int n = width_of(name.text);
  printf("%s%*s", name.text, n < width ? width - n : 0, "");
}

static void print_right(const char *s, int width)
{
  int n = width_of(s);
  printf(" %*s%s", n < width ? width - n : 0, "", s);
}

/* Wide enough for the names of all groups. */
static int name_width(const struct evaluation *v)
{
  int width = NAME_WIDTH;
  for (size_t g = 0; g < v->summary.groups; g++) {
    int n = width_of(shown(r4_data_group_name(v->data, g)).text);
    if (n > width) width = n;
  }
  return width;
}

/* ---- What must be said about the figures ---- */

static bool has_no_kappa(const struct evaluation *v)
{
  return !v->metrics->masked_examples;
}

static void print_why_no_kappa(const struct evaluation *v)
{
  printf("kappa: none, as no example of %s has a mask\n", v->split);
}

/* A line for each seed that gives one answer to all, after a prefix for the run, and then what to try. */
static void print_constant(const struct evaluation *v, const char *prefix)
{
  char text[300];
  if (!v->summary.constant) return;
  for (size_t k = 0; k < v->run->seeds; k++)
    if (v->metrics[k].answers.constant)
      printf("%sseed %lld %s; its kappa means nothing\n", prefix, (long long)v->run->seed[k],
             constant_text(&v->metrics[k].answers, v->data, text, sizeof text));
  printf("%s%s\n", prefix, constant_advice(v->run->settings));
}

/* ---- One run ---- */

static void print_percent(const char *name, int width, r4_mean_sd v, const char *note)
{
  print_left(name, width);
  printf(" %6.2f +- %.2f %%%s\n", 100 * v.mean, 100 * v.sd, note);
}

static void print_groups(const struct evaluation *v, int width)
{
  const r4_summary *s = &v->summary;
  char note[80];
  for (size_t g = 0; g < s->groups; g++)
    if (!isnan(s->group[g].mean))
      print_percent(r4_data_group_name(v->data, g), width, s->group[g],
                    g == s->worst_mean_group ? "  least mean" : "");
  printf("\n");
  print_percent("group average", width, s->avg, "");
  snprintf(note, sizeof note, "  (of each seed; of means %.2f %%)", 100 * s->group[s->worst_mean_group].mean);
  print_percent("worst group", width, s->worst, note);
}

static void print_kappa(const char *name, int width, r4_mean_sd masked, r4_mean_sd core)
{
  char a[FIGURE_SIZE], b[FIGURE_SIZE], c[FIGURE_SIZE];
  print_left(name, width);
  printf(" %-10s %-10s %s\n", figure_text(masked.mean, 4, "none", a), figure_text(core.mean, 4, "none", b),
         figure_text(masked.mean / core.mean, 3, "-", c));
}

static void print_fragility(const struct evaluation *v, int width)
{
  const r4_metrics *m = v->metrics;
  print_left("fragility", width);
  printf(" %-10s %-10s ratio   width of the gradient's bounds, eps %g\n", "masked", "core", m->eps);
  print_kappa("largest", width, v->summary.kappa_masked_max, v->summary.kappa_core_max);
  print_kappa("mean", width, v->summary.kappa_masked_mean, v->summary.kappa_core_mean);
  if (m->masked_examples < r4_data_count(v->data))
    printf("of %zu examples with a mask\n", m->masked_examples);
  if (m->core_examples < m->masked_examples)
    printf("core: without %zu examples that are masked all over\n", m->masked_examples - m->core_examples);
}

/* ---- The paste test ---- */

static void print_lost(const struct evaluation *v, int width, size_t class)
{
  double found = 0, lost = 0, seeds = (double)v->summary.seeds;
  for (size_t k = 0; k < v->summary.seeds; k++)
    found += (double)v->pasted[k].found[class] / seeds, lost += v->pasted[k].lost[class] / seeds;
  r4_mean_sd share = r4_paste_share(v->pasted, v->summary.seeds, (int32_t) class);
  print_left(r4_data_class_name(v->data, class), width);
  if (isnan(share.mean))
    printf(" none found of %zu\n", v->pasted->examples[class]);
  else
    printf(" %6.2f +- %.2f %%  %.4g of %.4g found, of %zu\n", 100 * share.mean, 100 * share.sd, lost, found,
           v->pasted->examples[class]);
}

static void print_paste(const struct evaluation *v, int width)
{
  const r4_pasted *p = v->pasted;
  if (p->none && v->paste_asked) printf("\npaste test: none, as %s\n", p->none);
  if (p->none) return;
  printf(
    "\npaste test: lost when masked content of other classes is put on them (%zu donors, %d draws each)\n",
    p->donors, p->draws);
  for (size_t c = 0; c < p->classes; c++)
    if (p->examples[c]) print_lost(v, width, c);
}

void eval_print_table(const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  int width = name_width(v);
  r4_setting_value method = {0};
  r4_settings_get(v->run->settings, "method", &method, NULL);
  printf("%s: %s, %zu seed%s, %zu examples of %s\n\n", v->label, method.text, s->seeds,
         s->seeds == 1 ? "" : "s", r4_data_count(v->data), v->split);
  print_groups(v, width);
  printf("\n");
  if (has_no_kappa(v))
    print_why_no_kappa(v);
  else
    print_fragility(v, width);
  print_paste(v, width);
  if (s->constant) printf("\n");
  print_constant(v, "");
}

/* ---- Runs side by side ---- */

static int column_width(const struct evaluation *v)
{
  int n = width_of(v->name);
  return n > CELL_WIDTH ? n : CELL_WIDTH;
}

static void compare_row(const char *name, int width, const struct evaluation *const *v, size_t n,
                        double (*of)(const r4_summary *, size_t), size_t group)
{
  char cell[FIGURE_SIZE];
  print_left(name, width);
  for (size_t k = 0; k < n; k++) {
    snprintf(cell, sizeof cell, "%.2f %%", 100 * of(&v[k]->summary, group));
    print_right(cell, column_width(v[k]));
  }
  printf("\n");
}

static double of_group(const r4_summary *s, size_t group)
{
  return s->group[group].mean;
}

static double of_average(const r4_summary *s, size_t group)
{
  (void)group;
  return s->avg.mean;
}

static double of_worst(const r4_summary *s, size_t group)
{
  (void)group;
  return s->worst.mean;
}

/* A star stands at a kappa that means nothing. */
static void compare_kappa(int width, const struct evaluation *const *v, size_t n)
{
  char figure[FIGURE_SIZE], cell[FIGURE_SIZE + 2];
  print_left("kappa, masked", width);
  for (size_t k = 0; k < n; k++) {
    figure_text(v[k]->summary.kappa_masked_max.mean, 4, "none", figure);
    snprintf(cell, sizeof cell, "%s%s", v[k]->summary.constant ? "* " : "", figure);
    print_right(cell, column_width(v[k]));
  }
  printf("\n");
}

/* Where runs differ in eval.eps, their kappas are of different boxes. */
static void compare_eps(int width, const struct evaluation *const *v, size_t n)
{
  char cell[FIGURE_SIZE];
  bool differ = false;
  for (size_t k = 1; k < n; k++) differ |= v[k]->metrics->eps != v[0]->metrics->eps;
  if (!differ) return;
  print_left("  at eps", width);
  for (size_t k = 0; k < n; k++)
    print_right(figure_text(v[k]->metrics->eps, 4, "", cell), column_width(v[k]));
  printf("\n");
}

/* All runs look at the same data: what there is to paste is the same. */
static void compare_paste(int width, const struct evaluation *const *v, size_t n)
{
  char figure[FIGURE_SIZE], cell[FIGURE_SIZE + 2];
  const r4_pasted *p = v[0]->pasted;
  if (p->none && v[0]->paste_asked) printf("paste test: none, as %s\n", p->none);
  if (p->none) return;
  print_left("lost by paste", width);
  for (size_t k = 0; k < n; k++) {
    double share = r4_paste_share(v[k]->pasted, v[k]->summary.seeds, -1).mean;
    snprintf(figure, sizeof figure, isnan(share) ? "none" : "%.2f %%", 100 * share);
    snprintf(cell, sizeof cell, "%s%s", v[k]->summary.constant ? "* " : "", figure);
    print_right(cell, column_width(v[k]));
  }
  printf("\n");
}

void eval_print_comparison(const struct evaluation *const *v, size_t n)
{
  const struct evaluation *first = v[0];
  char heading[40], prefix[300];
  int width = name_width(first);
  snprintf(heading, sizeof heading, "accuracy of %s", first->split);
  print_left(heading, width);
  for (size_t k = 0; k < n; k++) print_right(v[k]->name, column_width(v[k]));
  printf("\n\n");
  for (size_t g = 0; g < first->summary.groups; g++)
    if (!isnan(first->summary.group[g].mean))
      compare_row(r4_data_group_name(first->data, g), width, v, n, of_group, g);
  printf("\n");
  compare_row("group average", width, v, n, of_average, 0);
  compare_row("worst group", width, v, n, of_worst, 0);
  compare_kappa(width, v, n);
  compare_eps(width, v, n);
  compare_paste(width, v, n);
  if (has_no_kappa(first)) print_why_no_kappa(first);
  for (size_t k = 0; k < n; k++) {
    snprintf(prefix, sizeof prefix, "* %.250s: ", v[k]->name);
    print_constant(v[k], prefix);
  }
}
