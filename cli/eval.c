/* r4 eval: accuracy by group and fragility of a run, over its seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"

struct settings {
  struct words runs;
  const char *split;
  double eps;
  bool json;
};

#define AT(field) offsetof(struct settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORDS, AT(runs), NULL, 0, 0, "folders that r4 train made; several are set side by side"},
  {"split", OPTION_TEXT, AT(split), "test", 0, 0, "test, val or train"},
  {"eps", OPTION_REAL, AT(eps), "-1", -1, 1e6, "radius of the box of fragility; -1: the setting eval.eps"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "for machines; accuracies in per cent"},
  {0},
};

struct evaluation {
  const struct settings *o;
  const char *path;
  struct run *run;
  r4_data *all, *data; /* all splits, and the one that is looked at */
  r4_metrics *metrics; /* of each seed */
  r4_summary summary;
};

/* ---- Measuring ---- */

static bool read_split(const char *name, r4_split *split)
{
  static const char *const names[] = {"train", "val", "test"};
  for (int k = 0; k < 3; k++) {
    if (strcmp(names[k], name)) continue;
    *split = (r4_split)k;
    return true;
  }
  fprintf(stderr, "r4 eval: --split needs train, val or test, got \"%s\"\n", name);
  return false;
}

static r4_setting_value setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v;
}

static r4_status measure(struct evaluation *v, r4_error *e)
{
  const r4_settings *s = v->run->settings;
  double eps = v->o->eps >= 0 ? v->o->eps : setting(s, "eval.eps").real;
  r4_status status = R4_OK;
  for (size_t k = 0; k < v->run->seeds && !status; k++) {
    r4_model *m = r4_model_load(v->run->model[k], NULL, e);
    status = m ? r4_evaluate(r4_model_net(m), r4_model_weights(m), v->data, eps,
                             setting(s, "eval.batch").whole, &v->metrics[k], e)
               : e->status;
    r4_model_free(m);
  }
  if (!status) v->summary = r4_summarize(v->metrics, v->run->seeds);
  return status;
}

/* ---- For machines ---- */

static void json_number(const char *key, double value, bool last)
{
  printf("\"%s\":", key);
  if (isfinite(value))
    printf("%.10g", value);
  else
    printf("null");
  printf("%s", last ? "" : ",");
}

static void json_groups(const struct evaluation *v, const double *accuracy, const r4_mean_sd *mean)
{
  printf("\"group_accuracy\":{");
  for (size_t g = 0; g < v->summary.groups; g++) {
    printf("%s", g ? "," : "");
    json_string(stdout, r4_data_group_name(v->data, g));
    double share = mean ? mean[g].mean : accuracy[g];
    if (isfinite(share))
      printf(":%.10g", 100 * share);
    else
      printf(":null");
  }
  printf("},");
}

static void json_seed(const struct evaluation *v, size_t k)
{
  const r4_metrics *m = &v->metrics[k];
  printf("%s{\"seed\":%lld,", k ? "," : "", (long long)v->run->seed[k]);
  json_groups(v, m->group_accuracy, NULL);
  json_number("accuracy", 100 * m->accuracy, false);
  json_number("avg_group_accuracy", 100 * m->avg_group_accuracy, false);
  json_number("worst_group_accuracy", 100 * m->worst_group_accuracy, false);
  json_number("kappa_masked_max", m->kappa_masked_max, false);
  json_number("kappa_masked_mean", m->kappa_masked_mean, false);
  json_number("kappa_core_max", m->kappa_core_max, false);
  json_number("kappa_core_mean", m->kappa_core_mean, true);
  printf("}");
}

static void json_both(const char *key, r4_mean_sd value, double scale)
{
  char sd[64];
  snprintf(sd, sizeof sd, "%s_sd", key);
  json_number(key, scale * value.mean, false);
  json_number(sd, scale * value.sd, false);
}

static void print_json(const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  printf("{\"run\":");
  json_string(stdout, v->path);
  printf(",\"method\":");
  json_string(stdout, setting(v->run->settings, "method").text);
  printf(",\"split\":\"%s\",\"examples\":%zu,", v->o->split, r4_data_count(v->data));
  json_number("eps", v->metrics->eps, false);
  json_both("accuracy", s->accuracy, 100);
  json_both("avg_group_accuracy", s->avg, 100);
  json_both("worst_group_accuracy", s->worst, 100);
  json_number("worst_group_of_means_accuracy", 100 * s->group[s->worst_mean_group].mean, false);
  json_both("kappa_masked_max", s->kappa_masked_max, 1);
  json_both("kappa_masked_mean", s->kappa_masked_mean, 1);
  json_both("kappa_core_max", s->kappa_core_max, 1);
  json_both("kappa_core_mean", s->kappa_core_mean, 1);
  json_groups(v, NULL, s->group);
  printf("\"seeds\":[");
  for (size_t k = 0; k < v->run->seeds; k++) json_seed(v, k);
  printf("]}\n");
}

/* ---- For people ---- */

static void print_percent(const char *name, r4_mean_sd v, const char *note)
{
  printf("%-16s %6.2f +- %.2f %%%s\n", name, 100 * v.mean, 100 * v.sd, note);
}

