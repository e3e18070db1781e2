#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local long countdown, counted;

static int must_fail(void)
{
  counted++;
  return countdown > 0 && --countdown == 0;
}

void r4_mem_fail_at(long n)
{
  countdown = n;
  counted = 0;
}

long r4_mem_count(void)
{
  return counted;
}

/* Large blocks in pages of 2 MB where the system has them: kernels stream through them, and small pages cost a walk of
 * the page table every 4 KB. Before the first use, which is when pages are made. A wish only: nothing fails. */
static void wish_large_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
  const uintptr_t page = (uintptr_t)2 << 20;
  uintptr_t begin = ((uintptr_t)p + page - 1) / page * page, end = ((uintptr_t)p + bytes) / page * page;
  if (p && bytes >= 2 * page && begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)p, (void)bytes;
#endif
}

void *r4_mem_new(size_t count, size_t size)
{
  if (must_fail() || (size && count > SIZE_MAX / size)) return NULL;
  void *p = calloc(count ? count : 1, size ? size : 1);
  wish_large_pages(p, count * size);
  return p;
}

void *r4_mem_new_aligned(size_t bytes)
{
  if (must_fail() || bytes > SIZE_MAX - 64) return NULL;
  size_t rounded = (bytes + 63) / 64 * 64;
  void *p = aligned_alloc(64, rounded ? rounded : 64);
  wish_large_pages(p, rounded);
  if (p) memset(p, 0, rounded ? rounded : 64);
  return p;
}

void *r4_mem_grow(void *p, size_t count, size_t size)
{
  if (must_fail() || (size && count > SIZE_MAX / size)) return NULL;
  size_t bytes = count * size;
  return realloc(p, bytes ? bytes : 1);
}

void r4_mem_free(void *p)
{
  free(p);
}

/* p, or what it was for. A product beyond what can be counted is said as it was asked for. */
static void *or_error(void *p, size_t count, size_t size, const char *what, r4_error *e)
{
  if (p) return p;
  if (size && count > SIZE_MAX / size)
    r4_fail(e, R4_E_MEMORY, "out of memory for %s (%zu times %zu bytes)", what, count, size);
  else
    r4_fail(e, R4_E_MEMORY, "out of memory for %s (%zu bytes)", what, count * size);
  return NULL;
}

void *mem_new(size_t count, size_t size, const char *what, r4_error *e)
{
  return or_error(r4_mem_new(count, size), count, size, what, e);
}

void *mem_new_aligned(size_t count, size_t size, const char *what, r4_error *e)
{
  bool fits = !size || count <= SIZE_MAX / size;
  return or_error(r4_mem_new_aligned(fits ? count * size : SIZE_MAX), count, size, what, e);
}

void *mem_grow(void *p, size_t count, size_t size, const char *what, r4_error *e)
{
  return or_error(r4_mem_grow(p, count, size), count, size, what, e);
}

r4_status mem_more(void *list, size_t *room, size_t needed, size_t size, const char *what, r4_error *e)
{
  enum { FEWEST = 16 };
  if (needed <= *room) return R4_OK;
  size_t wanted = needed < FEWEST ? FEWEST : needed > SIZE_MAX / 2 ? needed : 2 * needed;
  void *at;
  memcpy(&at, list, sizeof at);
  if (!(at = mem_grow(at, wanted, size, what, e))) return R4_E_MEMORY;
  memcpy(list, &at, sizeof at);
  *room = wanted;
  return R4_OK;
}

char *mem_copy(const char *text, r4_error *e)
{
  size_t bytes = strlen(text) + 1;
  char *copy = mem_new(bytes, 1, text, e);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}
