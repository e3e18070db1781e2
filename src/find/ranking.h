/* Tests of one cue, which is a number for each example: do those that have the most of it share a label?
 *
 * Examples are ranked by the number, the largest first; equals are never told apart, so that which sets are tried does
 * not depend on the labels, nor on the order of the data. With N ranked examples, K of them of a class, a set of m with
 * k of the class has
 *
 *     p = P(X >= k),   X hypergeometric (N, K, m):
 *
 * the chance of so many if labels were dealt out at random. Three kinds of sets are tried:
 *
 *     pure    from the top down to before the (j + 1)-th example of another class, for j = 0, 1, 2. Its length m is a
 *             test statistic itself: P(at most j others among the first m) is the p above
 *     mostly  the first 20, 30, 50, 80, 120, 200, 300, 500 .. half of all
 *     same    20 or more with the very same number
 *
 * Families of tests share the level by weights that are fixed before (Bonferroni): p of a test times the number of
 * tests of its family, divided by the weight, is at most the level in any of them with a chance of at most the
 * level. */
#ifndef R4_FIND_RANKING_H
#define R4_FIND_RANKING_H

#include "base/error.h"

enum set_kind { SET_PURE, SET_MOSTLY, SET_SAME, SET_KINDS };

struct ranked {
  float value;
  uint32_t k;
};

struct ranking {
  size_t n, room, classes;
  struct ranked *at;
  const int32_t *label; /* by k */
  size_t *of_class;     /* [classes]: of those ranked; then room for as many again */
};

/* A set that tells: those with low <= number <= high. */
struct telling {
  uint32_t cue;
  int32_t label;
  enum set_kind kind;
  double log_p; /* not corrected */
  size_t m, of_class, ranked, ranked_of_class;
  float low, high;
};

/* What was tried so far. A set is kept if p <= 0.001. */
struct tries {
  size_t n, room;
  struct telling *at;
  uint32_t cue; /* in hand */
};

r4_status ranking_new(struct ranking *r, size_t room, size_t classes, const int32_t *label, r4_error *e);
void ranking_clear(struct ranking *r);
/* Those whose value is not NaN. */
void ranking_make(struct ranking *r, const float *value);
/* Tests of all classes; tests[SET_KINDS] counts them. */
r4_status ranking_try(const struct ranking *r, struct tries *t, uint64_t tests[SET_KINDS], r4_error *e);
/* Of sets with the very same number alone: the numbers are names, which have no order. */
r4_status ranking_try_names(const struct ranking *r, struct tries *t, uint64_t tests[SET_KINDS], r4_error *e);

#endif
