/* The purity scan of images: all cues are tried. */
#include "base/mem.h"
#include "find/scan.h"

enum { PHOTOS = 20000 }; /* that are looked at, at most */

enum place_family scan_family(const struct scan *s, uint32_t cue)
{
  if (cue >= s->cues) return FAMILY_FILE;
  struct image_cue q = image_cue_at(&s->g, cue);
  return q.cell ? FAMILY_CELL : q.extreme ? FAMILY_EXTREME : FAMILY_MEAN;
}

/* ---- Looking ---- */

static void scan_clear(struct scan *s)
{
  r4_mem_free(s->photo);
  r4_mem_free(s->label);
  r4_mem_free(s->cells);
  r4_mem_free(s->value);
  r4_mem_free(s->file);
  r4_mem_free(s->tries.at);
  ranking_clear(&s->ranking);
}

static r4_status make_room(struct scan *s)
{
  s->label = mem_new(s->n, sizeof *s->label, "labels", s->e);
  s->cells = mem_new(s->n, CELL_FLOATS * sizeof *s->cells, "cells of images", s->e);
  s->value = mem_new(s->n, sizeof *s->value, "a cue", s->e);
  if (!s->label || !s->cells || !s->value) return R4_E_MEMORY;
  for (size_t k = 0; k < s->n; k++) s->label[k] = s->d->record[s->photo[k]].label;
  return ranking_new(&s->ranking, s->n, s->d->classes->n, s->label, s->e);
}

/* Some photos at a time, so that progress can be told. */
static r4_status look(struct scan *s)
{
  enum { AT_ONCE = 512 };
  r4_status status = R4_OK;
  for (size_t from = 0; !status && from < s->n; from += AT_ONCE) {
    size_t to = from + AT_ONCE < s->n ? from + AT_ONCE : s->n, failed = 0;
#pragma omp parallel reduction(+ : failed)
    {
      float *pixel = r4_mem_new(s->g.height * s->g.width, s->g.channels * sizeof *pixel);
      failed += !pixel;
#pragma omp for schedule(static)
      for (size_t k = from; k < to; k++)
        if (pixel) cells_of(s->d, s->photo[k], &s->g, s->o->masked, pixel, s->cells + k * CELL_FLOATS);
      r4_mem_free(pixel);
    }
    if (failed) status = r4_fail(s->e, R4_E_MEMORY, "out of memory for looking at images");
    find_report(s->o, "looking", to, s->n);
  }
  return status;
}

void scan_values(struct scan *s, uint32_t cue)
{
  size_t cell;
  if (cue >= s->cues) {
    for (size_t k = 0; k < s->n; k++) s->value[k] = file_cue_of(s->file + k, cue - s->cues);
    return;
  }
  struct image_cue q = image_cue_at(&s->g, cue);
  for (size_t k = 0; k < s->n; k++) s->value[k] = image_cue_of(&s->g, &q, s->cells + k * CELL_FLOATS, &cell);
}

static r4_status try_all(struct scan *s)
{
  r4_status status = R4_OK;
  size_t all = s->cues + s->file_cues;
  for (uint32_t k = 0; !status && k < all; k++) {
    scan_values(s, k);
    ranking_make(&s->ranking, s->value);
    s->tries.cue = k;
    if (!scan_is_name(s, k))
      status = ranking_try(&s->ranking, &s->tries, s->tests[scan_family(s, k)], s->e);
    else if (!scan_is_name(s, k - 1)) /* less of a name is the same name */
      status = ranking_try_names(&s->ranking, &s->tries, s->tests[scan_family(s, k)], s->e);
    if (k % 50 == 49 || k + 1 == all) find_report(s->o, "testing", k + 1, all);
  }
  return status;
}

/* ---- All of it ---- */

static r4_status tell(struct scan *s, r4_found *f)
{
  size_t kept = 0;
  struct ordered *all = NULL;
  r4_status status = scan_order(s, &all, &kept);
  if (!status) status = scan_clues(s, f, all, kept);
  for (size_t k = 0; k < FAMILIES * SET_KINDS; k++) f->tried += s->tests[k / SET_KINDS][k % SET_KINDS];
  r4_mem_free(all);
  return status;
}

r4_status find_in_images(r4_found *f, const r4_data *d, const r4_find_options *o, r4_error *e)
{
  struct scan s = {.d = d, .o = o, .e = e, .g = grid_of(d)};
  s.cues = image_cues(&s.g);
  r4_status status = find_choose(d, o->all, PHOTOS, &s.photo, &s.n, e);
  if (!status) status = make_room(&s);
  if (!status) status = look(&s);
  if (!status && file_cues_work(d, o->source)) {
    s.file_cues = file_cues();
    status = files_look(d, o->source, s.photo, s.n, &s.file, e);
  }
  if (!status) status = try_all(&s);
  if (!status) status = tell(&s, f);
  scan_clear(&s);
  return status;
}
