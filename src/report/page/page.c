/* One page that needs no other file: its parts, in order, and how it is put together. */
#include "report/page/page.h"
#include "report/page/page_swap.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"

/* The first has no heading: it is the answer. */
static const struct section sections[] = {
  {"answer", NULL, page_answer, NULL},
  {"heat", "What the nets use", page_heat, NULL},
  {"groups", "Accuracy by group", page_groups, NULL},
  {"swap", "The swap test", page_swap, NULL},
  {"fragility", "Fragility", page_fragility, NULL},
  {"other-figures", "Other figures", page_figures, page_has_figures},
  {"ablations", "Ablations", page_ablations, page_has_ablations},
  {"curves", "Training", page_curves, NULL},
  {"settings", "Settings, data, and how to reproduce it", page_settings, NULL},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static bool is_there(const struct page *p, const struct section *s)
{
  return !s->is_there || s->is_there(p);
}

/* ---- Head and foot ---- */

static const char *file_text(const char *name)
{
  for (size_t k = 0; k < page_files_count; k++)
    if (!strcmp(page_files[k].name, name)) return page_files[k].text;
  return "";
}

static const char *title_of(const struct page *p)
{
  return p->o->title ? p->o->title : "Does it use the shortcut?";
}

/* Nothing is fetched, and nothing runs but our own script, known by its digest. */
static void add_policy(struct html *h)
{
  html_add(
    h,
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src '");
  html_digest(h, file_text("page.css"));
  html_add(h, "'; script-src '");
  html_digest(h, file_text("page.js"));
  html_add(h, "'; base-uri 'none'; form-action 'none'\">\n");
}

/* What was measured, and when: who is mailed the page sees nothing else of it. */
static void add_origin(const struct page *p)
{
  char date[16] = "";
  time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts)) strftime(date, sizeof date, "%Y-%m-%d", &parts);
  html_add(p->h, "<p class=\"origin\">%s \u00b7 %zu %s examples \u00b7 %s</p>\n",
           page_about(r4_data_about(p->d)).text, r4_data_count(p->d), page_split(p), date);
}

static void add_head(const struct page *p)
{
  struct html *h = p->h;
  html_add(h, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  add_policy(h);
  html_add(
    h,
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"r4 %s\">\n"
    "<title>%s</title>\n<style>",
    R4_VERSION, title_of(p));
  html_copy(h, file_text("page.css"));
  html_add(h, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n");
  html_add(h, "<header><h1>%s</h1><button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n",
           title_of(p));
  add_origin(p);
  html_add(h, "<nav aria-label=\"Sections\"><ul>");
  for (size_t k = 1; k < SECTIONS; k++)
    if (is_there(p, &sections[k]))
      html_add(h, "<li><a href=\"#%s\">%s</a></li>", sections[k].id, sections[k].title);
  html_add(h, "</ul></nav>\n<main id=\"main\">\n");
}

static void add_foot(const struct page *p)
{
  html_add(p->h, "</main>\n<footer>Made by r4 %s. This file is self-contained and loads nothing.</footer>\n",
           R4_VERSION);
  page_json(p);
  html_add(p->h, "<script>");
  html_copy(p->h, file_text("page.js"));
  html_add(p->h, "</script>\n</body>\n</html>\n");
}

/* ---- The whole ---- */

static r4_status add_section(const struct page *p, const struct section *s, r4_error *e)
{
  if (s->title)
    html_add(p->h, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n", s->id,
             s->id, s->id, s->title);
  else
    html_add(p->h, "<section id=\"%s\" aria-label=\"The answer\">\n", s->id);
  r4_status status = s->write(p, e);
  html_add(p->h, "</section>\n");
  return status;
}

static r4_status write_page(const struct page *p, const char *file, r4_error *e)
{
  r4_status s = R4_OK;
  add_head(p);
  for (size_t k = 0; k < SECTIONS && !s; k++)
    if (is_there(p, &sections[k])) s = add_section(p, &sections[k], e);
  add_foot(p);
  if (!s) return file_write_text(file, &p->h->text, e);
  r4_string_free(text_take(&p->h->text));
  return s;
}

static r4_status check(const r4_report_run *run, size_t runs, size_t here, const r4_data *d, r4_error *e)
{
  if (!here) return r4_fail(e, R4_E_ARGUMENT, "a report needs a run of the data of the page");
  for (size_t k = 0; k < runs; k++)
    if (!run[k].name || !run[k].settings || !run[k].seeds || !run[k].seed || !run[k].folder ||
        !run[k].measured)
      return r4_fail(e, R4_E_ARGUMENT,
                     "run %zu of the report: name, settings, seeds or what was measured is missing", k + 1);
  if (!r4_data_count(d)) return r4_fail(e, R4_E_ARGUMENT, "a report needs examples");
  return R4_OK;
}

static r4_status end_of(const r4_report_run *r, const r4_summary *s, struct page_end *end, r4_error *e)
{
  size_t known = 0;
  r4_outcome *o = mem_new(r->seeds, sizeof *o, "a report", e);
  if (!o) return R4_E_MEMORY;
  *end = (struct page_end){0};
  for (size_t k = 0; k < r->seeds; k++) {
    if (!r->folder[k] || r4_outcome_read(r->folder[k], &o[known], NULL)) continue;
    if (o[known].unpenalised && !end->unpenalised++) end->steps = o[known].steps;
    known++;
  }
  end->found = r4_judge(o, known, fmax(swap_lost(r).mean, swap_removed(r).mean));
  if (s->constant == s->seeds) end->found.verdict = R4_VERDICT_COLLAPSED;
  r4_mem_free(o);
  return R4_OK;
}

/* Those of the page first, then the others. */
static size_t sort_runs(const r4_report_run *run, size_t runs, r4_report_run *to)
{
  size_t here = 0, n = 0;
  for (int other = 0; other < 2; other++)
    for (size_t k = 0; k < runs; k++)
      if ((run[k].other_data != NULL) == other) to[n++] = run[k], here += !other;
  return here;
}

r4_status r4_report_write(const r4_report_run *run, size_t runs, const r4_data *d,
                          const r4_report_options *options, const char *file, r4_error *e)
{
  NEEDS(run, "runs", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(file, "a file", R4_E_ARGUMENT);
  static const r4_report_options defaults;
  r4_error own = {0};
  if (!e) e = &own;
  struct html h = {0};
  r4_report_run *sorted = mem_new(runs + 1, sizeof *sorted, "a report", e);
  r4_summary *summary = mem_new(runs + 1, sizeof *summary, "a report", e);
  struct page_end *end = mem_new(runs + 1, sizeof *end, "a report", e);
  r4_status s = sorted && summary && end ? R4_OK : R4_E_MEMORY;
  size_t here = s ? 0 : sort_runs(run, runs, sorted);
  if (!s) s = check(run, runs, here, d, e);
  for (size_t k = 0; k < runs && !s; k++) {
    r4_measured_summary(sorted[k].measured, sorted[k].seeds, &summary[k]);
    s = end_of(&sorted[k], &summary[k], &end[k], e);
  }
  struct page p = {.h = &h, .run = sorted, .runs = here, .summary = summary, .end = end, .d = d};
  p.o = options ? options : &defaults;
  if (!s) p.other = sorted + here, p.others = runs - here;
  if (!s) s = write_page(&p, file, e);
  r4_mem_free(sorted);
  r4_mem_free(summary);
  r4_mem_free(end);
  return s;
}
