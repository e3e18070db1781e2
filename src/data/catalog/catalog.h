/* The data sets that have a name. */
#ifndef R4_DATA_CATALOG_CATALOG_H
#define R4_DATA_CATALOG_CATALOG_H

#include "base/error.h"
#include "r4_tools.h"

/* NULL: not a known name. */
const r4_known *catalog_find(const char *name);
/* Where a data set of that name is when it is in folder: the file it consists of, or else a folder. In new memory,
 * or NULL when out of memory. */
char *catalog_path(const char *folder, const char *name);

/* Where its weights are, if it is a net and not a data set; NULL if it is not, or when out of memory. */
char *catalog_weights(const char *folder, const char *name);

#endif
