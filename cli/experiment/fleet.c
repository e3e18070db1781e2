#include "experiment/fleet.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/cmd_data.h"
#include "timer.h"

/* ---- One run, in a process of its own ---- */

enum { STOPPED = 64 }; /* what a process ends with, beside the exit codes of the command */

/* What a process tells of its run, through a pipe. */
struct told {
  bool made; /* something was trained or measured: not all of it was kept */
  struct fleet_figures figures;
};

/* Of data without validation there is nothing to tell: NaN. */
static int take_validation(const struct fleet *f, const struct job *j, struct fleet_figures *to)
{
  double avg[MAX_SEEDS], worst[MAX_SEEDS], n = (double)j->seeds;
  for (size_t k = 0; k < j->seeds; k++) {
    char folder[PATH_SIZE];
    r4_run_validation v;
    r4_outcome end;
    r4_error e = {0};
    runs_seed_folder(j->out, j->seed[k], folder);
    if (r4_run_validation_read(folder, &v, &e)) return cli_fail(f->command, e.status, e.text);
    avg[k] = v.avg;
    worst[k] = v.worst;
    to->score += v.score / n;
    to->se += v.se / n; /* of the same examples for all seeds */
    to->changed += v.changed / n;
    to->exchanged = v.exchanged;
    to->val_kind = v.kind;
    to->one_sided = to->one_sided || (!r4_outcome_read(folder, &end, NULL) && end.one_sided);
  }
  to->val_avg = r4_mean_sd_of(j->seeds, avg);
  to->val_worst = r4_mean_sd_of(j->seeds, worst);
  return EXIT_DONE;
}

static int measure(const struct fleet *f, const struct fleet_run *r, const struct job *j, struct told *to)
{
  struct run_figures all;
  int code = eval_figures((const char(*)[PATH_SIZE])r->folder, 1, f->seeds, f->split, &all);
  if (code) return code;
  *to = (struct told){.made = all.measured,
                      .figures = {.avg = all.summary.avg,
                                  .worst = all.summary.worst,
                                  .kappa = all.summary.kappa_masked_max,
                                  .kappa_mean = all.summary.kappa_masked_mean,
                                  .seeds = (int64_t)j->seeds,
                                  .dead = (int64_t)all.summary.constant,
                                  .unpenalised = (int64_t)all.unpenalised}};
  return take_validation(f, j, &to->figures);
}

static int64_t wanted_threads(const r4_settings *s)
{
  r4_setting_value v = {0};
  r4_settings_get(s, "threads", &v, NULL);
  return v.whole;
}

/* Nets that are dead are a result as well. */
static int make_one(const struct fleet *f, const struct fleet_run *r, int jobs, pid_t parent, struct told *to)
{
  struct job j = {.command = f->command,
                  .settings = r->settings,
                  .out = r->folder,
                  .jobs = 1,
                  .resume = true,
                  .quiet = true,
                  .chosen_by = f->chosen_by,
                  .parent = parent};
  char assignment[32];
  bool stopped = false;
  int threads = wanted_threads(r->settings) ? (int)wanted_threads(r->settings) : threads_share(jobs);
  snprintf(assignment, sizeof assignment, "threads=%d", threads);
  r4_settings_set(j.settings, assignment, f->command, NULL);
  train_choose_seeds(&j, f->seeds);
  int code = train_all(&j, &stopped);
  if (stopped || train_interrupted()) return STOPPED;
  if (code > EXIT_NO) return code;
  signal(SIGINT, SIG_DFL); /* to measure may take long, and leaves nothing that is not whole */
  signal(SIGTERM, SIG_DFL);
  threads_use(NULL, threads, false);
  return measure(f, r, &j, to);
}

static int make_and_tell(const struct fleet *f, const struct fleet_run *r, int jobs, pid_t parent, int pipe)
{
  struct told t = {0};
  int code = make_one(f, r, jobs, parent, &t);
  if (code || write(pipe, &t, sizeof t) == (ssize_t)sizeof t) return code;
  return cli_fail(f->command, R4_E_IO, strerror(errno));
}

/* ---- All of them ---- */

enum { MOST_JOBS = 256 };

struct worker {
  pid_t process;
  int pipe;   /* what it tells comes from here */
  size_t run; /* that it makes */
};

struct crew {
  struct fleet *f;
  int jobs, working, code;
  struct worker worker[MOST_JOBS];
  size_t next, done, made; /* made: of those that are done, the ones of which not all was kept */
  double began;            /* with the first of these */
  bool stopped;
};

