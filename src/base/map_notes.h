/* What was found out about a mapped file, so that it is found out once: lines "KEY VALUE" in a file next to it, which
 * begins with what the mapped file was like. Another file in its place, or one that was written to, has no notes. Notes
 * are trusted as the file is: who may write one may write the other. */
#ifndef R4_BASE_MAP_NOTES_H
#define R4_BASE_MAP_NOTES_H

#include "base/hash.h"
#include "base/map.h"

/* Keys and values are words of at most HASH_HEX - 1 characters. */
bool map_noted(const struct map *m, const char *key, char value[HASH_HEX]);
/* Where it cannot be written it is found out again. */
void map_note(const struct map *m, const char *key, const char *value);

#endif
