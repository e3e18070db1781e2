/* Clues in words, and on which examples they are seen. */
#include <math.h>
#include <stdio.h>

#include "base/c_locale.h"
#include "base/mem.h"
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

/* "82 training photos, all of them "benign" (81 % of all are)" */
static void say_numbers(char *to, size_t size, const struct scan *s, const struct telling *t)
{
  double base = 100 * (double)t->ranked_of_class / (double)t->ranked;
  const char *class = s->d->classes->name[t->label];
  if (t->m == t->of_class)
    c_locale_print(to, size, "%zu photos, all of them \"%.80s\" (%.3g %% of all are)", t->m, class, base);
  else
    c_locale_print(to, size, "%zu photos, %zu of them \"%.80s\" (%.3g %% of all are)", t->m, t->of_class,
                   class, base);
}

static void say(struct scan *s, r4_found *f, struct clue *c, const struct telling *t)
{
  char numbers[200], name[CUE_NAME];
  const char *how;
  say_numbers(numbers, sizeof numbers, s, t);
  if (t->cue >= s->cues) {
    file_cue_words(t->cue - s->cues, t->kind == SET_SAME, name, &how);
    snprintf(c->text->where, FIND_WHERE, "the file");
    snprintf(c->text->what, R4_ERROR_SIZE, "the file is %s on %s", how, numbers);
  } else {
    struct image_cue q = image_cue_at(&s->g, t->cue);
    image_cue_words(&s->g, &q, t->kind == SET_SAME, name, c->text->where, &how);
    if (t->kind == SET_SAME)
      snprintf(c->text->what, R4_ERROR_SIZE, "%s looks exactly the same on %s", c->text->where, numbers);
    else
      snprintf(c->text->what, R4_ERROR_SIZE, "%s is %s than elsewhere on %s", c->text->where, how, numbers);
  }
  found_name(f, c, t->kind == SET_SAME && t->cue >= s->cues ? "%s-same" : "%s", name);
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
  say(s, f, c, t);
  return R4_OK;
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
  for (size_t k = 0; !status && k < n; k++) clue_order(f->at + k);
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
