/* Help about settings and methods, from their tables: "r4 help train", "r4 help lambda", "r4 help methods". */
#ifndef R4_CLI_HELP_H
#define R4_CLI_HELP_H

#include <stdbool.h>

/* All settings with what they take, or only those that most users change, one line each. */
void help_settings(bool all);
/* What there is to know about a setting, a method, all methods, or where it is; false if that is not known. */
bool help_topic(const char *word);
/* Of that what is neither a setting nor a method: help_elsewhere.c. */
bool help_elsewhere(const char *word);
/* A command may be called as a setting is. */
bool help_is_setting(const char *word);

#endif
