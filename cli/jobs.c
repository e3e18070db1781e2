#include "jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* ---- Signals ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
  (void)signal;
  interrupted = 1;
}

void jobs_catch_signals(void)
{
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  signal(SIGUSR1, on_interrupt); /* what schedulers send before the time is over */
}

void jobs_let_signals_end(void)
{
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGUSR1, SIG_DFL);
}

bool jobs_interrupted(void)
{
  return interrupted;
}

bool jobs_must_stop(pid_t parent)
{
  if (parent && getppid() != parent) interrupted = 1;
  return interrupted;
}

/* ---- Processes ---- */

enum { MOST_BESIDE = 256 };

struct pool {
  struct jobs *j;
  struct worker {
    pid_t process;
    size_t job;
  } worker[MOST_BESIDE];
  int working, code;
  size_t next;
};

static void take_code(struct pool *p, int code)
{
  if (code > p->code) p->code = code;
}

static bool may_start(const struct pool *p)
{
  return p->next < p->j->n && !p->j->stopped && !interrupted && p->code < EXIT_USAGE;
}

static void pass_what_is_done(struct pool *p)
{
  struct jobs *j = p->j;
  for (; may_start(p) && j->is_done && j->is_done(j->user, p->next); p->next++)
    take_code(p, j->ended(j->user, p->next, JOB_KEPT));
}

static void start_next(struct pool *p)
{
  pass_what_is_done(p);
  if (!may_start(p)) return;
  fflush(NULL);
  pid_t child = fork();
  if (!child) _exit(p->j->work(p->j->user, p->next));
  if (child > 0)
    p->worker[p->working++] = (struct worker){child, p->next++};
  else
    take_code(p, cli_fail(p->j->command, R4_E_IO, strerror(errno)));
}

/* What a process ended with. Signals that stop the work may end one that does not catch them. */
static int code_of(const struct jobs *j, size_t job, int status)
{
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (interrupted) return JOB_STOPPED;
  if (j->killed) return j->killed(j->user, job, WTERMSIG(status)), EXIT_WORLD;
  fprintf(stderr, "%sr4 %s: %s was ended by signal %d\n", j->before ? j->before : "", j->command,
          shown(j->name(j->user, job)).text, WTERMSIG(status));
  return EXIT_WORLD;
}

static void end_one(struct pool *p, pid_t child, int status)
{
  int k = 0;
  while (k < p->working && p->worker[k].process != child) k++;
  if (k == p->working) return;
  size_t job = p->worker[k].job;
  p->worker[k] = p->worker[--p->working];
  int code = code_of(p->j, job, status);
  if (code == JOB_STOPPED)
    p->j->stopped = true;
  else
    take_code(p, p->j->ended(p->j->user, job, code));
}

/* Ctrl-C reaches the children by itself, a signal to this process alone does not. A signal may come at any moment, also
 * just before a call that waits: so none waits long. */
static void wait_for_all(struct pool *p)
{
  enum { MILLISECONDS = 50 };
  bool told = false;
  while (p->working) {
    int status;
    bool stop = jobs_must_stop(p->j->parent);
    for (int k = 0; k < p->working && stop && !told; k++) kill(p->worker[k].process, SIGTERM);
    told = stop;
    pid_t child = waitpid(-1, &status, WNOHANG);
    if (child <= 0) {
      poll(NULL, 0, MILLISECONDS);
      continue;
    }
    end_one(p, child, status);
    start_next(p);
  }
}

int jobs_run(struct jobs *j)
{
  struct pool p = {.j = j};
  jobs_catch_signals();
  for (int k = 0; k < j->beside; k++) start_next(&p);
  wait_for_all(&p);
  j->stopped = j->stopped || (interrupted && p.next < j->n);
  return j->stopped && !p.code ? EXIT_NO : p.code;
}

int jobs_beside(int64_t asked, size_t n)
{
  size_t beside = asked ? (size_t)asked : (size_t)r4_cpus();
  if (beside > n) beside = n;
  return beside < MOST_BESIDE ? (int)beside : MOST_BESIDE;
}
