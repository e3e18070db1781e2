#include "fleet.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- One run, in a process of its own ---- */

enum { STOPPED = 64 }; /* what a process ends with, beside the exit codes of the command */

/* NaN where there is none. */
static double number_after(const char *line, const char *key)
{
  const char *at = strstr(line, key);
  double v = NAN;
  return at && sscanf(at + strlen(key), "%lf", &v) == 1 ? v : NAN;
}

/* Whether an epoch is better than the best so far, by the setting select: the model is that of the best one. */
static bool is_better(const char *select, double loss, double avg, double worst, const double best[3])
{
  if (!strcmp(select, "avg")) return !(avg <= best[1]);
  if (!strcmp(select, "worst")) return !(worst <= best[2]);
  if (!strcmp(select, "loss")) return !(loss >= best[0]);
  return true;
}

/* Of a seed's log, whose lines are {.. "val":{"loss":..,"accuracy":..,"avg":..,"worst":..}} */
static void read_validation(const struct job *j, int64_t seed, double *avg, double *worst)
{
  char folder[PATH_SIZE], path[PATH_SIZE + 16], line[1 << 14];
  double best[3] = {NAN, NAN, NAN};
  r4_setting_value select = {0};
  r4_settings_get(j->settings, "select", &select, NULL);
  runs_seed_folder(j->out, seed, folder);
  snprintf(path, sizeof path, "%s/log.jsonl", folder);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    const char *val = strstr(line, "\"val\":");
    if (!val) continue;
    double now[3] = {number_after(val, "\"loss\":"), number_after(val, "\"avg\":"),
                     number_after(val, "\"worst\":")};
    if (is_better(select.text ? select.text : "last", now[0], now[1], now[2], best))
      memcpy(best, now, sizeof now);
  }
  if (f) fclose(f);
  *avg = best[1];
  *worst = best[2];
}

static void summarize(const struct run_figures *f, const struct job *j, struct kept_figures *to)
{
  double avg[MAX_SEEDS], worst[MAX_SEEDS];
  for (size_t k = 0; k < j->seeds; k++) read_validation(j, j->seed[k], &avg[k], &worst[k]);
  *to = (struct kept_figures){.avg = f->summary.avg,
                              .worst = f->summary.worst,
                              .kappa = f->summary.kappa_masked_max,
                              .kappa_mean = f->summary.kappa_masked_mean,
                              .val_avg = r4_mean_sd_of(j->seeds, avg),
                              .val_worst = r4_mean_sd_of(j->seeds, worst),
                              .seeds = (int64_t)j->seeds,
                              .dead = (int64_t)f->summary.constant};
}

static int64_t wanted_threads(const r4_settings *s)
{
  r4_setting_value v = {0};
  r4_settings_get(s, "threads", &v, NULL);
  return v.whole;
}

/* Nets that are dead are a result as well. */
static int make_one(const struct fleet *f, const struct fleet_run *r, int jobs)
{
  struct job j = {.command = f->command,
                  .settings = r->settings,
                  .out = r->folder,
                  .jobs = 1,
                  .resume = true,
                  .quiet = true};
  char assignment[32];
  bool stopped = false;
  int threads = wanted_threads(r->settings) ? (int)wanted_threads(r->settings) : threads_share(jobs);
  snprintf(assignment, sizeof assignment, "threads=%d", threads);
  r4_settings_set(j.settings, assignment, f->command, NULL);
  train_choose_seeds(&j, f->seeds);
  int code = train_all(&j, &stopped);
  if (stopped) return STOPPED;
  if (code > EXIT_NO) return code;
  struct run_figures measured;
  struct kept_figures kept;
  threads_use(NULL, threads, false);
  code = eval_figures_of((const char(*)[PATH_SIZE])r->folder, 1, f->split, &measured);
  if (code) return code;
  summarize(&measured, &j, &kept);
  kept.part = f->split;
  return kept_write(f->command, r->folder, &kept);
}

/* ---- All of them ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
  (void)signal;
  interrupted = 1;
}

enum { MOST_JOBS = 256 };

struct crew {
  struct fleet *f;
  int jobs, working, code;
  pid_t child[MOST_JOBS];
  size_t task[MOST_JOBS]; /* which run each child makes */
  size_t next, missing, made;
  double began;
  bool stopped;
};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is there was made with these settings. */
static bool is_current(const struct fleet_run *r)
{
  char path[PATH_SIZE + 16];
  r4_setting_value seed = {0};
  char assignment[64];
  snprintf(path, sizeof path, "%s/config.yaml", r->folder);
  r4_settings *was = is_file(path) ? r4_settings_new() : NULL;
  r4_settings_get(r->settings, "seed", &seed, NULL);
  snprintf(assignment, sizeof assignment, "seed=%lld", (long long)seed.whole);
  bool same = was && !r4_settings_read(was, path, NULL) && !r4_settings_set(was, assignment, "seed", NULL) &&
              r4_settings_compare(was, r->settings, NULL) <= R4_RUN_ASIDE;
  r4_settings_free(was);
  return same;
}

