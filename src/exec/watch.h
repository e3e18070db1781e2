/* Watching a plan run: an output may be final long before the run ends. */
#ifndef R4_EXEC_WATCH_H
#define R4_EXEC_WATCH_H

#include "base/error.h"

/* From now on ran is called after each kernel of a run, with its number from 0; NULL: no more. */
void plan_watch(r4_plan *p, void (*ran)(size_t kernel, void *user), void *user);
/* The last kernel that writes or reads each output, in last[outputs]: from then on it is final, and the caller may
 * change it. A plan of plain loops has none. */
void plan_last_uses(const r4_plan *p, size_t *last);

#endif
