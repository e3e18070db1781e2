/* A mapped file that somebody shortens, or whose disk fails, is missing in the midst of a computation, and all that the
 * kernel offers is SIGBUS. Its sentence and exit code are those of every other file that cannot be read. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static char command_name[32] = "";

/* Only what a handler may call. */
static void put(const char *text)
{
  size_t n = strlen(text);
  while (n) {
    ssize_t done = write(STDERR_FILENO, text, n);
    if (done <= 0) return;
    text += done;
    n -= (size_t)done;
  }
}

static void on_missing_page(int number, siginfo_t *about, void *context)
{
  (void)context;
  const char *file = r4_mapped_file(about->si_addr);
  if (!file) { /* a fault of ours: as without a handler */
    signal(number, SIG_DFL);
    return;
  }
  put("r4 ");
  put(command_name);
  put(": ");
  put(file);
  put(": became shorter while it was in use, or its disk cannot be read\n");
  _exit(EXIT_WORLD);
}

void mapped_catch_missing(const char *command)
{
  struct sigaction action = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO};
  snprintf(command_name, sizeof command_name, "%s", command);
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}
