/* Validation: figures that nets are chosen by, and whether they may be.
 *
 * Where training examples have masks, validation that carries the shortcut praises the net that uses it. So figures
 * come from exchanged examples (measure/exchanged.h), of which VALIDATION_NEEDED must be there; what cannot be told
 * apart then is noise. If fewer have masks, up to a third of the training examples with a mask are held out for
 * validation, with all that share their ids. Where that is not enough, figures are those of validation as it is, say
 * so, and choose nothing. */
#ifndef R4_TRAIN_VALIDATION_H
#define R4_TRAIN_VALIDATION_H

#include "config/settings.h"
#include "measure/exchanged.h"
#include "measure/follow.h"
#include "measure/predict.h"

enum { VALIDATION_NEEDED = 20 };

/* What the kinds are called in the log; NULL ends them. */
extern const char *const validation_words[];

struct validation {
  r4_val_kind kind;
  r4_data *data; /* the part; NULL: there is none */
  struct exchange exchange;
  struct follow follow; /* to tell whether the net follows what is exchanged                 */
  size_t moved;  /* training examples that were held out for it       */
  size_t could;  /* examples that could be exchanged, if too few      */
  bool as_it_is; /* it carries the shortcut as data.val_fill is none, not as too few could be */
  struct probe *probe;
  int32_t *predicted, *after; /* of data, and of what is exchanged; or of follow */
};

/* d: all parts, already opened; *train and v->data become its parts for training and validation. */
r4_status validation_open(struct validation *v, const struct settings *s, const r4_data *d, r4_data **train,
                          r4_error *e);
/* Before validation_run, at most so many examples at a time. In parts that may be shared out, at least one batch for
 * each: as many however many processes there are. */
r4_status validation_prepare(struct validation *v, const r4_net *net, int64_t batch, int64_t parts,
                             r4_error *e);
void validation_close(struct validation *v);

/* R4_E_ARGUMENT, and the reason, if a net cannot be chosen by it. what: "select is worst". */
r4_status validation_may_choose(const struct validation *v, const char *what, r4_error *e);

/* Both are NaN where it cannot be asked. All processes of a team get the same. */
r4_status validation_follow(struct validation *v, const r4_team *t, const float *weights, double *followed,
                            double *error, r4_error *e);
/* All processes of a team get the same. */
r4_status validation_run(struct validation *v, const r4_team *t, const float *weights, struct score *to,
                         r4_error *e);

#endif
