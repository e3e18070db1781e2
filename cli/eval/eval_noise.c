/* Relative core sensitivity in "r4 eval". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

/* ---- What is asked for ---- */

static bool refuse(const char *list)
{
  fprintf(
    stderr,
    "r4 eval: --noise: \"%.80s\", expected usual, published, or up to %d numbers above 0 with commas, such as "
    "0.5,1,2\n",
    shown(list).text, R4_MAX_NOISES);
  return false;
}

bool noise_levels(const char *list, struct noise *to)
{
  *to = (struct noise){.asked = *list};
  if (!*list || !strcmp(list, "usual")) return true;
  to->options.published = !strcmp(list, "published");
  if (to->options.published) return true;
  for (const char *s = list; to->options.n < R4_MAX_NOISES;) {
    char *end;
    double v = strtod(s, &end);
    if (end == s || !(v > 0 && isfinite(v)) || (*end && *end != ',')) return refuse(list);
    to->options.sigma[to->options.n++] = v;
    if (!*end) return true;
    s = end + 1;
  }
  return refuse(list);
}

/* ---- Over seeds ---- */

/* The mean over the seeds of a member, and its standard deviation. */
static r4_mean_sd over_seeds(const struct evaluation *v, size_t member)
{
  double x[MAX_SEEDS];
  for (size_t i = 0; i < v->summary.seeds; i++)
    memcpy(&x[i], (const char *)&v->measured[i].sensitivity + member, sizeof x[i]);
  return r4_mean_sd_of(v->summary.seeds, x);
}

#define OF(v, k, field) \
  over_seeds(v, offsetof(r4_sensitivity, at[0].field) + (k) * sizeof(((r4_sensitivity *)0)->at[0]))

static r4_mean_sd clean(const struct evaluation *v)
{
  return over_seeds(v, offsetof(r4_sensitivity, clean));
}

/* ---- Text ---- */

static void print_definition(const struct evaluation *v)
{
  const r4_sensitivity *s = &v->measured->sensitivity;
  printf("\n"
         "Relative core sensitivity: accuracy with noise on what is masked (s) and on the core (c) of the same %zu\n"
         "examples, rcs = (s - c) / (2 min(a, 1 - a)), a = (s + c) / 2. 1: only the core matters; -1: only the "
         "mask.\n",
         s->examples);
  if (v->noise.options.published)
    printf("Noise is N(0, sigma^2) in units of 1/255, as in the published code: too little to be seen.\n");
  else
    printf("Noise is N(0, sigma^2) in units of the deviation of each channel:");
  for (size_t c = 0; c < s->channels && !v->noise.options.published; c++) printf(" %.3g", s->unit[c]);
  if (!v->noise.options.published) printf("\n");
}

int noise_print(const struct evaluation *v)
{
  if (!v->noise.asked) return EXIT_DONE;
  print_definition(v);
  printf("Accuracy on these without noise: %.2f %%. The standard error is over examples, for one seed.\n\n",
         100 * clean(v).mean);
  r4_table *t = r4_table_new();
  static const char *const head[] = {"sigma", "s %", "c %", "rcs", "se"};
  for (size_t k = 0; k < sizeof head / sizeof *head; k++) r4_table_column(t, head[k], 'r', 8);
  for (size_t k = 0; k < v->measured->sensitivity.n; k++) {
    char rcs[FIGURE_SIZE], se[FIGURE_SIZE];
    cell(t, "%g", v->measured->sensitivity.at[k].sigma);
    cell(t, "%.2f", 100 * OF(v, k, spurious_noise).mean);
    cell(t, "%.2f", 100 * OF(v, k, core_noise).mean);
    cell(t, "%s", figure_text(OF(v, k, rcs).mean, 3, "none", rcs));
    cell(t, "%s", figure_text(OF(v, k, rcs_se).mean, 2, "none", se));
  }
  return table_end(stdout, "eval", t, R4_TABLE_PLAIN);
}

/* ---- JSON ---- */

void noise_add_json(r4_json *w, const struct evaluation *v)
{
  if (!v->noise.asked) return;
  r4_json_open(w, "core_sensitivity", '{');
  r4_json_flag(w, "published", v->noise.options.published);
  r4_json_whole(w, "examples", (int64_t)v->measured->sensitivity.examples);
  json_mean_sd(w, "accuracy", clean(v));
  r4_json_open(w, "curve", '[');
  for (size_t k = 0; k < v->measured->sensitivity.n; k++) {
    r4_json_open(w, NULL, '{');
    r4_json_real(w, "sigma", v->measured->sensitivity.at[k].sigma);
    json_mean_sd(w, "spurious_noise_accuracy", OF(v, k, spurious_noise));
    json_mean_sd(w, "core_noise_accuracy", OF(v, k, core_noise));
    json_mean_sd(w, "rcs", OF(v, k, rcs));
    r4_json_real(w, "rcs_se", OF(v, k, rcs_se).mean);
    r4_json_close(w, '}');
  }
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}
