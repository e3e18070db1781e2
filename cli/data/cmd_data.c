/* r4 data: getting, making, checking and looking at data sets. One file for each of its commands. */
#include "data/cmd_data.h"

static const struct command *const parts[] = {&data_list, &data_get,  &data_make,
                                              &data_show, &data_lint, NULL};

const struct command command_data = {
  .name = "data",
  .summary = "get, make, check and show data sets",
  .details = "A data set is a known name (mnist), an npz file, a folder of images or idx files, or a table of texts.",
  .parts = parts,
};
