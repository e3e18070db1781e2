/* The answers, one function for each line of the table in route.c. */
#ifndef R4_CLI_SERVE_ANSWERS_H
#define R4_CLI_SERVE_ANSWERS_H

#include "serve/serve.h"

/* body: what the request has as JSON; NULL if it may have none. */
typedef void answer_function(struct site *s, const struct request *r, const r4_json_value *body,
                             struct answer *a);

answer_function answer_state, answer_findings, answer_photos, answer_thumb, answer_photo, answer_mask,
  answer_proposal, answer_paint, answer_decide, answer_judge, answer_accept, answer_search, answer_propose,
  answer_train, answer_stop, answer_log, answer_report, answer_settings, answer_words, answer_edit_words;

/* The photo of the argument "photo", or of that member of an object; s->n after an answer that says what is wrong. */
size_t asked_photo(const struct site *s, const struct request *r, struct answer *a);
size_t told_photo(const struct site *s, const r4_json_value *object, struct answer *a);
/* The finding with a key, of find.json as it is now; NULL after an answer. */
const struct finding *asked_finding(struct site *s, const char *key, struct answer *a);
/* A whole number of an argument, from least to most; otherwise if it is not there. False after an answer. */
bool asked_whole(const struct request *r, const char *name, long otherwise, long least, long most, long *to,
                 struct answer *a);
/* Something goes on in the background: the number of the task, or why not. */
void answer_task(const struct task *t, struct answer *a);

/* Of a finding in texts: its words, whether the list has them, and what the list cannot do. */
void put_words_of(r4_json *w, const struct site *s, const struct finding *f);

/* How sure the proposals for a finding are, and their files: NULL if there are none. r4_json_value_free. */
r4_json_value *proposals_open(const struct site *s, const char *key, const r4_json_value **list, r4_error *e);
/* The mask that is proposed for a photo of that size. R4_E_ARGUMENT: there is none. */
r4_status proposal_read(const struct site *s, const r4_json_value *list, const char *key, size_t photo,
                        r4_image *to, r4_error *e);
/* Runs r4 find for the masks of a finding, unless that waits or runs already. NULL: too much waits. */
struct task *propose(struct site *s, const struct finding *f);

#endif
