/* Valid values of features, for the commands that look at boxes. */
#ifndef R4_CLI_BOX_RANGE_H
#define R4_CLI_BOX_RANGE_H

#include "cli.h"

struct box_range {
  bool there;
  char low[32], high[32]; /* decimals */
};

/* valid: "0,1", "none", or "", which is the setting "range" of the run or, if it has none, 0 to 1 of images. False
 * after a sentence on stderr. */
bool box_range(const char *command, const char *valid, const r4_settings *s, const r4_data *d, struct box_range *to);

#endif
