/* The figures of several nets, by key: as they were measured, or as a summary.json has kept them. Which there are, and
 * which of them tables show, is the matter of the library's table of figures (r4_figure_describe) alone. */
#ifndef R4_CLI_EXPERIMENT_FIGURE_LIST_H
#define R4_CLI_EXPERIMENT_FIGURE_LIST_H

#include "r4_tools.h"

struct figure_list {
  size_t nets;
  struct net_figures {
    size_t n;
    r4_value *value; /* in the order of the table of figures */
  } *net;
};

/* One more net with n values, to be filled in. NULL when out of memory. */
r4_value *figures_add_net(struct figure_list *f, size_t n);
void figures_free(struct figure_list *f);
/* Of each net, NaN where it has no such figure. */
void figures_of_nets(const struct figure_list *f, const char *key, double *to);
r4_mean_sd figures_over(const struct figure_list *f, const char *key);

/* ---- Columns of tables ---- */

/* The keys that some nets have, in the order of the table of figures. */
struct columns {
  size_t n;
  r4_value of[R4_MAX_VALUES];
};
void columns_add(struct columns *c, size_t n, const r4_value *value);
void columns_add_list(struct columns *c, const struct figure_list *f);

/* For programs, key and key_sd of each: as headings, which prefix begins, as cells, empty where there is none, and as
 * members of an object. Shares stay shares. */
void columns_head(const struct columns *c, const char *prefix, r4_table *t);
void columns_cells(const struct columns *c, const struct figure_list *f, r4_table *t);
void columns_json(const struct columns *c, const struct figure_list *f, r4_json *w);

#endif
