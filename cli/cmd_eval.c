/* r4 eval: accuracy by group and fragility of a run, over its seeds. */
#include <stdlib.h>
#include <string.h>

#include "cmd_data.h"
#include "eval.h"
#include "figures.h"

struct eval_settings {
  struct words runs;
  const char *split, *data, *swap, *noise;
  struct contents contents;
  struct noise levels;
  double eps;
  bool other_data, json;
};

#define AT(field) offsetof(struct eval_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORDS, AT(runs), NULL, 0, 0, "folders that r4 train made; several are set side by side"},
  {"split", OPTION_TEXT, AT(split), "test", 0, 0, "test, val or train"},
  {"eps", OPTION_REAL, AT(eps), "-1", -1, 1e6, "radius of the box of fragility; -1: the setting eval.eps"},
  {"swap", OPTION_TEXT, AT(swap), NULL, 0, 0,
   "what the swap test puts into masks: swap (if not given), blank, mean, noise, colour, blur; several with "
   "commas; none: no test"},
  {"noise", OPTION_TEXT, AT(noise), NULL, 0, 0,
   "relative core sensitivity: levels of noise, as 0.5,1,2; usual: 0.25 to 4; published: as in the published "
   "code"},
  {"data", OPTION_TEXT, AT(data), NULL, 0, 0, "where the data of the RUNs are now, if they are not found"},
  {"other-data", OPTION_FLAG, AT(other_data), NULL, 0, 0,
   "also if the data are not those that the RUN was trained on"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0,
   "print JSON: an object for each RUN; in per cent; null: no such figure"},
  {0},
};

/* ---- Measuring ---- */

static r4_setting_value setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v;
}

const r4_swapped *eval_swapped(const struct evaluation *v, size_t k)
{
  return v->swapped + k * v->run->seeds;
}

static r4_status measure_model(const struct eval_settings *o, struct evaluation *v, const r4_net *net,
                               const r4_model *m, size_t k, r4_error *e)
{
  const r4_settings *s = v->run->settings;
  double eps = o->eps >= 0 ? o->eps : setting(s, "eval.eps").real;
  int64_t batch = setting(s, "eval.batch").whole;
  r4_status status = r4_evaluate(net, r4_model_weights(m), v->data, eps, batch, &v->metrics[k], e);
  for (size_t c = 0; c < v->contents.n && !status; c++) {
    r4_swap_options swap = r4_swap_defaults();
    swap.content = v->contents.kind[c];
    swap.batch = batch;
    status = r4_swap_test(net, r4_model_weights(m), v->data, &swap, v->swapped + c * v->run->seeds + k, e);
  }
  if (!status && v->noise.asked)
    status = r4_core_sensitivity(net, r4_model_weights(m), v->data, &v->noise.options, &v->sensitivity[k], e);
  return status;
}

/* A model that the net of the settings can have: the weights of another do not fit. Its own net may have more to it:
 * what weights that it started from need before it. */
static r4_model *open_model(const char *path, const r4_net *net, r4_error *e)
{
  r4_model *m = r4_model_load(path, net, e);
  if (!m) return NULL;
  r4_model_free(m);
  return r4_model_load(path, NULL, e);
}

static int measure_seed(const struct eval_settings *o, struct evaluation *v, const r4_net *net, size_t k)
{
  const char *path = v->run->model[k];
  char text[R4_ERROR_SIZE + PATH_SIZE];
  r4_error e = {0};
  r4_model *m = open_model(path, net, &e);
  if (!m) return cli_fail("eval", e.status, e.text);
  r4_status status = R4_OK;
  bool agree = o->other_data || run_classes_agree("eval", path, m, v->data);
  if (agree) status = measure_model(o, v, r4_model_net(m), m, k, &e);
  r4_model_free(m);
  snprintf(text, sizeof text, "%s: %s", path, e.text);
  return status ? cli_fail("eval", status, text) : agree ? EXIT_DONE : EXIT_USAGE;
}

