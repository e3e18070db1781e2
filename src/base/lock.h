/* One owner at a time for a folder: a lock on its file "lock" that the kernel frees when its owner ends, however it
 * ends. The file names the owner for people who meet the lock; whoever frees it in time removes it. */
#ifndef R4_BASE_LOCK_H
#define R4_BASE_LOCK_H

#include "base/error.h"
#include "r4_tools.h"

/* Where the file system cannot lock (some network ones), a lock is handed out all the same. Then this says why, and
 * it keeps nobody out; NULL: it does. */
const char *lock_why_open(const r4_lock *l);

/* A lock of a file that is to be made, whose name is file and ".lock"; waits while somebody else has it. */
r4_lock *lock_wait(const char *file, r4_error *e);

#endif
