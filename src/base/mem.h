/* Memory. Every allocation of the library passes here, so that a test can make the n-th one fail. */
#ifndef R4_BASE_MEM_H
#define R4_BASE_MEM_H

#include "base/error.h"

/* count * size zeroed bytes, or NULL when out of memory or when the product overflows. */
void *r4_mem_new(size_t count, size_t size);
/* The same, aligned to 64 bytes. */
void *r4_mem_new_aligned(size_t bytes);
/* Resizes p (may be NULL) to count * size bytes; on failure returns NULL and p stays valid. */
void *r4_mem_grow(void *p, size_t count, size_t size);
void r4_mem_free(void *p);

/* The same where there is an error to fill: "out of memory for the masks (4096 bytes)", R4_E_MEMORY. */
void *mem_new(size_t count, size_t size, const char *what, r4_error *e);
void *mem_new_aligned(size_t count, size_t size, const char *what, r4_error *e);
void *mem_grow(void *p, size_t count, size_t size, const char *what, r4_error *e);
/* A copy of a text; the error names the text. */
char *mem_copy(const char *text, r4_error *e);
/* Makes room for as many elements as needed in a list that grows, twice as many where it has to: list is the address of
 * its pointer, *room says for how many there is room. On failure the list stays. */
r4_status mem_more(void *list, size_t *room, size_t needed, size_t size, const char *what, r4_error *e);

/* For tests: the n-th allocation from now on fails, n = 1, 2, ...; 0 switches it off. */
void r4_mem_fail_at(long n);
/* For tests: allocations since the last r4_mem_fail_at. */
long r4_mem_count(void);

#endif
