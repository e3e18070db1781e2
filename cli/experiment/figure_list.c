#include "experiment/figure_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/figures.h"
#include "table_out.h"

r4_value *figures_add_net(struct figure_list *f, size_t n)
{
  struct net_figures *grown = realloc(f->net, (f->nets + 1) * sizeof *grown);
  if (!grown) return NULL;
  f->net = grown;
  r4_value *value = calloc(n + 1, sizeof *value);
  if (value) f->net[f->nets++] = (struct net_figures){n, value};
  return value;
}

void figures_free(struct figure_list *f)
{
  for (size_t k = 0; k < f->nets; k++) free(f->net[k].value);
  free(f->net);
  *f = (struct figure_list){0};
}

void figures_of_nets(const struct figure_list *f, const char *key, double *to)
{
  for (size_t k = 0; k < f->nets; k++) {
    to[k] = NAN;
    for (const r4_value *v = f->net[k].value; v < f->net[k].value + f->net[k].n; v++)
      if (!strcmp(v->key, key)) to[k] = v->value;
  }
}

r4_mean_sd figures_over(const struct figure_list *f, const char *key)
{
  double *value = malloc((f->nets + 1) * sizeof *value);
  if (value) figures_of_nets(f, key, value);
  r4_mean_sd v = value ? r4_mean_sd_of(f->nets, value) : (r4_mean_sd){NAN, NAN};
  free(value);
  return v;
}

/* ---- Columns of tables ---- */

static bool has_key(const struct columns *c, const char *key)
{
  for (size_t k = 0; k < c->n; k++)
    if (!strcmp(c->of[k].key, key)) return true;
  return false;
}

void columns_add(struct columns *c, size_t n, const r4_value *value)
{
  for (const r4_value *v = value; v < value + n; v++) {
    size_t at = c->n;
    if (has_key(c, v->key) || c->n == R4_MAX_VALUES) continue;
    for (; at && c->of[at - 1].figure > v->figure; at--) c->of[at] = c->of[at - 1];
    c->of[at] = *v;
    c->n++;
  }
}

void columns_add_list(struct columns *c, const struct figure_list *f)
{
  for (size_t k = 0; k < f->nets; k++) columns_add(c, f->net[k].n, f->net[k].value);
}

void columns_head(const struct columns *c, const char *prefix, r4_table *t)
{
  for (size_t k = 0; k < c->n; k++) {
    char name[2 * R4_KEY_SIZE];
    snprintf(name, sizeof name, "%s%s", prefix, c->of[k].key);
    column_mean_sd(t, name);
  }
}

void columns_cells(const struct columns *c, const struct figure_list *f, r4_table *t)
{
  for (size_t k = 0; k < c->n; k++) cell_mean_sd(t, figures_over(f, c->of[k].key));
}

void columns_json(const struct columns *c, const struct figure_list *f, r4_json *w)
{
  for (size_t k = 0; k < c->n; k++) json_mean_sd(w, c->of[k].key, figures_over(f, c->of[k].key));
}
