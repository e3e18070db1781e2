/* Files in the folder of a seed that keep what was found out about its model: JSON that says what it is, the version
 * that made it and the key of what it is about, and ends with the SHA-256 of all before. What is not whole, of another
 * version, edited, or of something else is refused with the reason.
 *
 *     key = SHA-256(version, data, eps, settings of the seed, weights) */
#ifndef R4_TRAIN_RUN_KEPT_H
#define R4_TRAIN_RUN_KEPT_H

#include "base/json.h"
#include "r4_tools.h"

r4_status kept_key(const char *folder, const char *data_hash, double eps, char key[R4_HASH_SIZE], r4_error *e);
/* Begins the object, whose first member is the format: {"measured":3, .. */
void kept_open(struct json_writer *w, const char *what, int64_t format, const char *key);
/* Ends it, and writes it to the file; w is used up. */
r4_status kept_write(const char *path, struct json_writer *w, r4_error *e);
/* *root: js_free, in any case. */
r4_status kept_read(const char *path, const char *what, int64_t format, const char *key, struct js **root, r4_error *e);

#endif
