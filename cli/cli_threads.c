/* Threads of the command: how long they wait, how many there are, and where. */
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

/* All CPUs of OMP_PLACES and the like, to some of which the thread that asks may be bound; false if it is not: libgomp
 * has no places then, libomp one of all CPUs. */
static bool all_places(cpu_set_t *all)
{
  int id[CPU_SETSIZE];
  CPU_ZERO(all);
  if (omp_get_num_places() < 2 || omp_get_proc_bind() == omp_proc_bind_false) return false;
  for (int place = 0; place < omp_get_num_places(); place++) {
    int n = omp_get_place_num_procs(place);
    if (n > CPU_SETSIZE) continue;
    omp_get_place_proc_ids(place, id);
    for (int k = 0; k < n; k++) CPU_SET((size_t)id[k], all);
  }
  return CPU_COUNT(all) > 0;
}

/* Others want the CPUs too: half of them are taken now, and were over the last minute. */
static bool machine_is_busy(void)
{
  double load = 0;
  int running = 0;
  FILE *f = fopen("/proc/loadavg", "r");
  bool known = f && fscanf(f, "%lf %*f %*f %d", &load, &running) == 2;
  if (f) fclose(f);
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return known && 2 * load >= (double)cpus && 2 * (running - 1) >= cpus; /* one of those who run is asking */
}

/* Threads of libgomp that wait for others spin for milliseconds. On a shared machine that is time in which the others
 * might have run: an epoch of R3 on two threads took ten times as long as on one. A spin of a tenth of a millisecond
 * bridges the gaps between kernels. Where CPUs are scarce even that is dear: who sleeps soon is woken soon.
 * libgomp reads its environment before main, so the only way is to set it and start again. */
void threads_settle(char **argv)
{
  cpu_set_t all;
  if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
    return; /* the user's choice, or ours of a moment ago */
  if (setenv("GOMP_SPINCOUNT", machine_is_busy() ? "100" : "5000", 1)) return;
  if (all_places(&all)) sched_setaffinity(0, sizeof all, &all); /* one place would be all that is inherited */
  execv("/proc/self/exe", argv); /* returns only if it fails: we stay as we are */
}

int threads_use(const char *name, int n, bool pin)
{
  int got = r4_threads(n, pin);
  const char *why = r4_threads_why();
  if (why && name)
    fprintf(stderr, "r4 %s: uses %d thread%s: %s\n", name, got, got > 1 ? "s" : "", why);
  return got;
}

int threads_share(int jobs)
{
  int share = r4_cpus() / jobs, most = omp_get_max_threads();
  if (share > most) share = most;
  return share > 1 ? share : 1;
}

void threads_let_go(const char *name)
{
  cpu_set_t all;
  if (!all_places(&all)) return;
  if (name) fprintf(stderr, "r4 %s: threads are not bound to CPUs, as several processes share them\n", name);
#pragma omp parallel
  sched_setaffinity(0, sizeof all, &all); /* a refusal costs speed only */
}
