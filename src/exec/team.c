#include "exec/team.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static atomic_int asked;

/* What was seen of this thread's own team, which OpenMP keeps for it. */
static _Thread_local struct {
  int asked, got;
  const char *why;
  bool forked; /* the team stayed in the parent process */
} seen;

static _Thread_local const char *limit;

void team_ask(int threads)
{
  atomic_store(&asked, threads);
}

int team_asked(void)
{
  int n = atomic_load(&asked);
  return n ? n : omp_get_max_threads();
}

const char *team_limit(void)
{
  return limit;
}

/* ---- What is left of a team after fork: the thread that called it ---- */

/* libgomp would wait for the others for ever. */
static void after_fork(void)
{
  if (seen.got < 2) return;
  seen.forked = true;
  omp_set_num_threads(1);
}

static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, after_fork); /* out of memory: forks go unseen, as without us */
}

/* ---- Measuring ---- */

static size_t own_stack(void)
{
  pthread_attr_t attr;
  size_t bytes = SIZE_MAX;
  if (pthread_getattr_np(pthread_self(), &attr)) return bytes;
  pthread_attr_getstacksize(&attr, &bytes);
  pthread_attr_destroy(&attr);
  return bytes;
}

/* The threads of a region that asks for n of them, and the smallest stack among those that OpenMP has made. */
static int count_threads(int n, size_t *stack)
{
  int got = 1;
  size_t least = SIZE_MAX;
#pragma omp parallel num_threads(n) reduction(min : least)
  {
    if (omp_get_thread_num())
      least = own_stack();
    else
      got = omp_get_num_threads();
  }
  *stack = least;
  return got;
}

/* Once for each number and thread. OpenMP ends the program if a thread cannot be started, so we try first. */
static void measure(int n)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  size_t stack;
  pthread_once(&once, watch_forks);
  if (n == seen.asked) return;
  int startable = 1 + team_startable(n - 1);
  seen.asked = n;
  seen.got = count_threads(startable, &stack);
  seen.why = seen.got == n ? NULL : "OpenMP gives no more";
  if (startable < n) seen.why = "the system starts no more: see ulimit -u, memory, OMP_STACKSIZE";
  if (stack < TEAM_STACK) seen.got = 1, seen.why = "OMP_STACKSIZE is below 128K, too small for other threads";
}

/* ---- The team ---- */

/* As many of n as the rules of OpenMP allow; the rest by measuring. */
static int team_size(int n)
{
  int most = omp_get_thread_limit();
  limit = NULL;
  if (n < 2) return 1;
  if (omp_in_parallel()) return limit = "a parallel region of the program is running", 1;
  if (seen.forked) return limit = "the process was forked from one whose threads had started", 1;
  if (omp_get_max_active_levels() < 1) return limit = "OMP_MAX_ACTIVE_LEVELS is 0", 1;
  if (most < n) limit = "OMP_THREAD_LIMIT allows no more", n = most;
  if (n < 2) return 1;
  measure(n);
  if (seen.got < n) limit = seen.why;
  return seen.got;
}

struct team team_enter(void)
{
  struct team t = {.before = omp_get_max_threads(), .dynamic = omp_get_dynamic()};
  omp_set_dynamic(0); /* else regions have as many threads as the load of the machine suggests */
  t.threads = team_size(team_asked());
  omp_set_num_threads(t.threads);
  return t;
}

void team_leave(struct team t)
{
  omp_set_num_threads(t.before);
  omp_set_dynamic(t.dynamic);
}
