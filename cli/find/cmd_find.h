/* What the parts of "r4 find" share. */
#ifndef R4_CLI_FIND_CMD_FIND_H
#define R4_CLI_FIND_CMD_FIND_H

#include <time.h>

#include "data/cmd_data.h"

struct find_settings {
  struct source source;
  const char *out, *propose, *from;
  int64_t most;
  bool json, progress, masked, all;
};

struct find_clock {
  bool on;
  double last; /* when a line was printed */
};

/* Masks for one finding. Returns an exit code. */
int find_propose(const struct find_settings *s, const r4_data *d, const r4_found *f,
                 struct find_clock *clock);

/* For r4_find_options.report; user is a struct find_clock. */
void find_progress(const char *stage, size_t done, size_t all, void *user);

#endif
