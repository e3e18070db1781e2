/* A small folder of images for the command: cats are bright on the left, dogs on the right. */
#ifndef PETS_H
#define PETS_H

#include <stdbool.h>

struct pets {
  const char *folder;    /* in that of the test          */
  const char *cat, *dog; /* names of the classes         */
  int test;              /* examples of test             */
  bool masked, wholly;   /* masks on the left half, or all over for test */
  bool dark;             /* all images are nearly black                  */
};

/* 12 images for training, 4 for validation. */
void pets_make(struct pets p);
/* FILE.yaml, which trains "dense 2" for some epochs on that data, with more lines. */
void pets_settings(const char *file, const char *data, const char *more);
/* Puts a net that gives this one answer (0 or 1) to everything in the place of a model; with value not 0 that is the
 * first of its weights. */
void pets_spoil(const char *model, int answer, float value);

#endif
