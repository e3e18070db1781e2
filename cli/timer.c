#include "timer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM = 3, SAMPLES = 4096 };
static const double SHORTEST = 0.005; /* seconds; a sample is at least about that long */

double timer_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The second number of schedstat: nanoseconds that a thread was ready but not running. */
static double waited_by(const char *thread)
{
  char path[300];
  double ns = 0;
  snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", thread);
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  if (fscanf(f, "%*s %lf", &ns) != 1) ns = 0;
  fclose(f);
  return 1e-9 * ns;
}

static double waited(void)
{
  double sum = 0;
  DIR *d = opendir("/proc/self/task");
  if (!d) return 0;
  for (struct dirent *entry; (entry = readdir(d));)
    if (entry->d_name[0] != '.') sum += waited_by(entry->d_name);
  closedir(d);
  return sum;
}

static int by_value(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static bool repeat(bool (*step)(void *), void *job, long count, double *seconds)
{
  double start = timer_now();
  for (long k = 0; k < count; k++)
    if (!step(job)) return false;
  *seconds = (timer_now() - start) / (double)count;
  return true;
}

static double median(double *x, size_t n)
{
  qsort(x, n, sizeof *x, by_value);
  return x[n / 2];
}

static struct timing summarise(double *clean, size_t cleans, double *all, size_t n)
{
  struct timing t = {.clean = cleans, .all = n};
  if (cleans >= 3) {
    t.seconds = median(clean, cleans);
  } else {
    qsort(all, n, sizeof *all, by_value);
    t.seconds = all[n / 4];
  }
  return t;
}

bool timer_measure(bool (*step)(void *job), void *job, double seconds, struct timing *t)
{
  static double clean[SAMPLES], all[SAMPLES];
  size_t cleans = 0, n = 0;
  double once;
  if (!repeat(step, job, WARM, &once) || !repeat(step, job, 1, &once)) return false;
  long count = once < SHORTEST ? (long)(SHORTEST / once) : 1;
  double start = timer_now();
  while (n < SAMPLES && (n < 3 || timer_now() - start < seconds)) {
    double before = waited(), took;
    if (!repeat(step, job, count, &took)) return false;
    all[n++] = took;
    if (waited() - before < 0.02 * took * (double)count) clean[cleans++] = took;
  }
  *t = summarise(clean, cleans, all, n);
  return true;
}

bool timer_best(bool (*step)(void *job), void *job, double seconds, double *best)
{
  double start = timer_now(), took;
  *best = 1e30;
  for (int k = 0; k < 5 || timer_now() - start < seconds; k++) {
    if (!repeat(step, job, 1, &took)) return false;
    if (took < *best) *best = took;
  }
  return true;
}
