/* manifest.json: what made a run, so that its numbers can be made again. */
#ifndef R4_TRAIN_RUN_MANIFEST_H
#define R4_TRAIN_RUN_MANIFEST_H

#include "base/json.h"
#include "train/run/run.h"

r4_status manifest_write(const struct run *r, const char *path, r4_error *e);
/* The same as text (r4_string_free); NULL when out of memory. */
char *manifest_text(const struct run *r);

/* The settings have changed from was to those of r: the list "changes" gets what, from what to what, and after which
 * epoch. */
r4_status manifest_note(const struct run *r, const r4_settings *was, const char *path, r4_error *e);

/* All of it (js_free), which is an object. */
r4_status manifest_read(const char *path, struct js **root, r4_error *e);

/* The member of "data" that has r4_data_hash_unmasked. */
#define UNMASKED "sha256_unmasked"

/* ---- Where the data are: run_data.c ---- */

/* The member "source", if the data come from a path: the setting that names it and what is written there; the absolute
 * path; and the way to it from the folder of the run. So data are found from any directory, and where run and data
 * have moved together. */
void run_describe_source(struct json_writer *w, const struct settings *s, const char *folder);

#endif
