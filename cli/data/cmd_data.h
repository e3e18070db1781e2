/* What the commands of "r4 data" share. */
#ifndef R4_CLI_DATA_CMD_DATA_H
#define R4_CLI_DATA_CMD_DATA_H

#include <limits.h>

#include "cli.h"
#include "process.h"

extern const struct command data_get, data_lint, data_list, data_make, data_show;

/* ---- Folders ---- */

/* A path by a format; false if it is too long. */
bool path_make(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A folder and those above it, where missing; false and errno if it cannot be. */
bool folder_make(const char *path);
/* Inside of a run's folder, which may come from somebody else, a link in the place of a folder would lead anywhere:
 * EXIT_WORLD after a message if path is one. */
int folder_refuse_link(const char *command, const char *path);
/* A new file beside path, to be renamed when it is whole; its name is part. NULL and errno if it cannot be. */
FILE *file_beside(const char *path, char part[PATH_MAX]);
void folder_remove(const char *path); /* with all that is in it, as far as possible */
/* The first name in a folder that ends so; false if there is none. */
bool folder_find(const char *folder, const char *ending, char path[PATH_MAX]);
/* Removes what interrupted runs left in folder: ".NAME.PID.part" of processes that have ended. */
void folder_sweep(const char *folder, const char *name);

/* ---- Known data sets ---- */

const r4_known *known_find(const char *name);            /* NULL: not known */
bool known_path(const r4_known *k, char path[PATH_MAX]); /* its folder, there or not */
bool known_built_in(const r4_known *k);                  /* there is nothing to get */
bool known_is_here(
  const r4_known *k); /* all of its files are, or the folder of one fetched by hand; whatever is in them */
double known_bytes(const r4_known *k); /* 0: not known */

/* Gets all files into a new folder, from one source, and checks them; false, and why, if that fails. */
bool fetch_from(const r4_known *k, const r4_known_source *s, const char *folder, char why[PROCESS_WHY]);

/* ---- Sources ---- */

enum { MOST_VALUES = 256 };

struct source {
  const char *path, *mask_means, *mask_values; /* as they were written */
  int64_t size;
  double values[MOST_VALUES];
  r4_data_options read; /* options go into it; source_read adds what is written in another way */
};

/* clang-format off */
#define READ_OPTION(base, field, type, min, max, key, was, option, help)                                           \
  {option, OPTION_##type, base + offsetof(struct source, read.field), NOTHING_##type, min, max, help},
#define NOTHING_FLAG NULL
#define NOTHING_WHOLE "0"

/* How a source is read, for a struct with a struct source in it. */
#define READ_OPTIONS(type, field)                                                                                    \
  {"mask-means", OPTION_TEXT, offsetof(type, field.mask_means), NULL, 0, 0,                                          \
   "what white means in masks: irrelevant or relevant"},                                                             \
  {"mask-values", OPTION_TEXT, offsetof(type, field.mask_values), NULL, 0, 0,                                        \
   "label images as masks: the values that count as masked, such as 2,3"},                                           \
  {"masks FILE", OPTION_TEXT, offsetof(type, field.read.masks), NULL, 0, 0,                                          \
   "a file with annotations: boxes, COCO, Label Studio"},                                                            \
  {"mask-categories LABELS", OPTION_TEXT, offsetof(type, field.read.mask_categories), NULL, 0, 0,                    \
   "labels of annotations that count as masks, such as tag,ruler"},                                                  \
  {"tokenizer FILE", OPTION_TEXT, offsetof(type, field.read.tokenizer), NULL, 0, 0,                                  \
   "texts: tokenizer.json or vocab.txt (default: minilm's)"},                                                        \
  R4_TEXT_READING(READ_OPTION, offsetof(type, field))                                                                \
  R4_IMAGE_READING(READ_OPTION, offsetof(type, field))                                                               \
  {"mask-words", OPTION_TEXT, offsetof(type, field.read.mask_words), NULL, 0, 0,                                     \
   "texts: words that must not matter, or a file of them"}

#define SOURCE_OPTIONS(type, field)                                                                                  \
  {"SOURCE", OPTION_WORD, offsetof(type, field.path), NULL, 0, 0, "a known name (mnist) or a path (doc/formats.md)"},\
  READ_OPTIONS(type, field),                                                                                         \
  {"size", OPTION_WHOLE, offsetof(type, field.size), "0", 0, 16384, "resize images to N x N; 0: keep theirs"},       \
  {"cache FOLDER", OPTION_TEXT, offsetof(type, field.read.cache), NULL, 0, 0,                                        \
   "keep decoded data there, for the next time and for data larger than the memory"},                                \
  {"seed", OPTION_WHOLE, offsetof(type, field.read.seed), "0", 0, 1e15,                                              \
   "seed of digits, and of splits that are not given"}
/* clang-format on */

/* False after a message, unless the name of a file to be written, that of --option, ends so, and there is no such file
 * or it may go. */
bool out_check(const char *command, const char *option, const char *file, const char *ending, bool force);

/* Fills s->read, which then looks into s; false after a message. */
bool source_read(const char *command, struct source *s);
/* For commands that look at data and keep nothing of them: images of different sizes are resized, which is said. NULL
 * after a message, with *code the exit code. */
r4_data *source_open(const char *command, struct source *s, int *code);
/* False after a message, unless the word is one of those that help names, or "". */
bool source_split(const char *command, const char *word, int *split); /* -1 for "" */

/* What a data set holds, as tables or as JSON. Returns an exit code. */
int print_data(const r4_data *d, bool json);

#endif
