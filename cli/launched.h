/* The processes that mpirun or srun has started, as a team that trains one model. Without MPI in the build there are
 * none, and to be one of several is an error. */
#ifndef R4_CLI_LAUNCHED_H
#define R4_CLI_LAUNCHED_H

#include "cli.h"

/* Whether a launcher has started this process, and as which of how many; asked before MPI is begun, after which no
 * process should be forked. */
bool team_launched(int *rank, int *ranks);
/* Before they are a team, all processes read the same settings, and would say the same. What those behind the first say
 * is held back from here on ..*/
void team_hold(void);
/* .. to here. After a failure it is said in the end: where process 0 has said it, too, the launcher has ended this one
 * by then. */
void team_let_go(int code);
/* EXIT_DONE, or an exit code after a message of process 0: this r4 is built without MPI. */
int team_check(const char *command);
/* Begins MPI: the team, or NULL after a message, with *code the exit code. */
const r4_team *team_begin(const char *command, int *code);
/* Of this machine; all processes must ask. */
int team_beside(void);
/* What passed between the processes: bytes and messages of all, and the longest that one of them waited for the
 * others. */
struct team_traffic {
  double bytes, messages, waited; /* seconds */
};
/* Ends MPI. Returns the largest exit code of all; traffic is that at process 0. */
int team_end(int code, struct team_traffic *traffic);

#endif
