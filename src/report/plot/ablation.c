/* Reading results.json of an ablation: a file that others may have made, so nothing in it is believed. */
#include "report/plot/ablation.h"

#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/mem.h"

enum { FORM = 2 }; /* 1, which files did not say: accuracies in per cent */
enum { MOST_BYTES = 1 << 24, MOST_LINES = 64, MOST_POINTS = 1024 };

static r4_status is_missing(const char *file, const char *what, r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s: %s: not results of r4 ablate", file, what);
}

static double real_of(const struct js *v)
{
  double x = NAN;
  return js_real(v, &x) ? x : NAN;
}

static bool take_point(const struct js *v, struct ablation_point *to)
{
  *to = (struct ablation_point){
    .x = js_text(js_get(v, "x")),
    .y = js_text(js_get(v, "y")),
    .worst = {real_of(js_get(v, "worst_group_accuracy")), real_of(js_get(v, "worst_group_accuracy_sd"))},
    .kappa = {real_of(js_get(v, "kappa_masked_max")), real_of(js_get(v, "kappa_masked_max_sd"))}};
  js_whole(js_get(v, "constant_seeds"), &to->dead);
  return to->x;
}

static r4_status take_line(const char *file, const struct js *v, struct ablation_line *to, r4_error *e)
{
  const struct js *points = js_get(v, "points"), *at = NULL;
  *to = (struct ablation_line){.name = js_text(js_get(v, "name")),
                               .panel = js_text(js_get(v, "panel")),
                               .x = js_text(js_get(v, "x")),
                               .y = js_text(js_get(v, "y"))};
  if (!to->name || !to->x || js_kind(points) != JS_LIST || js_size(points) > MOST_POINTS)
    return is_missing(file, "a line without name, x or points", e);
  if (!to->panel) to->panel = "";
  if (!(to->point = mem_new(js_size(points) + 1, sizeof *to->point, file, e))) return R4_E_MEMORY;
  while ((at = js_next(points, at))) {
    struct ablation_point *point = &to->point[to->points++];
    const char *label = js_text(js_get(at, "label"));
    if (!take_point(at, point) || !point->y != !to->y)
      return is_missing(file, "a point without its place on the axes", e);
    to->labelled |= label != NULL;
    if (label) point->x = label;
  }
  return R4_OK;
}

static r4_status take_lines(const char *file, r4_ablation *a, r4_error *e)
{
  const struct js *lines = js_get(a->root, "lines"), *at = NULL;
  r4_status s = R4_OK;
  a->experiment = js_text(js_get(a->root, "experiment"));
  a->name = js_text(js_get(a->root, "ablation"));
  js_flag(js_get(a->root, "quick"), &a->quick);
  a->epochs = a->quick ? 0.2 : 1; /* before there was a member for it */
  if (js_get(a->root, "epochs")) a->epochs = real_of(js_get(a->root, "epochs"));
  if (!a->experiment || !a->name || !(a->epochs > 0 && a->epochs <= 1) ||
      !js_whole(js_get(a->root, "seeds"), &a->seeds) || a->seeds < 1 || js_kind(lines) != JS_LIST ||
      js_size(lines) > MOST_LINES)
    return is_missing(file, "experiment, ablation, epochs, seeds or lines are missing", e);
  if (!(a->line = mem_new(js_size(lines) + 1, sizeof *a->line, file, e))) return R4_E_MEMORY;
  while (!s && (at = js_next(lines, at))) s = take_line(file, at, &a->line[a->lines++], e);
  return s;
}

static r4_status check_origin(const char *file, const struct js *root, const char *text, size_t size,
                              r4_error *e)
{
  const char *version = js_text(js_get(root, "r4"));
  int64_t form;
  if (!version) return is_missing(file, "does not name the r4 that made it", e);
  if (strcmp(version, R4_VERSION))
    return r4_fail(e, R4_E_ARGUMENT, "%s: is from r4 %.20s, this is r4 %s", file, version, R4_VERSION);
  if (!checksum_matches(text, size))
    return r4_fail(
      e, R4_E_ARGUMENT,
      "%s: was edited, or is from an older r4: it does not end with its SHA-256; run the same r4 ablate again to "
      "rewrite it",
      file);
  if (!js_whole(js_get(root, "form"), &form) || form != FORM)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s: is not of this form: expected \"form\":%d, with accuracies as shares; run the same r4 ablate "
                   "again to rewrite it",
                   file, FORM);
  return R4_OK;
}

r4_ablation *r4_ablation_read(const char *file, r4_error *e)
{
  NEEDS(file, "a file", NULL);
  r4_error own = {0};
  if (!e) e = &own;
  uint8_t *text = NULL;
  size_t size = 0;
  r4_ablation *a = mem_new(1, sizeof *a, file, e);
  r4_status s = a ? file_read(file, MOST_BYTES, &text, &size, e) : R4_E_MEMORY;
  if (!s) s = js_parse(file, text, size, &a->root, e);
  if (!s) s = check_origin(file, a->root, (const char *)text, size, e);
  if (!s) s = take_lines(file, a, e);
  r4_mem_free(text);
  if (!s) return a;
  r4_ablation_free(a);
  return NULL;
}

void r4_ablation_free(r4_ablation *a)
{
  if (!a) return;
  for (size_t k = 0; k < a->lines; k++) r4_mem_free(a->line[k].point);
  r4_mem_free(a->line);
  js_free(a->root);
  r4_mem_free(a);
}
