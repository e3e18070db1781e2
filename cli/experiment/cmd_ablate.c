/* r4 ablate: what becomes of the methods when masks are missing or wrong, data are few, weights decay, nets are deep.
 *
 * The ablations of an experiment are the tables ablations/NAME.csv in its folder, and those of experiments/ablations
 * that it has no table of its own for; ablation_read.c has their columns. All their runs are in OUT/runs: points that
 * two ablations share are trained once. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "experiment/ablation_jobs.h"
#include "experiment/run_plan.h"

struct ablate_settings {
  const char *experiment, *only, *out;
  struct words set;
  int64_t seeds, jobs;
  double shorten;
  bool quick, quiet;
  struct plan_options plan;
};

#define AT(field) offsetof(struct ablate_settings, field)
static const struct option options[] = {
  {"EXPERIMENT", OPTION_WORD, AT(experiment), NULL, 0, 0,
   "decoy-mnist, decoy-derm, a folder with presets and table.csv, or a file of settings"},
  {"only", OPTION_TEXT, AT(only), NULL, 0, 0, "only this ablation: data, masks, corrupt, decay, delta or size"},
  {"quick", OPTION_FLAG, AT(quick), NULL, 0, 0, "fewer points, a fifth of the epochs, and one seed"},
  {"shorten", OPTION_REAL, AT(shorten), "0", 0, 1,
   "share of the epochs to train for; 0: all, or a fifth with --quick"},
  {"seeds", OPTION_WHOLE, AT(seeds), "0", 0, MAX_SEEDS, "seeds of each point; 0: 4, or 1 with --quick"},
  {"set KEY=VALUE", OPTION_LIST, AT(set), NULL, 0, 0, "change one setting of all points; may be repeated"},
  {"out FOLDER", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for runs and results (default: runs/NAME-ablations)"},
  {"jobs", OPTION_WHOLE, AT(jobs), "0", 0, 256, "runs trained at once; 0: as many as CPUs"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  PLAN_OPTIONS(struct ablate_settings),
  {0},
};

enum { MAX_ABLATIONS = 32, POINT_SIZE = 4096 };

struct ablate {
  const struct ablate_settings *o;
  struct ablation_about about;
  char out[PATH_SIZE / 2];
  char presets[PATH_SIZE / 2]; /* the folder of presets, or "" if EXPERIMENT is a file */
  char own[PATH_SIZE];         /* the folder of its own ablations */
  size_t ablations, runs, room;
  struct ablation *ablation;
  struct listed_run *run;
};

/* ---- Which ablations ---- */

static bool is_there(const struct ablate *a, const char *name)
{
  for (size_t k = 0; k < a->ablations; k++)
    if (!strcmp(a->ablation[k].name, name)) return true;
  return false;
}

/* All tables of a folder whose name is not there yet. */
static void find_tables(struct ablate *a, const char *folder)
{
  struct dirent **entry = NULL;
  int n = scandir(folder, &entry, NULL, alphasort);
  for (int k = 0; k < n; k++) {
    char name[64];
    size_t length = strlen(entry[k]->d_name);
    bool csv = length > 4 && length < sizeof name && !strcmp(entry[k]->d_name + length - 4, ".csv");
    snprintf(name, sizeof name, "%.*s", csv ? (int)length - 4 : 0, entry[k]->d_name);
    if (csv && a->ablations < MAX_ABLATIONS && !is_there(a, name)) {
      struct ablation *new = &a->ablation[a->ablations++];
      snprintf(new->name, sizeof new->name, "%s", name);
      snprintf(new->path, sizeof new->path, "%.900s/%s.csv", folder, name);
    }
    free(entry[k]);
  }
  free(entry);
}

/* Leaves the one that is asked for, if one is. */
static int keep_only(struct ablate *a)
{
  if (!*a->o->only && a->ablations) return EXIT_DONE;
  for (size_t k = 0; k < a->ablations; k++)
    if (!strcmp(a->ablation[k].name, a->o->only)) {
      struct ablation kept = a->ablation[k];
      a->ablation[0] = kept;
      a->ablations = 1;
      return EXIT_DONE;
    }
  fprintf(stderr, "r4 ablate: no ablation \"%s\": expected", shown(a->o->only).text);
  for (size_t k = 0; k < a->ablations; k++) fprintf(stderr, "%s %s", k ? "," : "", a->ablation[k].name);
  fprintf(stderr, "%s %s/NAME.csv\n", a->ablations ? ", or" : "", a->own);
  return EXIT_USAGE;
}

