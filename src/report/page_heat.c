/* Heat maps: what each net looks at in a few test images. All maps stand in the page as they are; the script lays two
 * of them over each other, with a slider between. */
#include "report/page_heat.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "report/page_tile.h"

static const struct {
  const char *id, *name;
} map_about[HEAT_MAPS] = {{"gradient", "gradient"}, {"bounds", "certified width"}};

struct writer {
  const struct heat *t;
  struct html *h;
  struct tile tile;
  float *x, *mask; /* of one example */
};

static const char *class_name(const struct heat *t, int32_t k)
{
  const char *name = k >= 0 ? r4_data_class_name(t->d, (size_t)k) : NULL;
  return name ? name : "?";
}

/* ---- Pictures ---- */

static void add_outline(struct writer *w, size_t i)
{
  if (!r4_data_has_mask(w->t->d, i)) return;
  html_add(w->h,
           "<svg class=\"outline\" viewBox=\"0 0 %zu %zu\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
           "<use href=\"#mask-%zu\"/><use href=\"#mask-%zu\"/></svg>",
           w->tile.width, w->tile.height, i, i);
}

/* The path that all pictures of an example use. */
static void add_path(struct writer *w, size_t i)
{
  html_add(w->h,
           "<svg class=\"path\" aria-hidden=\"true\"><path vector-effect=\"non-scaling-stroke\" "
           "id=\"mask-%zu\" d=\"",
           i);
  tile_outline(&w->tile, w->h, w->mask);
  html_add(w->h, "\"/></svg>\n");
}

static r4_status add_image(struct writer *w, size_t i, r4_error *e)
{
  const char *label = class_name(w->t, r4_data_example(w->t->d, i).label);
  html_add(
    w->h,
    "<figure class=\"tile\" data-map=\"image\"><span class=\"pic\"><img alt=\"Test example %zu, label %s\" "
    "src=\"",
    w->t->example[i], label);
  r4_data_values(w->t->d, i, w->x);
  r4_status s = tile_image(&w->tile, w->h, w->x, e);
  html_add(w->h, "\">");
  add_outline(w, i);
  html_add(w->h, "</span><figcaption>image<br>label %s</figcaption></figure>\n", label);
  return s;
}

/* Widths are compared between nets: one scale for all. Gradients are compared within a net. */
static double scale_of(struct writer *w, size_t run, enum heat_map map, size_t i)
{
  const struct heat *t = w->t;
  double most = 0;
  if (map == HEAT_GRADIENT) return tile_scale(&w->tile, heat_at(t, run, map, i), false);
  for (size_t k = 0; k < t->p->runs; k++)
    most = fmax(most, tile_scale(&w->tile, heat_at(t, k, map, i), true));
  return most;
}

/* "51.0 % in the mask", or the widest in it; "" without a mask. */
static struct figure inside_of(struct writer *w, size_t run, enum heat_map map, size_t i)
{
  struct figure f = {""};
  const float *a = heat_at(w->t, run, map, i);
  double share = r4_mask_share(w->t->features, a, w->mask), widest = 0;
  if (!r4_data_has_mask(w->t->d, i)) return f;
  for (size_t k = 0; k < w->t->features; k++) widest = fmax(widest, w->mask[k] > 0 ? a[k] : 0);
  if (map == HEAT_BOUNDS)
    snprintf(f.s, sizeof f.s, "at most %.20s", figure_real(widest, 2).s);
  else
    snprintf(f.s, sizeof f.s, isnan(share) ? "no gradient" : "%.12s %% in the mask", figure_share(share).s);
  return f;
}

static r4_status add_map(struct writer *w, size_t run, enum heat_map map, size_t i, r4_error *e)
{
  const struct heat *t = w->t;
  int32_t answer = heat_answer(t, run, i);
  bool right = answer == r4_data_example(t->d, i).label;
  const char *name = t->p->run[run].name, *verdict = right ? "right" : "wrong";
  struct figure inside = inside_of(w, run, map, i);
  html_add(
    w->h,
    "<figure class=\"tile\" data-run=\"%zu\" data-map=\"%s\"><span class=\"pic\"><img alt=\"%s: %s of test "
    "example %zu; says %s, %s. %s\" src=\"",
    run, map_about[map].id, name, map_about[map].name, t->example[i], class_name(t, answer), verdict,
    inside.s);
  r4_status s =
    tile_map(&w->tile, w->h, heat_at(t, run, map, i), map == HEAT_BOUNDS, scale_of(w, run, map, i), e);
  html_add(w->h, "\">");
  add_outline(w, i);
  html_add(
    w->h,
    "</span><figcaption><b>%s</b>, %s<br>says %s, <span class=\"%s\">%s</span><br>%s</figcaption></figure>\n",
    name, map_about[map].name, class_name(t, answer), verdict, verdict, inside.s);
  return s;
}

static r4_status add_example(struct writer *w, size_t i, r4_error *e)
{
  const struct heat *t = w->t;
  r4_data_mask(t->d, i, w->mask);
  html_add(w->h, "<li class=\"example\"><h4>Example %zu: %s gets it %s</h4>\n", t->example[i], t->judge->name,
           i < t->wrong ? "wrong" : "right");
  if (r4_data_has_mask(t->d, i)) add_path(w, i);
  html_add(w->h, "<details class=\"tiles\" open><summary>All maps of example %zu</summary>\n", t->example[i]);
  r4_status s = add_image(w, i, e);
  for (size_t m = 0; m < HEAT_MAPS; m++)
    for (size_t r = 0; r < t->p->runs && !s; r++)
      if (m == HEAT_GRADIENT || r4_data_has_mask(t->d, i)) s = add_map(w, r, m, i, e);
  html_add(w->h, "</details></li>\n");
  return s;
}

