/* Whether threads can be started: libgomp does not ask, and ends the program. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "exec/team.h"

/* The first threads stay until the last one was tried. */
struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  bool open;
};

static void *wait_at(void *gate)
{
  struct gate *g = gate;
  pthread_mutex_lock(&g->mutex);
  while (!g->open) pthread_cond_wait(&g->opened, &g->mutex);
  pthread_mutex_unlock(&g->mutex);
  return NULL;
}

static void open_gate(struct gate *g)
{
  pthread_mutex_lock(&g->mutex);
  g->open = true;
  pthread_cond_broadcast(&g->opened);
  pthread_mutex_unlock(&g->mutex);
}

/* OMP_STACKSIZE or GOMP_STACKSIZE as bytes: a number, in K if no unit follows; 0 for none or nonsense. */
static size_t stack_asked(void)
{
  static const char units[] = "BKMG";
  const char *text = getenv("OMP_STACKSIZE");
  if (!text) text = getenv("GOMP_STACKSIZE");
  if (!text) return 0;
  char *end;
  unsigned long long n = strtoull(text, &end, 10);
  end += strspn(end, " ");
  const char *unit = *end ? memchr(units, *end & ~0x20, 4) : &units[1];
  size_t bytes;
  if (end == text || !unit) return 0;
  return __builtin_mul_overflow((size_t)n, (size_t)1 << 10 * (unit - units), &bytes) ? 0 : bytes;
}

static int start_some(pthread_t *thread, int n, struct gate *gate)
{
  pthread_attr_t attr;
  size_t stack = stack_asked();
  int started = 0;
  if (pthread_attr_init(&attr)) return 0;
  if (stack)
    pthread_attr_setstacksize(&attr, stack); /* one that is too small is refused, by libgomp as well */
  while (started < n && !pthread_create(&thread[started], &attr, wait_at, gate)) started++;
  pthread_attr_destroy(&attr);
  return started;
}

int team_startable(int n)
{
  enum { MOST = 1024 };
  pthread_t thread[2 * MOST];
  struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
  sigset_t all, before;
  if (n > MOST) n = MOST;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals stay with the threads of the caller */
  int started =
    start_some(thread, 2 * n, &gate); /* twice: the system may count those that ended for a while */
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  open_gate(&gate);
  for (int k = 0; k < started; k++) pthread_join(thread[k], NULL);
  return started / 2 < n ? started / 2 : n;
}
