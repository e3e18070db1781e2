/* What the files of "r4 predict" share. */
#ifndef R4_CLI_CMD_PREDICT_H
#define R4_CLI_CMD_PREDICT_H

#include "arguments.h"
#include "cli.h"

/* ---- predict_files.c ---- */

struct files {
  size_t n, capacity;
  char **path;
};

/* Adds what a word names: a file, or the images in a folder in their natural order (2.png before 10.png), not those in
 * folders within. Returns an exit code, after a message unless it is 0. */
int files_add(struct files *f, const char *word);
/* Adds a name as it is. */
int files_name(struct files *f, const char *name);
void files_clear(struct files *f);

/* ---- predict_print.c ---- */

/* Whose answers are printed. */
struct speaker {
  const char *run, *model;
  int64_t seed; /* -1: a model file does not say */
  size_t classes;
  const char **name; /* of the classes */
};

struct printer;

/* A way to print answers: text, CSV or JSON. */
struct printing {
  void (*begin)(struct printer *p);
  void (*answer)(struct printer *p, const char *file, const float *probability);
  void (*unreadable)(struct printer *p, const char *file, const char *why); /* NULL: it has nothing to say */
  int (*end)(struct printer *p); /* an exit code; NULL: nothing to say */
};
extern const struct printing print_text, print_csv, print_json;

struct printer {
  const struct printing *as;
  const struct speaker *who;
  int width;           /* text: of the names of files         */
  const char *heat;    /* JSON: the picture that was drawn, or NULL */
  struct ranked *rank; /* text: [classes]                     */
  r4_json *json;
  r4_table *table; /* CSV */
  int code;        /* CSV: the exit code so far */
};

/* Its memory; false when there is none. files are those that will be named. */
bool printer_make(struct printer *p, const struct printing *as, const struct speaker *who,
                  const struct files *files);
void printer_clear(struct printer *p);

/* ---- predict_texts.c ---- */

struct texts_asked {
  const r4_settings *settings; /* of the run, or NULL */
  const r4_net *net;
  const float *weights;
  int64_t batch;
  const struct speaker *who;
  const struct rest *files;
  const char *heat; /* an SVG file, or "" */
  const struct printing *as;
};

/* Returns an exit code. */
int predict_texts(const struct texts_asked *a);

enum { TITLE = 256 };
/* How a picture explains answers: by two methods, what speaks for each of them. The title is written into its room. */
r4_heat_options answers_explained(const char *run, const char *const *methods, char title[TITLE]);

/* The class with the largest probability, the first at a tie. */
size_t most_probable(size_t classes, const float *probability);

#endif
