/* The team: the threads that OpenMP really gives, which may be fewer than were asked for.
 *
 * oneDNN shares its work out among as many threads as omp_get_max_threads() says, some kernels when they are made and
 * some when they run, and never looks whether all of them came: the part of the others is missing then. So plans are
 * made and run inside of team_enter .. team_leave, where the two numbers are one. */
#ifndef R4_EXEC_TEAM_H
#define R4_EXEC_TEAM_H

#include <stdbool.h>

struct team {
  int threads;
  int before; /* what omp_get_max_threads() and omp_get_dynamic() said */
  bool dynamic;
};

/* From here on every parallel region of this thread has team.threads threads. The number is 1 inside of a parallel
 * region of the caller, where oneDNN is alone as well. */
struct team team_enter(void);
void team_leave(struct team t);

/* How many threads plans ask for from now on, in all threads of the process; 0: as many as OpenMP says. */
void team_ask(int threads);
int team_asked(void);
/* What keeps the team of this thread from being larger: a clause, or NULL if it is as large as was asked for. */
const char *team_limit(void);

/* How many of n threads, with stacks of their own as OpenMP's, could be started just now. */
int team_startable(int n);

enum { TEAM_STACK = 128 << 10 }; /* bytes that kernels need at least; the most demanding take a quarter of it */

#endif
