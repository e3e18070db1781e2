/* r4 explain: heat maps of what a net looks at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "experiment/figures.h"
#include "runs.h"
#include "table_out.h"

enum { MAX_RUNS = 16, MAX_METHODS = 16 };

struct explain_settings {
  struct words runs;
  const char *out, *all, *methods, *split, *what, *baseline, *data;
  int64_t examples, example, seed, samples, window, stride;
  double eps, sigma, fill;
  bool wrong, swap, common_scale, other_data, force, json;
};

#define AT(field) offsetof(struct explain_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORDS, AT(runs), NULL, 0, 0,
   "folders made by r4 train, or model files; several are compared"},
  {"out FILE", OPTION_TEXT, AT(out), NULL, 0, 0,
   "the picture to write, a new .png file (default: explain.png in the first RUN, overwritten each time)"},
  {"all FOLDER", OPTION_TEXT, AT(all), NULL, 0, 0,
   "a new folder: one picture for each example of the split (or of those that --wrong or --swap select), named by its "
   "number in the split"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite the file of --out, or files in the folder of --all"},
  {"methods", OPTION_TEXT, AT(methods), "gradient,integrated", 0, 0, "attributions, separated by commas"},
  {"examples", OPTION_WHOLE, AT(examples), "6", 1, 10000, "number of examples: one of each class in turn"},
  {"example", OPTION_WHOLE, AT(example), "-1", -1, 1e9,
   "only this example, by its number in the split, from 0; -1: see --examples"},
  {"wrong", OPTION_FLAG, AT(wrong), NULL, 0, 0, "only examples that the first RUN misclassifies"},
  {"swap", OPTION_FLAG, AT(swap), NULL, 0, 0,
   "examples as in the swap test, with masked content of another class; with --wrong those whose correct prediction "
   "the first RUN then loses"},
  {"split", OPTION_TEXT, AT(split), SPLIT_AUTO, 0, 0, SPLIT_HELP},
  {"what", OPTION_TEXT, AT(what), "loss", 0, 0, "what to explain: loss, logit, margin or logprob-sum"},
  {"eps", OPTION_REAL, AT(eps), "-1", -1, 1e6, "bounds: how far features move; -1: the setting eval.eps"},
  {"sigma", OPTION_REAL, AT(sigma), "0.1", 0, 1e6, "smoothgrad: standard deviation of the noise"},
  {"samples", OPTION_WHOLE, AT(samples), "32", 1, 1000, "smoothgrad, integrated: number of points"},
  {"baseline", OPTION_TEXT, AT(baseline), "zero", 0, 0, "integrated: the baseline, zero or mean (of the data)"},
  {"window", OPTION_WHOLE, AT(window), "0", 0, 4096,
   "occlusion: side of the windows in pixels; 0: an eighth of the shorter side of the images"},
  {"stride", OPTION_WHOLE, AT(stride), "0", 0, 4096,
   "occlusion: pixels from a window to the next; 0: half a window"},
  {"fill", OPTION_REAL, AT(fill), "0", -1e6, 1e6, "occlusion: value that fills the windows"},
  {"common-scale", OPTION_FLAG, AT(common_scale), NULL, 0, 0,
   "use one colour scale for the RUNs of a row"},
  {"seed", OPTION_WHOLE, AT(seed), "-1", -1, 1e18, "seed of each RUN; -1: its first"},
  {"data PATH", OPTION_TEXT, AT(data), NULL, 0, 0,
   "other data, a recipe or path, read with the settings of the first RUN"},
  {"other-data", OPTION_FLAG, AT(other_data), NULL, 0, 0,
   "accept data other than those the first RUN was trained on"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {0},
};

struct explanation {
  struct explain_settings o;
  char path[MAX_RUNS][PATH_SIZE], label[MAX_RUNS][PATH_SIZE]; /* as they are, and as they can be shown */
  struct run *run[MAX_RUNS];                                  /* NULL for a model file */
  r4_model *model[MAX_RUNS];
  r4_subject subject[MAX_RUNS];
  size_t methods;
  char list[1024]; /* the names of the methods, cut apart */
  const char *method[MAX_METHODS];
  r4_data *all, *part, *shown;
  size_t *example, found; /* numbers in the part */
  size_t *whole;          /* --swap: numbers of these in the whole part, where they are without a swap */
  float *baseline;
  r4_answers answers[MAX_RUNS];         /* to all of the part */
  double share[MAX_METHODS * MAX_RUNS]; /* method by method   */
  char out[PATH_SIZE];
};

