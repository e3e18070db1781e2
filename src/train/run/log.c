#include "train/run/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static const size_t most_bytes = (size_t)1 << 32;

static r4_status system_failed(const struct log *l, const char *what, r4_error *e)
{
  return r4_fail(e, R4_E_IO, "%s: %s: %s", l->path, what, strerror(errno));
}

/* ---- Writing ---- */

/* Everything behind size goes. */
static r4_status cut(const struct log *l, r4_error *e)
{
  struct stat about;
  if (fstat(l->file, &about)) return system_failed(l, "opening", e);
  if (about.st_size < l->size)
    return r4_fail(e, R4_E_IO, "%s: has %lld bytes, but the checkpoint knows of %lld: lines are missing",
                   l->path, (long long)about.st_size, (long long)l->size);
  if (ftruncate(l->file, l->size) || lseek(l->file, l->size, SEEK_SET) < 0)
    return system_failed(l, "cutting off", e);
  return R4_OK;
}

r4_status log_open(struct log *l, const char *path, int64_t size, r4_error *e)
{
  *l = (struct log){.path = mem_copy(path, e), .file = -1, .size = size};
  if (!l->path) return R4_E_MEMORY;
  l->file = file_open_in_place(path, O_WRONLY, e);
  r4_status s = l->file < 0 ? R4_E_IO : cut(l, e);
  if (s) log_close(l);
  return s;
}

static bool write_all(int file, const char *text, size_t size)
{
  while (size) {
    ssize_t n = write(file, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text += n;
    size -= (size_t)n;
  }
  return true;
}

r4_status log_append(struct log *l, const void *bytes, size_t size, r4_error *e)
{
  if (write_all(l->file, bytes, size)) {
    l->size += (int64_t)size;
    return R4_OK;
  }
  r4_status s = system_failed(l, "writing", e);
  cut(l, NULL);
  return s;
}

r4_status log_add(struct log *l, struct json_writer *w, r4_error *e)
{
  text_add(&w->text, "\n");
  size_t size = w->text.length;
  char *line = text_done(&w->text, l->path, e);
  *w = (struct json_writer){0};
  if (!line) return R4_E_MEMORY;
  r4_status s = log_append(l, line, size, e);
  r4_string_free(line);
  return s;
}

r4_status log_settle(struct log *l, int64_t *size, r4_error *e)
{
  *size = l->size;
  return fsync(l->file) ? system_failed(l, "writing", e) : R4_OK;
}

void log_close(struct log *l)
{
  if (l->path && l->file >= 0) close(l->file);
  r4_mem_free(l->path);
  *l = (struct log){.file = -1};
}

/* ---- Reading ---- */

r4_status log_read(const char *path, log_sink *sink, void *context, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0, number = 0;
  r4_status s = file_read(path, most_bytes, &data, &size, e);
  if (s) return s;
  const char *at = (const char *)data, *end = at + size, *stop;
  for (; !s && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
    char where[R4_ERROR_SIZE];
    struct js *line;
    snprintf(where, sizeof where, "%.300s: entry %zu", path, ++number);
    s = js_parse(where, at, (size_t)(stop - at), &line, e);
    if (!s) s = sink(context, line, e);
    js_free(line);
  }
  r4_mem_free(data);
  return s;
}