static void print_kappa(const char *name, r4_mean_sd masked, r4_mean_sd core)
{
  printf("%-16s %-10.4g %-10.4g %.3g\n", name, masked.mean, core.mean, masked.mean / core.mean);
}

static void print_table(const struct evaluation *v)
{
  const r4_summary *s = &v->summary;
  char note[200];
  printf("%s: %s, %zu seed%s, %zu examples of %s\n\n", v->path, setting(v->run->settings, "method").text,
         s->seeds, s->seeds == 1 ? "" : "s", r4_data_count(v->data), v->o->split);
  for (size_t g = 0; g < s->groups; g++) {
    if (isnan(s->group[g].mean)) continue;
    print_percent(r4_data_group_name(v->data, g), s->group[g],
                  g == s->worst_mean_group ? "  least mean" : "");
  }
  printf("\n");
  print_percent("group average", s->avg, "");
  snprintf(note, sizeof note, "  (of each seed; of means %.2f %%)", 100 * s->group[s->worst_mean_group].mean);
  print_percent("worst group", s->worst, note);
  if (!v->metrics->masked_examples) {
    printf("\nNo example has a mask: no fragility.\n");
    return;
  }
  printf("\n%-16s %-10s %-10s ratio   width of the gradient's bounds, eps %g\n", "fragility", "masked",
         "core", v->metrics->eps);
  print_kappa("largest", s->kappa_masked_max, s->kappa_core_max);
  print_kappa("mean", s->kappa_masked_mean, s->kappa_core_mean);
}

/* ---- The command ---- */

static r4_status collect(struct evaluation *v, r4_split split)
{
  r4_error e = {0};
  v->all = r4_settings_data(v->run->settings, &e);
  v->data = v->all ? r4_data_part(v->all, split, &e) : NULL;
  v->metrics = calloc(v->run->seeds, sizeof *v->metrics);
  r4_status s = !v->data ? e.status : v->metrics ? measure(v, &e) : R4_E_MEMORY;
  if (s) cli_fail("eval", s, e.text);
  return s;
}

static void forget(struct evaluation *v)
{
  r4_data_free(v->all);
  r4_data_free(v->data);
  free(v->metrics);
  runs_free(v->run);
}

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

/* One number of each run, after its name. */
static void compare_row(const char *name, const struct evaluation *v, size_t n,
                        double (*of)(const r4_summary *, size_t), size_t group)
{
  printf("%-16s", name);
  for (size_t k = 0; k < n; k++) printf(" %10.2f %%", 100 * of(&v[k].summary, group));
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

/* Runs side by side, on the groups that the first has. */
static void print_comparison(const struct evaluation *v, size_t n)
{
  printf("accuracy of %-4s", v->o->split);
  for (size_t k = 0; k < n; k++) printf(" %12s", last_part(v[k].path));
  printf("\n\n");
  for (size_t g = 0; g < v->summary.groups; g++)
    if (!isnan(v->summary.group[g].mean)) compare_row(r4_data_group_name(v->data, g), v, n, of_group, g);
  printf("\n");
  compare_row("group average", v, n, of_average, 0);
  compare_row("worst group", v, n, of_worst, 0);
  printf("%-16s", "kappa, masked");
  for (size_t k = 0; k < n; k++) printf(" %12.4g", v[k].summary.kappa_masked_max.mean);
  printf("\n");
}

static void print_all(const struct evaluation *v, size_t n)
{
  if (n > 1 && !v->o->json)
    print_comparison(v, n);
  else
    for (size_t k = 0; k < n; k++) (v->o->json ? print_json : print_table)(&v[k]);
}

static int run(int argc, char **argv)
{
  struct settings o;
  r4_split split;
  if (!options_read("eval", options, &o, argc, argv) || !read_split(o.split, &split)) return EXIT_USAGE;
  struct evaluation *v = calloc(o.runs.n, sizeof *v);
  size_t n = 0;
  bool ok = v != NULL;
  for (; ok && n < o.runs.n; n++) {
    v[n] = (struct evaluation){.o = &o, .path = o.runs.word[n], .run = runs_open("eval", o.runs.word[n])};
    ok = v[n].run && collect(&v[n], split) == R4_OK;
  }
  if (ok) print_all(v, n);
  while (n > 0) forget(&v[--n]);
  free(v);
  return ok ? EXIT_DONE : EXIT_WORLD;
}

bool eval_summary(const char *path, r4_summary *summary)
{
  struct settings o = {.split = "test", .eps = -1};
  static struct evaluation v;
  v = (struct evaluation){.o = &o, .path = path, .run = runs_open("eval", path)};
  if (!v.run) return false;
  bool ok = collect(&v, R4_TEST) == R4_OK;
  *summary = v.summary;
  forget(&v);
  return ok;
}

const struct command command_eval = {
  .name = "eval",
  .summary = "accuracy by group and fragility of a run",
  .details = "One run: a table. Several: side by side. Averages over the seeds of the run, with standard "
             "deviations. The worst group is that of each "
             "seed; the\n"
             "published way, the least of the groups' means, stands beside it.",
  .options = options,
  .run = run,
  .threads = true,
};