static int usage(const char *option, const char *expected, const char *got)
{
  fprintf(stderr, "r4 explain: --%s needs %s, got \"%s\"\n", option, expected, shown(got).text);
  return EXIT_USAGE;
}

/* ---- Runs ---- */

static int open_runs(struct explanation *x)
{
  if (x->o.runs.n > MAX_RUNS) {
    fprintf(stderr, "r4 explain: %zu runs, expected at most %d\n", x->o.runs.n, MAX_RUNS);
    return EXIT_USAGE;
  }
  const char *name[MAX_WORDS];
  runs_name(&x->o.runs, x->label, name);
  for (size_t k = 0; k < x->o.runs.n; k++) {
    r4_error e = {0};
    int code, length = (int)strlen(x->o.runs.word[k]);
    while (length > 1 && x->o.runs.word[k][length - 1] == '/') length--;
    snprintf(x->path[k], PATH_SIZE, "%.*s", length, x->o.runs.word[k]);
    const char *path = runs_model("explain", x->path[k], x->o.seed, &x->run[k], &code);
    if (!path) return code;
    x->subject[k].name = name[k];
    x->model[k] = run_model(path, NULL, &e);
    if (!x->model[k]) return cli_fail("explain", e.status, e.text);
    x->subject[k].net = r4_model_net(x->model[k]);
    x->subject[k].weights = r4_model_weights(x->model[k]);
  }
  return EXIT_DONE;
}

static bool is_text(const struct explanation *x)
{
  return r4_net_vocabulary(x->subject[0].net) > 0;
}

/* explain.png, or .svg of texts, in a folder, or beside a model file. */
static int find_out(struct explanation *x)
{
  const char *path = x->path[0];
  const char *out = *x->o.all ? x->o.all : x->o.out;
  int folder = (int)strlen(path), n;
  if (!x->run[0])
    while (folder && path[folder - 1] != '/') folder--;
  if (*out)
    n = snprintf(x->out, sizeof x->out, "%s", out);
  else
    n = snprintf(x->out, sizeof x->out, "%.*s%sexplain.%s", folder, path, x->run[0] ? "/" : "",
                 is_text(x) ? "svg" : "png");
  return n < (int)sizeof x->out ? EXIT_DONE : usage("out", "a shorter path", path);
}

/* Pictures of other examples that lie there would be taken for those of this run. */
static int refuse_folder(const struct explanation *x)
{
  if (!is_folder(x->o.all) || x->o.force) return EXIT_DONE;
  fprintf(stderr, "r4 explain: %s exists already; --force writes into it\n", shown(x->o.all).text);
  return EXIT_USAGE;
}

/* ---- What is explained ---- */

/* The number of a word in a list that ends with NULL, or -1. */
static int find_word(const char *word, const char *const *list)
{
  for (int k = 0; list[k]; k++)
    if (!strcmp(list[k], word)) return k;
  return -1;
}

static int read_methods(struct explanation *x)
{
  if (strlen(x->o.methods) >= sizeof x->list) return usage("methods", "a shorter list", x->o.methods);
  snprintf(x->list, sizeof x->list, "%s", x->o.methods);
  for (char *rest = x->list, *name; (name = strsep(&rest, ","));) {
    if (x->methods == MAX_METHODS) return usage("methods", "fewer names", x->o.methods);
    x->method[x->methods++] = name;
  }
  return EXIT_DONE;
}

/* Of --data, where no run has settings for them. */
static r4_data *open_named(const struct explanation *x, int *code)
{
  r4_error e = {0};
  char set[PATH_SIZE];
  int n = snprintf(set, sizeof set, "data=%s", x->o.data);
  if (n >= (int)sizeof set) {
    *code = usage("data", "a shorter path", x->o.data);
    return NULL;
  }
  r4_settings *s = r4_settings_new();
  r4_status status = s ? r4_settings_set(s, set, "--data", &e) : R4_E_MEMORY;
  r4_data *d = status ? NULL : r4_settings_data(s, &e);
  r4_settings_free(s);
  if (!d) *code = cli_fail("explain", status ? status : e.status, e.text);
  return d;
}

