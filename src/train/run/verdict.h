/* The verdict at the end of a run: does the model use what the masks mark?
 *
 *     lost = correct predictions of exchanged validation examples that are wrong after the exchange / correct before
 *
 * and the model uses the shortcut from R4_USES on, a little from R4_USES_LITTLE on. */
#ifndef R4_TRAIN_RUN_VERDICT_H
#define R4_TRAIN_RUN_VERDICT_H

#include "train/run/run.h"

/* Measures the chosen model, tells what it found and what to try next, and keeps it in outcome.json, if there is a
 * folder. */
r4_status run_judge(struct run *r, r4_outcome *to, r4_error *e);

#endif
