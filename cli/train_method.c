/* method: auto, seen from the command: chosen once, for all seeds. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "train.h"

static r4_setting_value value_of(const struct job *j, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(j->settings, key, &v, NULL);
  return v;
}

/* In a process of its own: to read data starts threads, after which no process could be started that has its own.
 * Leaves the reason, and a line for each setting that is another now. */
static int look(const struct job *j, FILE *to)
{
  char why[R4_ERROR_SIZE], box[64];
  r4_setting_value eps = value_of(j, "eps"), now;
  r4_error e = {0};
  snprintf(box, sizeof box, "%s", value_of(j, "box").text);
  r4_status s = r4_method_choose(j->settings, NULL, why, &e);
  if (s) return cli_fail(j->command, s, e.text);
  fprintf(to, "%s\nmethod=%s\n", why, value_of(j, "method").text);
  if (strcmp(value_of(j, "box").text, box)) fprintf(to, "box=%s\n", value_of(j, "box").text);
  now = value_of(j, "eps");
  if (!now.text && now.real != eps.real) fprintf(to, "eps=%g\n", now.real);
  return fflush(to) ? cli_fail(j->command, R4_E_IO, strerror(errno)) : EXIT_DONE;
}

static r4_status set_all(const struct job *j, FILE *from, char why[R4_ERROR_SIZE], r4_error *e)
{
  char line[R4_ERROR_SIZE];
  r4_status s = R4_OK;
  rewind(from);
  if (!fgets(why, R4_ERROR_SIZE, from)) *why = 0;
  while (!s && fgets(line, sizeof line, from)) {
    line[strcspn(line, "\n")] = 0;
    s = r4_settings_set(j->settings, line, "auto", e);
  }
  return s ? s : r4_settings_check(j->settings, e);
}

static int take(const struct job *j, FILE *from)
{
  char why[R4_ERROR_SIZE];
  r4_error e = {0};
  bool searches = r4_lambda_is_open(j->settings);
  if (set_all(j, from, why, &e)) return cli_fail(j->command, e.status, e.text);
  if (!j->quiet) fprintf(stderr, "r4 %s: %s", j->command, why);
  if (searches && !r4_lambda_is_open(j->settings))
    return cli_fail(j->command, R4_E_ARGUMENT,
                    "lambda is auto, but the method that fits the masks has no penalty to weight");
  return EXIT_DONE;
}

static int wait_for(pid_t child)
{
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WORLD;
}

int method_choose(const struct job *j)
{
  if (!r4_method_is_open(j->settings)) return EXIT_DONE;
  FILE *file = tmpfile();
  fflush(NULL);
  pid_t child = file ? fork() : -1;
  if (!child) _exit(look(j, file));
  int code = child > 0 ? wait_for(child) : cli_fail(j->command, R4_E_IO, strerror(errno));
  if (!code) code = take(j, file);
  if (file) fclose(file);
  return code;
}
