#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

static r4_status system_failed(r4_error *e, const char *path, const char *what)
{
  return r4_fail(e, R4_E_IO, "%s: %s: %s", path, what, strerror(errno));
}

static r4_status no_name(const char *path, r4_error *e)
{
  return path && *path ? R4_OK : r4_fail(e, R4_E_IO, "no file is named");
}

/* ---- Reading ---- */

static r4_status read_open(FILE *f, const char *path, size_t limit, uint8_t **data, size_t *size, r4_error *e)
{
  size_t capacity = 1 << 16, n = 0;
  uint8_t *to = NULL;
  for (;;) {
    uint8_t *grown = r4_mem_grow(to, capacity + 1, 1);
    if (!grown) {
      r4_mem_free(to);
      return r4_fail(e, R4_E_MEMORY, "%s: out of memory after %zu bytes", path, n);
    }
    to = grown;
    n += fread(to + n, 1, capacity - n, f);
    if (n < capacity || n > limit) break;
    capacity *= 2;
  }
  r4_status s = R4_OK;
  if (ferror(f))
    s = system_failed(e, path, "reading");
  else if (n > limit)
    s = r4_fail(e, R4_E_IO, "%s: more than %zu bytes, the most that is read", path, limit);
  if (s) {
    r4_mem_free(to);
    return s;
  }
  to[n] = 0;
  *data = to;
  *size = n;
  return R4_OK;
}

static const char *kind_of(mode_t mode)
{
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISREG(mode)  ? NULL
                          : "a device";
}

/* Opening must not wait for somebody to write into a pipe. */
FILE *file_open(const char *path, r4_error *e)
{
  if (no_name(path, e)) return NULL;
  struct stat about;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const char *kind = NULL;
  if (fd >= 0 && !fstat(fd, &about) && !(kind = kind_of(about.st_mode))) {
    FILE *f = fdopen(fd, "rb");
    if (f) return f;
  }
  if (!kind && !stat(path, &about)) kind = kind_of(about.st_mode); /* a socket cannot even be opened */
  if (kind)
    r4_fail(e, R4_E_IO, "%s: is %s, expected a file", path, kind);
  else
    system_failed(e, path, "opening");
  if (fd >= 0) close(fd);
  return NULL;
}

r4_status file_read(const char *path, size_t limit, uint8_t **data, size_t *size, r4_error *e)
{
  FILE *f = file_open(path, e);
  if (!f) return R4_E_IO;
  r4_status s = read_open(f, path, limit, data, size, e);
  fclose(f);
  return s;
}

/* ---- Writing ---- */

static r4_status refuse_link(const char *path, r4_error *e)
{
  return r4_fail(e, R4_E_IO, "%s: is a link, expected a file: r4 does not write through links", path);
}

/* What a rename would replace is a file or nothing: a device or a pipe would be gone, and the file that a link leads
 * to would stay as it was. */
static r4_status check_replaceable(const char *path, r4_error *e)
{
  struct stat about;
  if (lstat(path, &about) || S_ISREG(about.st_mode)) return R4_OK;
  if (S_ISLNK(about.st_mode)) return refuse_link(path, e);
  return r4_fail(e, R4_E_IO, "%s: is %s, expected a file", path, kind_of(about.st_mode));
}

int file_open_in_place(const char *path, int how, r4_error *e)
{
  struct stat about;
  int fd = open(path, how | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode)) return fd;
  if (fd >= 0)
    r4_fail(e, R4_E_IO, "%s: is %s, expected a file", path, kind_of(about.st_mode));
  else if (errno == ELOOP)
    refuse_link(path, e);
  else
    system_failed(e, path, "cannot be written");
  if (fd >= 0) close(fd);
  return -1;
}

static void forget(struct file_writer *w)
{
  r4_mem_free(w->path);
  r4_mem_free(w->beside);
  *w = (struct file_writer){0};
}

r4_status file_begin(struct file_writer *w, const char *path, r4_error *e)
{
  if (no_name(path, e) || check_replaceable(path, e)) return R4_E_IO;
  struct text kept = {0}, beside = {0};
  text_add(&kept, "%s", path);
  text_add(&beside, "%s.%ld.part", path, (long)getpid());
  *w = (struct file_writer){.path = text_done(&kept, path, e), .beside = text_done(&beside, path, e)};
  if (!w->path || !w->beside) {
    forget(w);
    return R4_E_MEMORY;
  }
  unlink(w->beside); /* what a killed process left, or a link; a new file is made, nothing is followed */
  w->f = fopen(w->beside, "w+bx");
  if (w->f) return R4_OK;
  r4_status s = system_failed(e, path, "cannot be written");
  forget(w);
  return s;
}

