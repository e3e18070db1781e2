/* The seeds of a run, each trained in a process of its own. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "experiment/figures.h"
#include "jobs.h"
#include "train.h"

/* ---- One seed, in a process of its own ---- */

struct child {
  const struct job *j;
  int64_t seed;
  struct watch *watch;
  pid_t parent;
};

static bool report(const r4_progress *p, void *user)
{
  const struct child *c = user;
  if (p->epoch_done || p->batch % 4 == 0) watch_show(c->watch, p);
  return !jobs_must_stop(c->parent);
}

/* What is said stands on a line of its own: on a terminal there is one of progress. */
static const char *next_line(const struct job *j)
{
  return !j->quiet && isatty(STDERR_FILENO) ? "\n" : "";
}

/* Of a list the run is named: as its lines of progress are, "[1/9] ERM: ", or by its folder. In one piece, as other
 * processes write there. */
static void print_sentence(const struct child *c, const char *sentence, bool of_seed)
{
  const struct job *j = c->j;
  const char *slash = strrchr(j->out, '/'), *name = slash ? slash + 1 : j->out;
  char run[300] = "", seed[32] = "";
  if (j->doing && *j->doing)
    snprintf(run, sizeof run, "%s", j->doing);
  else if (j->parent)
    snprintf(run, sizeof run, "%s: ", shown(name).text);
  if (of_seed) snprintf(seed, sizeof seed, "seed %lld: ", (long long)c->seed);
  fprintf(stderr, "%sr4 %s: %s%s%s\n", next_line(j), j->command, run, seed, sentence);
}

static void say(const char *sentence, void *user)
{
  print_sentence(user, sentence, true);
}

/* What all seeds have in common is said once, by the first to say it. */
static void say_once(const struct child *c, const char *sentence)
{
  if (watch_is_new(c->watch, sentence)) print_sentence(c, sentence, false);
}

/* Before the first step it is of the settings and the data. */
static void notice(const char *sentence, void *user)
{
  const struct child *c = user;
  if (watch_has_begun(c->watch, c->seed))
    print_sentence(c, sentence, true);
  else
    say_once(c, sentence);
}

static r4_status begin_child(const struct child *c, r4_error *e)
{
  char assignment[64];
  signal(SIGPIPE, SIG_IGN);
  snprintf(assignment, sizeof assignment, "seed=%lld", (long long)c->seed);
  return r4_settings_set(c->j->settings, assignment, "--seeds", e);
}

/* Of a command that goes on by itself: a seed of it that was killed a moment ago may still be saving, and is waited
 * for. */
static r4_status train_patiently(const struct child *c, const r4_train_options *o, r4_outcome *end, r4_error *e)
{
  enum { TRIES = 100, MILLISECONDS = 100 };
  const struct job *j = c->j;
  r4_status s = r4_train(j->settings, o, end, e);
  for (int k = 0; k < TRIES && s == R4_E_BUSY && j->parent && !jobs_must_stop(c->parent); k++) {
    poll(NULL, 0, MILLISECONDS);
    s = r4_train(j->settings, o, end, e);
  }
  return s;
}

/* What came of it, as a code: a penalty that was asked for and never counted is an answer of its own. */
static int code_of(const struct job *j, const r4_outcome *end)
{
  if (end->stopped) return JOB_STOPPED;
  if (end->only >= 0) return JOB_DEAD;
  bool ignores = end->verdict == R4_VERDICT_NOT || end->verdict == R4_VERDICT_LITTLE;
  return end->unpenalised || (j->verdict && !ignores) ? EXIT_NO : EXIT_DONE;
}

/* The library has said why, but for these two; the second nobody expects to hear who does not ask. */
static void say_if_unknown(const struct child *c, const r4_outcome *end)
{
  bool follows = c->j->team && c->j->team->rank;
  if (follows || end->stopped || end->verdict != R4_VERDICT_NONE) return;
  if (end->val_kind == R4_VAL_PLAIN)
    say_once(c, "whether it uses a shortcut is unknown: no example has a mask; r4 find DATA --run RUN shows what it "
                "looks at");
  if (c->j->verdict && end->val_kind == R4_VAL_NONE)
    say_once(c, "whether it uses a shortcut is unknown: there is no validation part; set data.val (--set "
                "data.val=0.1)");
}

static int train_seed(struct child *c)
{
  const struct job *j = c->j;
  char folder[PATH_SIZE];
  r4_error e = {0};
  r4_outcome end = {0};
  runs_seed_folder(j->out, c->seed, folder);
  r4_status s = begin_child(c, &e);
  const r4_train_options o = {.folder = folder,
                              .resume = j->resume,
                              .force = j->force,
                              .chosen_by = j->chosen_by,
                              .report = report,
                              .notice = notice,
                              .user = c,
                              .team = j->team};
  if (!s) s = train_patiently(c, &o, &end, &e);
  if (!s) {
    say_if_unknown(c, &end);
    return code_of(j, &end);
  }
  if (s == R4_E_TEAM) return EXIT_NO; /* it is said there, and the largest code of all is that of who has failed */
  say(e.text, c);
  return cli_code(s);
}

