/* "lambda: auto": which lambda to try next, and which to take. Pure arithmetic on what short runs have shown, which
 * train/run/lambda_search.c makes.
 *
 * A short run has a quarter of the epochs. Its score is that of validation where the shortcut says nothing, and se
 * the standard error of the average accuracy behind it (measure/exchanged.h). A net that is lost, as it is dead or its
 * loss is not a number, scores least; so does one whose numbers are those of a smaller lambda, to the bit: the guard
 * (guard.h) has held both back, and the larger one has shown nothing. A net has learned if it scores more than by
 * guessing, 1 / classes; before that all lambdas look alike, and a larger one is none the better for it. The lambdas
 * that are tried are
 *
 *     1. the method's own
 *     2. ten times the largest, as long as that has learned and stays within TOLERANCE of the best
 *     3. unless some larger lambda was better than the first by more than TOLERANCE: a tenth of the smallest, as long
 *        as that is better than all larger ones by more than TOLERANCE, or none has learned
 *     4. sqrt(10) times what would be taken now, and the same divided by sqrt(10), if that has learned
 *
 * where the last two runs of the budget are kept for 4, and TOLERANCE is the se of the best, half a point at least:
 * what is closer cannot be told apart. Taken is the largest lambda whose score is within TOLERANCE of the best:
 * among nets that do as well, the larger penalty makes the one that ignores the mask more firmly.
 *
 * Budget: 6 short runs, and no more epochs than a fifth of what a grid of 7 lambdas takes: with E epochs, short ones
 * of S = max(1, E / 4) in whole numbers, at most min(6, 7 E / (5 S)). That is 5 runs where 4 divides E, 1.25 E epochs
 * of the grid's 7 E. Below AUTO_EPOCHS epochs there is no room to search.
 *
 * Short runs may be too short to tell: a run is idle if its penalty counted in no step, as the guard waits for a net
 * that has learned something, and it would be the same with any lambda. After an idle run, or if none of this length
 * has learned, all begins anew with runs twice as long, E at most, and the choice is among these, unless all are lost.
 * Then there are 6 of a length at most, and 4 E epochs in all. More epochs do not cure a loss that is no number. */
#ifndef R4_OPTIM_AUTO_H
#define R4_OPTIM_AUTO_H

#include "base/error.h"

enum { AUTO_RUNS = R4_LAMBDA_TRIES, AUTO_EPOCHS = 3 };

/* Half decades above the method's own lambda: lambda is that times 10^(at / 2), with three digits. */
double auto_lambda(double own, int at);

/* Epochs of a short run at first, and how many runs of these there may be. */
int64_t auto_epochs(int64_t epochs);
size_t auto_budget(int64_t epochs);

/* What a short run has shown. */
struct auto_try {
  int at;
  double score, se, penalty; /* the first two are 0 to 1                     */
  bool lost, learned;        /* dead or without a loss; better than guessing */
  bool diverged, idle;       /* without a loss; no step had a penalty        */
  int64_t epochs;            /* its length                                   */
};

struct auto_run {
  int at;
  int64_t epochs;
};

/* The next run, given the n before it, in their order, for a run of so many epochs. false: there is none, the search
 * is over. */
bool auto_next(const struct auto_try *t, size_t n, int64_t epochs, struct auto_run *next);

/* The number of the run whose lambda is to be taken, or n if all are lost. */
size_t auto_choice(const struct auto_try *t, size_t n);

#endif
