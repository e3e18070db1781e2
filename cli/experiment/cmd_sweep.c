/* r4 sweep: many values of some settings, tried side by side; the best in validation is picked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run_plan.h"
#include "experiment/sweep.h"

struct sweep_settings {
  const char *file, *out, *pick;
  struct words over, set;
  int64_t random, seeds, jobs;
  bool quiet;
  struct plan_options plan;
};

#define AT(field) offsetof(struct sweep_settings, field)
static const struct option options[] = {
  {"FILE", OPTION_WORD, AT(file), NULL, 0, 0,
   "settings in YAML, a preset (decoy-mnist/cert-r4), or the folder of a run"},
  {"over KEY=A,B,C", OPTION_LIST, AT(over), NULL, 0, 0,
   "values of a setting (a;b;c if they have commas); may be repeated: all combinations"},
  {"random", OPTION_WHOLE, AT(random), "0", 0, MAX_TRIALS,
   "number of combinations to draw at random; 0: all"},
  {"pick", OPTION_TEXT, AT(pick), "worst", 0, 0, "validation figure to pick by: worst (group) or avg"},
  {"set KEY=VALUE", OPTION_LIST, AT(set), NULL, 0, 0, "change one setting of all runs; may be repeated"},
  {"seeds", OPTION_WHOLE, AT(seeds), "1", 1, MAX_SEEDS, "number of seeds of each combination"},
  {"out FOLDER", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for runs and results (default: runs/NAME-sweep)"},
  {"jobs", OPTION_WHOLE, AT(jobs), "0", 0, 256, "runs trained at once; 0: as many as CPUs"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  PLAN_OPTIONS(struct sweep_settings),
  {0},
};

static int refuse(const char *word, const char *what)
{
  fprintf(stderr, "r4 sweep: --over %s: %s\n", shown(word).text, what);
  return EXIT_USAGE;
}

/* ---- What to try ---- */

/* Each value by itself is one that the setting may have. */
static int check_values(const struct sweep_over *o)
{
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  r4_status status = s ? R4_OK : R4_E_MEMORY;
  for (size_t k = 0; k < o->n && !status; k++) {
    char assignment[VALUE_SIZE + 80];
    snprintf(assignment, sizeof assignment, "%s=%s", o->key, o->value[k]);
    status = r4_settings_set(s, assignment, "--over", &e);
  }
  r4_settings_free(s);
  return status ? cli_fail("sweep", status, e.text) : EXIT_DONE;
}

static int read_over(struct sweep *s, const char *word)
{
  struct sweep_over *o = &s->over[s->overs];
  size_t key = strcspn(word, "=");
  if (!word[key] || !key || key >= sizeof o->key) return refuse(word, "expected key=value,value,..");
  if (s->overs == MAX_OVER) return refuse(word, "more than 16 settings");
  snprintf(o->key, sizeof o->key, "%.*s", (int)key, word);
  if (!strcmp(o->key, "seed"))
    return refuse(word, "seeds cannot be picked; --seeds sets their number");
  for (size_t k = 0; k < s->overs; k++)
    if (!strcmp(s->over[k].key, o->key)) return refuse(word, "this setting is given twice");
  if (!list_split(word + key + 1, ',', &o->n, o->value))
    return refuse(word, "expected values that differ from each other, at most 32");
  if (!o->n) return refuse(word, "expected at least one value");
  s->overs++;
  return check_values(o);
}

/* All combinations in order, or some of them: Fisher and Yates, as far as needed. */
static int choose_trials(struct sweep *s, int64_t random)
{
  size_t all = 1;
  for (size_t k = 0; k < s->overs; k++) {
    all *= s->over[k].n;
    if (all > 1000000) return refuse(s->over[k].key, "more than a million combinations");
  }
  if (!random && all > MAX_TRIALS)
    return refuse(s->over[0].key, "more than 4096 combinations: try some, with --random");
  s->trial = malloc(all * sizeof *s->trial);
  if (!s->trial) return cli_fail("sweep", R4_E_MEMORY, "");
  for (size_t k = 0; k < all; k++) s->trial[k] = (uint32_t)k;
  s->trials = random && (size_t)random < all ? (size_t)random : all;
  for (size_t k = 0; k < s->trials && random; k++) {
    size_t other = k + (size_t)r4_random_below((r4_random){0, 0, 0}, k, all - k);
    uint32_t kept = s->trial[k];
    s->trial[k] = s->trial[other];
    s->trial[other] = kept;
  }
  return EXIT_DONE;
}

/* ---- The runs ---- */

static r4_settings *trial_settings(const struct sweep_settings *o, const struct sweep *s, size_t k,
                                   char *name, int *code)
{
  static char assignment[MAX_OVER][VALUE_SIZE + 80];
  struct words set = o->set;
  size_t used = 0;
  for (size_t i = 0; i < s->overs; i++) {
    snprintf(assignment[i], sizeof assignment[i], "%s=%s", s->over[i].key, sweep_value(s, k, i));
    if (used < RUN_NAME_SIZE)
      used += (size_t)snprintf(name + used, RUN_NAME_SIZE - used, "%s%s", i ? "_" : "", assignment[i]);
    if (set.n == MAX_WORDS)
      return *code = refuse(assignment[i], "more than 64 settings with those of --set"), NULL;
    set.word[set.n++] = assignment[i];
  }
  return train_settings("sweep", o->file, NULL, &set, code);
}

