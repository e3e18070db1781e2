/* The page of "r4 report": what its sections share. A section is a function that adds to the HTML, in a file of its
 * own, and a line of the table in page.c. Readers come first to the answer, then to what it rests on. */
#ifndef R4_REPORT_PAGE_PAGE_H
#define R4_REPORT_PAGE_PAGE_H

#include "base/embedded.h"
#include "r4_tools.h"
#include "report/page/page_bars.h"

/* How the seeds of a run ended, as training wrote it down; nothing is known of runs from before it did. */
struct page_end {
  size_t unpenalised; /* seeds whose penalty counted in no step: they are not nets of their method */
  int64_t steps;      /* of the first of these                                                     */
  r4_judgement found;
};

struct page {
  struct html *h;
  const r4_report_run *run; /* those of the data of the page, in the order given */
  size_t runs;
  const r4_report_run *other; /* those of other data, behind them */
  size_t others;
  r4_summary *summary; /* of each run, and then of each other */
  struct page_end *end; /* likewise */
  const r4_data *d;
  const r4_report_options *o;
};

struct section {
  const char *id, *title;
  r4_status (*write)(const struct page *p, r4_error *e);
  bool (*is_there)(const struct page *p); /* NULL: always */
};

/* In the order of the page. */
r4_status page_answer(const struct page *p, r4_error *e);
r4_status page_groups(const struct page *p, r4_error *e);
r4_status page_swap(const struct page *p, r4_error *e);
r4_status page_curves(const struct page *p, r4_error *e);
r4_status page_heat(const struct page *p, r4_error *e);
r4_status page_fragility(const struct page *p, r4_error *e);
r4_status page_figures(const struct page *p, r4_error *e);
bool page_has_figures(const struct page *p);
r4_status page_ablations(const struct page *p, r4_error *e);
bool page_has_ablations(const struct page *p);
r4_status page_settings(const struct page *p, r4_error *e);

/* All figures, for machines. */
void page_json(const struct page *p);

/* page.css and page.js. */
extern const struct embedded page_files[];
extern const size_t page_files_count;

/* ---- Groups: page_groups.c ---- */

enum { PAGE_GROUPS = 24 };

struct shown_groups {
  size_t n, all, list[PAGE_GROUPS];
};

/* Groups with examples, in their order; if they are many, the worst and the best of the first run. */
r4_status page_choose_groups(const struct page *p, struct shown_groups *to, r4_error *e);
const char *page_group_name(const struct page *p, size_t g);

/* ---- Figures by the table of figures: page_figures.c ---- */

struct page_values {
  size_t n;
  r4_value of[R4_MAX_VALUES];
};

/* Those of a topic that tables show and some run has, in the order of the table of figures. */
struct page_values page_topic(const struct page *p, r4_topic topic);
/* The mean over seeds as text: a share in per cent. */
struct figure page_value(const r4_report_run *r, const r4_value *of);
/* A table of them with a row for each run: begin, further headings, page_body, rows with further cells, and the end. */
void page_topic_begin(const struct page *p, const struct page_values *v, const char *caption);
void page_topic_row(const struct page *p, const struct page_values *v, const r4_report_run *r);

/* ---- Parts that sections share: page_parts.c ---- */

/* The setting "method" of a run, and whether masks take part in its training. */
/* A description of data with the last part alone of each path from the root: where they are on this machine is nobody's
 * concern. */
struct page_about {
  char text[1024];
};
struct page_about page_about(const char *about);
/* The same in place for a line of settings, a command or a note, in which a path may be in quotes. */
void page_hide_folders(char *line);
/* A copy of a line without them, to be freed; NULL leaves the page incomplete, which is then not written. */
char *page_line(const struct page *p, const char *line);
/* "test", "validation" or "training": the part that all examples of the page are of; "" if they are of several. */
const char *page_split(const struct page *p);
const char *page_method(const r4_report_run *r);
bool page_uses_masks(const r4_report_run *r);

/* A table in a frame that scrolls by itself; columns are added as <th>. number: is a column of numbers. */
void page_table_begin(struct html *h, const char *caption);
void page_head(struct html *h, const char *text, bool number);
void page_body(struct html *h);                  /* after the headings */
void page_row(struct html *h, const char *name); /* starts a row with its name */
void page_cell(struct html *h, const char *text);
void page_table_end(struct html *h);

/* A plot with its numbers: begin, the SVG, numbers, a table, end. file: what downloads are called. */
void page_figure_begin(struct html *h, const char *file, const char *caption);
void page_figure_numbers(struct html *h);
void page_figure_end(struct html *h);
/* A place in which figures stand side by side where there is room. */
void page_grid_begin(struct html *h);
void page_pairs_begin(struct html *h); /* two at most */
void page_grid_end(struct html *h);

/* Which lines and colours belong to which name. */
void page_legend_begin(struct html *h);
void page_legend_item(struct html *h, size_t series, const char *name);
void page_legend_end(struct html *h);

#endif
