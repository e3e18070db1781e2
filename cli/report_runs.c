/* The runs of a report: their data, and what is known of each seed or measured now. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* ---- Sentences and commands ---- */

/* Takes text over. A page with a sentence less is better than none. */
static void add_line(char ***list, size_t *n, char *text)
{
  char **grown = text ? realloc(*list, (*n + 1) * sizeof *grown) : NULL;
  if (grown) *list = grown;
  if (grown)
    grown[(*n)++] = text;
  else
    free(text);
}

void report_note(struct report *r, const char *format, ...)
{
  char *text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  add_line(&r->note, &r->notes, text);
}

/* A command with words that need quotes, by what prints it. */
static void add_command(struct report *r, void (*print)(FILE *, const struct report *, size_t), size_t k)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return;
  print(f, r, k);
  fclose(f);
  add_line(&r->command, &r->commands, text);
}

static void print_again(FILE *f, const struct report *r, size_t k)
{
  char path[PATH_SIZE + 16];
  snprintf(path, sizeof path, "again/%s", r->run[k].name);
  cli_print_word(f, path);
}

/* Folders of this machine are nobody else's concern: a run in one is called by its name. */
static void print_train(FILE *f, const struct report *r, size_t k)
{
  const struct reported *v = &r->run[k];
  char config[PATH_SIZE + 16];
  snprintf(config, sizeof config, "%s/config.yaml", *v->path == '/' ? v->name : v->path);
  fprintf(f, "r4 train ");
  cli_print_word(f, config);
  fprintf(f, " --set seed=%lld --seeds %zu --out ", (long long)v->run->seed[0], v->run->seeds);
  print_again(f, r, k);
}

static void print_all(FILE *f, const struct report *r, size_t k)
{
  fprintf(f, k ? "r4 report" : "r4 eval");
  for (size_t i = 0; i < r->runs; i++) fputc(' ', f), print_again(f, r, i);
  for (size_t i = 0; i < r->o.ablations.n && k; i++) {
    fprintf(f, " --ablations ");
    cli_print_word(f, r->o.ablations.word[i]);
  }
  if (strcmp(r->o.split, SPLIT_AUTO)) fprintf(f, " --split %s", r->o.split);
  if (k) fprintf(f, " --out report.html");
}

void report_add_commands(struct report *r)
{
  for (size_t k = 0; k < r->runs; k++) add_command(r, print_train, k);
  add_command(r, print_all, 0);
  add_command(r, print_all, 1);
}

/* ---- Data ---- */

/* Whether all seeds of a run were trained on these. */
static bool are_data_of(const struct report_data *d, const struct run *run)
{
  for (size_t k = 0; k < run->seeds; k++)
    if (r4_run_check_data(run->folder[k], d->all_hash, NULL, NULL, NULL)) return false;
  return true;
}

static int open_part(struct report *r, struct report_data *d, const struct reported *v)
{
  int code = EXIT_DONE;
  const char *word = r->o.split;
  d->split = v->split;
  d->part = run_part("report", v->path, d->all, &word, &d->split, &code);
  if (!d->part) return code;
  if (d->split != v->split)
    report_note(r, "There are no test examples: the figures are of those for validation. Whoever chooses by them (an "
                   "epoch, "
                   "a setting) needs others for the last word.");
  r4_data_hash(d->all, d->all_hash);
  r4_data_hash(d->part, d->hash);
  return EXIT_DONE;
}

static const struct report_data *find_data(struct report *r, const struct reported *v, int *code)
{
  for (size_t k = 0; k < r->sets; k++)
    if (are_data_of(&r->set[k], v->run)) return &r->set[k];
  struct report_data d = {.all = run_data("report", v->run, r->o.data, r->o.other_data, code)};
  if (d.all) *code = open_part(r, &d, v);
  if (d.all && run_masks_changed(v->run, d.all))
    report_note(r, "Masks were added or changed since %s was trained; the figures are with those of now.", v->name);
  if (d.all && !*code) {
    r->set[r->sets] = d;
    return &r->set[r->sets++];
  }
  r4_data_free(d.part);
  r4_data_free(d.all);
  return NULL;
}

/* ---- Measuring ---- */

enum { DRAWS = 3 }; /* of the swap test, which r4 eval takes more of */

