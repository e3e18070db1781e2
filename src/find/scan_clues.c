/* Clues in words, and on which examples they are seen. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/scan.h"

/* ---- Words ---- */

static r4_clue_kind kind_of(const struct scan *s, const struct telling *t)
{
  if (t->cue >= s->cues) return R4_CLUE_FILE;
  struct image_cue q = image_cue_at(&s->g, t->cue);
  if (t->kind == SET_SAME) return R4_CLUE_PLACE;
  if (!q.cell && q.region == REGION_BORDER) return R4_CLUE_BORDER;
  if (q.feature == CELL_LIGHT) return R4_CLUE_BRIGHTNESS;
  return q.feature >= CELL_SPREAD ? R4_CLUE_EDGES : R4_CLUE_COLOUR;
}

/* "63 of them are cats (cats are 50 % of all photos)" */
static void say_classes(struct text *to, const struct scan *s, const struct telling *t)
{
  const char *class = s->d->classes->name[t->label];
  if (t->m == t->of_class)
    text_add(to, "; all of them are %.80s", class);
  else
    text_add(to, "; %zu of them, %.0f %%, are %.80s", t->of_class, 100 * (double)t->of_class / (double)t->m, class);
  text_add(to, " (%.80s are %.3g %% of all photos)", class, 100 * (double)t->ranked_of_class / (double)t->ranked);
}

/* What the names of the files begin with that have the very same number. */
static const char *beginning(struct scan *s, const struct telling *t, size_t *n)
{
  scan_values(s, t->cue);
  for (size_t k = 0; k < s->n; k++)
    if (s->value[k] == t->low) return name_beginning(r4_data_example(s->d, s->photo[k]).file, n);
  *n = 0;
  return "";
}

/* One beginning, or the first of them: "file names give the label away: "Maine_Coon_" (74, all cats) and 15 more". */
static void say_names(struct scan *s, const struct telling *t, struct text *to)
{
  size_t n;
  const char *from = beginning(s, t, &n), *class = s->d->classes->name[t->label];
  const char *all = t->m == t->of_class ? "all" : "most";
  int shown = (int)(n < 40 ? n : 40);
  if (s->names == 1) {
    text_add(to, n ? "%zu file names begin with \"%.*s\"" : "%zu file names begin with a digit", t->m, shown, from);
    say_classes(to, s, t);
  } else {
    text_add(to, "file names give the label away: ");
    text_add(to, n ? "\"%.*s\"" : "a digit at the beginning", shown, from);
    text_add(to, " (%zu, %s %.80s) and %zu more", t->m, all, class, s->names - 1);
  }
}

static void say_file(struct scan *s, const struct telling *t, char name[CUE_NAME], struct text *to)
{
  const char *how;
  file_cue_words(t->cue - s->cues, t->kind == SET_SAME, name, &how);
  if (scan_is_name(s, t->cue)) {
    say_names(s, t, to);
  } else {
    text_add(to, "the files of %zu photos are %s%s", t->m, how,
             t->kind == SET_SAME ? "" : " than those of the other photos");
    say_classes(to, s, t);
  }
}

static void say_place(struct scan *s, const struct telling *t, struct cue_words *w, struct text *to)
{
  struct image_cue q = image_cue_at(&s->g, t->cue);
  image_cue_words(&s->g, &q, t->kind == SET_SAME, w);
  if (t->kind == SET_SAME)
    text_add(to, "%zu photos look exactly the same %s", t->m, w->where);
  else
    text_add(to, "%zu photos are %s %s than the other photos are%s", t->m, w->how, w->where, w->others);
  say_classes(to, s, t);
}

static r4_status say(struct scan *s, r4_found *f, struct clue *c, const struct telling *t)
{
  struct text what = {0};
  struct cue_words w = {.where = "the file"};
  bool file = t->cue >= s->cues;
  if (file)
    say_file(s, t, w.name, &what);
  else
    say_place(s, t, &w, &what);
  snprintf(c->text->where, FIND_WHERE, "%s", w.where);
  char *text = text_done(&what, "a clue", s->e);
  if (!text) return R4_E_MEMORY;
  snprintf(c->text->what, R4_ERROR_SIZE, "%s", text);
  r4_string_free(text);
  found_name(f, c, "%s", w.name);
  return R4_OK;
}

static r4_status add(struct scan *s, r4_found *f, const struct ordered *o)
{
  const struct telling *t = o->t;
  struct clue *c = found_add(f, s->e);
  if (!c) return R4_E_MEMORY;
  c->is.kind = kind_of(s, t);
  c->is.label = t->label;
  c->is.shown_on = t->m;
  c->is.of_class = t->of_class;
  c->is.base = (double)t->ranked_of_class / (double)t->ranked;
  c->is.p = exp(o->log_p);
  c->is.pure = scan_is_pure(t);
  c->is.local = scan_is_local(s, t->cue);
  c->leads = c->is.local && (scan_leads(t) || scan_is_content(s, t));
  return say(s, f, c, t);
}

/* ---- Where they are seen: on all examples, whatever their part ---- */

static void box_of(const struct scan *s, uint32_t cue, size_t cell, double box[4])
{
  if (cell < s->g.rows * s->g.columns) {
    cell_box(&s->g, cell, box);
  } else if (cue < s->cues && image_cue_at(&s->g, cue).region == REGION_CENTRE) {
    box[0] = box[1] = .25;
    box[2] = box[3] = .5;
  }
}

static r4_status see(struct scan *s, struct clue *c, size_t *room, const struct telling *t, size_t example,
                     const float *cells, const struct about_file *file)
{
  size_t cell = SIZE_MAX;
  struct image_cue q = image_cue_at(&s->g, t->cue < s->cues ? t->cue : 0);
  float v = t->cue >= s->cues ? file_cue_of(file, t->cue - s->cues) : image_cue_of(&s->g, &q, cells, &cell);
  r4_sighting at = {.example = example, .score = (double)v, .token = -1};
  if (!(v >= t->low && v <= t->high)) return R4_OK;
  box_of(s, t->cue, cell, at.box);
  return clue_sight(c, room, at, s->e);
}

static r4_status see_all(struct scan *s, r4_found *f, const struct ordered *kept, size_t n)
{
  float *pixel = mem_new(s->g.height * s->g.width, s->g.channels * sizeof *pixel, "an image", s->e);
  size_t *room = mem_new(n + 1, sizeof *room, "clues", s->e);
  uint8_t *head = file_head_new(s->e);
  r4_status status = pixel && room && head ? R4_OK : R4_E_MEMORY;
  for (size_t i = 0; !status && n && i < s->d->n; i++) {
    float cells[CELL_FLOATS];
    struct about_file file;
    cells_of(s->d, i, &s->g, s->o->masked, pixel, cells);
    if (s->file) status = file_look_in(s->o->source, r4_data_example(s->d, i).file, head, &file);
    for (size_t k = 0; !status && k < n; k++)
      status = see(s, f->at + k, room + k, kept[k].t, i, cells, &file);
    if (i % 500 == 499 || i + 1 == s->d->n) find_report(s->o, "sorting", i + 1, s->d->n);
  }
  for (size_t k = 0; !status && k < n; k++) status = clue_order(f->at + k, s->d, s->e);
  r4_mem_free(pixel);
  r4_mem_free(room);
  r4_mem_free(head);
  return status;
}

r4_status scan_clues(struct scan *s, r4_found *f, const struct ordered *kept, size_t n)
{
  r4_status status = R4_OK;
  for (size_t k = 0; !status && k < n; k++) status = add(s, f, kept + k);
  return status ? status : see_all(s, f, kept, n);
}
