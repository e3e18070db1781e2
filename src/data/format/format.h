/* Formats: a format is one file with one struct, and one line in the table of open.c. */
#ifndef R4_DATA_FORMAT_FORMAT_H
#define R4_DATA_FORMAT_FORMAT_H

#include "data/data.h"

/* Options that only some formats take. */
enum { TAKES_ANNOTATIONS = 1, TAKES_WORDS = 2, TAKES_OWN_SPLIT = 4 };

struct format {
  const char *name, *about;          /* what it is called, and what it looks like on the disk */
  bool (*matches)(const char *path); /* a quick look: is this for me? */
  /* Reads it all. Errors name the file and the place in it. */
  r4_data *(*open)(const char *path, const r4_data_options *options, r4_error *e);
  unsigned takes; /* TAKES_..; asking a format for what it does not take is an error */
};

extern const struct format digits_format;    /* built in: "digits", or "digits:N" for N training images */
extern const struct format idx_format;       /* a folder of idx files, as MNIST comes */
extern const struct format npz_format;       /* a file of NumPy arrays */
extern const struct format ham_format;       /* HAM10000 as it is published */
extern const struct format isic_format;      /* ISIC as sorted for experiments with patches */
extern const struct format isic_2017_format; /* ISIC 2017 with a table of what photographs show */
extern const struct format plant_format;     /* leaves of sugar beet */
extern const struct format breeds_format;    /* pets with trimaps */
extern const struct format salient_format;   /* Salient ImageNet */
extern const struct format pets_format;      /* cats and dogs, and where a patch is planted */
extern const struct format imdb_format;      /* the reviews of IMDB */
extern const struct format text_format;      /* a table of texts, or a folder of them */
extern const struct format folder_format;    /* images with metadata.csv, or in a folder for each class */

/* The format of what is at path; NULL: none of them. */
const struct format *format_of(const char *path);

/* Whether r4_data_open takes source for a path, and there is something at it: not built in, and not one that was got
 * under this name. */
bool data_source_is_path(const char *source);

#endif
