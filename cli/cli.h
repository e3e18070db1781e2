/* What the files of the command share. Only r4.h and headers of this folder are included here.
 * Results go to stdout, everything else to stderr. */
#ifndef R4_CLI_CLI_H
#define R4_CLI_CLI_H

#include <stdio.h>

#include "arguments.h"
#include "r4_tools.h"

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_WORLD = 3 }; /* world: files, memory */

struct command {
  const char *name, *summary;
  const char *details; /* a paragraph for "r4 help NAME" */
  const struct option *options;
  void (*more)(bool all); /* prints what follows the options in its help, or NULL; all: --all was given */
  int (*run)(int argc, char **argv); /* the words after the name; returns an exit code */
  /* Whether it computes: at once in this process, or where it calls threads_use itself. */
  enum { THREADS_NONE = 0, THREADS_HERE, THREADS_LATER } threads;
  const struct command *const *parts; /* commands of its own, NULL at the end; instead of options and run */
};

extern const struct command command_ablate, command_bench, command_certify, command_data, command_eval, command_explain,
  command_export, command_find, command_graph, command_nets, command_ops, command_predict, command_report,
  command_reproduce, command_serve, command_sweep, command_train, command_verify, command_work;

int cli_code(r4_status status); /* the exit code of an error */
/* Says "r4 NAME: text" on stderr, or what the status means if text is empty; returns its exit code. */
int cli_fail(const char *name, r4_status status, const char *text);

/* s as a word of a command that is to be copied to a shell: in quotes where it needs them. */
void cli_print_word(FILE *f, const char *s);

/* A name out of a data set, as it can be printed: shown(name).text. */
struct shown {
  char text[256];
};
struct shown shown(const char *s);

/* ---- mapped.c ---- */

/* From now on a mapped file that is shortened is a sentence in the name of this command, and an exit code. */
void mapped_catch_missing(const char *command);

/* ---- cli_threads.c ---- */

/* Starts this program once more with libgomp told to let idle threads sleep soon. */
void threads_settle(char **argv);
/* Computes with n threads from now on, or as many as OpenMP says if n is 0; returns how many there are. If these are
 * fewer, says why on stderr, in the name of a command unless that is NULL. Not for a process that forks later. */
int threads_use(const char *name, int n, bool pin);
/* The threads of each of so many processes that share the CPUs. */
int threads_share(int jobs);
/* Undoes OMP_PROC_BIND and says so: it would put the threads of all processes that we start on the same CPUs. */
void threads_let_go(const char *name);

#endif
