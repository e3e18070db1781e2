/* certificate_case.h - certificates as a program would write them, with their model and data files, as bytes. */
#ifndef CERTIFICATE_CASE_H
#define CERTIFICATE_CASE_H

#include "check.h"

enum { CASE_LINES = 24 };

struct case_line {
  int label, class;
  double margin; /* 0: "-" and open */
};

struct certificate_case {
  const char *net;
  r4_shape input;        /* [features], [height, width, channels] or [tokens] */
  const float *weight;   /* as the engine has them */
  int n;                 /* examples */
  bool as_image;         /* of a net that takes vectors: x is [n, channels, height, width] */
  int64_t image[3];      /* channels, height, width, if so */
  const float *x, *mask; /* channels first; mask of one channel, or of all (full_mask) */
  bool full_mask, deflated;
  const int64_t *id, *length; /* of texts, instead of x */
  const char *claim;          /* "claim box\nsemantics real\nmethod intervals\n" */
  const char *what;           /* "eps 0.5\n" */
  struct case_line line[CASE_LINES];
};

struct case_file {
  uint8_t *at;
  size_t n;
};
enum { CASE_CERTIFICATE, CASE_MODEL, CASE_DATA, CASE_FILES };

/* Writes all three; needs scratch_make. */
void case_write(const struct certificate_case *c, struct case_file file[CASE_FILES]);
/* The certificate alone, of files that are there. */
void case_certificate(const struct certificate_case *c, struct case_file file[CASE_FILES]);
/* Another text before the checksum, with its checksum. */
void case_seal(const char *text, struct case_file *certificate);
void case_free(struct case_file file[CASE_FILES]);

/* What the engine computes in double, for each example, class by class; NULL if it does not take x as it is. */
void case_logits(const struct certificate_case *c, int64_t classes, double *z);

#endif
