/* The page's own files, which the command brings along: made by scripts/embed of cli/serve/page/. */
#ifndef R4_CLI_SERVE_SERVE_FILES_H
#define R4_CLI_SERVE_SERVE_FILES_H

#include <stddef.h>

struct embedded {
  const char *name, *text;
};

extern const struct embedded serve_files[];
extern const size_t serve_files_count;

#endif
