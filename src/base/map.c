#include "base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map_fault.h"
#include "base/mem.h"

/* Whoever writes to a file changes its times, and whoever replaces it its number. */
static char *describe(const struct stat *about, const char *path, r4_error *e)
{
  struct text t = {0};
  text_add(&t, "%llu %llu %llu %lld.%09ld %lld.%09ld", (unsigned long long)about->st_dev,
           (unsigned long long)about->st_ino, (unsigned long long)about->st_size,
           (long long)about->st_mtim.tv_sec, about->st_mtim.tv_nsec, (long long)about->st_ctim.tv_sec,
           about->st_ctim.tv_nsec);
  return text_done(&t, path, e);
}

static r4_status map_file(struct map *m, FILE *f, const char *path, r4_error *e)
{
  struct stat about;
  if (fstat(fileno(f), &about)) return r4_fail(e, R4_E_IO, "%s: %s", path, strerror(errno));
  void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, fileno(f), 0);
  if (bytes == MAP_FAILED) return r4_fail(e, R4_E_IO, "%s: cannot be mapped: %s", path, strerror(errno));
  m->bytes = bytes;
  m->size = (size_t)about.st_size;
  map_fault_add(m->bytes, m->size, path);
  m->path = mem_copy(path, e);
  m->seen = describe(&about, path, e);
  return m->path && m->seen ? R4_OK : R4_E_MEMORY;
}

struct map *map_open(const char *path, r4_error *e)
{
  FILE *f = file_open(path, e);
  struct map *m = f ? mem_new(1, sizeof *m, path, e) : NULL;
  if (m) m->references = 1;
  r4_status s = m ? map_file(m, f, path, e) : R4_E_IO;
  if (f) fclose(f);
  if (!s) return m;
  map_drop(m);
  return NULL;
}

struct map *map_share(struct map *m)
{
  if (m) atomic_fetch_add(&m->references, 1);
  return m;
}

void map_drop(struct map *m)
{
  if (!m || atomic_fetch_sub(&m->references, 1) != 1) return;
  if (m->bytes) {
    map_fault_remove(m->bytes);
    munmap(m->bytes, m->size);
  }
  r4_mem_free(m->path);
  r4_string_free(m->seen);
  r4_mem_free(m);
}

void map_will_need(const struct map *m, const void *from, size_t size)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), at = (size_t)((const uint8_t *)from - m->bytes),
         first = at / page * page;
  madvise(m->bytes + first, at + size - first, MADV_WILLNEED);
}

/* Without room on the disk, writing to such memory would end the process. */
uint8_t *map_room(const struct file_writer *w, size_t size, r4_error *e)
{
  int why = posix_fallocate(fileno(w->f), 0, (off_t)size);
  if (!why) {
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(w->f), 0);
    if (room != MAP_FAILED) return room;
    why = errno;
  }
  r4_fail(e, R4_E_IO, "%s: no room for %zu bytes: %s", w->path, size, strerror(why));
  return NULL;
}

void map_room_close(uint8_t *room, size_t size)
{
  if (room) munmap(room, size);
}

/* ---- Piles ---- */

r4_status map_pile_open(struct map_pile *p, const char *folder, r4_error *e)
{
  char *name = file_join(folder, "pile.XXXXXX", e);
  *p = (struct map_pile){.folder = name ? mem_copy(folder, e) : NULL};
  p->file = p->folder ? mkostemp(name, O_CLOEXEC) : -1;
  r4_status s = p->folder ? R4_OK : R4_E_MEMORY;
  if (!s && p->file < 0) s = r4_fail(e, R4_E_IO, "%s: cannot be written: %s", folder, strerror(errno));
  if (p->file >= 0) unlink(name);
  if (s) map_pile_clear(p);
  r4_mem_free(name);
  return s;
}

r4_status map_pile_grow(struct map_pile *p, size_t size, r4_error *e)
{
  int why = posix_fallocate(p->file, 0, (off_t)size);
  void *bytes = MAP_FAILED;
  if (!why && p->bytes) bytes = mremap(p->bytes, p->size, size, MREMAP_MAYMOVE);
  if (!why && !p->bytes) bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, p->file, 0);
  if (bytes == MAP_FAILED)
    return r4_fail(e, R4_E_IO, "%s: no room for %zu bytes: %s", p->folder, size, strerror(why ? why : errno));
  p->bytes = bytes;
  p->size = size;
  return R4_OK;
}

void map_pile_clear(struct map_pile *p)
{
  if (p->bytes) munmap(p->bytes, p->size);
  if (p->folder && p->file >= 0) close(p->file);
  r4_mem_free(p->folder);
  *p = (struct map_pile){0};
}
