/* MPI is behind this file. */
#include "launched.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A number from the environment, or -1. */
static int number(const char *name)
{
  const char *text = getenv(name);
  char *end;
  long n = text ? strtol(text, &end, 10) : -1;
  return text && *text && !*end && n >= 0 && n < 1 << 20 ? (int)n : -1;
}

/* What launchers tell their processes: Open MPI, MPICH and its kin, Slurm's srun. */
bool team_launched(int *rank, int *ranks)
{
  static const char *const tells[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {"PMI_RANK", "PMI_SIZE"}};
  for (size_t k = 0; k < sizeof tells / sizeof *tells; k++) {
    int own = number(tells[k][0]), all = number(tells[k][1]);
    if (own < 0 || all < 1) continue;
    *rank = own;
    *ranks = all;
    return true;
  }
  *rank = 0;
  *ranks = 1;
  return false;
}

/* ---- Before they are a team ---- */

static int held = -1, own_stderr = -1;

void team_hold(void)
{
  int rank, ranks;
  if (!team_launched(&rank, &ranks) || !rank) return;
  fflush(stderr);
  held = memfd_create("stderr", MFD_CLOEXEC);
  own_stderr = held < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (own_stderr >= 0) dup2(held, STDERR_FILENO);
}

static void say_what_was_held(void)
{
  char block[4096];
  ssize_t n;
  nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
  lseek(held, 0, SEEK_SET);
  while ((n = read(held, block, sizeof block)) > 0) fwrite(block, 1, (size_t)n, stderr);
}

void team_let_go(int code)
{
  if (own_stderr < 0) return;
  fflush(stderr);
  dup2(own_stderr, STDERR_FILENO);
  if (code) say_what_was_held();
  close(own_stderr);
  close(held);
  own_stderr = held = -1;
}

#ifdef R4_MPI

#include <mpi.h>

#include "timer.h"

enum { MOST_BYTES = 1 << 30 }; /* of one message: MPI counts with an int */

/* How many seconds a process that has failed waits for the others to hear of it, before it ends them. */
static const double PATIENCE = 30;

static r4_team team;

/* A message is lost, and others may wait for it for ever: nobody is to be waited for at the end. */
static bool broken;

static r4_status failed(int code, const char *what, int other, r4_error *e)
{
  broken = true;
  char why[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, why, &length);
  if (e) {
    e->status = R4_E_IO;
    snprintf(e->text, sizeof e->text, "MPI: %s process %d: %.300s", what, other, why);
  }
  return R4_E_IO;
}

/* What was begun and is not known to be done. */
static struct {
  MPI_Request *at;
  int n, room;
} begun;

static struct team_traffic traffic;

/* What comes after a lost message would be taken for it. */
static r4_status lost(r4_error *e)
{
  if (e) *e = (r4_error){.status = R4_E_TEAM};
  return R4_E_TEAM;
}

static MPI_Request *next_request(r4_error *e)
{
  if (begun.n == begun.room) {
    int room = begun.room ? 2 * begun.room : 64;
    MPI_Request *more = realloc(begun.at, (size_t)room * sizeof *more);
    if (!more) {
      broken = true;
      if (e) snprintf(e->text, sizeof e->text, "MPI: out of memory for messages");
      if (e) e->status = R4_E_MEMORY;
      return NULL;
    }
    begun.at = more;
    begun.room = room;
  }
  return &begun.at[begun.n];
}

static r4_status send_bytes(void *user, int to, const void *bytes, size_t size, r4_error *e)
{
  (void)user;
  if (broken) return lost(e);
  for (size_t at = 0; at < size; at += MOST_BYTES) {
    size_t n = size - at < MOST_BYTES ? size - at : MOST_BYTES;
    MPI_Request *r = next_request(e);
    if (!r) return R4_E_MEMORY;
    int code = MPI_Isend((const char *)bytes + at, (int)n, MPI_BYTE, to, 0, MPI_COMM_WORLD, r);
    if (code != MPI_SUCCESS) return failed(code, "sending to", to, e);
    begun.n++;
    traffic.messages++;
    traffic.bytes += (double)n;
  }
  return R4_OK;
}