static int find_all(struct ablate *a)
{
  const char *name = a->o->experiment;
  char general[PATH_SIZE];
  if (is_file(name)) {
    const char *slash = strrchr(name, '/');
    snprintf(a->own, sizeof a->own, "%.*sablations", slash ? (int)(slash - name) + 1 : 0, name);
  } else if (train_find_experiment(name, a->presets, sizeof a->presets)) {
    snprintf(a->own, sizeof a->own, "%s/ablations", a->presets);
  } else {
    fprintf(stderr,
            "r4 ablate: no experiment \"%s\": expected a file of settings, or %s/table.csv or "
            "experiments/%s/table.csv\n",
            shown(name).text, shown(name).text, shown(name).text);
    return EXIT_USAGE;
  }
  find_tables(a, a->own);
  if (train_find_ablations(general, sizeof general)) find_tables(a, general);
  return keep_only(a);
}

/* ---- The runs ---- */

/* point: one assignment a line, which becomes words. */
static r4_settings *point_settings(const struct ablate *a, const struct ablation_line *l, char *point,
                                   int *code)
{
  char preset[PATH_SIZE], method[VALUE_SIZE];
  struct words set = {0};
  r4_error e = {0};
  if (*a->presets) {
    snprintf(preset, sizeof preset, "%s/%s.yaml", a->presets, l->preset);
  } else {
    snprintf(preset, sizeof preset, "%s", a->o->experiment);
    snprintf(method, sizeof method, "method=%.200s", l->preset);
    set.word[set.n++] = method;
  }
  for (char *word; (word = strsep(&point, "\n")) && set.n < MAX_WORDS;) set.word[set.n++] = word;
  r4_settings *s = train_settings("ablate", preset, &set, &a->o->set, code);
  if (!s || a->about.epochs == 1 || !r4_settings_shorten(s, a->about.epochs, &e)) return s;
  *code = cli_fail("ablate", e.status, e.text);
  r4_settings_free(s);
  return NULL;
}

/* The number of the run of a point, which others may have as well; false after a message. */
static bool add_run(struct ablate *a, const struct ablation_line *l, char *point, size_t *number, int *code)
{
  char folder[PATH_SIZE], name[RUN_NAME_SIZE];
  snprintf(name, sizeof name, "%.250s_%.3800s", l->preset, point);
  list_folder(a->out, name, folder);
  for (*number = 0; *number < a->runs; ++*number)
    if (!strcmp(a->run[*number].folder, folder)) return true;
  if (a->runs == a->room) {
    a->room = a->room ? 2 * a->room : 64;
    struct listed_run *grown = realloc(a->run, a->room * sizeof *grown);
    if (!grown) return *code = cli_fail("ablate", R4_E_MEMORY, ""), false;
    a->run = grown;
  }
  struct listed_run *r = &a->run[a->runs];
  *r = (struct listed_run){.settings = point_settings(a, l, point, code)};
  if (!r->settings) return false;
  memcpy(r->folder, folder, sizeof folder);
  a->runs++;
  return true;
}

/* --set would win over the values of the points, and all of them would be the same run. */
static bool is_free(const struct ablate *a, const struct ablation *b, const char *point)
{
  for (size_t k = 0; k < a->o->set.n; k++) {
    const char *word = a->o->set.word[k];
    size_t n = strcspn(word, "=");
    for (const char *at = point; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
      if (strncmp(at, word, n) || at[n] != '=') continue;
      fprintf(stderr,
              "r4 ablate: --set %.*s: the ablation \"%s\" sets it itself; --only selects others\n",
              (int)n, word, b->name);
      return false;
    }
  }
  return true;
}

static int add_points(struct ablate *a, const struct ablation *b, struct ablation_line *l)
{
  char point[POINT_SIZE];
  int code = EXIT_USAGE;
  for (size_t iy = 0; iy < (l->ys.n ? l->ys.n : 1); iy++)
    for (size_t ix = 0; ix < l->xs.n; ix++) {
      size_t number;
      if (!ablation_point(b, l, ix, iy, point, sizeof point) || !is_free(a, b, point) ||
          !add_run(a, l, point, &number, &code))
        return code;
      l->run[iy * l->xs.n + ix] = number;
    }
  return EXIT_DONE;
}

