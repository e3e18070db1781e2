/* What r4's own npz files call their arrays: x_train, y_train, and so on. */
#ifndef R4_DATA_FORMAT_NPZ_KEYS_H
#define R4_DATA_FORMAT_NPZ_KEYS_H

#include "r4.h"

/* One array for each split: values, labels, masks, groups, numbers of the names of files and of ids (-1: none), the
 * place of each example in the data set, which is written when splits are mixed, and lengths of texts. */
enum npz_column { NPZ_X, NPZ_Y, NPZ_M, NPZ_G, NPZ_FILE, NPZ_ID, NPZ_PLACE, NPZ_LENGTH, NPZ_COLUMNS };

typedef const char *const npz_keys[NPZ_COLUMNS][R4_SPLITS];

/* Those of values of kinds with this stem: "x" or "t". */
npz_keys *npz_own_keys(const char *stem);

/* One array for all: lists of names; a text each. */
#define NPZ_CLASS_NAMES "class_names"
#define NPZ_GROUP_NAMES "group_names"
#define NPZ_FILE_NAMES "file_names"
#define NPZ_ID_NAMES "id_names"
#define NPZ_MASK_MEANS "mask_means" /* "irrelevant" or "relevant" */
#define NPZ_ABOUT "about"

#endif
