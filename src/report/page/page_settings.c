/* What made the figures: settings, data, versions, and the commands that make them again. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "config/settings.h"
#include "report/page/page.h"
#include "train/run/manifest.h"

/* ---- Settings ---- */

static bool runs_differ(const struct page *p, const struct setting *t)
{
  for (size_t k = 1; k < p->runs; k++)
    if (setting_differs(t, p->run[0].settings, p->run[k].settings)) return true;
  return false;
}

static void add_setting(const struct page *p, const struct setting *t)
{
  page_row(p->h, t->info.key);
  for (size_t k = 0; k < p->runs; k++) {
    char *text = setting_text(t, p->run[k].settings);
    p->h->text.failed |= !text;
    if (text) page_hide_folders(text), html_add(p->h, "<td>%s</td>", text);
    r4_string_free(text);
  }
}

static void add_differences(const struct page *p)
{
  const struct setting *t;
  page_table_begin(p->h, "Settings in which the runs differ");
  page_head(p->h, "setting", false);
  for (size_t k = 0; k < p->runs; k++) page_head(p->h, p->run[k].name, false);
  page_body(p->h);
  for (size_t k = 0; (t = setting_at(k)); k++)
    if (runs_differ(p, t) && strcmp(t->info.key, "seed")) add_setting(p, t);
  page_table_end(p->h);
}

static void add_all(const struct page *p, const r4_report_run *r)
{
  char *text = r4_settings_text(r->settings);
  p->h->text.failed |= !text;
  if (!text) return;
  page_hide_folders(text);
  html_add(p->h, "<details><summary>All settings of %s</summary><pre tabindex=\"0\">", r->name);
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) html_add(p->h, "%s\n", line);
  html_add(p->h, "</pre></details>\n");
  r4_string_free(text);
}

/* ---- Versions ---- */

static const char *text_in(const struct js *v, const char *key)
{
  const char *text = js_text(js_get(v, key));
  return text ? text : "";
}

static void add_manifest(const struct page *p, const r4_report_run *r, const struct js *m)
{
  char seeds[32];
  snprintf(seeds, sizeof seeds, "%zu", r->seeds);
  page_row(p->h, r->name);
  html_add(p->h, "<td>%s</td><td class=\"once\">%s</td><td class=\"once\">%s</td>", seeds, text_in(m, "r4"),
           text_in(m, "began"));
  html_add(p->h, "<td>%s</td><td class=\"hash\">%s</td>", text_in(js_get(m, "machine"), "cpu"),
           text_in(js_get(m, "data"), "sha256"));
}

/* Of the first seed; a manifest that is missing or damaged leaves empty cells. */
static void add_manifests(const struct page *p)
{
  static const char *const heads[] = {"run", "seeds", "r4", "began", "machine", "SHA-256 of all data"};
  page_table_begin(p->h, "What trained them");
  for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) page_head(p->h, heads[k], false);
  page_body(p->h);
  for (size_t k = 0; k < p->runs; k++) {
    struct js *root = NULL;
    char *path = file_join(p->run[k].folder[0], "manifest.json", NULL);
    if (path) manifest_read(path, &root, NULL);
    add_manifest(p, &p->run[k], root);
    js_free(root);
    r4_mem_free(path);
  }
  page_table_end(p->h);
}

/* ---- The section ---- */

static void add_data(const struct page *p)
{
  char hash[R4_HASH_SIZE];
  r4_data_hash(p->d, hash);
  size_t masked = 0, n = r4_data_count(p->d);
  for (size_t i = 0; i < n; i++) masked += r4_data_has_mask(p->d, i);
  html_add(
    p->h,
    "<dl><dt>Data</dt><dd>%s</dd><dt>Examples (%s)</dt><dd>%zu in %zu classes and %zu groups; %zu have a "
    "mask</dd><dt>SHA-256 of these examples</dt><dd class=\"hash\">%s</dd><dt>This page</dt><dd>made "
    "by r4 %s</dd></dl>\n",
    page_about(r4_data_about(p->d)).text, page_split(p), n, r4_data_classes(p->d), r4_data_groups(p->d), masked, hash,
    R4_VERSION);
}

r4_status page_settings(const struct page *p, r4_error *e)
{
  (void)e;
  add_data(p);
  if (p->o->commands) html_add(p->h, "<h3>To reproduce it</h3>\n<pre tabindex=\"0\">");
  for (size_t k = 0; k < p->o->commands; k++) {
    char *line = page_line(p, p->o->command[k]);
    if (line) html_add(p->h, "%s\n", line);
    r4_mem_free(line);
  }
  if (p->o->commands) html_add(p->h, "</pre>\n");
  if (p->runs > 1) add_differences(p);
  add_manifests(p);
  for (size_t k = 0; k < p->runs; k++) add_all(p, &p->run[k]);
  return R4_OK;
}