/* ---- The command ---- */

static int write_all(void *user)
{
  const struct ablate *a = user;
  int code = EXIT_DONE;
  for (size_t k = 0; k < a->ablations && !code; k++)
    if (a->ablation[k].lines) code = ablation_write(&a->ablation[k], &a->about, a->run);
  return code;
}

/* What was kept is written already, or will be in the end. */
static int after(void *user, size_t k, bool made)
{
  (void)k;
  return made ? write_all(user) : EXIT_DONE;
}

/* Without --only, those that have no row for --quick are left out: they have no lines. */
static int read_all(struct ablate *a)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < a->ablations && !code; k++) {
    struct ablation *b = &a->ablation[k];
    code = ablation_read(b, a->o->quick, *a->o->only);
    if (!code && !b->lines)
      fprintf(stderr, "r4 ablate: %s: no row has a --quick form: left out\n", b->path);
  }
  return code;
}

/* What stands there from before stays until there is more to say: it may be stopped again. */
static int write_first(void *user)
{
  const struct ablate *a = user;
  int code = EXIT_DONE;
  for (size_t k = 0; k < a->ablations && !code; k++) {
    const struct ablation *b = &a->ablation[k];
    char path[PATH_SIZE + 128];
    snprintf(path, sizeof path, "%s/%s/results.csv", a->out, b->name);
    if (b->lines && !is_file(path)) code = ablation_write(b, &a->about, a->run);
  }
  return code;
}

static int print_all(void *user)
{
  const struct ablate *a = user;
  int code = EXIT_DONE;
  for (size_t k = 0; k < a->ablations && !code; k++)
    if (a->ablation[k].lines) code = ablation_print(stdout, &a->ablation[k], &a->about, a->run);
  return code;
}

static int go(struct ablate *a)
{
  int code = find_all(a);
  if (!code) code = read_all(a);
  for (size_t k = 0; k < a->ablations && !code; k++)
    for (size_t i = 0; i < a->ablation[k].lines && !code; i++)
      code = add_points(a, &a->ablation[k], &a->ablation[k].line[i]);
  struct run_list list = {.command = "ablate",
                          .out = a->out,
                          .plan = &a->o->plan,
                          .run = a->run,
                          .runs = a->runs,
                          .seeds = a->about.seeds,
                          .split = R4_TEST,
                          .jobs = a->o->jobs,
                          .quiet = a->o->quiet,
                          .after = after,
                          .begin = write_first,
                          .write = write_all,
                          .print = print_all,
                          .user = a};
  return code ? code : run_list_go(&list);
}

int ablate_list(int argc, char **argv, const struct plan_work *w)
{
  struct ablate_settings o;
  static struct ablate a;
  if (!options_read("ablate", options, &o, argc, argv)) return EXIT_USAGE;
  plan_words(&o.plan, argc, argv, w);
  if (!list_out("ablate", o.out, o.experiment, o.quick ? "-ablations-quick" : "-ablations", a.out))
    return EXIT_USAGE;
  a.o = &o;
  a.about = (struct ablation_about){.experiment = o.experiment,
                                    .out = a.out,
                                    .quick = o.quick,
                                    .epochs = o.shorten > 0 ? o.shorten
                                              : o.quick     ? 0.2
                                                            : 1,
                                    .seeds = o.seeds   ? o.seeds
                                             : o.quick ? 1
                                                       : 4};
  a.ablation = calloc(MAX_ABLATIONS, sizeof *a.ablation);
  int code = a.ablation ? go(&a) : cli_fail("ablate", R4_E_MEMORY, "");
  listed_runs_free(a.run, a.runs);
  for (size_t k = 0; k < a.ablations; k++) ablation_free(&a.ablation[k]);
  free(a.ablation);
  return code;
}

static int run(int argc, char **argv)
{
  return ablate_list(argc, argv, NULL);
}

const struct command command_ablate = {
  .name = "ablate",
  .summary = "measure what missing or wrong masks, less data, weight decay and depth do",
  .details =
    "Trains and measures all points of the ablations of an experiment, in parallel, and writes results.md,\n"
    "results.json, results.csv and plot.svg for each. When started again, it continues where it stopped.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
