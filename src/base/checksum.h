/* JSON objects that say whether they were edited: the last member is the SHA-256 of all text before it. */
#ifndef R4_BASE_CHECKSUM_H
#define R4_BASE_CHECKSUM_H

#include "base/json.h"

/* In place of the last jw_close: adds the member "sha256" and closes the object. */
void checksum_close(struct json_writer *w);
/* The text of a file, an object and the end of its line, has the sum that it ends with. */
bool checksum_matches(const char *text, size_t size);

#endif
