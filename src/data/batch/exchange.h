/* Exchanged examples: what a net is worth where the shortcut says nothing.
 *
 * Examples whose masked content is their own praise the net that uses it, and so do examples whose mask nobody drew.
 * So figures that choose a net come from examples whose masked content is another's alone. Example i of class y
 * gets, in each draw,
 *
 *     with a mask       the masked content of a donor of another class, drawn uniformly, stretched into its own mask;
 *                       one random colour (texts: one random token) where no other class has donors
 *     without a mask    where masks are rare in its class (donors.h): the masked content of a donor of another class,
 *                       put on it as it lies
 *     otherwise         nothing: it carries the shortcut, and does not count
 *
 * The example as it is, with its own content, is in d. */
#ifndef R4_DATA_BATCH_EXCHANGE_H
#define R4_DATA_BATCH_EXCHANGE_H

#include "data/data.h"

struct exchange {
  size_t n, draws; /* examples, and how often each is exchanged              */
  size_t donors;   /* examples that give content                             */
  size_t *example; /* [n]: their numbers in d                                */
  r4_data *data;   /* [draws * n]: draw k of example[i] is k * n + i; or NULL */
};

/* How many examples of d would be exchanged: 0 without masks. like: data that tell where masks are rare, as the
 * training part does for validation, which has fewer. */
r4_status exchange_count(const r4_data *d, const r4_data *like, size_t *n, r4_error *e);
/* n is 0 where there is nothing to exchange, and data is NULL then. */
r4_status exchange_make(struct exchange *x, const r4_data *d, const r4_data *like, uint64_t seed,
                        r4_error *e);
void exchange_clear(struct exchange *x);

#endif
