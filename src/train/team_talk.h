/* What the processes of a team (r4_team) tell each other. Every process of a team must call these in the same order; a
 * NULL team is one process, and costs nothing. */
#ifndef R4_TRAIN_TEAM_TALK_H
#define R4_TRAIN_TEAM_TALK_H

#include "base/error.h"

int team_rank(const r4_team *t);
int team_ranks(const r4_team *t);

/* What process 0 has, to all others. */
r4_status team_broadcast(const r4_team *t, void *bytes, size_t size, r4_error *e);
/* The largest of all numbers. */
r4_status team_most(const r4_team *t, int *value, r4_error *e);
/* Refuses a team whose processes have other bytes than process 0. what: "settings". */
r4_status team_agrees(const r4_team *t, const char *what, const void *bytes, size_t size, r4_error *e);

#endif
