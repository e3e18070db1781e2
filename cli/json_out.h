/* Answers as JSON: a key and its value in one call, and the text on a stream. The writer is the library's. */
#ifndef R4_CLI_JSON_OUT_H
#define R4_CLI_JSON_OUT_H

#include <stdio.h>

#include "r4_tools.h"

void json_real(r4_json *w, const char *key, double v);
void json_whole(r4_json *w, const char *key, int64_t v);
void json_flag(r4_json *w, const char *key, bool v);
void json_text(r4_json *w, const char *key, const char *s); /* NULL is null */
void json_open(r4_json *w, const char *key, char bracket);

/* Prints the text and a line break, and frees the writer. Returns an exit code. */
int json_print(FILE *f, const char *command, r4_json *w);

#endif