/* What is measured is kept for the next page, if the folder can be written; if not, nothing is lost but time. */
static r4_status measure(const struct report *r, const struct reported *v, const r4_model *m, size_t k,
                         r4_error *e)
{
  r4_measure_options how = r4_settings_measure(v->run->settings);
  how.draws = DRAWS;
  how.kappa = (size_t)r->o.kappa;
  fprintf(stderr, "r4 report: measuring seed %lld of %s; figures of r4 eval are kept\n",
          (long long)v->run->seed[k], shown(v->path).text);
  r4_status s = r4_measure(r4_model_net(m), r4_model_weights(m), v->data->part, &how, &v->measured[k], e);
  if (!s) r4_measured_save(&v->measured[k], v->run->folder[k], v->split, v->data->hash, NULL);
  if (!s) run_add_proved("report", &v->measured[k], v->run->folder[k], v->split, v->data->hash);
  return s;
}

/* True if what is kept of a seed need not be measured. What cannot be taken is named. */
static bool take_kept(const struct reported *v, size_t k)
{
  r4_error e = {0};
  r4_status s = r4_measured_load(&v->measured[k], v->run->folder[k], v->split, v->data->hash,
                                 r4_settings_measure(v->run->settings).eps, &e);
  if (s && s != R4_E_IO) fprintf(stderr, "r4 report: %s; measuring again\n", e.text);
  if (!s) run_add_proved("report", &v->measured[k], v->run->folder[k], v->split, v->data->hash);
  return !s;
}

/* The model of the first seed stays open for heat maps. */
static int add_seed(const struct report *r, struct reported *v, const r4_net *net, size_t k)
{
  r4_error e = {0};
  bool known = take_kept(v, k);
  if (known && k) return EXIT_DONE;
  r4_model *m = run_model(v->run->model[k], net, &e);
  if (!m) return cli_fail("report", e.status, e.text);
  int code = EXIT_DONE;
  if (!r->o.other_data && !run_classes_agree("report", v->run->model[k], m, v->data->part)) code = EXIT_USAGE;
  r4_status s = code || known ? R4_OK : measure(r, v, m, k, &e);
  if (s) code = cli_fail("report", s, e.text);
  if (k || code)
    r4_model_free(m);
  else
    v->model = m;
  return code;
}

static int add_seeds(const struct report *r, struct reported *v)
{
  r4_error e = {0};
  int code = EXIT_DONE;
  v->measured = calloc(v->run->seeds, sizeof *v->measured);
  if (!v->measured) return cli_fail("report", R4_E_MEMORY, "");
  r4_net *net = r4_settings_net(v->run->settings, v->data->part, &e);
  if (!net) return cli_fail("report", e.status, e.text);
  for (size_t k = 0; k < v->run->seeds && !code; k++) {
    v->folder[k] = v->run->folder[k];
    code = add_seed(r, v, net, k);
  }
  r4_net_free(net);
  return code;
}

static void forget(struct reported *v)
{
  runs_free(v->run);
  r4_model_free(v->model);
  free(v->measured);
}

int report_add_run(struct report *r, size_t k, r4_split split)
{
  int code = EXIT_DONE;
  struct reported v = {.path = r->o.runs.word[k], .name = r->name[k], .split = split};
  v.run = runs_open("report", v.path, &code);
  if (v.run) v.data = find_data(r, &v, &code);
  if (v.data) v.split = v.data->split;
  if (v.data) code = add_seeds(r, &v);
  if (!v.data || code) {
    forget(&v);
    return code;
  }
  for (size_t i = 0; i < v.run->missing; i++) {
    long long seed = (long long)v.run->missing_seed[i];
    fprintf(
      stderr,
      "r4 report: %s: seed %lld has no model and is left out: it is unfinished, or its file is gone\n",
      shown(v.path).text, seed);
    report_note(r, "Seed %lld of %s has no model and is left out: it is unfinished, or its file is gone.",
                seed, v.name);
  }
  r->run[r->runs++] = v;
  return EXIT_DONE;
}

static void free_lines(char **list, size_t n)
{
  for (size_t k = 0; k < n; k++) free(list[k]);
  free(list);
}

void report_free(struct report *r)
{
  for (size_t k = 0; k < r->runs; k++) forget(&r->run[k]);
  for (size_t k = 0; k < r->sets; k++) {
    r4_data_free(r->set[k].part);
    r4_data_free(r->set[k].all);
  }
  for (size_t k = 0; k < r->ablations; k++) r4_ablation_free(r->ablation[k]);
  free(r->ablation);
  free_lines(r->note, r->notes);
  free_lines(r->command, r->commands);
  free(r);
}
