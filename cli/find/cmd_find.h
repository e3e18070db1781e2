/* What the parts of "r4 find" share. */
#ifndef R4_CLI_FIND_CMD_FIND_H
#define R4_CLI_FIND_CMD_FIND_H

#include <time.h>

#include "data/cmd_data.h"

struct find_settings {
  struct source source;
  const char *out;
  int64_t most;
  bool json, progress, masked, all;
};

struct find_clock {
  bool on;
  double last; /* when a line was printed */
};

/* For r4_find_options.report; user is a struct find_clock. */
void find_progress(const char *stage, size_t done, size_t all, void *user);

#endif
