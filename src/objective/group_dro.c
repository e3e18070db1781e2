/* Group DRO: the data term alone, sum_g q_g l_g, with more weight for groups that do badly.
 *
 *     l_g = mean of l_i over the examples of group g in the batch
 *     v_i = B q_{g_i} / n_{g_i},   n_g of the B examples of the batch are of group g
 *
 * so that mean_i v_i l_i = sum_g q_g l_g, over the groups that the batch has. Distributionally robust optimisation over
 * groups (Sagawa, Koh, Hashimoto and Liang, 2020); optim/group_shares.h has the steps of q. It needs groups and no
 * masks. */
#include "objective/objective.h"

const struct method method_group_dro = {.groups = true,
                                        .about =
                                          "Weights groups by their losses, so that the worst group counts most "
                                          "(Sagawa and others, 2020). For shortcuts\n"
                                          "that are known by group but cannot be masked. Needs groups, not masks."};
