/* How many threads, and where. */
#include <omp.h>

#include "base/cpus.h"
#include "r4.h"

/* Thread k to the k-th CPU that the process may use. Threads that wander may end up packed on one. */
static void pin_threads(int n, const cpu_set_t *allowed)
{
#pragma omp parallel num_threads(n)
  {
    int seen = -1, mine = omp_get_thread_num();
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
      if (!CPU_ISSET((size_t)cpu, allowed) || ++seen != mine) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET((size_t)cpu, &one);
      sched_setaffinity(0, sizeof one, &one); /* a refusal costs speed only */
      break;
    }
  }
}

int r4_threads(int n, bool pin)
{
  const cpu_set_t *allowed = cpus_allowed();
  int cpus = CPU_COUNT(allowed) ? CPU_COUNT(allowed) : omp_get_num_procs();
  if (n <= 0) n = omp_get_max_threads();
  if (n > cpus) n = cpus;
  omp_set_num_threads(n);
  if (pin) pin_threads(n, allowed);
  return n;
}
