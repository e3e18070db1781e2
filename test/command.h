/* The command as a user meets it: lines of the shell in the folder of a test (scratch.h), where $R4 is the command. */
#ifndef COMMAND_H
#define COMMAND_H

#include "scratch.h"

/* Both streams of the last line. */
extern char command_output[1 << 16];

/* Runs a line; returns its exit code. */
int command_run(const char *line);
/* The line ends with this code and says all of these texts, up to a NULL. */
void command_expect(const char *line, int code, ...) __attribute__((sentinel));
#define EXPECT(...) command_expect(__VA_ARGS__, (char *)NULL)
/* What the last line said is text, and none of it does anything to a terminal. */
void command_harmless(void);
/* It is one document of JSON (js_free). */
struct js *command_json(void);
/* The last line did not say it. */
void command_lacks(const char *text);

#endif