/* The first run that has settings. */
static const struct run *first_run(const struct explanation *x)
{
  size_t k = 0;
  while (k < x->o.runs.n && !x->run[k]) k++;
  return k < x->o.runs.n ? x->run[k] : NULL;
}

static int open_data(struct explanation *x, r4_split split)
{
  int code = EXIT_USAGE;
  const struct run *r = first_run(x);
  if (r)
    x->all = run_data("explain", r, x->o.data, *x->o.data || x->o.other_data, &code);
  else if (*x->o.data)
    x->all = open_named(x, &code);
  else
    fprintf(stderr, "r4 explain: a model file does not name its data: add --data\n");
  if (!x->all) return code;
  x->part = run_part("explain", *x->o.data ? x->o.data : x->path[0], x->all, &x->o.split, &split, &code);
  if (!x->part) return code;
  for (size_t k = 0; k < x->o.runs.n && !x->o.other_data; k++)
    if (!run_classes_agree("explain", x->path[k], x->model[k], x->part)) return EXIT_USAGE;
  return EXIT_DONE;
}

/* The part becomes what the swap test makes of it. */
static int swap_part(struct explanation *x)
{
  r4_error e = {0};
  const r4_subject *first = &x->subject[0];
  x->whole = malloc(r4_data_count(x->part) * sizeof *x->whole);
  if (!x->whole) return cli_fail("explain", R4_E_MEMORY, "out of memory");
  r4_data *swapped =
    r4_swap_data(x->o.wrong ? first->net : NULL, first->weights, x->part, NULL, x->whole, &e);
  if (!swapped) return cli_fail("explain", e.status, e.text);
  r4_data_free(x->part);
  x->part = swapped;
  if (r4_data_count(swapped)) return EXIT_DONE;
  fprintf(stderr, "r4 explain: %s loses no correct prediction of %s in the first draw of the swap test\n",
          first->name, x->o.split);
  return EXIT_NO;
}

static int choose_examples(struct explanation *x)
{
  r4_error e = {0};
  size_t count = r4_data_count(x->part), n = x->o.example >= 0 ? 1 : *x->o.all ? count : (size_t)x->o.examples;
  if (x->o.example >= (int64_t)count) {
    fprintf(stderr, "r4 explain: --example %lld, but %s has %zu examples\n", (long long)x->o.example,
            x->o.split, count);
    return EXIT_USAGE;
  }
  x->example = malloc(n * sizeof *x->example);
  r4_status s = x->example ? R4_OK : R4_E_MEMORY;
  if (!s && x->o.example >= 0)
    x->example[x->found++] = (size_t)x->o.example;
  else if (!s)
    s = r4_heat_examples(x->part, n, x->o.wrong ? &x->subject[0] : NULL, x->example, &x->found, &e);
  if (!s && !x->found) {
    fprintf(stderr, "r4 explain: %s classifies all %zu examples of %s correctly\n", x->subject[0].name, count,
            x->o.split);
    return EXIT_NO;
  }
  if (!s) x->shown = r4_data_subset(x->part, x->found, x->example, &e);
  return !s && x->shown ? EXIT_DONE : cli_fail("explain", s ? s : e.status, e.text);
}

static r4_status attribution_options(struct explanation *x, r4_attribution_options *a, r4_error *e)
{
  r4_setting_value eps = {0};
  *a = r4_attribution_defaults();
  a->sigma = x->o.sigma;
  a->samples = (int)x->o.samples;
  a->window = (int)x->o.window;
  a->stride = (int)x->o.stride;
  a->fill = x->o.fill;
  if (x->o.eps >= 0)
    a->eps = x->o.eps;
  else if (x->run[0] && !r4_settings_get(x->run[0]->settings, "eval.eps", &eps, NULL))
    a->eps = eps.real;
  if (strcmp(x->o.baseline, "mean")) return R4_OK;
  a->baseline = x->baseline = malloc((size_t)r4_shape_count(r4_data_shape(x->all)) * sizeof *x->baseline);
  return x->baseline ? r4_data_mean(x->all, x->baseline, e) : R4_E_MEMORY;
}

/* Where example k of those that are shown is in the whole split. */
static size_t number_of(const struct explanation *x, size_t k)
{
  return x->whole ? x->whole[x->example[k]] : x->example[k];
}

