/* Figures by the table of figures: what sections list of their topic, and a section for topics that have no other. */
#include <math.h>
#include <string.h>

#include "report/page/page.h"

static bool is_shown(const r4_report_run *r, const r4_value *v, r4_topic topic)
{
  r4_figure_info f = r4_figure_describe(v->figure);
  return f.topic == topic && f.shown >= R4_SHOWN_TOPIC && !isnan(r4_value_over(r->measured, r->seeds, v->key).mean);
}

static bool is_known(const struct page_values *to, const char *key)
{
  for (size_t k = 0; k < to->n; k++)
    if (!strcmp(to->of[k].key, key)) return true;
  return false;
}

struct page_values page_topic(const struct page *p, r4_topic topic)
{
  struct page_values to = {0};
  for (const r4_report_run *r = p->run; r < p->run + p->runs; r++)
    for (const r4_value *v = r->measured->value; v < r->measured->value + r->measured->values; v++) {
      size_t at = to.n;
      if (at == R4_MAX_VALUES || !is_shown(r, v, topic) || is_known(&to, v->key)) continue;
      for (; at && to.of[at - 1].figure > v->figure; at--) to.of[at] = to.of[at - 1];
      to.of[at] = *v;
      to.n++;
    }
  return to;
}

struct figure page_value(const r4_report_run *r, const r4_value *of)
{
  r4_mean_sd v = r4_value_over(r->measured, r->seeds, of->key);
  return r4_figure_describe(of->figure).unit == R4_UNIT_SHARE ? figure_share_sd(v, r->seeds)
                                                              : figure_real_sd(v, r->seeds, 3);
}

void page_topic_begin(const struct page *p, const struct page_values *v, const char *caption)
{
  page_table_begin(p->h, caption);
  page_head(p->h, "run", false);
  for (size_t k = 0; k < v->n; k++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&v->of[k], label);
    page_head(p->h, label, true);
  }
}

void page_topic_row(const struct page *p, const struct page_values *v, const r4_report_run *r)
{
  page_row(p->h, r->name);
  for (size_t k = 0; k < v->n; k++) page_cell(p->h, page_value(r, &v->of[k]).s);
}

/* ---- The section ---- */

static bool has_section(r4_topic t)
{
  return t == R4_TOPIC_ACCURACY || t == R4_TOPIC_FRAGILITY || t == R4_TOPIC_SWAP;
}

static void add_about(const struct page *p, const struct page_values *v)
{
  html_add(p->h, "<p>");
  for (size_t k = 0; k < v->n; k++) {
    char label[R4_LABEL_SIZE];
    r4_value_label(&v->of[k], label);
    html_add(p->h, "%s%s: %s", k ? "; " : "", label, r4_figure_describe(v->of[k].figure).about);
  }
  html_add(p->h, ".</p>\n");
}

bool page_has_figures(const struct page *p)
{
  bool any = false;
  for (int t = 0; t < R4_TOPICS; t++) any |= !has_section((r4_topic)t) && page_topic(p, (r4_topic)t).n;
  return any;
}

r4_status page_figures(const struct page *p, r4_error *e)
{
  (void)e;
  for (int t = 0; t < R4_TOPICS; t++) {
    const struct page_values v = page_topic(p, (r4_topic)t);
    if (has_section((r4_topic)t) || !v.n) continue;
    add_about(p, &v);
    page_topic_begin(p, &v, r4_topic_name((r4_topic)t));
    page_body(p->h);
    for (size_t k = 0; k < p->runs; k++) page_topic_row(p, &v, &p->run[k]);
    page_table_end(p->h);
  }
  return R4_OK;
}
