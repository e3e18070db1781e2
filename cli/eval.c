/* r4 eval: accuracy by group and fragility of a run, over its seeds. */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "eval.h"
#include "figures.h"

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
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0,
   "for machines: an object for each RUN; in per cent; null: no such figure"},
  {0},
};

/* ---- Measuring ---- */

static r4_setting_value setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v;
}

static r4_status measure(struct evaluation *v, double eps, r4_error *e)
{
  const r4_settings *s = v->run->settings;
  r4_status status = R4_OK;
  if (eps < 0) eps = setting(s, "eval.eps").real;
  for (size_t k = 0; k < v->run->seeds && !status; k++) {
    r4_model *m = r4_model_load(v->run->model[k], NULL, e);
    r4_error why = {0};
    status = m ? r4_evaluate(r4_model_net(m), r4_model_weights(m), v->data, eps,
                             setting(s, "eval.batch").whole, &v->metrics[k], &why)
               : e->status;
    if (m && status) snprintf(e->text, sizeof e->text, "%.150s: %.350s", v->run->model[k], why.text);
    r4_model_free(m);
  }
  if (!status) v->summary = r4_summarize(v->metrics, v->run->seeds);
  return status;
}

/* Says what could be looked at instead. */
static int no_examples(const struct evaluation *v, const r4_data *all)
{
  r4_counts n = r4_data_counts(all, -1, -1);
  fprintf(stderr, "r4 eval: %s: no examples of %s; --split: train has %zu, val %zu, test %zu\n", v->path,
          v->split, n.examples[R4_TRAIN], n.examples[R4_VAL], n.examples[R4_TEST]);
  return EXIT_USAGE;
}

static int evaluate_part(struct evaluation *v, const r4_data *all, r4_split split, double eps)
{
  r4_error e = {0};
  v->data = r4_data_part(all, split, &e);
  if (!v->data) return cli_fail("eval", e.status, e.text);
  if (!r4_data_count(v->data)) return no_examples(v, all);
  v->metrics = calloc(v->run->seeds, sizeof *v->metrics);
  r4_status s = v->metrics ? measure(v, eps, &e) : R4_E_MEMORY;
  return s ? cli_fail("eval", s, e.text) : EXIT_DONE;
}

/* 1 if a seed gives one answer to everything. */
static int evaluate(struct evaluation *v, r4_split split, double eps)
{
  int code = EXIT_DONE;
  r4_error e = {0};
  v->run = runs_open("eval", v->path, &code);
  if (!v->run) return code;
  r4_data *all = r4_settings_data(v->run->settings, &e);
  code = all ? evaluate_part(v, all, split, eps) : cli_fail("eval", e.status, e.text);
  r4_data_free(all);
  return !code && v->summary.constant ? EXIT_NO : code;
}

static void forget(struct evaluation *v)
{
  r4_data_free(v->data);
  free(v->metrics);
  runs_free(v->run);
}

/* ---- The command ---- */

static int print_all(const struct evaluation *const *v, size_t n, bool json)
{
  int code = EXIT_DONE;
  if (n > 1 && !json)
    eval_print_comparison(v, n);
  else if (n && !json)
    eval_print_table(v[0]);
  for (size_t k = 0; k < n && json && !code; k++) code = eval_print_json(v[k]);
  return code;
}

/* A run that cannot be evaluated does not keep the others from being printed; the exit code is the worst of all. */
static int evaluate_all(const struct settings *o, r4_split split, struct evaluation *v)
{
  const struct evaluation *good[MAX_WORDS];
  static char path[MAX_WORDS][PATH_SIZE];
  const char *name[MAX_WORDS];
  size_t n = 0;
  int worst = EXIT_DONE;
  runs_name(&o->runs, path, name);
  for (size_t k = 0; k < o->runs.n; k++) {
    v[k] = (struct evaluation){.path = o->runs.word[k], .name = name[k], .split = o->split};
    int code = evaluate(&v[k], split, o->eps);
    if (code <= EXIT_NO) good[n++] = &v[k];
    if (code > worst) worst = code;
  }
  int code = print_all(good, n, o->json);
  return code > worst ? code : worst;
}

static int run(int argc, char **argv)
{
  struct settings o;
  int split;
  if (!options_read("eval", options, &o, argc, argv)) return EXIT_USAGE;
  if (!source_split("eval", *o.split ? o.split : "nothing", &split)) return EXIT_USAGE;
  struct evaluation *v = calloc(o.runs.n, sizeof *v);
  if (!v) return cli_fail("eval", R4_E_MEMORY, "");
  int code = evaluate_all(&o, (r4_split)split, v);
  for (size_t k = 0; k < o.runs.n; k++) forget(&v[k]);
  free(v);
  return code;
}

/* ---- For a table of runs ---- */

static void describe_constant(const struct evaluation *v, char *to, size_t size)
{
  char text[200];
  size_t k = 0;
  while (!v->metrics[k].answers.constant) k++;
  constant_text(&v->metrics[k].answers, v->data, text, sizeof text);
  snprintf(to, size, "%zu of %zu seeds give one answer to everything: seed %lld %s; its kappa means nothing",
           v->summary.constant, v->summary.seeds, (long long)v->run->seed[k], text);
}

int eval_figures(const char *path, struct run_figures *f)
{
  struct evaluation v = {.path = path, .name = path, .split = "test"};
  int code = evaluate(&v, R4_TEST, -1);
  f->summary = v.summary;
  f->constant[0] = 0;
  if (code == EXIT_NO) describe_constant(&v, f->constant, sizeof f->constant);
  forget(&v);
  return code == EXIT_NO ? EXIT_DONE : code;
}

const struct command command_eval = {
  .name = "eval",
  .summary = "accuracy by group and fragility of a run",
  .details =
    "One run: a table. Several: side by side. Averages over the seeds of the run, with standard deviations. "
    "The\n"
    "worst group is that of each seed; the published way, the least of the groups' means, stands beside it.\n"
    "kappa is none (null in JSON) where no example has a mask, and inf (the text \"inf\" in JSON) where "
    "bounds\n"
    "overflowed. A net that gives one answer to everything has the best kappa of all: it is named "
    "(\"constant\" and\n"
    "\"predicts_only\" in JSON), and the exit code is 1. If several runs fail, it is the largest.",
  .options = options,
  .run = run,
  .threads = true,
};
