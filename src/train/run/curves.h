/* The log for other programs: metrics.csv, and, if asked for, an event file of TensorBoard. Both are made from the
 * lines of the log and from nothing else: a run that goes on makes them anew from the log it goes on with, so that no
 * epoch is in them twice. */
#ifndef R4_TRAIN_RUN_CURVES_H
#define R4_TRAIN_RUN_CURVES_H

#include "train/run/log.h"

enum { CURVES_OF_TERMS = 2 * R4_TERMS };

struct curves {
  struct log csv, events; /* events.path is NULL if there is none */
  bool headed;            /* metrics.csv has its line of names */
  size_t groups;          /* columns of it */
  char of_term[CURVES_OF_TERMS][64]; /* further ones: "penalty.r3" */
  size_t of_terms;
  double time;            /* of the last event, in seconds since 1970, as if the run had never stopped */
};

/* With what is in the log already. */
r4_status curves_open(struct curves *c, const char *folder, const char *log, bool events, r4_error *e);
/* The next line of the log. */
r4_status curves_add(struct curves *c, const struct js *line, r4_error *e);
void curves_close(struct curves *c);

#endif
