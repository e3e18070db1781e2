/* summary.json in the folder of a run: what came of all of its seeds. Whoever trained and measured them leaves it
 * there, on this machine or on another, and whoever made the list of runs reads it: neither data nor nets are needed
 * for that.
 *
 * The file ends with the SHA-256 of itself, and names what it is of: the version, the settings that were asked for, the
 * data as they lie there (names, sizes and times of files), and of each seed its settings, its weights and what was
 * measured of them. A run whose file is of just that is done. */
#ifndef R4_CLI_EXPERIMENT_SUMMARY_H
#define R4_CLI_EXPERIMENT_SUMMARY_H

#include "runs.h"

struct summary_of {
  const char *folder;
  const char *asked; /* by summary_asked */
  int64_t first, seeds; /* numbers of seeds */
  r4_split split;       /* of the data, that was measured */
};

/* What is asked of a run, as digits: before training chooses what the settings leave open. */
void summary_asked(const r4_settings *s, char asked[R4_HASH_SIZE]);

/* How a seed did in validation, by its log. */
struct seed_validation {
  r4_run_validation of;
  bool one_sided; /* masks are on some classes only */
};

/* Returns an exit code, after a message unless it is 0. */
int summary_write(const char *command, const struct summary_of *of, const struct run_figures *f);
/* Of n runs together, as eval_figures: f->list is to be freed, unless it failed; validation (or NULL) of all nets.
 * R4_E_IO if there is none, others if it is not whole, was edited or is of something else. */
r4_status summary_read(const struct summary_of *of, size_t n, struct run_figures *f,
                       struct seed_validation *validation, r4_error *e);

#endif
