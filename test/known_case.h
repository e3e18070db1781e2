/* What documents name: commands, options, settings, data sets, targets of make and files, looked up in what "r4 help"
 * prints, in the Makefile and in the tree. */
#ifndef KNOWN_CASE_H
#define KNOWN_CASE_H

#include "document_case.h"

/* A fault of a document: it is printed, and counted. */
__attribute__((format(printf, 2, 3))) void wrong(struct place at, const char *format, ...);
/* The number of faults since the last call. */
int wrong_count(void);

/* word stands in text, and is no part of a longer name. */
bool has_word(const char *text, const char *word);
/* Whether "KEY" or "KEY=VALUE" is a setting; if not, it is a fault. */
void known_setting(struct place at, const char *text);
/* All that can be looked up of a line, or of a piece of one. */
void known_line(struct place at, const char *text);
/* An option alone, such as "--set": some command has it. */
void known_option(struct place at, const char *text);
/* "group.key: value": a setting. */
void known_key(struct place at, const char *text);
/* Files of the tree among the words of text. */
void known_paths(struct place at, const char *text);

#endif
