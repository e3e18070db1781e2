/* What the processes of a team (r4_team) tell each other. Every process of a team must call these in the same order; a
 * NULL team is one process, and costs nothing. */
#ifndef R4_BASE_TEAM_TALK_H
#define R4_BASE_TEAM_TALK_H

#include "base/error.h"

int team_rank(const r4_team *t);
int team_ranks(const r4_team *t);

/* What n things are shared out evenly: those of a process begin here, and end where those of the next begin. */
size_t team_first(const r4_team *t, size_t n, int rank);

/* What process 0 has, to all others. */
r4_status team_broadcast(const r4_team *t, void *bytes, size_t size, r4_error *e);
/* Of n items of so many bytes each process has made its own (team_first): all get all. */
r4_status team_gather(const r4_team *t, void *items, size_t size, size_t n, r4_error *e);
/* The largest of all numbers. */
r4_status team_most(const r4_team *t, int *value, r4_error *e);
/* After what any process may fail at: a failure anywhere is one everywhere, R4_E_TEAM for those that did not, so that
 * nobody waits for a process that has ended. *wish becomes the largest of all. */
r4_status team_vote(const r4_team *t, r4_status s, int *wish, r4_error *e);
r4_status team_join(const r4_team *t, r4_status s, r4_error *e);
/* Refuses a team whose processes have other bytes than process 0. what: "settings". */
r4_status team_agrees(const r4_team *t, const char *what, const void *bytes, size_t size, r4_error *e);

#endif
