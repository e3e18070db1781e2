/* How many threads, and where. */
#include <omp.h>

#include "base/cpus.h"
#include "exec/team.h"
#include "r4.h"

static _Thread_local const char *why;

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

int r4_cpus(void)
{
  int n = CPU_COUNT(cpus_allowed());
  return n ? n : omp_get_num_procs();
}

int r4_threads(int n, bool pin)
{
  int cpus = r4_cpus();
  if (n <= 0) n = team_asked();
  team_ask(n < cpus ? n : cpus);
  struct team t = team_enter();
  if (pin) pin_threads(t.threads, cpus_allowed());
  team_leave(t);
  why = team_limit();
  if (!why && t.threads < n) why = "the process may use no more CPUs";
  if (!omp_in_parallel()) omp_set_num_threads(t.threads); /* for what is not a plan: making data, say */
  return t.threads;
}

const char *r4_threads_why(void)
{
  return why;
}
