/* Several processes that train one model: process 0 settles what is trained and where, and all others do as the folder
 * says. */
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "launched.h"
#include "timer.h"
#include "train.h"

enum { SHARDS = 8 }; /* unless they are set: as many as 1, 2, 4 or 8 processes can share out evenly */

static int64_t whole_setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v.whole;
}

static int refuse(const struct job *j, const char *why)
{
  return cli_fail(j->command, R4_E_ARGUMENT, why);
}

/* One shard is one process's work. */
static int choose_shards(const struct job *j, int ranks)
{
  char assignment[64];
  r4_error e = {0};
  if (whole_setting(j->settings, "shards") > 1) return EXIT_DONE;
  int shards = SHARDS;
  while (shards < ranks) shards *= 2;
  snprintf(assignment, sizeof assignment, "shards=%d", shards);
  r4_status s = r4_settings_set(j->settings, assignment, "processes", &e);
  if (!s) s = r4_settings_check(j->settings, &e);
  if (s) return cli_fail(j->command, s, e.text);
  fprintf(
    stderr,
    "r4 %s: each batch is cut into %d shards; with shards=%d other numbers of processes give the same\n",
    j->command, shards, shards);
  return EXIT_DONE;
}

/* Before MPI begins: what process 0 alone settles. *lock is held while there is work in the folder. */
static int settle(const struct job *j, int ranks, r4_lock **lock)
{
  int code = EXIT_DONE;
  if (j->seeds > 1)
    return refuse(j, "several processes train one seed at a time: give --seeds 1, and --set seed=N");
  if (r4_lambda_is_open(j->settings))
    return refuse(j, "lambda is auto, which one process searches for: do so first");
  if (j->resume) code = run_locate(j->command, j->settings, j->out);
  if (!code) code = method_choose(j);
  if (!code) code = choose_shards(j, ranks);
  if (!code) *lock = train_prepare(j, &code);
  return code;
}

/* What process 0 has left in the folder. */
static int follow(const struct job *j, const r4_team *t)
{
  char path[PATH_SIZE], assignment[64];
  r4_error e = {0};
  snprintf(path, sizeof path, "%s/config.yaml", j->out);
  snprintf(assignment, sizeof assignment, "seed=%lld", (long long)j->seed[0]);
  r4_status s = r4_settings_read(j->settings, path, &e);
  if (!s) s = r4_settings_set(j->settings, assignment, "--seeds", &e);
  if (!s) return EXIT_DONE;
  fprintf(stderr, "r4 %s: process %d of %d: %s; all processes must see the same folder\n", j->command,
          t->rank, t->ranks, e.text);
  return EXIT_USAGE;
}

static void send_number(const r4_team *t, int to, int number)
{
  t->send(t->user, to, &number, sizeof number, NULL);
  t->wait(t->user, NULL);
}

static void receive_number(const r4_team *t, int from, int *number)
{
  t->receive(t->user, from, number, sizeof *number, NULL);
  t->wait(t->user, NULL);
}

/* A number of each process, at process 0. */
static void gather(const r4_team *t, int own, int *all)
{
  if (t->rank) {
    send_number(t, 0, own);
    return;
  }
  all[0] = own;
  for (int k = 1; k < t->ranks; k++) receive_number(t, k, all + k);
}

/* Launchers bind processes to CPUs, one each if there are few: what each got is told once. */
static void use_threads(const struct job *j, const r4_team *t)
{
  enum { SHOWN = 64 };
  int wanted = (int)whole_setting(j->settings, "threads"), beside = team_beside(), cpus = r4_cpus();
  bool bound = cpus < sysconf(_SC_NPROCESSORS_ONLN);
  int n = wanted ? wanted : bound ? cpus : threads_share(beside);
  int got = threads_use(t->rank ? NULL : j->command, n, false), all[SHOWN];
  if (t->ranks > SHOWN) return;
  gather(t, got, all);
  if (t->rank) return;
  fprintf(stderr, "r4 %s: %d processes, threads of each:", j->command, t->ranks);
  for (int k = 0; k < t->ranks; k++) fprintf(stderr, " %d", all[k]);
  fprintf(stderr, "%s\n",
          bound ? "; mpirun has bound them to some CPUs: --bind-to none, or --map-by slot:PE=N, gives more"
                : "");
}

/* Exit codes of process 0 reach all, so that nobody begins what another has refused. */
static int code_of_first(const r4_team *t, int code)
{
  for (int k = 1; !t->rank && k < t->ranks; k++) send_number(t, k, code);
  if (t->rank) receive_number(t, 0, &code);
  return code;
}

/* How much the processes told each other: what a network has to carry. */
static void tell_traffic(const struct job *j, int ranks, const struct team_traffic *all, double seconds)
{
  fprintf(stderr, "r4 %s: %d processes sent %.0f messages, %.4g MB; one waited %.3g of %.3g s for the others\n",
          j->command, ranks, all->messages, all->bytes * 1e-6, all->waited, seconds);
}

static int train(struct job *j, const r4_team *t, int code, bool *stopped)
{
  code = code_of_first(t, code);
  if (!code && t->rank) code = follow(j, t);
  int codes[2] = {code, code}; /* whoever fails here fails for all */
  for (int k = 1; !t->rank && k < t->ranks; k++) {
    receive_number(t, k, codes);
    if (codes[0] > codes[1]) codes[1] = codes[0];
  }
  if (t->rank) send_number(t, 0, code);
  code = code_of_first(t, codes[1]);
  if (code) return code;
  use_threads(j, t);
  j->team = t;
  j->quiet = j->quiet || t->rank;
  return train_alone(j, stopped);
}

int train_in_team(struct job *j, bool *stopped)
{
  int rank, ranks, begun, code = team_check(j->command);
  r4_lock *lock = NULL;
  if (code) return code;
  team_launched(&rank, &ranks);
  if (!rank) code = settle(j, ranks, &lock);
  const r4_team *t = team_begin(j->command, &begun);
  bool quiet = j->quiet;
  double start = timer_now();
  struct team_traffic traffic = {0};
  if (t) code = team_end(train(j, t, code, stopped), &traffic);
  if (t && !rank && !quiet && code <= EXIT_NO) tell_traffic(j, ranks, &traffic, timer_now() - start);
  r4_lock_free(lock);
  return t ? code : begun;
}
