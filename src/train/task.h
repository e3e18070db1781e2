/* From settings to the parts of a run. */
#ifndef R4_TRAIN_TASK_H
#define R4_TRAIN_TASK_H

#include "config/settings.h"
#include "module/guide_cells.h"
#include "module/preprocess.h"
#include "optim/schedule.h"

/* All splits, with masks kept and corrupted as the settings say. Of training examples alone: validation and test keep
 * theirs. */
r4_data *task_data(const struct settings *s, r4_error *e);

/* Where a source, or another file of the data, is: as it is written, unless the run that it belongs to knows better. */
const char *task_place(const struct settings *s, const char *written);

/* The net for such data, without what weights that are started from need before it: an image goes into a dense first
 * layer as a vector. The number of outputs must be that of the classes, or 1 for two classes. */
r4_net *task_net(const struct settings *s, const r4_data *d, r4_error *e);

/* The weight of term k of the method, as the settings say, or its own; 0 if the method does not have so many. */
double task_lambda(const struct settings *s, size_t k);
/* Whether any of them is above 0. */
bool task_has_weight(const struct settings *s);

/* Whether steps take products in bfloat16: asked for, or auto, and this CPU can. Not with linear bounds, whose ends are
 * such products. */
bool task_bf16(const struct settings *s);
/* batch, masked, explain and class_weights are left 0: they depend on the data. The pointers are into s. */
r4_objective_options task_objective(const struct settings *s);
/* eps, or 1, the share, where eps is the whole range; and whether it is, for this method. */
double task_eps(const struct settings *s);
bool task_is_whole(const struct settings *s);
/* Epochs before the penalty begins. */
double task_penalty_after(const struct settings *s, const r4_data *train);
/* Which cells are masked, of a net that is guided behind its input. */
enum cell_rule task_cells(const struct settings *s);
/* Whose gradient is penalised. */
r4_explain task_explain(const struct settings *s, const r4_data *train);
/* What the data term sees in place of masked content. */
r4_fill task_fill(const struct settings *s, const r4_data *train);
/* The same for validation, if the settings say so; none for "auto", which exchanges content (validation.h). */
r4_fill task_val_fill(const struct settings *s);
r4_optimizer_options task_optimizer(const struct settings *s);
struct schedule task_schedule(const struct settings *s);

/* ---- What a net starts from: start.c ---- */

/* The first weights. */
r4_status task_start(const struct settings *s, const r4_net *net, float *weights, r4_error *e);
/* How inputs are preprocessed for the weights that are started from. said: what these say about it in words,
 * r4_string_free; NULL: nothing. */
r4_status task_preprocess(const struct settings *s, const r4_net *net, struct preprocess *to, char **said,
                          r4_error *e);
/* Puts that before a net; frees it and sets it to NULL on failure. */
r4_status task_prepare(const struct settings *s, r4_net **net, r4_error *e);
/* Whether batch norm keeps its statistics. */
bool task_frozen_statistics(const struct settings *s);

#endif