static int measure(const struct eval_settings *o, struct evaluation *v)
{
  r4_error e = {0};
  int code = EXIT_DONE;
  v->metrics = calloc(v->run->seeds, sizeof *v->metrics);
  v->swapped = calloc(v->run->seeds * v->contents.n + 1, sizeof *v->swapped);
  v->sensitivity = calloc(v->run->seeds, sizeof *v->sensitivity);
  if (!v->metrics || !v->swapped || !v->sensitivity) return cli_fail("eval", R4_E_MEMORY, "");
  r4_net *net = r4_settings_net(v->run->settings, v->data, &e);
  if (!net) return cli_fail("eval", e.status, e.text);
  for (size_t k = 0; k < v->run->seeds && !code; k++) code = measure_seed(o, v, net, k);
  r4_net_free(net);
  if (!code) r4_summarize(v->metrics, v->run->seeds, &v->summary);
  return code;
}

/* What the test part says by itself is kept for r4 report; where the folder cannot be written, nothing is lost but
 * time. */
static void keep(const struct evaluation *v)
{
  for (size_t k = 0; k < v->run->seeds; k++) {
    r4_measured m = {.metrics = v->metrics[k], .swapped = v->swapped[k]};
    r4_measured_save(&m, v->run->folder[k], v->hash, NULL);
  }
}

static int evaluate_part(const struct eval_settings *o, struct evaluation *v, const r4_data *all,
                         r4_split split)
{
  r4_error e = {0};
  v->data = r4_data_part(all, split, &e);
  if (!v->data) return cli_fail("eval", e.status, e.text);
  if (!r4_data_count(v->data)) return run_no_examples("eval", v->path, v->split, all);
  r4_data_hash(v->data, v->hash);
  int code = measure(o, v);
  if (!code && split == R4_TEST && v->contents.kind[0] == R4_FILL_SWAP && !o->other_data) keep(v);
  return code;
}

static void tell_missing(const struct evaluation *v)
{
  for (size_t k = 0; k < v->run->missing; k++)
    fprintf(stderr, "r4 eval: %s: seed %lld has no model yet and is left out\n", shown(v->path).text,
            (long long)v->run->missing_seed[k]);
}

/* 1 if a seed gives one answer to everything. */
static int evaluate(const struct eval_settings *o, struct evaluation *v, r4_split split)
{
  int code = EXIT_DONE;
  v->run = runs_open("eval", v->path, &code);
  if (v->run) tell_missing(v);
  r4_data *all = v->run ? run_data("eval", v->run, o->data, o->other_data, &code) : NULL;
  if (all) code = evaluate_part(o, v, all, split);
  r4_data_free(all);
  return !code && v->summary.constant ? EXIT_NO : code;
}

static void forget(struct evaluation *v)
{
  r4_data_free(v->data);
  free(v->metrics);
  free(v->swapped);
  free(v->sensitivity);
  runs_free(v->run);
}

/* ---- The command ---- */

/* A table for each set of data: figures of different data do not belong side by side. Changes v. */
static int print_tables(const struct evaluation **v, size_t n)
{
  int code = EXIT_DONE;
  for (bool further = false; n && !code; further = true) {
    const struct evaluation *same[MAX_WORDS], *first = v[0];
    size_t found = 0, rest = 0;
    for (size_t k = 0; k < n; k++) *(strcmp(v[k]->hash, first->hash) ? &v[rest++] : &same[found++]) = v[k];
    if (further) printf("\n");
    if (further || rest) printf("Data %.12s: %s\n\n", first->hash, shown(r4_data_about(first->data)).text);
    code = eval_print_comparison(same, found);
    n = rest;
  }
  return code;
}

static int print_all(const struct evaluation **v, size_t n, bool json)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < n && !code && json; k++) code = eval_print_json(v[k]);
  if (json) return code;
  code = n == 1 ? eval_print_table(v[0]) : print_tables(v, n);
  for (size_t k = 0; k < n && !code; k++) {
    if (n > 1 && v[k]->noise.asked) printf("\n%s\n", v[k]->label);
    code = noise_print(v[k]);
  }
  return code;
}

