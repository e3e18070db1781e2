/* Formats: a format is one file with one struct, and one line in formats.def. */
#ifndef R4_DATA_FORMAT_FORMAT_H
#define R4_DATA_FORMAT_FORMAT_H

#include "data/data.h"

/* Options that only some formats take. */
enum { TAKES_ANNOTATIONS = 1, TAKES_WORDS = 2, TAKES_OWN_SPLIT = 4 };

struct format {
  const char *name, *about;          /* what it is called, and what it looks like on the disk */
  bool (*matches)(const char *path); /* a quick look: is this for me? */
  /* Reads it all. Errors name the file and the place in it. */
  r4_data *(*open)(const char *path, const r4_data_options *options, r4_error *e);
  unsigned takes; /* TAKES_..; asking a format for what it does not take is an error */
  /* The paths of all files that it reads. NULL: its data are not kept whole in a cache (whole_open.h). */
  r4_status (*files)(const char *path, struct names *to, r4_error *e);
};

#define FORMAT(name) extern const struct format name##_format;
#include "data/format/formats.def"
#undef FORMAT

/* The format of what is at path; NULL: none of them. */
const struct format *format_of(const char *path);

/* Whether r4_data_open takes source for a path, and there is something at it: not built in, and not one that was got
 * under this name. */
bool data_source_is_path(const char *source);

#endif
