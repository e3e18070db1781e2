/* r4 train: from a configuration to models, one for each seed. */
#include "train.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data.h"

struct settings {
  const char *file, *out;
  struct words set;
  int64_t seeds, jobs;
  bool resume, force, quiet;
};

#define AT(field) offsetof(struct settings, field)
static const struct option options[] = {
  {"FILE", OPTION_WORD, AT(file), NULL, 0, 0,
   "settings in YAML, a preset (decoy-mnist/cert-r4), or a run's folder"},
  {"set", OPTION_LIST, AT(set), NULL, 0, 0, "key=value: changes one setting; may be given often"},
  {"seeds", OPTION_WHOLE, AT(seeds), "0", 0, MAX_SEEDS,
   "how many, from the setting seed on; 0: 1, or those to resume"},
  {"out", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for the run; every seed gets its own in it"},
  {"jobs", OPTION_WHOLE, AT(jobs), "0", 0, MAX_SEEDS,
   "seeds side by side, with the CPUs shared out; 0: as many as CPUs"},
  {"resume", OPTION_FLAG, AT(resume), NULL, 0, 0, "go on from the last checkpoints"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "replace a run that is there"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  {0},
};

/* ---- Settings ---- */

/* The folder of this program's own file, for presets that were installed with it. */
static void program_folder(char *path, size_t size)
{
  ssize_t n = readlink("/proc/self/exe", path, size - 1);
  path[n > 0 ? n : 0] = 0;
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
}

/* The first path of a list of forms, each with the folder of this program and a name, that is a file. */
static bool find_first(const char *const *form, const char *name, char *path, size_t size)
{
  char program[PATH_SIZE / 2];
  program_folder(program, sizeof program);
  for (; *form; form++) {
    int n =
      **form == '@' ? snprintf(path, size, *form + 1, program, name) : snprintf(path, size, *form, name);
    if (n > 0 && (size_t)n < size && is_file(path)) return true;
  }
  return false;
}

/* What FILE stands for: itself, FILE/config.yaml of a run, or a preset here, in the source tree or where it was
 * installed. */
static bool find_file(const char *file, char path[PATH_SIZE])
{
  static const char *const form[] = {"%s",
                                     "%s/config.yaml",
                                     "experiments/%s.yaml",
                                     "@%s/../experiments/%s.yaml",
                                     "@%s/../share/r4/experiments/%s.yaml",
                                     NULL};
  return find_first(form, file, path, PATH_SIZE);
}

bool train_find_experiment(const char *name, char *folder, size_t size)
{
  static const char *const form[] = {"%s/table.csv", "experiments/%s/table.csv",
                                     "@%s/../experiments/%s/table.csv",
                                     "@%s/../share/r4/experiments/%s/table.csv", NULL};
  if (!find_first(form, name, folder, size)) return false;
  *strrchr(folder, '/') = 0;
  return true;
}

r4_settings *train_settings(const char *command, const char *file, const struct words *row,
                            const struct words *set)
{
  r4_error e = {0};
  char path[PATH_SIZE];
  r4_settings *s = r4_settings_new();
  r4_status status = s ? R4_OK : R4_E_MEMORY;
  if (!status && !find_file(file, path)) {
    fprintf(stderr, "r4 %s: %s: no such file, preset or run\n", command, file);
    r4_settings_free(s);
    return NULL;
  }
  if (!status) status = r4_settings_read(s, path, &e);
  for (size_t k = 0; row && k < row->n && !status; k++)
    status = r4_settings_set(s, row->word[k], "table.csv", &e);
  for (size_t k = 0; k < set->n && !status; k++) status = r4_settings_set(s, set->word[k], "--set", &e);
  if (!status) status = r4_settings_check(s, &e);
  if (!status) return s;
  cli_fail(command, status, e.text);
  r4_settings_free(s);
  return NULL;
}

static int64_t whole_setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v.whole;
}

/* ---- One seed, in a process of its own ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
  (void)signal;
  interrupted = 1;
}

/* Tells the parent; a record is shorter than PIPE_BUF, so that it arrives whole. */
static bool report(const r4_progress *p, void *user)
{
  int pipe_end = *(int *)user;
  if (p->epoch_done || p->batch % 4 == 0)
    if (write(pipe_end, p, sizeof *p) < 0) return false; /* nobody is there any more */
  return !interrupted;
}

static int train_seed(const struct job *j, int64_t seed, int threads, int pipe_end)
{
  char folder[PATH_SIZE], assignment[64];
  r4_error e = {0};
  bool stopped = false;
  runs_seed_folder(j->out, seed, folder);
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  signal(SIGPIPE, SIG_IGN);
  snprintf(assignment, sizeof assignment, "seed=%lld", (long long)seed);
  r4_status s = r4_settings_set(j->settings, assignment, "--seeds", &e);
  r4_threads(threads, false);
  const r4_train_options o = {
    .folder = folder, .resume = j->resume, .force = j->force, .report = report, .user = &pipe_end};
  if (!s) s = r4_train(j->settings, &o, &stopped, &e);
  if (!s) return stopped ? EXIT_NO : EXIT_DONE;
  fprintf(stderr, "\nr4 %s: seed %lld: %s\n", j->command, (long long)seed, e.text);
  return s == R4_E_IO || s == R4_E_MEMORY || s == R4_E_DOMAIN || s == R4_E_INTERNAL ? EXIT_WORLD : EXIT_USAGE;
}

/* ---- All seeds ---- */

struct crew {
  const struct job *j;
  int64_t first, started, ended;
  int threads, jobs, pipe[2], code;
  bool stopped;
};

/* Before any thread of OpenMP has run in this process: a child could not start its own after that. */
static bool start_one(struct crew *c)
{
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    fprintf(stderr, "r4 %s: cannot start a process: %s\n", c->j->command, strerror(errno));
    c->code = EXIT_WORLD;
    return false;
  }
  if (!child) {
    close(c->pipe[0]);
    _exit(train_seed(c->j, c->first + c->started, c->threads, c->pipe[1]));
  }
  c->started++;
  return true;
}

