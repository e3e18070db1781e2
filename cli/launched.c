/* MPI is behind this file. */
#include "launched.h"

#include <stdlib.h>
#include <string.h>

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

#ifdef R4_MPI

#include <mpi.h>

enum { MOST_BYTES = 1 << 30 }; /* of one message: MPI counts with an int */

static r4_team team;

static r4_status failed(int code, const char *what, int other, r4_error *e)
{
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

static MPI_Request *next_request(r4_error *e)
{
  if (begun.n == begun.room) {
    int room = begun.room ? 2 * begun.room : 64;
    MPI_Request *more = realloc(begun.at, (size_t)room * sizeof *more);
    if (!more) {
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

int team_end(int code, struct team_traffic *all)
{
  int most = code;
  if (MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS) most = code;
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
