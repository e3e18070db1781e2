/* Text from elsewhere (names of files and classes) as a terminal may show it. */
#ifndef R4_BASE_PRINTABLE_H
#define R4_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a character does more than to be seen: controls, and those that reorder what stands around them. */
bool printable_is_control(uint32_t code);

#endif
