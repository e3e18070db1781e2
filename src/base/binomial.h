#ifndef R4_BASE_BINOMIAL_H
#define R4_BASE_BINOMIAL_H

/* P(X <= k), X ~ Binomial(n, p) with 0 < p < 1. */
double binomial_at_most(double k, double n, double p);

#endif
