/* What the files of "r4 predict" share. */
#ifndef R4_CLI_CMD_PREDICT_H
#define R4_CLI_CMD_PREDICT_H

#include "arguments.h"
#include "cli.h"
#include "cover_open.h"
#include "runs.h"

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
/* Adds the masks of n photos, which have their base names in a folder; a PNG, whether it is there or not, unless
 * there is a JPEG. */
int files_masks(struct files *f, const char *folder, char **file, size_t n);
void files_clear(struct files *f);
bool name_ends_in(const char *name, const char *ending);
/* Arrays are no photos: a message says what reads them. Returns an exit code. */
int files_refuse_arrays(const struct rest *images);

/* ---- predict_nets.c ---- */

/* One, or those of all seeds. */
struct nets {
  size_t n;
  r4_model *model[MAX_SEEDS];
};

/* Those of all seeds that have a model. Returns an exit code, after a message unless it is 0. */
int nets_open(struct nets *to, const struct run *r);
void nets_close(struct nets *nets);
/* The mean of their probabilities: [examples, classes]. */
r4_status nets_predict(const struct nets *nets, const r4_data *d, int64_t batch, size_t classes, float *probability,
                       r4_error *e);

/* ---- predict_print.c ---- */

/* Whose answers are printed. */
struct speaker {
  const char *run, *model;
  const struct nets *nets;
  int64_t seed; /* -1: a model file does not say, or all of them predict */
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
/* The same for predictions under covering masks, which have no probabilities: predict_cover.c. */
extern const struct printing print_text_covered, print_csv_covered, print_json_covered;

struct printer {
  const struct printing *as;
  const struct speaker *who;
  int width;           /* text: of the names of files         */
  const char *heat;    /* JSON: the picture that was drawn, or NULL */
  struct ranked *rank; /* text: [classes]                     */
  r4_json *json;
  r4_table *table; /* CSV */
  int code;        /* CSV: the exit code so far */
  const r4_covered *covered; /* of the next example; NULL: without a cover */
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
  const char *family; /* of covering masks, or "" */
  const struct cover *cover;
};

/* Returns an exit code. */
int predict_texts(const struct texts_asked *a);

enum { TITLE = 256 };
/* How a picture explains answers: by n methods, what speaks for each of them. The title is written into its room. */
r4_heat_options answers_explained(const char *run, const char *const *methods, size_t n, char title[TITLE]);

/* For those who print in other ways: the beginning and the end of a text of JSON and of an object in it, and the name
 * of a file in CSV. */
void json_begin(struct printer *p);
void json_photo(r4_json *w, const char *file);
void json_unreadable(struct printer *p, const char *file, const char *why);
int json_end(struct printer *p);
void csv_name(r4_table *t, const char *name);
int csv_end(struct printer *p);
void no_heading(struct printer *p);
/* All of a name as a terminal may show it (free), or NULL when out of memory. */
char *shown_whole(const char *s);

/* The class with the largest probability, the first at a tie. */
size_t most_probable(size_t classes, const float *probability);

#endif
