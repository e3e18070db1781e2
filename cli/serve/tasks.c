#include "serve/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const commands[] = {"find", "find", "train", "report"};

const char *task_kind_name(enum task_kind k)
{
  static const char *const names[] = {"find", "propose", "train", "report"};
  return names[k];
}

const char *task_state_name(enum task_state s)
{
  static const char *const names[] = {"waiting", "running", "done", "failed", "stopped"};
  return names[s];
}

void tasks_start(struct tasks *t)
{
  ssize_t n = readlink("/proc/self/exe", t->self, sizeof t->self - 1);
  t->self[n > 0 ? n : 0] = 0;
  t->said = -1;
}

/* ---- The list ---- */

static bool is_over(const struct task *t)
{
  return t->state > TASK_RUNNING;
}

struct task *tasks_add(struct tasks *t, enum task_kind kind, int64_t group, const char *about)
{
  size_t k = 0;
  while (t->n == TASKS_MOST && k < t->n && !is_over(t->task + k)) k++;
  if (k == TASKS_MOST) return NULL;
  if (t->n == TASKS_MOST) {
    memmove(t->task + k, t->task + k + 1, (t->n - k - 1) * sizeof *t->task);
    t->n--;
  }
  struct task *to = t->task + t->n++;
  *to = (struct task){.kind = kind, .number = ++t->last};
  to->group = group ? group : to->number;
  snprintf(to->about, sizeof to->about, "%s", about);
  return to;
}

void task_word(struct task *t, const char *word)
{
  if (t->words < TASK_WORDS) snprintf(t->word[t->words++], TASK_WORD, "%s", word);
}

bool tasks_busy(const struct tasks *t, enum task_kind kind, const char *about)
{
  for (size_t k = 0; k < t->n; k++) {
    const struct task *one = t->task + k;
    if (!is_over(one) && one->kind == kind && (!about || !strcmp(one->about, about))) return true;
  }
  return false;
}

static struct task *running(struct tasks *t)
{
  for (size_t k = 0; k < t->n; k++)
    if (t->task[k].state == TASK_RUNNING) return t->task + k;
  return NULL;
}

/* What comes after something that was not done would not be what was asked for. */
static void end(struct tasks *t, struct task *one, enum task_state state)
{
  one->state = state;
  for (size_t k = 0; state != TASK_DONE && k < t->n; k++) {
    struct task *next = t->task + k;
    if (next->group != one->group || next->state != TASK_WAITING) continue;
    next->state = TASK_STOPPED;
    snprintf(next->said, sizeof next->said, "not begun, as r4 %s before it was not done",
             commands[one->kind]);
  }
}

/* ---- What a child says ---- */

/* "r4 train: ..", which counts more than what follows it. */
static bool is_sentence(const char *line)
{
  return !strncmp(line, "r4 ", 3) || !strncmp(line, "r4: ", 4);
}

static void heard(struct task *one, const char *line)
{
  char stage[64];
  long long k, n;
  if (sscanf(line, "find: %63[^:]: %lld of %lld", stage, &k, &n) == 3) {
    snprintf(one->stage, sizeof one->stage, "%s", stage);
    one->k = k, one->n = n;
  } else if (sscanf(line, "seed %*d epoch %lld/%lld", &k, &n) == 2) {
    snprintf(one->stage, sizeof one->stage, "training");
    one->k = k, one->n = n;
  } else if (*line && (is_sentence(line) || !is_sentence(one->said))) {
    snprintf(one->said, sizeof one->said, "%.*s", TASK_SAID - 1, line);
  }
}

/* Lines that are longer than the room for them lose their ends. */
static void hear(struct tasks *t, struct task *one)
{
  char block[512];
  for (ssize_t got; t->said >= 0 && (got = read(t->said, block, sizeof block)) != -1;) {
    for (ssize_t k = 0; k < got; k++) {
      bool ends = block[k] == '\n' || block[k] == '\r';
      if (!ends && t->held + 1 < sizeof t->line) t->line[t->held++] = block[k];
      if (!ends) continue;
      t->line[t->held] = 0;
      t->held = 0;
      heard(one, t->line);
    }
    if (got) continue;
    close(t->said);
    t->said = -1;
  }
}

/* ---- Children ---- */

/* Never returns. The child ends, and saves, when the server is gone however that ended. */
static void become(const struct tasks *t, const struct task *one, int root, int errors, pid_t parent)
{
  const char *argv[TASK_WORDS + 3] = {"r4", commands[one->kind]};
  for (int k = 0; k < one->words; k++) argv[k + 2] = one->word[k];
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (int s = SIGHUP; s <= SIGTERM; s++) signal(s, SIG_DFL);
  if (getppid() == parent && fchdir(root) == 0) execv(t->self, (char *const *)(const void *)argv);
  dprintf(STDERR_FILENO, "r4 serve: starting r4 %s: %s\n", commands[one->kind], strerror(errno));
  _exit(127);
}

static void start(struct tasks *t, struct task *one, int root)
{
  int ends[2] = {-1, -1};
  pid_t self = getpid(), child = pipe2(ends, O_CLOEXEC) ? -1 : fork();
  if (child == 0) become(t, one, root, ends[1], self);
  if (ends[1] >= 0) close(ends[1]);
  if (child < 0) {
    snprintf(one->said, sizeof one->said, "r4 %s cannot be started: %s", commands[one->kind],
             strerror(errno));
    if (ends[0] >= 0) close(ends[0]);
    end(t, one, TASK_FAILED);
    return;
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  t->child = child;
  t->said = ends[0];
  t->held = 0;
  one->state = TASK_RUNNING;
}

static void settle(struct tasks *t, struct task *one, int status)
{
  bool asked = one->code < 0;
  hear(t, one);
  if (t->said >= 0) close(t->said);
  t->said = -1;
  t->child = 0;
  one->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (one->code && !*one->said)
    snprintf(one->said, sizeof one->said, "r4 %s ended with %d", commands[one->kind], one->code);
  end(t, one, asked && one->code ? TASK_STOPPED : one->code ? TASK_FAILED : TASK_DONE);
}

void tasks_tend(struct tasks *t, int root)
{
  int status;
  struct task *one = running(t);
  if (one && t->child) {
    hear(t, one);
    if (waitpid(t->child, &status, WNOHANG) != t->child) return;
    settle(t, one, status);
  }
  for (size_t k = 0; !t->off && !t->child && k < t->n; k++)
    if (t->task[k].state == TASK_WAITING) start(t, t->task + k, root);
}

void tasks_stop(struct tasks *t, int64_t number)
{
  for (size_t k = 0; k < t->n; k++) {
    struct task *one = t->task + k;
    if (one->number != number || is_over(one)) continue;
    one->code = -1;
    if (one->state == TASK_RUNNING && t->child)
      kill(t->child, SIGTERM);
    else
      end(t, one, TASK_STOPPED);
  }
}

void tasks_stop_all(struct tasks *t)
{
  struct task *one = running(t);
  for (size_t k = 0; k < t->n; k++)
    if (t->task[k].state == TASK_WAITING) t->task[k].state = TASK_STOPPED;
  if (!one || !t->child) return;
  int status = 0;
  one->code = -1;
  kill(t->child, SIGTERM);
  while (waitpid(t->child, &status, 0) < 0 && errno == EINTR) continue;
  settle(t, one, status);
}