static void end_one(struct crew *c, int status)
{
  c->ended++;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WORLD;
  if (WIFSIGNALED(status))
    fprintf(stderr, "\nr4 %s: a seed was ended by signal %d\n", c->j->command, WTERMSIG(status));
  if (code == EXIT_NO) c->stopped = true;
  if (code > c->code) c->code = code;
}

static bool may_start(const struct crew *c)
{
  return c->started < c->j->seeds && !c->stopped && !interrupted && c->code < EXIT_USAGE;
}

/* Shows what arrives until all have ended, and starts the next seed when one has. */
static void work(struct crew *c, struct watch *w)
{
  enum { MILLISECONDS = 100 };
  struct pollfd news = {.fd = c->pipe[0], .events = POLLIN};
  r4_progress p;
  int status;
  while (c->ended < c->started) {
    if (poll(&news, 1, MILLISECONDS) > 0)
      while (read(c->pipe[0], &p, sizeof p) == sizeof p) watch_show(w, &p);
    while (waitpid(-1, &status, WNOHANG) > 0) {
      end_one(c, status);
      if (may_start(c)) start_one(c);
    }
  }
}

/* The settings of the run, and a folder for every seed, so that a resumed run knows them all. */
static r4_status prepare(const struct job *j, int64_t first, r4_error *e)
{
  char path[PATH_SIZE];
  r4_status s = R4_OK;
  for (int64_t k = 0; k < j->seeds && !s; k++) {
    runs_seed_folder(j->out, first + k, path);
    if (folder_make(path)) continue;
    snprintf(e->text, sizeof e->text, "%.300s: %s", path, strerror(errno));
    s = R4_E_IO;
  }
  snprintf(path, sizeof path, "%s/config.yaml", j->out);
  if (!s && (!j->resume || !is_file(path))) s = r4_settings_save(j->settings, path, e);
  return s;
}

