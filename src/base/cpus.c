#include "base/cpus.h"

#include <omp.h>
#include <pthread.h>

static cpu_set_t allowed;

/* Where OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY put threads; 0 if none of them is set: libgomp has no places
 * then, libomp one. */
static int look_at_places(void)
{
  int id[CPU_SETSIZE];
  if (omp_get_proc_bind() == omp_proc_bind_false) return 0;
  for (int place = 0; place < omp_get_num_places(); place++) {
    int n = omp_get_place_num_procs(place);
    if (n < 1 || n > CPU_SETSIZE) continue;
    omp_get_place_proc_ids(place, id);
    for (int k = 0; k < n; k++)
      if (id[k] >= 0 && id[k] < CPU_SETSIZE) CPU_SET((size_t)id[k], &allowed);
  }
  return CPU_COUNT(&allowed);
}

/* A thread that OpenMP has bound to a place sees only that one as its own. */
static void look(void)
{
  CPU_ZERO(&allowed);
  if (look_at_places()) return;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) CPU_ZERO(&allowed);
}

const cpu_set_t *cpus_allowed(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look);
  return &allowed;
}
