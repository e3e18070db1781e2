#include "measure/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define FIGURE(name) extern const struct figure figure_##name;
#include "measure/figure/figures.def"
#undef FIGURE

static const struct figure *const table[] = {
#define FIGURE(name) &figure_##name,
#include "measure/figure/figures.def"
#undef FIGURE
};

enum { FIGURES = sizeof table / sizeof *table };

const struct figure *figure_at(size_t k)
{
  return table[k];
}

size_t r4_figure_count(void)
{
  return FIGURES;
}

r4_figure_info r4_figure_describe(size_t k)
{
  if (k >= FIGURES) return (r4_figure_info){0};
  r4_figure_info info = table[k]->info;
  info.by_group = table[k]->of_group != NULL;
  return info;
}

/* ---- Topics ---- */

const char *r4_topic_name(r4_topic t)
{
  static const char *const name[R4_TOPICS] = {
    [R4_TOPIC_ACCURACY] = "Accuracy",     [R4_TOPIC_PROBABILITY] = "Probabilities", [R4_TOPIC_FRAGILITY] = "Fragility",
    [R4_TOPIC_SWAP] = "The swap test",    [R4_TOPIC_WORDS] = "Other words",         [R4_TOPIC_NOISE] = "Noise",
    [R4_TOPIC_POINTING] = "Pointing games"};
  return (unsigned)t < R4_TOPICS ? name[t] : "";
}

/* ---- Filling in ---- */

/* "swap_lost_share", or "swap_lost_share.blank". */
static void name_value(const struct figure_source *s, const struct figure *f, size_t variant, char *key)
{
  char text[VARIANT_TEXT] = "";
  if (f->variant) f->variant(s, variant, text);
  bool usual = !*text || (f->info.usual && !strcmp(text, f->info.usual));
  snprintf(key, R4_KEY_SIZE, "%s%s%s", f->info.key, usual ? "" : ".", usual ? "" : text);
}

static r4_status add_figure(const struct figure_source *s, size_t number, r4_measured *to, r4_error *e)
{
  const struct figure *f = table[number];
  size_t n = f->variants ? f->variants(s) : 1;
  for (size_t k = 0; k < n; k++) {
    if (to->values == R4_MAX_VALUES)
      return r4_fail(e, R4_E_ARGUMENT, "more than %d figures", (int)R4_MAX_VALUES);
    r4_value *v = &to->value[to->values];
    v->figure = number;
    name_value(s, f, k, v->key);
    v->value = f->of(s, k);
    to->values++;
  }
  return R4_OK;
}

r4_status figures_measure(const r4_data *d, const struct predictions *p, r4_measured *to, r4_error *e)
{
  struct figure_source s = {.m = to, .d = d, .p = p};
  if (p) s.room = mem_new(r4_data_count(d) + 1, sizeof *s.room, "examples in order", e);
  if (p && !s.room) return R4_E_MEMORY;
  r4_status status = R4_OK;
  to->values = 0;
  for (size_t k = 0; k < FIGURES && !status; k++)
    if (p || !table[k]->predicts) status = add_figure(&s, k, to, e);
  r4_mem_free(s.room);
  return status;
}

/* ---- Keys ---- */

/* What stands behind the key of figure f: "" for none, the variant for others; NULL: it is not one of f. */
static const char *variant_in(const struct figure *f, const char *key)
{
  size_t n = strlen(f->info.key);
  if (strncmp(key, f->info.key, n) || (key[n] && key[n] != '.')) return NULL;
  return key[n] ? key + n + 1 : key + n;
}

size_t r4_figure_find(const char *key)
{
  size_t k = 0;
  while (k < FIGURES && !(key && variant_in(table[k], key))) k++;
  return k;
}

bool figures_keep(r4_measured *to, const char *key, double value)
{
  size_t number = r4_figure_find(key), at = 0;
  if (number == FIGURES || strlen(key) >= R4_KEY_SIZE) return false;
  for (size_t k = 0; k < to->values; k++)
    if (!strcmp(to->value[k].key, key)) return true;
  if (to->values == R4_MAX_VALUES) return false;
  while (at < to->values && to->value[at].figure <= number) at++;
  memmove(&to->value[at + 1], &to->value[at], (to->values - at) * sizeof *to->value);
  to->value[at].figure = number;
  to->value[at].value = value;
  snprintf(to->value[at].key, R4_KEY_SIZE, "%s", key);
  to->values++;
  return true;
}

double r4_measured_value(const r4_measured *m, const char *key)
{
  for (size_t k = 0; m && key && k < m->values; k++)
    if (!strcmp(m->value[k].key, key)) return m->value[k].value;
  return NAN;
}

double r4_figure_of_group(const r4_measured *m, size_t figure, size_t group)
{
  if (!m || figure >= FIGURES || !table[figure]->of_group || group >= m->metrics.groups) return NAN;
  return table[figure]->of_group(m, group);
}

/* The variant stands where the label has "%s". */
void r4_value_label(const r4_value *v, char text[R4_LABEL_SIZE])
{
  const r4_figure_info *info = &table[v->figure]->info;
  const char *variant = variant_in(table[v->figure], v->key), *at = strstr(info->label, "%s");
  if (!variant || !*variant) variant = info->usual ? info->usual : "";
  if (at)
    snprintf(text, R4_LABEL_SIZE, "%.*s%s%s", (int)(at - info->label), info->label, variant, at + 2);
  else
    snprintf(text, R4_LABEL_SIZE, "%s", info->label);
}

r4_mean_sd r4_value_over(const r4_measured *m, size_t seeds, const char *key)
{
  r4_mean_sd v = {NAN, NAN};
  double *x = r4_mem_new(seeds + 1, sizeof *x);
  for (size_t k = 0; x && k < seeds; k++) x[k] = r4_measured_value(&m[k], key);
  if (x) v = r4_mean_sd_of(seeds, x);
  r4_mem_free(x);
  return v;
}