/* Before any thread of OpenMP has run in this process: a child could not start its own after that. */
static void start_next(struct crew *c)
{
  int ends[2];
  pid_t self = getpid();
  if (c->next == c->f->runs || c->stopped || train_interrupted() || c->code) return;
  fflush(NULL);
  bool piped = !pipe(ends);
  pid_t child = piped ? fork() : -1;
  if (!child) _exit(make_and_tell(c->f, &c->f->run[c->next], c->jobs, self, ends[1]));
  if (child < 0) c->code = cli_fail(c->f->command, R4_E_IO, strerror(errno));
  if (piped) close(ends[1]);
  if (piped && child < 0) close(ends[0]);
  if (child > 0) c->worker[c->working++] = (struct worker){child, ends[0], c->next++};
}

/* "[3/60] cert-r4_eps=0.1: average 97.1, worst group 95.0, kappa 0.01; 3 min left" */
static void tell(const struct crew *c, const struct fleet_run *r)
{
  const char *slash = strrchr(r->folder, '/');
  double left = (timer_now() - c->began) / (double)c->made * (double)(c->f->runs - c->done);
  if (c->f->quiet) return;
  fprintf(stderr, "[%zu/%zu] %s: average %.1f, worst group %.1f", c->done, c->f->runs,
          shown(slash ? slash + 1 : r->folder).text, 100 * r->figures.avg.mean, 100 * r->figures.worst.mean);
  if (!isnan(r->figures.kappa.mean)) fprintf(stderr, ", kappa %.3g", r->figures.kappa.mean);
  if (r->figures.dead) fprintf(stderr, ", dead");
  if (r->figures.unpenalised) fprintf(stderr, ", not penalised");
  if (c->done < c->f->runs) fprintf(stderr, "; "), watch_left(stderr, left);
  fprintf(stderr, "\n");
}

static void take_figures(struct crew *c, const struct worker *w)
{
  struct fleet_run *r = &c->f->run[w->run];
  struct told t;
  if (read(w->pipe, &t, sizeof t) != (ssize_t)sizeof t) {
    fprintf(stderr, "r4 %s: %s: its process told nothing\n", c->f->command, shown(r->folder).text);
    c->code = EXIT_WORLD;
    return;
  }
  r->figures = t.figures;
  r->done = true;
  c->done++;
  c->made += t.made;
  if (!c->made) c->began = timer_now();
  if (!t.made) return; /* what is written has it, or will have it in the end */
  tell(c, r);
  int code = c->f->after ? c->f->after(c->f->user) : EXIT_DONE;
  if (code > c->code) c->code = code;
}

static void end_one(struct crew *c, pid_t child, int status)
{
  int k = 0, code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WORLD;
  while (k < c->working && c->worker[k].process != child) k++;
  if (k == c->working) return;
  struct worker w = c->worker[k];
  c->worker[k] = c->worker[--c->working];
  if (WIFSIGNALED(status) && train_interrupted()) code = STOPPED;
  if (WIFSIGNALED(status) && code != STOPPED)
    fprintf(stderr, "r4 %s: %s was ended by signal %d\n", c->f->command, shown(c->f->run[w.run].folder).text,
            WTERMSIG(status));
  if (code == STOPPED) c->stopped = true;
  if (!code) take_figures(c, &w);
  if (code != STOPPED && code > c->code) c->code = code;
  close(w.pipe);
}

/* Ctrl-C reaches the children by itself, a signal to this process alone does not. A signal may come at any moment, also
 * just before a call that waits: so none waits long. */
static void work(struct crew *c)
{
  enum { MILLISECONDS = 50 };
  bool told = false;
  for (int k = 0; k < c->jobs; k++) start_next(c);
  while (c->working) {
    int status;
    bool stop = train_interrupted();
    for (int k = 0; k < c->working && stop && !told; k++) kill(c->worker[k].process, SIGTERM);
    told = stop;
    pid_t child = waitpid(-1, &status, WNOHANG);
    if (child <= 0) {
      poll(NULL, 0, MILLISECONDS);
      continue;
    }
    end_one(c, child, status);
    start_next(c);
  }
}

/* Runs are in "OUT/runs". */
static int refuse_links(const struct fleet *f)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < f->runs && !code; k++) {
    char runs[PATH_SIZE];
    const char *folder = f->run[k].folder;
    snprintf(runs, sizeof runs, "%.*s", (int)(strrchr(folder, '/') - folder), folder);
    code = folder_refuse_link(f->command, runs);
    if (!code) code = folder_refuse_link(f->command, folder);
  }
  return code;
}

int fleet_go(struct fleet *f)
{
  int linked = refuse_links(f);
  if (linked) return linked;
  struct crew c = {.f = f, .jobs = f->jobs ? (int)f->jobs : r4_cpus(), .began = timer_now()};
  if (c.jobs > MOST_JOBS) c.jobs = MOST_JOBS;
  train_catch_signals();
  work(&c);
  if (!c.code && (c.stopped || train_interrupted())) {
    fprintf(stderr, "stopped and saved; the same command goes on\n");
    return EXIT_NO;
  }
  return c.code;
}
