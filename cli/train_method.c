/* method: auto, seen from the command: chosen once, for all seeds. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "train.h"

/* What the process that looks at the data tells; shorter than PIPE_BUF, so that it arrives whole. */
struct told {
  char method[64], box[16], why[R4_ERROR_SIZE];
  double eps;
};

static r4_setting_value value_of(const struct job *j, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(j->settings, key, &v, NULL);
  return v;
}

/* In a process of its own: to read data starts threads, after which no process could be started that has its own. */
static int look(const struct job *j, int pipe_end)
{
  struct told t = {0};
  r4_error e = {0};
  r4_status s = r4_method_choose(j->settings, NULL, t.why, &e);
  if (s) return cli_fail(j->command, s, e.text);
  snprintf(t.method, sizeof t.method, "%s", value_of(j, "method").text);
  snprintf(t.box, sizeof t.box, "%s", value_of(j, "box").text);
  t.eps = value_of(j, "eps").real;
  return write(pipe_end, &t, sizeof t) == (ssize_t)sizeof t ? EXIT_DONE
                                                            : cli_fail(j->command, R4_E_IO, strerror(errno));
}

static int wait_for(pid_t child)
{
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WORLD;
}

static r4_status set(const struct job *j, const struct told *t, r4_error *e)
{
  char method[sizeof t->method + 16], box[sizeof t->box + 16], eps[48];
  snprintf(method, sizeof method, "method=%s", t->method);
  snprintf(box, sizeof box, "box=%s", t->box);
  snprintf(eps, sizeof eps, "eps=%g", t->eps);
  r4_status s = r4_settings_set(j->settings, method, "auto", e);
  if (!s && strcmp(value_of(j, "box").text, t->box)) s = r4_settings_set(j->settings, box, "auto", e);
  if (!s && value_of(j, "eps").real != t->eps) s = r4_settings_set(j->settings, eps, "auto", e);
  return s ? s : r4_settings_check(j->settings, e);
}

static int take(const struct job *j, const struct told *t)
{
  r4_error e = {0};
  bool searches = r4_lambda_is_open(j->settings);
  if (set(j, t, &e))
    return cli_fail(j->command, e.status, e.text);
  if (!j->quiet) fprintf(stderr, "r4 %s: %s\n", j->command, t->why);
  if (searches && !r4_lambda_is_open(j->settings))
    return cli_fail(j->command, R4_E_ARGUMENT,
                    "lambda is auto, but the method that fits the masks has no penalty to weigh");
  return EXIT_DONE;
}

int method_choose(const struct job *j)
{
  int ends[2];
  struct told t;
  if (!r4_method_is_open(j->settings)) return EXIT_DONE;
  if (pipe(ends)) return cli_fail(j->command, R4_E_IO, strerror(errno));
  fflush(NULL);
  pid_t child = fork();
  if (!child) _exit(look(j, ends[1]));
  close(ends[1]);
  bool told = child > 0 && read(ends[0], &t, sizeof t) == (ssize_t)sizeof t;
  close(ends[0]);
  if (child < 0) return cli_fail(j->command, R4_E_IO, strerror(errno));
  int code = wait_for(child);
  if (told) return take(j, &t);
  return code ? code : EXIT_WORLD;
}
