/* The CPUs of the process, before any thread was pinned to one of them. */
#ifndef R4_BASE_CPUS_H
#define R4_BASE_CPUS_H

#include <sched.h>

/* As they were at the first call: whoever pins threads asks first. */
const cpu_set_t *cpus_allowed(void);

#endif
