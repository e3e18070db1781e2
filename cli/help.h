/* Help about settings and methods, from their tables: "r4 help train", "r4 help lambda", "r4 help methods". */
#ifndef R4_CLI_HELP_H
#define R4_CLI_HELP_H

#include <stdbool.h>

/* All settings with what they take, or only those that most users change, one line each. */
void help_settings(bool all);
/* What there is to know about one setting, or about all methods; false if it is neither. */
bool help_topic(const char *word);

#endif