static r4_status receive_bytes(void *user, int from, void *bytes, size_t size, r4_error *e)
{
  (void)user;
  if (broken) return lost(e);
  for (size_t at = 0; at < size; at += MOST_BYTES) {
    size_t n = size - at < MOST_BYTES ? size - at : MOST_BYTES;
    MPI_Request *r = next_request(e);
    if (!r) return R4_E_MEMORY;
    int code = MPI_Irecv((char *)bytes + at, (int)n, MPI_BYTE, from, 0, MPI_COMM_WORLD, r);
    if (code != MPI_SUCCESS) return failed(code, "receiving from", from, e);
    begun.n++;
  }
  return R4_OK;
}

static r4_status wait_for_all(void *user, r4_error *e)
{
  (void)user;
  if (broken) return lost(e);
  double start = MPI_Wtime();
  int code = MPI_Waitall(begun.n, begun.at, MPI_STATUSES_IGNORE);
  begun.n = 0;
  traffic.waited += MPI_Wtime() - start;
  return code == MPI_SUCCESS ? R4_OK : failed(code, "waiting, in", team.rank, e);
}

/* Open MPI passes bytes on when it is called. */
static r4_status nudge(void *user, r4_error *e)
{
  (void)user;
  int done = 0;
  if (broken) return lost(e);
  if (!begun.n) return R4_OK;
  int code = MPI_Testall(begun.n, begun.at, &done, MPI_STATUSES_IGNORE);
  if (done) begun.n = 0;
  return code == MPI_SUCCESS ? R4_OK : failed(code, "waiting, in", team.rank, e);
}

const r4_team *team_begin(const char *command, int *code)
{
  team = (r4_team){.send = send_bytes, .receive = receive_bytes, .wait = wait_for_all, .nudge = nudge};
  int threads = 0;
  *code = EXIT_DONE;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &threads) != MPI_SUCCESS) {
    *code = cli_fail(command, R4_E_IO, "MPI cannot be started");
    return NULL;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.ranks);
  return &team;
}

int team_beside(void)
{
  MPI_Comm here;
  int n = 1;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
    return n;
  MPI_Comm_size(here, &n);
  MPI_Comm_free(&here);
  return n;
}

static void add_up(struct team_traffic *all)
{
  MPI_Reduce(&traffic.bytes, &all->bytes, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&traffic.messages, &all->messages, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&traffic.waited, &all->waited, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* The largest of all codes, once all are here. False: who has failed has waited long enough. */
static bool meet_at_end(int code, int *most)
{
  MPI_Request all;
  int met = 0;
  double start = timer_now();
  if (MPI_Iallreduce(&code, most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &all) != MPI_SUCCESS) return false;
  while (MPI_Test(&all, &met, MPI_STATUS_IGNORE) == MPI_SUCCESS && !met) {
    if (code > EXIT_NO && timer_now() - start > PATIENCE) return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return met;
}

/* mpirun ends the others, and has the exit code of this process. Its sentence has been said. */
static void end_all(int code)
{
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, code > EXIT_NO ? code : EXIT_WORLD);
}

int team_end(int code, struct team_traffic *all)
{
  int most = code;
  if (broken || !meet_at_end(code, &most)) end_all(code);
  add_up(all);
  MPI_Finalize();
  return most;
}

int team_check(const char *command)
{
  (void)command;
  return EXIT_DONE;
}

#else

int team_check(const char *command)
{
  int rank, ranks;
  team_launched(&rank, &ranks);
  if (!rank)
    fprintf(
      stderr,
      "r4 %s: %d processes were started to train one model, and this r4 is built without MPI: build it with "
      "\"make MPI=1\"\n",
      command, ranks);
  return EXIT_USAGE;
}

const r4_team *team_begin(const char *command, int *code)
{
  *code = team_check(command);
  return NULL;
}

int team_beside(void)
{
  return 1;
}

int team_end(int code, struct team_traffic *all)
{
  (void)all;
  return code;
}

#endif
