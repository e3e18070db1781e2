/* ERM: the data term alone. Core risk minimisation: the data term alone, on filled examples. */
#include "objective/objective.h"

const struct method method_erm = {0};

const struct method method_fill = {.fills = true};
