/* Idle threads of libgomp spin for milliseconds, which on a shared machine takes time from others
 * and from us. A short spin bridges the gaps between kernels and then sleeps. libgomp reads its
 * environment before main, so the only way is to set it and start again. */
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

void threads_settle(char **argv)
{
  if (getenv("GOMP_SPINCOUNT")) return; /* the user's choice, or ours of a moment ago */
  if (setenv("GOMP_SPINCOUNT", "20000", 1)) return;
  setenv("OMP_PROC_BIND", "false", 0); /* r4_threads pins */
  execv("/proc/self/exe", argv);       /* returns only if it fails: then we stay as we are */
}