/* A run that cannot be evaluated does not keep the others from being printed; the exit code is the worst of all. */
static int evaluate_all(const struct eval_settings *o, r4_split split, struct evaluation *v)
{
  const struct evaluation *good[MAX_WORDS];
  static char label[MAX_WORDS][PATH_SIZE];
  const char *name[MAX_WORDS];
  size_t n = 0;
  int worst = EXIT_DONE;
  runs_name(&o->runs, label, name);
  for (size_t k = 0; k < o->runs.n; k++) {
    v[k] = (struct evaluation){.path = o->runs.word[k],
                               .label = label[k],
                               .name = name[k],
                               .split = o->split,
                               .contents = o->contents,
                               .noise = o->levels,
                               .swap_asked = *o->swap};
    int code = evaluate(o, &v[k], split);
    if (code <= EXIT_NO) good[n++] = &v[k];
    if (code > worst) worst = code;
  }
  int code = print_all(good, n, o->json);
  return code > worst ? code : worst;
}

static int run(int argc, char **argv)
{
  struct eval_settings o;
  int split;
  if (!options_read("eval", options, &o, argc, argv)) return EXIT_USAGE;
  if (!source_split("eval", *o.split ? o.split : "nothing", &split)) return EXIT_USAGE;
  if (!swap_contents(o.swap, &o.contents) || !noise_levels(o.noise, &o.levels)) return EXIT_USAGE;
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

/* Adds what was measured of v to what there is of n nets. Returns an exit code. */
static int gather(const struct evaluation *v, size_t n, r4_metrics **metrics, r4_swapped **swapped)
{
  size_t seeds = v->summary.seeds;
  r4_metrics *m = realloc(*metrics, (n + seeds) * sizeof *m);
  if (m) *metrics = m;
  r4_swapped *p = realloc(*swapped, (n + seeds) * sizeof *p);
  if (p) *swapped = p;
  if (!m || !p) return cli_fail("eval", R4_E_MEMORY, "");
  memcpy(m + n, v->metrics, seeds * sizeof *m);
  memcpy(p + n, v->swapped, seeds * sizeof *p);
  return EXIT_DONE;
}

int eval_figures(const char (*path)[PATH_SIZE], size_t n, struct run_figures *f)
{
  return eval_figures_of(path, n, R4_TEST, f);
}

int eval_figures_of(const char (*path)[PATH_SIZE], size_t n, r4_split split, struct run_figures *f)
{
  const struct eval_settings o = {.data = "", .eps = -1};
  r4_metrics *metrics = NULL;
  r4_swapped *swapped = NULL;
  size_t nets = 0;
  int code = EXIT_DONE;
  *f = (struct run_figures){.swapped = true};
  for (size_t k = 0; k < n && !code; k++) {
    struct evaluation v = {.path = path[k],
                           .name = path[k],
                           .split = split == R4_TEST ? "test" : "val",
                           .contents = {1, {R4_FILL_SWAP}}};
    code = evaluate(&o, &v, split);
    if (code == EXIT_NO && !*f->constant) describe_constant(&v, f->constant, sizeof f->constant);
    if (code == EXIT_NO) code = EXIT_DONE;
    if (!code) code = gather(&v, nets, &metrics, &swapped);
    if (!code) nets += v.summary.seeds, f->swapped = f->swapped && !v.swapped->none;
    forget(&v);
  }
  if (!code) r4_summarize(metrics, nets, &f->summary);
  if (!code) f->flipped = r4_swap_flipped(swapped, nets, -1);
  if (!code) f->lost = r4_swap_lost(swapped, nets, -1);
  free(metrics);
  free(swapped);
  return code;
}

const struct command command_eval = {
  .name = "eval",
  .summary = "accuracy by group and fragility of a run",
  .details =
    "One run: a table. Several: side by side, in a table for each set of data. Averages are over the\n"
    "seeds of a run, with standard deviations. The worst group is that of each seed; the published\n"
    "way, the least of the groups' means, stands beside it. kappa is none (null in JSON) where no\n"
    "example has a mask, and inf (the text \"inf\" in JSON) where bounds overflowed. The swap test puts the\n"
    "masked content of examples of other classes into masks, ten times each, and counts the answers that\n"
    "change and those that were right before and are wrong then; where masks are on some classes only,\n"
    "the content is put on examples of the others at its place. A net that gives\n"
    "one answer to everything has the best kappa of all: it is named (\"constant\" and\n"
    "\"predicts_only\" in JSON), and the exit code is 1. Of several runs the largest code counts.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
