#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

void *r4_mem_new(size_t count, size_t size)
{
  if (must_fail() || (size && count > SIZE_MAX / size)) return NULL;
  return calloc(count ? count : 1, size ? size : 1);
}

void *r4_mem_new_aligned(size_t bytes)
{
  if (must_fail() || bytes > SIZE_MAX - 64) return NULL;
  size_t rounded = (bytes + 63) / 64 * 64;
  void *p = aligned_alloc(64, rounded ? rounded : 64);
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
