/* Time per step, as free of the machine's other work as one can tell. */
#ifndef R4_CLI_TIMER_H
#define R4_CLI_TIMER_H

#include <stdbool.h>
#include <stddef.h>

struct timing {
  double seconds;    /* median per step of the clean samples (of the faster half, if too few) */
  size_t clean, all; /* samples; clean: our threads waited for a CPU less than 2 % of the time */
};

double timer_now(void); /* seconds */

/* Calls step(job) three times, then again and again for some seconds; step returns false to stop,
 * and then so does this. */
bool timer_measure(bool (*step)(void *job), void *job, double seconds, struct timing *t);

/* The shortest of all calls within some seconds, at least five. */
bool timer_best(bool (*step)(void *job), void *job, double seconds, double *best);

#endif
