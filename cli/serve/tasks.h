/* What the server has other processes do, one after the other: r4 find, train and report, in the folder. */
#ifndef R4_CLI_SERVE_TASKS_H
#define R4_CLI_SERVE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TASKS_MOST = 32, TASK_WORDS = 16, TASK_WORD = 256, TASK_SAID = 512 };

enum task_kind { TASK_FIND, TASK_PROPOSE, TASK_TRAIN, TASK_REPORT };
enum task_state { TASK_WAITING, TASK_RUNNING, TASK_DONE, TASK_FAILED, TASK_STOPPED };

struct task {
  enum task_kind kind;
  enum task_state state;
  int64_t number, group; /* of those of a group, none follows one that failed */
  char about[TASK_WORD]; /* the finding or the run that it is for             */
  int words;
  char word[TASK_WORDS][TASK_WORD]; /* after the name of the command */
  int code;
  char said[TASK_SAID];  /* the last line that is for a person              */
  char stage[TASK_WORD]; /* of progress: its name, and k of n; n 0: none yet */
  int64_t k, n;
};

struct tasks {
  size_t n;
  struct task task[TASKS_MOST];
  int64_t last;
  pid_t child; /* 0: none runs */
  int said;    /* what the child says on stderr; -1: nothing any more */
  size_t held;
  char line[1024];
  char self[4096]; /* this program */
  bool off;        /* for tests: nothing is started */
};

const char *task_kind_name(enum task_kind k);
const char *task_state_name(enum task_state s);

void tasks_start(struct tasks *t);
/* A place for one more, which is forgotten with what was done before; NULL: too many wait. group 0: its own. */
struct task *tasks_add(struct tasks *t, enum task_kind kind, int64_t group, const char *about);
void task_word(struct task *t, const char *word);
/* One of this kind and about waits or runs. about NULL: any. */
bool tasks_busy(const struct tasks *t, enum task_kind kind, const char *about);
/* Reads what the child says, sees whether it ended, and starts the next. root: the folder to work in. */
void tasks_tend(struct tasks *t, int root);
/* Ends what runs, and what waits for it; what it has done is saved. */
void tasks_stop(struct tasks *t, int64_t number);
void tasks_stop_all(struct tasks *t);

#endif
