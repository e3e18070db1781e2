/* Memory. Every allocation of the library passes here, so that a test can make the n-th one fail. */
#ifndef R4_BASE_MEM_H
#define R4_BASE_MEM_H

#include <stddef.h>

/* count * size zeroed bytes, or NULL when out of memory or when the product overflows. */
void *r4_mem_new(size_t count, size_t size);
/* The same, aligned to 64 bytes. */
void *r4_mem_new_aligned(size_t bytes);
/* Resizes p (may be NULL) to count * size bytes; on failure returns NULL and p stays valid. */
void *r4_mem_grow(void *p, size_t count, size_t size);
void r4_mem_free(void *p);

/* For tests: the n-th allocation from now on fails, n = 1, 2, ...; 0 switches it off. */
void r4_mem_fail_at(long n);
/* For tests: allocations since the last r4_mem_fail_at. */
long r4_mem_count(void);

#endif
