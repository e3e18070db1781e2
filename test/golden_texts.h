/* golden_texts.h - methods on texts against the files of scripts/golden_words.py and golden_word_boxes.py: a net, its
 * weights, texts with masks, a list of words, and what PyTorch makes of them. Failures end the test. */
#ifndef GOLDEN_TEXTS_H
#define GOLDEN_TEXTS_H

#include "golden_case.h"
#include "objective/words.h"

enum { GOLDEN_PARAMS = 32, GOLDEN_LISTED = 16 };

struct golden_texts {
  golden *gold;
  r4_net *net;
  r4_graph *g;
  r4_id param[GOLDEN_PARAMS];
  float list[GOLDEN_LISTED];
  r4_objective_options options; /* of the method, for the batch of the file */
};

/* test/golden/FILE.txt. */
struct golden_texts *golden_texts_new(const char *file, const char *method);
void golden_texts_free(struct golden_texts *f);

/* The tensor called what and then name, and a number of the file. */
const golden_tensor *golden_texts_tensor(const struct golden_texts *f, const char *what, const char *name);
double golden_texts_number(const struct golden_texts *f, const char *name);

/* The options speak of the list of the file. */
void golden_texts_take_list(struct golden_texts *f);

/* Runs in double with all inputs of the file. The caller frees the runner. */
struct runner *golden_texts_run(const struct golden_texts *f, size_t n, const r4_id *out);
/* Output k is the tensor called what and then name. */
void golden_texts_compare(const struct golden_texts *f, const struct runner *r, size_t k, const char *what,
                          const char *name);
/* The quantity of each text, the loss, and its derivatives with respect to all weights: "WHATeach", "WHATloss",
 * "WHATgrad.PARAMETER". */
void golden_texts_check(struct golden_texts *f, const char *what);

#endif
