/* Covering masks, for the commands that use them. */
#ifndef R4_CLI_COVER_OPEN_H
#define R4_CLI_COVER_OPEN_H

#include "runs.h"

struct cover {
  r4_cover *masks;
  float *constant; /* r4_cover_constants of them */
};

/* A family for examples of this shape, with the constant of the model; if its file has none, that of the training
 * examples of its run, which are opened where run_data finds them (run NULL: there is none). Returns an exit code,
 * after a sentence unless it is 0. */
int cover_open(struct cover *to, const char *command, const char *family, r4_shape shape, const r4_model *m,
               const struct run *run, const char *data_now);
/* The same for constants alone, n of them, of a mask that is known. */
int cover_constant(const char *command, size_t n, const r4_model *m, const struct run *run, const char *data_now,
                   float **to);
void cover_close(struct cover *c);

#endif