/* ---- What they add up to ---- */

/* Over the examples with a mask: the mean share of the gradient inside, and the mean of the widest bounds there. */
static void add_means(struct writer *w)
{
  const struct heat *t = w->t;
  page_table_begin(w->h, "Means over the examples shown");
  page_head(w->h, "run", false);
  page_head(w->h, "gradient in the mask, per cent", true);
  page_head(w->h, "certified width in the mask, largest", true);
  page_body(w->h);
  for (size_t r = 0; r < t->p->runs; r++) {
    double share = 0, width = 0, shares = 0, widths = 0;
    for (size_t i = 0; i < t->n; i++) {
      if (!r4_data_mask(t->d, i, w->mask)) continue;
      double s = r4_mask_share(t->features, heat_at(t, r, HEAT_GRADIENT, i), w->mask), widest = 0;
      for (size_t k = 0; k < t->features; k++)
        if (w->mask[k] > 0) widest = fmax(widest, heat_at(t, r, HEAT_BOUNDS, i)[k]);
      if (!isnan(s)) share += s, shares++;
      width += widest, widths++;
    }
    page_row(w->h, t->p->run[r].name);
    page_cell(w->h, figure_share(share / shares).s);
    page_cell(w->h, figure_real(width / widths, 3).s);
  }
  page_table_end(w->h);
}

static void add_words(const struct heat *t)
{
  struct html *h = t->p->h;
  html_add(
    h,
    "<p>Shown are %zu test images that %s gets wrong and %zu that it gets right. The <em>gradient</em> "
    "of the loss "
    "shows which pixels matter in this very image: red raises the loss, blue lowers it, each map on a "
    "scale of its "
    "own.",
    t->wrong, t->judge->name, t->n - t->wrong);
  if (!t->masks) {
    html_add(h, "</p>\n<p class=\"missing\">No test example has a mask: what share of the maps is inside, "
                "and certified "
                "widths, cannot be shown.</p>\n");
    return;
  }
  html_add(h,
           " The mask is outlined.</p>\n<p>The <em>certified width</em> adds what the gradient cannot say: "
           "how far it can "
           "move while the masked pixels take any values within eps (%.3g) of theirs. A net whose gradient "
           "is empty inside "
           "the mask, but whose width there is not, ignores this content of the mask and may still use "
           "another. Widths "
           "of all nets share one scale, from white to violet.</p>\n",
           t->eps);
}

/* The script shows them. Before and after: the one without masks, and the last of the others. */
static void add_controls(const struct heat *t)
{
  struct html *h = t->p->h;
  size_t judge = (size_t)(t->judge - t->p->run), last = t->p->runs - 1,
         chosen[] = {judge, judge == last ? 0 : last};
  if (t->p->runs < 2) return;
  html_add(h,
           "<div class=\"controls\" id=\"compare\" hidden role=\"group\" aria-label=\"Compare two nets\">\n");
  for (int side = 0; side < 2; side++) {
    html_add(h, "<label>%s <select id=\"%s\">", side ? "right" : "left", side ? "right" : "left");
    for (size_t k = 0; k < t->p->runs; k++)
      html_add(h, "<option value=\"%zu\"%s>%s</option>", k, k == chosen[side] ? " selected" : "",
               t->p->run[k].name);
    html_add(h, "</select></label>\n");
  }
  html_add(h, "<label>map <select id=\"map\"><option value=\"gradient\">gradient</option>");
  if (t->masks) html_add(h, "<option value=\"bounds\">certified width</option>");
  html_add(
    h,
    "</select></label>\n<label class=\"wipe\">from left to right <input type=\"range\" id=\"wipe\" min=\"0\" "
    "max=\"100\" value=\"50\"></label></div>\n");
}

static r4_status write_all(struct writer *w, r4_error *e)
{
  const struct heat *t = w->t;
  r4_status s = R4_OK;
  add_words(t);
  if (t->masks) add_means(w);
  html_add(w->h, "<h3>Side by side</h3>\n");
  add_controls(t);
  html_add(w->h, "<ol class=\"examples%s\">\n", w->tile.block == 1 ? " small" : "");
  for (size_t i = 0; i < t->n && !s; i++) s = add_example(w, i, e);
  html_add(w->h, "</ol>\n");
  return s;
}

r4_status page_heat(const struct page *p, r4_error *e)
{
  struct heat t;
  const char *why;
  r4_status s = heat_open(&t, p, &why, e);
  if (s) return s;
  if (why) {
    html_add(p->h, "<p class=\"missing\">%s</p>\n", why);
    return R4_OK;
  }
  struct writer w = {.t = &t, .h = p->h};
  s = tile_open(&w.tile, r4_data_shape(p->d), e);
  if (s) {
    heat_close(&t);
    return s;
  }
  w.x = r4_mem_new(t.features, sizeof *w.x);
  w.mask = r4_mem_new(t.features, sizeof *w.mask);
  s = w.x && w.mask ? write_all(&w, e) : r4_fail(e, R4_E_MEMORY, "out of memory for heat maps");
  r4_mem_free(w.x);
  r4_mem_free(w.mask);
  tile_close(&w.tile);
  heat_close(&t);
  return s;
}
