/* Memory that is a file ends where the file does. Whoever shortens a file that is mapped takes memory away, and so does
 * a disk that fails: the kernel sends SIGBUS to the process that looks there. */
#ifndef R4_BASE_MAP_FAULT_H
#define R4_BASE_MAP_FAULT_H

#include <stddef.h>
#include <stdint.h>

/* The list of what is mapped, for r4_mapped_file. Further ones than there is room for are not listed. */
void map_fault_add(const uint8_t *bytes, size_t size, const char *path);
void map_fault_remove(const uint8_t *bytes);

#endif
