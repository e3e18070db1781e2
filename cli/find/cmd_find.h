/* What the parts of "r4 find" share. */
#ifndef R4_CLI_FIND_CMD_FIND_H
#define R4_CLI_FIND_CMD_FIND_H

#include <time.h>

#include "data/cmd_data.h"

struct find_settings {
  struct source source;
  const char *out, *propose, *from, *run;
  int64_t most, permute;
  bool json, progress, masked, all_parts, quick_net, force;
  bool all; /* print all findings, with examples of each */
  bool unstated; /* there are masks, and nobody said what they mean: they are looked at as everything else is */
};

struct find_clock {
  bool on;
  double last; /* when a line was printed */
};

/* What clusters are of; all NULL: none. */
struct find_net {
  r4_model *model;
  r4_trainer *trainer;
  const r4_net *net;
  const float *weights;
};

/* The data, and the net of --run. Returns an exit code, after a message unless it is 0. */
int find_open(struct find_settings *s, struct find_net *n, r4_data **d);
/* That of --quick-net. */
int find_train(const struct find_settings *s, struct find_net *n, const r4_data *d, struct find_clock *clock);
void find_net_close(struct find_net *n);

/* Masks for one finding. Returns an exit code. */
int find_propose(const struct find_settings *s, const r4_data *d, const r4_found *f,
                 struct find_clock *clock);

/* "r4 find DATA", with what the user said of the data and of what is looked at. */
void find_print_again(FILE *f, const struct find_settings *s);

/* For r4_find_options.report; user is a struct find_clock. */
void find_progress(const char *stage, size_t done, size_t all, void *user);

#endif
