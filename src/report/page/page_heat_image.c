/* Heat maps of an image: the image, and a map of each net, with the mask outlined. */
#include <math.h>

#include "report/page/page_heat.h"

/* ---- The outline ---- */

static void add_outline(struct heat_view *w, size_t i)
{
  if (!r4_data_has_mask(w->t->d, i)) return;
  html_add(w->h,
           "<svg class=\"outline\" viewBox=\"0 0 %zu %zu\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
           "<use href=\"#mask-%zu\"/><use href=\"#mask-%zu\"/></svg>",
           w->tile.width, w->tile.height, i, i);
}

/* The path that all pictures of an example use. */
static void add_path(struct heat_view *w, size_t i)
{
  html_add(w->h,
           "<svg class=\"path\" aria-hidden=\"true\"><path vector-effect=\"non-scaling-stroke\" "
           "id=\"mask-%zu\" d=\"",
           i);
  tile_outline(&w->tile, w->h, w->mask);
  html_add(w->h, "\"/></svg>\n");
}

/* ---- Pictures ---- */

static r4_status add_image(struct heat_view *w, size_t i, r4_error *e)
{
  const char *label = heat_class_name(w->t, r4_data_example(w->t->d, i).label);
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
static double scale_of(struct heat_view *w, size_t run, enum heat_map map, size_t i)
{
  const struct heat *t = w->t;
  double most = 0;
  if (map == HEAT_GRADIENT) return tile_scale(&w->tile, heat_at(t, run, map, i), false);
  for (size_t k = 0; k < t->p->runs; k++)
    most = fmax(most, tile_scale(&w->tile, heat_at(t, k, map, i), true));
  return most;
}

static r4_status add_map(struct heat_view *w, size_t run, enum heat_map map, size_t i, r4_error *e)
{
  const struct heat *t = w->t;
  int32_t answer = heat_answer(t, run, i);
  html_add(
    w->h,
    "<figure class=\"tile\" data-run=\"%zu\" data-map=\"%s\"><span class=\"pic\"><img alt=\"%s: %s of example "
    "%zu; predicts %s, %s. %s\" src=\"",
    run, heat_map_id(map), t->p->run[run].name, heat_map_name(t, map), t->example[i],
    heat_class_name(t, answer), answer == r4_data_example(t->d, i).label ? "correct" : "wrong",
    heat_inside(w, run, map, i).s);
  r4_status s =
    tile_map(&w->tile, w->h, heat_at(t, run, map, i), map == HEAT_BOUNDS, scale_of(w, run, map, i), e);
  html_add(w->h, "\">");
  add_outline(w, i);
  html_add(w->h, "</span><figcaption>");
  heat_caption(w, run, map, i);
  html_add(w->h, "</figcaption></figure>\n");
  return s;
}

r4_status heat_image(struct heat_view *w, size_t i, r4_error *e)
{
  const struct heat *t = w->t;
  bool masked = r4_data_has_mask(t->d, i);
  if (masked) add_path(w, i);
  html_add(w->h, "<details class=\"tiles\" open><summary>All maps of example %zu</summary>\n", t->example[i]);
  r4_status s = add_image(w, i, e);
  for (enum heat_map m = 0; m < HEAT_MAPS; m++)
    for (size_t r = 0; r < t->p->runs && !s; r++)
      if (m == HEAT_GRADIENT || masked) s = add_map(w, r, m, i, e);
  html_add(w->h, "</details>\n");
  return s;
}
