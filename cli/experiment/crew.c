/* The processes that train the seeds of a run. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/figures.h"
#include "train.h"

/* ---- One seed, in a process of its own ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
  (void)signal;
  interrupted = 1;
}

void train_catch_signals(void)
{
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
}

bool train_interrupted(void)
{
  return interrupted;
}

/* What a child ends with, beside the exit codes of the command. */
enum { CHILD_STOPPED = 64, CHILD_DEAD };

struct child {
  const struct job *j;
  int64_t seed;
  int pipe_end;
};

/* Tells the parent; a record is shorter than PIPE_BUF, so that it arrives whole. */
static bool report(const r4_progress *p, void *user)
{
  int pipe_end = ((const struct child *)user)->pipe_end;
  if (p->epoch_done || p->batch % 4 == 0)
    if (write(pipe_end, p, sizeof *p) < 0) return false; /* nobody is there any more */
  return !interrupted;
}

/* What is said stands on a line of its own: on a terminal there is one of progress. */
static const char *next_line(const struct job *j)
{
  return !j->quiet && isatty(STDERR_FILENO) ? "\n" : "";
}

static void say(const char *sentence, void *user)
{
  const struct child *c = user;
  fprintf(stderr, "%sr4 %s: seed %lld: %s\n", next_line(c->j), c->j->command, (long long)c->seed, sentence);
}

static r4_status begin_child(const struct child *c, r4_error *e)
{
  char assignment[64];
  train_catch_signals();
  signal(SIGPIPE, SIG_IGN);
  snprintf(assignment, sizeof assignment, "seed=%lld", (long long)c->seed);
  return r4_settings_set(c->j->settings, assignment, "--seeds", e);
}

/* Of a command that goes on by itself: a seed of it that was killed a moment ago may still be saving, and is waited
 * for. */
static r4_status train_patiently(const struct job *j, const r4_train_options *o, r4_outcome *end, r4_error *e)
{
  enum { TRIES = 100, MILLISECONDS = 100 };
  r4_status s = r4_train(j->settings, o, end, e);
  for (int k = 0; k < TRIES && s == R4_E_BUSY && (j->whole || j->parent) && !interrupted; k++) {
    poll(NULL, 0, MILLISECONDS);
    s = r4_train(j->settings, o, end, e);
  }
  return s;
}

/* What came of it, as a code: a penalty that was asked for and never counted is an answer of its own. */
static int code_of(const struct job *j, const r4_outcome *end)
{
  if (end->stopped) return CHILD_STOPPED;
  if (end->only >= 0) return CHILD_DEAD;
  bool ignores = end->verdict == R4_VERDICT_NOT || end->verdict == R4_VERDICT_LITTLE;
  return end->unpenalised || (j->verdict && !ignores) ? EXIT_NO : EXIT_DONE;
}

/* The library has said why, but for what nobody expects to hear who does not ask. */
static void say_if_unknown(struct child *c, const r4_outcome *end)
{
  if (!c->j->verdict || end->stopped || end->verdict != R4_VERDICT_NONE) return;
  if (end->val_kind == R4_VAL_PLAIN) say("whether it uses a shortcut is not known: no example has a mask", c);
  if (end->val_kind == R4_VAL_NONE)
    say("whether it uses a shortcut is not known: there is no validation part to tell by: set data.val", c);
}

static int train_seed(const struct job *j, int64_t seed, int pipe_end)
{
  char folder[PATH_SIZE];
  r4_error e = {0};
  r4_outcome end = {0};
  struct child self = {j, seed, pipe_end};
  runs_seed_folder(j->out, seed, folder);
  r4_status s = begin_child(&self, &e);
  const r4_train_options o = {.folder = folder,
                              .resume = j->resume,
                              .force = j->force,
                              .chosen_by = j->chosen_by,
                              .report = report,
                              .notice = say,
                              .user = &self};
  if (!s) s = train_patiently(j, &o, &end, &e);
  if (!s) {
    say_if_unknown(&self, &end);
    return code_of(j, &end);
  }
  say(e.text, &self);
  return cli_code(s);
}

/* Nets that are all dead are an answer, and no error of the world. */
static int search_lambda(const struct job *j, int64_t seed, int pipe_end)
{
  char folder[PATH_SIZE];
  r4_error e = {0};
  bool stopped = false;
  r4_lambda_curve curve;
  struct child self = {j, seed, pipe_end};
  search_folder(j, folder);
  r4_status s = begin_child(&self, &e);
  const r4_train_options o = {
    .folder = folder, .resume = j->resume, .force = j->force, .report = report, .notice = say, .user = &self};
  if (!s) s = r4_lambda_search(j->settings, &o, &curve, &stopped, &e);
  if (!s) return stopped ? CHILD_STOPPED : EXIT_DONE;
  say(e.text, &self);
  return s == R4_E_DOMAIN ? EXIT_NO : cli_code(s);
}

/* ---- All seeds ---- */

