/* Files of the folder, and of nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/serve.h"

static const char beside[] = ".r4-serve.part";

static int say(r4_error *e, int why, const char *path, const char *what)
{
  if (e) {
    e->status = R4_E_IO;
    snprintf(e->text, sizeof e->text, "%.300s: %s: %s", path, what, strerror(why));
  }
  return why;
}

/* ---- Ways ---- */

/* A path of names: none is empty, "." or "..". */
static bool is_plain(const char *path)
{
  if (!*path || strlen(path) >= PATH_MAX) return false;
  for (const char *part = path;; part++) {
    size_t n = strcspn(part, "/");
    if (!n || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.')) return false;
    part += n;
    if (!*part) return true;
  }
}

/* The folder that path is in, without following any link, and the last name. -1 and errno if there is none. */
static int walk(int root, const char *path, bool make, const char **last)
{
  char name[NAME_MAX + 1];
  int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
  for (size_t n; at >= 0 && path[n = strcspn(path, "/")]; path += n + 1) {
    int next = -1;
    if (n > NAME_MAX) {
      errno = ENAMETOOLONG;
    } else {
      memcpy(name, path, n);
      name[n] = 0;
      if (make && mkdirat(at, name, 0777) == 0) fsync(at);
      next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    int why = errno;
    close(at);
    errno = why;
    at = next;
  }
  *last = path;
  return at;
}

static int open_strictly(int root, const char *path, int how)
{
  const char *last;
  int folder = walk(root, path, false, &last);
  if (folder < 0) return -1;
  int fd = openat(folder, last, how | O_NOFOLLOW);
  int why = errno;
  close(folder);
  errno = why;
  return fd;
}

/* Linux 5.6 knows how to follow links within a folder only. Without it, none is followed. */
static int open_beneath(int root, const char *path, int how)
{
  struct open_how within = {.flags = (unsigned long long)(unsigned)how,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  long fd = syscall(SYS_openat2, root, path, &within, sizeof within);
  return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_strictly(root, path, how) : (int)fd;
}

int place_open(const struct site *s, const char *path, int how)
{
  static const char images[] = "images/";
  how |= how & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY; /* O_PATH goes with no other */
  if (!is_plain(path)) {
    errno = EXDEV;
    return -1;
  }
  if (strncmp(path, images, sizeof images - 1)) return open_beneath(s->root, path, how);
  int folder = openat(s->root, "images", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  int fd = open_beneath(folder, path + sizeof images - 1, how), why = errno;
  close(folder);
  errno = why;
  return fd;
}

/* ---- Reading ---- */

static struct stamp stamp_of(const struct stat *about)
{
  return (struct stamp){about->st_size, about->st_mtim.tv_sec, about->st_mtim.tv_nsec, about->st_ino};
}

bool stamp_equal(const struct stamp *a, const struct stamp *b)
{
  return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
         a->inode == b->inode;
}

static int read_all(int fd, size_t size, uint8_t **bytes, size_t *got)
{
  uint8_t *to = malloc(size + 1);
  size_t n = 0;
  ssize_t part = 1;
  while (to && n < size && (part = read(fd, to + n, size - n)) != 0)
    if (part > 0)
      n += (size_t)part;
    else if (errno != EINTR)
      break;
  if (!to || part < 0) {
    int why = to ? errno : ENOMEM;
    free(to);
    return why;
  }
  to[n] = 0;
  *bytes = to;
  *got = n;
  return 0;
}

int place_read(const struct site *s, const char *path, size_t most, uint8_t **bytes, size_t *size,
               struct stamp *stamp, r4_error *e)
{
  struct stat about;
  *bytes = NULL;
  *size = 0;
  int fd = place_open(s, path, O_RDONLY);
  if (fd < 0)
    return say(e, errno, path, errno == EXDEV || errno == ELOOP ? "leads out of the folder" : "opening");
  int why = fstat(fd, &about)                ? errno
            : !S_ISREG(about.st_mode)        ? EINVAL
            : (uint64_t)about.st_size > most ? EFBIG
                                             : read_all(fd, (size_t)about.st_size, bytes, size);
  close(fd);
  if (!why && stamp) *stamp = stamp_of(&about);
  return why ? say(e, why, path, "reading") : 0;
}

int place_stat(const struct site *s, const char *path, struct stamp *stamp)
{
  struct stat about;
  int fd = place_open(s, path, O_PATH), why = fd < 0 ? errno : fstat(fd, &about) ? errno : 0;
  if (fd >= 0) close(fd);
  if (!why && !S_ISREG(about.st_mode)) why = EINVAL;
  if (!why && stamp) *stamp = stamp_of(&about);
  return why;
}

/* ---- Writing ---- */

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
  while (size) {
    ssize_t part = write(fd, bytes, size);
    if (part < 0 && errno != EINTR) return false;
    if (part > 0) bytes += part, size -= (size_t)part;
  }
  return true;
}

/* What a killed server left goes, and so does a link: a new file is made, nothing is followed. */
static bool replace(const struct site *s, int folder, const char *last, const void *bytes, size_t size)
{
  unlinkat(folder, beside, 0);
  int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  bool good = write_all(fd, bytes, size) && (s->hasty || fsync(fd) == 0);
  int why = errno;
  if (close(fd) && good) good = false, why = errno;
  if (good && renameat(folder, beside, folder, last) == 0)
    return s->hasty || fsync(folder) == 0 || errno == EINVAL;
  if (good) why = errno;
  unlinkat(folder, beside, 0);
  errno = why;
  return false;
}

r4_status place_write(const struct site *s, const char *path, const void *bytes, size_t size, r4_error *e)
{
  const char *last;
  int folder = is_plain(path) ? walk(s->root, path, true, &last) : (errno = EXDEV, -1);
  if (folder >= 0 && replace(s, folder, last, bytes, size)) {
    close(folder);
    return R4_OK;
  }
  say(e, errno, path, "cannot be written");
  if (folder >= 0) close(folder);
  return R4_E_IO;
}

r4_status place_remove(const struct site *s, const char *path, r4_error *e)
{
  const char *last;
  int folder = is_plain(path) ? walk(s->root, path, false, &last) : (errno = EXDEV, -1);
  if (folder < 0 && errno == ENOENT) return R4_OK;
  int why = folder < 0 ? errno : unlinkat(folder, last, 0) && errno != ENOENT ? errno : 0;
  if (folder >= 0 && !why && !s->hasty) fsync(folder);
  if (folder >= 0) close(folder);
  return why ? (say(e, why, path, "cannot be removed"), R4_E_IO) : R4_OK;
}
