/* Figures of nets, as text and as JSON: what several commands say about the same things. */
#ifndef R4_CLI_EXPERIMENT_FIGURES_H
#define R4_CLI_EXPERIMENT_FIGURES_H

#include "cli.h"
#include "json_out.h"

enum { FIGURE_SIZE = 48 };

/* "0.0123" with so many digits, "inf", or none where there is no figure. Returns to. */
const char *figure_text(double v, int digits, const char *none, char to[FIGURE_SIZE]);

/* "81.20 +- 0.30": a share in per cent, in a field of at least so many characters before "+-", which one value alone
 * does not have. Returns to. */
const char *percent_text(r4_mean_sd v, int width, char to[FIGURE_SIZE]);

/* Either, as the unit says: "81.20 +- 0.30", or "0.0123", which has no "+-"; "none" where there is no figure. */
const char *value_text(r4_mean_sd v, r4_unit unit, int width, int digits, char to[FIGURE_SIZE]);

/* For programs: a value and its standard deviation, KEY and KEY_sd, as members of an object, as headings and as cells
 * of a table, which are empty where there is no figure. Shares stay shares. */
void json_mean_sd(r4_json *w, const char *key, r4_mean_sd v);
void column_mean_sd(r4_table *t, const char *key);
void cell_mean_sd(r4_table *t, r4_mean_sd v);

/* ---- Nets that give one answer to everything ---- */

/* Their answers as members of an object. */
void json_answers(r4_json *w, const r4_answers *a, const r4_data *d);
/* "predicts only dog": of a net for which a->constant holds. Returns to. */
const char *constant_text(const r4_answers *a, const r4_data *d, char *to, size_t size);
/* What to try instead, as a sentence. s may be NULL. */
const char *constant_advice(const r4_settings *s);

#endif
