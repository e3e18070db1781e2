/* Processes that work side by side, one for each job of a list. They leave files; whoever started them reads these. */
#ifndef R4_CLI_JOBS_H
#define R4_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process may end with beside the exit codes of the command. */
enum {
  JOB_STOPPED = 64, /* by a signal; what was done is saved         */
  JOB_KEPT,         /* nothing was to be done: all of it was there */
  JOB_DEAD,         /* the net gives one answer to everything      */
};

struct jobs {
  const char *command; /* who asks, for messages                               */
  const char *before;  /* stands before them: ends a line of progress, or NULL */
  size_t n;
  int beside;   /* so many at once                                                                            */
  pid_t parent; /* that this process works for: if it is gone, the work stops, as the same command, started again,
                   would find folders in use; 0: whoever                                                      */
  const char *(*name)(const void *user, size_t k); /* for messages */
  /* Asked when the turn of a job has come; true: somebody has done it, and it is not started. May be NULL. */
  bool (*is_done)(void *user, size_t k);
  /* In a process of its own. Returns what that ends with. */
  int (*work)(const void *user, size_t k);
  /* Here, after each that was not stopped; code: what it ended with. Returns an exit code; from EXIT_USAGE on no
   * further one is started. */
  int (*ended)(void *user, size_t k, int code);
  /* Here, of one that a signal ended, in place of a message; then ended is called with EXIT_WORLD. May be NULL. */
  void (*killed)(void *user, size_t k, int signal);
  void *user;
  bool stopped; /* set: it was interrupted, and not all is done */
};

/* Returns the largest exit code of all. Not after a thread of OpenMP has run in this process: a child could not start
 * its own then. */
int jobs_run(struct jobs *j);
/* The processes for n jobs: asked, or as many as CPUs if that is 0. */
int jobs_beside(int64_t asked, size_t n);

/* From now on Ctrl-C, SIGTERM and SIGUSR1 are remembered, here and in processes that are started later. */
void jobs_catch_signals(void);
void jobs_let_signals_end(void); /* from now on they end this process */
/* One of them came. */
bool jobs_interrupted(void);
/* The work is to stop: that, or the process that it is for (0: whoever) is gone. */
bool jobs_must_stop(pid_t parent);

#endif
