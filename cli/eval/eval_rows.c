/* Figures by the table of figures (r4_tools.h): rows of runs side by side, the list of one run, members of JSON. */
#include <math.h>
#include <string.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

static r4_mean_sd over_seeds(const struct evaluation *v, const char *key)
{
  return r4_value_over(v->measured, v->summary.seeds, key);
}

/* ---- Runs side by side ---- */

static bool is_row(const struct evaluation *v, const r4_value *x)
{
  bool shown = r4_figure_describe(x->figure).shown >= R4_SHOWN_APART;
  return shown && (!eval_has_no_scale(v) || r4_figure_describe(x->figure).topic != R4_TOPIC_FRAGILITY);
}

/* Shares that no run has, as of a swap test with nothing to swap, are left out. */
static bool is_empty(const struct evaluation *const *v, size_t n, const r4_value *x)
{
  bool none = r4_figure_describe(x->figure).unit == R4_UNIT_SHARE;
  for (size_t k = 0; k < n && none; k++) none = isnan(over_seeds(v[k], x->key).mean);
  return none;
}

/* "81.20 %", with a star where a net that gives one answer to everything looks best. */
static void add_cell(r4_table *t, const struct evaluation *v, const r4_value *x)
{
  char text[FIGURE_SIZE];
  r4_figure_info f = r4_figure_describe(x->figure);
  r4_mean_sd over = over_seeds(v, x->key);
  double mean = over.mean;
  const char *star = f.better < 0 ? eval_star(v) : "";
  if (f.unit == R4_UNIT_SHARE && !isnan(mean))
    cell(t, "%s%s %%", star, percent_text(over, 0, text));
  else
    cell(t, "%s%s", star, figure_text(mean, 4, "none", text));
}

/* Where runs differ in eval.eps, their kappas are of different boxes. */
static void add_eps(r4_table *t, const struct evaluation *const *v, size_t n)
{
  bool differ = false;
  for (size_t k = 1; k < n; k++) differ |= v[k]->measured->metrics.eps != v[0]->measured->metrics.eps;
  if (!differ) return;
  r4_table_cell(t, "  at eps");
  for (size_t k = 0; k < n; k++) cell(t, "%.4g", v[k]->measured->metrics.eps);
}

static void add_row(r4_table *t, const struct evaluation *const *v, size_t n, const r4_value *x)
{
  char label[R4_LABEL_SIZE];
  if (!is_row(v[0], x) || is_empty(v, n, x)) return;
  r4_value_label(x, label);
  r4_table_cell(t, label);
  for (size_t k = 0; k < n; k++) add_cell(t, v[k], x);
  if (!strcmp(x->key, "kappa_masked_max")) add_eps(t, v, n);
}

void rows_add(r4_table *t, const struct evaluation *const *v, size_t n)
{
  struct columns c = {0};
  for (size_t k = 0; k < n; k++) columns_add(&c, v[k]->measured->values, v[k]->measured->value);
  for (size_t k = 0; k < c.n; k++) add_row(t, v, n, &c.of[k]);
}

/* ---- One run ---- */

/* Where there are figures key_low and key_high. */
const char *rows_interval(const struct evaluation *v, const char *key, char *to)
{
  char low[R4_KEY_SIZE + 8], high[R4_KEY_SIZE + 8];
  snprintf(low, sizeof low, "%s_low", key);
  snprintf(high, sizeof high, "%s_high", key);
  double a = over_seeds(v, low).mean, b = over_seeds(v, high).mean;
  *to = 0;
  if (!isnan(a) && !isnan(b)) snprintf(to, FIGURE_SIZE, "95 %%: %.2f to %.2f", 100 * a, 100 * b);
  return to;
}

static void add_listed(r4_table *t, const struct evaluation *v, const r4_value *x)
{
  char label[R4_LABEL_SIZE], text[FIGURE_SIZE];
  r4_mean_sd mean = over_seeds(v, x->key);
  if (r4_figure_describe(x->figure).shown != R4_SHOWN_ROW || isnan(mean.mean)) return;
  r4_value_label(x, label);
  r4_table_cell(t, label);
  if (r4_figure_describe(x->figure).unit == R4_UNIT_SHARE)
    cell(t, "%s %%", percent_text(mean, 6, text));
  else
    cell(t, "%6s", figure_text(mean.mean, 4, "none", text));
  r4_table_cell(t, rows_interval(v, x->key, text));
}

void rows_list(r4_table *t, const struct evaluation *v)
{
  for (size_t k = 0; k < v->measured->values; k++) add_listed(t, v, &v->measured->value[k]);
}

/* ---- JSON ---- */

void rows_add_json(r4_json *w, const struct evaluation *v)
{
  for (size_t k = 0; k < v->measured->values; k++)
    json_mean_sd(w, v->measured->value[k].key, over_seeds(v, v->measured->value[k].key));
}

void rows_add_seed_json(r4_json *w, const struct evaluation *v, size_t seed)
{
  const r4_measured *m = &v->measured[seed];
  for (size_t k = 0; k < m->values; k++) r4_json_real(w, m->value[k].key, m->value[k].value);
  for (size_t k = 0; k < r4_figure_count(); k++) {
    r4_figure_info f = r4_figure_describe(k);
    char key[R4_KEY_SIZE + 8];
    if (!f.by_group || isnan(r4_measured_value(m, f.key))) continue;
    snprintf(key, sizeof key, "group_%s", f.key);
    r4_json_open(w, key, '{');
    for (size_t g = 0; g < m->metrics.groups; g++)
      r4_json_real(w, r4_data_group_name(v->data, g), r4_figure_of_group(m, k, g));
    r4_json_close(w, '}');
  }
}
