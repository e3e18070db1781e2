/* r4 train: from a configuration to models, one for each seed. */
#include "train.h"

#include <string.h>

#include "help.h"
#include "launched.h"

struct train_settings {
  const char *file, *out;
  struct words set;
  int64_t seeds, jobs;
  bool resume, force, quiet, verdict;
};

#define AT(field) offsetof(struct train_settings, field)
static const struct option options[] = {
  {"FILE", OPTION_WORD, AT(file), NULL, 0, 0,
   "settings in YAML, a preset (decoy-mnist/cert-r4), or the folder of a run"},
  {"set KEY=VALUE", OPTION_LIST, AT(set), NULL, 0, 0, "change one setting; may be repeated"},
  {"seeds", OPTION_WHOLE, AT(seeds), "0", 0, MAX_SEEDS,
   "number of seeds, from the setting seed on; 0: 1, or those to resume"},
  {"out FOLDER", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for the run, with a folder for each seed"},
  {"jobs", OPTION_WHOLE, AT(jobs), "0", 0, MAX_SEEDS,
   "seeds trained at once, sharing the CPUs; 0: as many as CPUs"},
  {"resume", OPTION_FLAG, AT(resume), NULL, 0, 0, "continue from the last checkpoints"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "replace an existing run"},
  {"verdict", OPTION_FLAG, AT(verdict), NULL, 0, 0,
   "exit with 1 if a net uses the shortcut or reacts to what is masked, or if this is unknown"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  {0},
};

/* ---- The command ---- */

/* Without --out: the run's folder itself if FILE is one, otherwise runs/ and the name of the file. */
static void default_out(const char *file, char out[PATH_SIZE])
{
  char config[PATH_SIZE];
  snprintf(config, sizeof config, "%s/config.yaml", file);
  if (is_file(config)) {
    snprintf(out, PATH_SIZE, "%s", file);
    return;
  }
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  snprintf(out, PATH_SIZE, "runs/%.*s", (int)strcspn(name, "."), name);
}

/* The command that goes on with a job that was stopped, with as many threads for each seed: the bits depend on them. */
static void say_how_to_resume(const struct job *j)
{
  int64_t seed[MAX_SEEDS];
  size_t n = runs_seeds(j->out, seed);
  fprintf(stderr, "stopped and saved; continue with: r4 train ");
  cli_print_word(stderr, j->out);
  fprintf(stderr, " --resume");
  if (n != j->seeds) fprintf(stderr, " --set seed=%lld --seeds %zu", (long long)j->seed[0], j->seeds);
  if (j->jobs) fprintf(stderr, " --jobs %lld", (long long)j->jobs);
  fprintf(stderr, "\n");
}

static void say_next(const char *what, const char *out)
{
  fprintf(stderr, "%s", what);
  cli_print_word(stderr, out);
  fprintf(stderr, "\n");
}

static int open_settings(struct job *j, const struct train_settings *o)
{
  int code;
  team_hold();
  j->settings = train_settings("train", o->file, NULL, &o->set, &code);
  if (j->settings) train_choose_seeds(j, o->seeds);
  if (j->settings) code = is_file(o->file) ? EXIT_DONE : run_locate("train", j->settings, o->file);
  team_let_go(code);
  return code;
}

static int run(int argc, char **argv)
{
  struct train_settings o;
  char out[PATH_SIZE];
  bool stopped = false;
  if (!options_read("train", options, &o, argc, argv)) return EXIT_USAGE;
  if (*o.out)
    snprintf(out, sizeof out, "%s", o.out);
  else
    default_out(o.file, out);
  if (strlen(out) + strlen("/seed-9007199254740991/") >= sizeof out) {
    fprintf(
      stderr,
      "r4 train: the path of the folder is too long, expected below %d characters: choose another --out\n",
      PATH_SIZE - 32);
    return EXIT_USAGE;
  }
  struct job j = {.command = "train", .out = out, .jobs = o.jobs};
  j.resume = o.resume;
  j.force = o.force;
  j.quiet = o.quiet;
  j.verdict = o.verdict;
  int rank, ranks, code = open_settings(&j, &o);
  if (!j.settings) return code;
  bool together = team_launched(&rank, &ranks) && ranks > 1;
  if (!code) code = together ? train_in_team(&j, &stopped) : train_all(&j, &stopped);
  r4_settings_free(j.settings);
  if (rank) return code; /* process 0 speaks for all */
  if (stopped) say_how_to_resume(&j);
  if (code == EXIT_DONE) printf("%s\n", out);
  if (code == EXIT_DONE && !o.quiet) {
    say_next("evaluate with: r4 eval ", out);
    say_next("write a page about it with: r4 report ", out);
  }
  return code;
}

const struct command command_train = {
  .name = "train",
  .summary = "train a network so that masked features do not matter",
  .details =
    "Reads settings, trains a model for each seed, and keeps each in a folder of its own, with a log, a manifest\n"
    "and checkpoints. Ctrl-C saves and stops; --resume continues, with bit-identical results.",
  .options = options,
  .more = help_settings,
  .run = run,
  .threads = THREADS_LATER,
};