static r4_status draw_one(const struct explanation *x, r4_heat_options *o, const r4_data *d, const char *what,
                          const char *path, double *share, r4_error *e)
{
  char title[256];
  bool one = x->o.runs.n == 1;
  snprintf(title, sizeof title, "%.100s%s%s %s%s%s%.100s", one ? x->subject[0].name : "", one ? ": " : "", x->o.split,
           what, x->o.swap ? ", masked content swapped" : "", x->o.wrong ? ", misclassified by " : "",
           x->o.wrong ? x->subject[0].name : "");
  o->title = title;
  return (is_text(x) ? r4_text_picture : r4_heat_picture)(x->subject, x->o.runs.n, d, o, path, share, e);
}

/* A file for each example; the shares are means over those that have one. */
static r4_status draw_all(struct explanation *x, r4_heat_options *o, r4_error *e)
{
  size_t maps = x->methods * x->o.runs.n, counted[MAX_METHODS * MAX_RUNS] = {0};
  r4_status s = folder_make(x->out) ? R4_OK : R4_E_IO;
  if (s) snprintf(e->text, sizeof e->text, "%.400s: the folder cannot be made", x->out);
  for (size_t k = 0; k < x->found && !s; k++) {
    char path[PATH_SIZE + 64], what[64];
    double share[MAX_METHODS * MAX_RUNS];
    r4_data *d = r4_data_subset(x->part, 1, &x->example[k], e);
    if (!d) return e->status;
    snprintf(path, sizeof path, "%s/%06zu.%s", x->out, number_of(x, k), is_text(x) ? "svg" : "png");
    snprintf(what, sizeof what, "example %zu", number_of(x, k));
    s = draw_one(x, o, d, what, path, share, e);
    r4_data_free(d);
    for (size_t i = 0; i < maps && !s; i++)
      if (!isnan(share[i])) x->share[i] += (share[i] - x->share[i]) / (double)++counted[i];
  }
  for (size_t i = 0; i < maps; i++)
    if (!counted[i]) x->share[i] = NAN;
  return s;
}

static int draw(struct explanation *x, r4_explain what)
{
  r4_error e = {0};
  r4_heat_options o = {.method = x->method, .methods = x->methods, .common_scale = x->o.common_scale};
  r4_status s = attribution_options(x, &o.attribution, &e);
  o.attribution.explain = what;
  if (!s && *x->o.all)
    s = draw_all(x, &o, &e);
  else if (!s)
    s = draw_one(x, &o, x->shown, "examples", x->out, x->share, &e);
  return s ? cli_fail("explain", s, e.text) : EXIT_DONE;
}

/* ---- Results ---- */

/* What a heat map of a net that looks at nothing would hide. */
static int ask_nets(struct explanation *x)
{
  static r4_metrics m;
  const r4_measure_options quick = {.batch = 64}; /* without fragility */
  r4_error e = {0};
  for (size_t k = 0; k < x->o.runs.n; k++) {
    const r4_subject *s = &x->subject[k];
    r4_status status = r4_evaluate(s->net, s->weights, x->part, &quick, &m, &e);
    x->answers[k] = m.answers;
    char text[R4_ERROR_SIZE + 200];
    if (status) snprintf(text, sizeof text, "%.190s: %s", s->name, e.text);
    if (status) return cli_fail("explain", status, text);
  }
  return EXIT_DONE;
}

static double share_of(const struct explanation *x, size_t method, size_t run_number)
{
  return x->share[method * x->o.runs.n + run_number];
}

static void add_run(r4_json *w, const struct explanation *x, size_t k)
{
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "run", x->o.runs.word[k]);
  r4_json_open(w, "mask_share", '{');
  for (size_t m = 0; m < x->methods; m++) r4_json_real(w, x->method[m], share_of(x, m, k));
  r4_json_close(w, '}');
  json_answers(w, &x->answers[k], x->part);
  r4_json_close(w, '}');
}

static int print_json(const struct explanation *x)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "picture", x->out);
  r4_json_text(w, "split", x->o.split);
  r4_json_open(w, "examples", '[');
  for (size_t k = 0; k < x->found; k++)
    r4_json_whole(w, NULL, (int64_t)number_of(x, k));
  r4_json_close(w, ']');
  r4_json_open(w, "runs", '[');
  for (size_t k = 0; k < x->o.runs.n; k++) add_run(w, x, k);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(stdout, "explain", w);
}

