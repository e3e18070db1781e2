/* Other programs: run with a list of words, never by a shell. */
#ifndef R4_CLI_PROCESS_H
#define R4_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { PROCESS_WHY = 512 };

/* Runs argv[0], which is searched in PATH, in a folder, with nothing to read and its output thrown away. True if it
 * ends with 0; otherwise why gets one line: what it said first on stderr, or how it ended. */
bool process_run(const char *folder, const char *const argv[], char why[PROCESS_WHY]);

/* Between the two, Ctrl-C and the like end the program that runs and are remembered, so that there is time to clean
 * up; process_run then starts nothing any more. */
void process_catch_signals(void);
bool process_interrupted(void);

#endif
