/* A file of the tree that the library has in it: scripts/embed. */
#ifndef R4_BASE_EMBEDDED_H
#define R4_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
  const char *name, *text;
};

#endif
