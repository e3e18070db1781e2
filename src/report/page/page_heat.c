/* What the nets look at, in a few test examples: what is said about them, for images and texts alike. All maps stand in
 * the page as they are; the script shows two of them side by side. */
#include "report/page/page_heat.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

/* ---- Names ---- */

const char *heat_map_id(enum heat_map map)
{
  return map == HEAT_BOUNDS ? "bounds" : "gradient";
}

const char *heat_map_name(const struct heat *t, enum heat_map map)
{
  return map == HEAT_BOUNDS ? "width of the bounds" : t->texts ? "effect" : "gradient";
}

const char *heat_class_name(const struct heat *t, int32_t k)
{
  const char *name = k >= 0 ? r4_data_class_name(t->d, (size_t)k) : NULL;
  return name ? name : "?";
}

/* "51.0 % in the mask", or the widest in it. */
struct figure heat_inside(const struct heat_view *v, size_t run, enum heat_map map, size_t i)
{
  const struct heat *t = v->t;
  struct figure f = {""};
  const float *a = heat_at(t, run, map, i);
  double share = r4_mask_share(t->features, a, v->mask), widest = 0;
  if (!r4_data_has_mask(t->d, i)) return f;
  for (size_t k = 0; k < t->features; k++) widest = fmax(widest, v->mask[k] > 0 ? a[k] : 0);
  if (map == HEAT_BOUNDS)
    snprintf(f.s, sizeof f.s, "at most %.20s", figure_real(widest, 2).s);
  else if (isnan(share))
    snprintf(f.s, sizeof f.s, "no gradient");
  else
    snprintf(f.s, sizeof f.s, "%.12s %% %s", figure_share(share).s,
             t->texts ? "by masked words" : "in the mask");
  return f;
}

void heat_caption(const struct heat_view *v, size_t run, enum heat_map map, size_t i)
{
  const struct heat *t = v->t;
  int32_t answer = heat_answer(t, run, i);
  bool correct = answer == r4_data_example(t->d, i).label;
  html_add(v->h, "<b>%s</b>, %s<br>prediction: %s, <span class=\"%s\">%s</span><br>%s", t->p->run[run].name,
           heat_map_name(t, map), heat_class_name(t, answer), correct ? "right" : "wrong",
           correct ? "correct" : "wrong", heat_inside(v, run, map, i).s);
}

/* ---- What they add up to ---- */

/* Over the examples with a mask: the mean share of the gradient inside, and the mean of the widest bounds there. */
static void add_means(struct heat_view *w)
{
  const struct heat *t = w->t;
  page_table_begin(w->h, "Means over the examples shown");
  page_head(w->h, "run", false);
  page_head(w->h, t->texts ? "effect of masked words, per cent" : "gradient in the mask, per cent", true);
  page_head(w->h,
            t->texts ? "largest width of the bounds, masked words" : "largest width of the bounds in the mask",
            true);
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

static void add_words_of_images(const struct heat *t)
{
  html_add(
    t->p->h,
    "<p>Of the %zu %s images shown, %s misclassifies %zu and classifies %zu correctly. The <em>gradient</em> "
    "of the loss shows which pixels matter in each image: making a red pixel brighter raises the loss, a blue one "
    "lowers it, each map on a scale of its own.%s</p>\n",
    t->n, page_split(t->p), t->judge->name, t->wrong, t->n - t->wrong, t->masks ? " The mask is outlined." : "");
}

static void add_words_of_texts(const struct heat *t)
{
  html_add(
    t->p->h,
    "<p>Of the %zu %s texts shown, %s misclassifies %zu and classifies %zu correctly. The <em>effect</em> of a "
    "word is the gradient of the loss at its vector, times the vector: about what the word adds to the loss. <span "
    "class=\"r4\">Red</span> raises it, <span class=\"b4\">blue</span> lowers it, each text on a scale of its "
    "own.%s</p>\n",
    t->n, page_split(t->p), t->judge->name, t->wrong, t->n - t->wrong, t->masks ? " Masked words are underlined." : "");
}

static void add_words(const struct heat *t)
{
  struct html *h = t->p->h;
  if (t->texts)
    add_words_of_texts(t);
  else
    add_words_of_images(t);
  if (!t->masks) {
    html_add(h,
             "<p class=\"missing\">No %s example has a mask: the share of the maps inside it, and the width of the "
             "bounds, cannot be shown.</p>\n",
             page_split(t->p));
    return;
  }
  html_add(h,
           "<p>The <em>width of the bounds</em> shows what the gradient cannot: how far the gradient can change while "
           "%s any values within eps (%.3g) of their own. A net with no gradient inside the mask, but wide bounds "
           "there, ignores what is there now, but might react to something else. The widths of all nets share one "
           "scale, up to the darkest violet.</p>\n",
           t->texts ? "the vectors of masked words take" : "the masked pixels take", t->eps);
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
  html_add(h, "<label>map <select id=\"map\">");
  for (enum heat_map m = 0; m < HEAT_MAPS; m++)
    if (m == HEAT_GRADIENT || t->masks)
      html_add(h, "<option value=\"%s\">%s</option>", heat_map_id(m), heat_map_name(t, m));
  html_add(h, "</select></label>\n");
  html_add(h, "</div>\n");
}

static r4_status add_example(struct heat_view *v, size_t i, r4_error *e)
{
  const struct heat *t = v->t;
  r4_data_mask(t->d, i, v->mask);
  html_add(v->h, "<li class=\"example\"><h4>Example %zu, label %s: %s is %s</h4>\n", t->example[i],
           heat_class_name(t, r4_data_example(t->d, i).label), t->judge->name,
           i < t->wrong ? "wrong" : "correct");
  r4_status s = t->texts ? heat_text(v, i, e) : heat_image(v, i, e);
  html_add(v->h, "</li>\n");
  return s;
}

static r4_status write_all(struct heat_view *v, r4_error *e)
{
  const struct heat *t = v->t;
  r4_status s = R4_OK;
  add_words(t);
  if (t->masks) add_means(v);
  html_add(v->h, "<h3>%s</h3>\n", t->p->runs > 1 ? "Side by side" : "Example by example");
  add_controls(t);
  html_add(v->h, "<ol class=\"examples%s\">\n", t->texts ? " texts" : v->tile.block == 1 ? " small" : "");
  for (size_t i = 0; i < t->n && !s; i++) s = add_example(v, i, e);
  html_add(v->h, "</ol>\n");
  return s;
}

static r4_status open_view(struct heat_view *v, r4_error *e)
{
  v->x = mem_new(v->t->features, sizeof *v->x, "heat maps", e);
  v->mask = mem_new(v->t->features, sizeof *v->mask, "heat maps", e);
  v->work = mem_new(v->t->features, sizeof *v->work, "heat maps", e);
  if (!v->x || !v->mask || !v->work) return R4_E_MEMORY;
  return v->t->texts ? R4_OK : tile_open(&v->tile, r4_data_shape(v->t->d), e);
}

static void close_view(struct heat_view *v)
{
  r4_mem_free(v->x);
  r4_mem_free(v->mask);
  r4_mem_free(v->work);
  tile_close(&v->tile);
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
  struct heat_view v = {.t = &t, .h = p->h};
  s = open_view(&v, e);
  if (!s) s = write_all(&v, e);
  close_view(&v);
  heat_close(&t);
  return s;
}
