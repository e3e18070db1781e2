/* Pointing games in "r4 eval". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

/* ---- What is asked for ---- */

static bool is_attribution(const char *name)
{
  for (size_t k = 0; k < r4_attribution_count(); k++)
    if (!strcmp(r4_attribution_describe(k).name, name)) return true;
  return false;
}

static bool refuse(const char *list)
{
  fprintf(stderr, "r4 eval: --pointing: \"%.80s\", expected up to %d of", shown(list).text, R4_MAX_POINTING);
  for (size_t k = 0; k < r4_attribution_count(); k++)
    fprintf(stderr, "%s %s", k ? "," : "", r4_attribution_describe(k).name);
  fprintf(stderr, "\n");
  return false;
}

bool pointing_methods(const char *list, struct pointing *to)
{
  *to = (struct pointing){0};
  if (strlen(list) >= sizeof to->list) return refuse(list);
  snprintf(to->list, sizeof to->list, "%s", list);
  char *rest = *list ? to->list : NULL;
  for (char *name; (name = strsep(&rest, ","));) {
    if (to->n == R4_MAX_POINTING || !is_attribution(name)) return refuse(list);
    to->method[to->n++] = name;
  }
  return true;
}

/* ---- Over seeds ---- */

enum { ENERGY, SHARE, HIT, AREA, FIGURES };

static const char *const figure_name[] = {"energy", "share", "hit", "area"};

static r4_mean_sd figure(const struct evaluation *v, size_t method, int k)
{
  double x[MAX_SEEDS];
  for (size_t i = 0; i < v->run->seeds; i++) {
    const r4_pointing *p = &v->measured[i].pointing[method];
    x[i] = (const double[]){p->energy, p->share, p->hit, p->area}[k];
  }
  return r4_mean_sd_of(v->run->seeds, x);
}

/* Examples are counted as figures are: in the mean over seeds. Nets differ in which maps are empty. */
static double count(const struct evaluation *v, size_t method, bool left_out)
{
  double sum = 0;
  for (size_t i = 0; i < v->run->seeds; i++) {
    const r4_pointing *p = &v->measured[i].pointing[method];
    sum += (double)(left_out ? p->left_out : p->examples);
  }
  return sum / (double)v->run->seeds;
}

int pointing_print(const struct evaluation *v)
{
  if (!v->pointing->n) return EXIT_DONE;
  printf(
    "\n"
    "Pointing games, on examples with a mask and a core; A is the attribution of the label's margin at a pixel.\n"
    "energy: share of max(0, A) on the core; share: of |A|; hit: examples whose largest A is on the core;\n"
    "area: share of the image that is core, and the energy and share of a uniform map.\n"
    "\n");
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', 16);
  for (int k = 0; k < FIGURES; k++) r4_table_column(t, figure_name[k], 'r', 16);
  r4_table_column(t, "examples", 'r', 8);
  for (size_t m = 0; m < v->pointing->n; m++) {
    r4_table_cell(t, v->pointing->method[m]);
    for (int k = 0; k < FIGURES; k++) {
      char text[FIGURE_SIZE];
      r4_mean_sd f = figure(v, m, k);
      cell(t, isnan(f.mean) ? "none" : "%s %%", percent_text(f, 0, text));
    }
    cell(t, "%.6g", count(v, m, false));
  }
  int code = table_end(stdout, "eval", t, R4_TABLE_PLAIN);
  for (size_t m = 0; m < v->pointing->n; m++)
    if (count(v, m, true) > 0)
      printf("%s: %.6g examples%s are left out: their maps have no positive pixel, or an infinite one\n",
             v->pointing->method[m], count(v, m, true), v->run->seeds > 1 ? " of a seed, on average," : "");
  return code;
}

void pointing_add_json(r4_json *w, const struct evaluation *v)
{
  if (!v->pointing || !v->pointing->n) return;
  r4_json_open(w, "pointing", '{');
  for (size_t m = 0; m < v->pointing->n; m++) {
    r4_json_open(w, v->pointing->method[m], '{');
    r4_json_real(w, "examples", count(v, m, false));
    r4_json_real(w, "left_out", count(v, m, true));
    for (int k = 0; k < FIGURES; k++) json_mean_sd(w, figure_name[k], figure(v, m, k));
    r4_json_close(w, '}');
  }
  r4_json_close(w, '}');
}
