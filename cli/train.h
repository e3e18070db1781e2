/* Training runs: folders, seeds, and the processes that train them. */
#ifndef R4_CLI_TRAIN_H
#define R4_CLI_TRAIN_H

#include <sys/types.h>

#include "runs.h"

/* The work that a job is a part of. */
struct whole_job {
  double began;        /* by timer_now */
  double before, part; /* shares of it: done before the job, and the job's own */
};

struct job {
  r4_settings *settings;
  const char *command, *out; /* who asks, for messages; the folder of the run */
  size_t seeds;
  int64_t seed[MAX_SEEDS];
  int64_t jobs; /* processes side by side; 0: chosen */
  bool resume, force, quiet;
  bool verdict;          /* a net that uses the shortcut is exit code 1 */
  const char *chosen_by; /* as in r4_train_options */
  const char *doing;     /* before each line of progress, or NULL */
  pid_t parent;          /* that this process works for, as in jobs.h */
  const r4_team *team;   /* that trains it together, or NULL           */
  const struct whole_job *whole; /* or NULL; otherwise whoever has it prints what is not for a terminal */
};

/* ---- train_settings.c ---- */

/* Reads FILE, a preset's name or the folder of a run, then the assignments of the row of a table (or NULL) and those of
 * --set. NULL after a message, with *code the exit code. Names settings without an effect on stderr. */
r4_settings *train_settings(const char *command, const char *file, const struct words *row,
                            const struct words *set, int *code);

/* The folder of an experiment's table.csv. */
bool train_find_experiment(const char *name, char *folder, size_t size);
/* The folder of the ablations that come with r4. */
bool train_find_ablations(char *folder, size_t size);

/* ---- train_folder.c ---- */

/* n seeds from the setting "seed" on; 0: those that the folder has, if resumed, otherwise one. */
void train_choose_seeds(struct job *j, int64_t n);

/* Makes the folder, its config.yaml and one for each seed. Seeds of different runs do not mix: unless the settings that
 * are there agree, it is refused. NULL after a message, with *code the exit code; otherwise to be held while there
 * is work in the folder. */
r4_lock *train_prepare(const struct job *j, int *code);

/* Something was trained in the folder with another seed than those of the job. */
bool train_has_others(const struct job *j);

/* ---- train_method.c: method: auto ---- */

/* Sets method, if it is auto, to what fits the data, and says so. Returns an exit code. */
int method_choose(const struct job *j);

/* ---- train_search.c: lambda: auto ---- */

/* The folder of the search, which all seeds share. */
void search_folder(const struct job *j, char path[PATH_SIZE]);
/* Sets lambda to what the search, which is done, has chosen, and shows its curve. Returns an exit code. */
int search_take(const struct job *j);

/* ---- train_seeds.c ---- */

/* Trains all seeds, side by side where that is faster. Returns an exit code; *stopped: it was interrupted, and what was
 * done is saved. */
int train_all(const struct job *j, bool *stopped);
/* The first seed, in this process. */
int train_alone(const struct job *j, bool *stopped);

/* ---- train_team.c ---- */

/* As one of the processes that a launcher has started for one model. */
int train_in_team(struct job *j, bool *stopped);

/* ---- progress.c: what a person sees meanwhile, on stderr ---- */

struct watch; /* of all seeds of a job, whose processes show where they are; or NULL */
struct watch *watch_new(const struct job *j);
void watch_show(struct watch *w, const r4_progress *p);
/* The seed has made a step. */
bool watch_has_begun(const struct watch *w, int64_t seed);
/* No seed has said this sentence before; from now on one has. */
bool watch_is_new(struct watch *w, const char *sentence);
void watch_end(struct watch *w);
void watch_time(FILE *f, double seconds); /* "1:02:03" */
void watch_line(const char *text);        /* in place of the last such line of a terminal, as much as fits */
void watch_left(FILE *f, double seconds); /* "2 h 5 min left" */

#endif
