/* What a person sees while seeds train: on a terminal one line that changes, otherwise a line per epoch. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "timer.h"
#include "train.h"

struct watch {
  const struct job *j;
  bool quiet, terminal;
  r4_progress last[MAX_SEEDS]; /* epochs is 0 for a seed that was not heard of */
};

struct watch *watch_new(const struct job *j)
{
  struct watch *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->j = j;
  w->quiet = j->quiet;
  w->terminal = isatty(STDERR_FILENO);
  return w;
}

/* Of the work of one seed, 0 to 1. */
static double share_done(const r4_progress *p)
{
  if (!p->epochs) return 0;
  double part = p->epoch_done || !p->batches ? 0 : (double)p->batch / (double)p->batches;
  return ((double)p->epoch + part) / (double)p->epochs;
}

void watch_time(double seconds)
{
  long s = lround(seconds);
  if (s >= 3600)
    fprintf(stderr, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    fprintf(stderr, "%ld:%02ld", s / 60, s % 60);
}

static void print_figures(const r4_progress *p)
{
  fprintf(stderr, "loss %.4f  penalty %.3g", p->loss, p->penalty);
  if (p->validated)
    fprintf(stderr, "  val %.1f %%, worst group %.1f %%", 100 * p->val_avg, 100 * p->val_worst);
  else
    fprintf(stderr, "  train %.1f %%", 100 * p->accuracy);
}

/* Of all work that the job is a part of; NaN if nobody knows. longest: what a seed has taken. */
static double time_left(const struct job *j, double done, double longest)
{
  const struct whole_job *whole = j->whole;
  double elapsed = whole ? timer_now() - whole->began : longest;
  if (whole) done = whole->before + whole->part * done;
  return done > 0.01 && (whole || j->seeds == 1) ? elapsed * (1 - done) / done : NAN;
}

/* "seeds 0-3  [######....]  ETA 0:31  seed 2 epoch 3/10  loss ..." */
static void show_line(const struct watch *w, const r4_progress *p)
{
  enum { WIDTH = 20 };
  double done = 0, longest = 0;
  for (size_t k = 0; k < w->j->seeds; k++) {
    done += share_done(&w->last[k]) / (double)w->j->seeds;
    longest = fmax(longest, w->last[k].seconds);
  }
  fprintf(stderr, "\r\033[K[");
  for (int k = 0; k < WIDTH; k++) fputc(k < done * WIDTH ? '#' : '.', stderr);
  fprintf(stderr, "]");
  double left = time_left(w->j, done, longest);
  if (!isnan(left)) {
    fprintf(stderr, " ETA ");
    watch_time(left);
  }
  fprintf(stderr, "  %sseed %lld epoch %lld/%lld  ", w->j->doing ? w->j->doing : "", (long long)p->seed,
          (long long)p->epoch, (long long)p->epochs);
  print_figures(p);
}

void watch_show(struct watch *w, const r4_progress *p)
{
  if (!w || w->quiet) return;
  size_t k = 0;
  while (k < w->j->seeds && w->j->seed[k] != (int64_t)p->seed) k++;
  if (k == w->j->seeds) return;
  w->last[k] = *p;
  if (w->terminal) {
    show_line(w, p);
    return;
  }
  if (!p->epoch_done || w->j->whole) return;
  fprintf(stderr, "%sseed %lld  epoch %lld/%lld  ", w->j->doing ? w->j->doing : "", (long long)p->seed,
          (long long)p->epoch, (long long)p->epochs);
  print_figures(p);
  fprintf(stderr, "  ");
  watch_time(p->seconds);
  fputc('\n', stderr);
}

void watch_end(struct watch *w)
{
  if (w && w->terminal && !w->quiet) fputc('\n', stderr);
  free(w);
}
