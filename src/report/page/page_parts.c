/* Tables, figures and legends of a page. */
#include <string.h>

#include "base/mem.h"
#include "report/page/page.h"

/* Behind the last slash of a path that a comma ends, or the text; slashes at its very end do not count. */
static const char *last_part(const char *path)
{
  const char *last = path;
  for (const char *s = path; *s && *s != ','; s++)
    if (*s == '/' && s[1] && !strchr("/,", s[1])) last = s + 1;
  return last;
}

struct page_about page_about(const char *about)
{
  struct page_about to = {{0}};
  size_t n = 0;
  for (const char *s = about; *s && n + 1 < sizeof to.text; s++) {
    if (*s == '/' && (s == about || s[-1] == ' ')) s = last_part(s);
    to.text[n++] = *s;
  }
  return to;
}

/* The last part of a path that ends where its quote does, or at a blank or comma. */
static char *last_in_line(char *path, char before)
{
  const char *ends = before == '"' ? "\"" : before == '\'' ? "'" : " ,\n";
  char *last = path;
  for (char *s = path; *s && !strchr(ends, *s); s++)
    if (*s == '/' && s[1] && s[1] != '/' && !strchr(ends, s[1])) last = s + 1;
  return last;
}

void page_hide_folders(char *line)
{
  char *to = line;
  for (char *s = line; *s; s++) {
    bool begins = s == line || strchr(" \"'\n", s[-1]);
    if (*s == '/' && begins) s = last_in_line(s, s == line ? ' ' : s[-1]);
    *to++ = *s;
  }
  *to = 0;
}

char *page_line(const struct page *p, const char *line)
{
  char *copy = mem_copy(line, NULL);
  if (copy) page_hide_folders(copy);
  p->h->text.failed |= !copy;
  return copy;
}

const char *page_split(const struct page *p)
{
  static const char *const name[] = {[R4_TRAIN] = "training", [R4_VAL] = "validation", [R4_TEST] = "test"};
  r4_split first = r4_data_example(p->d, 0).split;
  if (first == R4_TRAIN && !strncmp(r4_data_about(p->d), "arrays,", 7)) return "given"; /* from memory */
  for (size_t i = 1; i < r4_data_count(p->d); i++)
    if (r4_data_example(p->d, i).split != first) return "";
  return name[first];
}

const char *page_method(const r4_report_run *r)
{
  r4_setting_value v = {0};
  r4_settings_get(r->settings, "method", &v, NULL);
  return v.text ? v.text : "";
}

bool page_uses_masks(const r4_report_run *r)
{
  r4_method_info m = r4_method_describe(page_method(r));
  return m.guided || m.fills;
}

/* ---- Tables ---- */

void page_table_begin(struct html *h, const char *caption)
{
  html_add(h,
           "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
           "aria-label=\"%s\"><table><caption><span>%s</span></caption>"
           "<thead><tr>",
           caption, caption);
}

void page_head(struct html *h, const char *text, bool number)
{
  html_add(h, number ? "<th scope=\"col\" class=\"n\">%s</th>" : "<th scope=\"col\">%s</th>", text);
}

void page_body(struct html *h)
{
  html_add(h, "</tr></thead><tbody>");
}

static void end_row(struct html *h)
{
  if (h->in_row) html_add(h, "</tr>\n");
  h->in_row = false;
}

void page_row(struct html *h, const char *name)
{
  end_row(h);
  h->in_row = true;
  html_add(h, "<tr><th scope=\"row\">%s</th>", name);
}

void page_cell(struct html *h, const char *text)
{
  html_add(h, "<td class=\"n\">%s</td>", text);
}

void page_table_end(struct html *h)
{
  end_row(h);
  html_add(h, "</tbody></table></div>\n");
}

/* ---- Figures ---- */

void page_figure_begin(struct html *h, const char *file, const char *caption)
{
  html_add(h, "<figure data-file=\"%s\"><figcaption>%s</figcaption>\n", file, caption);
}

void page_figure_numbers(struct html *h)
{
  html_add(h, "<details><summary>Numbers</summary>");
}

void page_figure_end(struct html *h)
{
  html_add(h, "</details></figure>\n");
}

void page_grid_begin(struct html *h)
{
  html_add(h, "<div class=\"grid2\">\n");
}

void page_pairs_begin(struct html *h)
{
  html_add(h, "<div class=\"grid2 pairs\">\n");
}

void page_grid_end(struct html *h)
{
  html_add(h, "</div>\n");
}

void page_legend_begin(struct html *h)
{
  html_add(h, "<ul class=\"legend\">");
}

void page_legend_item(struct html *h, size_t series, const char *name)
{
  html_add(
    h,
    "<li><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\"><path class=\"line s%zu\" d=\"M1 5H27\"/></svg>"
    "%s</li>",
    series % PLANE_SERIES, name);
}

void page_legend_end(struct html *h)
{
  html_add(h, "</ul>\n");
}
