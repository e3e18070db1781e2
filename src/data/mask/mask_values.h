/* The values that masks are stored with: which of them mark something, and which were seen. White marks, unless the
 * values that do are stated: label images (1 animal, 2 background, 3 border) and palettes have no white. */
#ifndef R4_DATA_MASK_MASK_VALUES_H
#define R4_DATA_MASK_MASK_VALUES_H

#include "data/data.h"

enum { MASK_VALUES = 1 << 16 }; /* 8 or 16 bits */

struct mask_values {
  uint64_t bits[MASK_VALUES / 64];
};

void mask_values_add(struct mask_values *v, uint16_t value);
bool mask_values_have(const struct mask_values *v, uint16_t value);
/* "0, 1, 2", at most so many that size suffices; the others are counted: "0, 1, 2 and 250 more". */
void mask_values_text(const struct mask_values *v, char *text, size_t size);

/* Whether the options state them; then *v gets them, and R4_E_ARGUMENT if one is not a whole number of 16 bits. */
bool mask_values_stated(const r4_data_options *options);
r4_status mask_values_read(const r4_data_options *options, struct mask_values *v, r4_error *e);

/* How many examples something was found in, and the first of them. */
struct tally {
  size_t n, first;
};

/* What was found while the masks of a source were read. A mask of which nothing is marked, though it holds something,
 * is lost; one that is zero everywhere is only empty. */
struct mask_report {
  size_t kept, empty;
  struct tally lost;
  struct tally gone;       /* of the kept ones: nothing of them is left in the size they are wanted in */
  struct mask_values seen; /* in those that are not kept */
};

/* Threads may call these. */
void tally_add(struct tally *t, size_t example);
void mask_report_kept(struct mask_report *r);
void mask_report_unmarked(struct mask_report *r, size_t example, size_t n, const uint16_t *value);

/* R4_E_ARGUMENT, with the values that were seen and what to state, if nothing is marked in any mask. If something is
 * in some, d gets notes about the others. */
r4_status mask_report_settle(const struct mask_report *r, const r4_data_options *options, const char *source,
                             r4_data *d, r4_error *e);

#endif
