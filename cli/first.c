/* Runs before main, and is compiled for any CPU, see the Makefile: where the library cannot run, the command says so
 * instead of being stopped at an instruction that this CPU does not have. */
#include <unistd.h>

#include "cli.h"

__attribute__((constructor)) static void look_at_cpu(void)
{
  const char *missing = r4_cpu_missing();
  if (!missing) return;
  fprintf(stderr, "r4: %s\n", missing);
  _exit(EXIT_WORLD);
}
