#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void remember(int signal_number)
{
  caught = signal_number;
}

void process_catch_signals(void)
{
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = remember}; /* without SA_RESTART: waiting ends at once */
  sigemptyset(&action.sa_mask);
  for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) sigaction(signals[k], &action, NULL);
}

bool process_interrupted(void)
{
  return caught != 0;
}

/* In the child: never returns. Exit 127 and a line on stderr if the program cannot be started, as a shell does. */
static void become(const char *folder, const char *const argv[], int errors)
{
  int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (chdir(folder) == 0) execvp(argv[0], (char *const *)(const void *)argv);
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

/* Reads to the end and keeps the first line that is not empty. */
static void keep_first_line(int from, char why[PROCESS_WHY])
{
  char block[512];
  size_t n = 0;
  bool whole = false;
  for (ssize_t got; (got = read(from, block, sizeof block)) != 0;) {
    if (got < 0) {
      if (errno == EINTR && !caught) continue;
      break;
    }
    for (ssize_t k = 0; k < got && !whole; k++) {
      whole = n && block[k] == '\n';
      if (!whole && n + 1 < PROCESS_WHY && block[k] != '\n') why[n++] = block[k];
    }
  }
  why[n] = 0;
}

static bool wait_for(pid_t child, const char *program, char why[PROCESS_WHY])
{
  int status = 0;
  if (caught) kill(child, SIGTERM);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    if (caught) kill(child, SIGTERM);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (*why) return false;
  if (WIFSIGNALED(status))
    snprintf(why, PROCESS_WHY, "%s: ended by signal %d", program, WTERMSIG(status));
  else
    snprintf(why, PROCESS_WHY, "%s: ended with %d", program, WEXITSTATUS(status));
  return false;
}

bool process_run(const char *folder, const char *const argv[], char why[PROCESS_WHY])
{
  int ends[2];
  snprintf(why, PROCESS_WHY, "interrupted");
  if (caught) return false;
  if (pipe2(ends, O_CLOEXEC)) {
    snprintf(why, PROCESS_WHY, "%s: %s", argv[0], strerror(errno));
    return false;
  }
  pid_t child = fork();
  if (child == 0) become(folder, argv, ends[1]);
  close(ends[1]);
  if (child < 0)
    snprintf(why, PROCESS_WHY, "%s: %s", argv[0], strerror(errno));
  else
    keep_first_line(ends[0], why);
  close(ends[0]);
  return child > 0 && wait_for(child, argv[0], why);
}
