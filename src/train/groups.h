/* Groups that do not count as often as they come: the baselines for a shortcut that is known by group but cannot be
 * drawn. With n_g of N training examples in group g, and G groups that have any,
 *
 *     group_weights    data = mean_i w[g_i] l_i,      balanced: w_g = N / (G n_g)
 *     group_batches    each place of a batch is of any group with probability 1 / G
 *     group-dro        data = sum_g q_g l_g,          see optim/group_shares.h
 *
 * The first and the third are weights v_i of the B examples of a batch, w[g_i] and B q[g_i] / (n_g of the batch), with
 * which data = mean_i v_i l_i. Groups without training examples do not count in G, and have the weight 0. */
#ifndef R4_TRAIN_GROUPS_H
#define R4_TRAIN_GROUPS_H

#include "config/settings.h"

struct groups {
  size_t n;         /* of the data; 0: all examples count alike */
  size_t present;   /* G */
  double *weight;   /* [n] w; NULL without group_weights */
  double *q;        /* [n] NULL without group-dro; part of the state of a run */
  double *expected; /* [n] how much an example of a group counts on the average, with q as it was at first */
  size_t *count;    /* [n] of training, and then of a batch */
  double *loss;     /* [n] of a batch */
  float *v;         /* [batch] or NULL */
};

/* Refuses what cannot be meant. All 0 if the settings ask for none of it. */
r4_status groups_open(struct groups *g, const r4_settings *s, const r4_data *train, r4_error *e);
void groups_close(struct groups *g);

/* The weights of the examples of a batch of the training data; NULL: all 1. */
const float *groups_weigh(struct groups *g, const r4_data *train, const r4_batch *b);
/* After a step: q follows the losses of its examples. */
void groups_follow(struct groups *g, double eta, const r4_data *train, const r4_batch *b,
                   const float *losses);

/* The first group of training with one example alone, which stands for all of it; NULL: there is none. */
const char *groups_of_one(const struct groups *g, const r4_data *train);
/* The groups are the classes: nobody has said what else they are. */
bool groups_are_classes(const r4_data *train);

#endif
