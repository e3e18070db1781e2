#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

struct r4_lock {
  char *path;
  int file, failed; /* failed: the error of a file system that cannot lock */
};

enum { HOST = 64, SINCE = 32 };

/* ---- The owner ---- */

/* "4711 host 2026-01-31T12:00:00Z". A disk without room for it is no reason to have no lock. */
static void write_owner(int file)
{
  char line[HOST + SINCE + 32], since[SINCE];
  struct utsname os = {0};
  struct tm utc;
  time_t now = time(NULL);
  strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  int n =
    snprintf(line, sizeof line, "%ld %.63s %s\n", (long)getpid(), uname(&os) ? "?" : os.nodename, since);
  if (ftruncate(file, 0) || pwrite(file, line, (size_t)n, 0) < 0) return;
}

static bool is_plain(const char *s)
{
  for (; *s; s++)
    if (*s <= ' ' || *s > '~') return false;
  return true;
}

static r4_status busy(int file, const char *folder, r4_error *e)
{
  char line[256], host[HOST], since[SINCE];
  long process;
  ssize_t n = pread(file, line, sizeof line - 1, 0);
  line[n > 0 ? n : 0] = 0;
  if (sscanf(line, "%ld %63s %31s", &process, host, since) == 3 && is_plain(host) && is_plain(since))
    return r4_fail(e, R4_E_BUSY, "%s: process %ld on %s has been working in this folder since %s", folder,
                   process, host, since);
  return r4_fail(e, R4_E_BUSY, "%s: another process is working in this folder", folder);
}

/* ---- Taking ---- */

/* The file may have been removed by its owner, and another made, between opening and locking it. */
static bool is_still_there(int file, const char *path)
{
  struct stat mine, theirs;
  return !fstat(file, &mine) && !stat(path, &theirs) && mine.st_dev == theirs.st_dev &&
         mine.st_ino == theirs.st_ino;
}

enum how { ALONE, SHARED, WAITING };

/* Those who share a folder have it alone for a moment at the beginning: so, wait for a moment. */
static bool try_lock(int file, enum how how)
{
  enum { TIMES = 200, MICROSECONDS = 10000 };
  const int kind[] = {[ALONE] = LOCK_EX | LOCK_NB, [SHARED] = LOCK_SH | LOCK_NB, [WAITING] = LOCK_EX};
  for (int k = 0; flock(file, kind[how]); k++) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || how != SHARED || k == TIMES) return false;
    usleep(MICROSECONDS);
  }
  return true;
}

static r4_status take(r4_lock *l, const char *folder, enum how how, r4_error *e)
{
  for (;;) {
    l->file = file_open_in_place(l->path, O_RDWR, e);
    if (l->file < 0) return R4_E_IO;
    if (!try_lock(l->file, how)) {
      if (errno == EWOULDBLOCK) return busy(l->file, folder, e);
      l->failed = errno;
      return R4_OK;
    }
    if (is_still_there(l->file, l->path)) break;
    close(l->file);
  }
  write_owner(l->file);
  return R4_OK;
}

/* Takes over path. */
static r4_lock *lock_at(char *path, const char *about, enum how how, r4_error *e)
{
  r4_lock *l = path ? mem_new(1, sizeof *l, about, e) : NULL;
  if (l) *l = (r4_lock){.path = path, .file = -1};
  if (l && !take(l, about, how, e)) return l;
  if (l && l->file >= 0) close(l->file);
  r4_mem_free(path);
  r4_mem_free(l);
  return NULL;
}

r4_lock *r4_lock_take(const char *folder, bool shared, r4_error *e)
{
  NEEDS(folder, "a folder", NULL);
  r4_error_clear(e);
  if (file_make_folder(folder, e)) return NULL;
  return lock_at(file_join(folder, "lock", e), folder, shared ? SHARED : ALONE, e);
}

r4_lock *lock_wait(const char *file, r4_error *e)
{
  struct text path = {0};
  text_add(&path, "%s.lock", file);
  return lock_at(text_done(&path, file, e), file, WAITING, e);
}

void r4_lock_share(r4_lock *l)
{
  while (flock(l->file, LOCK_SH) && errno == EINTR) continue;
}

const char *lock_why_open(const r4_lock *l)
{
  return l->failed ? strerror(l->failed) : NULL;
}

/* Who shares the folder with others leaves the file to them. */
void r4_lock_free(r4_lock *l)
{
  if (!l) return;
  if (l->failed || !flock(l->file, LOCK_EX | LOCK_NB)) unlink(l->path);
  close(l->file);
  r4_mem_free(l->path);
  r4_mem_free(l);
}
