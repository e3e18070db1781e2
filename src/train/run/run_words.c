/* The substitution test with the list that the settings of a run name. */
#include <string.h>

#include "measure/substitute.h"
#include "train/word_list.h"

enum { TEXTS = 1000, TRIES = 1024 };

r4_status substitution_test(const r4_net *n, const float *weights, const r4_data *d, const r4_settings *s,
                            r4_substituted *to, r4_error *e)
{
  struct word_list list;
  *to = (r4_substituted){.none = "the settings list no words"};
  r4_status status = word_list_named(&list, &s->values, d, e);
  if (!status && list.n) {
    const struct substitute_options options = {.words = list.id,
                                               .word_count = list.n,
                                               .by_pieces = list.by_pieces,
                                               .most = TEXTS,
                                               .tries = TRIES,
                                               .batch = s->values.eval.batch};
    status = substitute_test(n, weights, d, &options, to, e);
    to->unknown = list.unknown;
    memcpy(to->first_unknown, list.first_unknown, sizeof to->first_unknown);
  }
  word_list_close(&list);
  return status;
}
