#include "base/map_fault.h"

#include <stdatomic.h>
#include <string.h>

#include "r4_tools.h"

enum { MOST = 64, PATH = 1024 };

/* A line is free, being written, or there. A handler of signals reads only those that are there, and takes no lock. */
enum { FREE, WRITING, THERE };

static struct {
  _Atomic int state;
  _Atomic uintptr_t from, to;
  char path[PATH];
} line[MOST];

void map_fault_add(const uint8_t *bytes, size_t size, const char *path)
{
  for (size_t k = 0; k < MOST; k++) {
    int is_free = FREE;
    if (!atomic_compare_exchange_strong(&line[k].state, &is_free, WRITING)) continue;
    line[k].from = (uintptr_t)bytes;
    line[k].to = (uintptr_t)bytes + size;
    size_t n = strlen(path), kept = n < PATH ? n : PATH - 1; /* of a long path its end, which tells more */
    memcpy(line[k].path, path + n - kept, kept);
    line[k].path[kept] = 0;
    line[k].state = THERE;
    return;
  }
}

void map_fault_remove(const uint8_t *bytes)
{
  for (size_t k = 0; k < MOST; k++)
    if (line[k].state == THERE && line[k].from == (uintptr_t)bytes) {
      line[k].state = FREE;
      return;
    }
}

const char *r4_mapped_file(const void *address)
{
  for (size_t k = 0; k < MOST; k++)
    if (line[k].state == THERE && line[k].from <= (uintptr_t)address && (uintptr_t)address < line[k].to)
      return line[k].path;
  return NULL;
}
