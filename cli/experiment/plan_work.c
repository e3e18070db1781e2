/* r4 work: runs of a plan, one after another. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/run_plan.h"
#include "jobs.h"
#include "timer.h"

enum { NOT_TRIED = 0, TRIED, TRIED_IN_VAIN };

struct worker {
  struct run_list *l;
  const struct plan_work *how;
  size_t at;            /* the run that it makes                                        */
  unsigned char *tried; /* of each run: whether it was tried here, and whether it failed     */
  size_t made, failed;  /* made: or tried; failed: here or elsewhere, and not to be tried     */
  size_t row;           /* of failures here                                                   */
  bool others;          /* make runs                                                    */
  bool stopped;
  int code, signal; /* what the run ended with: see jobs.h; the signal that ended it */
  pid_t self;
};

struct claim plan_claim(const struct run_list *l, size_t k)
{
  return (struct claim){
    .command = "work", .out = l->out, .folder = l->run[k].folder, .asked = l->run[k].asked};
}

/* ---- One run, in a process of its own ---- */

static const char *name_of(const void *user, size_t k)
{
  const struct worker *w = user;
  const char *folder = w->l->run[w->at].folder, *slash = strrchr(folder, '/');
  (void)k;
  return slash ? slash + 1 : folder;
}

static int work(const void *user, size_t k)
{
  const struct worker *w = user;
  struct claim c = plan_claim(w->l, w->at);
  (void)k;
  claim_log(&c);
  return run_list_make(w->l, w->at, w->self);
}

static void killed(void *user, size_t k, int signal)
{
  (void)k;
  ((struct worker *)user)->signal = signal;
}

static int ended(void *user, size_t k, int code)
{
  (void)k;
  ((struct worker *)user)->code = code;
  return EXIT_DONE;
}

/* Sets w->code, or w->stopped. */
static void make(struct worker *w)
{
  struct jobs one = {.command = "work",
                     .n = 1,
                     .beside = 1,
                     .name = name_of,
                     .work = work,
                     .ended = ended,
                     .killed = killed,
                     .user = w};
  w->signal = 0;
  w->code = EXIT_DONE;
  w->l->made = 0;
  w->l->missing = 1; /* what is left is not for this worker alone, so that its time is not known */
  int code = jobs_run(&one);
  w->stopped = one.stopped;
  if (code > EXIT_NO) w->code = code; /* it could not be started */
}

/* ---- What came of it ---- */

static int note_failure(struct worker *w, const struct claim *c)
{
  char how[64], why[CLAIM_WHY];
  snprintf(how, sizeof how, w->signal ? "ended by signal %d" : "exit code %d",
           w->signal ? w->signal : w->code);
  int code = claim_fail(c, how, why);
  fprintf(stderr, "r4 work: %s failed: %s\n", shown(name_of(w, 0)).text, why);
  w->tried[w->at] = TRIED_IN_VAIN;
  w->failed++;
  w->row++;
  return code;
}

static int note(struct worker *w, const struct claim *c)
{
  if (w->stopped) return EXIT_DONE;
  w->tried[w->at] = TRIED;
  w->made++;
  if (w->code != EXIT_DONE && w->code != JOB_KEPT) return note_failure(w, c);
  w->row = 0;
  return run_list_ended(w->l, w->at, w->code);
}

/* ---- The next run ---- */

static int64_t epochs_done(const struct run_list *l, size_t k)
{
  int64_t seed[MAX_SEEDS], epochs = 0;
  size_t seeds = runs_seeds(l->run[k].folder, seed);
  for (size_t i = 0; i < seeds; i++) {
    char folder[PATH_SIZE];
    r4_run_cost cost = {0};
    runs_seed_folder(l->run[k].folder, seed[i], folder);
    if (!r4_run_cost_read(folder, &cost, NULL)) epochs += cost.epochs;
  }
  return epochs;
}

/* Another may have made it since it was looked at. */
static int make_claimed(struct worker *w, struct claim *c)
{
  char why[CLAIM_WHY];
  claim_refresh(c);
  if (run_list_is_done(w->l, w->at)) return EXIT_DONE;
  if (w->how->again)
    claim_forget_failure(c);
  else if (claim_failure(c, why))
    return w->failed++, EXIT_DONE;
  make(w);
  return note(w, c);
}