/* The rename is on the disk when the folder is. File systems that cannot do this say so: no harm. */
static void sync_folder(const char *path)
{
  const char *slash = strrchr(path, '/');
  struct text folder = {0};
  if (slash)
    text_add(&folder, "%.*s/", (int)(slash - path), path);
  else
    text_add(&folder, ".");
  char *name = text_take(&folder);
  int fd = name ? open(name, O_RDONLY | O_DIRECTORY) : -1;
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  r4_mem_free(name);
}

r4_status file_end(struct file_writer *w, r4_error *e)
{
  bool failed = ferror(w->f) || fflush(w->f) || fsync(fileno(w->f));
  int why = errno;
  failed |= fclose(w->f) != 0;
  w->f = NULL;
  if (failed || rename(w->beside, w->path)) {
    if (failed) errno = why;
    r4_status s = system_failed(e, w->path, "writing");
    file_abandon(w);
    return s;
  }
  sync_folder(w->path);
  forget(w);
  return R4_OK;
}

void file_abandon(struct file_writer *w)
{
  if (w->f) fclose(w->f);
  if (w->beside) unlink(w->beside);
  forget(w);
}

r4_status file_write(const char *path, const void *data, size_t size, r4_error *e)
{
  struct file_writer w;
  r4_status s = file_begin(&w, path, e);
  if (s) return s;
  fwrite(data, 1, size, w.f);
  return file_end(&w, e);
}

r4_status file_write_text(const char *path, struct text *t, r4_error *e)
{
  size_t size = t->length;
  char *text = text_done(t, path, e);
  r4_status s = text ? file_write(path, text, size, e) : R4_E_MEMORY;
  r4_string_free(text);
  return s;
}

/* ---- Names ---- */

bool file_exists(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0;
}

bool file_exists_in(const char *folder, const char *name)
{
  char *path = file_join(folder, name, NULL);
  bool there = path && file_exists(path);
  r4_mem_free(path);
  return there;
}

bool file_is_folder(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

r4_status file_refuse_link(const char *path, r4_error *e)
{
  struct stat about;
  if (lstat(path, &about) || !S_ISLNK(about.st_mode)) return R4_OK;
  return r4_fail(e, R4_E_IO, "%s: is a link, expected a folder: r4 does not write through links", path);
}

bool file_leads_out(const char *name)
{
  if (*name == '/') return true;
  for (const char *part = name; *part; part += strspn(part, "/")) {
    size_t n = strcspn(part, "/");
    if (n == 2 && !strncmp(part, "..", 2)) return true;
    part += n;
  }
  return false;
}

static bool is_within(const char *place, const char *folder)
{
  size_t n = strlen(folder);
  if (n && folder[n - 1] == '/') n--; /* the root */
  return !strncmp(place, folder, n) && (place[n] == '/' || !place[n]);
}

r4_status file_check_inside(const char *folder, const char *name, r4_error *e)
{
  char root[PATH_MAX], place[PATH_MAX];
  if (file_leads_out(name))
    return r4_fail(e, R4_E_IO, "%s: leaves the folder %s, expected a path within it", name, folder);
  char *path = file_join(folder, name, e);
  if (!path) return R4_E_MEMORY;
  r4_status s = R4_OK;
  if (!realpath(folder, root) || !realpath(path, place))
    s = system_failed(e, path, "opening");
  else if (!is_within(place, root))
    s = r4_fail(e, R4_E_IO,
                "%s: is a link to %s, outside of the folder: put the file there, or link the whole folder",
                path, place);
  r4_mem_free(path);
  return s;
}

r4_status file_make_folder(const char *path, r4_error *e)
{
  char *name = mem_copy(path, e);
  if (!name) return R4_E_MEMORY;
  r4_status s = R4_OK;
  for (char *at = name; !s && *at;) {
    at += strcspn(at + 1, "/") + 1;
    char end = *at;
    *at = 0;
    if (mkdir(name, 0777) && errno != EEXIST) s = system_failed(e, name, "making the folder");
    *at = end;
  }
  if (!s && !file_is_folder(path)) s = r4_fail(e, R4_E_IO, "%s: is a file, expected a folder", path);
  r4_mem_free(name);
  return s;
}

char *file_join(const char *folder, const char *name, r4_error *e)
{
  struct text path = {0};
  size_t n = strlen(folder);
  text_add(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
  return text_done(&path, name, e);
}
