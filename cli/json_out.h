/* What the library's writer of JSON has made, on a stream. */
#ifndef R4_CLI_JSON_OUT_H
#define R4_CLI_JSON_OUT_H

#include <stdio.h>

#include "r4_tools.h"

/* Prints the text and a line break, and frees the writer. Returns an exit code. */
int json_print(FILE *f, const char *command, r4_json *w);

#endif