/* Makes run k unless it is done, failed, or in others' hands. */
static int try(struct worker *w, size_t k)
{
  char why[CLAIM_WHY];
  bool taken, failed;
  struct claim c = plan_claim(w->l, k);
  w->at = k;
  w->failed += w->tried[k] == TRIED_IN_VAIN;
  if (w->tried[k] || run_list_is_done(w->l, k)) return EXIT_DONE;
  enum claim_state state = claim_look(&c, why);
  w->others = w->others || state == CLAIM_TAKEN;
  w->failed += state == CLAIM_FAILED && !w->how->again;
  if (state == CLAIM_TAKEN || (state == CLAIM_FAILED && !w->how->again)) return EXIT_DONE;
  int code = claim_take(&c, epochs_done(w->l, k), &taken, &failed);
  w->others = w->others || (!taken && !code);
  w->failed += failed;
  if (failed && claim_failure(&c, why))
    fprintf(stderr, "r4 work: %s failed: %s\n", shown(name_of(w, 0)).text, why);
  if (code || !taken || failed) return code;
  code = make_claimed(w, &c);
  claim_give(&c);
  return code;
}

/* A disk that is full or a folder that is missing on this machine would make all runs fail. */
static int check_luck(const struct worker *w)
{
  enum { MOST = 3 };
  if (w->row < MOST) return EXIT_DONE;
  fprintf(stderr, "r4 work: %d runs in a row failed here, so it makes no more\n", MOST);
  return EXIT_WORLD;
}

static bool has_enough(const struct worker *w)
{
  return w->stopped || jobs_interrupted() || (w->how->most && (int64_t)w->made >= w->how->most);
}

/* Once through the list. Runs that others gave back meanwhile are seen the next time. */
static int pass(struct worker *w)
{
  int code = EXIT_DONE;
  w->others = false;
  w->failed = 0;
  for (size_t k = 0; k < w->l->runs && !has_enough(w) && !code; k++) {
    code = try(w, k);
    if (!code) code = check_luck(w);
  }
  return code;
}

/* A signal may come at any moment: none is waited for long. */
static void pause_for(const struct worker *w)
{
  enum { TIMES = 40, MILLISECONDS = 50 };
  for (int k = 0; k < TIMES && !has_enough(w); k++) poll(NULL, 0, MILLISECONDS);
}

static int pass_often(struct worker *w)
{
  for (;;) {
    size_t made = w->made;
    int code = pass(w);
    if (code || has_enough(w)) return code;
    if (w->made > made) continue;
    if (!w->how->wait || !w->others) return EXIT_DONE;
    pause_for(w);
  }
}

/* ---- The end ---- */

static size_t count_done(struct run_list *l)
{
  size_t done = 0;
  for (size_t k = 0; k < l->runs; k++) done += run_list_is_done(l, k);
  return done;
}

/* One worker at a time, but what they write is the same: who waits for too long leaves it to the others. */
static int write_tables(struct run_list *l)
{
  enum { TIMES = 600 };
  bool taken = false, failed;
  struct claim c = {.command = "work", .out = l->out, .folder = "tables", .asked = ""};
  int code = EXIT_DONE;
  for (int k = 0; k < TIMES && !code && !taken; k++) code = claim_take(&c, CLAIM_WHATEVER, &taken, &failed);
  if (code || !taken) return code;
  code = l->write(l->user);
  claim_give(&c);
  if (!code && !l->quiet) fprintf(stderr, "all %zu runs are done, and the tables are written\n", l->runs);
  return code;
}

static int finish(struct worker *w)
{
  struct run_list *l = w->l;
  size_t done = count_done(l);
  if (done == l->runs) return write_tables(l);
  if (jobs_interrupted() || w->stopped) {
    fprintf(stderr, "r4 work: stopped and saved; the same command continues\n");
    return EXIT_NO;
  }
  if (!l->quiet)
    fprintf(stderr, "r4 work: made %zu; %zu of %zu runs are done, see: r4 work %s --status\n", w->made, done,
            l->runs, shown(l->out).text);
  return w->failed ? EXIT_NO : EXIT_DONE;
}

int plan_work_go(struct run_list *l)
{
  struct worker w = {.l = l, .how = l->plan->work, .self = getpid(), .tried = calloc(l->runs + 1, 1)};
  if (!w.tried) return cli_fail("work", R4_E_MEMORY, "");
  jobs_catch_signals();
  for (size_t k = 0; k < l->runs; k++) l->done += run_list_is_done(l, k);
  l->began = timer_now();
  int code = pass_often(&w);
  if (!code) code = finish(&w);
  free(w.tried);
  return code;
}
