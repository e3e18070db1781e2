#include "experiment/figures.h"

#include <math.h>

#include "table_out.h"

const char *figure_text(double v, int digits, const char *none, char to[FIGURE_SIZE])
{
  if (isnan(v))
    snprintf(to, FIGURE_SIZE, "%s", none);
  else
    snprintf(to, FIGURE_SIZE, "%.*g", digits, v);
  return to;
}

const char *percent_text(r4_mean_sd v, int width, char to[FIGURE_SIZE])
{
  if (isnan(v.sd))
    snprintf(to, FIGURE_SIZE, "%*.2f", width, 100 * v.mean);
  else
    snprintf(to, FIGURE_SIZE, "%*.2f +- %.2f", width, 100 * v.mean, 100 * v.sd);
  return to;
}

const char *value_text(r4_mean_sd v, r4_unit unit, int width, int digits, char to[FIGURE_SIZE])
{
  bool share = unit == R4_UNIT_SHARE && !isnan(v.mean);
  return share ? percent_text(v, width, to) : figure_text(v.mean, digits, "none", to);
}

/* ---- For programs ---- */

enum { SD_SIZE = 2 * R4_KEY_SIZE + 8 };

void column_mean_sd(r4_table *t, const char *key)
{
  char sd[SD_SIZE];
  snprintf(sd, sizeof sd, "%s_sd", key);
  r4_table_column(t, key, 'l', 0);
  r4_table_column(t, sd, 'l', 0);
}

void cell_mean_sd(r4_table *t, r4_mean_sd v)
{
  cell_number(t, "%.10g", v.mean);
  cell_number(t, "%.10g", v.sd);
}

void json_mean_sd(r4_json *w, const char *key, r4_mean_sd v)
{
  char sd[SD_SIZE];
  snprintf(sd, sizeof sd, "%s_sd", key);
  r4_json_real(w, key, v.mean);
  r4_json_real(w, sd, v.sd);
}

/* ---- Nets that give one answer to everything ---- */

/* A net may know more classes than the data. */
static const char *answer_name(const r4_answers *a, const r4_data *d, char to[FIGURE_SIZE])
{
  const char *name = r4_data_class_name(d, a->most);
  if (name) return name;
  snprintf(to, FIGURE_SIZE, "class %zu", a->most);
  return to;
}

void json_answers(r4_json *w, const r4_answers *a, const r4_data *d)
{
  char number[FIGURE_SIZE];
  const char *name = answer_name(a, d, number);
  r4_json_text(w, "most_frequent_answer", name);
  r4_json_real(w, "most_frequent_share", a->most_share);
  r4_json_flag(w, "constant", a->constant);
  r4_json_text(w, "predicts_only", a->constant ? name : NULL);
}

const char *constant_text(const r4_answers *a, const r4_data *d, char *to, size_t size)
{
  char number[FIGURE_SIZE];
  snprintf(to, size, "predicts only %s", shown(answer_name(a, d, number)).text);
  return to;
}

const char *constant_advice(const r4_settings *s)
{
  r4_setting_value method = {0}, delta = {0}, epochs = {.whole = 1};
  if (s) r4_settings_get(s, "epochs", &epochs, NULL);
  if (!epochs.whole) return "epochs is 0: the weights are those of from.";
  if (s) r4_settings_get(s, "method", &method, NULL);
  if (s) r4_settings_get(s, "delta", &delta, NULL);
  if (method.text && !r4_method_describe(method.text).guided) return "Try a lower rate.";
  if (delta.real > 0) return "Try a larger delta, eps.ramp, or init: ibp.";
  return "Try a lower lambda, eps.ramp, penalty.form: log, or init: ibp.";
}
