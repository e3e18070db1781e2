/* A team of forked processes, which talk through pairs of sockets. */
#ifndef FORKED_TEAM_H
#define FORKED_TEAM_H

#include "base/team_talk.h"

enum { RANKS = 8 }; /* at most */

/* Of one process: what it does with its team, which is NULL if there is one process; returns an exit code. */
typedef int work(const r4_team *t, void *user);

/* Exit codes of all; 128 and the signal of one that was killed. */
void together(int ranks, work *w, void *user, int code[RANKS]);

/* How many messages this process sent, which may be set. */
size_t *forked_messages(const r4_team *t);

#endif
