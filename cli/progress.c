/* What a person sees while seeds train: on a terminal one line that changes, otherwise a line per epoch. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "timer.h"
#include "train.h"

/* In memory that the processes of all seeds share: each shows how far all of them are. */
enum { SENTENCES = 64 };
struct watch {
  const struct job *j;
  bool quiet, terminal;
  _Atomic uint64_t said[SENTENCES]; /* hashes; 0: none */
  r4_progress last[MAX_SEEDS]; /* epochs is 0 for a seed that was not heard of */
};

struct watch *watch_new(const struct job *j)
{
  struct watch *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (w == MAP_FAILED) return NULL;
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

void watch_time(FILE *f, double seconds)
{
  long s = lround(seconds);
  if (s >= 3600)
    fprintf(f, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    fprintf(f, "%ld:%02ld", s / 60, s % 60);
}

void watch_left(FILE *f, double seconds)
{
  long s = lround(seconds), minutes = lround(seconds / 60);
  if (s < 60)
    fprintf(f, "%ld s left", s);
  else if (minutes < 60)
    fprintf(f, "%ld min left", minutes);
  else
    fprintf(f, "%ld h %ld min left", minutes / 60, minutes % 60);
}

/* What the figures are of is a part of them. */
static void print_validation(FILE *f, const r4_progress *p)
{
  fprintf(f, "  val ");
  if (p->val_kind == R4_VAL_EXCHANGED)
    fprintf(f, "%.1f %%; masked content exchanged (%lld): ", 100 * p->val_plain, (long long)p->val_examples);
  fprintf(f, "%.1f +- %.1f %%, worst group %.1f %%", 100 * p->val_avg, 100 * p->val_se, 100 * p->val_worst);
  if (p->val_kind == R4_VAL_CARRIES) fprintf(f, " (with the shortcut in it)");
}

/* "penalty 0.5", or "cert-r4 0.3  pairing 0.2" */
static void print_penalties(FILE *f, const r4_progress *p)
{
  if (p->terms < 2) fprintf(f, "  penalty %.3g", p->penalty);
  for (size_t k = 0; k < p->terms && p->terms > 1; k++)
    fprintf(f, "  %s %.3g", p->term[k].name, p->term[k].penalty);
}

static void print_figures(FILE *f, const r4_progress *p)
{
  fprintf(f, "loss %.4f", p->loss);
  print_penalties(f, p);
  if (p->validated)
    print_validation(f, p);
  else
    fprintf(f, "  train %.1f %%", 100 * p->accuracy);
}

/* Of all work that the job is a part of; NaN if nobody knows. longest: what a seed has taken. */
static double time_left(const struct job *j, double done, double longest)
{
  const struct whole_job *whole = j->whole;
  double elapsed = whole ? timer_now() - whole->began : longest;
  if (whole) done = whole->before + whole->part * done;
  return done > 0.01 && (whole || j->seeds == 1) ? elapsed * (1 - done) / done : NAN;
}

/* ---- On a terminal ---- */

static size_t columns(void)
{
  struct winsize size = {0};
  return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* So much of a line as fits: what goes on in the next could not be taken back. */
void watch_line(const char *text)
{
  size_t n = strlen(text), most = columns() - 1;
  if (n > most) n = most;
  while (n && ((unsigned char)text[n] & 0xc0) == 0x80) n--; /* letters are whole */
  fprintf(stderr, "\r\033[K%.*s", (int)n, text);
}

static void print_bar(FILE *f, const struct watch *w, const r4_progress *p)
{
  enum { WIDTH = 20 };
  double done = 0, longest = 0;
  for (size_t k = 0; k < w->j->seeds; k++) {
    done += share_done(&w->last[k]) / (double)w->j->seeds;
    longest = fmax(longest, w->last[k].seconds);
  }
  fprintf(f, "[");
  for (int k = 0; k < WIDTH; k++) fputc(k < done * WIDTH ? '#' : '.', f);
  fprintf(f, "]");
  double left = time_left(w->j, done, longest);
  if (!isnan(left)) {
    fputc(' ', f);
    watch_left(f, left);
  }
  fprintf(f, "  %sseed %lld epoch %lld/%lld  ", w->j->doing ? w->j->doing : "", (long long)p->seed,
          (long long)p->epoch, (long long)p->epochs);
  print_figures(f, p);
}

/* ---- What happened ---- */

static void print_epoch(FILE *f, const struct watch *w, const r4_progress *p)
{
  fprintf(f, "%sseed %lld  epoch %lld/%lld  ", w->j->doing ? w->j->doing : "", (long long)p->seed,
          (long long)p->epoch, (long long)p->epochs);
  print_figures(f, p);
  fprintf(f, "  ");
  watch_time(f, p->seconds);
  fputc('\n', f);
}

/* "[######....] 31 s left  [3/12] R3: seed 2 epoch 3/10  loss ...", or a line for an epoch; at once, as other processes
 * write to the same place. */
static void show(const struct watch *w, const r4_progress *p)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return;
  (w->terminal ? print_bar : print_epoch)(f, w, p);
  if (!fclose(f)) w->terminal ? watch_line(text) : (void)fputs(text, stderr);
  free(text);
}

static size_t place_of(const struct watch *w, int64_t seed)
{
  size_t k = 0;
  while (k < w->j->seeds && w->j->seed[k] != seed) k++;
  return k;
}

bool watch_has_begun(const struct watch *w, int64_t seed)
{
  size_t k = w ? place_of(w, seed) : 0;
  return !w || k == w->j->seeds || w->last[k].epochs;
}

/* FNV-1a. Two sentences with the same hash would cost one of them; there are a dozen. */
static uint64_t hash_of(const char *text)
{
  uint64_t h = 14695981039346656037u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
  return h ? h : 1;
}

bool watch_is_new(struct watch *w, const char *sentence)
{
  uint64_t hash = hash_of(sentence);
  for (size_t k = 0; w && k < SENTENCES; k++) {
    uint64_t there = 0;
    if (atomic_compare_exchange_strong(&w->said[k], &there, hash)) return true;
    if (there == hash) return false;
  }
  return true;
}

void watch_show(struct watch *w, const r4_progress *p)
{
  size_t k = w ? place_of(w, (int64_t)p->seed) : 0;
  if (!w || k == w->j->seeds) return;
  w->last[k] = *p;
  if (w->quiet) return;
  if (w->terminal || (p->epoch_done && !w->j->whole)) show(w, p);
}

void watch_end(struct watch *w)
{
  if (!w) return;
  if (w->terminal && !w->quiet) fputc('\n', stderr);
  munmap(w, sizeof *w);
}
