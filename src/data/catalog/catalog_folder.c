/* Where "r4 data get" puts data sets. */
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"

/* XDG: a path that is not absolute does not count. */
char *r4_data_folder(r4_error *e)
{
  const char *own = getenv("R4_DATA_DIR"), *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  struct text folder = {0};
  if (own && *own) {
    text_add(&folder, "%s", own);
  } else if (xdg && *xdg == '/') {
    text_add(&folder, "%s/r4", xdg);
  } else if (home && *home == '/') {
    text_add(&folder, "%s/.local/share/r4", home);
  } else {
    r4_fail(
      e, R4_E_IO,
      "there is no folder of data sets: set R4_DATA_DIR to one, or XDG_DATA_HOME or HOME to the folders of "
      "the user");
    return NULL;
  }
  return text_done(&folder, "the path of the folder of data sets", e);
}
