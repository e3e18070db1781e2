/* What the commands of "r4 data" share. */
#ifndef R4_CLI_DATA_H
#define R4_CLI_DATA_H

#include <limits.h>

#include "cli.h"
#include "process.h"

extern const struct command data_get, data_list;

/* ---- Folders ---- */

/* A path by a format; false if it is too long. */
bool path_make(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A folder and those above it, where missing; false and errno if it cannot be. */
bool folder_make(const char *path);
void folder_remove(const char *path); /* with all that is in it, as far as possible */
/* The first name in a folder that ends so; false if there is none. */
bool folder_find(const char *folder, const char *ending, char path[PATH_MAX]);
/* Removes what interrupted runs left in folder: ".NAME.PID.part" of processes that are no more. */
void folder_sweep(const char *folder, const char *name);

/* ---- Known data sets ---- */

const r4_known *known_find(const char *name);            /* NULL: not known */
bool known_path(const r4_known *k, char path[PATH_MAX]); /* its folder, there or not */
bool known_is_here(const r4_known *k);                   /* all of its files are, whatever is in them */
double known_bytes(const r4_known *k);                   /* 0: not known */

/* Gets all files into a new folder, from one source, and checks them; false, and why, if that fails. */
bool fetch_from(const r4_known *k, const r4_known_source *s, const char *folder, char why[PROCESS_WHY]);

#endif