int train_alone(const struct job *j, bool *stopped)
{
  struct child c = {.j = j, .seed = j->seed[0], .watch = watch_new(j)};
  jobs_catch_signals();
  int code = train_seed(&c);
  watch_end(c.watch);
  *stopped = code == JOB_STOPPED;
  return code == JOB_STOPPED || code == JOB_DEAD ? EXIT_NO : code;
}

/* Nets that are all dead are an answer, and no error of the world. */
static int search_lambda(struct child *c)
{
  const struct job *j = c->j;
  char folder[PATH_SIZE];
  r4_error e = {0};
  bool stopped = false;
  r4_lambda_curve curve;
  search_folder(j, folder);
  r4_status s = begin_child(c, &e);
  const r4_train_options o = {
    .folder = folder, .resume = j->resume, .force = j->force, .report = report, .notice = notice, .user = c};
  if (!s) s = r4_lambda_search(j->settings, &o, &curve, &stopped, &e);
  if (!s) return stopped ? JOB_STOPPED : EXIT_DONE;
  say(e.text, c);
  return s == R4_E_DOMAIN ? EXIT_NO : cli_code(s);
}

/* ---- All seeds ---- */

struct crew {
  const struct job *j;
  int (*task)(struct child *c);
  struct watch *watch;
  int beside;
  size_t dead; /* nets that answer one class for everything */
  pid_t self;
};

/* The setting "threads", or this process's share of the CPUs; what is to be told about that, the first seed tells. */
static void use_threads(const struct crew *c, size_t k)
{
  const char *name = k ? NULL : c->j->command;
  r4_setting_value wanted = {0};
  r4_settings_get(c->j->settings, "threads", &wanted, NULL);
  threads_use(name, wanted.whole ? (int)wanted.whole : threads_share(c->beside), false);
  if (c->beside > 1) threads_let_go(name);
}

static int work(const void *user, size_t k)
{
  const struct crew *c = user;
  use_threads(c, k);
  return c->task(&(struct child){c->j, c->j->seed[k], c->watch, c->self});
}

static int ended(void *user, size_t k, int code)
{
  (void)k;
  struct crew *c = user;
  c->dead += code == JOB_DEAD;
  return code == JOB_DEAD ? EXIT_NO : code;
}

static const char *name_of(const void *user, size_t k)
{
  (void)user, (void)k;
  return "a seed";
}

static void say_how_to_revive(const struct crew *c)
{
  fprintf(
    stderr,
    "r4 %s: %zu of %zu nets collapsed to one class, and their figures mean nothing. %s\n",
    c->j->command, c->dead, c->j->seeds, constant_advice(c->j->settings));
}

static int run_crew(const struct job *j, int (*task)(struct child *c), bool *stopped)
{
  struct crew c = {.j = j, .task = task, .beside = jobs_beside(j->jobs, j->seeds), .self = getpid()};
  struct jobs all = {.command = j->command,
                     .before = next_line(j),
                     .n = j->seeds,
                     .beside = c.beside,
                     .parent = j->parent,
                     .name = name_of,
                     .work = work,
                     .ended = ended,
                     .user = &c};
  c.watch = watch_new(j);
  int code = jobs_run(&all);
  watch_end(c.watch);
  if (c.dead) say_how_to_revive(&c);
  *stopped = all.stopped;
  return code;
}

/* In a process of its own, with the first seed; the choice is for all. Other seeds that are there keep theirs. */
static int choose_lambda(const struct job *j, bool *stopped)
{
  struct job one = *j;
  one.seeds = 1;
  char doing[200];
  snprintf(doing, sizeof doing, "%ssearch for lambda: ", j->doing ? j->doing : "");
  one.doing = doing;
  one.force = j->force && !train_has_others(j);
  int code = run_crew(&one, search_lambda, stopped);
  return code ? code : search_take(j);
}

int train_all(const struct job *j, bool *stopped)
{
  int code = EXIT_DONE;
  *stopped = false;
  if (j->resume) code = run_locate(j->command, j->settings, j->out);
  if (!code) code = method_choose(j);
  if (code) return code;
  r4_lock *l = train_prepare(j, &code);
  if (!l) return code;
  if (r4_lambda_is_open(j->settings)) code = choose_lambda(j, stopped);
  if (!code) code = run_crew(j, train_seed, stopped);
  r4_lock_free(l);
  return code;
}