int train_all(const struct job *j)
{
  r4_error e = {0};
  int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), wanted = (int)whole_setting(j->settings, "threads");
  int jobs = j->jobs ? (int)j->jobs : cpus;
  if (jobs > j->seeds) jobs = (int)j->seeds;
  struct crew c = {.j = j, .first = whole_setting(j->settings, "seed"), .jobs = jobs};
  c.threads = wanted ? wanted : cpus / jobs > 0 ? cpus / jobs : 1;
  r4_status s = prepare(j, c.first, &e);
  if (s) return cli_fail(j->command, s, e.text);
  if (pipe(c.pipe) || fcntl(c.pipe[0], F_SETFL, O_NONBLOCK))
    return cli_fail(j->command, R4_E_IO, strerror(errno));
  signal(SIGINT, on_interrupt);
  struct watch *w = watch_new(j, c.first);
  for (int k = 0; k < jobs && start_one(&c); k++) continue;
  work(&c, w);
  watch_end(w);
  close(c.pipe[0]);
  close(c.pipe[1]);
  if (c.stopped || interrupted) {
    fprintf(stderr, "stopped and saved; go on with: r4 train %s --resume --seeds %lld\n", j->out,
            (long long)j->seeds);
    return c.code ? c.code : EXIT_NO;
  }
  return c.code;
}

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

static int run(int argc, char **argv)
{
  struct settings o;
  char out[PATH_SIZE];
  if (!options_read("train", options, &o, argc, argv)) return EXIT_USAGE;
  if (*o.out)
    snprintf(out, sizeof out, "%s", o.out);
  else
    default_out(o.file, out);
  struct job j = {.command = "train", .out = out, .seeds = o.seeds, .jobs = o.jobs};
  j.resume = o.resume;
  j.force = o.force;
  j.quiet = o.quiet;
  j.settings = train_settings("train", o.file, NULL, &o.set);
  if (!j.settings) return EXIT_USAGE;
  int64_t least;
  if (!j.seeds) j.seeds = o.resume ? (int64_t)runs_seed_count(out, &least) : 1;
  if (!j.seeds) j.seeds = 1;
  int code = train_all(&j);
  r4_settings_free(j.settings);
  if (code == EXIT_DONE) printf("%s\n", out);
  if (code == EXIT_DONE && !o.quiet) fprintf(stderr, "evaluate with: r4 eval %s\n", out);
  return code;
}

/* "from 0 on", "0 to 1", "sgd, adam or adamw" */
static void print_range(const r4_setting_info *t)
{
  if (t->choices) {
    for (size_t k = 0; t->choices[k]; k++) printf("%s%s", k ? ", " : "", t->choices[k]);
  } else if (t->type == R4_SETTING_WHOLE || t->type == R4_SETTING_REAL) {
    printf("%g", t->min);
    if (t->max < 1e9)
      printf(" to %g", t->max);
    else
      printf(" or more");
  } else {
    static const char *const kind[] = {"", "", "true or false", "text", "", "numbers"};
    printf("%s", kind[t->type]);
  }
}

static void print_settings(void)
{
  const char *group = "";
  printf("\nSettings, for the file and for --set, with their defaults:\n");
  for (size_t k = 0; k < r4_setting_count(); k++) {
    r4_setting_info t = r4_setting_describe(k);
    if (strcmp(group, t.group)) printf("\n%s\n", t.group);
    group = t.group;
    printf("  %-16s %s%s%s  [", t.key, *t.initial ? "(" : "", t.initial, *t.initial ? ")" : "");
    print_range(&t);
    printf("]\n  %-16s %s\n", "", t.help);
  }
}

const struct command command_train = {
  .name = "train",
  .summary = "train a network so that masked features do not matter",
  .details =
    "Reads settings, trains one model for each seed, and leaves each in a folder of its own, with a log, a\n"
    "manifest and checkpoints. Ctrl-C saves and stops; --resume goes on, to the same bits.",
  .options = options,
  .more = print_settings,
  .run = run,
  .threads = true,
};