static void take_done(struct crew *c)
{
  struct fleet *f = c->f;
  for (size_t k = 0; k < f->runs; k++) {
    struct fleet_run *r = &f->run[k];
    r->done = is_current(r) && kept_read(f->command, r->folder, f->seeds, f->split, &r->figures);
    c->missing += !r->done;
  }
}

/* Before any thread of OpenMP has run in this process: a child could not start its own after that. */
static void start_next(struct crew *c)
{
  while (c->next < c->f->runs && c->f->run[c->next].done) c->next++;
  if (c->next == c->f->runs || c->stopped || interrupted || c->code) return;
  fflush(NULL);
  pid_t child = fork();
  if (!child) _exit(make_one(c->f, &c->f->run[c->next], c->jobs));
  if (child < 0) {
    c->code = cli_fail(c->f->command, R4_E_IO, strerror(errno));
    return;
  }
  c->child[c->working] = child;
  c->task[c->working++] = c->next++;
}

/* "[3/60] cert-r4_eps=0.1: average 97.1, worst group 95.0, kappa 0.01; ETA 3:20" */
static void tell(const struct crew *c, const struct fleet_run *r)
{
  const char *slash = strrchr(r->folder, '/');
  double left = (now() - c->began) / (double)c->made * (double)(c->missing - c->made);
  if (c->f->quiet) return;
  fprintf(stderr, "[%zu/%zu] %s: average %.1f, worst group %.1f, kappa %.3g%s",
          c->f->runs - c->missing + c->made, c->f->runs, shown(slash ? slash + 1 : r->folder).text,
          100 * r->figures.avg.mean, 100 * r->figures.worst.mean, r->figures.kappa.mean,
          r->figures.dead ? ", dead" : "");
  if (c->made < c->missing) fprintf(stderr, "; ETA %ld:%02ld", (long)left / 60, (long)left % 60);
  fprintf(stderr, "\n");
}

static void take_figures(struct crew *c, struct fleet_run *r)
{
  r->done = kept_read(c->f->command, r->folder, c->f->seeds, c->f->split, &r->figures);
  if (!r->done) {
    fprintf(stderr, "r4 %s: %s: no figures were left there\n", c->f->command, shown(r->folder).text);
    c->code = EXIT_WORLD;
    return;
  }
  c->made++;
  tell(c, r);
  int code = c->f->after ? c->f->after(c->f->user) : EXIT_DONE;
  if (code > c->code) c->code = code;
}

static void end_one(struct crew *c, pid_t child, int status)
{
  int k = 0, code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WORLD;
  while (k < c->working && c->child[k] != child) k++;
  if (k == c->working) return;
  struct fleet_run *r = &c->f->run[c->task[k]];
  c->child[k] = c->child[--c->working];
  c->task[k] = c->task[c->working];
  if (WIFSIGNALED(status))
    fprintf(stderr, "r4 %s: %s was ended by signal %d\n", c->f->command, shown(r->folder).text,
            WTERMSIG(status));
  if (code == STOPPED) c->stopped = true;
  if (!code) take_figures(c, r);
  if (code != STOPPED && code > c->code) c->code = code;
}

/* Ctrl-C reaches the children by itself, a signal to this process alone does not. */
static void work(struct crew *c)
{
  bool told = false;
  for (int k = 0; k < c->jobs; k++) start_next(c);
  while (c->working) {
    int status;
    pid_t child = waitpid(-1, &status, 0);
    for (int k = 0; k < c->working && interrupted && !told; k++) kill(c->child[k], SIGTERM);
    told = told || interrupted;
    if (child <= 0) continue;
    end_one(c, child, status);
    start_next(c);
  }
}

int fleet_go(struct fleet *f)
{
  struct crew c = {.f = f, .jobs = f->jobs ? (int)f->jobs : r4_cpus(), .began = now()};
  struct sigaction act = {.sa_handler = on_interrupt}; /* without SA_RESTART: waitpid returns */
  if (c.jobs > MOST_JOBS) c.jobs = MOST_JOBS;
  take_done(&c);
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  work(&c);
  if (!c.code && (c.stopped || interrupted)) {
    fprintf(stderr, "stopped and saved; the same command goes on\n");
    return EXIT_NO;
  }
  return c.code;
}
