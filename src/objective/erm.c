/* ERM: the data term alone. Core risk minimisation: the data term alone, on filled examples. */
#include "objective/objective.h"

const struct method method_erm = {.about =
                                    "Plain training; masks are not used. The baseline for everything else."};

const struct method method_fill = {
  .fills = true,
  .about = "Plain training on examples whose masked content is replaced (setting fill). As cheap as erm. Needs masks "
           "on\n"
           "most examples, does not extend to unseen content, and gives no bound."};
