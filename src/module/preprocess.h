/* Inputs as weights of others expect them. r4 feeds images from 0 to 1; a first part "normalize" makes of them what a
 * net was trained on, and is part of the net from then on. */
#ifndef R4_MODULE_PREPROCESS_H
#define R4_MODULE_PREPROCESS_H

#include "base/error.h"

enum { PREPROCESS_PART = 200 };

struct preprocess {
  char part[PREPROCESS_PART]; /* "normalize mean .. std ..", or empty: inputs stay as they are */
  char name[32];              /* the word that stands for it, or empty                         */
  const char *by;             /* who says so, for a sentence; NULL: nobody knows               */
};

/* What a net needs before its first part. wanted: "none", a word, a part "normalize ..", or "auto": what the weights at
 * path say (NULL: there are none, and a net that is drawn needs nothing), and if they say nothing, what is usual for
 * the net's architecture. A net that begins with "normalize" needs nothing more. */
r4_status preprocess_find(const r4_net *n, const char *path, const char *wanted, struct preprocess *to,
                          r4_error *e);

/* The words, "imagenet, lite, ..". r4_string_free; NULL when out of memory. */
char *preprocess_words(void);

#endif