static void print_constant(const struct explanation *x)
{
  char text[300];
  for (size_t k = 0; k < x->o.runs.n; k++)
    if (x->answers[k].constant)
      printf("%s %s; its heat maps mean nothing. %s\n", x->subject[k].name,
             constant_text(&x->answers[k], x->part, text, sizeof text),
             constant_advice(x->run[k] ? x->run[k]->settings : NULL));
}

static int print_shares(const struct explanation *x)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, NULL, 'l', 24);
  for (size_t m = 0; m < x->methods; m++) r4_table_column(t, x->method[m], 'r', 16);
  for (size_t k = 0; k < x->o.runs.n; k++) {
    r4_table_cell(t, x->label[k]);
    for (size_t m = 0; m < x->methods; m++) {
      double share = share_of(x, m, k);
      cell(t, isnan(share) ? "-" : "%.2f %%", 100 * share);
    }
  }
  return table_end(stdout, "explain", t, R4_TABLE_PLAIN);
}

static int print_table(const struct explanation *x)
{
  char out[4 * PATH_SIZE];
  printf("Share of the attribution inside the mask, mean of %zu example%s\n\n", x->found,
         x->found == 1 ? "" : "s");
  int code = print_shares(x);
  if (code) return code;
  printf("\n");
  print_constant(x);
  r4_text_printable(x->out, out, sizeof out);
  printf(*x->o.all ? "%s/\n" : "%s\n", out);
  return EXIT_DONE;
}

/* ---- The command ---- */

static void discard(struct explanation *x)
{
  for (size_t k = 0; k < MAX_RUNS; k++) {
    r4_model_free(x->model[k]);
    runs_free(x->run[k]);
  }
  r4_data_free(x->all);
  r4_data_free(x->part);
  r4_data_free(x->shown);
  free(x->example);
  free(x->whole);
  free(x->baseline);
}

static int run(int argc, char **argv)
{
  static const char *const baselines[] = {"zero", "mean", NULL};
  static const char *const whats[] = {"loss", "logit", "margin", "logprob-sum", NULL};
  static struct explanation x;
  if (!options_read("explain", options, &x.o, argc, argv)) return EXIT_USAGE;
  r4_split split;
  int what = find_word(x.o.what, whats);
  if (!run_split("explain", x.o.split, &split)) return EXIT_USAGE;
  if (what < 0) return usage("what", "loss, logit, margin or logprob-sum", x.o.what);
  if (find_word(x.o.baseline, baselines) < 0) return usage("baseline", "zero or mean", x.o.baseline);
  if (x.o.wrong && x.o.example >= 0) return usage("wrong", "examples to choose from", "--example");
  if (x.o.swap && x.o.example >= 0) return usage("swap", "examples to choose from", "--example");
  if (*x.o.all && x.o.example >= 0) return usage("all", "all examples", "--example");
  if (*x.o.all && *x.o.out) return usage("all", "no --out", x.o.out);
  int code = read_methods(&x);
  if (!code) code = open_runs(&x);
  if (!code && *x.o.out && !out_check("explain", "out", x.o.out, is_text(&x) ? ".svg" : ".png", x.o.force))
    code = EXIT_USAGE;
  if (!code && *x.o.all) code = refuse_folder(&x);
  if (!code) code = find_out(&x);
  if (!code) code = open_data(&x, split);
  if (!code) code = ask_nets(&x);
  if (!code && x.o.swap) code = swap_part(&x);
  if (!code) code = choose_examples(&x);
  if (!code) code = draw(&x, (r4_explain)what);
  if (!code) code = (x.o.json ? print_json : print_table)(&x);
  discard(&x);
  return code;
}

const struct command command_explain = {
  .name = "explain",
  .summary = "draw heat maps of what a net uses",
  .details =
    "Draws a picture with a row for each example and a heat map for each method and RUN, and prints\n"
    "the share of each attribution inside the mask. Methods: gradient, input-x-gradient, smoothgrad,\n"
    "integrated, gradcam, occlusion, bounds, bounds-all (doc/explain.md). Exits with 1 if --wrong finds no example.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
