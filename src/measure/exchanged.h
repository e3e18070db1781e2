/* Accuracy where the shortcut says nothing, from a part that carries it and the examples of it that were exchanged
 * (data/batch/exchange.h).
 *
 * A part of n examples tells how often a net is correct with the shortcut in them; the exchanged ones, which may be
 * few, what becomes of that without it. With, for group g,
 *
 *     P_g    share of correct predictions, over all examples of the part
 *     L_g    share of the correct predictions of exchanged examples that are wrong after the exchange: lost
 *     G_g    share of their wrong predictions that are correct after it: gained
 *
 * the accuracy after the exchange is
 *
 *     A_g = P_g (1 - L_g) + (1 - P_g) G_g
 *
 * which takes P from many examples; for a net that ignores its masks L and G are small, and so is their error.
 * Counts of groups are few, so L_g and G_g lean on those of all groups as on PRIOR examples more. Standard errors
 * are binomial, (s (1 - s) / n)^1/2 with s = (n share + 1) / (n + 2), one exchanged example counting once however
 * often it was drawn:
 *
 *     se(A_g)^2 = (1 - L_g - G_g)^2 se(P_g)^2 + P_g^2 se(L_g)^2 + (1 - P_g)^2 se(G_g)^2
 *
 * Whether a net uses its masks is asked as the swap test asks it of examples whose content says nothing of the
 * label: the content is first that of any class, its own with a chance of 1 / C for C classes, and then that of
 * another,
 *
 *     lost = sum_i (w own_i (1 - c_i) + (1 - w) c_i (1 - c_i)') / sum_i (w own_i + (1 - w) c_i),    w = 1 / C
 *
 * where own_i says that the prediction is correct as it is, c_i is the share of draws in which it is, and (..)' is
 * over pairs of different draws; an example that has no content of its own before (pasted) has w = 1. changed is the
 * same for predictions that differ, correct or not.
 *
 * accuracy is the mean of A_g over the examples, avg that over the groups, worst the least. A least of noisy numbers
 * is too low, and lower for the noisier, so what nets are chosen by is the least after each A_g has moved towards avg
 * as far as noise explains its distance:
 *
 *     score = (avg + min_g (avg + (A_g - avg) T / (T + se(A_g)^2))) / 2,    T = max(0, var(A_g) - mean(se(A_g)^2)) */
#ifndef R4_MEASURE_EXCHANGED_H
#define R4_MEASURE_EXCHANGED_H

#include "data/batch/exchange.h"
#include "measure/score.h"

/* d: the part; predicted, loss: of it. after: of the rows of x. Fills all of s. */
r4_status score_exchanged(const r4_data *d, const int32_t *predicted, const struct exchange *x,
                          const int32_t *after, double loss, struct score *s, r4_error *e);

/* Standard errors and score of a part that is as it is. */
r4_status score_plain(struct score *s, r4_error *e);

#endif
