/* Options of a command: one table feeds the parser, the range checks and the help. Strict: what is
 * not understood completely is refused, by name and with what was expected. */
#ifndef R4_CLI_OPTIONS_H
#define R4_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum option_type {
  OPTION_FLAG,  /* bool: --name                                      */
  OPTION_WHOLE, /* int64_t: --name 5 or --name=5, from min to max    */
  OPTION_REAL,  /* double, finite, from min to max                   */
  OPTION_TEXT,  /* const char *                                      */
  OPTION_WORD, /* const char *, without a name before it: required, unless it has an initial value */
  OPTION_LIST, /* struct words: --name A --name B, as often as wanted */
  OPTION_WORDS, /* struct words: one or more without a name before them; after the words of the table */
  OPTION_REST,  /* struct rest: the same, as many as there are                                       */
};

enum { MAX_WORDS = 64 };

struct words {
  size_t n;
  const char *word[MAX_WORDS];
};

/* They are in argv, to the front of which they were moved. */
struct rest {
  size_t n;
  char **word;
};

struct option {
  const char *name; /* "out", or with what help calls its value: "set KEY=VALUE"; of a word, that. NULL ends a table */
  enum option_type type;
  size_t offset;       /* of its place in the settings                         */
  const char *initial; /* as if the user had written it; NULL for false and "" */
  double min, max;
  const char *help;
};

/* Fills *settings from the table and from argv[0..argc); false after a message on stderr. */
bool options_read(const char *command, const struct option *table, void *settings, int argc, char **argv);

/* Options of a table that are not as they would be if nobody had given them, as they are written: " --size 32 --all".
 * Words without a name and lists are left out. Whether there is any. */
bool options_print_given(FILE *f, const struct option *table, const void *settings);

/* The words that a command needs, as " NAME NAME", and then " [OPTIONS]", on stdout. */
void options_usage(const struct option *table);

/* What each option takes and does, in two columns, on stdout. */
void options_help(const struct option *table);

#endif
