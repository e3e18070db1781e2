/* What each net makes of the words of a text: tokens in colours, masked ones underlined, and their numbers. Colours are
 * steps, as classes of the page's style, so that they suit light and dark. */
#include <math.h>
#include <stdio.h>

#include "report/page/page_heat.h"
#include "report/picture/heat.h"
#include "report/picture/text_tokens.h"

enum { STEPS = 5 };

/* Which tokens are shown: all, or so many around the first that is masked. */
struct part {
  size_t first, end, length;
};

static struct part part_of(const struct heat_view *v, size_t i)
{
  struct part p = {.length = r4_data_length(v->t->d, i)};
  p.first = tokens_first(v->mask, p.length);
  p.end = p.first + TOKENS_SHOWN < p.length ? p.first + TOKENS_SHOWN : p.length;
  return p;
}

/* ---- Colours ---- */

/* Widths are compared between nets: one scale for all. Effects are compared within a net. */
static double scale_of(struct heat_view *v, size_t run, enum heat_map map, size_t i, size_t length)
{
  const struct heat *t = v->t;
  double most = 0;
  if (map == HEAT_GRADIENT) return heat_scale(length, heat_at(t, run, map, i), v->work);
  for (size_t k = 0; k < t->p->runs; k++)
    most = fmax(most, heat_scale(length, heat_at(t, k, map, i), v->work));
  return most;
}

/* "r3": the third step of red; blue is below 0, violet a width. "" is no colour, "no" not a number. */
static void class_of(double value, double scale, enum heat_map map, char class[8])
{
  long step = scale > 0 ? lround(fmin(fabs(value) / scale, 1) * STEPS) : 0;
  class[0] = 0;
  if (isnan(value))
    snprintf(class, 8, "no");
  else if (step)
    snprintf(class, 8, "%c%ld", map == HEAT_BOUNDS ? 'v' : value < 0 ? 'b' : 'r', step);
}

/* ---- Words ---- */

static void add_token(struct heat_view *v, size_t k, bool first, const char *class)
{
  char number[TOKEN_NUMBER];
  bool apart, masked = token_is_masked(v->mask, k);
  const char *piece = token_piece(v->t->d, (size_t)v->x[k], number, &apart);
  if (apart && !first) html_add(v->h, " ");
  if (masked) html_add(v->h, "<u>");
  if (*class) html_add(v->h, "<span class=\"%s\">", class);
  html_add(v->h, "%s", piece);
  if (*class) html_add(v->h, "</span>");
  if (masked) html_add(v->h, "</u>");
}

static void add_map(struct heat_view *v, size_t run, enum heat_map map, size_t i)
{
  struct part p = part_of(v, i);
  const float *a = heat_at(v->t, run, map, i);
  double scale = scale_of(v, run, map, i, p.length);
  html_add(v->h, "<figure class=\"tile\" data-run=\"%zu\" data-map=\"%s\"><figcaption>", run,
           heat_map_id(map));
  heat_caption(v, run, map, i);
  html_add(v->h, "</figcaption><p class=\"tokens\" dir=\"auto\">");
  if (p.first) html_add(v->h, "<i>%zu tokens before</i> \u2026 ", p.first);
  for (size_t k = p.first; k < p.end; k++) {
    char class[8];
    class_of(a[k], scale, map, class);
    add_token(v, k, k == p.first, class);
  }
  if (p.end < p.length) html_add(v->h, " \u2026 <i>%zu tokens more</i>", p.length - p.end);
  html_add(v->h, "</p></figure>\n");
}

/* ---- Numbers ---- */

static void add_heads(const struct heat_view *v, bool masked)
{
  const struct heat *t = v->t;
  page_head(v->h, "token", false);
  page_head(v->h, "masked", false);
  for (enum heat_map m = 0; m < HEAT_MAPS; m++)
    for (size_t r = 0; r < t->p->runs && (m == HEAT_GRADIENT || masked); r++) {
      char head[200];
      snprintf(head, sizeof head, "%.150s: %s", t->p->run[r].name, heat_map_name(t, m));
      page_head(v->h, head, true);
    }
}

static void add_numbers(struct heat_view *v, size_t i, bool masked)
{
  const struct heat *t = v->t;
  struct part p = part_of(v, i);
  char name[64];
  snprintf(name, sizeof name, "Tokens of example %zu", t->example[i]);
  html_add(v->h, "<figure class=\"numbers\" data-file=\"tokens-%zu\"><figcaption>%s</figcaption>",
           t->example[i], name);
  page_figure_numbers(v->h);
  page_table_begin(v->h, name);
  add_heads(v, masked);
  page_body(v->h);
  for (size_t k = p.first; k < p.end; k++) {
    char number[TOKEN_NUMBER];
    bool apart;
    page_row(v->h, token_piece(t->d, (size_t)v->x[k], number, &apart));
    html_add(v->h, "<td>%s</td>", token_is_masked(v->mask, k) ? "yes" : "");
    for (enum heat_map m = 0; m < HEAT_MAPS; m++)
      for (size_t r = 0; r < t->p->runs && (m == HEAT_GRADIENT || masked); r++)
        page_cell(v->h, figure_real(heat_at(t, r, m, i)[k], 2).s);
  }
  page_table_end(v->h);
  page_figure_end(v->h);
}

r4_status heat_text(struct heat_view *v, size_t i, r4_error *e)
{
  (void)e;
  const struct heat *t = v->t;
  bool masked = r4_data_has_mask(t->d, i);
  r4_data_values(t->d, i, v->x);
  html_add(v->h, "<details class=\"tiles\" open><summary>All nets on example %zu</summary>\n", t->example[i]);
  for (enum heat_map m = 0; m < HEAT_MAPS; m++)
    for (size_t r = 0; r < t->p->runs; r++)
      if (m == HEAT_GRADIENT || masked) add_map(v, r, m, i);
  html_add(v->h, "</details>\n");
  add_numbers(v, i, masked);
  return R4_OK;
}