static int make_runs(const struct sweep_settings *o, struct sweep *s)
{
  int code = EXIT_DONE;
  s->run = calloc(s->trials, sizeof *s->run);
  if (!s->run) return cli_fail("sweep", R4_E_MEMORY, "");
  for (size_t k = 0; k < s->trials && !code; k++) {
    char name[RUN_NAME_SIZE] = "";
    s->run[k].settings = trial_settings(o, s, k, name, &code);
    list_folder(s->out, name, s->run[k].folder);
  }
  return code;
}

/* What is there stays until there is more. */
static int write_first(void *user)
{
  const struct sweep *s = user;
  char results[PATH_SIZE];
  snprintf(results, sizeof results, "%s/results.csv", s->out);
  return is_file(results) ? EXIT_DONE : sweep_write(s);
}

/* Of the data of the first that is done; where these cannot be read any more, nobody can tell. */
static void look_at_validation(struct sweep *s)
{
  int code;
  size_t k = 0;
  while (k < s->trials && !s->run[k].done) k++;
  if (s->looked || s->by_average || k == s->trials) return;
  s->looked = true;
  struct run *r = runs_open("sweep", s->run[k].folder, &code);
  r4_data *d = r ? run_data("sweep", r, "", true, &code) : NULL;
  r4_data_thin_validation(d, s->thin);
  r4_data_free(d);
  runs_free(r);
}

/* Without validation there is nothing to pick by. */
static int write_all(void *user)
{
  struct sweep *s = user;
  for (size_t k = 0; k < s->trials; k++)
    if (s->run[k].done && isnan(s->run[k].figures.val_avg.mean)) {
      fprintf(
        stderr,
        "r4 sweep: %s has no validation part to pick by, and the test part must not be used: --set data.val=0.1\n",
        shown(s->run[k].folder).text);
      return EXIT_USAGE;
    }
  look_at_validation(s);
  return sweep_write(s);
}

/* What was kept is written already, or will be in the end. */
static int after(void *user, size_t k, bool made)
{
  (void)k;
  return made ? write_all(user) : EXIT_DONE;
}

static int print_all(void *user)
{
  struct sweep *s = user;
  size_t done = 0;
  look_at_validation(s);
  int code = sweep_print(stdout, s);
  for (size_t k = 0; k < s->trials; k++) done += s->run[k].done;
  if (code || done < s->trials || sweep_best(s) < s->trials) return code;
  fprintf(stderr, "r4 sweep: all nets collapsed to one class: there is none to pick\n");
  return EXIT_NO;
}

/* ---- The command ---- */

static int go(const struct sweep_settings *o, struct sweep *s)
{
  int code = EXIT_DONE;
  if (!o->over.n) return refuse("", "expected a setting and its values, such as --over lambda=0.01,0.1,1");
  for (size_t k = 0; k < o->over.n && !code; k++) code = read_over(s, o->over.word[k]);
  if (!code) code = choose_trials(s, o->random);
  if (!code) code = make_runs(o, s);
  struct run_list list = {.command = "sweep",
                          .out = s->out,
                          .plan = &o->plan,
                          .run = s->run,
                          .runs = s->trials,
                          .seeds = o->seeds,
                          .jobs = o->jobs,
                          .split = R4_VAL,
                          .quiet = o->quiet,
                          .chosen_by = "the sweep picks by validation",
                          .after = after,
                          .begin = write_first,
                          .write = write_all,
                          .print = print_all,
                          .user = s};
  return code ? code : run_list_go(&list);
}

int sweep_list(int argc, char **argv, const struct plan_work *w)
{
  struct sweep_settings o;
  static struct sweep s;
  char out[PATH_SIZE / 2];
  if (!options_read("sweep", options, &o, argc, argv)) return EXIT_USAGE;
  plan_words(&o.plan, argc, argv, w);
  s.by_average = !strcmp(o.pick, "avg");
  if (!s.by_average && strcmp(o.pick, "worst")) {
    fprintf(stderr, "r4 sweep: --pick needs worst or avg, not \"%s\"\n", shown(o.pick).text);
    return EXIT_USAGE;
  }
  if (!list_out("sweep", o.out, o.file, "-sweep", out)) return EXIT_USAGE;
  s.file = o.file;
  s.out = out;
  s.seeds = o.seeds;
  int code = go(&o, &s);
  listed_runs_free(s.run, s.trials);
  free(s.trial);
  return code;
}

static int run(int argc, char **argv)
{
  return sweep_list(argc, argv, NULL);
}

const struct command command_sweep = {
  .name = "sweep",
  .summary = "try values of settings, and pick by validation",
  .details = "Trains all combinations of values, or some at random, in parallel. results.md, .json and .csv list all "
             "of\n"
             "them, pareto.svg and pareto.csv those that no other beats in both accuracy and kappa. The best is "
             "picked by\n"
             "validation alone. When started again, it continues where it stopped.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
