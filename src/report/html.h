/* The one writer of HTML: whatever comes from outside passes html_add as %s, which escapes it. */
#ifndef R4_REPORT_HTML_H
#define R4_REPORT_HTML_H

#include "base/text.h"
#include "r4_tools.h"

struct html {
  struct text text; /* a failed allocation shows in text_take */
  bool in_row;      /* a row of a table is open: page_parts.c */
};

/* As printf, with the conversions %s, %d, %zu, %lld, %c, %.Nf and %.Ng alone. The format is ours, and markup. Text is
 * shown as r4_text_printable has it, with & < > " ' as references: it holds nothing but letters, in elements and in
 * attributes in quotes alike. Numbers have a decimal point everywhere. NULL is an empty text. */
void html_add(struct html *h, const char *format, ...) R4_PRINTF(2, 3);

/* A file of ours, as it is. */
void html_copy(struct html *h, const char *text);
/* A script with JSON in it, which ends neither the script nor the page, whatever is in it. */
void html_json(struct html *h, const char *id, const char *json);
/* The start of an attribute that wants an address: a PNG file as text. */
void html_png(struct html *h, const uint8_t *bytes, size_t n);
/* "sha256-...", by which a page may allow a text of its own to run or to style. */
void html_digest(struct html *h, const char *text);

/* ---- Numbers ---- */

struct figure {
  char s[40];
};

/* Per cent of a share with one decimal; a number with so many digits. "none" where there is none, "infinite". */
struct figure figure_share(double share);
struct figure figure_real(double v, int digits);
/* "97.4 ± 0.2"; without the second part where there is one seed. */
struct figure figure_share_sd(r4_mean_sd v, size_t seeds);
struct figure figure_real_sd(r4_mean_sd v, size_t seeds, int digits);

#endif
