/* Who makes a run of a list that several processes share, and what became of it: files in OUT/work.
 *
 *     NAME.lock     locked by whoever makes the run, and says who that is
 *     NAME.log      what is said meanwhile
 *     NAME.failed   that it ended with an error, and with which: nobody tries it again unasked
 *
 * The lock is flock's, on a file that is never removed: the kernel gives it back when the last process that has the
 * file open ends, however that ends. Over NFS, Linux makes it a lock of the server, and the server gives it back when
 * the client closes the file, or when the client has not been heard of for as long as its lease. (The locks of runs'
 * own folders, r4_lock, remove their file; over NFS a machine that remembers the removed one could lock that.) */
#ifndef R4_CLI_EXPERIMENT_CLAIM_H
#define R4_CLI_EXPERIMENT_CLAIM_H

#include "runs.h"

enum { CLAIM_PATH = PATH_SIZE + 160, CLAIM_WHY = 400, CLAIM_WHATEVER = -1 };

enum claim_state { CLAIM_FREE = 0, CLAIM_TAKEN, CLAIM_FAILED };

struct claim {
  const char *command; /* who asks, for messages                            */
  const char *out;     /* the folder of the list                            */
  const char *folder;  /* that of the run; its last part is the name        */
  const char *asked;   /* of it, by summary_asked: failures of others do not count */
  int file;            /* while it is held                                  */
};

/* How it is now; it may be another at once. why gets the owner or the failure. */
enum claim_state claim_look(const struct claim *c, char why[CLAIM_WHY]);
/* Takes it: *taken is false if another has it. Owners that died without that the run came further are counted, and with
 * the fifth it has failed: *failed. epochs: how far the run is; CLAIM_WHATEVER: none is counted. Returns an exit code,
 * after a message unless it is 0. */
int claim_take(struct claim *c, int64_t epochs, bool *taken, bool *failed);
/* What is at the disk now is seen from now on, whatever this machine remembers of the folder of the run. */
void claim_refresh(const struct claim *c);
/* Gives it back. Processes that were forked meanwhile, and live, have it until they end. */
void claim_give(struct claim *c);

/* From now on stderr of this process is the log. */
void claim_log(const struct claim *c);
/* how: "exit code 3"; the last line of the log is added. why gets all of it. Returns an exit code. */
int claim_fail(const struct claim *c, const char *how, char why[CLAIM_WHY]);
/* It has failed, and was not forgotten. */
bool claim_failure(const struct claim *c, char why[CLAIM_WHY]);
void claim_forget_failure(const struct claim *c);

#endif
