/* What the swap test says about a run, over its seeds. */
#ifndef R4_REPORT_PAGE_PAGE_SWAP_H
#define R4_REPORT_PAGE_PAGE_SWAP_H

#include "report/page/page.h"

/* Why there is nothing to say; NULL: there is. */
const char *swap_none(const r4_report_run *r);
/* The share of correct predictions that are lost; NaN where there are none. */
r4_mean_sd swap_lost(const r4_report_run *r);
/* The same where content that only one class has is removed; NaN: there is no such class. */
r4_mean_sd swap_removed(const r4_report_run *r);

#endif