struct crew {
  const struct job *j;
  int (*task)(const struct job *j, int64_t seed, int pipe_end); /* of a child */
  size_t started, ended;
  pid_t child[MAX_SEEDS];
  int jobs, pipe[2], code;
  int dead;           /* nets that answer one class for everything */
  bool stopped, told; /* told: the children know that it is time to stop */
};

/* The setting "threads", or this process's share of the CPUs; what is to be told about that, the first seed tells. */
static void use_threads(const struct crew *c)
{
  const char *name = c->started ? NULL : c->j->command;
  r4_setting_value wanted = {0};
  r4_settings_get(c->j->settings, "threads", &wanted, NULL);
  threads_use(name, wanted.whole ? (int)wanted.whole : threads_share(c->jobs), false);
  if (c->jobs > 1) threads_let_go(name);
}

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
    use_threads(c);
    _exit(c->task(c->j, c->j->seed[c->started], c->pipe[1]));
  }
  c->child[c->started++] = child;
  return true;
}

static void end_one(struct crew *c, pid_t child, int status)
{
  c->ended++;
  for (size_t k = 0; k < c->started; k++)
    if (c->child[k] == child) c->child[k] = 0;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WORLD;
  if (WIFSIGNALED(status))
    fprintf(stderr, "%sr4 %s: a seed was ended by signal %d\n", next_line(c->j), c->j->command,
            WTERMSIG(status));
  if (code == CHILD_STOPPED) c->stopped = true;
  if (code == CHILD_DEAD) c->dead++;
  if (code == CHILD_STOPPED || code == CHILD_DEAD) code = EXIT_NO;
  if (code > c->code) c->code = code;
}

static bool may_start(const struct crew *c)
{
  return c->started < c->j->seeds && !c->stopped && !interrupted && c->code < EXIT_USAGE;
}

/* Ctrl-C reaches the children by itself, a signal to this process alone does not. */
static void stop_all(struct crew *c)
{
  for (size_t k = 0; k < c->started && !c->told; k++)
    if (c->child[k]) kill(c->child[k], SIGTERM);
  c->told = true;
}

/* Shows what arrives until all have ended, and starts the next seed when one has. */
static void work(struct crew *c, struct watch *w)
{
  enum { MILLISECONDS = 100 };
  struct pollfd news = {.fd = c->pipe[0], .events = POLLIN};
  r4_progress p;
  pid_t child;
  int status;
  while (c->ended < c->started) {
    if (c->j->parent && getppid() != c->j->parent) interrupted = 1;
    if (interrupted) stop_all(c);
    if (poll(&news, 1, MILLISECONDS) > 0)
      while (read(c->pipe[0], &p, sizeof p) == sizeof p) watch_show(w, &p);
    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
      end_one(c, child, status);
      if (may_start(c)) start_one(c);
    }
  }
}

static void say_how_to_revive(const struct crew *c)
{
  fprintf(
    stderr,
    "r4 %s: %d of %zu nets answer one class for everything, and no figure about them means anything. %s\n",
    c->j->command, c->dead, c->j->seeds, constant_advice(c->j->settings));
}

static int run_crew(const struct job *j, int (*task)(const struct job *j, int64_t seed, int pipe_end),
                    bool *stopped)
{
  int jobs = j->jobs ? (int)j->jobs : r4_cpus();
  if (jobs > (int)j->seeds) jobs = (int)j->seeds;
  struct crew c = {.j = j, .task = task, .jobs = jobs};
  if (pipe(c.pipe) || fcntl(c.pipe[0], F_SETFL, O_NONBLOCK))
    return cli_fail(j->command, R4_E_IO, strerror(errno));
  train_catch_signals();
  struct watch *w = watch_new(j);
  for (int k = 0; k < jobs && start_one(&c); k++) continue;
  work(&c, w);
  watch_end(w);
  close(c.pipe[0]);
  close(c.pipe[1]);
  if (c.dead) say_how_to_revive(&c);
  *stopped = c.stopped || (interrupted && c.started < j->seeds);
  return *stopped && !c.code ? EXIT_NO : c.code;
}

/* In a process of its own, with the first seed; the choice is for all. Other seeds that are there keep theirs. */
static int choose_lambda(const struct job *j, bool *stopped)
{
  struct job one = *j;
  one.seeds = 1;
  char doing[200];
  snprintf(doing, sizeof doing, "%ssearch for lambda: ", j->doing ? j->doing : "");
  one.doing = doing;
  one.force = j->force && !train_has_others(j);
  int code = run_crew(&one, search_lambda, stopped);
  return code ? code : search_take(j);
}

int train_all(const struct job *j, bool *stopped)
{
  int code = EXIT_DONE;
  *stopped = false;
  if (j->resume) code = run_locate(j->command, j->settings, j->out);
  if (!code) code = method_choose(j);
  if (code) return code;
  r4_lock *l = train_prepare(j, &code);
  if (!l) return code;
  if (r4_lambda_is_open(j->settings)) code = choose_lambda(j, stopped);
  if (!code) code = run_crew(j, train_seed, stopped);
  r4_lock_free(l);
  return code;
}
